"""`aqmlab bench`: the speed of the simulator."""

from pathlib import Path
from typing import Annotated, Any

import typer

from aqmlab.command.options import read_count
from aqmlab.command.terminal import console

EXAMPLES = (
    "aqmlab bench S2 S2+drops flows-1000 --runs 3",
    "aqmlab bench --all --peers --json",
)


def bench_command(
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names of benchmark scenarios, e.g. S1 S2+drops flows-1000 web-1000.",
            show_default="all scenarios",
        ),
    ] = None,
    peers: Annotated[
        bool,
        typer.Option(
            "--peers",
            help="Also measure other programs: ns-2, ns-3 and htsim if they are installed, and a "
            "loop that does only the work that every packet simulator has to do.",
        ),
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print the results as JSON, with one object per scenario and simulator, and one "
            "per variant.",
        ),
    ] = False,
    runs: Annotated[
        str,
        typer.Option(
            help="Number of measurements of each scenario; the output shows their median.",
            metavar="N",
        ),
    ] = "5",
    wheel: Annotated[
        Path | None,
        typer.Option(
            help="Also measure the simulator of this wheel, as one more simulator. The ratios then "
            "compare with the wheel.",
            metavar="FILE",
        ),
    ] = None,
    by_variant: Annotated[
        bool,
        typer.Option(
            "--variants",
            help="Measure the cost of TCP options and series instead of the speed: the number of "
            "machine instructions per packet of S2 with each option or series.",
        ),
    ] = False,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Print every table of docs/benchmark.md: measure all scenarios, and count the "
            "instructions of --variants.",
        ),
    ] = False,
) -> None:
    """Measure the speed of the simulator. The command needs a checkout of the source code.

    docs/benchmark.md describes the scenarios of the benchmark and the method of measurement.
    """
    import json

    from aqmlab import variants
    from aqmlab.bench import benchmark, tables
    from aqmlab.progress import Bar

    def report(message: str) -> None:
        typer.echo(f"aqmlab: {message}", err=True)

    if everything and scenarios:
        raise ValueError("--all measures all scenarios; omit --all or the names of scenarios")
    count = read_count("--runs", runs) or 1
    with Bar() as bar:
        counted: list[dict[str, Any]] = []
        measured: list[dict[str, Any]] = []
        if everything or by_variant:
            counted += variants.costs(bar)
        if everything or not by_variant:
            measured += benchmark(scenarios or [], count, peers, report, bar, wheel)
    if as_json:
        typer.echo(json.dumps(measured + counted, indent=1))
    else:
        for table in tables(measured):
            console().print(table)
        if counted:
            console().print(variants.table(counted))
