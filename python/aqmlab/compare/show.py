"""Table of a comparison in a terminal: one row per measure, one column per queue.

Each field has the mean of the measure, and below the mean the difference to the first queue.
"""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from aqmlab.compare.comparison import Comparison
    from aqmlab.measures import Measure, MeasuredRun

READING = (
    "Each value is the mean over the replications, ± half of its 95 % interval (Student's t). "
    "Below each mean is the mean difference to the first queue, over pairs of runs with the same "
    "seed. "
    "* marks a significant difference: its p-value, corrected for all differences shown (Holm), is "
    "below 0.05. A difference that is the same in all replications cannot be tested, so it is "
    "never marked. = means that a "
    "queue has the same value as the first queue in every replication. '> t' is a lower bound of a "
    "quantile, because too many transfers were unfinished at the end of the run."
)
WIDTHS = 22, 17
"""Width in characters of the column of measures, and of the column of one queue with intervals."""


def mean(comparison: "Comparison", arm: int, measure: "Measure[MeasuredRun]") -> str:
    """Format the mean of a measure ± half of its interval, in the unit of the measure."""
    interval = comparison.interval(arm, measure.name)
    middle, half = measure.text(interval.middle), interval.high - interval.middle
    if comparison.is_exceeded(arm, measure.name):
        return f"> {middle}"
    return middle if math.isnan(half) else f"{middle} ±{measure.text(half)}"


def difference(comparison: "Comparison", arm: int, measure: "Measure[MeasuredRun]") -> str:
    """Format the difference to the first queue as VALUE ±HALF.

    HALF is half the width of the 95 % interval of the difference. A star marks a significant
    difference.
    """
    interval = comparison.difference(arm, measure.name)
    if arm == 0 or math.isnan(interval.middle):
        return ""
    if comparison.is_identical(arm, measure.name):
        return "="
    middle, half = measure.text(interval.middle), interval.high - interval.middle
    sign = "+" * (interval.middle > 0 and float(middle) != 0)
    spread = "" if math.isnan(half) else f" ±{measure.text(half)}"
    return f"{sign}{middle}{spread}{'*' * comparison.is_clear(arm, measure.name)}"


def gain(comparison: "Comparison", arm: int, measure: "Measure[MeasuredRun]") -> float:
    """Return a positive number if a queue is significantly better than the first queue.

    The result is negative for a queue that is significantly worse than the first queue, and 0
    without a significant difference.
    """
    if not comparison.is_clear(arm, measure.name):
        return 0
    return measure.better * comparison.difference(arm, measure.name).middle


def head(comparison: "Comparison", arm: int) -> str:
    """Return the heading of a queue, with a note if its measures all equal the first queue's."""
    label = comparison.arms[arm].label
    return f"{label} (identical)" if comparison.is_identical(arm) else label


def table(comparison: "Comparison", *, wide: bool = True) -> "Table":
    """Return the table of a comparison; with `wide` False, the table omits the intervals."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    rows = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    rows.add_column("", no_wrap=True)
    rows.add_column("", no_wrap=True)
    for i in range(len(comparison.arms)):
        name = Text(head(comparison, i))  # A Text does not interpret markup in a user's name.
        rows.add_column(name, justify="right", overflow="fold", max_width=30)
    for m in comparison.measures:
        entries = [_entry(comparison, i, m, wide=wide) for i in range(len(comparison.arms))]
        rows.add_row(Text(m.title), m.unit, *entries)
    return rows


def _entry(
    comparison: "Comparison", arm: int, measure: "Measure[MeasuredRun]", *, wide: bool
) -> "Text":
    """Return the field of a measure for a queue: the mean, and the difference below it."""
    from rich.text import Text

    def shortened(text: str) -> str:
        if wide:
            return text
        return text.split(" ±")[0] + "*" * text.endswith("*")

    entry = Text(shortened(mean(comparison, arm, measure)))
    change = shortened(difference(comparison, arm, measure))
    if change:
        better = gain(comparison, arm, measure)
        clear = "cyan" if comparison.is_clear(arm, measure.name) else "dim"
        entry.append(f"\n{change}", style="green" if better > 0 else "red" if better < 0 else clear)
    return entry


def not_measured(comparison: "Comparison") -> str:
    """Return a sentence that lists the measures without values, or "" if there are none."""
    names = [f"{m.title} ({m.unit})" for m in comparison.not_measured]
    return f"Not measured by the engine: {', '.join(names)}." if names else ""


def runs(comparison: "Comparison") -> str:
    """Return a sentence with the links, the warm-up and the seeds of a comparison."""
    n, several = comparison.replications, len(comparison.links) > 1
    seeds = [run.seed for run in comparison.runs[0]]
    after = f", after a warm-up of {comparison.warm_up}" if comparison.warm_up else ""
    same = f"seeds {seeds[0]} to {seeds[-1]}" if n > 1 else f"seed {seeds[0]}"
    return (
        f"Queue{'s' * several} of {', '.join(comparison.links)}{after}; {n} "
        f"replication{'s' * (n > 1)} of each queue, with the same {same}."
    )


def show(comparison: "Comparison", console: "Console") -> None:
    """Print the table of a comparison with its explanations."""
    title = comparison.scenario["title"] or "Untitled scenario"
    console.print(title, markup=False, highlight=False)
    width = WIDTHS[0] + WIDTHS[1] * len(comparison.arms)
    wide = console.width >= width
    console.print(table(comparison, wide=wide), markup=False)
    named = [arm for arm in comparison.arms if arm.label != arm.queue]
    for arm in named:
        console.print(f"{arm.label}: {arm.queue}", markup=False)
    if comparison.replications > 1:
        hint = (
            ""
            if wide
            else f" To show the intervals (±), the terminal needs a width of {width} columns."
        )
        console.print(f"{READING}{hint}", style="dim")
    if absent := not_measured(comparison):
        console.print(absent, markup=False)
    console.print(runs(comparison), markup=False)
