"""`aqmlab compare`: comparison of queue disciplines under the same traffic."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from aqmlab.command import completion
from aqmlab.command.options import (
    EngineOption,
    ForceOption,
    JobsOption,
    ResumeOption,
    SeedOption,
    SetOption,
    WarmUpOption,
    WarningsOption,
    out,
    read_count,
    read_engine,
    read_overrides,
    replications,
    store,
)
from aqmlab.command.terminal import console, print_text, print_warnings, resumable

EXAMPLES = (
    "aqmlab compare drop_tail codel --scenario dsl --replications 3 --set duration='10 s'",
    "aqmlab compare drop_tail 'narrow=red:minth=5 packets,maxth=15 packets' "
    "--scenario examples/two_flows.toml --out results/narrow",
)


def compare_command(
    queues: Annotated[
        list[str],
        typer.Argument(
            help="Queue disciplines to compare, such as drop_tail or codel. The form "
            "LABEL=KIND:KEY=VALUE,... sets keys of a queue and its label in the output, as in "
            "'narrow=red:minth=5 packets,maxth=15 packets'. A queue can also be a line of Linux's "
            "tc, as in 'tc:codel limit 500 ecn', or a class in a Python file, as in "
            "my_queue.py:MyQueue.",
            metavar="QUEUES...",
            autocompletion=completion.queues,
        ),
    ],
    scenario: Annotated[
        Path | None,
        typer.Option(
            help="Scenario with the traffic and the network: a file, or a name from `aqmlab list "
            "scenarios`.",
            metavar="FILE",
            show_default="rfc7928, a bottleneck of 20 Mbit/s with 100 ms",
            autocompletion=completion.scenarios,
        ),
    ] = None,
    link: Annotated[
        list[str] | None,
        typer.Option(
            help="Link that gets the compared queue disciplines. Repeat --link for several links, "
            "which all get the same queue discipline in a run.",
            metavar="FROM>TO",
            show_default="the bottleneck of a dumbbell",
        ),
    ] = None,
    ecn: Annotated[
        bool,
        typer.Option(
            "--ecn",
            help="Enable ECN in the TCP flows without ECN. A sender that needs another kind of "
            "ECN, such as Prague, keeps this kind.",
        ),
    ] = False,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="Primary measure, which is tested for significance. Repeat --measure for several "
            "measures. A column of a table, such as flows.timeouts.sum, is also a measure.",
            metavar="NAME",
            show_default="goodput, and the 95th percentiles of delay and times",
        ),
    ] = None,
    alternatives: Annotated[
        bool,
        typer.Option(
            "--alternatives/--no-alternatives",
            help="Repeat the comparison without the first half of each run, with another TCP stack "
            "and with other start times, and print the answers that change. With fewer than 6 "
            "replications, only the first of these alternatives applies.",
            show_default="--alternatives",
        ),
    ] = True,
    seed: SeedOption = None,
    changes: SetOption = None,
    warm_up: WarmUpOption = None,
    number: Annotated[str, replications("10")] = "10",
    jobs: JobsOption = None,
    to: Annotated[Path, out("results/compare")] = Path("results/compare"),
    force: ForceOption = False,
    resume: ResumeOption = False,
    folder: Annotated[Path | None, store("the folder runs/ of the output")] = None,
    warnings: WarningsOption = True,
    engine: EngineOption = None,
) -> None:
    """Compare queue disciplines under the same traffic.

    The output is a folder with a report, its figures and the finished runs. If there is a warm-up,
    the measures exclude every transfer that begins during the warm-up.
    """
    from aqmlab.comparison import comparison, output, show
    from aqmlab.custom import reported
    from aqmlab.progress import Bar

    overrides = read_overrides(changes)
    overrides += read_overrides(None, seed)
    count, threads = read_count("--replications", number) or 1, read_count("--jobs", jobs)
    file, by = scenario or comparison.SCENARIO, read_engine(engine)
    afresh = force and not resume

    def announce(primary: str) -> None:
        print_text(f"Primary measures: {primary}.")

    with (
        output.place(to, replace=force or resume) as claim,
        output.store(claim, folder, afresh=afresh) as runs,
        resumable(runs, "--resume") if folder or not afresh else nullcontext(),
    ):
        with reported(), Bar() as bar:
            done = comparison.compare(
                queues, file, count, threads, bar,
                link=link or ["bottleneck"], warm_up=warm_up, overrides=overrides, store=runs,
                engine=by, ecn=ecn, measure=measure or (), alternatives=alternatives,
                report=announce,
            )  # fmt: skip
        page = output.write(done, runs, claim, afresh=afresh)
    show.show(done, console())
    print_warnings(done.warnings if warnings else [])
    print_text(str(page))
