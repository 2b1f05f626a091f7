"""Behaviour of the kernel and of the program ttcp that the scenarios leave out, and its effects.

The sources are public copies of Linux 2.4.17 (net/sched/sch_fifo.c, sch_red.c;
net/ipv4/tcp_input.c, tcp_output.c) and of HTB 3 (net/sched/sch_htb.c). Scenario keys approximate
the behaviour of the kernel and of ttcp, and the results are compared with the published numbers.
The tables of the other items do not include the runs of this item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from aqmlab.report import Entry, Table
from aqmlab.scenario import with_keys
from aqmlab.studies.framework import Cell, Item, Need, Runs, Section, entry
from aqmlab.studies.red_wired_testbed.beside import FIVE, NAMED, setting
from aqmlab.studies.red_wired_testbed.memory import printed_median
from aqmlab.studies.red_wired_testbed.outcomes import ELAPSED, RECEIVED, THIRD, Outcome, measure
from aqmlab.studies.red_wired_testbed.printed import TIME, Row, cell, number, rows
from aqmlab.studies.red_wired_testbed.scenarios import (
    DISCIPLINES,
    LINK_BPS,
    ONE_CLASS,
    TAIL_DROP,
    Beside,
    Three,
)

REPLICATIONS = 10
Scenario = dict[str, Any]


def _pairs(scenario: Scenario) -> None:
    """Change the last link so that it sends two packets at a time, as HTB with hysteresis."""
    link = scenario["network"]["links"][-1]
    link["queue"] = link["queue"]["classes"][-1]["queue"]
    pair_ms = 2 * 1500 * 8 * 1000 / LINK_BPS
    often = [round(pair_ms * (i // 2 + 1)) for i in range(300)]
    link["rate_changes"] = {"kind": "trace", "opportunities": often}
    # One opportunity of the link's trace sends 1500 bytes, so a packet must fit into 1500 bytes.
    scenario["tcp"] = with_keys(scenario["tcp"], {"wire.data_header": "40 B"})


def _late_pairs(scenario: Scenario) -> None:
    """Send packets in pairs, and delay ACKs by up to 40 ms, except for every second segment."""
    _pairs(scenario)
    scenario["tcp"] |= {
        "delayed_ack": "2 segments",
        "ack": {"timeout": "40 ms", "unit": "full-segments", "quick": "2 packets"},
    }


def _each_flow(change: Callable[[Scenario], Scenario]) -> Callable[[Scenario], None]:
    def apply(scenario: Scenario) -> None:
        for flow in scenario["flows"]:
            if flow["traffic"]["kind"] == "bulk":
                flow["traffic"] = change(flow["traffic"])

    return apply


def _writes(bulk: Scenario) -> Scenario:
    """Return traffic with one write of 5840 bytes per ms, which is much faster than the link."""
    count = int(bulk["size"].removesuffix(" B")) // 5840
    return {"kind": "messages", "size": "5840 B", "messages": count, "interval": "1 ms",
            "spacing": "constant"}  # fmt: skip


def _reads(bulk: Scenario) -> Scenario:
    return bulk | {"read_rate": "1 Mbit/s", "read_chunk": "5840 B"}


AS_IT_IS, PAIRS, LATE_PAIRS = (
    "as reproduced",
    "packets in pairs",
    "packets in pairs with delayed ACKs (40 ms)",
)
WRITES, READS = "writes of 5840 bytes", "reads of 5840 bytes at 1 Mbit/s"
CHANGES: dict[str, Callable[[Scenario], None]] = {
    PAIRS: _pairs,
    LATE_PAIRS: _late_pairs,
    WRITES: _each_flow(_writes),
    READS: _each_flow(_reads),
}


@dataclass(frozen=True)
class With:
    """Setting of the study with one behaviour of the kernel or of the program ttcp."""

    base: Three | Beside
    change: str

    def columns(self) -> dict[str, Any]:
        """Return the columns of cells.csv that describe the scenario."""
        return self.base.columns() | {"kernel": self.change}

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication of this setting."""
        scenario = self.base.scenario(replication) | {"record": {"series": []}}
        CHANGES[self.change](scenario)
        return scenario


ONE = tuple(row for row in rows("table8_8.csv") if row["htb_config"] == ONE_CLASS)
SHORT_ONES = tuple(row for row in rows("table8_9.csv") if row["htb_config"] == ONE_CLASS)
THREE = tuple(Three(discipline, start_s) for discipline in DISCIPLINES for start_s in (0.0, 2.0))


def _runs(runs: Runs, base: Three | Beside, change: str) -> list[Outcome]:
    """Return the first replications of a setting, with a change or without."""
    ran: list[Outcome] = runs.of(base if change == AS_IT_IS else With(base, change))
    return ran[:REPLICATIONS]


def _changes() -> Iterator[tuple[Three | Beside, tuple[str, ...]]]:
    yield from ((setting(row), (PAIRS, LATE_PAIRS)) for row in ONE)
    yield from ((setting(row), (PAIRS,)) for row in SHORT_ONES)
    yield from ((at, (WRITES, READS)) for at in THREE)
    yield from ((setting(row), (WRITES, READS)) for row in (*ONE[:2], *SHORT_ONES[:2]))


def _needs() -> Iterator[Need]:
    for at, changes in _changes():
        yield Need(at, at_most=REPLICATIONS, quick=False)
        for change in changes:
            yield Need(With(at, change), at_most=REPLICATIONS, quick=False)


def _elapsed(runs: Runs, row: Row, change: str) -> Cell:
    at = setting(row)
    values = [ELAPSED.of(run) for run in _runs(runs, at, change)]
    columns = at.columns() | {"kernel": change}
    return cell("kernel", columns, "elapsed", "s", "median", values,
                number(row, "elapsed_median_s"), FIVE, again=True)  # fmt: skip


