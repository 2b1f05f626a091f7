"""Interval type, and argument checks that several statistics need."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np


class Interval(NamedTuple):
    """Estimate with a lower and an upper bound."""

    low: float
    middle: float
    high: float


def array(values: Iterable[float], at_least: int) -> "np.ndarray":
    """Return the values as a one-dimensional array.

    Raises
    ------
    ValueError
        If there are fewer than `at_least` values, or they have more than one dimension.
    """
    import numpy as np

    x = np.asarray(values if isinstance(values, np.ndarray) else list(values), dtype=float)
    if x.ndim != 1:
        raise ValueError(f"values have the shape {x.shape}; give a one-dimensional list of numbers")
    if len(x) < at_least:
        raise ValueError(f"needs at least {at_least} value{'s' * (at_least > 1)}, got {x.size}")
    return x


def check_confidence(confidence: float) -> None:
    """Raise ValueError unless a confidence is between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; it must be above 0 and below 1")
