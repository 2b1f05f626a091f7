"""Transmission errors together with congestion, with and without ECN (section III of the study)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from aqmlab import estimates
from aqmlab.measures import Measure
from aqmlab.report import Table
from aqmlab.studies.ecn_red_simulation import pairs
from aqmlab.studies.ecn_red_simulation.scenarios import BULK_BYTES, ECN, OFF, SINGLE, Case, Setting
from aqmlab.studies.ecn_red_simulation.tallies import DROPS, GOODPUT, MARKS, TIMEOUTS, Tally
from aqmlab.studies.framework import Cell, Item, Need, Runs, Section

RATES = (0.0, 0.001, 0.003, 0.01, 0.03)
"""Probability with which the link from gw1 to gw2 loses a packet by a transmission error."""

CASE = Case(10, 10, 120, 0.002, 6, BULK_BYTES, 0.0)

LOST = Measure[Tally]("lost_on_the_wire", "packets", lambda t: t.lost, -1)
BY_ERRORS = Measure[Tally](
    "losses_by_errors", "%", lambda t: t.lost / (t.lost + t.drops) if t.lost else 0.0, scale=100
)
CUTS = Measure[Tally]("cuts_for_losses", "times", lambda t: t.fast_retransmits + t.timeouts, -1)
REDUCTIONS = Measure[Tally]("cuts_for_marks", "times", lambda t: t.reductions)
MEASURES = (GOODPUT, DROPS, MARKS, LOST, BY_ERRORS, CUTS, REDUCTIONS, TIMEOUTS)


@dataclass(frozen=True)
class Noisy:
    """Setting with twelve download sessions over a link with transmission errors."""

    rate: float
    arm: str

    def columns(self) -> dict[str, Any]:
        """Return the columns of cells.csv that describe the scenario."""
        return {"network": SINGLE, "arm": self.arm, "error_rate": self.rate}

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication of this setting."""
        scenario = Setting(SINGLE, CASE, self.arm).scenario(replication)
        if self.rate:
            errors = [{"kind": "loss", "probability": self.rate}]
            scenario["network"]["links"][0]["impairments"] = errors
        return scenario | {"title": f"{self.arm}, {self.rate:g} of the packets lost by errors"}


EVERY = [Noisy(rate, arm) for rate, arm in itertools.product(RATES, (OFF, ECN))]


def _needs() -> Iterator[Need]:
    for setting in EVERY:
        yield Need(setting, at_most=pairs.USUAL, quick=setting.rate in (0.0, 0.01))


def _make(runs: Runs) -> Section:
    rows, cells, gains = [], [], []
    for setting in EVERY:
        if not runs.has(setting):
            continue
        ran = runs.of(setting)
        means = [m.scale * float(np.mean([m.of(t) for t in ran])) for m in MEASURES]
        shown = [f"{x:.1f}" if x < 1000 else f"{x:.0f}" for x in means]
        rows.append([f"{100 * setting.rate:g} %", pairs.ARM_NAMES[setting.arm], *shown])
        cells += [Cell.of("errors", setting.columns(), m, ran) for m in MEASURES]
        if setting.arm == ECN:
            other = runs.of(Noisy(setting.rate, OFF))
            both = zip(ran, other, strict=True)
            gain = estimates.mean(100 * (GOODPUT.of(a) / GOODPUT.of(b) - 1) for a, b in both)
            gains.append(
                f"{100 * setting.rate:g} %: {gain.value:+z.2f} % ({gain.low:+z.2f} to "
                f"{gain.high:+z.2f})"
            )
    head = ["Errors", "Arm", *(f"{m.name.replace('_', ' ')} ({m.unit})" for m in MEASURES)]
    return Section(
        [
            "“Losses by errors” is the percentage of lost packets that were lost by transmission "
            "errors, not dropped by a queue. Without ECN the sender cannot distinguish "
            "transmission errors from drops. If ECN is on and RED's average is below maxth, "
            "congestion causes marks instead of drops, so transmission errors cause nearly all "
            "losses. A TCP sender with ECN still responds to every loss as to congestion (RFC "
            "3168 §6.1), because queues also drop some packets of ECN flows.",
            f"Change of goodput by ECN, for each packet error rate: {'; '.join(gains)}.",
        ],
        cells,
        [
            Table(
                "Twelve sessions that download 1 MB files one after the other over one congested "
                "link",
                head,
                rows,
            )
        ],
    )


ITEM = Item("errors", "Transmission errors and congestion", _needs, _make, scored=False)
