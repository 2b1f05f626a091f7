"""Table of a comparison in a terminal: one row per measure, one column per queue.

Each field has the mean of the measure, and below the mean the difference to the first queue.
"""

import math
from typing import TYPE_CHECKING

from aqmlab.comparison.alternatives import REPLICATIONS, SECOND_HALF, change, changes_answer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from aqmlab.comparison.comparison import Comparison
    from aqmlab.measures import Measure, MeasuredRun

READING = (
    "Each value is the mean over the replications, ± half of its 95 % interval (Student's t). "
    "Below each mean is the mean difference to the first queue, over pairs of runs with the same "
    "seed. "
    "* marks a significant difference of a primary measure: the p-value of the paired permutation "
    "test, corrected for all tests (Holm), is below 0.05. Other measures are not tested. "
    "= means that a "
    "queue has the same value as the first queue in every replication. '> t' is a lower bound of a "
    "quantile, because too many transfers were unfinished at the end of the run."
)
SMALL, LARGE = 0.01, 0.1
"""Relative differences below which and from which a significant difference is small or large."""
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


def strength(comparison: "Comparison", arm: int, measure: "Measure[MeasuredRun]") -> str:
    """Return "small", "" or "large": the size of a difference relative to the first queue."""
    first = abs(comparison.interval(0, measure.name).middle)
    change = abs(comparison.difference(arm, measure.name).middle)
    if change < SMALL * first:
        return "small"
    return "large" if change >= LARGE * first else ""


def answers(comparison: "Comparison") -> list[str]:
    """Return the differences of the primary measures as sentences, one per queue.

    Each sentence compares a queue with the first queue.
    """
    primary = [m for m in comparison.measures if m.name in comparison.primary]
    first = comparison.arms[0].label
    sentences = []
    for arm in range(1, len(comparison.arms)):
        label = comparison.arms[arm].label
        clear = [m for m in primary if comparison.is_clear(arm, m.name)]
        slight = [m for m in clear if strength(comparison, arm, m) == "small"]
        changed = sorted((m for m in clear if m not in slight), key=lambda m: m.better > 0)
        alike = [m for m in primary if m not in clear]
        parts = []
        if changed:
            changes = listed([_change(comparison, arm, m) for m in changed])
            parts.append(f"Compared with {first}, {label} {changes}.")
        if slight:
            names = listed([m.in_sentence for m in slight])
            parts.append(f"{label} changes {names} by less than {100 * SMALL:g} %.")
        if alike:
            names = listed([m.in_sentence for m in alike])
            parts.append(f"{label} has no significant difference in {names}.")
        if reversed_ := _reversed(comparison, arm, changed):
            parts.append(f"In the second half of the runs, {label} {reversed_} instead.")
        if not hint(comparison):  # else no answer exists that an alternative could change
            parts += _other_answers(comparison, arm, primary)
        if parts:
            sentences.append(" ".join(parts))
    return sentences


def _reversed(comparison: "Comparison", arm: int, measures: "list[Measure[MeasuredRun]]") -> str:
    """Return the changes whose sign is the opposite one in the second half of the runs."""
    late = comparison.second_half
    if late is None:
        return ""
    return listed([
        _change(late, arm, m) for m in measures
        if comparison.difference(arm, m.name).middle * late.difference(arm, m.name).middle < 0
    ])  # fmt: skip


def _other_answers(
    comparison: "Comparison", arm: int, primary: "list[Measure[MeasuredRun]]"
) -> list[str]:
    """Return a sentence for each alternative that changes an answer about a queue."""
    label, sentences = comparison.arms[arm].label, []
    for name, other in comparison.alternatives.items():
        if name == SECOND_HALF:
            continue
        altered = (m for m in primary if changes_answer(comparison, name, arm, m.name))
        changed = sorted(altered, key=lambda m: m.better > 0)
        if changed:
            changes = listed([_change(other, arm, m) for m in changed])
            sentences.append(f"With {_in_sentence(name)}, {label} {changes} instead.")
        unknown = [m for m in primary if _is_unknown(comparison, name, arm, m)]
        if unknown:
            names = listed([m.in_sentence for m in unknown])
            sentences.append(f"With {_in_sentence(name)}, the change of {names} is unknown.")
    return sentences


def _is_unknown(
    comparison: "Comparison", name: str, arm: int, measure: "Measure[MeasuredRun]"
) -> bool:
    """Return True if the difference of a queue is known, except in an alternative."""
    known = not math.isnan(comparison.difference(arm, measure.name).middle)
    return known and math.isnan(change(comparison, name, arm, measure.name).middle)


def _in_sentence(alternative: str) -> str:
    """Return the name of an alternative within a sentence."""
    return f"the {alternative}" if alternative.startswith("stack") else alternative


def robust(comparison: "Comparison") -> str:
    """Return a sentence with the alternatives that change no answer, or "" if there are none.

    The sentence is empty too if the replications are too few for an answer.
    """
    if hint(comparison):
        return ""
    primary = [m for m in comparison.measures if m.name in comparison.primary]
    names = [
        _in_sentence(name) for name in comparison.alternatives
        if name != SECOND_HALF and not any(
            changes_answer(comparison, name, arm, m.name) or _is_unknown(comparison, name, arm, m)
            for arm in range(1, len(comparison.arms)) for m in primary
        )
    ]  # fmt: skip
    return f"The answers hold with {listed(names)} ({REPLICATIONS} replications)." if names else ""


