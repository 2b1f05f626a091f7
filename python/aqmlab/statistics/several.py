"""Correction of p-values for tests of several hypotheses."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def holm(p_values: Iterable[float]) -> list[float]:
    """Return p-values with Holm's correction, which limits the probability of any false rejection.

    Reject every hypothesis with a corrected p-value below 0.05. The probability of at least one
    false rejection is at most 0.05, for any dependence between the tests. Source:
    ``holm1979multiple``.

    Parameters
    ----------
    p_values : iterable of float
        The p-values, in 0..1. A value NaN stands for a missing test, which the correction does not
        count; the corrected value is NaN, too.

    Returns
    -------
    list of float
        The corrected p-values, in the same order.

    Raises
    ------
    ValueError
        If a p-value lies outside 0..1.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    import numpy as np

    p, order = _ordered(p_values)
    n = len(order)
    steps = p[order] * np.arange(n, 0, -1)
    p[order] = np.minimum(1, np.maximum.accumulate(steps))
    return [float(x) for x in p]


def false_discovery(p_values: Iterable[float]) -> list[float]:
    """Return p-values with a correction that limits the expected share of false rejections.

    Reject every hypothesis with a corrected p-value below 0.05. If the tests are independent or
    positively dependent, on average at most 5 % of the rejections are false. The correction is
    suitable to screen many hypotheses; :func:`holm` is stricter. Source: ``benjamini1995fdr``.

    Parameters, return value and exceptions are those of :func:`holm`.

    Examples
    --------
    >>> false_discovery([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    import numpy as np

    p, order = _ordered(p_values)
    n = len(order)
    # The correction multiplies each p-value by a factor of at least 1, so no corrected p-value is
    # below the original one.
    steps = p[order] * (n / np.arange(1, n + 1))
    p[order] = np.minimum.accumulate(steps[::-1])[::-1]
    return [float(x) for x in p]


def _ordered(p_values: Iterable[float]) -> "tuple[np.ndarray, np.ndarray]":
    """Return the p-values as an array, and the indices that sort those that are not NaN."""
    import numpy as np

    p = np.array(list(p_values), dtype=float)
    wrong = p[(p < 0) | (p > 1)]
    if len(wrong):
        raise ValueError(f"a p-value is {wrong[0]:g}; it must be between 0 and 1")
    order = np.argsort(p, kind="stable")
    return p, order[: int((~np.isnan(p)).sum())]
