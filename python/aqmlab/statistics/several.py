"""Correction of p-values when several hypotheses are tested at once."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def holm(p_values: Iterable[float]) -> list[float]:
    """Return p-values corrected so that any false rejection among the tests is improbable.

    If each hypothesis with a corrected p-value below 0.05 is rejected, the probability of at least
    one false rejection is at most 0.05, however the tests depend on each other.
    Source: ``holm1979multiple``.

    Parameters
    ----------
    p_values : iterable of float
        The p-values, in 0..1. NaN stands for a missing test: it is not counted and stays NaN.

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
    """Return p-values corrected so that at most a small share of the rejections is false.

    If each hypothesis with a corrected p-value below 0.05 is rejected, on average at most 5 % of
    the rejections are false, provided that the tests are independent or depend positively on each
    other. Use this correction to screen many hypotheses; :func:`holm` is stricter. Source:
    ``benjamini1995fdr``.

    Parameters, return value and exceptions are those of :func:`holm`.

    Examples
    --------
    >>> false_discovery([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    import numpy as np

    p, order = _ordered(p_values)
    n = len(order)
    # Each factor of the correction is at least 1, so no corrected p-value is below the original
    # p-value.
    steps = p[order] * (n / np.arange(1, n + 1))
    p[order] = np.minimum.accumulate(steps[::-1])[::-1]
    return [float(x) for x in p]


def _ordered(p_values: Iterable[float]) -> "tuple[np.ndarray, np.ndarray]":
    """Return the p-values, and the indices of those that are not NaN in ascending order."""
    import numpy as np

    p = np.array(list(p_values), dtype=float)
    wrong = p[(p < 0) | (p > 1)]
    if len(wrong):
        raise ValueError(f"a p-value is {wrong[0]:g}; it must be between 0 and 1")
    order = np.argsort(p, kind="stable")
    return p, order[: int((~np.isnan(p)).sum())]
