"""Ours against what was printed: spreads over replications, tolerances, verdicts.

The rule is the same for every number: reproduced if the median of the replications is within the
tolerance of the printed value, or, where the replications spread wider than that, if the printed
value is inside their central 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from aqmlab.statistics import central

REPRODUCED = "reproduced"
WITHIN_SPREAD = "reproduced (within spread)"
NOT_REPRODUCED = "not reproduced"
NOT_TESTABLE = "not testable"
NOT_PRINTED = ""


@dataclass(frozen=True)
class Spread:
    """Median and central 95 % of replications.

    Examples
    --------
    >>> Spread.of([1.0, 2.0, 3.0]).median
    2.0
    """

    median: float
    low: float
    high: float
    replications: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Return the spread of one number per replication, leaving out what is not finite."""
        numbers = [v for v in map(float, values) if math.isfinite(v)]
        if not numbers:
            return cls(math.nan, math.nan, math.nan, 0)
        low, median, high = central(numbers)
        return cls(median, low, high, len(numbers))

    def __str__(self) -> str:
        if not self.replications:
            return "none"
        low, median, high = map(number, (self.low, self.median, self.high))
        return median if low == high else f"{median} [{low} to {high}]"


def number(value: float) -> str:
    """Write a number for people: five significant digits, whole numbers whole.

    Examples
    --------
    >>> number(1491.33), number(0.99951), number(38.0), number(143650.5)
    ('1491.3', '0.99951', '38', '143650')
    """
    if not math.isfinite(value):
        return "none"
    if value == int(value) or abs(value) >= 1e5:
        return f"{value:.0f}"
    return f"{value:.5g}"


@dataclass(frozen=True)
class Tolerance:
    """How far a median may be from the printed value.

    `width` and `resolution` are in the value's own unit; `resolution` is what the printed value
    itself is uncertain by (rounding, sampling) and widens the spread that it must lie in.
    """

    about: str
    width: Callable[[float], float]
    resolution: Callable[[float], float] = lambda _: 0.0

    @classmethod
    def of(cls, about: str, width: float, resolution: float = 0.0) -> Tolerance:
        """Return the same width for every printed value."""
        return cls(about, lambda _: width, lambda _: resolution)

    @classmethod
    def larger_of(cls, absolute: float, relative: float, unit: str = "") -> Tolerance:
        """Return max(absolute, relative * |printed|)."""
        about = f"max({absolute:g} {unit}".rstrip() + f", {100 * relative:g} %)"
        return cls(about, lambda printed: max(absolute, relative * abs(printed)))


def judge(ours: Spread, printed: float | None, tolerance: Tolerance | None) -> str:
    """Return the verdict on one number.

    Examples
    --------
    >>> drops = Tolerance.larger_of(3, 0.06, "packets")
    >>> judge(Spread(40, 40, 40, 1), 38, drops)
    'reproduced'
    >>> judge(Spread(60, 30, 90, 20), 38, drops)
    'reproduced (within spread)'
    >>> judge(Spread(60, 50, 90, 20), 38, drops)
    'not reproduced'
    """
    if printed is None or tolerance is None:
        return NOT_PRINTED
    if not ours.replications:
        return NOT_REPRODUCED
    rounding = 1e-9 * max(1.0, abs(printed))
    if abs(ours.median - printed) <= tolerance.width(printed) + rounding:
        return REPRODUCED
    slack = tolerance.resolution(printed) + rounding
    if ours.low - slack <= printed <= ours.high + slack:
        return WITHIN_SPREAD
    return NOT_REPRODUCED


@dataclass(frozen=True)
class Cell:
    """One number of a study: ours, and the printed one where there is one.

    `again` says that the printed number is not one of its own: it follows from others, or was
    compared before.
    """

    item: str
    columns: dict[str, object]
    quantity: str
    unit: str
    ours: Spread
    published: float | None = None
    tolerance: Tolerance | None = None
    note: str = ""
    again: bool = False

    @property
    def verdict(self) -> str:
        """The verdict; empty where nothing was printed."""
        return judge(self.ours, self.published, self.tolerance)

    @property
    def difference(self) -> float | None:
        """Ours minus printed, in the cell's unit."""
        return None if self.published is None else self.ours.median - self.published

    def row(self, study: str) -> dict[str, object]:
        """Return the row of cells.csv."""
        return {
            "study": study,
            "item": self.item,
            **self.columns,
            "quantity": self.quantity,
            "unit": self.unit,
            "ours": self.ours.median,
            "low": self.ours.low,
            "high": self.ours.high,
            "replications": self.ours.replications,
            "published": self.published,
            "difference": self.difference,
            "verdict": self.verdict,
            "tolerance": self.tolerance.about if self.tolerance else "",
            "note": self.note,
        }
