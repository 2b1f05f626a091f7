"""`aqmlab compare`: the same traffic through several queues."""

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.command.options import StoreOption, WarningsOption, read_change, read_count
from aqmlab.command.terminal import console, resumable, say, warn


def compare_command(
    queues: Annotated[
        list[str],
        typer.Argument(
            help="Kinds of queues, each with the keys that differ from their defaults, and a name "
            "if wanted: drop_tail codel 'gentle=red:minth=5 packets,maxth=15 packets'.",
            metavar="QUEUES...",
        ),
    ],
    scenario: Annotated[
        Path | None,
        typer.Option(help="Traffic and network; default: RFC 7928's bottleneck.", metavar="FILE"),
    ] = None,
    link: Annotated[
        list[str] | None,
        typer.Option(
            help="The link whose queue is compared; given again, all of them get it. "
            "Default: the bottleneck of a dumbbell.",
            metavar="FROM>TO",
        ),
    ] = None,
    warm_up: Annotated[
        str | None,
        typer.Option(
            help="Beginning of each run that is not counted (warm_up), e.g. '5 s': counts, delays "
            "and goodputs begin then, and transfers count that begin later.",
            metavar="TIME",
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario."),
    ] = None,
    ecn: Annotated[bool, typer.Option("--ecn", help="Let every flow use ECN (RFC 3168).")] = False,
    replications: Annotated[
        str, typer.Option(help="Runs of each queue, each with its seed.", metavar="N")
    ] = "10",
    seed: Annotated[str | None, typer.Option(help="The first seed.", metavar="N")] = None,
    jobs: Annotated[
        str | None, typer.Option(help="Runs at a time; default: the cores.", metavar="N")
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder to make; default results/compare.", metavar="DIR")
    ] = Path("results/compare"),
    store: StoreOption = None,
    warnings: WarningsOption = True,
) -> None:
    """Compare queues under the same traffic: a table, figures, and a page with both."""
    from aqmlab.compare import comparison, output, show
    from aqmlab.progress import Bar

    overrides = [read_change(change) for change in changes or []]
    overrides += [("tcp.ecn", "rfc3168")] if ecn else []
    overrides += [("seed", seed)] if seed is not None else []
    count, threads = read_count("--replications", replications) or 1, read_count("--jobs", jobs)
    file = scenario or comparison.SCENARIO
    with output.place(out) as claim, output.store(claim, store) as kept, resumable(kept):
        with Bar() as bar:
            done = comparison.compare(
                queues, file, count, threads, bar,
                link=link or ["bottleneck"], warm_up=warm_up, overrides=overrides, store=kept,
            )  # fmt: skip
        page = output.write(done, kept, claim)
    show.show(done, console())
    warn(done.warnings if warnings else [])
    say(str(page))
