"""Effect of settings that the memo leaves open on the memo's observations.

The first table changes one setting at a time. Two further tables change two settings together: an
ECN-capable SYN-ACK with each other interpretation, for transactions, and the thresholds with the
minimum timeout, for bulk transfers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from aqmlab import estimates
from aqmlab.estimates import Estimate, number
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Alternative, Cell, Item, Need, Runs, Section
from aqmlab.studies.rfc2884 import bulk, transactions
from aqmlab.studies.rfc2884.gains import growth, percent, with_interval
from aqmlab.studies.rfc2884.outcomes import Outcome
from aqmlab.studies.rfc2884.scenarios import (
    AS_READ,
    BULK,
    HIGH,
    KB,
    LEVELS,
    LOW,
    MODERATE,
    RENO,
    SACK,
    SYN_ACK,
    THRESHOLDS,
    Reading,
    Setting,
)

FILE = 5 * 2**20
"""Bytes of a bulk transfer: a quarter of the 20 MB in the memo, to reduce the computing time."""
BULK_REPLICATIONS, REPLICATIONS, PAIRS = 3, 5, 2
"""Numbers of replications of bulk transfers and of transactions, and the factor by which settings
in the tables with two changed settings have more replications."""


def thresholds(minth: int) -> Reading:
    """Return an interpretation with another minth in packets; maxth is three times minth."""
    return Reading(f"minth {minth}, maxth {3 * minth} packets", thresholds=(minth, 3 * minth))


MIN_TIMEOUT = Reading("minimum timeout of 1 s instead of 200 ms", tcp=(("rto.min", "1 s"),))
WEIGHT = Reading(
    "wq 1/8, from the burst that tc recommends, instead of 0.002", red=(("wq", 0.125),)
)
"""Interpretation with the weight of Linux's `tc`, for minth 7, maxth 21 and a burst of 11."""
BY_LEVEL = Reading("thresholds tuned for each level of congestion", by_level=True)
SHORT_DELAY = Reading("delay of 20 ms per round trip instead of one way", delay_ms=10)
FIRST_TIMEOUT = Reading(
    "retransmission of a lost SYN-ACK after 1 s instead of 3 s", tcp=(("rto.initial", "1 s"),)
)

READINGS = (
    AS_READ,
    thresholds(5),
    thresholds(10),
    thresholds(20),
    BY_LEVEL,
    WEIGHT,
    SHORT_DELAY,
    SYN_ACK,
    FIRST_TIMEOUT,
    MIN_TIMEOUT,
    Reading(
        "marks reduce cwnd to at least one segment instead of two",
        tcp=(("ecn.min_window", "1 packet"),),
    ),
    Reading("receivers acknowledge each segment", tcp=(("delayed_ack", "1 segment"),)),
    Reading("initial window of 4 segments", tcp=(("initial_window", "4 segments"),)),
    Reading(
        "the next transaction starts when both ends have closed, not at the server's FIN",
        next_after="closing",
    ),
)


@dataclass(frozen=True)
class Question:
    """Observation of the memo as a number, which is above 0 if the observation is reproduced."""

    about: str
    settings: tuple[Setting, ...]
    compute: Callable[[Runs, tuple[Setting, ...]], Estimate]

    def of(self, runs: Runs, reading: Reading) -> Estimate:
        """Compute the observation as a number, for one interpretation of the memo."""
        return self.compute(runs, tuple(read(at, reading) for at in self.settings))


def read(at: Setting, reading: Reading) -> Setting:
    """Return a setting under an interpretation of the memo."""
    return replace(at, reading=reading)


def _alternative(reading: Reading) -> Alternative:
    """Return the alternative in which every setting has another interpretation of the memo."""

    def form(at: object) -> object:
        return read(at, reading) if isinstance(at, Setting) and at.reading == AS_READ else at

    return Alternative(reading.about, form)


ALTERNATIVES = tuple(map(_alternative, READINGS[1:]))


def _few(at: Setting) -> int:
    return BULK_REPLICATIONS if at.kind == BULK else REPLICATIONS


def _values(runs: Runs, at: Setting, factor: int = 1) -> list[float]:
    return percent(runs, at)[: factor * _few(at)]


def _gain(runs: Runs, settings: tuple[Setting, ...]) -> Estimate:
    return estimates.mean(_values(runs, settings[0]))


def _grows(runs: Runs, settings: tuple[Setting, ...]) -> Estimate:
    first, last = (_values(runs, at) for at in settings)
    return growth(last, first)


def transfer(congesting: int, maxp: float, tcp: str = RENO) -> Setting:
    """Return the setting of a bulk transfer, with a quarter of the file size."""
    return replace(bulk.setting(congesting, maxp, tcp), size=FILE)


