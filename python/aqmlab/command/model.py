"""`aqmlab model`: closed forms and fluid models, alone or beside a run of a scenario."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from aqmlab.command import model_kinds
from aqmlab.command.model_shown import draw, drawable, number
from aqmlab.command.options import read_change
from aqmlab.command.terminal import console, say, warn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aqmlab.models.beside import Beside
    from aqmlab.results import Result

MOST_SAMPLES = 200_000
"""Samples of a queue at most where a scenario is run for its models."""


class Models(TyperGroup):
    """The models by their names; any other first word is a scenario."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; without the name of a model they are those of `beside`."""
        if args and args[0] not in (*self.commands, "-h", "--help"):
            args = ["beside", *args]
        return super().parse_args(ctx, args or ["--help"])


models = typer.Typer(
    cls=Models,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Print what closed forms and fluid models say; with a scenario, beside what it measures.",
)


def beside_command(
    file: Annotated[
        Path | None, typer.Argument(help="A scenario, TOML or JSON.", metavar="SCENARIO")
    ] = None,
    run: Annotated[
        Path | None, typer.Option(help="A folder of aqmlab run --out, instead.", metavar="DIR")
    ] = None,
    seed: Annotated[
        str | None, typer.Option(help="Seed of every random stream.", metavar="N")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario."),
    ] = None,
    warm_up: Annotated[
        str | None,
        typer.Option(
            help="Beginning of the run that is not counted (warm_up), e.g. '20 s'.", metavar="TIME"
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw delays of the queue, or the loop; .png, .svg or .pdf."
        ),
    ] = None,
) -> None:
    """Run a scenario and set the models that fit it beside what it measured.

    `aqmlab model SCENARIO` is this too.
    """
    from aqmlab.models.beside import beside
    from aqmlab.results import Result

    drawable(plot)
    if (file is None) == (run is None):
        raise ValueError("give a scenario or --run DIR, one of both")
    if run and (seed or changes or warm_up):
        raise ValueError("--seed, --set and --warm-up are for a scenario; --run has been run")
    if file and not file.suffix and not file.exists():
        raise ValueError(f"{file} is no model and no file; aqmlab model -h lists the models")
    result = Result.read(run) if run else _run(file, seed, changes or [], warm_up)
    found = beside(result)
    _show(found)
    if run is None:
        warn(result.warnings)
    if plot:
        draw(_figure(found), plot)


def _run(
    file: Path | None, seed: str | None, changes: Sequence[str], warm_up: str | None
) -> "Result":
    """Run a scenario with the series that its models need."""
    from aqmlab.experiment import run_many
    from aqmlab.models.beside import needed
    from aqmlab.progress import Bar
    from aqmlab.scenario import normalize, seconds, warm_up_change

    assert file is not None
    overrides = [read_change(change) for change in changes]
    overrides += [("seed", seed)] if seed is not None else []
    overrides += warm_up_change(warm_up)
    scenario = json.loads(normalize(file, overrides=overrides))
    record = scenario["record"]
    record["series"] = list(dict.fromkeys([*record["series"], *needed(scenario)]))
    if scenario["duration"]:
        fine = max(1e-4, seconds(scenario["duration"]) / MOST_SAMPLES)
        if fine < seconds(record["interval"]):
            record["interval"] = f"{round(1e6 * fine)} us"
    with Bar() as bar:
        (result,) = run_many([scenario], progress=bar)
    return result


def _show(found: "Beside") -> None:
    from rich.table import Table

    if found.rows:
        after = f", after {found.begin_s:g} s" if found.begin_s else ""
        title = f"Models beside the run: {found.link}{after}"
        table = Table(title=title, title_justify="left")
        for head in ("model", "of", "quantity"):
            table.add_column(head)
        for head in ("model says", "measured", "differs"):
            table.add_column(head, justify="right", no_wrap=True)
        table.add_column("unit", no_wrap=True)
        last = None
        for row in found.rows:
            if last is not None and row.model != last:
                table.add_section()
            new, far = row.model != last, row.difference
            table.add_row(
                row.model if new else "", row.part if new else "", row.quantity,
                number(row.predicted), number(row.measured),
                "" if far != far else f"{100 * far:+.1f} %", row.unit,
            )  # fmt: skip
            last = row.model
        console().print(table, markup=False)
        assumed = dict.fromkeys(f"{row.model}: {row.assumed}" for row in found.rows if row.assumed)
        say("Assumed:\n" + "\n".join(f"  {line}" for line in assumed))
    else:
        say("No model here fits this run.")
    if found.left_out:
        say("Not here:\n" + "\n".join(f"  {line}" for line in found.left_out))


def _figure(found: "Beside") -> "Figure":
    from aqmlab.figures import models as figures

    if found.queue is not None:
        seen = {"measured": found.waits} if found.waits and len(found.waits[0]) else {}
        return figures.delays({found.rows[-1].model: found.queue}, seen)
    if found.loop is not None:
        return figures.bode({found.rows[-1].model: found.loop})
    raise ValueError("--plot: no distribution and no loop is known of this run; leave it out")


models.command("beside")(beside_command)
models.command("batch-queue")(model_kinds.batch_queue)
models.command("queue")(model_kinds.queue)
models.command("tcp")(model_kinds.tcp)
models.command("dctcp")(model_kinds.dctcp)
models.command("short-flow")(model_kinds.short_flow)
models.command("loop")(model_kinds.loop)
models.command("figure-7")(model_kinds.figure_7)
