"""`aqmlab results`: the estimates of a sweep as a table and as a figure."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab import estimates
from aqmlab.command.options import PlotOption, WarningsOption
from aqmlab.command.terminal import console, say, warn
from aqmlab.estimates import Estimate, Kind
from aqmlab.words import visible

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from aqmlab.experiment import Cell, Outcome

SIGNIFICANT = 0.05
MAX_ROWS = 60
READING = {
    "t": "Means of n replications, ± half of their 95 % interval (Student's t).",
    "bca": "Means of n replications with their 95 % interval (bootstrap, BCa).",
    "median": "Medians of n replications with their exact interval of at least 95 %, which needs "
    "at least six values.",
}
DIFFERENCES = (
    "Differences from the first arm, seed by seed. * marks a difference whose p-value ({}, "
    "corrected by Holm for all differences shown) is below 0.05. = marks equal values in every "
    "replication."
)

EFFECTS = (
    "Change of the mean when a factor goes from its first level to another, ± half of the 95 % "
    "interval. a × b is the increase of a's effect at b's other level. Least squares with seeds as "
    "blocks, HC2. * marks an effect whose p-value (corrected by Holm for all effects of the "
    "measure) is below 0.05; FDR is the p-value by Benjamini and Hochberg."
)
EXAMPLES = (
    "aqmlab results results/queue_size --by limit --measure goodput_bps --plot goodput.png",
    "aqmlab results results/queue_size --effects --csv effects.csv",
)


def results_command(
    folder: Annotated[Path, typer.Argument(help="Folder of a sweep.", metavar="DIR")],
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="Show the levels of this factor, and take the mean over the factors that are not "
            "named. Give its dotted path or the end of it. Repeat the option for several factors.",
            metavar="FACTOR",
            show_default="every factor",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="Show this measure. Repeat the option for several measures.",
            metavar="NAME",
            show_default="every measure",
        ),
    ] = None,
    interval: Annotated[
        Kind,
        typer.Option(
            help="Statistic and interval: t for means with Student's interval, bca for means with "
            "the bootstrap interval, median for medians with their exact interval.",
            metavar="KIND",
        ),
    ] = "t",
    effects: Annotated[
        bool,
        typer.Option(
            "--effects",
            help="Show main effects and interactions of factors and arms instead of means.",
        ),
    ] = False,
    plot: PlotOption = None,
    csv: Annotated[
        Path | None,
        typer.Option(help="Also write the table to this new file, as CSV.", metavar="FILE"),
    ] = None,
    parquet: Annotated[
        Path | None,
        typer.Option(help="Also write the table to this new file, as Parquet.", metavar="FILE"),
    ] = None,
    netcdf: Annotated[
        Path | None,
        typer.Option(
            help="Also write the measures of every run, by factors, arm and replication, to this "
            "new file, as netCDF.",
            metavar="FILE",
        ),
    ] = None,
    warnings: WarningsOption = True,
) -> None:
    """Show the results of a sweep: each measure per arm and point, with intervals.

    --plot draws each measure over a factor, a line per arm with its intervals: over the factor of
    --by, or over the first factor that varies. A second --by gives a column of panels per level.
    """
    from aqmlab.command.model_shown import draw, drawable
    from aqmlab.experiment import Outcome
    from aqmlab.folder import appearing_file

    drawable(plot)
    for path in filter(None, (csv, parquet, netcdf)):
        if path.exists():
            raise FileExistsError(f"{path} exists; give another name")
    outcome = Outcome.read(folder)
    if effects and by:
        raise ValueError("--effects uses all factors; leave --by out")
    if effects and plot:
        raise ValueError("--plot draws means or medians, not effects; leave --effects out")
    if effects:
        show_effects(outcome, console(), measure)
    else:
        show(outcome, console(), by, measure, interval)
    if csv or parquet:
        table: pd.DataFrame = (
            outcome.effects_table(measure) if effects else outcome.summary(by, measure, interval)
        )
        if csv:
            with appearing_file(csv) as part:
                table.to_csv(part, index=False)
        if parquet:
            with appearing_file(parquet) as part, part.open("wb") as file:
                table.to_parquet(file, index=False)
    if netcdf:
        with appearing_file(netcdf) as part:
            outcome.to_xarray().to_netcdf(part, engine="scipy")
    warn([*outcome.warnings, *outcome.cautions] if warnings else [])
    for path in filter(None, (csv, parquet, netcdf)):
        say(f"Written to {path}")
    if plot:
        from aqmlab.figures.experiment import over_factor

        draw(over_factor(outcome, measure, by, interval), plot)


def show_effects(
    outcome: "Outcome", console: "Console", measures: Sequence[str] | None = None
) -> None:
    """Print main effects and interactions."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    names = list(measures or [m.name for m in outcome.measures])
    if outcome.title:
        console.print(visible(outcome.title), markup=False, highlight=False)
    made = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("measure", "factor", "change"):
        made.add_column(name, overflow="fold")
    made.add_column("unit")
    for name in ("effect", "p, Holm", "p, FDR"):
        made.add_column(name, justify="right", no_wrap=True)
    ends = dict(zip(outcome.factors, short(outcome.factors), strict=True))
    notes: list[str] = []
    for name in names:
        try:
            of = outcome.effects(name)
        except ValueError as error:
            notes.append(f"{name}: no effects: {error}")
            continue
        for i, e in enumerate(of.effects):
            factor = " × ".join(ends.get(one, one) for one in e.factors)
            change = ", ".join(f"{a} → {b}" for a, b in e.levels)
            middle, high = e.interval.middle, e.interval.high
            shown = f"{'+' * (middle > 0)}{spread(middle, high)}{'*' * (e.p_holm < SIGNIFICANT)}"
            first = ["" if i else name, factor, change, outcome.measure(name).unit]
            ps = ["" if math.isnan(p) else f"{p:.2g}" for p in (e.p_holm, e.p_discovery)]
            made.add_row(*map(Text, [*first, shown, *ps]))
        for pair in of.aliased:
            both = " × ".join(ends.get(one, one) for one in pair)
            notes.append(f"{name}: {both} cannot be separated from effects above (aliased)")
    console.print(made, markup=False)
    for text in notes:
        console.print(text, markup=False)
    console.print(EFFECTS, style="dim")


