"""Beyond the paper: current queues and hosts with the same requests."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab import estimates
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Item, Need, Runs, Section
from aqmlab.studies.power_of_ecn.profiles import HEADS, SHOWN
from aqmlab.studies.power_of_ecn.scenarios import AS_READ, Reading, Setting
from aqmlab.studies.power_of_ecn.showing import PROFILE, THROUGHPUT, gain, mean, with_interval
from aqmlab.studies.power_of_ecn.words import ECN, ECN_PLUS, OFF, PERSISTENT, RED_STAR

SECONDS, REPLICATIONS = 60, 3
QUEUES = {
    RED_STAR: "RED*", "codel": "CoDel", "fq_codel": "FQ-CoDel", "pie": "PIE", "dualpi2": "DualPI2",
}  # fmt: skip
LINUX = Reading("current Linux hosts", tcp=(("stack", "linux"),))
PRAGUE = Reading("L4S: Prague", tcp=(
    ("stack", "linux"), ("congestion", "prague"), ("ecn.packets", "all-packets"),
))  # fmt: skip
HOSTS: dict[Reading, tuple[str, ...]] = {AS_READ: (OFF, ECN, ECN_PLUS), LINUX: (OFF, ECN_PLUS)}
NAMES = {OFF: "no ECN", ECN: "ECN", ECN_PLUS: "ECN+", "accurate": "Accurate ECN, ECT(1)"}


def setting(queue: str, ends: str, reading: Reading) -> Setting:
    """Return a setting at persistent congestion, with the short duration of this item's runs."""
    return Setting(queue, ends, PERSISTENT, seconds=SECONDS, reading=reading)


def cases() -> Iterator[Setting]:
    """Yield the settings in the order of the rows of the table."""
    for reading, every in HOSTS.items():
        for queue in QUEUES:
            yield from (setting(queue, ends, reading) for ends in every)
    yield setting("dualpi2", "accurate", PRAGUE)


def _needs() -> Iterator[Need]:
    yield from (Need(at, at_most=REPLICATIONS, quick=False) for at in cases())


def _make(runs: Runs) -> Section:
    if not runs.has(setting("codel", OFF, AS_READ)):
        return Section(["The quick form leaves out current queues and hosts."])
    section = Section(
        [
            f"The runs have a load of {PERSISTENT} %, and last for {SECONDS} s after the warm-up, "
            f"with {REPLICATIONS} replications. Queues have their default parameters and a limit "
            "of 1000 packets. The last column is the difference from the mean profile without "
            "ECN, in percentage points, green if its interval is above 0, and red if it is below "
            "0.",
        ]
    )
    for reading, name in ((AS_READ, "Hosts of the paper"), (LINUX, "Current Linux hosts"),
                          (PRAGUE, "L4S hosts: Prague")):  # fmt: skip
        rows: list[list[str | Entry]] = []
        for at in (one for one in cases() if one.reading == reading):
            means = [mean(runs, at, q) for q in (*SHOWN, THROUGHPUT)]
            for quantity, of in zip((*SHOWN, THROUGHPUT), means, strict=True):
                section.cells.append(Cell("today", at.columns(), quantity[0], quantity[1], of))
            last: str | Entry = ""
            none = setting(at.scheme, OFF, LINUX if reading == PRAGUE else reading)
            if at.ends != OFF:
                of = estimates.mean(gain(runs, at, none, PROFILE))
                last = with_interval(
                    of, kind="good" if of.low > 0 else "bad" if of.high < 0 else ""
                )
            rows.append(
                [f"{QUEUES[at.scheme]}, {NAMES[at.ends]}", *map(with_interval, means), last]
            )
        head = [
            "Queue, ECN mode",
            *HEADS,
            "Throughput (%)",
            "Profile mean minus profile mean without ECN",
        ]
        section.tables.append(Table(name, head, rows))
    return section


ITEM = Item("today", "Beyond the paper: current queues and hosts", _needs, _make, scored=False)
