"""Reasons to distrust an interval: few values, equal values, skewed values."""

import math
from collections.abc import Iterable

from aqmlab.statistics.interval import array

FEW = 5
"""Number of values below which the width of an interval is itself very uncertain."""
SKEWED_P = 0.01
"""Significance level of the test for skewness."""


def cautions(values: Iterable[float]) -> list[str]:
    """Return reasons to distrust Student's interval of these replications, one phrase each.

    Eight or more values are tested for skewness with the test of ``dagostino1970skewness``. The
    values are called skewed if fewer than one in a hundred normal samples of the same size are at
    least as skewed.

    Parameters
    ----------
    values : iterable of float
        One value per replication, in any unit. Values that are not finite are ignored.

    Returns
    -------
    list of str
        At most one phrase about few values, and at most one about identical or skewed values. A
        single value yields an empty list because a single value has no interval. Identical values
        of 0 are not reported because such values are common, for example as counts of drops.

    Examples
    --------
    >>> cautions([1.0, 1.0, 1.0])
    ['fewer than 5 replications', 'every replication has the same value, so seeds change nothing']
    >>> cautions([1, 2, 3, 2, 1, 3, 2, 40])
    ['skewed values: the mean may lie outside its interval; look at the median']
    """
    x = array([v for v in values if math.isfinite(v)], at_least=0)
    reasons = []
    if 1 < len(x) < FEW:
        reasons.append(f"fewer than {FEW} replications")
    if len(x) > 1 and float(x.min()) == float(x.max()) != 0:
        reasons.append("every replication has the same value, so seeds change nothing")
    elif len(x) >= 8:
        from scipy.stats import skewtest

        if float(skewtest(x).pvalue) < SKEWED_P:
            reasons.append(
                "skewed values: the mean may lie outside its interval; look at the median"
            )
    return reasons
