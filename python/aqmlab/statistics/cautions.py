"""Reasons to distrust an interval: few values, equal values, skewed values."""

import math
from collections.abc import Iterable

from aqmlab.statistics.interval import array

FEW = 5
"""Minimum number of values for a reliable width of a confidence interval."""
SKEWED_P = 0.01
"""Significance level of the test for skewness."""


def cautions(values: Iterable[float]) -> list[str]:
    """Return reasons to distrust Student's interval of the values, one phrase per reason.

    If there are eight or more values, they are tested for skewness with the test of
    ``dagostino1970skewness``. The values count as skewed if less than 1 % of all normal samples of
    the same size are at least as skewed.

    Parameters
    ----------
    values : iterable of float
        One value per replication, in any unit. A value that is not finite is ignored.

    Returns
    -------
    list of str
        At most one phrase about few values, and at most one phrase about identical or skewed
        values. The list is empty for a single value, because a single value has no interval.
        Identical values of 0 are not reported, because they are common, for example as numbers of
        drops.

    Examples
    --------
    >>> cautions([1.0, 1.0, 1.0])
    ['fewer than 5 replications', 'every replication has the same value, so the seed has no effect']
    >>> cautions([1, 2, 3, 2, 1, 3, 2, 40])
    ['skewed values, so the true mean may be outside the interval; use the median']
    """
    x = array([v for v in values if math.isfinite(v)], at_least=0)
    reasons = []
    if 1 < len(x) < FEW:
        reasons.append(f"fewer than {FEW} replications")
    if len(x) > 1 and float(x.min()) == float(x.max()) != 0:
        reasons.append("every replication has the same value, so the seed has no effect")
    elif len(x) >= 8:
        from scipy.stats import skewtest

        if float(skewtest(x).pvalue) < SKEWED_P:
            reasons.append(
                "skewed values, so the true mean may be outside the interval; use the median"
            )
    return reasons
