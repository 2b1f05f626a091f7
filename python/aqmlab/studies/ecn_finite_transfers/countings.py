"""Comparison of queue limits that count the packet in service with limits that do not.

In the study's simulator, the limit of a Drop Tail queue counts the packet in service, and the limit
of a RED queue does not. With equal limits, Drop Tail therefore stores one waiting packet less than
RED (`published/notes.md`).
"""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.measures import Measure
from aqmlab.report import Entry, Table
from aqmlab.studies.ecn_finite_transfers.efficiency import dropped
from aqmlab.studies.ecn_finite_transfers.printed_tables import DROPPED, letter, published
from aqmlab.studies.ecn_finite_transfers.replications import need
from aqmlab.studies.ecn_finite_transfers.scenarios import LIMITS, SCHEMES, Setting
from aqmlab.studies.ecn_finite_transfers.transfers import Transfers
from aqmlab.studies.framework.runs import Need, Runs
from aqmlab.studies.framework.show import entry
from aqmlab.studies.framework.study import Item, Section
from aqmlab.studies.framework.verdicts import Cell

DROPS = Measure[Transfers]("dropped_packets", "packets", dropped, -1)
COUNTINGS = ("waiting", "waiting-and-in-service")
FILES = {"DT": "table1_droptail.csv", "RED": "table2_red.csv", "ECN": "table3_red_ecn.csv"}


def printed_drops() -> dict[tuple[str, int], float]:
    """Return the drops of Tables I to III by scheme and limit."""
    drops = {}
    for family, file in FILES.items():
        for row in published(file):
            scheme = f"{family}-{letter(row)}" if row["maxp"] else family
            drops[scheme, int(row["queue_limit_packets"])] = float(row["dropped_packets"])
    return drops


def _needs() -> Iterator[Need]:
    for counting in COUNTINGS:
        for scheme in SCHEMES:
            for limit in LIMITS:
                yield need(Setting(2, scheme, limit, counting=counting))


def _make(runs: Runs) -> Section:
    printed = printed_drops()
    section = Section(
        text=[
            "The table compares the published drops of two downloads with our drops, for queue "
            "limits that count the packet in service and for limits that do not. If the limit "
            "counts the packet in service, the queue stores one waiting packet less. In the "
            "study's simulator, the limit counts the packet in service with Drop Tail, but not "
            "with RED. At a queue limit of 4 packets, RED and Drop Tail differ because RED stores "
            "one packet more, not because of early detection."
        ]
    )
    rows: list[list[str | Entry]] = []
    for scheme in SCHEMES:
        for counting in COUNTINGS:
            cells = [
                Cell.of(
                    "countings", setting.columns(), DROPS, runs.of(setting),
                    printed[scheme, limit], DROPPED, again=True,
                )
                for limit in LIMITS
                for setting in (Setting(2, scheme, limit, counting=counting),)
            ]  # fmt: skip
            section.cells += cells
            original = Setting(2, scheme, 64).limit_counts == counting
            label = f"{scheme}, {counting}" + (" (original)" if original else "")
            rows.append([label, *map(entry, cells)])
    section.tables.append(Table("Dropped packets", ["Queue limit", *map(str, LIMITS)], rows))
    return section


ITEM = Item(
    "countings", "Queue limits with and without the packet in service", _needs, _make, scored=False
)
