"""What the kernel's source says of the testbed and is not offered here, and how much hangs on it.

Read in public copies of Linux 2.4.17 (net/sched/sch_fifo.c, sch_red.c; net/ipv4/tcp_input.c,
tcp_output.c) and of HTB 3 (net/sched/sch_htb.c). Each is brought near by what a scenario has, and
set beside what was printed; the tables of the study are without.
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


def _pairs(made: Scenario) -> None:
    """Let two packets of 1500 bytes go at a time, where HTB with hysteresis lets two segments."""
    link = made["network"]["links"][-1]
    link["queue"] = link["queue"]["classes"][-1]["queue"]
    pair_ms = 2 * 1500 * 8 * 1000 / LINK_BPS
    often = [round(pair_ms * (i // 2 + 1)) for i in range(300)]
    link["rate_changes"] = {"kind": "trace", "opportunities": often}
    # A segment is one opportunity of the trace.
    made["tcp"] = with_keys(made["tcp"], {"wire.data_header": "40 B"})


def _late_pairs(made: Scenario) -> None:
    """Besides, delay ACKs by 40 ms, but for every second segment."""
    _pairs(made)
    made["tcp"] |= {
        "delayed_ack": "2 segments",
        "ack": {"timeout": "40 ms", "unit": "full-segments", "quick": "2 packets"},
    }


def _each_flow(change: Callable[[Scenario], Scenario]) -> Callable[[Scenario], None]:
    def made(scenario: Scenario) -> None:
        for flow in scenario["flows"]:
            if flow["traffic"]["kind"] == "bulk":
                flow["traffic"] = change(flow["traffic"])

    return made


def _writes(bulk: Scenario) -> Scenario:
    """Write 5840 bytes a millisecond, ten times what the fastest link here would take."""
    count = int(bulk["size"].removesuffix(" B")) // 5840
    return {"kind": "messages", "size": "5840 B", "messages": count, "interval": "1 ms",
            "spacing": "constant"}  # fmt: skip


def _reads(bulk: Scenario) -> Scenario:
    return bulk | {"read_rate": "1 Mbit/s", "read_chunk": "5840 B"}


AS_IT_IS, PAIRS, LATE_PAIRS = "as reproduced", "in pairs", "in pairs with ACKs after 40 ms"
WRITES, READS = "writes of 5840 bytes", "reads of 5840 bytes at 1 Mbit/s"
CHANGES: dict[str, Callable[[Scenario], None]] = {
    PAIRS: _pairs,
    LATE_PAIRS: _late_pairs,
    WRITES: _each_flow(_writes),
    READS: _each_flow(_reads),
}


@dataclass(frozen=True)
class With:
    """A scenario of the study with one thing as the kernel, or ttcp, had it."""

    base: Three | Beside
    change: str

    def columns(self) -> dict[str, Any]:
        """Return the scenario columns of cells.csv."""
        return self.base.columns() | {"kernel": self.change}

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication."""
        made = self.base.scenario(replication) | {"record": {"series": []}}
        CHANGES[self.change](made)
        return made


ONE = tuple(row for row in rows("table8_8.csv") if row["htb_config"] == ONE_CLASS)
SHORT_ONES = tuple(row for row in rows("table8_9.csv") if row["htb_config"] == ONE_CLASS)
THREE = tuple(Three(discipline, start_s) for discipline in DISCIPLINES for start_s in (0.0, 2.0))


def _runs(runs: Runs, base: Three | Beside, change: str) -> list[Outcome]:
    """Return the same replications of a scenario, with a change or without."""
    found: list[Outcome] = runs.of(base if change == AS_IT_IS else With(base, change))
    return found[:REPLICATIONS]


def _asked() -> Iterator[tuple[Three | Beside, tuple[str, ...]]]:
    yield from ((setting(row), (PAIRS, LATE_PAIRS)) for row in ONE)
    yield from ((setting(row), (PAIRS,)) for row in SHORT_ONES)
    yield from ((at, (WRITES, READS)) for at in THREE)
    yield from ((setting(row), (WRITES, READS)) for row in (*ONE[:2], *SHORT_ONES[:2]))


