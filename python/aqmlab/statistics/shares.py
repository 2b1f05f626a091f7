"""Intervals of a quantile and of a proportion."""

import math
from collections.abc import Iterable

from aqmlab.statistics.interval import Interval, array, check_confidence


def quantile_interval(
    values: Iterable[float], share: float = 0.5, confidence: float = 0.95
) -> Interval:
    """Return a quantile with its exact interval between two of the values, whatever they follow.

    How many of n values lie below the quantile is binomial; each bound is the outermost value that
    misses it with a probability of at most half of what the confidence leaves. Source:
    ``hahn1991intervals``, chapter 5.

    Parameters
    ----------
    values : iterable of float
        Independent values, in any unit.
    share : float
        Which quantile, between 0 and 1; default 0.5, the median.
    confidence : float
        Confidence, in 0..1, reached or exceeded; default 0.95.

    Returns
    -------
    Interval
        Lower bound, quantile (the least value that `share` of them do not exceed), upper bound. A
        bound is infinite if the values are too few to give one: the median needs 6, the 95 %
        quantile 72, the 99 % quantile 368 for an upper bound of 95 %.

    Raises
    ------
    ValueError
        If there are no values, or share or confidence lie outside 0..1.

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
        raise ValueError(f"share = {share} must be above 0 and below 1")
    x = np.sort(array(values, at_least=1))
    n, tail = len(x), (1 - confidence) / 2
    at_most = bdtr(np.arange(n + 1), n, share)  # the probability that so many lie below it
    low = int(np.searchsorted(at_most, tail, side="right"))
    high = int(np.searchsorted(at_most, 1 - tail, side="left")) + 1
    middle = float(x[math.ceil(round(share * n, 9)) - 1])
    return Interval(
        float(x[low - 1]) if low >= 1 else -math.inf,
        middle,
        float(x[high - 1]) if high <= n else math.inf,
    )


def sign_p_value(first: Iterable[float], second: Iterable[float]) -> float:
    """Return the p-value of the two-sided sign test: that neither arm is mostly above the other.

    Exact, whatever the values follow; of pairs that are equal it learns nothing. It is the test
    that goes with the interval of the median. Source: ``conover1999practical``, section 3.4.

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

    Holds the proportion about as often as it says, on average over proportions; for one that never
    holds it less often see :func:`exact_proportion_interval`. Source: ``wilson1927inference``.

    Parameters
    ----------
    successes : int
        How many there were, 0 or more.
    trials : int
        Of how many, 1 or more, each independent of the others.
    confidence : float
        Confidence, in 0..1; default 0.95.

    Returns
    -------
    Interval
        Lower bound, proportion, upper bound, in 0..1.

    Raises
    ------
    ValueError
        If there are no trials, more successes than trials, or the confidence lies outside 0..1.

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

    It holds the proportion at least as often as it says, with few trials more often: it is wide.
    Source: ``clopper1934fiducial``.

    Parameters, what is returned and what is raised are those of :func:`proportion_interval`.

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
        raise ValueError(f"trials = {trials} must be 1 or more")
    if not 0 <= successes <= trials:
        raise ValueError(f"successes = {successes} must be between 0 and {trials}, the trials")