def show_measures(outcome: "Outcome", console: "Console") -> None:
    """Print the measures of one scenario over its replications: a row per measure."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    console.print(visible(outcome.title), markup=False, highlight=False)
    made = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    made.add_column("measure", overflow="fold")
    made.add_column("unit")
    for name in ("mean", "median", "central 95 %", "n"):
        made.add_column(name, justify="right")
    for cell in outcome.cells():
        middle = estimates.median(cell.values.values())
        low, high = estimates.number(middle.low), estimates.number(middle.high)
        runs = f"{low} to {high}" if len(cell.values) > 1 else ""
        median = estimates.number(middle.value)
        row = cell.measure.name, cell.measure.unit, mean(cell), median, runs, count(cell)
        made.add_row(*map(Text, row))
    console.print(made, markup=False)
    _not_measured(outcome, console)
    _failures(outcome, console)
    seeds = sorted(outcome.runs["seed"])
    console.print(f"{len(seeds)} replications, seeds {seeds[0]} to {seeds[-1]}.", markup=False)
    console.print("± half of the mean's 95 % interval (Student's t).", style="dim")


def _not_measured(outcome: "Outcome", console: "Console") -> None:
    """Print the measures that the engine did not measure."""
    if outcome.not_measured:
        names = ", ".join(map(visible, outcome.not_measured))
        console.print(f"Not measured by the engine: {names}.", markup=False)


def _failures(outcome: "Outcome", console: "Console") -> None:
    """Print the number of failed runs, and the reason of the first."""
    failed = outcome.runs["failed"] != ""
    if failed.any():
        why = outcome.runs["failed"][failed].iloc[0]
        console.print(
            f"{failed.sum()} of {len(failed)} runs failed. The first: {visible(why)}", markup=False
        )


def show(
    outcome: "Outcome",
    console: "Console",
    by: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
    kind: Kind = "t",
) -> None:
    """Print the estimates of an experiment, and the differences between its arms."""
    cells = outcome.cells(by, measures, kind)
    if outcome.title:
        console.print(visible(outcome.title), markup=False, highlight=False)
    rows = table(cells, outcome)
    console.print(rows, markup=False)
    if rows.row_count < len(cells):
        console.print(f"{len(cells) - rows.row_count} more rows: --csv FILE writes all of them.")
    _not_measured(outcome, console)
    _failures(outcome, console)
    points = outcome.runs["point"].nunique()
    arms = f", {len(outcome.arms)} arms" if len(outcome.arms) > 1 else ""
    after = f"; after a warm-up of {visible(outcome.warm_up)}" if outcome.warm_up else ""
    console.print(f"{len(outcome.runs)} runs: {points} points{arms}{after}.", markup=False)
    test = "sign test" if kind == "median" else "paired t test"
    console.print(f"{READING[kind]} {DIFFERENCES.format(test)}", style="dim")


def table(cells: "Sequence[Cell]", outcome: "Outcome") -> "Table":
    """Return the table: a row per arm and measure at a point."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    factors = list(cells[0].at) if cells else []
    several = len(outcome.arms) > 1
    made = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    for name in short(factors):
        made.add_column(name, overflow="fold")
    for name in ["measure", *["arm"] * several, "unit"]:
        made.add_column(name, overflow="fold")
    for name in [
        cells[0].estimate.statistic.split(",")[0] if cells else "mean",
        "n",
        *["difference"] * several,
    ]:
        made.add_column(name, justify="right", no_wrap=True)
    before: list[str] = []
    for cell in cells[:MAX_ROWS]:
        place = [*map(str, cell.at.values()), cell.measure.name]
        same = 0
        while same < min(len(before), len(place)) and before[same] == place[same]:
            same += 1
        shown = [*[""] * same, *place[same:]]
        before = place
        texts = [*shown, *[cell.arm] * several, cell.measure.unit, mean(cell), count(cell)]
        made.add_row(*map(Text, texts), *[Text(difference(cell))] * several)
    return made