QUESTIONS = (
    Question("bulk: gain of ECN at low congestion, maxp 0.1", (transfer(LOW, 0.1),), _gain),
    Question("bulk: gain of ECN at high congestion, maxp 0.1", (transfer(HIGH, 0.1),), _gain),
    Question("bulk: growth of the gain with congestion",
             (transfer(LOW, 0.1), transfer(HIGH, 0.1)), _grows),
    Question("bulk: growth of the gain with maxp",
             (transfer(HIGH, 0.02), transfer(HIGH, 0.5)), _grows),
    Question("bulk: gain with Reno minus gain with SACK, high congestion",
             (transfer(HIGH, 0.1, SACK), transfer(HIGH, 0.1)), _grows),
    Question("5 KB: gain of ECN at moderate congestion, maxp 0.1",
             (transactions.setting(MODERATE, 0.1),), _gain),
    Question("5 KB: gain of ECN at high congestion, maxp 0.1",
             (transactions.setting(HIGH, 0.1),), _gain),
    Question("5 KB: growth of the gain with congestion",
             (transactions.setting(MODERATE, 0.1), transactions.setting(HIGH, 0.1)), _grows),
    Question("5 KB: growth of the gain with maxp",
             (transactions.setting(HIGH, 0.02), transactions.setting(HIGH, 0.5)), _grows),
    Question("5 KB: gain minus gain of 20 KB, high congestion",
             (transactions.setting(HIGH, 0.1, RENO, 20), transactions.setting(HIGH, 0.1)), _grows),
)  # fmt: skip
"""Observations of the memo, as numbers in percentage points."""

EVERY = tuple(dict.fromkeys(at for question in QUESTIONS for at in question.settings))

WITH_SYN_ACK = (
    AS_READ, thresholds(5), thresholds(10), thresholds(20), BY_LEVEL, WEIGHT, SHORT_DELAY,
    MIN_TIMEOUT, FIRST_TIMEOUT,
)  # fmt: skip
"""Interpretations that are tested without and with ECN-capable SYN-ACKs."""
SHORT = (
    transactions.setting(MODERATE, 0.1), transactions.setting(HIGH, 0.1),
    transactions.setting(HIGH, 0.02), transactions.setting(HIGH, 0.5),
    transactions.setting(HIGH, 0.1, RENO, 20),
)  # fmt: skip
"""Settings of transactions in the table of ECN-capable SYN-ACKs."""
MINTHS = (7, 10, 15, 20)
"""Values of minth in the table of thresholds and minimum timeouts."""
LONG = tuple(transfer(n, maxp, tcp) for tcp, n, maxp in bulk.PRINTED)
"""Settings of bulk transfers in the table of thresholds and minimum timeouts."""
SYN_ACKS, TIMEOUTS = (AS_READ, SYN_ACK), (AS_READ, MIN_TIMEOUT)
SYN_ACK_PAIRS = "Gain of ECN (%) without → with ECN-capable SYN-ACKs, Reno"
TIMEOUT_PAIRS = "Gain of ECN (%) for bulk transfers of 5 MB, by thresholds and minimum timeout"
"""Captions of the tables with two changed settings."""


def together(a: Reading, b: Reading) -> Reading:
    """Return an interpretation with the changes of `a`, and with the TCP parameters of `b`."""
    if AS_READ in (a, b):
        return a if b == AS_READ else b
    return replace(a, about=f"{a.about}; {b.about}", tcp=(*a.tcp, *b.tcp))


def _pair(minth: int, timeout: Reading) -> Reading:
    return together(AS_READ if minth == THRESHOLDS[0] else thresholds(minth), timeout)


def _needs() -> Iterator[Need]:
    for reading in READINGS:
        yield from (Need(read(at, reading), at_most=_few(at), quick=False) for at in EVERY)
    pairs = [(at, together(r, s)) for at in SHORT for r in WITH_SYN_ACK for s in SYN_ACKS]
    pairs += [(at, _pair(minth, t)) for at in LONG for minth in MINTHS for t in TIMEOUTS]
    for at, reading in pairs:
        yield Need(read(at, reading), at_most=PAIRS * _few(at), quick=False)


def _timeouts(runs: Runs, reading: Reading) -> str:
    """Return the share of the non-ECN transfer's retransmissions that follow a timeout, in %."""
    shares = []
    for congesting in (LOW, HIGH):
        ran: list[Outcome] = runs.of(read(transfer(congesting, 0.1), reading))
        resent, fast = (
            float(np.mean([getattr(r.off, k) for r in ran])) for k in ("resent", "fast")
        )
        shares.append(f"{100 * (1 - fast / resent):.0f}" if resent else "–")
    return " → ".join(shares)


def _region(runs: Runs, reading: Reading) -> str:
    """Return the minimum share of time with RED's average in its region, over all settings."""
    shares = [float(np.mean([r.shares.inside for r in runs.of(read(at, reading))])) for at in EVERY]
    return f"{100 * min(shares):.0f}"


