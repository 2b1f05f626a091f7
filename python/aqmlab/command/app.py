"""The command `aqmlab`: its commands, in the order of the help."""

from typing import Annotated

import typer

from aqmlab.command import (
    bench,
    calibrate,
    compare,
    manual,
    model,
    plot,
    reproduce,
    responses,
    results,
    run,
    script,
    status,
    sweep,
    traffic,
    tune_red,
)

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def aqmlab(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """A packet-level laboratory for bottleneck queues: RED, ECN and TCP."""
    if version:
        from aqmlab import __version__

        typer.echo(f"aqmlab {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command("run")(run.run_command)
app.command("sweep")(sweep.sweep_command)
app.command("results")(results.results_command)
app.command("plot")(plot.plot)
app.command("reproduce")(reproduce.reproduce)
app.command("compare")(compare.compare_command)
app.command("responses")(responses.responses_command)
app.command("calibrate")(calibrate.calibrate_command)
app.command("tune-red")(tune_red.tune_red_command)
app.add_typer(model.models, name="model")
app.command("traffic")(traffic.traffic_command)
app.command("status")(status.status_command)
app.command("script")(script.script_command)
app.command("bench")(bench.bench)
app.command("list")(manual.list_command)
app.command("explain")(manual.explain)
app.command("schema")(manual.schema)
