"""Effect of the link rate, the jitter of the hosts, and delayed ACKs on the results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Alternative, Cell, Item, Need, Runs, Section, Tolerance, entry
from aqmlab.studies.red_wired_testbed.beside import FIVE
from aqmlab.studies.red_wired_testbed.memory import printed_median
from aqmlab.studies.red_wired_testbed.outcomes import (
    ELAPSED,
    FASTEST,
    RECEIVED,
    SLOWEST,
    THIRD,
    measure,
)
from aqmlab.studies.red_wired_testbed.printed import cell, estimate, number, rows
from aqmlab.studies.red_wired_testbed.scenarios import (
    DISCIPLINES,
    LONG,
    ONE_CLASS,
    TAIL_DROP,
    Beside,
    Three,
)

START_S = 2.0
READINGS: dict[str, dict[str, float]] = {
    "settings that the score counts: link rate of 140 × 1024 bit/s, starts within 20 ms": {},
    "link rate of 140 000 bit/s": {"link_kbit": 140.0},
    "starts of the flows within 1 ms": {"jitter_ms": 1.0},
    "starts of the flows within 100 ms": {"jitter_ms": 100.0},
    "starts of the flows within 300 ms": {"jitter_ms": 300.0},
    "delayed ACKs with a timer of 40 ms": {"delayed_ack_ms": 40.0},
    "delayed ACKs with a timer of 200 ms": {"delayed_ack_ms": 200.0},
}


def _alternative(about: str, changes: dict[str, float]) -> Alternative:
    """Return the alternative in which every setting has other values of the fields in `changes`."""

    def form(at: object) -> object:
        if not isinstance(at, Three | Beside):
            return at
        own = {key: value for key, value in changes.items() if hasattr(at, key)}
        return replace(at, **own)  # type: ignore[arg-type]

    return Alternative(about, form)


ALTERNATIVES = tuple(_alternative(*reading) for reading in READINGS.items() if reading[1])
DELAYS_MS = (0.0, 40.0, 200.0)
RULES = {SLOWEST: 0.03, FASTEST: 0.10, THIRD: 0.10}


def _of(reading: str, discipline: str) -> Three:
    return Three(discipline, START_S, **READINGS[reading])  # type: ignore[arg-type]


def _beside(delayed_ms: float) -> Beside:
    return Beside(LONG, TAIL_DROP, ONE_CLASS, delayed_ack_ms=delayed_ms)


def _needs() -> Iterator[Need]:
    for reading in READINGS:
        for discipline in DISCIPLINES:
            yield Need(_of(reading, discipline), quick=not READINGS[reading])
    for delayed_ms in DELAYS_MS:
        yield Need(_beside(delayed_ms), quick=not delayed_ms)


def _make(runs: Runs) -> Section:
    section = Section(
        [
            "In the first table the third flow starts after 2 s, and each row changes one setting "
            "of the first row. The slowest flow ends when all data has left the link, so its "
            "elapsed time depends on the link rate. The start times affect mainly the third flow, "
            "whose elapsed time depends on which of its packets arrive at a full queue. The "
            "second table of this item shows the effect of delayed ACKs on CBR packets. When a "
            "full queue sends a segment, it can accept CBR packets until the sender's next "
            "segment arrives, and delayed ACKs make the time until the next segment longer."
        ]
    )
    lines: list[list[str | Entry]] = []
    for reading in READINGS:
        cells = []
        for discipline in DISCIPLINES:
            at = _of(reading, discipline)
            if not runs.has(at):
                continue
            for place, share in RULES.items():
                elapsed = measure(place, "elapsed_time_s")
                ours = estimate("median", [elapsed.of(run) for run in runs.of(at)])
                columns = at.columns() | {"flow": place}
                cells.append(
                    Cell("readings", columns, "elapsed_median", "s", ours,
                         printed_median(at, place), Tolerance.larger_of(0, share), again=True)
                )  # fmt: skip
        if cells:
            section.cells += cells
            lines.append([reading, *map(entry, cells)])
    head = [
        "Interpretation",
        *(f"{d.replace('_', ' ')}: {p} flow" for d in DISCIPLINES for p in RULES),
    ]
    section.tables.append(Table("Median elapsed times (s)", head, lines))
    section.tables.append(_cbr(runs, section))
    return section


def _cbr(runs: Runs, section: Section) -> Table:
    """Return a table with the effect of delayed ACKs on the loss of CBR packets."""
    row = next(r for r in rows("table8_8.csv") if r["discipline"] == TAIL_DROP)
    lines: list[list[str | Entry]] = []
    for delayed_ms in DELAYS_MS:
        at = _beside(delayed_ms)
        if not runs.has(at):
            continue
        cells = [
            cell("readings", at.columns(), read.name, read.unit, "median",
                 [read.of(run) for run in runs.of(at)], number(row, column), FIVE, again=True)
            for read, column in ((ELAPSED, "elapsed_median_s"),
                                 (RECEIVED, "udp_received_median_packets"))
        ]  # fmt: skip
        section.cells += cells
        lines.append([f"{delayed_ms:g} ms" if delayed_ms else "at once", *map(entry, cells)])
    caption = "Effect of the ACK delay in test case 1 (Tail Drop, one class, start of CBR at 0 s)"
    return Table(caption, ["ACKs", ELAPSED.head, RECEIVED.head], lines)


ITEM = Item("readings", "Sensitivity to the assumptions", _needs, _make, scored=False)
