"""`aqmlab model`: predictions of analytic models, and their comparison with a run."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.command import completion, model_kinds
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
from aqmlab.command.terminal import console, print_text, print_warnings, resumable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aqmlab.models.comparison import Comparison
    from aqmlab.results import Result

MAX_SAMPLES = 200_000
"""Maximum number of samples of a queue in a run for `aqmlab model compare`."""
EXAMPLES = (
    "aqmlab model compare examples/red_loads.toml --set duration='20 s' --warm-up '5 s'",
    "aqmlab model compare --run results/red_loads",
)


class Models(Group):
    """Command `aqmlab model`, whose first argument is a model's name or a scenario."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments.

        If the first argument is not the name of a model, the command is `model compare`.

        Raises
        ------
        ValueError
            If the first argument is `beside`, the old name of `compare`.
        """
        if args[:1] == ["beside"]:
            raise ValueError(
                "aqmlab model beside is now aqmlab model compare; write for example: aqmlab model "
                "compare examples/red_loads.toml"
            )
        if args and args[0] not in (*self.commands, "-h", "--help"):
            args = ["compare", *args]
        return super().parse_args(ctx, args or ["--help"])


models = typer.Typer(
    cls=Models,
    add_completion=False,
    rich_markup_mode=None,
    context_settings=CONTEXT,
    help="Show the predictions of analytic models of queues and of TCP, or compare them with a "
    "run.\n\n"
    "`aqmlab model FILE` has the same meaning as `aqmlab model compare FILE`.",
    epilog="aqmlab model examples/red_loads.toml --set duration='20 s'\n"
    "aqmlab model tcp --p 0.01 --rtt '100 ms'",
)


def compare_command(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A scenario, in TOML or JSON.",
            metavar="FILE",
            autocompletion=completion.scenarios,
        ),
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
    """Compare the results of a run with the predictions of analytic models.

    The command also lists each model that does not apply to the scenario, with the reason. --plot
    draws the distribution of the queueing delay, or the gain and phase of the control loop of an
    AQM.
    """
    from aqmlab import ready
    from aqmlab.models.comparison import compare
    from aqmlab.results import Result

    drawable(plot)
    if (file is None) == (run is None):
        raise ValueError(
            "give either a scenario to run, or the folder of a finished run with --run DIR"
        )
    if run and (seed or changes or warm_up or store):
        raise ValueError(
            "--run excludes --seed, --set, --warm-up and --store, because a finished run cannot be "
            "changed; leave out these options"
        )
    if file and not (file.suffix or file.exists() or str(file) in ready.names()):
        raise ValueError(
            f"{file} is neither a model nor a scenario; aqmlab model -h lists the models"
        )
    result = Result.read(run) if run else _run(file, read_overrides(changes, seed, warm_up), store)
    comparison = compare(result)
    _show(comparison)
    if run is None:
        print_warnings(result.warnings if warnings else [])
    if plot:
        draw(_figure(comparison), plot, result.origin)


def _run(file: Path | None, overrides: Sequence[tuple[str, str]], store: Path | None) -> "Result":
    """Run a scenario, and record the series that the models of this scenario need."""
    from aqmlab.experiment import run_many
    from aqmlab.models.comparison import needed
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


def _show(comparison: "Comparison") -> None:
    """Print predicted and measured values as a table, with the assumptions of the models."""
    from rich.table import Table

    if comparison.rows:
        after = f", after {comparison.begin_s:g} s" if comparison.begin_s else ""
        title = f"Models compared with the run: {comparison.link}{after}"
        table = Table(title=title, title_justify="left")
        for head in ("model", "of", "measure"):
            table.add_column(head)
        for head in ("predicted", "measured", "difference"):
            table.add_column(head, justify="right", no_wrap=True)
        table.add_column("unit", no_wrap=True)
        last = None
        for row in comparison.rows:
            if last is not None and row.model != last:
                table.add_section()
            new, difference = row.model != last, row.difference
            table.add_row(
                row.model if new else "", row.part if new else "", row.quantity,
                number(row.predicted), number(row.measured),
                "" if difference != difference else f"{100 * difference:+.1f} %", row.unit,
            )  # fmt: skip
            last = row.model
        console().print(table, markup=False)
        assumed = dict.fromkeys(
            f"{row.model}: {row.assumed}" for row in comparison.rows if row.assumed
        )
        print_text("Assumptions:\n" + "\n".join(f"  {line}" for line in assumed))
    else:
        print_text("No model applies to this run.")
    if comparison.left_out:
        lines = "\n".join(f"  {line}" for line in comparison.left_out)
        print_text(f"Models that do not apply:\n{lines}")


def _figure(comparison: "Comparison") -> "Figure":
    """Return the figure of the queueing delays, or of the control loop of an AQM."""
    from aqmlab.figures import models as figures

    if comparison.queue is not None:
        waits = comparison.waits
        measured = {"measured": waits} if waits and len(waits[0]) else {}
        return figures.delays({comparison.rows[-1].model: comparison.queue}, measured)
    if comparison.loop is not None:
        return figures.bode({comparison.rows[-1].model: comparison.loop})
    raise ValueError(
        "--plot needs a model of the queueing delay or of a control loop, and no such model "
        "applies to this run; leave --plot out"
    )


models.command("compare", cls=Command, epilog="\n".join(EXAMPLES))(compare_command)
for name, (function, examples) in model_kinds.MODELS.items():
    models.command(name, cls=Command, epilog="\n".join(examples))(function)
