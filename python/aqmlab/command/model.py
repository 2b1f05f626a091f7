"""`aqmlab model`: closed forms and fluid models, alone or compared with a run."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.command import model_kinds
from aqmlab.command.help import CONTEXT, Command, Group
from aqmlab.command.model_shown import draw, drawable, number
from aqmlab.command.options import (
    PlotOption,
    SeedOption,
    SetOption,
    StoreOption,
    WarmUpOption,
    WarningsOption,
    read_overrides,
)
from aqmlab.command.terminal import console, resumable, say, warn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aqmlab.models.beside import Beside
    from aqmlab.results import Result

MAX_SAMPLES = 200_000
"""Maximum number of samples of a queue where a scenario is run for its models."""
EXAMPLES = (
    "aqmlab model beside examples/red_loads.toml --set duration='20 s' --warm-up '5 s'",
    "aqmlab model beside --run results/red_loads",
)


class Models(Group):
    """The models by name; any other first word is a scenario."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; without the name of a model they are those of `beside`."""
        if args and args[0] not in (*self.commands, "-h", "--help"):
            args = ["beside", *args]
        return super().parse_args(ctx, args or ["--help"])


models = typer.Typer(
    cls=Models,
    add_completion=False,
    rich_markup_mode=None,
    context_settings=CONTEXT,
    help="Show the predictions of closed forms and fluid models, or compare them with a run.\n\n"
    "`aqmlab model SCENARIO` is short for `aqmlab model beside SCENARIO`.",
    epilog="aqmlab model examples/red_loads.toml --set duration='20 s'\n"
    "aqmlab model tcp --p 0.01 --rtt '100 ms'",
)


def beside_command(
    file: Annotated[
        Path | None, typer.Argument(help="A scenario, in TOML or JSON.", metavar="FILE")
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a finished run, which `aqmlab run --out` wrote, in place of FILE.",
            metavar="DIR",
        ),
    ] = None,
    seed: SeedOption = None,
    changes: SetOption = None,
    warm_up: WarmUpOption = None,
    store: StoreOption = None,
    plot: PlotOption = None,
    warnings: WarningsOption = True,
) -> None:
    """Compare a run of a scenario with the predictions of the models that fit it.

    The command names each model that does not fit, with the reason. --plot draws the delays of the
    queue, or gain and phase of the control loop.
    """
    from aqmlab.models.beside import beside
    from aqmlab.results import Result

    drawable(plot)
    if (file is None) == (run is None):
        raise ValueError("give either a scenario or --run DIR")
    if run and (seed or changes or warm_up or store):
        raise ValueError(
            "--run names a finished run; leave --seed, --set, --warm-up and --store out"
        )
    if file and not file.suffix and not file.exists():
        raise ValueError(f"{file} must be a model or a file; aqmlab model -h lists the models")
    result = Result.read(run) if run else _run(file, read_overrides(changes, seed, warm_up), store)
    comparison = beside(result)
    _show(comparison)
    if run is None:
        warn(result.warnings if warnings else [])
    if plot:
        draw(_figure(comparison), plot)


def _run(file: Path | None, overrides: Sequence[tuple[str, str]], store: Path | None) -> "Result":
    """Run a scenario with the series that its models need."""
    from aqmlab.experiment import run_many
    from aqmlab.models.beside import needed
    from aqmlab.progress import Bar
    from aqmlab.scenario import normalize, seconds
    from aqmlab.store import FolderStore

    assert file is not None
    scenario = json.loads(normalize(file, overrides=overrides))
    record = scenario["record"]
    record["series"] = list(dict.fromkeys([*record["series"], *needed(scenario)]))
    if scenario["duration"]:
        fine = max(1e-4, seconds(scenario["duration"]) / MAX_SAMPLES)
        if fine < seconds(record["interval"]):
            record["interval"] = f"{round(1e6 * fine)} us"
    with ExitStack() as stack:
        runs = stack.enter_context(FolderStore(store)) if store else None
        if runs:
            stack.enter_context(resumable(runs))
        bar = stack.enter_context(Bar())
        (result,) = run_many([scenario], progress=bar, store=runs)
    return result


def _show(comparison: "Beside") -> None:
    from rich.table import Table

    if comparison.rows:
        after = f", after {comparison.begin_s:g} s" if comparison.begin_s else ""
        title = f"Models beside the run: {comparison.link}{after}"
        table = Table(title=title, title_justify="left")
        for head in ("model", "of", "quantity"):
            table.add_column(head)
        for head in ("model says", "measured", "differs"):
            table.add_column(head, justify="right", no_wrap=True)
        table.add_column("unit", no_wrap=True)
        last = None
        for row in comparison.rows:
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
        assumed = dict.fromkeys(
            f"{row.model}: {row.assumed}" for row in comparison.rows if row.assumed
        )
        say("Assumed:\n" + "\n".join(f"  {line}" for line in assumed))
    else:
        say("No model fits this run.")
    if comparison.left_out:
        say("Models left out:\n" + "\n".join(f"  {line}" for line in comparison.left_out))


def _figure(comparison: "Beside") -> "Figure":
    from aqmlab.figures import models as figures

    if comparison.queue is not None:
        waits = comparison.waits
        measured = {"measured": waits} if waits and len(waits[0]) else {}
        return figures.delays({comparison.rows[-1].model: comparison.queue}, measured)
    if comparison.loop is not None:
        return figures.bode({comparison.rows[-1].model: comparison.loop})
    raise ValueError(
        "--plot needs a distribution or a loop, and this run has neither; leave it out"
    )


models.command("beside", cls=Command, epilog="\n".join(EXAMPLES))(beside_command)
for name, (function, examples) in model_kinds.MODELS.items():
    models.command(name, cls=Command, epilog="\n".join(examples))(function)
