"""Pairs of runs of the same case: one run without ECN, and one run with ECN.

In some pairs, the run with ECN uses head marking.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from aqmlab.estimates import Estimate
from aqmlab.experiment import Outcome
from aqmlab.measures import Measure
from aqmlab.statistics import Interval
from aqmlab.studies.ecn_red_simulation.scenarios import (
    ARMS,
    ECN,
    FACTORS,
    HEAD,
    NETWORKS,
    OFF,
    Case,
    Setting,
    cases,
)
from aqmlab.studies.ecn_red_simulation.tallies import EVERY, Tally
from aqmlab.studies.framework import Need, Runs, grid

ARM_NAMES = {OFF: "no ECN", ECN: "ECN", HEAD: "head marking"}
NETWORK_NAMES = {"single": "one congested link", "multiple": "three congested links"}
ALL = tuple(cases())
USUAL, MANY = 5, 20
"""Number of replications of a setting, and of a setting whose replications differ much.

The numbers were chosen before the runs, and not by their verdicts.
"""

Chosen = Callable[[Case], bool]
KINDS: dict[str, Chosen] = {
    "10 kB files": lambda case: not case.bulk and not case.cbr_share,
    "10 kB files, with CBR": lambda case: not case.bulk and case.cbr_share > 0,
    "1 MB files": lambda case: case.bulk and not case.cbr_share,
    "1 MB files, with CBR": lambda case: case.bulk and case.cbr_share > 0,
}
"""Groups of cases with the same file size, with or without CBR traffic."""

SPREAD = {"linterm": 10, "sessions": 12}
"""Factor levels at which the goodput of bulk transfers differs most between replications.

With five replications, claims about the largest changes of goodput were open.
"""
QUICK = {"delay_ms": 10, "linterm": 10, "wq": 0.002, "maxth": 60}
"""Factor levels of the cases in the quick form."""


def needs(network: str, arms: Sequence[str] = ARMS) -> Iterator[Need]:
    """Yield the settings of all cases of a network, under each of the given arms."""
    for case in ALL:
        spread = case.bulk and SPREAD.items() <= vars(case).items()
        quick = QUICK.items() <= vars(case).items()
        for arm in arms:
            count = MANY if spread and arm != HEAD else USUAL
            yield Need(Setting(network, case, arm), at_most=count, quick=quick)


def both(arms: Sequence[str] = ARMS) -> Iterator[Need]:
    """Yield the settings of all cases of both networks, under each of the given arms."""
    for network in NETWORKS:
        yield from needs(network, arms)


@lru_cache(maxsize=8)
def outcome(
    runs: Runs, network: str, arms: tuple[str, ...] = ARMS, at_most: int | None = None
) -> Outcome:
    """Return the cases of a network as an experiment that compares each arm with the first arm.

    `at_most` is the maximum number of replications of a setting.
    """
    points = ((vars(case), {arm: Setting(network, case, arm) for arm in arms}) for case in ALL)
    named = [(at, {ARM_NAMES[arm]: s for arm, s in by.items()}) for at, by in points]
    return grid.outcome(runs, named, EVERY, NETWORK_NAMES[network], at_most)


@dataclass(frozen=True)
class Gain:
    """Change of a measure from the reference arm to another arm, in one case.

    Attributes
    ----------
    case : Case
    base : float
        Mean of the measure under the reference arm.
    difference : Estimate
        Mean difference of the replications with its 95 % interval, in the measure's unit.
    p_discovery : float
        p-value, corrected for the number of cases in the network (Benjamini and Hochberg).
    """

    case: Case
    base: float
    difference: Estimate
    p_discovery: float

    @property
    def percent(self) -> Interval:
        """Mean difference in % of the mean under the reference arm; NaN if that mean is 0."""
        low, middle, high = self.difference.interval
        scale = 100 / self.base if self.base else math.nan
        return Interval(scale * low, scale * middle, scale * high)

    @property
    def significant(self) -> bool:
        """True if the difference is significant at a false-discovery rate of 5 %."""
        return self.p_discovery < 0.05


@lru_cache(maxsize=64)
def gains(
    runs: Runs, network: str, measure: Measure[Tally], arm: str = ECN, against: str = OFF
) -> tuple[Gain, ...]:
    """Return the change of a measure from arm `against` to arm `arm`, for each case."""
    table = outcome(runs, network, (against, arm))
    cells = table.estimates(list(FACTORS), [measure.name])
    base = {tuple(c.at.values()): c.estimate.value for c in cells if c.difference is None}
    return tuple(
        Gain(Case(**c.at), base[tuple(c.at.values())], c.difference, c.p_discovery)
        for c in cells
        if c.difference is not None
    )
