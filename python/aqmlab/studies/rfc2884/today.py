"""Beyond the memo: what its authors would have concluded with today's queues and hosts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aqmlab import estimates
from aqmlab.estimates import Estimate
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Item, Need, Runs, Section
from aqmlab.studies.rfc2884 import readings, transactions
from aqmlab.studies.rfc2884.gains import both, growth, percent, told
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
    """Return a queue and hosts of today as a reading; of the first of both, the study itself."""
    if not queue and not hosts:
        return AS_READ
    return Reading(f"{QUEUES[queue]}; {HOSTS[hosts]}", queue=queue, preset=hosts)


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


def _conclusions(found: dict[str, list[float]]) -> str:
    """Say what of the memo's observations one would see."""

    def seen(about: str, of: Estimate) -> str:
        low, _, high = of.interval
        return f"{about}: {'yes' if low > 0 else 'the reverse' if high < 0 else 'not to be seen'}"

    gains = [estimates.mean(found[k]) for k in ("bulk, high", "5 KB, high")]
    return "; ".join(
        [
            seen("gains in bulk", gains[0]),
            seen("more with congestion", growth(found["bulk, high"], found["bulk, low"])),
            seen("gains at 5 KB", gains[1]),
            seen("more with congestion", growth(found["5 KB, high"], found["5 KB, moderate"])),
            seen("more than at 20 KB", growth(found["5 KB, high"], found["20 KB, high"])),
        ]
    )


def _make(runs: Runs) -> Section:
    if not runs.has(readings.read(BULK_LOW, reading("codel", ""))):
        return Section(["The quick form has no queues and hosts of today."])
    section = Section(
        [
            "The same testbed, the same flows, maxp 0.1; R1's class has another queue, with its "
            "defaults, or all hosts are Linux of today as it comes. Gains of ECN in %, with their "
            "95 % intervals: green above 0, red below. The mean queue and the rate of ECN's "
            "transactions are those of high congestion. The last column says which of the memo's "
            "observations its authors would have made.",
        ]
    )
    for hosts, about in HOSTS.items():
        rows: list[list[str | Entry]] = []
        for queue, name in QUEUES.items():
            row: list[str | Entry] = [name]
            found: dict[str, list[float]] = {}
            for case, at in SETTINGS.items():
                here = readings.read(at, reading(queue, hosts))
                found[case] = _gains(runs, here)
                of = estimates.mean(found[case])
                row.append(told(of, unit=" %"))
                columns = here.columns() | {"queue": name, "hosts": about}
                section.cells.append(Cell("today", columns, "relative_advantage_of_ecn", "%", of))
            there = readings.read(BULK_HIGH, reading(queue, hosts))
            ran: list[Outcome] = runs.of(there)
            rate = np.mean(both(runs, readings.read(SMALL_HIGH, reading(queue, hosts)))[0])
            row += [f"{np.mean([r.queue for r in ran]):.1f}", f"{rate:.2f}"]
            rows.append([*row, Entry(_conclusions(found), prose=True)])
        head = ["R1", *SETTINGS, "Queue (packets)", "ECN, 5 KB: per second", "One would have seen"]
        section.tables.append(Table(f"Hosts: {about}", head, rows))
    return section


ITEM = Item(
    "today", "Beyond: today's queues and hosts in the same places", _needs, _make, scored=False
)
