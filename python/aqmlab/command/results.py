"""`aqmlab results`: the results of a sweep as a table or a figure."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab import estimates
from aqmlab.command.options import PlotOption, WarningsOption
from aqmlab.command.terminal import console, print_text, print_warnings
from aqmlab.estimates import Estimate, Kind
from aqmlab.words import visible

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from aqmlab.experiment import ArmEstimate, Outcome

SIGNIFICANT = 0.05
MAX_ROWS = 60
READING = {
    "t": "Values are means of n replications, ± half of the 95 % interval (Student's t).",
    "bca": "Values are means of n replications with the 95 % interval (bootstrap, BCa).",
    "median": "Values are medians of n replications with an exact interval of at least 95 % "
    "confidence. The interval needs at least six replications.",
}
"""Sentences that explain the values of a table, by kind of interval."""
DIFFERENCES = (
    "Each difference compares an arm with the first arm, with the same seed in both. * marks a "
    "significant difference: its p value is below 0.05 ({}, corrected by Holm for all differences "
    "shown). = marks arms with equal values in all replications."
)
"""Sentences that explain the differences in a table; {} stands for the name of the test."""
EFFECTS = (
    "The effect of a factor is the change of the mean from the first level of the factor to "
    "another level, ± half of the 95 % interval. The effect a × b is the change of the effect of "
    "factor a from one level of factor b to another. The effects are estimated by least squares "
    "with seeds as blocks (HC2). * marks a significant effect: its p value is below 0.05 "
    "(corrected by Holm for all effects of the measure). The column FDR has the p value corrected "
    "by Benjamini and Hochberg."
)
"""Sentences that explain a table of effects."""
EXAMPLES = (
    "aqmlab results results/queue_size --by limit --measure goodput_bps --plot goodput.png",
    "aqmlab results results/queue_size --effects --csv effects.csv",
)


def results_command(
    folder: Annotated[Path, typer.Argument(help="Output folder of aqmlab sweep.", metavar="DIR")],
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="Factor whose levels get separate rows; the values are means over all other "
            "factors. Name the factor by its dotted path or by the end of this path, e.g. limit. "
            "Repeat --by for several factors.",
            metavar="FACTOR",
            show_default="every factor",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="Name of a measure to show. Repeat --measure for several measures.",
            metavar="NAME",
            show_default="every measure",
        ),
    ] = None,
    interval: Annotated[
        Kind,
        typer.Option(
            help="Statistic to show. t: means with Student's confidence interval. bca: means with "
            "the bootstrap interval. median: medians with an exact interval.",
            metavar="KIND",
        ),
    ] = "t",
    effects: Annotated[
        bool,
        typer.Option(
            "--effects",
            help="Show the effects of the factors and arms on each measure, instead of the means: "
            "main effects, and interactions of two factors.",
        ),
    ] = False,
    plot: PlotOption = None,
    csv: Annotated[
        Path | None,
        typer.Option(help="Also write the table to this new CSV file.", metavar="FILE"),
    ] = None,
    parquet: Annotated[
        Path | None,
        typer.Option(help="Also write the table to this new Parquet file.", metavar="FILE"),
    ] = None,
    netcdf: Annotated[
        Path | None,
        typer.Option(
            help="Also write the measures of all runs to this new netCDF file, as arrays over "
            "factors, arms and replications.",
            metavar="FILE",
        ),
    ] = None,
    warnings: WarningsOption = True,
) -> None:
    """Show the results of a sweep: the estimate of each measure, with a confidence interval.

    During a sweep and after an interruption, the results are those of the finished runs.

    --plot draws one line per arm. The horizontal axis is the factor that --by names, or the first
    factor that varies. If --by names two factors, the figure has one column of panels for each
    level of the second factor.
    """
    from aqmlab.command.model_shown import draw, drawable
    from aqmlab.experiment import Outcome
    from aqmlab.folder import appearing_file

    drawable(plot)
    for path in filter(None, (csv, parquet, netcdf)):
        if path.exists():
            raise FileExistsError(f"{path} already exists; give another name")
    outcome = Outcome.read(folder)
    if effects and by:
        raise ValueError(
            "--effects and --by exclude each other, because the effects concern all factors; leave "
            "out one of these options"
        )
    if effects and plot:
        raise ValueError(
            "--plot and --effects exclude each other, because a figure shows means or medians; "
            "leave out one of these options"
        )
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
            # pandas 2.2 passes the name of the file to Arrow, which refuses names without UTF-8.
            import pyarrow
            from pyarrow.parquet import write_table

            with appearing_file(parquet) as part, part.open("wb") as file:
                write_table(pyarrow.Table.from_pandas(table, preserve_index=False), file)
    if netcdf:
        with appearing_file(netcdf) as part:
            outcome.to_xarray().to_netcdf(part, engine="scipy")
    print_warnings([*outcome.warnings, *outcome.cautions] if warnings else [])
    for path in filter(None, (csv, parquet, netcdf)):
        print_text(f"Written to {path}")
    if plot:
        from aqmlab.figures.experiment import over_factor

        draw(over_factor(outcome, measure, by, interval), plot)


def show_effects(
    outcome: "Outcome", console: "Console", measures: Sequence[str] | None = None
) -> None:
    """Print the main effects and interactions of the factors and arms on each measure."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    names = list(measures or [m.name for m in outcome.measures])
    _head(outcome, console)
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("measure", "factor", "change"):
        table.add_column(name, overflow="fold")
    table.add_column("unit")
    for name in ("effect", "p, Holm", "p, FDR"):
        table.add_column(name, justify="right", no_wrap=True)
    ends = dict(zip(outcome.factors, short(outcome.factors), strict=True))
    notes: list[str] = []
    for name in names:
        try:
            of_measure = outcome.effects(name)
        except ValueError as error:
            notes.append(
                f"{name} is not in this table, because its effects cannot be estimated: {error}"
            )
            continue
        for i, e in enumerate(of_measure.effects):
            factor = " × ".join(ends.get(one, one) for one in e.factors)
            change = ", ".join(f"{a} → {b}" for a, b in e.levels)
            middle, high = e.interval.middle, e.interval.high
            shown = f"{'+' * (middle > 0)}{spread(middle, high)}{'*' * (e.p_holm < SIGNIFICANT)}"
            first = ["" if i else name, factor, change, outcome.measure(name).unit]
            ps = ["" if math.isnan(p) else f"{p:.2g}" for p in (e.p_holm, e.p_discovery)]
            table.add_row(*map(Text, [*first, shown, *ps]))
        for pair in of_measure.aliased:
            both = " × ".join(ends.get(one, one) for one in pair)
            notes.append(
                f"{name}: {both} cannot be distinguished from an effect in this table (aliased)"
            )
    console.print(table, markup=False)
    for text in notes:
        console.print(text, markup=False)
    console.print(EFFECTS, style="dim")


