"""Functions that decide kinds of claims of the thesis, with tolerances."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from aqmlab.estimates import Estimate
from aqmlab.statistics import proportion_interval
from aqmlab.studies.framework import Claims, Decision, Published, Tolerance
from aqmlab.studies.framework.claims import estimated, exactly, value, whole
from aqmlab.studies.red_wired_testbed.frozen import APART
from aqmlab.studies.red_wired_testbed.printed import STATISTICS

CLAIMS = Claims(Path(__file__).parents[1] / "published" / "claims.csv", APART)

EXAMPLE = Tolerance.larger_of(0, 0.05, single_run=True)
"""Tolerance of published numbers of a single replication."""


def near(
    claim: Published,
    runs: Any,
    statistic: Callable[[Any], float],
    evidence: str,
    share: float = 0.10,
    width: float = 0.0,
) -> Decision:
    """Decide a claim by a statistic of all replications together, such as a mean of means."""
    rule = Tolerance.larger_of(width, share, claim.unit)
    return whole(replace(claim, qualifier="exact"), runs, statistic, rule, evidence)


def middle(
    claim: Published, values: Iterable[float], share: float = 0.10, width: float = 0.0
) -> Decision:
    """Decide a claim about a median by the confidence interval of our median."""
    return value(claim, values, Tolerance.larger_of(width, share, claim.unit))


def occurs(claim: Published, values: Iterable[float]) -> Decision:
    """Decide a claim about one replication by the spread of our replications."""
    return value(claim, values, EXAMPLE, "The published number is from a single replication.")


def counted(claim: Published, count: int, total: int, width: float, evidence: str) -> Decision:
    """Decide a claim about a number (or share) of replications by Wilson's interval."""
    scale = 100 if claim.unit == "%" else 20
    low, _, high = (scale * bound for bound in proportion_interval(count, total))
    ours = Estimate("of replications, 95 % confidence", scale * count / total, low, high, total)
    rule = Tolerance.of(
        f"{width:g} {'percentage points' if claim.unit == '%' else 'of 20 replications'}", width
    )
    return estimated(claim, ours, rule, evidence)


def arithmetic(claim: Published, ours: float, evidence: str, width: float) -> Decision:
    """Decide a claim that follows from the settings of the testbed."""
    return exactly(claim, ours, evidence, width)


def median(values: Iterable[float]) -> float:
    """Return the median of the values that are not NaN; NaN if all values are NaN."""
    every = np.fromiter(values, dtype=np.float64)
    known = every[~np.isnan(every)]
    return float(np.median(known)) if known.size else math.nan


def quartile_range(values: Iterable[float]) -> float:
    """Return the interquartile range of the values."""
    low, high = np.quantile(np.array(list(values), dtype=float), [0.25, 0.75])
    return float(high - low)


def lowest(values: Iterable[float]) -> float:
    """Return the minimum of an experiment of 20 replications, averaged over our experiments."""
    return float(STATISTICS["min"](np.array(list(values), dtype=float)))


def highest(values: Iterable[float]) -> float:
    """Return the maximum of an experiment of 20 replications, averaged over our experiments."""
    return float(STATISTICS["max"](np.array(list(values), dtype=float)))
