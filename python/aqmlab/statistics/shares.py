"""Confidence intervals of a quantile and of a proportion."""

import math
from collections.abc import Iterable

from aqmlab.statistics.interval import Interval, array, check_confidence


def quantile_interval(
    values: Iterable[float], share: float = 0.5, confidence: float = 0.95
) -> Interval:
    """Return a quantile and its interval, which is exact for values of any distribution.

    Each bound of the interval is one of the values. The number of values below the true quantile
    has a binomial distribution. The lower bound is the largest value that is above the true
    quantile with a probability of at most (1 − confidence)/2. The upper bound is the smallest value
    that is below the true quantile with a probability of at most (1 − confidence)/2. Source:
    ``hahn1991intervals``, chapter 5.

    Parameters
    ----------
    values : iterable of float
        Independent values, in any unit.
    share : float
        Probability of the quantile, between 0 and 1; default 0.5, the median.
    confidence : float
        Minimum confidence, in 0..1; default 0.95.

    Returns
    -------
    Interval
        Lower bound, quantile, and upper bound. The quantile is the smallest value that a share of
        at least `share` of the values does not exceed. A bound is infinite if there are too few
        values. At 95 % confidence, the bounds of the median are finite with 6 or more values. The
        upper bound of the 95 % quantile is finite with 72 or more values, and that of the 99 %
        quantile with 368 or more.

    Raises
    ------
    ValueError
        If the list of values is empty, or `share` or `confidence` lies outside 0..1.

    Examples
    --------
    >>> quantile_interval(range(1, 21))
    Interval(low=6.0, middle=10.0, high=15.0)
    >>> quantile_interval(range(10), 0.99).high
    inf
    """
    import numpy as np
    from scipy.special import bdtr

    check_confidence(confidence)
    if not 0 < share < 1:
        raise ValueError(f"share is {share}; it must be above 0 and below 1")
    x = np.sort(array(values, at_least=1))
    n, tail = len(x), (1 - confidence) / 2
    at_most = bdtr(np.arange(n + 1), n, share)  # P(at most i values lie below the quantile)
    low = int(np.searchsorted(at_most, tail, side="right"))
    high = int(np.searchsorted(at_most, 1 - tail, side="left")) + 1
    middle = float(x[math.ceil(round(share * n, 9)) - 1])
    return Interval(
        float(x[low - 1]) if low >= 1 else -math.inf,
        middle,
        float(x[high - 1]) if high <= n else math.inf,
    )


def sign_p_value(first: Iterable[float], second: Iterable[float]) -> float:
    """Return the p-value of the two-sided sign test.

    The null hypothesis is that in a pair of values, each arm has the larger value with the same
    probability. The test is exact for values of any distribution and ignores pairs of equal values.
    The test agrees with the interval of the median (:func:`quantile_interval`). Source:
    ``conover1999practical``, section 3.4.

    Parameters
    ----------
    first, second : iterable of float
        Values of the two arms in the same order of seeds.

    Returns
    -------
    float
        The p-value, in 0..1; NaN if all pairs are equal.

    Raises
    ------
    ValueError
        If the arms differ in length or have no values.

    Examples
    --------
    >>> sign_p_value([2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6])
    0.03125
    """
    import numpy as np
    from scipy.special import bdtr

    a, b = array(first, at_least=1), array(second, at_least=1)
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} values cannot be paired")
    above, below = int(np.sum(a > b)), int(np.sum(a < b))
    if above + below == 0:
        return math.nan
    return min(1.0, 2 * float(bdtr(min(above, below), above + below, 0.5)))


def proportion_interval(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Return a proportion with Wilson's score interval.

    On average over all proportions, the interval contains the true proportion about as often as the
    confidence states. The interval of :func:`exact_proportion_interval` contains every true
    proportion at least as often as the confidence states. Source: ``wilson1927inference``.

    Parameters
    ----------
    successes : int
        Number of successes, 0 or more.
    trials : int
        Number of independent trials, 1 or more.
    confidence : float
        Confidence, in 0..1; default 0.95.

    Returns
    -------
    Interval
        Lower bound, proportion, upper bound, in 0..1.

    Raises
    ------
    ValueError
        If `trials` is below 1, if there are more successes than trials, or if the confidence is
        outside 0..1.

    Examples
    --------
    >>> [round(x, 3) for x in proportion_interval(0, 10)]
    [0.0, 0.0, 0.278]
    """
    from scipy.special import ndtri

    _check(successes, trials, confidence)
    p, z2 = successes / trials, float(ndtri((1 + confidence) / 2)) ** 2
    middle = p + z2 / (2 * trials)
    half = math.sqrt(z2 * (p * (1 - p) + z2 / (4 * trials)) / trials)
    low, high = (middle - half, middle + half)
    whole = 1 + z2 / trials
    return Interval(min(p, max(0.0, low / whole)), p, max(p, min(1.0, high / whole)))


def exact_proportion_interval(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Return a proportion with the interval of Clopper and Pearson.

    The interval contains the true proportion at least as often as its confidence states. With few
    trials, the interval is wide and contains the true proportion more often than the confidence
    states. Source: ``clopper1934fiducial``.

    Parameters, return value and exceptions are those of :func:`proportion_interval`.

    Examples
    --------
    >>> [round(x, 3) for x in exact_proportion_interval(0, 10)]
    [0.0, 0.0, 0.308]
    """
    from scipy.special import betaincinv

    _check(successes, trials, confidence)
    k, n, tail = successes, trials, (1 - confidence) / 2
    low = float(betaincinv(k, n - k + 1, tail)) if k > 0 else 0.0
    high = float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
    return Interval(low, k / n, high)


def _check(successes: int, trials: int, confidence: float) -> None:
    check_confidence(confidence)
    if trials < 1:
        raise ValueError(f"trials is {trials}; it must be at least 1")
    if not 0 <= successes <= trials:
        raise ValueError(
            f"successes is {successes}; it must be between 0 and the number of trials, {trials}"
        )
