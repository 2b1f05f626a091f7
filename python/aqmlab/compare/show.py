"""A comparison in a terminal: a row a measure; below it how each queue differs from the first."""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from aqmlab.compare.comparison import Comparison
    from aqmlab.measures import Measure, Seen

READING = (
    "Means over the replications, ± half of their 95 % interval (Student's t). Below each: the "
    "difference to the first queue, pair by pair; * if it is real, that is if its p-value, "
    "corrected for all differences shown (Holm), is below 0.05, which needs some variance; = if "
    "every replication has the same. > is a time that so many transfers did not end within that "
    "only this bound is known."
)
ROOM = 22, 17
"""Characters that the measures' names, and a queue with its intervals, take."""


def mean(comparison: "Comparison", arm: int, measure: "Measure[Seen]") -> str:
    """Return the mean of a measure with half of its interval, in its unit."""
    interval = comparison.interval(arm, measure.name)
    middle, half = measure.text(interval.middle), interval.high - interval.middle
    if comparison.is_exceeded(arm, measure.name):
        return f"> {middle}"
    return middle if math.isnan(half) else f"{middle} ±{measure.text(half)}"


def difference(comparison: "Comparison", arm: int, measure: "Measure[Seen]") -> str:
    """Return how much a queue differs from the first, with half of the interval, and the star."""
    interval = comparison.difference(arm, measure.name)
    if arm == 0 or math.isnan(interval.middle):
        return ""
    if comparison.is_identical(arm, measure.name):
        return "="
    middle, half = measure.text(interval.middle), interval.high - interval.middle
    sign = "+" * (interval.middle > 0 and float(middle) != 0)
    spread = "" if math.isnan(half) else f" ±{measure.text(half)}"
    return f"{sign}{middle}{spread}{'*' * comparison.is_clear(arm, measure.name)}"


def gain(comparison: "Comparison", arm: int, measure: "Measure[Seen]") -> float:
    """Return above 0 if a queue is really better than the first, below if worse, else 0."""
    if not comparison.is_clear(arm, measure.name):
        return 0
    return measure.better * comparison.difference(arm, measure.name).middle


def head(comparison: "Comparison", arm: int) -> str:
    """Return the name of a queue, and whether it did what the first did."""
    label = comparison.arms[arm].label
    return f"{label} (identical)" if comparison.is_identical(arm) else label


def table(comparison: "Comparison", *, wide: bool = True) -> "Table":
    """Return the comparison as a table; a narrow one has no intervals."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    made.add_column("", no_wrap=True)
    made.add_column("", no_wrap=True)
    for i in range(len(comparison.arms)):
        name = Text(head(comparison, i))  # no markup, whatever it is called
        made.add_column(name, justify="right", overflow="fold", max_width=30)
    for m in comparison.measures:
        cells = [_cell(comparison, i, m, wide=wide) for i in range(len(comparison.arms))]
        made.add_row(Text(m.title), m.unit, *cells)
    return made


def _cell(comparison: "Comparison", arm: int, measure: "Measure[Seen]", *, wide: bool) -> "Text":
    """Return a cell: the mean, and for all but the first queue the difference to it."""
    from rich.text import Text

    def told(text: str) -> str:
        if wide:
            return text
        return text.split(" ±")[0] + "*" * text.endswith("*")

    cell = Text(told(mean(comparison, arm, measure)))
    change = told(difference(comparison, arm, measure))
    if change:
        better = gain(comparison, arm, measure)
        clear = "cyan" if comparison.is_clear(arm, measure.name) else "dim"
        cell.append(f"\n{change}", style="green" if better > 0 else "red" if better < 0 else clear)
    return cell


def not_measured(comparison: "Comparison") -> str:
    """Return a sentence with the measures that the engine did not measure; empty without any."""
    names = [f"{m.title} ({m.unit})" for m in comparison.not_measured]
    return f"Not measured by the engine: {', '.join(names)}." if names else ""


def runs(comparison: "Comparison") -> str:
    """Return what was run, in a line."""
    n, several = comparison.replications, len(comparison.links) > 1
    seeds = [run.seed for run in comparison.runs[0]]
    after = f", after a warm-up of {comparison.warm_up}" if comparison.warm_up else ""
    return (
        f"Queue{'s' * several} of {', '.join(comparison.links)}{after}; {n} "
        f"replication{'s' * (n > 1)} of each, seeds {seeds[0]} to {seeds[-1]}, the same for all."
    )


def show(comparison: "Comparison", console: "Console") -> None:
    """Print a comparison."""
    title = comparison.scenario["title"] or "Untitled scenario"
    console.print(title, markup=False, highlight=False)
    needs = ROOM[0] + ROOM[1] * len(comparison.arms)
    wide = console.width >= needs
    console.print(table(comparison, wide=wide), markup=False)
    named = [arm for arm in comparison.arms if arm.label != arm.queue]
    for arm in named:
        console.print(f"{arm.label}: {arm.queue}", markup=False)
    if comparison.replications > 1:
        console.print(READING if wide else f"{READING} The ± needs {needs} columns.", style="dim")
    if absent := not_measured(comparison):
        console.print(absent, markup=False)
    console.print(runs(comparison), markup=False)
