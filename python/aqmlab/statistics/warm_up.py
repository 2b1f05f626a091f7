"""Where the start of a series ends, by the marginal standard error rule (MSER-5)."""

from collections.abc import Iterable

from aqmlab.statistics.interval import array

BATCH = 5
LAST = 5
"""Batches at the end that are never all that is left: the variance of so few says nothing."""


def mser(values: Iterable[float], batch: int = BATCH) -> tuple[int, bool]:
    """Return how many values at the start of a series to leave out.

    The series is cut into batches, and so many are left out at the start that the marginal standard
    error of the rest, √(Σ(x − mean)²)/n, is least. Sources: ``white1997truncation``;
    ``white2000comparison``, for batches of 5.

    Parameters
    ----------
    values : iterable of float
        The series in the order of time, equally spaced, in any unit.
    batch : int
        Values in a batch, 1 or more; default 5 (MSER-5).

    Returns
    -------
    cut : int
        Values to leave out.
    settled : bool
        Whether that is at most half of them. If not, the series is too short for what it does at
        its start, or has no steady state.

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
        raise ValueError(f"batch = {batch} must be 1 or more")
    x = array(values, at_least=2 * LAST * batch)
    n = len(x) // batch
    means = x[: n * batch].reshape(n, batch).mean(axis=1)
    means = means - means.mean()  # so that sums of squares lose no digits
    left = np.arange(n, 0, -1)
    sums, squares = (np.cumsum(y[::-1])[::-1] for y in (means, means**2))
    error = np.maximum(squares - sums**2 / left, 0) / left**2
    cut = int(np.argmin(error[: n - LAST + 1]))
    return cut * batch, 2 * cut <= n
