"""Bootstrap intervals of numbers that are computed from all replications together.

Some numbers have a single value for all replications: a ratio of medians, the best of several queue
limits, or a share of settings. The interval of a value of all replications comes from a bootstrap.
The bootstrap repeats the computation of the value with replications that are sampled with
replacement. All settings use the same sampled replications, so paired settings stay paired.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from aqmlab.estimates import Estimate
from aqmlab.studies.framework.runs import Floats
from aqmlab.studies.framework.verdicts import UndecidableError

RESAMPLES = 200
"""Number of bootstrap samples."""
CONFIDENCE = 0.95
SEED = 2884


class RunsBySetting(Protocol):
    """Methods of :class:`aqmlab.studies.framework.Runs` that a statistic uses."""

    replications: int

    def of(self, setting: Any) -> list[Any]:
        """Return the reduced results of a setting."""
        ...

    def by_replication(self, setting: Any) -> Iterator[tuple[int, Any]]:
        """Yield (replication, reduced result) of a setting."""
        ...

    def values(self, setting: Any, quantity: Callable[[Any], float]) -> Floats:
        """Return a quantity of each replication of a setting."""
        ...

    def has(self, setting: Any) -> bool:
        """Return True if a setting was requested."""
        ...


class Resampled:
    """Bootstrap sample of a study's runs: replications are sampled with replacement.

    Parameters
    ----------
    runs : Runs
        Runs of the study.
    known : dict
        Cache that all bootstrap samples share: the reduced results by setting, and the values of
        all replications by setting and quantity.
    seed : int
        Seed of the random sample.
    """

    def __init__(self, runs: RunsBySetting, known: dict[Any, Any], seed: int) -> None:
        self.replications = runs.replications
        self._runs, self._known, self._seed = runs, known, seed
        self._drawn: dict[int, NDArray[np.int64]] = {}

    def of(self, setting: Any) -> list[Any]:
        """Return the reduced results of a setting, for the sampled replications."""
        every = self._known.get(setting)
        if every is None:
            every = self._known[setting] = self._runs.of(setting)
        return [every[i] for i in self._sampled(len(every)).tolist()]

    def values(self, setting: Any, quantity: Callable[[Any], float]) -> Floats:
        """Return a quantity of the sampled replications of a setting.

        The quantity is computed once for all bootstrap samples, if they pass the same function.
        """
        every: Floats | None = self._known.get((setting, quantity))
        if every is None:
            every = self._known[setting, quantity] = self._runs.values(setting, quantity)
        sampled: Floats = every[self._sampled(len(every))]
        return sampled

    def _sampled(self, n: int) -> NDArray[np.int64]:
        """Return the positions of the sampled replications among n replications."""
        if n not in self._drawn:
            rng = np.random.default_rng((SEED, self._seed))
            self._drawn[n] = rng.integers(0, max(n, 1), n)
        return self._drawn[n]

    def by_replication(self, setting: Any) -> Iterator[tuple[int, Any]]:
        """Yield (position in the bootstrap sample, reduced result) of a setting."""
        return enumerate(self.of(setting))

    def has(self, setting: Any) -> bool:
        """Return True if a setting was requested."""
        return self._runs.has(setting)


def resampled(runs: Any, statistic: Callable[[Any], float]) -> Estimate:
    """Return a statistic of all replications with its 95 % bootstrap interval.

    Parameters
    ----------
    runs : Runs
        Runs of the study.
    statistic : callable
        Function that computes the statistic from the runs. It returns NaN, or raises
        UndecidableError, if that is not possible.

    Returns
    -------
    Estimate
        The value is the statistic of the original runs. The bounds contain the central 95 % of the
        statistics of the bootstrap samples. The bounds are NaN if there is only one replication, or
        if a bootstrap sample has no statistic.

    Raises
    ------
    UndecidableError
        If `statistic` raises it for the original runs.
    """
    value, about = float(statistic(runs)), "of all replications, bootstrap 95 %"
    if math.isnan(value):
        return Estimate(about, math.nan, math.nan, math.nan, 0, runs.replications)
    if runs.replications < 2:
        return Estimate(about, value, math.nan, math.nan, runs.replications)
    known: dict[Any, Any] = {}
    draws = (Resampled(runs, known, seed) for seed in range(RESAMPLES))
    resamples = sorted(_known(statistic, draw) for draw in draws)
    if any(map(math.isnan, resamples)):
        return Estimate(about, value, math.nan, math.nan, runs.replications)
    outside = int((1 - CONFIDENCE) / 2 * (RESAMPLES - 1))
    low, high = resamples[outside], resamples[RESAMPLES - 1 - outside]
    return Estimate(about, value, min(low, value), max(high, value), runs.replications)


def _known(statistic: Callable[[Any], float], draw: Resampled) -> float:
    """Return a statistic of a bootstrap sample; NaN if the sample lacks a value."""
    try:
        return float(statistic(draw))
    except UndecidableError:
        return math.nan
