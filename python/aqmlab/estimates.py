"""Estimates of a quantity from its values in several replications.

An estimate has a statistic such as the mean, its value, an interval, and the number of values. If a
quantity has no value in a replication, for example because a transfer never ended, the estimate
counts this replication as *missing*. :mod:`aqmlab.statistics` computes the statistics;
docs/statistics.md describes when to use each of them.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from aqmlab import statistics
from aqmlab.statistics import Interval

MEDIAN = "median, central 95 %"
MEAN = "mean, 95 % confidence"
DIFFERENCE = "mean difference, 95 % confidence"
NOT_MEASURED = "not measured"
"""Text in place of a statistic's name if no replication measured the quantity."""

Kind = Literal["t", "bca", "median"]
"""Statistic and interval. "t": the mean with Student's interval. "bca": the mean with the bootstrap
interval (BCa). "median": the median with an exact interval whose bounds are two of the values."""
KINDS: dict[Kind, tuple[str, str, Callable[[list[float]], Interval]]] = {
    "t": (MEAN, DIFFERENCE, statistics.mean_interval),
    "bca": (f"{MEAN} (BCa)", f"{DIFFERENCE} (BCa)", statistics.bootstrap_interval),
    "median": (
        "median, 95 % confidence",
        "median difference, 95 % confidence",
        statistics.quantile_interval,
    ),
}


DIGITS = 5
"""Maximum number of significant digits of a displayed number."""
ROUNDING = 1e-9
"""Relative width of an interval up to which the width is attributed to rounding errors."""


@dataclass(frozen=True)
class Estimate:
    """Statistic of values from replications, or of the durations of transfers.

    Attributes
    ----------
    statistic : str
        Name of the statistic, followed by the kind of the interval from `low` to `high`.
    value, low, high : float
        Statistic and bounds of the interval, in the unit of the values; NaN if unknown.
    n : int
        Number of values from which the statistic was computed.
    missing : int
        Number of missing values.
    exceeded : bool
        True if `value` is only a lower bound of the statistic.
    """

    statistic: str
    value: float
    low: float
    high: float
    n: int
    missing: int = 0
    exceeded: bool = False

    @property
    def interval(self) -> Interval:
        """The statistic with the bounds of its interval."""
        return Interval(self.low, self.value, self.high)

    def __str__(self) -> str:
        if not self.n:
            return NOT_MEASURED if self.statistic == NOT_MEASURED else "none"
        low, value, high = digits(self.interval)
        return value if low in (high, "none") else f"{value} [{low} to {high}]"


def _estimate(statistic: str, interval: Interval, n: int, missing: int) -> Estimate:
    return Estimate(statistic, interval.middle, interval.low, interval.high, n, missing)


def measured(
    values: Iterable[float | None], statistic: Callable[[list[float]], Estimate]
) -> Estimate:
    """Return an estimate from values, where None stands for a value that was not measured.

    Examples
    --------
    >>> print(measured([None, None], mean), measured([9, 10, None], mean).missing)
    not measured 1
    """
    every = list(values)
    if every and all(value is None for value in every):
        return Estimate(NOT_MEASURED, math.nan, math.nan, math.nan, 0, len(every))
    return statistic([math.nan if value is None else value for value in every])


def median_confidence(values: Iterable[float]) -> Estimate:
    """Return the median over replications, with its exact 95 % confidence interval.

    A missing value could have been any number. For the lower bound, a missing value counts as
    smaller than all other values. For the upper bound, a missing value counts as larger than all
    other values. With fewer than six values, the bounds are infinite.

    Examples
    --------
    >>> print(median_confidence(range(1, 21)))
    10.5 [6 to 15]
    >>> print(median_confidence([*range(1, 20), float("nan")]))
    10 [5 to 15]
    """
    every = list(map(float, values))
    finite = sorted(v for v in every if math.isfinite(v))
    missing = len(every) - len(finite)
    about = "median, 95 % confidence"
    if not finite:
        return Estimate(about, math.nan, math.nan, math.nan, 0, missing)
    rank = statistics.quantile_interval(range(len(every)))
    middle = statistics.median(finite)
    below, above = [-math.inf] * missing + finite, finite + [math.inf] * missing
    low = below[int(rank.low)] if math.isfinite(rank.low) else -math.inf
    high = above[int(rank.high)] if math.isfinite(rank.high) else math.inf
    return Estimate(about, middle, low, high, len(finite), missing)


def share(values: Iterable[float], most: float = 100.0) -> Estimate:
    """Return the mean of shares, with a 95 % confidence interval inside the range 0..`most`.

    If a value is above `most`, the range extends to the largest value.

    Examples
    --------
    >>> print(share([0, 0, 40]))
    13 [0 to 71]
    """
    every = list(values)
    of, most = mean(every), max([most, *every])
    if math.isnan(of.low):
        return of
    low, high = max(of.low, 0.0), min(of.high, most)
    return Estimate(of.statistic, of.value, low, high, of.n, of.missing)


