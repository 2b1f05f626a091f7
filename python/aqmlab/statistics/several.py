"""Several tests at once: p-values corrected for their number."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def holm(p_values: Iterable[float]) -> list[float]:
    """Return p-values corrected so that any false finding among them is rare.

    Who takes for real what is corrected below 0.05 is wrong anywhere with a probability of at most
    0.05, however the tests depend on each other. Source: ``holm1979multiple``.

    Parameters
    ----------
    p_values : iterable of float
        The p-values, in 0..1; NaN: no test, which counts for none and stays NaN.

    Returns
    -------
    list of float
        The corrected p-values, in the same order.

    Raises
    ------
    ValueError
        If one lies outside 0..1.

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
    """Return p-values corrected so that few of the findings are false.

    Of those that are corrected below 0.05 at most 5 % are false, on average, if the tests are
    independent or depend positively on each other. For screening many; :func:`holm` is stricter.
    Source: ``benjamini1995fdr``.

    Parameters, what is returned and what is raised are those of :func:`holm`.

    Examples
    --------
    >>> false_discovery([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    import numpy as np

    p, order = _ordered(p_values)
    n = len(order)
    # The last factor is 1 and none is below it, so that no p comes out below itself.
    steps = p[order] * (n / np.arange(1, n + 1))
    p[order] = np.minimum.accumulate(steps[::-1])[::-1]
    return [float(x) for x in p]


def _ordered(p_values: Iterable[float]) -> "tuple[np.ndarray, np.ndarray]":
    """Return the p-values, and the places of those that are numbers, from small to large."""
    import numpy as np

    p = np.array(list(p_values), dtype=float)
    wrong = p[(p < 0) | (p > 1)]
    if len(wrong):
        raise ValueError(f"p-value {wrong[0]:g} must be between 0 and 1")
    order = np.argsort(p, kind="stable")
    return p, order[: int((~np.isnan(p)).sum())]
