"""What to mind before an interval is believed: few values, equal values, skewed values."""

import math
from collections.abc import Iterable

from aqmlab.statistics.interval import array

FEW = 5
"""Values below which an interval says little of its own width."""
SURE = 0.01
"""How rarely normal values are called skewed."""


def cautions(values: Iterable[float]) -> list[str]:
    """Return what speaks against Student's interval of some replications, a few words each.

    Skewed: the sample skewness is beyond what a hundred normal samples of that size have once, by
    the test of ``dagostino1970skewness``; asked of eight values or more.

    Parameters
    ----------
    values : iterable of float
        One a replication, in any unit; what is not finite is left out.

    Returns
    -------
    list of str
        Of: few, identical, skewed. One value alone has no interval to be wary of, and what is 0
        everywhere is nothing unusual.

    Examples
    --------
    >>> cautions([1.0, 1.0, 1.0])
    ['fewer than 5 replications', 'every replication has the same value, so seeds change nothing']
    >>> cautions([1, 2, 3, 2, 1, 3, 2, 40])
    ['skewed values: the mean may lie outside its interval; look at the median']
    """
    x = array([v for v in values if math.isfinite(v)], at_least=0)
    found = []
    if 1 < len(x) < FEW:
        found.append(f"fewer than {FEW} replications")
    if len(x) > 1 and float(x.min()) == float(x.max()) != 0:
        found.append("every replication has the same value, so seeds change nothing")
    elif len(x) >= 8:
        from scipy.stats import skewtest

        if float(skewtest(x).pvalue) < SURE:
            found.append("skewed values: the mean may lie outside its interval; look at the median")
    return found
