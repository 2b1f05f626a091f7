"""Readings: other values of settings that the thesis leaves open, singly and in pairs.

A reading changes scenarios of the study. The score does not count runs under a reading. The item
`readings` compares the readings with published medians of three tests. One test is the short
transfer beside CBR traffic: in the thesis, TCP is faster if the CBR traffic starts early, and in
our runs it is slower. The item decides this order for every reading, and for every pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from aqmlab.estimates import number as written
from aqmlab.report import Entry, Table
from aqmlab.scenario import with_keys
from aqmlab.studies.framework import Alternative, Cell, Item, Need, Runs, Section, Tolerance, entry
from aqmlab.studies.red_wired_testbed.beside import FIVE, setting
from aqmlab.studies.red_wired_testbed.memory import printed_median
from aqmlab.studies.red_wired_testbed.outcomes import (
    ELAPSED,
    FASTEST,
    RECEIVED,
    SLOWEST,
    THIRD,
    Outcome,
    measure,
)
from aqmlab.studies.red_wired_testbed.printed import Row, cell, estimate, number, rows
from aqmlab.studies.red_wired_testbed.scenarios import (
    DISCIPLINES,
    KBIT,
    ONE_CLASS,
    TAIL_DROP,
    Beside,
    Three,
)

START_S = 2.0
REPLICATIONS, IN_PAIRS = 10, 3
"""Number of replications of a reading, and of a pair of readings in the search of all pairs."""
EARLY_S = 1.0
"""Last start of the CBR flow, in s, before the jump of TCP's elapsed time in test case 2."""
Scenario = dict[str, Any]


def _htb(scenario: Scenario) -> Scenario:
    htb: Scenario = scenario["network"]["links"][-1]["queue"]
    return htb


def _no_hysteresis(scenario: Scenario) -> None:
    _htb(scenario)["hysteresis"] = False


def _bursts(size: int, scenario: Scenario) -> None:
    for of in _htb(scenario)["classes"]:
        of |= {"burst": f"{size} B", "cburst": f"{size} B"}


def _kbit_of_1000(scenario: Scenario) -> None:
    for of in _htb(scenario)["classes"]:
        for key in of.keys() & {"rate", "ceil"}:
            rate = int(of[key].removesuffix(" bit/s"))
            of[key] = f"{round(rate * 1000 / KBIT)} bit/s"


def _starts_within(jitter_ms: int, scenario: Scenario) -> None:
    scenario["phase_breaking"]["start"] = f"{jitter_ms} ms"


def _tcp(keys: dict[str, Any], scenario: Scenario) -> None:
    scenario["tcp"] = with_keys(scenario["tcp"], keys)


def _transfers(change: Callable[[Scenario], Scenario], scenario: Scenario) -> None:
    for flow in scenario["flows"]:
        if flow["traffic"]["kind"] == "bulk":
            flow["traffic"] = change(flow["traffic"])


def _writes(bulk: Scenario) -> Scenario:
    """Return traffic with one write of 5840 bytes per ms, which is much faster than the link."""
    count = int(bulk["size"].removesuffix(" B")) // 5840
    return {"kind": "messages", "size": "5840 B", "messages": count, "interval": "1 ms",
            "spacing": "constant"}  # fmt: skip


def _reads(bulk: Scenario) -> Scenario:
    return bulk | {"read_rate": "1 Mbit/s", "read_chunk": "5840 B"}


@dataclass(frozen=True)
class Reading:
    """Other value of a setting: the name of the setting, and the change of a scenario."""

    of: str
    change: Callable[[Scenario], None]


