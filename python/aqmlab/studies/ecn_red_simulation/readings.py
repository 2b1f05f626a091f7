"""Sensitivity of the results to open settings of the study and to its simulator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from aqmlab.report import Table
from aqmlab.studies.ecn_red_simulation import pairs
from aqmlab.studies.ecn_red_simulation.causes import mean
from aqmlab.studies.ecn_red_simulation.scenarios import (
    ECN,
    MULTIPLE,
    NETWORKS,
    OFF,
    SINGLE,
    STARS,
    Case,
    Setting,
)
from aqmlab.studies.ecn_red_simulation.tallies import (
    DROPS,
    GOODPUT,
    MARKS,
    QUEUE,
    SIGNALS,
    TIMEOUTS,
)
from aqmlab.studies.framework import Cell, Item, Need, Runs, Section

REPLICATIONS = 2
FIXED = {"delay_ms": 10, "linterm": 10, "wq": 0.002}
"""Levels of the cases that are compared under all readings."""


@dataclass(frozen=True)
class Reading:
    """Another reading of the study: its description and its parameters."""

    about: str
    red: tuple[tuple[str, Any], ...] = ()
    tcp: tuple[tuple[str, Any], ...] = ()
    networks: tuple[tuple[str, str], ...] = tuple((n, n) for n in NETWORKS)

    def setting(self, network: str, case: Case, arm: str) -> Setting:
        """Return the setting of a case under this reading of the study."""
        return Setting(dict(self.networks)[network], case, arm, self.red, self.tcp)


READINGS = (
    Reading("as the study is read here"),
    Reading("packets are marked at any probability, not only below 0.1 (ns-2: mark_p_)",
            red=(("mark_below", 1.0),)),
    Reading("RED is gentle (default of ns-2 2.26; the study: all are dropped above maxth)",
            red=(("gentle", True),)),
    Reading("RED is gentle and marks at any probability",
            red=(("gentle", True), ("mark_below", 1.0))),
    Reading("signals at uniform distances (RED's paper), not within 1/p packets of the last (ns-2)",
            red=(("spacing", "uniform"),)),
    Reading("1492 B are the packet, headers included",
            tcp=(("mss", "1452 B"), ("receive_window", "29040 B"))),
    Reading("window of 64 KB rather than of 20 segments", tcp=(("receive_window", "64156 B"),)),
    Reading("every second segment is acknowledged (RFC 5681), not each (ns-2)",
            tcp=(("delayed_ack", "2 segments"),)),
    Reading("timestamps, which add 12 B and give a sample of the round trip after a timeout",
            tcp=(("timestamps", True),)),
    Reading("retransmissions are not ECN-capable (RFC 3168), unlike in ns-2",
            tcp=(("ecn.packets", "new-data"),)),
    Reading("a mark leaves at least two segments (Linux): no waiting for the timer with one",
            tcp=(("ecn.min_window", "2 segments"),)),
    *(
        Reading(f"three links as a star around gw2, ftp5 at {five}, ftp6 at {six}",
                networks=((MULTIPLE, star),))
        for star, (five, six) in STARS.items()
    ),
)  # fmt: skip


CHOSEN = [case for case in pairs.ALL if FIXED.items() <= vars(case).items()]


def _needs() -> Iterator[Need]:
    for reading in READINGS:
        for network, _ in reading.networks:
            for case in CHOSEN:
                quick = network == SINGLE and (case.sessions, case.maxth, case.cbr_share) == (
                    12,
                    60,
                    0,
                )
                for arm in (OFF, ECN):
                    setting = reading.setting(network, case, arm)
                    yield Need(setting, at_most=REPLICATIONS, quick=quick)


def _row(runs: Runs, reading: Reading, network: str) -> list[str] | None:
    settings = [
        tuple(reading.setting(network, case, arm) for arm in (OFF, ECN))
        for case in CHOSEN
        if runs.has(READINGS[1].setting(network, case, OFF))  # a quick form has few cases
    ]
    if not settings:
        return None
    change = {m: [_change(runs, m, *pair) for pair in settings] for m in (GOODPUT, SIGNALS, QUEUE)}
    bulk = [ecn for _, ecn in settings if ecn.case.bulk]
    drops, marks = (sum(mean(runs, ecn, m) for ecn in bulk) for m in (DROPS, MARKS))
    timeouts = [sum(mean(runs, pair[i], TIMEOUTS) for pair in settings) for i in (0, 1)]
    large = [x for x in change[GOODPUT] if abs(x) > 3]
    return [
        reading.about,
        f"{np.median(change[GOODPUT]):+z.2f}",
        f"{min(change[GOODPUT]):+z.1f} to {max(change[GOODPUT]):+z.1f}",
        f"{len(large)} of {len(settings)}",
        f"{sum(x > 0 for x in change[SIGNALS])} of {len(settings)}",
        f"{np.median(change[QUEUE]):+z.1f}",
        f"{100 * drops / max(drops + marks, 1):.0f}",
        f"{timeouts[0]:.0f} → {timeouts[1]:.0f}",
        *(_congested(runs, settings) if network == MULTIPLE else ()),
    ]


def _congested(runs: Runs, settings: list[tuple[Setting, ...]]) -> tuple[str, str]:
    """Return the number of busy links, and of runs whose worst link is gw1–gw2, without ECN."""
    without = [run for off, _ in settings for run in runs.of(off)[:REPLICATIONS]]
    worst = sum(run.first_is_worst for run in without)
    busy = float(np.mean([run.busy_links for run in without]))
    return f"{busy:.1f} of 3", f"{worst} of {len(without)}"


def _change(runs: Runs, measure: Any, off: Setting, ecn: Setting) -> float:
    """Return the change by ECN in %, computed from the replications of the other readings."""
    a, b = (sum(measure.of(run) for run in runs.of(s)[:REPLICATIONS]) for s in (off, ecn))
    return 100 * (b / a - 1) if a else 0.0


def _make(runs: Runs) -> Section:
    section = Section(
        [
            "An eighth of the grid (delay 10 ms, linterm 10, wq 0.002: 16 pairs per network), "
            f"{REPLICATIONS} replications, with one setting changed at a time. If a column stays "
            "nearly constant, its result does not depend on that setting.",
            "FullTcp of ns-2 differs from RFC 6298 in its back-off: any new ACK ends it, and "
            "Karn's rule waits for an ACK of a segment that was sent once. No reading has it. "
            "FullTcp counts a wait "
            "with a window of one segment after ECN-Echo as a response to ECN, not as a "
            "retransmission timeout; here such a wait is a timeout.",
            "The study states that all three links are congested, gw1–gw2 the most. The places of "
            "its nodes are not legible. The last columns have the links that are busy for 90 % of "
            "the time or more in one direction, and the runs in which gw1–gw2 has the most drops "
            "and marks.",
        ]
    )
    head = [
        "Reading", "Goodput, median change (%)", "minimum to maximum", "beyond 3 %", "More signals",
        "Queue, median change (%)", "Drops of signals, 1 MB with ECN (%)", "Timeouts, no ECN → ECN",
    ]  # fmt: skip
    for network in NETWORKS:
        ends = ["Links busy, no ECN", "gw1–gw2 has most signals"] * (network == MULTIPLE)
        rows = [_row(runs, r, network) for r in READINGS if network in dict(r.networks)]
        present = [row for row in rows if row]
        if present:
            name = pairs.NETWORK_NAMES[network].capitalize()
            section.tables.append(Table(f"{name}: ECN against none", [*head, *ends], present))
    for reading in READINGS:
        for network, _ in reading.networks:
            for case in CHOSEN:
                for arm in (OFF, ECN):
                    setting = reading.setting(network, case, arm)
                    if runs.has(setting):
                        columns = {**setting.columns(), "reading": reading.about}
                        section.cells += [
                            Cell.of("readings", columns, m, runs.of(setting)[:REPLICATIONS])
                            for m in (GOODPUT, SIGNALS, QUEUE)
                        ]
    return section


ITEM = Item("readings", "Sensitivity to the assumptions", _needs, _make, scored=False)