def _received(runs: Runs, row: Row, change: str) -> Cell:
    at = setting(row)
    values = [RECEIVED.of(run) for run in _runs(runs, at, change)]
    columns = at.columns() | {"kernel": change}
    return cell("kernel", columns, "cbr_received", "packets", "median", values,
                number(row, "udp_received_median_packets"), FIVE, again=True)  # fmt: skip


def _third(runs: Runs, at: Three, change: str) -> Cell:
    elapsed = measure(THIRD, "elapsed_time_s")
    values = [elapsed.of(run) for run in _runs(runs, at, change)]
    columns = at.columns() | {"kernel": change, "flow": THIRD}
    return cell("kernel", columns, "elapsed", "s", "median", values, printed_median(at, THIRD),
                TIME, again=True)  # fmt: skip


def _name(row: Row) -> str:
    at = setting(row)
    return f"{at.start_s:g} s, {NAMED[at.classes, at.discipline]}"


def _on_target(section: Section, rows_of_cells: list[list[Cell]], changes: tuple[str, ...]) -> str:
    """Return a text with the number of medians within the tolerance, for each change.

    The cells are appended to the section.
    """
    section.cells += [c for line in rows_of_cells for c in line]
    counts = []
    for i, change in enumerate(changes):
        there = [line[i].on_target for line in rows_of_cells if len(line) > i]
        counts.append(f"{change} {sum(there)} of {len(there)}")
    return f"within the tolerance: {', '.join(counts)}."


def _table(caption: str, first: str, head: list[str], names: list[str],
           cells: list[list[Cell]]) -> Table:  # fmt: skip
    lines: list[list[str | Entry]] = [
        [name, *map(entry, line), *["–"] * (len(head) - len(line))]
        for name, line in zip(names, cells, strict=True)
    ]
    return Table(caption, [first, *head], lines)


def _make(runs: Runs) -> Section:
    if not runs.has(With(setting(ONE[0]), PAIRS)):
        return Section(["The quick form of the study leaves this item out."])
    section = Section([
        f"Our numbers are medians of {REPLICATIONS} replications. The changes in this item "
        "approximate the behaviour of the kernel. The tables of the other items do not include "
        "changes of the kernel's behaviour.",
    ])  # fmt: skip
    changes = (AS_IT_IS, PAIRS, LATE_PAIRS)
    times = [[_elapsed(runs, row, change) for change in changes] for row in ONE]
    packets = [[_received(runs, row, change) for change in changes] for row in ONE]
    section.text.append(
        "HTB of that time has hysteresis: a class that has begun to send continues until its "
        "debt exceeds its burst, and then waits until its debt is 0. Two segments therefore "
        "leave together every 169 ms, and their ACKs trigger the next two segments at once. The "
        "queue stays full until the next two segments leave, so more CBR packets are lost than "
        "if segments left one by one. A link that sends two packets at a time approximates HTB "
        f"with hysteresis. Medians of TCP's elapsed time {_on_target(section, times, changes)} "
        f"Medians of received CBR packets {_on_target(section, packets, changes)}"
    )
    names = [_name(row) for row in ONE]
    section.tables += [
        _table("Test case 1, one class: elapsed time of TCP (s)", "Start of CBR", list(changes),
               names, times),
        _table("Test case 1, one class: received CBR packets", "Start of CBR", list(changes), names,
               packets),
    ]  # fmt: skip
    short = [[_elapsed(runs, row, change) for change in changes[:2]] for row in SHORT_ONES]
    tail = {
        at.start_s: line[-1].ours.value
        for at, line in zip(map(setting, SHORT_ONES), short, strict=True)
        if at.discipline == TAIL_DROP
    }
    section.text.append(
        "In test case 2 of the thesis (Tail Drop, one class), TCP's elapsed time is 3.4 s if the "
        "CBR flow starts after 1 s. The elapsed time is 5 s if the CBR flow starts after 1.5 s. "
        "A timeout could explain the difference of 1.6 s. On the link that sends packets in "
        f"pairs, the elapsed time changes from {tail[1.0]:.1f} to {tail[1.5]:.1f} s. Medians of "
        f"TCP's elapsed time {_on_target(section, short, changes[:2])}"
    )
    section.tables.append(
        _table("Test case 2, one class: elapsed time of TCP (s)", "Start of CBR", list(changes[:2]),
               [_name(row) for row in SHORT_ONES], short)
    )  # fmt: skip
    ttcp = (AS_IT_IS, WRITES, READS)
    third = [[_third(runs, at, change) for change in ttcp] for at in THREE]
    chosen = (*ONE[:2], *SHORT_ONES[:2])
    third += [[_elapsed(runs, row, change) for change in ttcp] for row in chosen]
    section.text.append(
        "The program ttcp writes and reads 5840 bytes at a time, and waits while the send buffer "
        "is full. aqmlab does not support writes that wait for the send buffer. In the runs of "
        "the item `kernel`, the sender writes 5840 bytes per ms, and does not wait for the send "
        f"buffer. Medians of TCP's elapsed time {_on_target(section, third, ttcp)}"
    )
    names = [f"third flow, {at.discipline.replace('_', ' ')}, {at.start_s:g} s" for at in THREE]
    names += [f"test case {row['test_case']}, {_name(row)}" for row in chosen]
    section.tables.append(_table("ttcp: elapsed times (s)", "", list(ttcp), names, third))
    return section


ITEM = Item(
    "kernel", "Behaviour of the kernel that the scenarios leave out", _needs, _make, scored=False
)
