"""Sensitivity of the results to settings that the study leaves open, and to behaviour of ns-2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
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
from aqmlab.studies.framework import Alternative, Cell, Item, Need, Runs, Section

REPLICATIONS = 2
FIXED = {"delay_ms": 10, "linterm": 10, "wq": 0.002}
"""Factor levels of the cases that this item simulates under every interpretation of the study."""


@dataclass(frozen=True)
class Reading:
    """Interpretation of the study: its description and the parameters that it changes."""

    about: str
    red: tuple[tuple[str, Any], ...] = ()
    tcp: tuple[tuple[str, Any], ...] = ()
    networks: tuple[tuple[str, str], ...] = tuple((n, n) for n in NETWORKS)

    def setting(self, network: str, case: Case, arm: str) -> Setting:
        """Return the setting of a case under this interpretation of the study."""
        return Setting(dict(self.networks)[network], case, arm, self.red, self.tcp)


KARN = "the back-off of the timer ends at a round-trip sample (Karn's rule, RFC 6298)"
READINGS = (
    Reading("interpretation that the score counts"),
    Reading("RED marks at any probability, not only below 0.1 (parameter mark_p_ of ns-2)",
            red=(("mark_below", 1.0),)),
    Reading("RED is gentle (default of ns-2 2.26), but the study drops all packets above maxth",
            red=(("gentle", True),)),
    Reading("RED is gentle and marks at any probability",
            red=(("gentle", True), ("mark_below", 1.0))),
    Reading("uniform distances between signals (RED's paper), no wait of 1/p packets (ns-2)",
            red=(("spacing", "uniform"),)),
    Reading("packets of 1492 B including headers",
            tcp=(("mss", "1452 B"), ("receive_window", "29040 B"))),
    Reading("receive window of 64 KB instead of 20 segments", tcp=(("receive_window", "64156 B"),)),
    Reading("receivers acknowledge every second segment (RFC 5681), not each segment (ns-2)",
            tcp=(("delayed_ack", "2 segments"),)),
    Reading("timestamps, which add 12 B per packet and allow round-trip samples after a timeout",
            tcp=(("timestamps", True),)),
    Reading(KARN, tcp=(("rto.backoff_ends", "sample"),)),
    Reading("Karn's rule, and RED is gentle and marks at any probability",
            tcp=(("rto.backoff_ends", "sample"),), red=(("gentle", True), ("mark_below", 1.0))),
    Reading("retransmissions are not ECN-capable, as in RFC 3168 but unlike in ns-2",
            tcp=(("ecn.packets", "new-data"),)),
    Reading("marks leave cwnd at two segments or more (Linux), so senders need not wait",
            tcp=(("ecn.min_window", "2 segments"),)),
    *(
        Reading(f"three links in a star around gw2; host ftp5 is at {five}, host ftp6 at {six}",
                networks=((MULTIPLE, star),))
        for star, (five, six) in STARS.items()
    ),
)  # fmt: skip


def _alternative(reading: Reading) -> Alternative:
    """Return the alternative in which every setting has another interpretation of the study."""
    networks = dict(reading.networks)

    def form(at: object) -> object:
        if not isinstance(at, Setting) or at.red or at.tcp:
            return at
        network = networks.get(at.network, at.network)
        return replace(at, network=network, red=reading.red, tcp=reading.tcp)

    return Alternative(reading.about, form)


ALTERNATIVES = tuple(map(_alternative, READINGS[1:]))
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
    """Return the mean number of busy links, and how many runs have most signals on gw1–gw2."""
    without = [run for off, _ in settings for run in runs.of(off)[:REPLICATIONS]]
    worst = sum(run.first_is_worst for run in without)
    busy = float(np.mean([run.busy_links for run in without]))
    return f"{busy:.1f} of 3", f"{worst} of {len(without)}"


def _change(runs: Runs, measure: Any, off: Setting, ecn: Setting) -> float:
    """Return the change of a measure by ECN in %, over the first replications."""
    a, b = (sum(measure.of(run) for run in runs.of(s)[:REPLICATIONS]) for s in (off, ecn))
    return 100 * (b / a - 1) if a else 0.0


def _make(runs: Runs) -> Section:
    section = Section(
        [
            "Each row of the tables changes one setting. The runs cover an eighth of the grid "
            f"(delay 10 ms, linterm 10, wq 0.002: 16 pairs per network) with {REPLICATIONS} "
            "replications. A result that is nearly equal in all rows does not depend on the "
            "changed settings.",
            "FullTcp of ns-2 ends the back-off of its retransmission timer at any new ACK. By "
            "Karn's rule (RFC 6298), the back-off ends only at an ACK of a segment that was sent "
            "once. Two rows of the tables have the back-off of FullTcp. If cwnd is one segment, "
            "an ECN-Echo makes the sender wait for its timer. FullTcp counts the wait for the "
            "timer as a response to ECN, and aqmlab counts it as a retransmission timeout.",
            "The study states that all three links are congested, and link gw1–gw2 most of all. "
            "The positions of the nodes in the study's figure are not legible. The column “Links "
            "busy, no ECN” counts the links that are busy for at least 90 % of the time in one "
            "direction. The column “gw1–gw2 has most signals” counts the runs in which link "
            "gw1–gw2 has the most drops and marks.",
        ]
    )
    head = [
        "Interpretation", "Goodput, median change (%)", "Goodput, minimum to maximum change (%)",
        "Goodput changes above 3 %", "More signals", "Queue, median change (%)",
        "Drops in % of all signals, 1 MB with ECN", "Timeouts, no ECN → ECN",
    ]  # fmt: skip
    for network in NETWORKS:
        ends = ["Links busy, no ECN", "gw1–gw2 has most signals"] * (network == MULTIPLE)
        rows = [_row(runs, r, network) for r in READINGS if network in dict(r.networks)]
        present = [row for row in rows if row]
        if present:
            name = pairs.NETWORK_NAMES[network].capitalize()
            section.tables.append(
                Table(f"{name}: ECN compared with no ECN", [*head, *ends], present)
            )
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
