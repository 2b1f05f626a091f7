"""Beyond the memo: observations of RFC 2884 with current queues and current hosts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aqmlab import estimates
from aqmlab.estimates import Estimate
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Item, Need, Runs, Section
from aqmlab.studies.rfc2884 import readings, transactions
from aqmlab.studies.rfc2884.gains import both, growth, percent, with_interval
from aqmlab.studies.rfc2884.outcomes import Outcome
from aqmlab.studies.rfc2884.scenarios import (
    AS_READ,
    BULK,
    HIGH,
    LOW,
    MODERATE,
    RENO,
    Reading,
    Setting,
)

QUEUES = {
    "": "RED, tuned",
    "codel": "CoDel",
    "fq_codel": "FQ-CoDel",
    "pie": "PIE",
    "dualpi2": "DualPI2",
}
HOSTS = {"": "Linux 2.0 (Reno)", "linux": "Linux 6 (CUBIC, SACK, RACK-TLP)"}
REPLICATIONS = {BULK: 5}
OTHERS = 6

BULK_LOW, BULK_HIGH = (readings.transfer(n, 0.1) for n in (LOW, HIGH))
SMALL_MODERATE, SMALL_HIGH = (transactions.setting(n, 0.1) for n in (MODERATE, HIGH))
LARGE_HIGH = transactions.setting(HIGH, 0.1, RENO, 20)
SETTINGS = {
    "bulk, low": BULK_LOW, "bulk, high": BULK_HIGH, "5 KB, moderate": SMALL_MODERATE,
    "5 KB, high": SMALL_HIGH, "20 KB, high": LARGE_HIGH,
}  # fmt: skip


def reading(queue: str, hosts: str) -> Reading:
    """Return an interpretation of the memo with another queue or other hosts.

    An empty name stands for the queue or the hosts of the memo.
    """
    if not queue and not hosts:
        return AS_READ
    return Reading(f"{QUEUES[queue]}; {HOSTS[hosts]}", queue=queue, stack=hosts)


def _few(at: Setting) -> int:
    return REPLICATIONS.get(at.kind, OTHERS)


def _needs() -> Iterator[Need]:
    for queue in QUEUES:
        for hosts in HOSTS:
            for at in SETTINGS.values():
                here = readings.read(at, reading(queue, hosts))
                yield Need(here, at_most=_few(at), quick=False)


def _gains(runs: Runs, at: Setting) -> list[float]:
    return percent(runs, at)[: _few(at)]


def _conclusions(gains: dict[str, list[float]]) -> str:
    """Return a text that says which of the memo's observations are reproduced."""

    def observation(about: str, of: Estimate) -> str:
        low, _, high = of.interval
        return f"{about}: {'yes' if low > 0 else 'the reverse' if high < 0 else 'not significant'}"

    return "; ".join(
        [
            observation("bulk transfers gain", estimates.mean(gains["bulk, high"])),
            observation(
                "bulk gain grows with congestion", growth(gains["bulk, high"], gains["bulk, low"])
            ),
            observation("5 KB transactions gain", estimates.mean(gains["5 KB, high"])),
            observation(
                "5 KB gain grows with congestion",
                growth(gains["5 KB, high"], gains["5 KB, moderate"]),
            ),
            observation(
                "5 KB gain more than 20 KB", growth(gains["5 KB, high"], gains["20 KB, high"])
            ),
        ]
    )


def _make(runs: Runs) -> Section:
    if not runs.has(readings.read(BULK_LOW, reading("codel", ""))):
        return Section(["The quick form leaves out current queues and hosts."])
    section = Section(
        [
            "The runs have the testbed and the flows of the memo, with maxp 0.1. In the rows, "
            "router R1 has different queues with their default parameters. In one of the two "
            "tables, all hosts are current Linux hosts with their defaults. The entries are gains "
            "of ECN in % with their 95 % intervals, green if the interval is above 0, and red if "
            "it is below 0. The mean queue and the transaction rate of the ECN client were "
            "measured at high congestion. The last column lists which observations of the memo "
            "are reproduced.",
        ]
    )
    for hosts, about in HOSTS.items():
        rows: list[list[str | Entry]] = []
        for queue, name in QUEUES.items():
            row: list[str | Entry] = [name]
            gains: dict[str, list[float]] = {}
            for case, at in SETTINGS.items():
                here = readings.read(at, reading(queue, hosts))
                gains[case] = _gains(runs, here)
                of = estimates.mean(gains[case])
                row.append(with_interval(of, unit=" %"))
                columns = here.columns() | {"queue": name, "hosts": about}
                section.cells.append(Cell("today", columns, "relative_advantage_of_ecn", "%", of))
            there = readings.read(BULK_HIGH, reading(queue, hosts))
            ran: list[Outcome] = runs.of(there)
            rate = np.mean(both(runs, readings.read(SMALL_HIGH, reading(queue, hosts)))[0])
            row += [f"{np.mean([r.queue for r in ran]):.1f}", f"{rate:.2f}"]
            rows.append([*row, Entry(_conclusions(gains), prose=True)])
        head = [
            "R1",
            *SETTINGS,
            "Queue (packets)",
            "5 KB transactions per second, with ECN",
            "Observations",
        ]
        section.tables.append(Table(f"Hosts: {about}", head, rows))
    return section


ITEM = Item(
    "today",
    "Beyond the memo: current queues and hosts in the same testbed",
    _needs,
    _make,
    scored=False,
)