def show_measures(outcome: "Outcome", console: "Console") -> None:
    """Print the statistics of the replications of one scenario, with one row per measure."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    console.print(visible(outcome.title), markup=False, highlight=False)
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("measure", overflow="fold")
    table.add_column("unit")
    for name in ("mean", "median", "central 95 %", "n"):
        table.add_column(name, justify="right")
    for one in outcome.estimates():
        middle = estimates.median(one.values.values())
        low, high = estimates.number(middle.low), estimates.number(middle.high)
        runs = f"{low} to {high}" if len(one.values) > 1 else ""
        median = estimates.number(middle.value)
        row = one.measure.name, one.measure.unit, mean(one), median, runs, count(one)
        table.add_row(*map(Text, row))
    console.print(table, markup=False)
    _not_measured(outcome, console)
    _failures(outcome, console)
    seeds = sorted(outcome.runs["seed"])
    console.print(f"{len(seeds)} replications, seeds {seeds[0]} to {seeds[-1]}.", markup=False)
    console.print("Means are shown ± half of their 95 % interval (Student's t).", style="dim")


def _head(outcome: "Outcome", console: "Console") -> None:
    """Print the title of an experiment, and the number of runs if the results are partial."""
    if outcome.title:
        console.print(visible(outcome.title), markup=False, highlight=False)
    if outcome.partial:
        console.print(
            f"Partial results: {outcome.partial} have ended. A mean over several points covers "
            "only the runs that have ended. `aqmlab sweep FILE --resume` continues an interrupted "
            "sweep.",
            markup=False,
        )


def _not_measured(outcome: "Outcome", console: "Console") -> None:
    """Print the names of the measures that the engine did not measure."""
    if outcome.not_measured:
        names = ", ".join(map(visible, outcome.not_measured))
        console.print(f"Not measured by the engine: {names}.", markup=False)


def _failures(outcome: "Outcome", console: "Console") -> None:
    """Print the number of failed runs, and the error of the first failed run."""
    failed = outcome.runs["failed"] != ""
    if failed.any():
        error = visible(outcome.runs["failed"][failed].iloc[0])
        console.print(
            f"{failed.sum()} of {len(failed)} runs failed. The first error: {error}", markup=False
        )


def show(
    outcome: "Outcome",
    console: "Console",
    by: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
    kind: Kind = "t",
) -> None:
    """Print the estimates of an experiment, and the difference of each arm from the first arm."""
    every = outcome.estimates(by, measures, kind)
    _head(outcome, console)
    rows = table(every, outcome)
    console.print(rows, markup=False)
    if rows.row_count < len(every):
        left = len(every) - rows.row_count
        console.print(f"{left} more rows are not shown; --csv FILE writes all rows.")
    _not_measured(outcome, console)
    _failures(outcome, console)
    points = outcome.runs["point"].nunique()
    arms = f", {len(outcome.arms)} arms" if len(outcome.arms) > 1 else ""
    after = f"; after a warm-up of {visible(outcome.warm_up)}" if outcome.warm_up else ""
    console.print(f"{len(outcome.runs)} runs: {points} points{arms}{after}.", markup=False)
    test = "sign test" if kind == "median" else "paired t test"
    console.print(f"{READING[kind]} {DIFFERENCES.format(test)}", style="dim")


def table(every: "Sequence[ArmEstimate]", outcome: "Outcome") -> "Table":
    """Return a table with one row per arm, measure and point."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    factors = list(every[0].at) if every else []
    several = len(outcome.arms) > 1
    rows = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    for name in short(factors):
        rows.add_column(name, overflow="fold")
    for name in ["measure", *["arm"] * several, "unit"]:
        rows.add_column(name, overflow="fold")
    for name in [
        every[0].estimate.statistic.split(",")[0] if every else "mean",
        "n",
        *["difference"] * several,
    ]:
        rows.add_column(name, justify="right", no_wrap=True)
    before: list[str] = []
    for one in every[:MAX_ROWS]:
        place = [*map(str, one.at.values()), one.measure.name]
        same = 0
        while same < min(len(before), len(place)) and before[same] == place[same]:
            same += 1
        shown = [*[""] * same, *place[same:]]
        before = place
        texts = [*shown, *[one.arm] * several, one.measure.unit, mean(one), count(one)]
        rows.add_row(*map(Text, texts), *[Text(difference(one))] * several)
    return rows


