"""Ours against what was printed: estimates, tolerances, verdicts.

The rule is the same for every number: reproduced if the median of the replications is within the
tolerance of the printed value, or, where the replications spread wider than that, if the printed
value is inside their central 95 %. Replications that have no number are counted beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from aqmlab import estimates
from aqmlab.estimates import Estimate
from aqmlab.measures import Measure

REPRODUCED = "reproduced"
WITHIN_SPREAD = "reproduced (within spread)"
NOT_REPRODUCED = "not reproduced"
NOT_TESTABLE = "not testable"
OPEN = "open"
"""Of a quick form: its few replications do not tell."""
ABSENT = "not in the quick form"
NOT_PRINTED = ""
CHANGED = "under changed assumptions"


def called(verdict: str, *, changed: bool) -> str:
    """Return what a verdict is called, of a study as it is or with changed assumptions.

    Examples
    --------
    >>> called(REPRODUCED, changed=True), called(NOT_PRINTED, changed=True)
    ('reproduced under changed assumptions', '')
    """
    return f"{verdict} {CHANGED}" if changed and verdict else verdict


Run = TypeVar("Run")


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


def judge(ours: Estimate, printed: float | None, tolerance: Tolerance | None) -> str:
    """Return the verdict on one number.

    Examples
    --------
    >>> drops = Tolerance.larger_of(3, 0.06, "packets")
    >>> judge(estimates.median([40]), 38, drops)
    'reproduced'
    >>> judge(estimates.median([30, 60, 90]), 38, drops)
    'reproduced (within spread)'
    >>> judge(estimates.median([50, 60, 90]), 38, drops)
    'not reproduced'
    """
    if printed is None or tolerance is None:
        return NOT_PRINTED
    if not ours.n:
        return NOT_REPRODUCED
    rounding = 1e-9 * max(1.0, abs(printed))
    if abs(ours.value - printed) <= tolerance.width(printed) + rounding:
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
    ours: Estimate
    published: float | None = None
    tolerance: Tolerance | None = None
    note: str = ""
    again: bool = False

    @classmethod
    def of(
        cls,
        item: str,
        columns: dict[str, object],
        measure: Measure[Run],
        runs: Iterable[Run],
        published: float | None = None,
        tolerance: Tolerance | None = None,
        *,
        note: str = "",
        again: bool = False,
    ) -> Cell:
        """Return the median of a measure over runs, in its unit, beside the printed number."""
        ours = estimates.median(measure.scale * measure.of(run) for run in runs)
        name, unit = measure.name, measure.unit
        return cls(item, columns, name, unit, ours, published, tolerance, note, again)

    @property
    def verdict(self) -> str:
        """The verdict; empty where nothing was printed."""
        return judge(self.ours, self.published, self.tolerance)

    @property
    def difference(self) -> float | None:
        """Ours minus printed, in the cell's unit."""
        return None if self.published is None else self.ours.value - self.published

    def row(self, study: str) -> dict[str, object]:
        """Return the row of cells.csv."""
        return {
            "study": study,
            "item": self.item,
            **self.columns,
            "quantity": self.quantity,
            "unit": self.unit,
            "ours": self.ours.value,
            "low": self.ours.low,
            "high": self.ours.high,
            "replications": self.ours.n,
            "missing": self.ours.missing,
            "published": self.published,
            "difference": self.difference,
            "verdict": self.verdict,
            "tolerance": self.tolerance.about if self.tolerance else "",
            "note": self.note,
        }
