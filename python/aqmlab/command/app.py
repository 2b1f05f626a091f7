"""Commands of `aqmlab`, in the groups and the order in which the help lists them."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from aqmlab.command import (
    bench,
    calibrate,
    compare,
    doctor,
    examples,
    manual,
    model,
    new,
    page,
    plot,
    reproduce,
    responses,
    results,
    run,
    script,
    status,
    sweep,
    tc,
    traffic,
    tune_red,
    why,
)
from aqmlab.command.help import CONTEXT, Command, Group

app = typer.Typer(
    cls=Group,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=CONTEXT,
)


@app.callback(invoke_without_command=True)
def aqmlab(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version of aqmlab and exit.")
    ] = False,
) -> None:
    """Simulate the bottleneck of a network, packet by packet: queues, ECN and TCP.

    `aqmlab COMMAND --help` shows the options and examples of a command.
    """
    if version:
        from aqmlab import __version__

        typer.echo(f"aqmlab {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


COMMANDS: dict[str, dict[str, tuple[Callable[..., Any], tuple[str, ...]]]] = {
    "Run and compare": {
        "run": (run.run_command, run.EXAMPLES),
        "compare": (compare.compare_command, compare.EXAMPLES),
        "sweep": (sweep.sweep_command, sweep.EXAMPLES),
        "results": (results.results_command, results.EXAMPLES),
        "responses": (responses.responses_command, responses.EXAMPLES),
        "why": (why.why_command, why.EXAMPLES),
        "plot": (plot.plot_command, plot.EXAMPLES),
        "page": (page.page_command, page.EXAMPLES),
        "status": (status.status_command, status.EXAMPLES),
    },
    "Study": {
        "reproduce": (reproduce.reproduce_command, reproduce.EXAMPLES),
    },
    "TCP and traffic": {
        "script": (script.script_command, script.EXAMPLES),
        "traffic": (traffic.traffic_command, traffic.EXAMPLES),
        "calibrate": (calibrate.calibrate_command, calibrate.EXAMPLES),
    },
    "Model and tune": {
        "tune-red": (tune_red.tune_red_command, tune_red.EXAMPLES),
    },
    "Look up": {
        "new": (new.new_command, new.EXAMPLES),
        "examples": (examples.examples_command, examples.EXAMPLES),
        "list": (manual.list_command, manual.LIST_EXAMPLES),
        "explain": (manual.explain_command, manual.EXPLAIN_EXAMPLES),
        "tc": (tc.tc_command, tc.EXAMPLES),
        "doctor": (doctor.doctor_command, doctor.EXAMPLES),
        "schema": (manual.schema_command, manual.SCHEMA_EXAMPLES),
    },
    "Develop": {
        "bench": (bench.bench_command, bench.EXAMPLES),
    },
}
"""Function and examples of each command of `aqmlab`, by group and by name of the command."""

for group, commands in COMMANDS.items():
    for name, (function, lines) in commands.items():
        app.command(name, cls=Command, rich_help_panel=group, epilog="\n".join(lines))(function)
app.add_typer(model.models, name="model", rich_help_panel="Model and tune")
