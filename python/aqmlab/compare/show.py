"""A comparison in a terminal: a row a queue, and below it how it differs from the first."""

import math
from typing import TYPE_CHECKING

from aqmlab.compare.measures import Measure
from aqmlab.statistics import Interval

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from aqmlab.compare.comparison import Comparison

READING = (
    "Means over the replications, ± half of their 95 % interval. Below each: the difference to "
    "the first queue, pair by pair; * if its interval is clear of 0."
)
WIDE = 150
"""Characters of a terminal from which on the intervals have room."""


def text(measure: Measure, interval: Interval, *, signed: bool = False) -> str:
    """Return a mean with half of its interval, in the unit of the measure."""
    middle = measure.text(interval.middle)
    if signed and interval.middle > 0 and float(middle) != 0:
        middle = f"+{middle}"
    half = interval.high - interval.middle
    return middle if math.isnan(half) else f"{middle} ±{measure.text(half)}"


def is_clear(interval: Interval) -> bool:
    """Whether the interval of a difference does not hold 0."""
    return interval.low > 0 or interval.high < 0


def table(comparison: "Comparison", *, wide: bool = True) -> "Table":
    """Return the comparison as a table; a narrow one has no intervals."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    made.add_column("queue", overflow="fold", max_width=30)
    for m in comparison.measures:
        made.add_column(f"{m.head}\n{m.unit}", justify="right", no_wrap=True)
    for i, arm in enumerate(comparison.arms):
        made.add_row(arm.label, *(_cell(comparison, i, m, wide=wide) for m in comparison.measures))
    return made


def _cell(comparison: "Comparison", arm: int, measure: Measure, *, wide: bool) -> "Text":
    """Return a cell: the mean, and for all but the first queue the difference to it."""
    from rich.text import Text

    def told(interval: Interval, *, signed: bool = False) -> str:
        whole = text(measure, interval, signed=signed)
        return whole if wide else whole.split(" ±")[0]

    cell = Text(told(comparison.interval(arm, measure.name)))
    difference = comparison.difference(arm, measure.name)
    if arm and not math.isnan(difference.middle):
        clear = is_clear(difference)
        change = told(difference, signed=True) + ("*" if clear else "")
        cell.append(f"\n{change}", style=_style(measure, difference) if clear else "dim")
    return cell


def _style(measure: Measure, difference: Interval) -> str:
    gain = measure.better * difference.middle
    return "green" if gain > 0 else "red" if gain < 0 else "cyan"


def show(comparison: "Comparison", console: "Console") -> None:
    """Print a comparison."""
    title = comparison.scenario["title"] or "Untitled scenario"
    n = comparison.replications
    console.print(title, markup=False, highlight=False)
    wide = console.width >= WIDE
    console.print(table(comparison, wide=wide), markup=False)
    if n > 1:
        console.print(READING if wide else f"{READING} The ± needs {WIDE} columns.", style="dim")
    seeds = [run.seed for run in comparison.runs[0]]
    console.print(
        f"Queue of {comparison.link}; {n} replication{'s' * (n > 1)} of each, "
        f"seeds {seeds[0]} to {seeds[-1]}, the same for all.",
        markup=False,
    )
