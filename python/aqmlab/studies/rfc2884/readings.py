"""Sensitivity of the observations to the settings that the memo leaves open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from aqmlab import estimates
from aqmlab.estimates import Estimate
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Item, Need, Runs, Section
from aqmlab.studies.rfc2884 import bulk, transactions
from aqmlab.studies.rfc2884.gains import growth, percent, with_interval
from aqmlab.studies.rfc2884.outcomes import Outcome
from aqmlab.studies.rfc2884.scenarios import (
    AS_READ,
    HIGH,
    LOW,
    MODERATE,
    RENO,
    SACK,
    Reading,
    Setting,
)

FILE = 5 * 2**20
"""Bulk transfers of readings are a quarter as long, so that many readings are affordable."""
BULK_REPLICATIONS, REPLICATIONS = 3, 5

READINGS = (
    AS_READ,
    Reading("minth 5, maxth 15 packets", red=(("minth", "5 packets"), ("maxth", "15 packets"))),
    Reading("minth 10, maxth 30 packets", red=(("minth", "10 packets"), ("maxth", "30 packets"))),
    Reading("minth 20, maxth 60 packets", red=(("minth", "20 packets"), ("maxth", "60 packets"))),
    Reading("wq 0.02, not 0.002", red=(("wq", 0.02),)),
    Reading("drops at geometric distances, not uniform ones", red=(("spacing", "geometric"),)),
    Reading("20 ms are the round trip, not one way", delay_ms=10),
    Reading("100 ms one way", delay_ms=100),
    Reading("SYN-ACKs are ECN-capable too", tcp=(("ecn.packets", "all-packets"),)),
    Reading("a lost SYN-ACK is sent again after 1 s, not 3 s", tcp=(("rto.initial", "1 s"),)),
    Reading("least timeout of 1 s, not 200 ms", tcp=(("rto.min", "1 s"),)),
    Reading("a mark may leave one segment, not two", tcp=(("ecn.min_window", "1 packet"),)),
    Reading("each segment is acknowledged", tcp=(("delayed_ack", "1 segment"),)),
    Reading("initial window of 4 segments", tcp=(("initial_window", "4 segments"),)),
    Reading("the client closes, not the server", traffic=(("closes", "client"),)),
)


@dataclass(frozen=True)
class Question:
    """An observation of the memo as a number that should be above 0, and its settings."""

    about: str
    settings: tuple[Setting, ...]
    compute: Callable[[Runs, tuple[Setting, ...]], Estimate]

    def of(self, runs: Runs, reading: Reading) -> Estimate:
        """Return the observation's number under a reading of the memo."""
        return self.compute(runs, tuple(read(at, reading) for at in self.settings))


def read(at: Setting, reading: Reading) -> Setting:
    """Return a setting under a reading."""
    return replace(at, reading=reading)


def _values(runs: Runs, at: Setting) -> list[float]:
    most = BULK_REPLICATIONS if at.kind == "bulk" else REPLICATIONS
    return percent(runs, at)[:most]


def _gain(runs: Runs, settings: tuple[Setting, ...]) -> Estimate:
    return estimates.mean(_values(runs, settings[0]))


def _grows(runs: Runs, settings: tuple[Setting, ...]) -> Estimate:
    first, last = (_values(runs, at) for at in settings)
    return growth(last, first)


def transfer(congesting: int, maxp: float, tcp: str = RENO) -> Setting:
    """Return the setting of a bulk transfer, with a quarter of the file size."""
    return replace(bulk.setting(congesting, maxp, tcp), size=FILE)


QUESTIONS = (
    Question("bulk: ECN gains (low congestion, maxp 0.1)", (transfer(LOW, 0.1),), _gain),
    Question("bulk: ECN gains (high, 0.1)", (transfer(HIGH, 0.1),), _gain),
    Question("bulk: grows with congestion", (transfer(LOW, 0.1), transfer(HIGH, 0.1)), _grows),
    Question("bulk: grows with maxp", (transfer(HIGH, 0.02), transfer(HIGH, 0.5)), _grows),
    Question("bulk: Reno gains more than SACK (high, 0.1)",
             (transfer(HIGH, 0.1, SACK), transfer(HIGH, 0.1)), _grows),
    Question("5 KB: ECN gains (moderate, 0.1)", (transactions.setting(MODERATE, 0.1),), _gain),
    Question("5 KB: ECN gains (high, 0.1)", (transactions.setting(HIGH, 0.1),), _gain),
    Question("5 KB: grows with congestion",
             (transactions.setting(MODERATE, 0.1), transactions.setting(HIGH, 0.1)), _grows),
    Question("5 KB: grows with maxp",
             (transactions.setting(HIGH, 0.02), transactions.setting(HIGH, 0.5)), _grows),
    Question("5 KB gain more than 20 KB (high, 0.1)",
             (transactions.setting(HIGH, 0.1, RENO, 20), transactions.setting(HIGH, 0.1)), _grows),
)  # fmt: skip
"""The memo's observations; each number is in percentage points."""