def _needs() -> Iterator[Need]:
    for at, changes in _asked():
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


def _good(section: Section, found: list[list[Cell]], changes: tuple[str, ...]) -> str:
    """Return how many of each change are on target, and keep the cells."""
    section.cells += [c for line in found for c in line]
    told = []
    for i, change in enumerate(changes):
        there = [line[i].on_target for line in found if len(line) > i]
        told.append(f"{change} {sum(there)} of {len(there)}")
    return f"on target: {', '.join(told)}."


def _table(caption: str, first: str, head: list[str], names: list[str],
           found: list[list[Cell]]) -> Table:  # fmt: skip
    lines: list[list[str | Entry]] = [
        [name, *map(entry, line), *["–"] * (len(head) - len(line))]
        for name, line in zip(names, found, strict=True)
    ]
    return Table(caption, [first, *head], lines)


def _make(runs: Runs) -> Section:
    if not runs.has(With(setting(ONE[0]), PAIRS)):
        return Section(["Not in the quick form."])
    section = Section([
        f"Ours are the medians of {REPLICATIONS} replications; the tables above do not have these "
        "changes, which only come near to what the kernel did.",
    ])  # fmt: skip
    changes = (AS_IT_IS, PAIRS, LATE_PAIRS)
    times = [[_elapsed(runs, row, change) for change in changes] for row in ONE]
    packets = [[_received(runs, row, change) for change in changes] for row in ONE]
    section.text.append(
        "HTB of that time has a hysteresis: a class that may send goes on until it owes more than "
        "its burst, and then waits until it owes nothing. So two segments leave together every 169 "
        "ms, their ACKs bring the next ones at once, and the queue is full until then: that is the "
        "less room for CBR packets. Here a link that takes two packets at a time stands for it. "
        f"TCP {_good(section, times, changes)} CBR packets {_good(section, packets, changes)}"
    )
    names = [_name(row) for row in ONE]
    section.tables += [
        _table("Test case 1, one class: TCP, elapsed time (s)", "CBR after", list(changes), names,
               times),
        _table("Test case 1, one class: CBR packets received", "CBR after", list(changes), names,
               packets),
    ]  # fmt: skip
    short = [[_elapsed(runs, row, change) for change in changes[:2]] for row in SHORT_ONES]
    tail = {
        at.start_s: line[-1].ours.value
        for at, line in zip(map(setting, SHORT_ONES), short, strict=True)
        if at.discipline == TAIL_DROP
    }
    section.text.append(
        "With Tail Drop in one class the thesis has a jump in test case 2, from 3.4 to 5 s between "
        "CBR after 1 and 1.5 s, as a timeout makes it. On the link in pairs it goes from "
        f"{tail[1.0]:.1f} to {tail[1.5]:.1f} s. TCP {_good(section, short, changes[:2])}"
    )
    section.tables.append(
        _table("Test case 2, one class: TCP, elapsed time (s)", "CBR after", list(changes[:2]),
               [_name(row) for row in SHORT_ONES], short)
    )  # fmt: skip
    ttcp = (AS_IT_IS, WRITES, READS)
    third = [[_third(runs, at, change) for change in ttcp] for at in THREE]
    chosen = (*ONE[:2], *SHORT_ONES[:2])
    third += [[_elapsed(runs, row, change) for change in ttcp] for row in chosen]
    section.text.append(
        "ttcp writes and reads 5840 bytes at a time. Writes that wait for room in the sender's "
        "buffer are not offered; here they come once a millisecond. TCP "
        f"{_good(section, third, ttcp)}"
    )
    names = [f"third flow, {at.discipline.replace('_', ' ')}, {at.start_s:g} s" for at in THREE]
    names += [f"test case {row['test_case']}, {_name(row)}" for row in chosen]
    section.tables.append(_table("ttcp: elapsed times (s)", "", list(ttcp), names, third))
    return section


ITEM = Item("kernel", "What the kernel did that is not offered here", _needs, _make, scored=False)
