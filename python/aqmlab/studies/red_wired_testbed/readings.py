"""Sensitivity of the results to the link rate, the jitter of the hosts and delayed ACKs."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Item, Need, Runs, Section, Tolerance, entry
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
    "as reproduced: 140 × 1024 bit/s, 20 ms": {},
    "140 000 bit/s": {"link_kbit": 140.0},
    "flows start within 1 ms": {"jitter_ms": 1.0},
    "flows start within 100 ms": {"jitter_ms": 100.0},
    "flows start within 300 ms": {"jitter_ms": 300.0},
    "ACKs delayed by 40 ms": {"delayed_ack_ms": 40.0},
    "ACKs delayed by 200 ms": {"delayed_ack_ms": 200.0},
}
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
            "The third flow starts after 2 s. Each row changes one setting of the first row. The "
            "slowest flow ends when all data has passed the link, so its time follows the rate of "
            "the link. The starts affect mainly the third flow, whose time depends on the packets "
            "that meet a full queue. The delay of ACKs sets the time during which a queue that "
            "was full accepts CBR packets."
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
    head = ["Reading", *(f"{d.replace('_', ' ')}: {p}" for d in DISCIPLINES for p in RULES)]
    section.tables.append(Table("Median elapsed times (s)", head, lines))
    section.tables.append(_cbr(runs, section))
    return section


def _cbr(runs: Runs, section: Section) -> Table:
    """Return the effect of delayed ACKs on CBR packets behind a full queue."""
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
    caption = "Test case 1, Tail Drop, one class, CBR after 0 s: delay of ACKs"
    return Table(caption, ["ACKs", ELAPSED.head, RECEIVED.head], lines)


ITEM = Item("readings", "Sensitivity to the assumptions", _needs, _make, scored=False)