def _make(runs: Runs) -> Section:
    if not runs.has(read(EVERY[0], READINGS[1])):
        return Section(["The quick form leaves out other interpretations of the memo."])
    section = Section(
        [
            "Each row of the first table changes one setting of its first row. Each number is a "
            "relative advantage of ECN, or a difference of two relative advantages, in percentage "
            "points, with its 95 % interval. A number above 0 means that the interpretation in the "
            "row reproduces "
            "the observation in the column. An entry is green if its interval is above 0, red if "
            "its interval is below 0, and has no colour if its interval contains 0. If the "
            "colours of a column differ, the observation depends on the changed settings. The "
            "TCP is Reno if the column does not name SACK. Bulk transfers in this table have 5 "
            f"MB and {BULK_REPLICATIONS} replications, and transactions have {REPLICATIONS} "
            "replications.",
            "The second to last column has the non-ECN transfer's share of retransmissions by "
            "timeout, counted as in the memo, at low and at high congestion. For each setting, "
            "we compute the share of time in which RED's average is between the thresholds. The "
            "last column has the minimum of the shares of all settings.",
            f"The last two tables change two settings together, with {PAIRS} times as many "
            "replications. In the table of transactions, each "
            "entry has the gain without and with ECN-capable SYN-ACKs. In the table of bulk "
            "transfers, each row has a pair of thresholds and a minimum timeout.",
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
    head = ["Interpretation", *(question.about for question in QUESTIONS),
            "Retransmissions by timeout (%), low → high congestion",
            "Minimum share of time in RED's region (%)"]  # fmt: skip
    section.tables.append(
        Table("The observations under other interpretations of the memo", head, rows)
    )
    section.text += _summary(runs)
    section.tables += [_syn_ack_pairs(runs, section), _timeout_pairs(runs, section)]
    return section


def _cell(section: Section, runs: Runs, at: Setting, reading: Reading) -> Estimate:
    """Return a gain in %, and store it as a cell."""
    here = read(at, reading)
    of = estimates.mean(_values(runs, here, PAIRS))
    section.cells.append(Cell("readings", here.columns(), "relative_advantage_of_ecn", "%", of))
    return of


def _syn_ack_pairs(runs: Runs, section: Section) -> Table:
    """Return the gains of transactions under each interpretation, for both SYN-ACKs."""
    rows: list[list[str | Entry]] = []
    for reading in WITH_SYN_ACK:
        row: list[str | Entry] = [reading.about]
        for at in SHORT:
            ours = [_cell(section, runs, at, together(reading, syn_ack)) for syn_ack in SYN_ACKS]
            text = " → ".join(f"{of.value:+.0f}" for of in ours)
            row.append(Entry(text, "\n".join(f"{of.low:+.0f} to {of.high:+.0f}" for of in ours)))
        rows.append(row)
    printed = ["published", *(_published(transactions.published(at)) for at in SHORT)]
    head = ["Interpretation", *(_name(at) for at in SHORT)]
    return Table(SYN_ACK_PAIRS, head, [printed, *rows])


def _timeout_pairs(runs: Runs, section: Section) -> Table:
    """Return the gains of bulk transfers, by thresholds and minimum timeout."""
    rows: list[list[str | Entry]] = []
    for minth in MINTHS:
        for timeout, about in zip(TIMEOUTS, ("200 ms", "1 s"), strict=True):
            reading = _pair(minth, timeout)
            row: list[str | Entry] = [f"minth {minth}, maxth {3 * minth}; {about}"]
            row += [with_interval(_cell(section, runs, at, reading), kind="") for at in LONG]
            rows.append([*row, _timeouts(runs, reading)])
    printed = [bulk.PRINTED[at.tcp, at.congesting, at.maxp] for at in LONG]
    first = ["published", *map(_published, printed), "hardly any"]
    head = ["Thresholds (packets); minimum timeout", *(_name(at) for at in LONG),
            "Reno: retransmissions by timeout (%), low → high congestion"]  # fmt: skip
    return Table(TIMEOUT_PAIRS, head, [first, *rows])


def _published(printed: float | None) -> str:
    return "–" if printed is None else f"{printed:+.0f}"


def _name(at: Setting) -> str:
    size = f"{at.size // KB} KB" if at.kind != BULK else at.tcp
    return f"{size}, {LEVELS[at.congesting]}, maxp {number(at.maxp)}"


def _summary(runs: Runs) -> list[str]:
    """Return one sentence per observation, with the interpretations that do not reproduce it."""
    sentences = []
    for question in QUESTIONS:
        by_reading = {reading.about: question.of(runs, reading) for reading in READINGS}
        without = [about for about, e in by_reading.items() if e.low <= 0 <= e.high]
        turned = [about for about, e in by_reading.items() if e.high < 0]
        shows = sum(e.low > 0 for e in by_reading.values())
        parts = [f"{question.about}: above 0 under {shows} of {len(by_reading)} interpretations"]
        if without:
            parts.append(
                "not significant under " + ("most" if len(without) > 6 else "; ".join(without))
            )
        if turned:
            parts.append("below 0 under " + "; ".join(turned))
        sentences.append(". ".join(parts) + ".")
    return sentences


ITEM = Item("readings", "Sensitivity to the assumptions", _needs, _make, scored=False)