def median(values: Iterable[float]) -> Estimate:
    """Return the median over replications, with the interval of the central 95 % of the values.

    A value that is not finite counts as missing. The median and the interval exclude missing
    values.

    Examples
    --------
    >>> median([3.0, 1.0, 2.0, float("nan")])
    Estimate(statistic='median, central 95 %', value=2.0, low=1.05, high=2.95, n=3, missing=1, \
exceeded=False)
    """
    every = list(map(float, values))
    finite = [v for v in every if math.isfinite(v)]
    known = statistics.central(finite) if finite else Interval(math.nan, math.nan, math.nan)
    return _estimate(MEDIAN, known, len(finite), len(every) - len(finite))


def mean(values: Iterable[float], kind: Kind = "t") -> Estimate:
    """Return the mean or the median over replications, with its confidence interval.

    The estimate is NaN if a value is missing, because a missing value could have been any number.
    The interval of a single value is unknown.

    Parameters
    ----------
    values : iterable of float
        One value per replication; NaN if it is missing.
    kind : {"t", "bca", "median"}
        Statistic and interval.

    Examples
    --------
    >>> mean([9, 10, 11]).value
    10.0
    >>> print(mean([1, 2, 3, 4, 5, 90], "median"))
    3 [1 to 90]
    >>> mean([9, float("nan")])
    Estimate(statistic='mean, 95 % confidence', value=nan, low=nan, high=nan, n=1, missing=1, \
exceeded=False)
    """
    about, _, interval = KINDS[kind]
    return _mean(about, list(map(float, values)), interval)


def difference(first: Iterable[float], second: Iterable[float], kind: Kind = "t") -> Estimate:
    """Return the mean or the median of the paired differences first - second, with its interval.

    Raises
    ------
    ValueError
        If `first` and `second` have different numbers of values.

    Examples
    --------
    >>> difference([3, 5, 4], [1, 2, 3]).value
    2.0
    """
    first, second = list(first), list(second)
    if len(first) != len(second):
        raise ValueError(
            f"{len(first)} and {len(second)} values cannot be paired, because their numbers differ"
        )
    pairs = zip(first, second, strict=True)
    _, about, interval = KINDS[kind]
    return _mean(about, [a - b for a, b in pairs], interval)


def _mean(
    statistic: str, values: list[float], interval: Callable[[list[float]], Interval]
) -> Estimate:
    missing = sum(map(math.isnan, values))
    if len(values) > 1 and not missing:
        return _estimate(statistic, interval(values), len(values), 0)
    if len(values) > 1:
        return Estimate(statistic, math.nan, math.nan, math.nan, len(values) - missing, missing)
    only = values[0] if values else math.nan
    return Estimate(statistic, only, math.nan, math.nan, len(values) - missing, missing)


def transfer_time(times: Iterable[float], ended: Iterable[bool], share: float) -> Estimate:
    """Return a quantile of the durations of all transfers, finished and unfinished.

    The known duration of an unfinished transfer is the time until the end of the run
    (:func:`aqmlab.statistics.time_quantile`). Unfinished transfers are counted as missing. If too
    many transfers are unfinished, the estimate is only a lower bound (`exceeded`).

    Examples
    --------
    >>> transfer_time([1, 2, 9, 9], [True, True, False, False], 0.95).exceeded
    True
    """
    times, ended = list(times), list(ended)
    value, known = statistics.time_quantile(times, ended, share)
    n, about = sum(ended), f"{100 * share:g} % quantile"
    exceeded = not known and not math.isnan(value)
    return Estimate(about, value, math.nan, math.nan, n, len(ended) - n, exceeded)


def digits(interval: Interval) -> tuple[str, str, str]:
    """Format the lower bound, the value and the upper bound with digits that suit the interval.

    The last displayed digit is the second significant digit of half the interval's width. No digit
    after the fifth significant digit of the largest value is displayed. Without an interval, the
    value is formatted by :func:`number`.

    Examples
    --------
    >>> digits(Interval(94.07, 94.293, 94.515)), digits(Interval(56.3, 78.24, 100.2))
    (('94.07', '94.29', '94.52'), ('56', '78', '100'))
    >>> digits(Interval(1842.0, 1850.3, 1859.0)), digits(Interval(3.0, 3.0, 3.0))
    (('1842', '1850.3', '1859'), ('3', '3', '3'))
    """
    half = (interval.high - interval.low) / 2
    if not math.isfinite(half) or half <= ROUNDING * max(map(abs, interval)):
        low, middle, high = map(number, interval)
        return low, middle, high
    greatest = max(map(abs, interval))
    places = min(1 - math.floor(math.log10(half)), DIGITS - 1 - math.floor(math.log10(greatest)))
    places = max(0, places)
    low, middle, high = (_trimmed(f"{round(x, places) + 0.0:.{places}f}") for x in interval)
    return low, middle, high


def _trimmed(text: str) -> str:
    """Remove trailing zeros after the decimal point."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def number(value: float) -> str:
    """Format a number with five significant digits, or a whole number without decimals.

    Examples
    --------
    >>> number(1491.33), number(0.99951), number(38.0), number(143650.5)
    ('1491.3', '0.99951', '38', '143650')
    """
    if not math.isfinite(value):
        return "none"
    if value == int(value) or abs(value) >= 1e5:
        return f"{value:.0f}"
    return f"{value:.{DIGITS}g}"
