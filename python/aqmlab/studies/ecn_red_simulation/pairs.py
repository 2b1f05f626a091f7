"""The 128 pairs of a network: each case without ECN and with it, or with marks at the head."""

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

Chosen = Callable[[Case], bool]
KINDS: dict[str, Chosen] = {
    "10 kB files": lambda case: not case.bulk and not case.cbr_share,
    "10 kB files, with CBR": lambda case: not case.bulk and case.cbr_share > 0,
    "1 MB files": lambda case: case.bulk and not case.cbr_share,
    "1 MB files, with CBR": lambda case: case.bulk and case.cbr_share > 0,
}
"""Cases that behave alike."""

QUICK = {"delay_ms": 10, "linterm": 10, "wq": 0.002, "maxth": 60}
"""The quick form has the cases with these."""


def needs(network: str, arms: Sequence[str] = ARMS) -> Iterator[Need]:
    """Give every case of a network under some arms."""
    for case in ALL:
        quick = QUICK.items() <= vars(case).items()
        for arm in arms:
            yield Need(Setting(network, case, arm), quick=quick)


def both(arms: Sequence[str] = ARMS) -> Iterator[Need]:
    """Give every case of both networks under some arms."""
    for network in NETWORKS:
        yield from needs(network, arms)


@lru_cache(maxsize=8)
def outcome(runs: Runs, network: str, arms: tuple[str, ...] = ARMS) -> Outcome:
    """Return the cases of a network as an experiment; the first arm is what others are held to."""
    points = ((vars(case), {arm: Setting(network, case, arm) for arm in arms}) for case in ALL)
    named = [(at, {ARM_NAMES[arm]: s for arm, s in by.items()}) for at, by in points]
    return grid.outcome(runs, named, EVERY, NETWORK_NAMES[network])


@dataclass(frozen=True)
class Gain:
    """What an arm changes in a case, replication by replication.

    Attributes
    ----------
    case : Case
    base : float
        The mean of the arm that it is held against.
    difference : Estimate
        Mean difference with its 95 % interval, in the measure's unit.
    p_discovery : float
        Corrected for all cases of the network (Benjamini and Hochberg).
    """

    case: Case
    base: float
    difference: Estimate
    p_discovery: float

    @property
    def percent(self) -> Interval:
        """The difference in % of the base; NaN if that is 0."""
        low, middle, high = self.difference.interval
        scale = 100 / self.base if self.base else math.nan
        return Interval(scale * low, scale * middle, scale * high)

    @property
    def found(self) -> bool:
        """Whether it is a finding: at most one in twenty of those is false."""
        return self.p_discovery < 0.05


@lru_cache(maxsize=64)
def gains(
    runs: Runs, network: str, measure: Measure[Tally], arm: str = ECN, against: str = OFF
) -> tuple[Gain, ...]:
    """Return what an arm changes in each case of a network."""
    table = outcome(runs, network, (against, arm))
    cells = table.cells(list(FACTORS), [measure.name])
    base = {tuple(c.at.values()): c.estimate.value for c in cells if c.difference is None}
    return tuple(
        Gain(Case(**c.at), base[tuple(c.at.values())], c.difference, c.p_discovery)
        for c in cells
        if c.difference is not None
    )
