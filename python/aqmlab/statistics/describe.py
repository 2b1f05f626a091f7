"""Descriptive statistics: median, quartiles, central interval and Jain's fairness index.

The quantiles are interpolated linearly between order statistics (type 7 of
``hyndman1996quantiles``, the default of numpy). They are computed without numpy's function for
quantiles, which takes longer than everything else for the few values that replications have.
"""

import math
from collections.abc import Iterable, Sequence

from aqmlab.statistics.interval import Interval, array


def median(values: Iterable[float]) -> float:
    """Return the median.

    Raises
    ------
    ValueError
        If the list of values is empty.

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
        If the list of values is empty.

    Examples
    --------
    >>> quartiles([1, 2, 3, 4, 5])
    Interval(low=2.0, middle=3.0, high=4.0)
    """
    return central(values, 0.5)


def central(values: Iterable[float], share: float = 0.95) -> Interval:
    """Return the interval that contains the central share of the values, and their median.

    The interval describes the spread of single replications, so it does not become narrower with
    more replications. With fewer than 40 values, each bound of the central 95 % is between the two
    outermost values on its side.

    Parameters
    ----------
    values : iterable of float
        The values, in any unit.
    share : float
        Share of the values inside the interval, in 0..1; default 0.95.

    Returns
    -------
    Interval
        The quantile (1 - share)/2, the median, and the quantile (1 + share)/2.

    Raises
    ------
    ValueError
        If the list of values is empty or the share lies outside 0..1.

    Examples
    --------
    >>> central(range(9), 0.75)
    Interval(low=1.0, middle=4.0, high=7.0)
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share}; it must be between 0 and 1")
    x = array(values, at_least=1).copy()
    x.sort()  # a value that is not a number comes last
    ordered = x.tolist()
    return Interval(*(_quantile(ordered, p) for p in ((1 - share) / 2, 0.5, (1 + share) / 2)))


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of values in ascending order, with numpy's rounding."""
    if math.isnan(ordered[-1]):
        return math.nan
    rank = (len(ordered) - 1) * share
    below = math.floor(rank)
    if below + 1 >= len(ordered):
        return ordered[-1]
    part, step = rank - below, ordered[below + 1] - ordered[below]
    if part < 0.5:
        return ordered[below] + step * part
    return ordered[below + 1] - step * (1 - part)


def jain(values: Iterable[float]) -> float:
    """Return Jain's fairness index, (sum x)^2 / (n sum x^2).

    The index is 1 if all values are equal, 1/n if only one value is above 0, and NaN if all values
    are 0. Source: ``jain1984fairness``.

    Raises
    ------
    ValueError
        If the list of values is empty.

    Examples
    --------
    >>> jain([2, 2, 2]), jain([1, 0, 0, 0])
    (1.0, 0.25)
    """
    x = array(values, at_least=1)
    squares = float((x * x).sum())
    return float(x.sum()) ** 2 / (len(x) * squares) if squares else float("nan")
