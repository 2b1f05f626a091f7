"""End of the warm-up of a series, by the marginal standard error rule (MSER-5)."""

from collections.abc import Iterable

from aqmlab.statistics.interval import array

BATCH = 5
LAST = 5
"""Minimum number of batches after the warm-up, because the variance of fewer is too uncertain."""


def mser(values: Iterable[float], batch: int = BATCH) -> tuple[int, bool]:
    """Return the number of values at the start of a series that belong to the warm-up.

    The series is divided into batches of equal length. The warm-up is the number of batches at the
    start whose removal minimizes the marginal standard error √(Σ(x − mean)²)/n of the remaining n
    batch means x. Sources: ``white1997truncation``; ``white2000comparison``, for batches of 5.

    Parameters
    ----------
    values : iterable of float
        The series in the order of time, at equal intervals, in any unit.
    batch : int
        Number of values per batch, 1 or more; default 5 (MSER-5).

    Returns
    -------
    cut : int
        Number of values to remove.
    settled : bool
        True if `cut` is at most half of the values. False means that the series is too short for
        its warm-up, or that the series has no steady state.

    Raises
    ------
    ValueError
        If there are fewer than ten batches.

    Examples
    --------
    >>> mser([9, 8, 7, 6, 5] + [1, 2] * 50)
    (5, True)
    """
    import numpy as np

    if batch < 1:
        raise ValueError(f"batch is {batch}; it must be at least 1")
    x = array(values, at_least=2 * LAST * batch)
    n = len(x) // batch
    means = x[: n * batch].reshape(n, batch).mean(axis=1)
    means = means - means.mean()  # avoids cancellation in the sums of squares
    left = np.arange(n, 0, -1)
    sums, squares = (np.cumsum(y[::-1])[::-1] for y in (means, means**2))
    error = np.maximum(squares - sums**2 / left, 0) / left**2
    cut = int(np.argmin(error[: n - LAST + 1]))
    return cut * batch, 2 * cut <= n
