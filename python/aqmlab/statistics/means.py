"""Confidence intervals of a mean and of the difference of two means.

The methods are Student's t, the bootstrap, Cox's method and batch means. docs/statistics.md reports
how often these intervals contain the true mean.
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
"""Maximum number of resampled values that are in memory at the same time."""

TIED = 1e-12
"""Maximum rounding difference between equal statistics, relative to the largest value."""


def mean_interval(values: Iterable[float], confidence: float = 0.95) -> Interval:
    """Return the mean and its confidence interval by Student's t.

    The method assumes that the replications are independent and that the mean is approximately
    normally distributed. With few skewed values, the interval contains the true mean less often
    than the confidence states. The width of the interval is inversely proportional to the square
    root of the number of values. Source: ``student1908mean``.

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
    """Return the mean of the paired differences, first minus second, with its interval.

    Replications of two arms with the same seed form a pair. Random influences that are common to
    both arms cancel in the difference. The interval is Student's. For another kind of interval,
    pass the differences to another function of this module. Source: ``student1908mean``.

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
    """Return the p-value of the two-sided paired t test for equal means.

    If there are several p-values, correct them with :func:`holm`. Source: ``student1908mean``.

    Parameters
    ----------
    first, second : iterable of float
        Values of the two arms in the same order of seeds.

    Returns
    -------
    float
        P-value, in 0..1. NaN if all differences are equal, because their variance is 0.

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
    # Differences that are equal except for rounding errors have no variance.
    if error <= 1e-14 * float(abs(x).max()):
        return float("nan")
    return float(2 * stdtr(len(x) - 1, -abs(float(x.mean())) / error))


ENUMERATED = 16
"""Maximum number of pairs whose sign changes are enumerated; 2 to this power fit into memory."""
RANDOM_CHANGES = 99_999
"""Number of random sign changes for more pairs."""


def permutation_p_value(first: Iterable[float], second: Iterable[float]) -> float:
    """Return the p-value of the two-sided paired permutation test for equal means.

    The test changes the signs of the differences of the pairs. The p-value is the share of all sign
    changes whose mean difference is at least as far from 0 as the observed one. For at most 16
    pairs the p-value is exact. For more pairs it is estimated from 99,999 random sign changes with
    a fixed seed. The test does not assume a distribution, and it applies to differences that are
    equal in all pairs: ten such differences have the p-value 2/1024. Source:
    ``pitman1937significance``.

    Parameters
    ----------
    first, second : iterable of float
        Values of the two arms in the same order of seeds.

    Returns
    -------
    float
        P-value, in 0..1.

    Raises
    ------
    ValueError
        If the arms differ in length or have fewer than two values.

    Examples
    --------
    >>> permutation_p_value([1, 2, 3], [0, 1, 2])
    0.25
    >>> permutation_p_value([1, 2, 3], [1, 2, 3])
    1.0
    """
    import numpy as np

    x = _differences(first, second)
    n = len(x)
    if n <= ENUMERATED:
        changes = 1 - 2 * ((np.arange(1 << n)[:, None] >> np.arange(n)) & 1)  # every sign change
    else:
        changes = np.random.default_rng(1).choice([-1, 1], (RANDOM_CHANGES, n))
    sums = abs(changes @ x)
    # Sums that are equal except for rounding errors count as equal.
    extreme = int((sums >= abs(x.sum()) - 1e-12 * abs(x).sum()).sum())
    if n <= ENUMERATED:
        return extreme / len(changes)
    return (extreme + 1) / (len(changes) + 1)


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

    In contrast to Student's interval, the interval of skewed values is asymmetric. With fewer than
    about twenty values the interval is too narrow, because the bootstrap knows the distribution
    only from the values. In the estimate of the bias, a resampled statistic that equals the
    statistic of the values has the weight one half. Source: ``efron1987bca``.

    Parameters
    ----------
    values : iterable of float
        The values, in any unit.
    statistic : callable, optional
        Function that computes the statistic, for example ``numpy.median``; default: the mean. The
        function is called with an array and ``axis=-1``.
    confidence : float
        Confidence, in 0..1; default 0.95.
    resamples : int
        Number of random samples with replacement, 1 or more; default 9999.
    seed : int
        Seed of the random samples, 0 or more; default 1. The same values and the same seed always
        give the same interval.

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
    """Yield the indices of the resamples in blocks that fit into memory."""
    import numpy as np

    return np.array_split(np.arange(rows), math.ceil(rows * columns / AT_ONCE))


def lognormal_mean_interval(values: Iterable[float], confidence: float = 0.95) -> Interval:
    """Return the mean of a log-normal distribution and its interval, by Cox's method.

    The interval is exp(m + s²/2 ± t √(s²/n + s⁴/2(n−1))) where m and s² are the mean and the
    variance of the logarithms of the n values, and t is the quantile of Student's t with n − 1
    degrees of freedom. Use Cox's method only for values, such as durations and sizes, whose
    logarithms are approximately normally distributed. The estimate is not the arithmetic mean of
    the values. Source: ``olsson2005lognormal``, the modified Cox method.

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

    Successive values in a run are not independent, so their variance underestimates the error of
    the mean. The function divides the series into batches of equal length and treats the means of
    the batches as independent. A batch must be many times as long as the time over which values
    depend on each other. Ten to thirty batches are enough. If the length of the series is not a
    multiple of the number of batches, the function ignores the remaining values at the start of the
    series. Remove the warm-up from the series before the call. Source: ``schmeiser1982batch``.

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
