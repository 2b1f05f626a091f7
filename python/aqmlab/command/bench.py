"""`aqmlab bench`: the speed of the simulator."""

from typing import Annotated

import typer

from aqmlab.command.options import read_count
from aqmlab.command.terminal import console


def bench(
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(help="Scenarios of the benchmark, e.g. S1 S2; default: all."),
    ] = None,
    peers: Annotated[
        bool,
        typer.Option("--peers", help="Also run ns-2, ns-3, htsim and the limit loop, if there."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the figures as JSON, one object a row.")
    ] = False,
    runs: Annotated[str, typer.Option(help="Runs of each; medians are shown.", metavar="N")] = "5",
    by_variant: Annotated[
        bool, typer.Option("--variants", help="Count what options and variants of TCP cost, only.")
    ] = False,
) -> None:
    """Measure the simulator's speed, in a checkout; docs/benchmark.md says how."""
    import json

    from aqmlab import variants
    from aqmlab.bench import benchmark, table
    from aqmlab.progress import Bar

    def tell(message: str) -> None:
        typer.echo(f"aqmlab: {message}", err=True)

    count = read_count("--runs", runs) or 1
    with Bar() as bar:
        if by_variant:
            rows = list(variants.costs(bar))
        else:
            rows = list(benchmark(scenarios or [], count, peers, tell, bar))
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
    else:
        console().print(variants.table(rows) if by_variant else table(rows))
