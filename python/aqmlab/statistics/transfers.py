"""Times of transfers, some of which had not ended when the run did."""

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
    """Return the time within which a share of transfers end, unfinished ones counted.

    One that was under way at the end of the run says that it takes longer than it had taken by
    then, not how long: to leave it out favours the scheme that starves it. The quantile is that of
    the product-limit estimate, which is the nearest rank if all have ended. Source:
    ``kaplan1958incomplete``.

    Parameters
    ----------
    times : iterable of float
        How long each transfer took, or had taken at the end of the run, in any unit; 0 or more.
    ended : iterable of bool
        Whether it ended.
    share : float
        Which quantile, in 0..1.

    Returns
    -------
    time : float
        The quantile; if so many did not end that it is not known, the longest time of any, which
        it exceeds; NaN if there are no transfers.
    known : bool
        Whether it is the quantile.

    Raises
    ------
    ValueError
        If times and `ended` differ in length or the share lies outside 0..1.

    Examples
    --------
    >>> time_quantile([1, 2, 3, 4], [True, True, True, True], 0.5)
    (2.0, True)
    >>> time_quantile([1, 2, 9, 9], [True, True, False, False], 0.95)
    (9.0, False)
    """
    import numpy as np

    if not 0 <= share <= 1:
        raise ValueError(f"share = {share} must be between 0 and 1")
    t, done = array(times, at_least=0), np.array(list(ended), dtype=bool)
    if len(t) != len(done):
        raise ValueError(
            f"there are {len(t)} times and {len(done)} ends; give one end for each time"
        )
    if not len(t):
        return float("nan"), False
    if done.all():
        rank = math.ceil(len(t) * (share - 1e-12))
        return float(np.partition(t, max(0, rank - 1))[max(0, rank - 1)]), True
    order = np.lexsort((~done, t))  # at the same time an end comes before what goes on
    t, done = t[order], done[order]
    left = np.arange(len(t), 0, -1)
    under_way = np.cumprod(np.where(done, 1 - 1 / left, 1.0))
    over = np.flatnonzero((under_way <= 1 - share + 1e-12) & done)
    return (float(t[over[0]]), True) if len(over) else (float(t[-1]), False)


def share_within(times: "ArrayLike", ended: "ArrayLike", at: "ArrayLike") -> "np.ndarray":
    """Return which share of transfers end within each of some times, unfinished ones counted.

    The product-limit estimate (``kaplan1958incomplete``): one that was under way at the end of the
    run counts among those that go on for as long as it was seen, and then no more. Without such
    it is the share itself.

    Parameters
    ----------
    times : array of float
        How long each transfer took, or had taken at the end of the run.
    ended : array of bool
        Whether it ended.
    at : array of float
        The times, in the same unit.

    Returns
    -------
    array of float
        Shares in 0..1; NaN if there are no transfers.

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
    order = np.lexsort((~done, t))  # at the same time an end comes before what goes on
    t, done = t[order], done[order]
    goes_on = np.cumprod(np.where(done, 1 - 1 / np.arange(len(t), 0, -1), 1.0))
    over = np.concatenate([[0.0], 1 - goes_on])
    shares: np.ndarray = over[np.searchsorted(t, points, side="right")]
    return shares
