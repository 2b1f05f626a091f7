"""Statistics of replications; docs/statistics.md says which to use when.

Each takes a sequence or array of numbers, one a replication (or, for Jain's index, one a flow).
Quantiles interpolate linearly between order statistics (type 7 of Hyndman & Fan 1996, numpy's
default), so that all of them agree with numpy and scipy.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np


class Interval(NamedTuple):
    """A middle with a lower and an upper bound."""

    low: float
    middle: float
    high: float


def median(values: Iterable[float]) -> float:
    """Return the median.

    Raises
    ------
    ValueError
        If there are no values.

    Examples
    --------
    >>> median([3, 1, 2, 10])
    2.5
    """
    return quartiles(values).middle


def quartiles(values: Iterable[float]) -> Interval:
    """Return the lower quartile, the median and the upper quartile.

    Raises
    ------
    ValueError
        If there are no values.

    Examples
    --------
    >>> quartiles([1, 2, 3, 4, 5])
    Interval(low=2.0, middle=3.0, high=4.0)
    """
    return central(values, 0.5)


def central(values: Iterable[float], share: float = 0.95) -> Interval:
    """Return the interval that holds the central share of the values, around their median.

    It describes how far single replications spread; it does not shrink as replications are added.
    With fewer than 40 values the central 95 % ends between the outermost two on either side.

    Parameters
    ----------
    values : iterable of float
        The values, in any unit.
    share : float
        Share of the values inside, in 0..1; default 0.95.

    Returns
    -------
    Interval
        The quantile (1 - share)/2, the median, and the quantile (1 + share)/2.

    Raises
    ------
    ValueError
        If there are no values or the share lies outside 0..1.

    Examples
    --------
    >>> central(range(9), 0.75)
    Interval(low=1.0, middle=4.0, high=7.0)
    """
    import numpy as np

    if not 0 <= share <= 1:
        raise ValueError(f"share = {share} must be in 0..1")
    x = _array(values, at_least=1)
    low, middle, high = np.quantile(x, [(1 - share) / 2, 0.5, (1 + share) / 2])
    return Interval(float(low), float(middle), float(high))


def mean_interval(values: Iterable[float], confidence: float = 0.95) -> Interval:
    """Return the mean and its confidence interval by Student's t.

    Assumes independent replications of about normal mean; it shrinks with the root of their number.

    Parameters
    ----------
    values : iterable of float
        The values, in any unit.
    confidence : float
        Confidence, in 0..1; default 0.95.

    Returns
    -------
    Interval
        Lower bound, mean, upper bound.

    Raises
    ------
    ValueError
        If there are fewer than two values, or the confidence lies outside 0..1.

    Examples
    --------
    >>> [round(x, 3) for x in mean_interval([9, 10, 11])]
    [7.516, 10.0, 12.484]
    """
    from scipy.special import stdtrit

    if not 0 < confidence < 1:
        raise ValueError(f"confidence = {confidence} must be between 0 and 1")
    x = _array(values, at_least=2)
    mean = float(x.mean())
    t = stdtrit(len(x) - 1, (1 + confidence) / 2)
    half = float(t * x.std(ddof=1) / len(x) ** 0.5)
    return Interval(mean - half, mean, mean + half)


def paired_difference(
    first: Iterable[float], second: Iterable[float], confidence: float = 0.95
) -> Interval:
    """Return the mean of first minus second with its confidence interval, pair by pair.

    Replications of the two arms with the same seed form a pair: what chance did to both cancels.

    Parameters
    ----------
    first, second : iterable of float
        Values of the two arms in the same order of seeds.
    confidence : float
        Confidence, in 0..1; default 0.95.

    Raises
    ------
    ValueError
        If the arms differ in length or have fewer than two values.

    Examples
    --------
    >>> [round(x, 3) for x in paired_difference([11, 21, 30], [10, 20, 30])]
    [-0.768, 0.667, 2.101]
    """
    a, b = _array(first, at_least=2), _array(second, at_least=2)
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} values cannot be paired")
    return mean_interval(a - b, confidence)


def jain(values: Iterable[float]) -> float:
    """Return Jain's fairness index, (sum x)^2 / (n sum x^2).

    It is 1 if all are equal, 1/n if one has all; NaN if all are 0.
    Source: ``jain1984fairness``.

    Raises
    ------
    ValueError
        If there are no values.

    Examples
    --------
    >>> jain([2, 2, 2]), jain([1, 0, 0, 0])
    (1.0, 0.25)
    """
    x = _array(values, at_least=1)
    squares = float((x * x).sum())
    return float(x.sum()) ** 2 / (len(x) * squares) if squares else float("nan")


def _array(values: Iterable[float], at_least: int) -> "np.ndarray":
    import numpy as np

    x = np.asarray(values if isinstance(values, np.ndarray) else list(values), dtype=float)
    if x.ndim != 1 or len(x) < at_least:
        raise ValueError(f"needs at least {at_least} value{'s' * (at_least > 1)}, got {x.size}")
    return x
