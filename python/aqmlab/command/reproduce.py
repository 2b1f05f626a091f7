"""`aqmlab reproduce`: a published study."""

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.command.options import StoreOption, read_count
from aqmlab.command.terminal import console, resumable, say


def reproduce(
    study: Annotated[str, typer.Argument(help="A study that `aqmlab list studies` names.")],
    items: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this table or figure, e.g. table-2; more may follow.", metavar="ITEM"
        ),
    ] = None,
    replications: Annotated[
        str | None,
        typer.Option(help="Replications of each setting; default: the study's.", metavar="N"),
    ] = None,
    jobs: Annotated[
        str | None, typer.Option(help="Runs at a time; default: the cores.", metavar="N")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder to make; default results/STUDY.", metavar="DIR")
    ] = None,
    store: StoreOption = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A part in seconds, without claims, if the study has one."),
    ] = False,
) -> None:
    """Reproduce a published study: cells, claims and figures in one HTML report."""
    from aqmlab import studies
    from aqmlab.store import Ledger

    chosen = studies.load(study)
    if items and not only:
        raise ValueError(f"{items[0]!r} is one argument too many; name items after --only")
    wanted = [*(only or []), *(items or [])]
    runs, threads = read_count("--replications", replications), read_count("--jobs", jobs)
    if store is None:
        report = chosen.reproduce(wanted, runs, threads, out, console(), quick=quick)
    else:
        with Ledger(store) as kept, resumable(kept):
            report = chosen.reproduce(
                wanted, runs, threads, out, console(), store=kept, quick=quick
            )
    say(str(report))