def short(factors: Sequence[str]) -> list[str]:
    """Return the shortest ends of dotted paths that differ from each other.

    Examples
    --------
    >>> short(["network.queue.limit", "flows.0.count", "flows.1.count"])
    ['limit', '0.count', '1.count']
    """

    def end(path: str, parts: int) -> str:
        return ".".join(path.split(".")[-parts:])

    ends = []
    for factor in factors:
        parts = 1
        while parts < 9 and sum(end(other, parts) == end(factor, parts) for other in factors) > 1:
            parts += 1
        ends.append(end(factor, parts))
    return ends


def mean(cell: "Cell") -> str:
    """Return the mean with half of its interval."""
    return interval_of(cell.estimate)


def interval_of(of: Estimate) -> str:
    """Return a value with its interval; a symmetric interval is shown as ± half of it.

    Examples
    --------
    >>> interval_of(estimates.mean([9, 10, 11]))
    '10.0 ±2.5'
    >>> interval_of(estimates.mean([1, 1, 2, 2, 8, 9], "median"))
    '2 [1 to 9]'
    """
    if of.statistic == estimates.NOT_MEASURED:
        return str(of)
    if math.isinf(of.low) or math.isinf(of.high):  # too few values to bound a median
        return estimates.number(of.value)
    if math.isnan(of.low) or math.isclose(of.high - of.value, of.value - of.low, rel_tol=1e-6):
        return spread(of.value, of.high)
    return str(of)


def spread(middle: float, high: float) -> str:
    """Return a number and its half width, rounded to two digits of the half width.

    Examples
    --------
    >>> spread(12.3456, 12.41), spread(1234.5, 1300.0), spread(0.5, float("nan"))
    ('12.346 ±0.064', '1234 ±66', '0.5')
    """
    half = high - middle
    if math.isnan(middle):
        return "–"
    if math.isnan(half) or half <= 0:
        return estimates.number(middle)
    digits = max(0, min(9, 1 - math.floor(math.log10(half))))
    return f"{middle:z.{digits}f} ±{half:.{digits}f}"


def count(cell: "Cell") -> str:
    """Return the number of values, and of missing values."""
    missing = cell.estimate.missing
    return f"{cell.estimate.n}" + (f" ({missing} missing)" if missing else "")


def difference(cell: "Cell") -> str:
    """Return the difference from the first arm, with a star if it is significant."""
    of = cell.difference
    if of is None or math.isnan(of.value):
        return ""
    if of.value == 0 and (math.isnan(of.low) or of.low == of.high):
        return "="
    sign = "+" * (of.value > 0)
    return f"{sign}{interval_of(of)}{'*' * (cell.p_corrected < SIGNIFICANT)}"