def short(factors: Sequence[str]) -> list[str]:
    """Shorten each dotted path to its shortest suffix that is not a suffix of another path.

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


def mean(one: "ArmEstimate") -> str:
    """Format the estimate for one arm of an experiment, with the interval of the estimate."""
    return interval_of(one.estimate)


def interval_of(estimate: Estimate) -> str:
    """Format a value with its interval. A symmetric interval is shown as ± its half width.

    Examples
    --------
    >>> interval_of(estimates.mean([9, 10, 11]))
    '10.0 ±2.5'
    >>> interval_of(estimates.mean([1, 1, 2, 2, 8, 9], "median"))
    '2 [1 to 9]'
    """
    low, value, high = estimate.low, estimate.value, estimate.high
    if estimate.statistic == estimates.NOT_MEASURED:
        return str(estimate)
    if math.isinf(low) or math.isinf(high):  # too few values to bound a median
        return estimates.number(value)
    if math.isnan(low) or math.isclose(high - value, value - low, rel_tol=1e-6):
        return spread(value, high)
    return str(estimate)


def spread(middle: float, high: float) -> str:
    """Format a value ± half the width of its interval, rounded to two digits of the half width.

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


def count(one: "ArmEstimate") -> str:
    """Format the number of values of an estimate, and the number of missing values."""
    missing = one.estimate.missing
    return f"{one.estimate.n}" + (f" ({missing} missing)" if missing else "")


def difference(one: "ArmEstimate") -> str:
    """Format the difference to the first arm, with a star if the difference is significant."""
    estimate = one.difference
    if estimate is None or math.isnan(estimate.value):
        return ""
    if estimate.value == 0 and (math.isnan(estimate.low) or estimate.low == estimate.high):
        return "="
    sign = "+" * (estimate.value > 0)
    return f"{sign}{interval_of(estimate)}{'*' * (one.p_corrected < SIGNIFICANT)}"
