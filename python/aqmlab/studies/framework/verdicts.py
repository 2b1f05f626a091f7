"""Verdicts: comparisons of our intervals with published numbers and statements.

A published statement accepts a range of values: a number plus or minus its tolerance, all values up
to a bound, or all values on one side of 0. The verdict compares our interval with the accepted
range:

- If our interval lies within the accepted range, the statement is reproduced.
- If our interval lies outside the accepted range, the statement is contradicted.
- In any other case the verdict is open. More replications make the interval narrower, until the
  statement is reproduced or contradicted.

If a published number comes from a single run, and the spread of our single runs is wider than the
stated tolerance, the spread replaces the tolerance. If the number is reproduced only with the wider
tolerance, the verdict is "reproduced (single run)".
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
"""Verdict if the published number of a single run lies within the spread of our single runs."""
CONTRADICTED = "contradicted"
OPEN = "open"
"""Verdict if our interval lies partly within and partly outside the accepted range."""
NOT_TESTABLE = "not testable"
ABSENT = "not in the quick form"
NOT_MEASURED = "not measured"
"""Verdict on a claim if the engine cannot measure the values that the claim needs."""
UNDECIDED = "cannot be decided"
"""Verdict on a claim if the runs lack a value that the claim needs, such as drops."""
NOT_PRINTED = ""
DECIDED = (REPRODUCED, SINGLE_RUN, CONTRADICTED, OPEN)
"""Verdicts of a comparison with a published statement, in the order of columns in tables."""
CHANGED = "under changed assumptions"

Kind = Literal["number", "upper_bound", "lower_bound", "sign"]
"""Kind of a published statement: a number, a bound, or the sign of a difference (-1, 0, 1)."""
KINDS_OF_QUALIFIER: dict[str, Kind] = {"upper_bound": "upper_bound", "lower_bound": "lower_bound"}


class UndecidableError(Exception):
    """Raised by the function of a claim, of an item or of a run if a value does not exist.

    A changed assumption can remove such a value: without drops, for example, no share of the drops
    exists. The message is the reason, without a full stop.
    """


LEAST_ABOVE_0 = math.nextafter(0.0, 1.0)
ROUNDING = 1e-9
"""Relative rounding error of floating-point numbers that comparisons ignore."""


def ratio(part: float, whole: float, reason: str) -> float:
    """Return `part` / `whole`.

    Raises
    ------
    UndecidableError
        If `whole` is 0. The message is `reason`.

    Examples
    --------
    >>> ratio(1, 4, "no packet was dropped")
    0.25
    """
    if not whole:
        raise UndecidableError(reason)
    return float(part / whole)


@dataclass(frozen=True)
class Tolerance:
    """Tolerance: the distance from a published value within which our value counts as equal.

    Attributes
    ----------
    about : str
        Tolerance in words.
    width : callable
        Function that returns the tolerance on either side of a given published value, in its unit.
    single_run : bool
        True if the published numbers come from single runs, so that they may also lie within the
        spread of our single runs.
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
        """Return a tolerance: the larger of `absolute` and a share of the published value."""
        share = f"{100 * relative:g} %"
        about = f"max({absolute:g} {unit}".rstrip() + f", {share})" if absolute else share
        return cls(about, lambda printed: max(absolute, relative * abs(printed)), single_run)


def accepted(
    printed: float, width: float, kind: Kind = "number", spread: Interval | None = None
) -> tuple[float, float]:
    """Return the range of values that a published statement accepts: its minimum and maximum.

    Parameters
    ----------
    printed : float
        Published number, bound, or sign of a difference.
    width : float
        Tolerance on either side, in the unit of the number; at least 0.
    kind : {"number", "upper_bound", "lower_bound", "sign"}
        Kind of statement. If the published sign is 0, `width` is the largest difference that counts
        as no difference.
    spread : Interval, optional
        Spread of our single runs around their median, if the published number comes from a single
        run. If the spread contains the published number, the accepted range contains our median.

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
    """Return the verdict of a comparison of our interval with a published statement.

    Parameters
    ----------
    interval : Interval
        Our interval, in the unit of the published number. NaN stands for an unknown bound.
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
    """Return the verdict on a published number; "contradicted" if none of our runs has a value.

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
    """Return a verdict with the words "under changed assumptions" if assumptions are changed.

    Examples
    --------
    >>> called(REPRODUCED, changed=True), called(NOT_PRINTED, changed=True)
    ('reproduced under changed assumptions', '')
    """
    return f"{verdict} {CHANGED}" if changed and verdict else verdict


Run = TypeVar("Run")


@dataclass(frozen=True)
class Cell:
    """Number of a study: our number, and the published number if the publication has one.

    Attributes
    ----------
    ours : Estimate
        Our number. If `confidence` is None, the verdict judges the interval of `ours`.
    confidence : Estimate, optional
        Our number with its confidence interval. If `confidence` is given, the verdict judges the
        interval of `confidence`, and the interval of `ours` is the spread of our single runs.
    again : bool
        True if the published number follows from other published numbers, or was compared before.
        The score does not count a number that follows from others or was compared before.
    fitted : bool
        True if the published number was used to choose a setting. The score does not count a number
        that was used to choose a setting.
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
        """Return the median of a measure over runs, together with the published number.

        The interval of the cell contains the central 95 % of the runs. The verdict judges the
        confidence interval of the median.
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
        """Our number and its interval, which the verdict compares with the published number."""
        return self.ours if self.confidence is None else self.confidence

    @property
    def verdict(self) -> str:
        """Verdict on the published number; empty if the publication does not have the number."""
        spread = None if self.confidence is None else self.ours
        return judge(self.judged, self.published, self.tolerance, spread)

    @property
    def counted(self) -> bool:
        """True if the score counts this number."""
        return bool(self.verdict) and not self.again and not self.fitted

    @property
    def standing(self) -> str:
        """Treatment of the number in the score: "counted", "fitted" or "again".

        The value "again" means that the number follows from other published numbers, or was
        compared before. The text is empty if the number has no verdict.
        """
        if not self.verdict:
            return ""
        return "fitted" if self.fitted else "again" if self.again else "counted"

    @property
    def on_target(self) -> bool:
        """True if our value is within the tolerance, regardless of its interval."""
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
