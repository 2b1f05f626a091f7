"""Statistics of transfer times, including transfers that are unfinished at the end of the run."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from aqmlab.statistics.interval import array

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike


def time_quantile(
    times: Iterable[float], ended: Iterable[bool], share: float
) -> tuple[float, bool]:
    """Return the time within which a share of all transfers end, including unfinished ones.

    For an unfinished transfer, only a lower bound of its time is known. If a quantile ignored the
    unfinished transfers, a scheme that starves some transfers would appear to be better. The
    quantile is computed from the product-limit estimate. If all transfers ended, the result is the
    nearest-rank quantile. Source: ``kaplan1958incomplete``.

    Parameters
    ----------
    times : iterable of float
        Time from the start of each transfer to its end, or to the end of the run if it is
        unfinished; 0 or more, in any unit.
    ended : iterable of bool
        True for each transfer that ended.
    share : float
        Probability of the quantile, in 0..1.

    Returns
    -------
    time : float
        Quantile of the transfer times. If too many transfers are unfinished, `time` is the longest
        known duration, which is a lower bound of the quantile. If `times` is empty, `time` is NaN.
    known : bool
        True if `time` is the quantile, False if it is only a lower bound.

    Raises
    ------
    ValueError
        If `times` and `ended` differ in length or the share lies outside 0..1.

    Examples
    --------
    >>> time_quantile([1, 2, 3, 4], [True, True, True, True], 0.5)
    (2.0, True)
    >>> time_quantile([1, 2, 9, 9], [True, True, False, False], 0.95)
    (9.0, False)
    """
    import numpy as np

    if not 0 <= share <= 1:
        raise ValueError(f"share is {share}; it must be between 0 and 1")
    t, done = array(times, at_least=0), np.array(list(ended), dtype=bool)
    if len(t) != len(done):
        raise ValueError(
            f"there are {len(t)} times and {len(done)} values of `ended`; give one for each time"
        )
    if not len(t):
        return float("nan"), False
    if done.all():
        rank = math.ceil(len(t) * (share - 1e-12))
        return float(np.partition(t, max(0, rank - 1))[max(0, rank - 1)]), True
    order = np.lexsort((~done, t))  # of equal times, ended transfers come first
    t, done = t[order], done[order]
    left = np.arange(len(t), 0, -1)
    unfinished = np.cumprod(np.where(done, 1 - 1 / left, 1.0))
    over = np.flatnonzero((unfinished <= 1 - share + 1e-12) & done)
    return (float(t[over[0]]), True) if len(over) else (float(t[-1]), False)


def share_within(times: "ArrayLike", ended: "ArrayLike", at: "ArrayLike") -> "np.ndarray":
    """Return the shares of all transfers, including unfinished ones, that end within given times.

    The shares are a product-limit estimate (``kaplan1958incomplete``). Up to the known duration of
    an unfinished transfer, the estimate counts the transfer as running; for longer times, the
    estimate excludes the transfer. If all transfers ended, the estimate is the number of transfers
    that ended within the given time, divided by the number of all transfers.

    Parameters
    ----------
    times : array of float
        Time from the start of each transfer to its end, or to the end of the run if it is
        unfinished; in any unit.
    ended : array of bool
        True for each transfer that ended.
    at : array of float
        Times for which the shares are computed, in the unit of `times`.

    Returns
    -------
    array of float
        Shares in 0..1; NaN without transfers.

    Examples
    --------
    >>> share_within([1, 2, 3, 4], [True, True, True, True], [0.5, 2, 9]).tolist()
    [0.0, 0.5, 1.0]
    >>> share_within([1, 2, 2, 4], [True, False, True, True], [1, 2, 4]).round(3).tolist()
    [0.25, 0.5, 1.0]
    """
    import numpy as np

    t, done = np.asarray(times, dtype=float), np.asarray(ended, dtype=bool)
    points = np.asarray(at, dtype=float)
    if not len(t):
        return np.full(points.shape, math.nan)
    order = np.lexsort((~done, t))  # of equal times, ended transfers come first
    t, done = t[order], done[order]
    unfinished = np.cumprod(np.where(done, 1 - 1 / np.arange(len(t), 0, -1), 1.0))
    over = np.concatenate([[0.0], 1 - unfinished])
    shares: np.ndarray = over[np.searchsorted(t, points, side="right")]
    return shares
