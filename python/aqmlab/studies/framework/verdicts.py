"""Verdicts: comparisons of our interval with the range that a published statement accepts.

A published statement accepts a range of values: a number plus or minus its tolerance, all values up
to a bound, or all values on one side of 0. The verdict compares our interval with that range:

- The interval lies within the range: the statement is reproduced.
- The interval lies outside the range: the statement is contradicted.
- In any other case the statement is open. More replications make the interval narrower, until the
  statement is reproduced or contradicted.

Where the source prints one single run, the tolerance is the spread of our single runs, if that is
wider than the stated tolerance. A verdict that needs this wider tolerance reads "reproduced (single
run)".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

from aqmlab import estimates
from aqmlab.estimates import Estimate
from aqmlab.measures import Measure
from aqmlab.statistics import Interval

REPRODUCED = "reproduced"
SINGLE_RUN = "reproduced (single run)"
"""Verdict on a published number of one run, if our median fits the spread of our single runs."""
CONTRADICTED = "contradicted"
OPEN = "open"
"""Verdict on an interval that lies partly within and partly outside the accepted range."""
NOT_TESTABLE = "not testable"
ABSENT = "not in the quick form"
NOT_MEASURED = "not measured"
"""Verdict on a claim if the engine did not measure its values."""
NOT_PRINTED = ""
DECIDED = (REPRODUCED, SINGLE_RUN, CONTRADICTED, OPEN)
"""Verdicts that an interval gives, in the order of tables."""
CHANGED = "under changed assumptions"

Kind = Literal["number", "upper_bound", "lower_bound", "sign"]
"""Kind of a published statement: a number, a highest or lowest value, or a direction -1, 0, 1."""
KINDS_OF_QUALIFIER: dict[str, Kind] = {"upper_bound": "upper_bound", "lower_bound": "lower_bound"}

LEAST_ABOVE_0 = math.nextafter(0.0, 1.0)
ROUNDING = 1e-9
"""Relative error of floating-point numbers that a comparison tolerates."""


@dataclass(frozen=True)
class Tolerance:
    """Tolerance: the distance from a published value within which our value counts as equal.

    Attributes
    ----------
    about : str
        Tolerance in words.
    width : callable
        Function that returns the distance allowed on either side of a published value, in its unit.
    single_run : bool
        True if the source prints one single run, so that the spread of our single runs is allowed
        too.
    """

    about: str
    width: Callable[[float], float]
    single_run: bool = False

    @classmethod
    def of(cls, about: str, width: float, *, single_run: bool = False) -> Tolerance:
        """Return a tolerance with the same width for every published value."""
        return cls(about, lambda _: width, single_run)

    @classmethod
    def larger_of(
        cls, absolute: float, relative: float, unit: str = "", *, single_run: bool = False
    ) -> Tolerance:
        """Return a tolerance of max(absolute, relative * |printed|)."""
        share = f"{100 * relative:g} %"
        about = f"max({absolute:g} {unit}".rstrip() + f", {share})" if absolute else share
        return cls(about, lambda printed: max(absolute, relative * abs(printed)), single_run)


def accepted(
    printed: float, width: float, kind: Kind = "number", spread: Interval | None = None
) -> tuple[float, float]:
    """Return the minimum and the maximum that a published statement accepts.

    Parameters
    ----------
    printed : float
        Printed number, bound or direction.
    width : float
        Tolerance on either side, in the unit of the number; at least 0.
    kind : {"number", "upper_bound", "lower_bound", "sign"}
        Kind of statement. For a direction 0, `width` is the largest difference that counts as none.
    spread : Interval, optional
        Spread of our single runs around their median, if the source prints one single run. The
        median may then be as far from the printed number as our outermost runs are from the median.

    Examples
    --------
    >>> accepted(38, 3), accepted(5, 0, "upper_bound")
    ((35, 41), (-inf, 5))
    >>> accepted(38, 3, spread=Interval(20.0, 30.0, 50.0))
    (18.0, 48.0)
    """
    if kind == "sign":
        if printed:
            return (LEAST_ABOVE_0, math.inf) if printed > 0 else (-math.inf, -LEAST_ABOVE_0)
        return -width, width
    below = above = width
    if spread is not None and kind == "number":
        below = max(width, spread.high - spread.middle)
        above = max(width, spread.middle - spread.low)
    low = -math.inf if kind == "upper_bound" else printed - below
    high = math.inf if kind == "lower_bound" else printed + above
    return low, high


def verdict(
    interval: Interval,
    printed: float,
    width: float,
    kind: Kind = "number",
    spread: Interval | None = None,
) -> str:
    """Return the verdict on a published statement from our interval.

    Parameters
    ----------
    interval : Interval
        Our interval, in the unit of the printed number. A bound of the interval is unknown if it is
        NaN.
    printed, width, kind, spread
        As for :func:`accepted`.

    Examples
    --------
    >>> verdict(Interval(37, 38, 40), 38, 3), verdict(Interval(30, 38, 40), 38, 3)
    ('reproduced', 'open')
    >>> verdict(Interval(42, 43, 44), 38, 3), verdict(Interval(-1, 0.5, 2), 1, 0, "sign")
    ('contradicted', 'open')
    >>> verdict(Interval(28, 30, 33), 38, 3, spread=Interval(20, 30, 50))
    'reproduced (single run)'
    """
    slack = 0.0 if kind == "sign" else ROUNDING * max(abs(printed), width)
    stated = _compare(interval, accepted(printed, width, kind), slack)
    if stated == REPRODUCED or spread is None:
        return stated
    spreading = _compare(interval, accepted(printed, width, kind, spread), slack)
    return SINGLE_RUN if spreading == REPRODUCED else spreading


def _compare(interval: Interval, region: tuple[float, float], slack: float) -> str:
    if math.isnan(interval.low) or math.isnan(interval.high):
        return OPEN
    low, high = region[0] - slack, region[1] + slack
    if low <= interval.low and interval.high <= high:
        return REPRODUCED
    return CONTRADICTED if interval.high < low or high < interval.low else OPEN


def judge(
    ours: Estimate,
    printed: float | None,
    tolerance: Tolerance | None,
    spread: Estimate | None = None,
    kind: Kind = "number",
) -> str:
    """Return the verdict on a published number; contradicted if no run of ours has a value.

    Examples
    --------
    >>> drops = Tolerance.larger_of(3, 0.06, "packets")
    >>> judge(estimates.mean([38, 38.5, 39]), 38, drops), judge(estimates.mean([30, 60]), 38, drops)
    ('reproduced', 'open')
    >>> judge(estimates.mean([]), None, None)
    ''
    """
    if printed is None or tolerance is None:
        return NOT_PRINTED
    if not ours.n:
        return CONTRADICTED
    apart = spread.interval if spread is not None and tolerance.single_run else None
    return verdict(ours.interval, printed, tolerance.width(printed), kind, apart)


def called(verdict: str, *, changed: bool) -> str:
    """Return the name of a verdict, for unchanged or changed assumptions of the study.

    Examples
    --------
    >>> called(REPRODUCED, changed=True), called(NOT_PRINTED, changed=True)
    ('reproduced under changed assumptions', '')
    """
    return f"{verdict} {CHANGED}" if changed and verdict else verdict


Run = TypeVar("Run")


@dataclass(frozen=True)
class Cell:
    """One number of a study: our number, and the published number if it exists.

    Attributes
    ----------
    ours : Estimate
        Our number. The verdict judges the interval of `ours`, unless `confidence` is given.
    confidence : Estimate, optional
        Our number with its confidence interval, if the interval of `ours` is the spread of single
        runs.
    again : bool
        True if the published number follows from others or was compared before. The score does not
        count such a published number.
    fitted : bool
        True if the published number was used to choose a setting. The score does not count such a
        published number.
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
    fitted: bool = False
    confidence: Estimate | None = None

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
        fitted: bool = False,
    ) -> Cell:
        """Return the median of a measure over runs, in its unit, beside the published number.

        The cell shows the central 95 % of the runs. The verdict judges the confidence interval of
        the median.
        """
        values = [measure.scale * measure.of(run) for run in runs]
        ours = estimates.median(values)
        sure = None if published is None else estimates.median_confidence(values)
        name, unit = measure.name, measure.unit
        return cls(
            item, columns, name, unit, ours, published, tolerance, note, again, fitted, sure
        )  # fmt: skip

    @property
    def judged(self) -> Estimate:
        """Our estimate whose interval the verdict judges."""
        return self.ours if self.confidence is None else self.confidence

    @property
    def verdict(self) -> str:
        """Verdict on the published number; empty if the cell has no published number."""
        spread = None if self.confidence is None else self.ours
        return judge(self.judged, self.published, self.tolerance, spread)

    @property
    def counted(self) -> bool:
        """True if the score counts this cell."""
        return bool(self.verdict) and not self.again and not self.fitted

    @property
    def standing(self) -> str:
        """Place of the cell in the score: counted, fitted, or compared again."""
        if not self.verdict:
            return ""
        return "fitted" if self.fitted else "again" if self.again else "counted"

    @property
    def on_target(self) -> bool:
        """True if our value, regardless of its interval, is within the tolerance."""
        if self.published is None or self.tolerance is None:
            return False
        width = self.tolerance.width(self.published)
        return abs(self.ours.value - self.published) <= width * (1 + ROUNDING)

    @property
    def difference(self) -> float | None:
        """Our number minus the published number, in the cell's unit."""
        return None if self.published is None else self.ours.value - self.published

    def row(self, study: str) -> dict[str, object]:
        """Return the cell as a row of cells.csv."""
        judged = self.judged if self.published is not None else None
        return {
            "study": study,
            "item": self.item,
            **self.columns,
            "quantity": self.quantity,
            "unit": self.unit,
            "statistic": self.columns.get("statistic", self.ours.statistic),
            "ours": self.ours.value,
            "low": self.ours.low,
            "high": self.ours.high,
            "replications": self.ours.n,
            "missing": self.ours.missing,
            "published": self.published,
            "difference": self.difference,
            "judged_low": None if judged is None else judged.low,
            "judged_high": None if judged is None else judged.high,
            "verdict": self.verdict,
            "score": self.standing,
            "tolerance": self.tolerance.about if self.tolerance else "",
            "note": self.note,
        }
