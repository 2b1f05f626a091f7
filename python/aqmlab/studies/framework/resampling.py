"""Intervals of numbers of all replications together, by a bootstrap of the replications.

A ratio of medians, the best of several limits, a share of settings: such a number has one value for
the whole study. Its interval comes from resampled studies, whose replications are drawn with
replacement. A replication is drawn for all settings at once, so pairs of settings stay pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from aqmlab.estimates import Estimate

RESAMPLES = 200
CONFIDENCE = 0.95
SEED = 2884


class Source(Protocol):
    """Runs by setting, as :class:`aqmlab.studies.framework.Runs` has them."""

    replications: int

    def of(self, setting: Any) -> list[Any]:
        """Return the runs of a setting."""
        ...

    def by_replication(self, setting: Any) -> Iterator[tuple[int, Any]]:
        """Yield (replication, run) of a setting."""
        ...

    def has(self, setting: Any) -> bool:
        """Return whether a setting was requested."""
        ...


class Resampled:
    """The runs of a study with replications drawn with replacement.

    Parameters
    ----------
    runs : Runs
        The runs of the study.
    known : dict
        Runs by setting, shared by all resamples.
    seed : int
        Seed of the draw.
    """

    def __init__(self, runs: Source, known: dict[Any, list[Any]], seed: int) -> None:
        self.replications = runs.replications
        self._runs, self._known, self._seed = runs, known, seed
        self._drawn: dict[int, np.ndarray] = {}

    def of(self, setting: Any) -> list[Any]:
        """Return the runs of a setting that were drawn."""
        every = self._known.get(setting)
        if every is None:
            every = self._known[setting] = self._runs.of(setting)
        n = len(every)
        if n not in self._drawn:
            self._drawn[n] = np.random.default_rng((SEED, self._seed)).integers(0, max(n, 1), n)
        return [every[i] for i in self._drawn[n]]

    def by_replication(self, setting: Any) -> Iterator[tuple[int, Any]]:
        """Yield (place in the draw, run) of a setting."""
        return enumerate(self.of(setting))

    def has(self, setting: Any) -> bool:
        """Return whether a setting was requested."""
        return self._runs.has(setting)


def resampled(runs: Any, statistic: Callable[[Any], float]) -> Estimate:
    """Return a number of a whole study with its 95 % bootstrap interval.

    Parameters
    ----------
    runs : Runs
        The runs of the study.
    statistic : callable
        Returns the number for runs; NaN if they have none.

    Returns
    -------
    Estimate
        The number of the runs as they are, and the bounds of the central 95 % of the resamples. A
        single replication has no bounds.
    """
    value, about = float(statistic(runs)), "of all replications, bootstrap 95 %"
    if math.isnan(value):
        return Estimate(about, math.nan, math.nan, math.nan, 0, runs.replications)
    if runs.replications < 2:
        return Estimate(about, value, math.nan, math.nan, runs.replications)
    known: dict[Any, list[Any]] = {}
    draws = (Resampled(runs, known, seed) for seed in range(RESAMPLES))
    found = sorted(float(statistic(draw)) for draw in draws)
    if any(map(math.isnan, found)):
        return Estimate(about, value, math.nan, math.nan, runs.replications)
    outside = int((1 - CONFIDENCE) / 2 * (RESAMPLES - 1))
    low, high = found[outside], found[RESAMPLES - 1 - outside]
    return Estimate(about, value, min(low, value), max(high, value), runs.replications)
