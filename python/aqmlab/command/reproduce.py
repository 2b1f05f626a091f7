"""`aqmlab reproduce`: a published study."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.command.options import StoreOption, read_change, read_count
from aqmlab.command.terminal import console, resumable, say

if TYPE_CHECKING:
    from aqmlab.store import FolderStore
    from aqmlab.studies.framework.study import Study


def reproduce(
    study: Annotated[
        str | None, typer.Argument(help="A study that `aqmlab list studies` names.")
    ] = None,
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
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change an assumption in every scenario of the study that has this key; may be "
            "given again. Verdicts are then called so.",
        ),
    ] = None,
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="Every study, each in a folder of its own, and a page about all."
        ),
    ] = False,
    claim: Annotated[
        str | None,
        typer.Option(
            help="Only decide this claim, e.g. EF-045, with no other runs; writes nothing.",
            metavar="ID",
        ),
    ] = None,
) -> None:
    """Reproduce a published study: cells, claims and figures in one HTML report."""
    from aqmlab import studies
    from aqmlab.store import FolderStore

    if every:
        given = {"STUDY": study, "--only": only, "--replications": replications,
                 "--set": changes, "--claim": claim}  # fmt: skip
        if wrong := [name for name, value in given.items() if value]:
            raise ValueError(f"--all reproduces each study as it is: leave {wrong[0]} out")
        _every(out, read_count("--jobs", jobs), store, quick=quick)
        return
    if study is None:
        known = ", ".join(studies.names())
        raise ValueError(f"which study: {known}? Or --all of them")
    chosen = studies.load(study)
    if items and not only:
        raise ValueError(f"{items[0]!r} is one argument too many; name items after --only")
    wanted = [*(only or []), *(items or [])]
    runs, threads = read_count("--replications", replications), read_count("--jobs", jobs)
    changed = [read_change(change, "tcp.rto_min='1 s'") for change in changes or []]
    if claim and (wanted or out or quick):
        raise ValueError(
            "--claim says what is run, and writes nothing: leave items, --out and --quick out"
        )
    with ExitStack() as stack:
        kept = stack.enter_context(FolderStore(store)) if store else None
        if kept:
            stack.enter_context(resumable(kept))
        if claim:
            _decide(chosen, claim, runs, threads, kept, changed)
            return
        say(str(chosen.reproduce(
            wanted, runs, threads, out, console(), store=kept, changes=changed, quick=quick
        )))  # fmt: skip


def _every(out: Path | None, jobs: int | None, store: Path | None, *, quick: bool) -> None:
    """Reproduce all studies."""
    from aqmlab.store import FolderStore
    from aqmlab.studies.framework.every import reproduce_all

    with ExitStack() as stack:
        kept = stack.enter_context(FolderStore(store)) if store else None
        if kept:
            stack.enter_context(resumable(kept))
        say(str(reproduce_all(out, jobs, console(), store=kept, quick=quick)))


def _decide(
    study: "Study",
    claim: str,
    replications: int | None,
    jobs: int | None,
    store: "FolderStore | None",
    changes: list[tuple[str, str]],
) -> None:
    """Print what the runs say of a claim."""
    from aqmlab.studies.framework.verdicts import called

    printed, decision, runs = study.decide(claim, replications, jobs, store=store, changes=changes)
    say(f"{printed.id}: {printed.statement} ({printed.scenario}; {printed.source})")
    say(f"printed {printed.printed}, ours {decision.ours or 'none'}")
    verdict = called(decision.verdict, changed=bool(changes))
    say(f"{verdict}: {decision.evidence}")
    if not printed.counted:
        say(f"not counted, {printed.basis}: {printed.reason}")
    under = "".join(f"; {key} = {value}" for key, value in changes)
    say(f"{runs.distinct()} runs, {runs.replications} replications{under}.")
