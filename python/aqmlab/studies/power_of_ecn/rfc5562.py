"""Beyond the paper: Table 3 of RFC 5562, packets that RED drops with ECN+, Wait and TryOnce.

Source: `rfc5562`, sections 4, 6.1 and 6.2, and the drop rates of its Table 3
(`published/rfc5562_table3.csv`). The RFC simulates a link of 10 Mbit/s with ns-2, and RED in packet
mode and in byte mode.

The sections do not give RED's thresholds. Section 5 refers to the paper of this study for the
evaluation of ECN+, so the network, the hosts and the web traffic are those of the study, with
smaller objects. RED is that of section 4.1 of the paper: Adaptive RED for a target of 5 ms, whose
thresholds ns-2 computes from the rate of the link. On a link of 10 Mbit/s they are 6.25 and 18.75
packets, and in byte mode 3125 and 9375 B.

Section 6.1 distinguishes two kinds of queues. One kind marks ECN-capable packets until the buffer
is full, which is RED* of the paper. The other kind drops them if congestion is severe, as RED does
above maxth. `NS2` is a RED of the second kind, with all defaults of ns-2.35, which drops from a
signal probability of 0.1 on.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from aqmlab import estimates
from aqmlab.estimates import Estimate, number
from aqmlab.figures.style import look, sheet
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Figure, Item, Need, Runs, Section
from aqmlab.studies.power_of_ecn.readings import BYTES, GOING_ON
from aqmlab.studies.power_of_ecn.scenarios import (
    AS_READ,
    REPLICATIONS,
    SLOW_BPS,
    WARM_UP_S,
    Reading,
    Setting,
)
from aqmlab.studies.power_of_ecn.showing import (
    DATA_DROPPED,
    DROPPED,
    MARKED,
    SYN_ACK_LOSS,
    WITHIN,
    WITHIN_2,
    Quantity,
    finish,
    gain,
    mean,
    with_interval,
)
from aqmlab.studies.power_of_ecn.testbed import THROUGHPUT
from aqmlab.studies.power_of_ecn.words import ECN, EXPONENTIAL, RED, RED_STAR, SMALL

SECONDS, FEW = 60, 3
PUBLISHED = Path(__file__).parent / "published" / "rfc5562_table3.csv"
HOSTS = {ECN: "ECN", "ecn+": "ECN+", "ecn+wait": "ECN+/Wait", "ecn+try-once": "ECN+/TryOnce"}
"""ECN modes of the hosts and their names in RFC 5562; `ecn+` heeds a marked SYN-ACK."""
OTHERS = {ends: name for ends, name in HOSTS.items() if ends != ECN}
PLUS, _WAIT, TRY_ONCE = OTHERS
COLUMNS = dict(zip(HOSTS, ("ecn", "ecn_plus", "wait", "try_once"), strict=True))
PACKETS_PER_S = SLOW_BPS / 8 / 500
NS2 = Reading(
    "RED with the defaults of ns-2.35",
    queue=(
        ("minth", "6.25 packets"),
        ("maxth", "18.75 packets"),
        ("wq", 1 - math.exp(-1 / PACKETS_PER_S)),
        ("spacing", "wait"),
        ("mark_below", 0.1),
        ("min_backlog", "1 packets"),
    ),
)
"""RED as ns-default.tcl of ns-2.35 sets it, in packet mode; not adaptive, gentle, maxp 0.1."""


SHOWN = (MARKED, SYN_ACK_LOSS, DATA_DROPPED, WITHIN, WITHIN_2, THROUGHPUT)
HEADS = (
    "Packets dropped (%)",
    "Packets marked (%)",
    "SYN-ACKs dropped (%)",
    "Dropped packets with data (% of all packets)",
    "Within 0.5 s (%)",
    "Within 2 s (%)",
    "Throughput (% of 10 Mbit/s)",
)


@dataclass(frozen=True)
class Case:
    """Queue, senders and object sizes, with the loads of their runs.

    Attributes
    ----------
    name : str
        Name in tables.
    scheme : str
        Name of the queue, as in :class:`aqmlab.studies.power_of_ecn.scenarios.Setting`.
    reading : Reading
        Changes of the queue and of the senders.
    mix : str
        Object sizes.
    loads : tuple of int
        Loads in % of 10 Mbit/s.
    replications : int
        Number of replications.
    """

    name: str
    scheme: str
    reading: Reading = AS_READ
    mix: str = SMALL
    loads: tuple[int, ...] = (150,)
    replications: int = FEW

    def at(self, ends: str, load: int) -> Setting:
        """Return the setting with the given ECN mode and load."""
        return Setting(self.scheme, ends, load, self.mix, seconds=SECONDS, reading=self.reading)


@cache
def printed() -> dict[tuple[str, int], float]:
    """Return the published drop rates in %, by ECN mode and load in %."""
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        return {
            (ends, int(row["load_percent"])): float(row[column])
            for row in csv.DictReader(file)
            for ends, column in COLUMNS.items()
        }


LOADS = tuple(sorted({load for _, load in printed()}))
GRID = (
    Case("RED, packet mode", RED, loads=LOADS, replications=REPLICATIONS),
    Case("RED, byte mode", RED, BYTES, loads=LOADS, replications=REPLICATIONS),
)
"""Cases with all loads of Table 3; the first case is Table 3 as we read it."""
PACKETS, IN_BYTES = GRID
SENDERS = "senders go on at one segment"
SHORT = "exponential sizes"
FURTHER = (
    Case("RED with the defaults of ns-2.35", "red", NS2),
    Case("RED*", RED_STAR, replications=REPLICATIONS),
    Case(f"RED, {SHORT}", RED, mix=EXPONENTIAL, loads=(95,)),
    Case(f"RED*, {SHORT}", RED_STAR, mix=EXPONENTIAL, loads=(90, 95)),
    Case(f"RED* in byte mode, {SHORT}", RED_STAR, BYTES, EXPONENTIAL, loads=(95,)),
    Case(f"RED, {SHORT}, {SENDERS}", RED, GOING_ON, EXPONENTIAL, loads=(95,)),
    Case(f"RED*, {SHORT}, {SENDERS}", RED_STAR, GOING_ON, EXPONENTIAL, loads=(95,)),
)
"""Cases that change the queue, the object sizes and the senders, singly and together."""


def cases() -> Iterator[tuple[Case, int, Setting]]:
    """Yield each case, load and setting in the order of the tables."""
    for case in (*GRID, *FURTHER):
        for load in case.loads:
            for ends in HOSTS:
                yield case, load, case.at(ends, load)


def _needs() -> Iterator[Need]:
    for case, _, at in cases():
        yield Need(at, at_most=case.replications, quick=False)


def more(runs: Runs, case: Case, ends: str, load: int) -> Estimate:
    """Return how many more packets are dropped than with ECN, in percentage points."""
    return estimates.mean(gain(runs, case.at(ends, load), case.at(ECN, load), DROPPED))


def _excess(runs: Runs, case: Case, ends: str, load: int) -> str:
    """Return the difference of :func:`more` as a text with a sign and an interval."""
    of = more(runs, case, ends, load)
    return f"+{of}" if of.value > 0 else str(of)


def _grid_answer(runs: Runs, case: Case) -> str:
    """Return where drop rates are higher than with ECN, and the differences at the highest load."""
    load = case.loads[-1]
    where, differences = [], []
    for ends, name in OTHERS.items():
        worse = [f"{x} %" for x in case.loads if more(runs, case, ends, x).low > 0]
        where.append(f"{' and '.join(worse) or 'none'} with {name}")
        differences.append(f"{name} {_excess(runs, case, ends, load)}")
    return (
        f"{case.name}. Loads at which the drop rate is higher than with ECN: {', '.join(where)}. "
        f"At {load} % load the drop rate is {mean(runs, case.at(ECN, load), DROPPED)} % with ECN, "
        f"and the differences from ECN in points are: {', '.join(differences)}."
    )


def _answer(runs: Runs) -> list[str]:
    """Return the answer of the item, made of the numbers of the runs."""
    rows = [(case, load) for case in FURTHER for load in case.loads]
    higher = [
        f"{sum(more(runs, case, ends, load).low > 0 for case, load in rows)} with {name}"
        for ends, name in OTHERS.items()
    ]
    doubled = max(LOADS, key=lambda load: printed()[PLUS, load] / printed()[ECN, load])
    of_rfc = [f"{printed()[ends, doubled]:g} % with {name}" for ends, name in HOSTS.items()]
    case, load = max(rows, key=lambda row: more(runs, row[0], PLUS, row[1]).value)
    lost, syn_acks, data, served = (
        {ends: mean(runs, case.at(ends, load), quantity) for ends in HOSTS}
        for quantity in (DROPPED, SYN_ACK_LOSS, DATA_DROPPED, WITHIN_2)
    )
    pairs = [
        f"{_excess(runs, one, PLUS, one.loads[-1])} ({one.name}, {one.loads[-1]} % load)"
        for one in (PACKETS, *FURTHER)
        if one.reading in (AS_READ, GOING_ON)
    ]
    return [
        *(_grid_answer(runs, case) for case in GRID),
        f"By Table 3 of RFC 5562, the drop rates at {doubled} % load are {', '.join(of_rfc)}. Our "
        "RED in packet mode does not have this increase. The first table has "
        f"{len(rows)} rows with another queue, other object sizes or other senders. Of these rows, "
        f"the drop rate is higher than with ECN in {', in '.join(higher)}. Both the queue and the "
        f"object sizes matter: ECN+ minus ECN in points is {'; '.join(pairs)}.",
        f"The largest increase is that of this case: {case.name}, {load} % load. The drop rate is "
        f"{lost[ECN]} % with ECN, and {lost[PLUS]} % with ECN+. While the buffer has room, RED* "
        f"drops only packets that are not ECN-capable. It drops {syn_acks[ECN]} % of the SYN-ACKs "
        f"with ECN, and {syn_acks[PLUS]} % with ECN+. With ECN+, dropped packets with data are "
        f"{data[PLUS]} % of all packets, and the other dropped packets have no data, for "
        "example pure ACKs. Responses are faster although the drop rate is higher: the share "
        f"within 2 s is {served[ECN]} % with ECN, {served[PLUS]} % with ECN+ and "
        f"{served[TRY_ONCE]} % with TryOnce. The second SYN-ACK of TryOnce is not "
        f"ECN-capable, and RED* drops {syn_acks[TRY_ONCE]} % of all SYN-ACKs. "
        "TryOnce therefore has about the drop rate of ECN, and shortens response times less than "
        "ECN+.",
    ]


def _shown(
    runs: Runs, section: Section, at: Setting, quantity: Quantity, rate: float | None
) -> Entry:
    """Return a table entry with our mean and the published number, and add it to the cells."""
    ours = mean(runs, at, quantity)
    section.cells.append(Cell("rfc5562", at.columns(), quantity[0], quantity[1], ours, rate))
    of = with_interval(ours)
    return of if rate is None else Entry(of.text, f"published {number(rate)}\n{of.sub}")


def _table(runs: Runs, section: Section, name: str, every: Sequence[Case]) -> Table:
    """Return a table of all quantities, with the published drop rates beside those of Table 3."""
    rows: list[list[str | Entry]] = []
    for case in every:
        for load in case.loads:
            for ends, of in HOSTS.items():
                at = case.at(ends, load)
                rate = printed()[ends, load] if case is PACKETS else None
                label = f"{load} %, {of}" if case in GRID else f"{case.name}, {load} %, {of}"
                others = (_shown(runs, section, at, quantity, None) for quantity in SHOWN)
                rows.append([label, _shown(runs, section, at, DROPPED, rate), *others])
    head = ["Load, ECN mode" if len(every) == 1 else "Case, load, ECN mode", *HEADS]
    return Table(f"10 Mbit/s: {name}", head, rows)


def _differences(runs: Runs, section: Section) -> Table:
    rows: list[list[str | Entry]] = [
        [
            f"Table 3 of RFC 5562: {load} %",
            number(printed()[ECN, load]),
            *(f"{printed()[ends, load] - printed()[ECN, load]:.1f}" for ends in OTHERS),
            "",
        ]
        for load in LOADS
    ]
    for case in (*GRID, *FURTHER):
        for load in case.loads:
            row: list[str | Entry] = [
                f"{case.name}: {load} %",
                with_interval(mean(runs, case.at(ECN, load), DROPPED)),
            ]
            for ends in OTHERS:
                at, of = case.at(ends, load), more(runs, case, ends, load)
                unit = "percentage points"
                section.cells.append(Cell("rfc5562", at.columns(), "more_drops_than_ecn", unit, of))
                kind = "bad" if of.low > 0 else "good" if of.high < 0 else ""
                row.append(with_interval(of, kind=kind))
            rows.append([*row, with_interval(mean(runs, case.at(PLUS, load), DATA_DROPPED))])
    head = [
        "Queue, senders and object sizes: load",
        "Packets dropped with ECN (%)",
        *(f"{name} minus ECN (points)" for name in OTHERS.values()),
        "Dropped packets with data, ECN+ (% of all packets)",
    ]
    return Table("Packets dropped on a link of 10 Mbit/s: difference from ECN", head, rows)


def _figure(runs: Runs) -> Figure:
    """Plot the drop rates against the load, with the published ones as hollow markers."""
    drawing, axes = sheet(1, len(GRID), (4.2 * len(GRID), 4.0), sharey=True)
    for panel, case in zip(axes, GRID, strict=True):
        for i, (ends, name) in enumerate(HOSTS.items()):
            rates = [mean(runs, case.at(ends, load), DROPPED) for load in LOADS]
            bars = [[of.value - of.low for of in rates], [of.high - of.value for of in rates]]
            colour, marker = look(i)
            loads = [load + 1.2 * (i - 1.5) for load in LOADS]
            panel.errorbar(loads, [of.value for of in rates], bars, label=name, color=colour,
                           marker=marker, markersize=5, capsize=3, linewidth=1.1)  # fmt: skip
            if case is PACKETS:
                panel.plot(loads, [printed()[ends, load] for load in LOADS], marker=marker,
                           markersize=7, color=colour, markerfacecolor="none",
                           linestyle="none")  # fmt: skip
        panel.set_title(case.name, fontsize=10)
        panel.set_xlabel("load (% of 10 Mbit/s)")
        panel.set_xticks(LOADS)
    axes[0].plot([], [], marker="o", markersize=7, color="0.3", markerfacecolor="none",
                 linestyle="none", label="published")  # fmt: skip
    axes[0].set_ylabel("packets dropped (%)")
    axes[0].set_ylim(0, 80)
    caption = (
        "Packets that a link of 10 Mbit/s drops, in %, against the load, with 95 % intervals. The "
        "hollow markers are the published drop rates of RED in packet mode (Table 3 of RFC 5562). "
        "The markers of a load are shifted, so that the intervals do not cover each other. "
        "Replications differ much, but differences within a replication are small; the first table "
        "has these differences."
    )
    return Figure("rfc5562", caption, finish(drawing, axes[0], 5))


def _make(runs: Runs) -> Section:
    if not runs.has(PACKETS.at(ECN, LOADS[0])):
        return Section(["The quick form leaves out the tables of RFC 5562."])
    section = Section(
        [
            *_answer(runs),
            "The link has 10 Mbit/s, and the mean object size is 3 kB instead of 7.2 kB. The "
            "network, the web traffic and the hosts are those of the study otherwise. Loads are "
            f"measured on the uncongested link. Runs last for {SECONDS} s after a warm-up of "
            f"{WARM_UP_S} s. The first two cases and RED* have {REPLICATIONS} replications, and "
            f"other cases {FEW}. Drop rates and marks are in % of all packets that arrive at the "
            "link. Differences from ECN are in percentage points, paired by replication: red if "
            "the interval is above 0 (more drops), and green if it is below 0.",
            "The other cases change the queue, the object sizes and the senders, also together. "
            "RED* marks ECN-capable packets until the buffer is full. With exponential sizes, "
            "long objects are rare, so hardly any sender can respond to marks. Senders that go on "
            "after a mark at one segment are those of ns-2. Sections 4 to 7 of the RFC do not "
            "state these settings.",
        ]
    )
    section.tables = [
        _differences(runs, section),
        *(_table(runs, section, case.name, [case]) for case in GRID),
        _table(runs, section, "other queues, object sizes and senders", FURTHER),
    ]
    section.figures.append(_figure(runs))
    return section


ITEM = Item("rfc5562", "Beyond the paper: the tables of RFC 5562", _needs, _make, scored=False)