NO_HYSTERESIS = "HTB without hysteresis"
BURST_2048, BURST_2400 = "bursts of HTB of 2048 B", "bursts of HTB of 2400 B"
AT_ONCE = "ACKs at once"
FLIGHT_SIZE = "ssthresh from the FlightSize"
READINGS = {
    NO_HYSTERESIS: Reading("hysteresis", _no_hysteresis),
    BURST_2048: Reading("burst", partial(_bursts, 2048)),
    BURST_2400: Reading("burst", partial(_bursts, 2400)),
    "kbit of 1000 bits": Reading("kbit", _kbit_of_1000),
    "starts of the flows within 1 ms": Reading("starts", partial(_starts_within, 1)),
    "starts of the flows within 100 ms": Reading("starts", partial(_starts_within, 100)),
    "starts of the flows within 300 ms": Reading("starts", partial(_starts_within, 300)),
    AT_ONCE: Reading("ACKs", partial(_tcp, {"delayed_ack": "1 segment"})),
    "ACKs delayed by 200 ms": Reading("ACKs", partial(_tcp, {"ack.timeout": "200 ms"})),
    FLIGHT_SIZE: Reading("ssthresh", partial(_tcp, {"cwnd.ssthresh_from": "flight-size"})),
    "timeouts of 1.5 s or more": Reading("timeout", partial(_tcp, {"rto.min": "1.5 s"})),
    "reduction over a round trip (PRR)": Reading(
        "reduction", partial(_tcp, {"recovery.reduction": "prr", "recovery.prr_bound": "ssrb"})
    ),
    "writes that wait for the send buffer": Reading(
        "send buffer",
        partial(_tcp, {"send_buffer": "linux", "memory.send_max": "131072 B"}),
    ),
    "writes of 5840 bytes": Reading("traffic", partial(_transfers, _writes)),
    "reads of 5840 bytes at 1 Mbit/s": Reading("traffic", partial(_transfers, _reads)),
}
"""Readings by name. Two readings of the same setting do not form a pair."""
PAIRS = (
    (NO_HYSTERESIS, AT_ONCE),
    (NO_HYSTERESIS, BURST_2400),
    (BURST_2400, AT_ONCE),
    (AT_ONCE, FLIGHT_SIZE),
)
"""Pairs of readings that the tables show."""
SHOWN: tuple[tuple[str, ...], ...] = ((), *((name,) for name in READINGS), *PAIRS)
EVERY_PAIR = tuple(
    pair for pair in combinations(READINGS, 2) if READINGS[pair[0]].of != READINGS[pair[1]].of
)


