"""Ways in which claims of the thesis are decided."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from aqmlab.estimates import number
from aqmlab.studies.framework import Claims, Decision, Published, Tolerance
from aqmlab.studies.framework.claims import holds, value

CLAIMS = Claims(Path(__file__).parents[1] / "published" / "claims.csv")

EXAMPLE = 0.05
"""How near a replication of ours must come to one that the thesis shows."""


def near(
    claim: Published, ours: float, evidence: str, share: float = 0.10, width: float = 0.0
) -> Decision:
    """Decide a number that is one of all replications together: a mean of means, a greatest."""
    rule = Tolerance.larger_of(width, share, claim.unit)
    found = f"{evidence} Rule: within {rule.about}."
    return holds(abs(ours - claim.value) <= rule.width(claim.value), ours, found)


def middle(
    claim: Published, values: Iterable[float], share: float = 0.10, width: float = 0.0
) -> Decision:
    """Decide a median by the median of ours, or by the central 95 % of our replications."""
    return value(claim, values, Tolerance.larger_of(width, share, claim.unit))


def occurs(claim: Published, values: Iterable[float]) -> Decision:
    """Decide what one replication of theirs showed: one of ours must come within 5 % of it."""
    found = [v for v in values if math.isfinite(v)]
    if not found:
        return holds(False, "none", "No replication of ours has a number.")
    nearest = min(found, key=lambda v: abs(v - claim.value))
    text = (
        f"One of their replications. The nearest of ours; they go from {number(min(found))} to "
        f"{number(max(found))}. Rule: within 5 %."
    )
    return holds(abs(nearest - claim.value) <= EXAMPLE * claim.value, float(nearest), text)


def arithmetic(claim: Published, ours: float, evidence: str, width: float) -> Decision:
    """Decide what follows from the set-up alone."""
    return holds(abs(ours - claim.value) <= width, ours, f"{evidence} Arithmetic alone.")


def median(values: Iterable[float]) -> float:
    """Return the median of those that are numbers."""
    return float(np.nanmedian(np.array(list(values), dtype=float)))


def quartile_range(values: Iterable[float]) -> float:
    """Return the distance of the quartiles."""
    low, high = np.quantile(np.array(list(values), dtype=float), [0.25, 0.75])
    return float(high - low)