def listed(parts: list[str]) -> str:
    """Return parts of a sentence joined by commas and "and".

    Examples
    --------
    >>> listed(["one"]), listed(["one", "two"]), listed(["one", "two", "three"])
    ('one', 'one and two', 'one, two, and three')
    """
    if len(parts) < 3:
        return " and ".join(parts)
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"


def _change(comparison: "Comparison", arm: int, measure: "Measure[MeasuredRun]") -> str:
    """Return the change of a measure relative to the first queue as the end of a sentence."""
    old, new = (comparison.interval(i, measure.name).middle for i in (0, arm))
    verb = "raises" if new > old else "lowers"
    values = f"from {measure.text(old)} to {measure.text(new)}"
    unit = f" {measure.unit}" if measure.unit not in ("index", "MOS") else ""
    share = f" ({100 * (new / old - 1):+.2g} %)" if old and abs(new / old - 1) < 1 else ""
    return f"{verb} {measure.in_sentence} {values}{unit}{share}"


def hint(comparison: "Comparison") -> str:
    """Return a sentence if the replications are too few for a significant difference, else ""."""
    needed = comparison.replications_needed
    if len(comparison.arms) < 2 or comparison.replications >= needed:
        return ""
    return (
        f"{comparison.replications} replication{'s' * (comparison.replications > 1)} cannot make a "
        f"difference significant; use --replications {needed} or more."
    )


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
    arms = range(len(comparison.arms))
    late = comparison.second_half
    for m in comparison.measures:
        is_primary = m.name in comparison.primary
        rows.add_row(
            Text(m.title, style="bold" if is_primary else ""), m.unit,
            *(_entry(comparison, i, m, wide=wide) for i in arms),
        )  # fmt: skip
        if late and is_primary and m in late.measures:
            rows.add_row(
                Text(f"  {SECOND_HALF}", style="dim"), Text(m.unit, style="dim"),
                *(_entry(late, i, m, wide=wide, tested=False) for i in arms),
            )  # fmt: skip
    return rows


def _entry(
    comparison: "Comparison",
    arm: int,
    measure: "Measure[MeasuredRun]",
    *,
    wide: bool,
    tested: bool = True,
) -> "Text":
    """Return the field of a measure for a queue: the mean, and the difference below it.

    The field of a measure that is not `tested` has neither a star nor a colour.
    """
    from rich.text import Text

    def shortened(text: str) -> str:
        if wide:
            return text
        return text.split(" ±")[0] + "*" * text.endswith("*")

    entry = Text(shortened(mean(comparison, arm, measure)), style="" if tested else "dim")
    change = shortened(difference(comparison, arm, measure))
    if not tested:
        change = change.removesuffix("*")
    if change:
        entry.append(f"\n{change}", style=_style(comparison, arm, measure) if tested else "dim")
    return entry


def _style(comparison: "Comparison", arm: int, measure: "Measure[MeasuredRun]") -> str:
    """Return the style of a difference: its colour is its sign, and its weight is its size."""
    if not comparison.is_clear(arm, measure.name):
        return "dim"
    better = gain(comparison, arm, measure)
    colour = "green" if better > 0 else "red" if better < 0 else "cyan"
    weight = {"small": "dim ", "large": "bold "}.get(strength(comparison, arm, measure), "")
    return weight + colour


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
    spread = comparison.runs[0][0].start_spread_s
    starts = f" The starts of the flows vary by up to {spread:g} s." if spread else ""
    engine = comparison.runs[0][0].engine
    by = f" Measured by {engine}." if engine else ""
    return (
        f"Queue{'s' * several} of {', '.join(comparison.links)}{after}; {n} "
        f"replication{'s' * (n > 1)} of each queue, with the same {same}.{starts}{by}"
    )


def show(comparison: "Comparison", console: "Console") -> None:
    """Print the table of a comparison with its explanations."""
    title = comparison.scenario["title"] or "Untitled scenario"
    console.print(title, markup=False, highlight=False)
    for sentence in filter(None, [*answers(comparison), robust(comparison)]):
        console.print(sentence, markup=False, highlight=False)
    if too_few := hint(comparison):
        console.print(too_few, markup=False)
    width = WIDTHS[0] + WIDTHS[1] * len(comparison.arms)
    wide = console.width >= width
    console.print(table(comparison, wide=wide), markup=False)
    named = [arm for arm in comparison.arms if arm.label != arm.queue]
    for arm in named:
        console.print(f"{arm.label}: {arm.queue}", markup=False)
    if comparison.replications > 1:
        narrow = (
            ""
            if wide
            else f" To show the intervals (±), the terminal needs a width of {width} columns."
        )
        console.print(f"{READING}{narrow}", style="dim")
    if absent := not_measured(comparison):
        console.print(absent, markup=False)
    console.print(runs(comparison), markup=False)