@dataclass(frozen=True)
class Under:
    """Setting of the study under readings.

    Parameters
    ----------
    base : Three or Beside
        Setting of the study.
    readings : tuple of str
        Names of readings in `READINGS`.
    recorded : bool
        True to record the series of the setting of the study.
    """

    base: Three | Beside
    readings: tuple[str, ...]
    recorded: bool = False

    def columns(self) -> dict[str, Any]:
        """Return the columns of cells.csv that describe the scenario."""
        return self.base.columns() | {"reading": _named(self.readings)}

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication of this setting."""
        scenario = self.base.scenario(replication)
        for name in self.readings:
            READINGS[name].change(scenario)
        return scenario if self.recorded else scenario | {"record": {"series": []}}


def _named(readings: Sequence[str]) -> str:
    return ", and ".join(readings) or "settings that the score counts"


def _alternative(readings: tuple[str, ...]) -> Alternative:
    def form(at: object) -> object:
        return Under(at, readings, recorded=True) if isinstance(at, Three | Beside) else at

    return Alternative(_named(readings), form)


ALTERNATIVES = tuple(_alternative(readings) for readings in SHOWN if readings)
RULES = {SLOWEST: 0.03, FASTEST: 0.10, THIRD: 0.10}


def _under(base: Three | Beside, readings: tuple[str, ...]) -> Three | Beside | Under:
    return Under(base, readings) if readings else base


def _one_class(file: str) -> list[Row]:
    """Return the rows of a published table with Tail Drop in one class of HTB."""
    return [
        row
        for row in rows(file)
        if (row["discipline"], row["htb_config"]) == (TAIL_DROP, ONE_CLASS)
    ]


LONG_ROWS, SHORT_ROWS = _one_class("table8_8.csv"), _one_class("table8_9.csv")


def _needs() -> Iterator[Need]:
    bases: list[Three | Beside] = [Three(discipline, START_S) for discipline in DISCIPLINES]
    bases += map(setting, [*LONG_ROWS, *SHORT_ROWS])
    for readings in SHOWN:
        for base in bases:
            yield Need(_under(base, readings), at_most=REPLICATIONS, quick=False)
    for pair in EVERY_PAIR:
        for row in SHORT_ROWS:
            yield Need(Under(setting(row), pair), at_most=IN_PAIRS, quick=False)


def _ran(runs: Runs, base: Three | Beside, readings: tuple[str, ...]) -> list[Outcome]:
    ran: list[Outcome] = runs.of(_under(base, readings))
    return ran[:REPLICATIONS]


def _three_flows(runs: Runs) -> Iterator[tuple[tuple[str, ...], list[Cell]]]:
    for readings in SHOWN:
        cells = []
        for base in (Three(d, START_S) for d in DISCIPLINES):
            for place, share in RULES.items():
                elapsed = measure(place, "elapsed_time_s")
                ours = estimate("median", [elapsed.of(run) for run in _ran(runs, base, readings)])
                columns = Under(base, readings).columns() | {"flow": place}
                cells.append(
                    Cell("readings", columns, "elapsed_median", "s", ours,
                         printed_median(base, place), Tolerance.larger_of(0, share), again=True)
                )  # fmt: skip
        yield readings, cells


def _median(runs: Runs, row: Row, readings: tuple[str, ...], column: str) -> Cell:
    read = RECEIVED if column.startswith("udp") else ELAPSED
    values = [read.of(run) for run in _ran(runs, setting(row), readings)]
    columns = Under(setting(row), readings).columns()
    return cell("readings", columns, read.name, read.unit, "median", values, number(row, column),
                FIVE, again=True)  # fmt: skip


def _with_cbr(
    runs: Runs, table_rows: list[Row], columns: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], list[Cell]]]:
    for readings in SHOWN:
        yield (
            readings,
            [_median(runs, row, readings, column) for column in columns for row in table_rows],
        )


def _table(
    caption: str, head: Sequence[str], lines: list[tuple[tuple[str, ...], list[Cell]]]
) -> Table:
    table_rows: list[list[str | Entry]] = [
        [_named(readings), *map(entry, cells)] for readings, cells in lines
    ]
    return Table(caption, ["Reading", *head], table_rows)


def _jump(medians: dict[float, float]) -> float:
    """Return the mean median at late starts of the CBR flow minus that at early starts, in s."""
    early = [value for start_s, value in medians.items() if start_s <= EARLY_S]
    late = [value for start_s, value in medians.items() if start_s > EARLY_S]
    return float(np.mean(late) - np.mean(early))


def _jump_under(runs: Runs, readings: tuple[str, ...]) -> float:
    return _jump({
        float(row["cbr_start_s"]): float(
            np.median([ELAPSED.of(run) for run in _ran(runs, setting(row), readings)])
        )
        for row in SHORT_ROWS
    })  # fmt: skip


def _search(runs: Runs) -> str:
    """Return a text with the readings, and pairs of readings, that have the published order."""
    printed = _jump({float(r["cbr_start_s"]): float(r["elapsed_median_s"]) for r in SHORT_ROWS})
    tried = [*((name,) for name in READINGS), *EVERY_PAIR]
    jumps = {readings: _jump_under(runs, readings) for readings in tried}
    found = "; ".join(
        f"{_named(readings)} ({written(jump)} s)" for readings, jump in jumps.items() if jump > 0
    )
    return (
        "In test case 2 of the thesis (Tail Drop, one class), TCP takes longer if the CBR flow "
        f"starts late: the mean of the medians at 1.5 and 2 s is {written(printed)} s higher than "
        "that at 0 to 1 s. With the settings that the score counts, the difference is "
        f"{written(_jump_under(runs, ()))} s. We tried {len(READINGS)} readings and all "
        f"{len(EVERY_PAIR)} pairs of readings of different settings. The difference is positive "
        f"under: {found or 'none of them'}."
    )


def _make(runs: Runs) -> Section:
    if not runs.has(Under(Three(TAIL_DROP, START_S), (AT_ONCE,))):
        return Section(["The quick form of the study leaves this item out."])
    three = list(_three_flows(runs))
    long = list(_with_cbr(runs, LONG_ROWS, ["elapsed_median_s", "udp_received_median_packets"]))
    short = list(_with_cbr(runs, SHORT_ROWS, ["elapsed_median_s"]))
    section = Section(
        [
            f"Our numbers are medians of {REPLICATIONS} replications. Each row changes one or two "
            "settings of the first row. In the first table the third flow starts after 2 s. The "
            "slowest flow ends when all data has left the link, so its elapsed time depends on "
            "the link rate. The elapsed time of the third flow depends on which of its packets "
            "arrive at a full queue.",
            "In test case 1, the number of lost CBR packets depends on the bursts of HTB and on "
            "the delay of ACKs. When a full queue sends packets, it can accept CBR packets until "
            "the sender's next segments arrive. Delayed ACKs make the time until the next "
            "segments longer. With hysteresis, segments leave in pairs, and the receiver "
            "acknowledges a pair at once.",
            _search(runs),
        ],
        [c for lines in (three, long, short) for _, cells in lines for c in cells],
    )
    places = [f"{d.replace('_', ' ')}: {p} flow" for d in DISCIPLINES for p in RULES]
    starts = [f"{float(row['cbr_start_s']):g} s" for row in LONG_ROWS]
    heads = [f"{name}, {start}" for name in ("TCP (s)", "CBR packets") for start in starts]
    section.tables += [
        _table("Median elapsed times (s)", places, three),
        _table("Test case 1, Tail Drop in one class: elapsed time of TCP and received CBR packets, "
               "by the start of the CBR flow", heads, long),
        _table("Test case 2, Tail Drop in one class: elapsed time of TCP (s), by the start of the "
               "CBR flow", [f"{float(row['cbr_start_s']):g} s" for row in SHORT_ROWS], short),
    ]  # fmt: skip
    return section


ITEM = Item("readings", "Other values of open settings", _needs, _make, scored=False)