EVERY = tuple(dict.fromkeys(at for question in QUESTIONS for at in question.settings))


def _needs() -> Iterator[Need]:
    for reading in READINGS:
        for at in EVERY:
            few = BULK_REPLICATIONS if at.kind == "bulk" else REPLICATIONS
            yield Need(read(at, reading), at_most=few, quick=False)


def _timeouts(runs: Runs, reading: Reading) -> str:
    """Return the share of the non-ECN transfer's retransmissions by timeout, in %."""
    shares = []
    for congesting in (LOW, HIGH):
        ran: list[Outcome] = runs.of(read(transfer(congesting, 0.1), reading))
        resent, fast = (
            float(np.mean([getattr(r.off, k) for r in ran])) for k in ("resent", "fast")
        )
        shares.append(f"{100 * (1 - fast / resent):.0f}" if resent else "–")
    return " → ".join(shares)


def _region(runs: Runs, reading: Reading) -> str:
    """Return the minimum share of time in RED's region, over the settings."""
    shares = [float(np.mean([r.shares.inside for r in runs.of(read(at, reading))])) for at in EVERY]
    return f"{100 * min(shares):.0f}"


def _make(runs: Runs) -> Section:
    if not runs.has(read(EVERY[0], READINGS[1])):
        return Section(["The quick form has no other readings."])
    section = Section(
        [
            "Each row changes one setting of the first row. Each number is in percentage points of "
            "the relative advantage, with its 95 % interval, and is above 0 if the memo's "
            "observation holds. Green: the interval is above 0; red: below; no colour: it "
            "contains 0. A column whose colour changes depends on that assumption. The TCP is "
            f"Reno unless stated. Bulk transfers have 5 MB here and {BULK_REPLICATIONS} "
            f"replications, transactions have {REPLICATIONS} replications.",
            "The last columns have the non-ECN transfer's share of retransmissions by timeout, as "
            "the memo counts, at low and at high congestion, and the minimum share of time with "
            "RED's average between the thresholds in any of these runs.",
        ]
    )
    rows: list[list[str | Entry]] = []
    for reading in READINGS:
        row: list[str | Entry] = [reading.about]
        for question in QUESTIONS:
            of = question.of(runs, reading)
            row.append(with_interval(of))
            columns: dict[str, object] = {"reading": reading.about, "question": question.about}
            section.cells.append(
                Cell("readings", columns, "should_be_above_0", "percentage points", of)
            )
        rows.append([*row, _timeouts(runs, reading), _region(runs, reading)])
    head = ["Reading", *(question.about for question in QUESTIONS),
            "By timeout (%), low → high", "Least time in the region (%)"]  # fmt: skip
    section.tables.append(Table("The observations under other readings", head, rows))
    section.text += _summary(runs)
    return section


def _summary(runs: Runs) -> list[str]:
    """Return a sentence per observation on the readings that leave the observation open."""
    sentences = []
    for question in QUESTIONS:
        by_reading = {reading.about: question.of(runs, reading) for reading in READINGS}
        without = [about for about, e in by_reading.items() if e.low <= 0 <= e.high]
        turned = [about for about, e in by_reading.items() if e.high < 0]
        shows = sum(e.low > 0 for e in by_reading.values())
        parts = [f"{question.about}: above 0 in {shows} of {len(by_reading)} readings"]
        if without:
            parts.append("open in " + ("most" if len(without) > 6 else "; ".join(without)))
        if turned:
            parts.append("reversed by " + "; ".join(turned))
        sentences.append(". ".join(parts) + ".")
    return sentences


ITEM = Item("readings", "Sensitivity to the assumptions", _needs, _make, scored=False)
