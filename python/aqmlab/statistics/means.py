"""Confidence intervals of a mean and of the difference of two means.

The methods are Student's t, the bootstrap, Cox's method and batch means. The measured coverage of
these intervals is in docs/statistics.md.
"""

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from aqmlab.statistics.interval import Interval, array, check_confidence

if TYPE_CHECKING:
    import numpy as np

RESAMPLES = 9999
BATCHES = 20
AT_ONCE = 4_000_000
"""Maximum number of resampled values in memory at once."""

TIED = 1e-12
"""Maximum difference between equal statistics due to rounding, relative to the largest value."""


def mean_interval(values: Iterable[float], confidence: float = 0.95) -> Interval:
    """Return the mean and its confidence interval by Student's t.

    Student's t assumes independent replications and a mean that is about normally distributed. With
    few and skewed values the interval misses the mean more often than its confidence states. The
    width of the interval falls with the square root of the number of values. Source:
    ``student1908mean``.

    Parameters
    ----------
    values : iterable of float
        The values, in any unit.
    confidence : float
        Confidence, in 0..1; default 0.95.

    Returns
    -------
    Interval
        Lower bound, mean, upper bound, in the unit of the values.

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

    check_confidence(confidence)
    x = array(values, at_least=2)
    mean = float(x.mean())
    t = stdtrit(len(x) - 1, (1 + confidence) / 2)
    half = float(t * x.std(ddof=1) / len(x) ** 0.5)
    return Interval(mean - half, mean, mean + half)


def paired_difference(
    first: Iterable[float], second: Iterable[float], confidence: float = 0.95
) -> Interval:
    """Return the mean difference of paired values, first minus second, with its interval.

    Replications of the two arms with the same seed form a pair, so that random influences common to
    both cancel. The interval is Student's. For another interval, pass the differences to another
    function. Source: ``student1908mean``.

    Parameters
    ----------
    first, second : iterable of float
        Values of the two arms in the same order of seeds.
    confidence : float
        Confidence, in 0..1; default 0.95.

    Returns
    -------
    Interval
        Lower bound, mean difference, upper bound, in the unit of the values.

    Raises
    ------
    ValueError
        If the arms differ in length or have fewer than two values.

    Examples
    --------
    >>> [round(x, 3) for x in paired_difference([11, 21, 30], [10, 20, 30])]
    [-0.768, 0.667, 2.101]
    """
    return mean_interval(_differences(first, second), confidence)


def paired_p_value(first: Iterable[float], second: Iterable[float]) -> float:
    """Return the p-value of the two-sided paired t test of equal means.

    Correct several p-values with :func:`holm`. Source: ``student1908mean``.

    Parameters
    ----------
    first, second : iterable of float
        Values of the two arms in the same order of seeds.

    Returns
    -------
    float
        The p-value, in 0..1; NaN if all differences are equal, because their variance is then 0.

    Raises
    ------
    ValueError
        If the arms differ in length or have fewer than two values.

    Examples
    --------
    >>> round(paired_p_value([11, 21, 30], [10, 20, 30]), 3)
    0.184
    >>> paired_p_value([1, 2, 3], [0, 1, 2])
    nan
    """
    from scipy.special import stdtr

    x = _differences(first, second)
    error = float(x.std(ddof=1)) / len(x) ** 0.5
    # Equal differences can differ by rounding errors, which are not a variance.
    if error <= 1e-14 * float(abs(x).max()):
        return float("nan")
    return float(2 * stdtr(len(x) - 1, -abs(float(x.mean())) / error))


def _differences(first: Iterable[float], second: Iterable[float]) -> "np.ndarray":
    a, b = array(first, at_least=2), array(second, at_least=2)
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} values cannot be paired")
    x: np.ndarray = a - b
    return x


def bootstrap_interval(
    values: Iterable[float],
    statistic: Callable[..., Any] | None = None,
    confidence: float = 0.95,
    *,
    resamples: int = RESAMPLES,
    seed: int = 1,
) -> Interval:
    """Return a statistic with its bias-corrected and accelerated bootstrap interval (BCa).

    If the values are skewed, the interval is asymmetric, unlike Student's interval. The bootstrap
    estimates the distribution from the values alone, so the interval is too narrow with fewer than
    about twenty values. A resampled statistic that equals the statistic of the values counts half
    in the bias. Source: ``efron1987bca``.

    Parameters
    ----------
    values : iterable of float
        The values, in any unit.
    statistic : callable, optional
        Function that computes the statistic, called with an array and ``axis=-1``, for example
        ``numpy.median``. Default: the mean.
    confidence : float
        Confidence, in 0..1; default 0.95.
    resamples : int
        Number of samples with replacement, 1 or more; default 9999.
    seed : int
        Seed of the random samples, 0 or more; default 1. Equal values and equal seeds give equal
        intervals.

    Returns
    -------
    Interval
        Lower bound, statistic of the values, upper bound.

    Raises
    ------
    ValueError
        If there are fewer than two values, no resamples, or the confidence lies outside 0..1.

    Examples
    --------
    >>> low, middle, high = bootstrap_interval([1, 1, 2, 2, 3, 3, 4, 20])
    >>> (middle, high - middle > middle - low)
    (4.5, True)
    """
    import numpy as np
    from scipy.special import ndtr, ndtri

    check_confidence(confidence)
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}; it must be at least 1")
    of = statistic or np.mean
    x = array(values, at_least=2)
    n, random = len(x), np.random.default_rng(seed)
    middle = float(of(x, axis=-1))
    drawn = np.concatenate(
        [of(x[random.integers(0, n, (len(rows), n))], axis=-1) for rows in _blocks(resamples, n)]
    )
    away = (drawn - middle) / (float(abs(x).max()) or 1.0)
    away[abs(away) < TIED] = 0
    below = (np.mean(away < 0) + np.mean(away <= 0)) / 2
    bias = ndtri(np.clip(below, 1 / (resamples + 1), resamples / (resamples + 1)))
    others = np.arange(n - 1)
    left_out = [of(x[others + (others >= i[:, None])], axis=-1) for i in _blocks(n, n)]
    pulls = np.mean(np.concatenate(left_out)) - np.concatenate(left_out)
    spread = float((pulls**2).sum()) ** 1.5
    acceleration = float((pulls**3).sum()) / (6 * spread) if spread else 0.0
    z = bias + ndtri(np.array([(1 - confidence) / 2, (1 + confidence) / 2]))
    shares = ndtr(bias + z / (1 - acceleration * z))
    low, high = np.quantile(drawn, shares)
    return Interval(float(low), middle, float(high))


def _blocks(rows: int, columns: int) -> "list[np.ndarray]":
    """Return the row numbers in blocks, each of which fits into memory."""
    import numpy as np

    return np.array_split(np.arange(rows), math.ceil(rows * columns / AT_ONCE))


def lognormal_mean_interval(values: Iterable[float], confidence: float = 0.95) -> Interval:
    """Return the mean of a log-normal distribution and its interval, by Cox's method.

    The interval is exp(m + s²/2 ± t √(s²/n + s⁴/2(n−1))) with the mean m and the variance s² of the
    n logarithms and Student's t with n − 1 degrees of freedom. Use Cox's method only for durations
    and sizes whose logarithm is about normal. The middle of the interval is not the arithmetic mean
    of the values. Source: ``olsson2005lognormal``, the modified Cox method.

    Parameters
    ----------
    values : iterable of float
        The values, above 0, in any unit.
    confidence : float
        Confidence, in 0..1; default 0.95.

    Returns
    -------
    Interval
        Lower bound, estimate of the mean, upper bound, in the unit of the values.

    Raises
    ------
    ValueError
        If there are fewer than two values, one is 0 or below, or the confidence lies outside 0..1.

    Examples
    --------
    >>> [round(x, 2) for x in lognormal_mean_interval([1, 2, 4, 8, 16])]
    [1.2, 7.29, 44.14]
    """
    import numpy as np
    from scipy.special import stdtrit

    check_confidence(confidence)
    x = array(values, at_least=2)
    if x.min() <= 0:
        raise ValueError(
            f"a value is {x.min():g} and has no logarithm; every value must be above 0"
        )
    logs = np.log(x)
    n, variance = len(x), float(logs.var(ddof=1))
    middle = float(logs.mean()) + variance / 2
    t = float(stdtrit(n - 1, (1 + confidence) / 2))
    half = t * (variance / n + variance**2 / (2 * (n - 1))) ** 0.5
    with np.errstate(over="ignore"):  # a bound may be infinite
        low, estimate, high = np.exp([middle - half, middle, middle + half])
    return Interval(float(low), float(estimate), float(high))


def batch_means(
    values: Iterable[float], batches: int = BATCHES, confidence: float = 0.95
) -> Interval:
    """Return the mean of the series of one long run and its interval, by batch means.

    Neighbouring values of a run depend on each other, so their variance underestimates the error of
    the mean. The function divides the series into batches of equal length and treats the means of
    the batches as independent. A batch must be many times longer than the dependence lasts; ten to
    thirty batches are enough. Values at the start that do not fill a batch are ignored. Remove the
    warm-up from the series before the call. Source: ``schmeiser1982batch``.

    Parameters
    ----------
    values : iterable of float
        The series in the order of time, at equal intervals, in any unit.
    batches : int
        Number of batches, 2 or more; default 20.
    confidence : float
        Confidence, in 0..1; default 0.95.

    Returns
    -------
    Interval
        Lower bound, mean, upper bound, in the unit of the values.

    Raises
    ------
    ValueError
        If there are fewer than two batches, fewer values than batches, or the confidence lies
        outside 0..1.

    Examples
    --------
    >>> batch_means([1, 3, 2, 4, 3, 5], batches=3).middle
    3.0
    """
    if batches < 2:
        raise ValueError(f"batches is {batches}; it must be at least 2")
    x = array(values, at_least=batches)
    length = len(x) // batches
    whole = x[len(x) - batches * length :].reshape(batches, length)
    return mean_interval(whole.mean(axis=1), confidence)
