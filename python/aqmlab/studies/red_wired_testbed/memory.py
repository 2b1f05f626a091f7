"""Hosts that remember ssthresh between replications: evidence, and effect on the results.

When a connection ends in congestion avoidance, Linux 2.4 stores its ssthresh in the route cache,
and later connections to the same destination start with this ssthresh (`sarolahti2002linux`). The
thesis does not mention that hosts remember ssthresh, but its replications show the effect.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np

from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Item, Need, Record, Runs, Section, Tolerance, entry
from aqmlab.studies.red_wired_testbed.outcomes import (
    FASTEST,
    SLOWEST,
    THIRD,
    Outcome,
    left_by,
    measure,
)
from aqmlab.studies.red_wired_testbed.printed import estimate, rows
from aqmlab.studies.red_wired_testbed.scenarios import (
    DISCIPLINES,
    EXPERIMENT,
    LONG,
    ONE_CLASS,
    RED,
    REMEMBERED,
    TAIL_DROP,
    TWO_CLASS,
    Beside,
    Three,
)

WINDOW = Record(frozenset({"window"}), 0.1)
PRINTED = (("table8_1.csv", 0.0), ("table8_2.csv", 2.0), ("table8_5.csv", 5.5))
STARTS_S = (0.0, 2.0, 5.5)
TESTS = {
    "three": "three flows",
    ONE_CLASS: "test case 1, one class",
    TWO_CLASS: "test case 1, two classes",
}


def _storing(test: str, discipline: str) -> list[Three | Beside]:
    """Return the settings whose stored values the hosts remember, for a key of `REMEMBERED`."""
    if test == "three":
        return [Three(discipline, start_s) for start_s in STARTS_S]
    return [Beside(LONG, discipline, test, start_s) for start_s in LONG.starts_s]


def _needs() -> Iterator[Need]:
    for test, discipline in REMEMBERED:
        for at in _storing(test, discipline):
            yield Need(at, at_most=2 * EXPERIMENT, record=WINDOW, quick=test == "three")
    for discipline in DISCIPLINES:
        for start_s in STARTS_S:
            yield Need(Three(discipline, start_s, memory=False), at_most=EXPERIMENT)


def most_resent(run: Outcome) -> int:
    """Return the number of retransmissions of the long flow with more retransmissions."""
    return max(run.at(place).resent for place in (FASTEST, SLOWEST))


def printed_first(file: str) -> tuple[float, float]:
    """Return the published retransmissions of the long flow with more retransmissions.

    The first number is from replication 1. The second number is the median of the other
    replications.
    """
    most: dict[int, float] = {}
    for row in rows(file):
        if row["flow"] != THIRD:
            r = int(row["replication"])
            most[r] = max(most.get(r, 0), float(row["retx_packets"]))
    return most[1], float(np.median([most[r] for r in sorted(most)[1:]]))


def _first(runs: Runs) -> Table:
    lines: list[list[str | Entry]] = []
    for file, start_s in PRINTED:
        ours = dict(runs.by_replication(Three(TAIL_DROP, start_s)))
        firsts = [most_resent(run) for r, run in ours.items() if r % EXPERIMENT == 0]
        others = [most_resent(run) for r, run in ours.items() if r % EXPERIMENT]
        without = [most_resent(run) for run in runs.of(Three(TAIL_DROP, start_s, memory=False))]
        first, rest = printed_first(file)
        lines.append(
            [f"{start_s:g} s", f"{first:g}", f"{rest:g}", f"{np.median(firsts):g}",
             f"{np.median(others):g}" if others else "–", f"{np.median(without):g}"]
        )  # fmt: skip
    head = ["Start", "Published: replication 1", "Published: others", "Ours: first replications",
            "Ours: others", "Ours: without memory"]  # fmt: skip
    return Table(
        "Retransmissions of the long flow with more retransmissions, Tail Drop", head, lines
    )


def _left(runs: Runs) -> Table:
    lines: list[list[str | Entry]] = []
    for (test, discipline), values in REMEMBERED.items():
        counts: Counter[str] = Counter()
        for at in filter(runs.has, _storing(test, discipline)):
            for r, run in runs.by_replication(at):
                ssthresh = left_by(run)
                if r % EXPERIMENT and math.isfinite(ssthresh):
                    counts[f"{ssthresh:g}"] += 1
        drawn = Counter(map(str, values))
        lines.append([TESTS[test], discipline.replace("_", " "), _shares(drawn), _shares(counts)])
    head = ["Test", "Discipline", "Initial ssthresh", "Stored ssthresh at the end"]
    return Table("ssthresh in segments, in all replications except the first", head, lines)


def _shares(counts: Counter[str]) -> str:
    """Return the share of each value as text."""
    total = max(counts.total(), 1)
    shares = (f"{k}: {100 * v / total:.0f} %" for k, v in sorted(counts.items()))
    return ", ".join(shares) or "–"


def _make(runs: Runs) -> Section:
    section = Section(
        [
            "In each of the three scenarios with published replications, a flow of the first "
            "replication has 14 to 18 retransmissions, and few flows of other replications have "
            "more than eight. A Linux 2.4 host remembers the ssthresh of its connections, so "
            "slow start fills the queue only in the first replication. In our runs, the first "
            "replication of each experiment of 20 replications therefore starts without a "
            "remembered ssthresh. Each later replication starts with a random ssthresh. The "
            "random values of ssthresh are as frequent as the values that hosts store at the end "
            "of our runs. A run that stores no value leaves the remembered value unchanged, and "
            "does not count.",
            "In the thesis, the slow start of some transfers lasts for up to eight seconds, "
            "because the hosts have no stored ssthresh for these transfers. The short transfers "
            "of test case 2 end before congestion avoidance, and do not leave an ssthresh. The "
            "slow start of short transfers therefore fills the queue in every replication.",
        ]
    )
    section.tables += [_first(runs), _left(runs)]
    head = ["Scenario", "With memory", "Without memory"]
    for place in (FASTEST, THIRD):
        lines: list[list[str | Entry]] = []
        for discipline in DISCIPLINES:
            for start_s in STARTS_S:
                cells = [_median(runs, Three(discipline, start_s, memory=m), place)
                         for m in (True, False)]  # fmt: skip
                section.cells += cells
                name = f"{discipline.replace('_', ' ')}, {start_s:g} s"
                lines.append([name, *map(entry, cells)])
        section.tables.append(Table(f"Elapsed time of the {place} flow (s)", head, lines))
    return section


def printed_median(at: Three, place: str) -> float | None:
    """Return the published median of a flow's elapsed time, or None without a published median."""
    file = "table5_4.csv" if at.discipline == RED else "table5_1.csv"
    for row in rows(file):
        if row["flow"] == place and float(row["third_flow_start_s"]) == at.start_s:
            return float(row["elapsed_median_s"])
    return None


def _median(runs: Runs, at: Three, place: str) -> Cell:
    elapsed = measure(place, "elapsed_time_s")
    ours = estimate("median", [elapsed.of(run) for run in runs.of(at)])
    columns = at.columns() | {"flow": place}
    rule = Tolerance.larger_of(0, 0.10)
    return Cell("memory", columns, "elapsed_median", "s", ours, printed_median(at, place), rule,
                again=True)  # fmt: skip


ITEM = Item("memory", "Memory of the hosts for ssthresh", _needs, _make, scored=False)
