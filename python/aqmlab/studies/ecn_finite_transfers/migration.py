"""Migration to ECN: only some of the five or ten clients have ECN (aggressive RED, limit 64).

The study enables ECN at the client that was slowest in the run without ECN. The slowest client
differs between replications. Each replication therefore first runs without ECN. Further runs enable
ECN at the client that was slowest without ECN, then at the two slowest clients, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from aqmlab.measures import Measure
from aqmlab.report import Entry, Table
from aqmlab.studies.ecn_finite_transfers.replications import USUAL, need
from aqmlab.studies.ecn_finite_transfers.scenarios import Setting
from aqmlab.studies.ecn_finite_transfers.transfers import Transfers
from aqmlab.studies.framework.runs import Need, Runs
from aqmlab.studies.framework.show import plain
from aqmlab.studies.framework.study import Item, Section
from aqmlab.studies.framework.verdicts import Cell

WITHOUT = {n: Setting(n, "RED-A", 64) for n in (5, 10)}
STEPS = {5: (0, 1, 2, 3, 4, 5), 10: (0, 1)}


def without_ecn(runs: Runs, n: int) -> list[Transfers]:
    """Return the runs without ECN that are repeated with ECN."""
    every: list[Transfers] = runs.of(WITHOUT[n])
    return every[:USUAL]


def with_ecn(runs: Runs, n: int, count: int) -> list[Setting]:
    """Return one setting per replication; the replication's `count` slowest clients have ECN."""
    settings = []
    for run in without_ecn(runs, n):
        slowest = np.argsort(-run.time_s, kind="stable")[:count]
        clients = tuple(sorted(int(c) for c in slowest))
        settings.append(replace(WITHOUT[n], ecn=clients or None))
    return settings


def runs_with_ecn(runs: Runs, n: int, count: int) -> list[Transfers]:
    """Return the runs of the settings that `with_ecn` returns, one per replication."""
    return [runs.one(setting, r) for r, setting in enumerate(with_ecn(runs, n, count))]


def worst(runs: Runs, n: int) -> list[int]:
    """Return the number of the client that is slowest without ECN, for each replication."""
    return [run.slowest for run in without_ecn(runs, n)]


def rank(run: Transfers, client: int) -> int:
    """Return the rank of a client by its download time; the fastest client has rank 1."""
    return 1 + int((run.time_s < run.time_s[client]).sum())


def _needs() -> Iterator[Need]:
    yield from map(need, WITHOUT.values())


def _then(runs: Runs) -> Iterator[Need]:
    for n, steps in STEPS.items():
        for count in steps[1:]:
            for r, setting in enumerate(with_ecn(runs, n, count)):
                yield Need(setting, (r,))


Worst = tuple[Transfers, int]
"""Result of a run, and the number of the client that is slowest without ECN."""

QUANTITIES = (
    Measure[Worst]("min_goodput", "kbit/s", lambda at: at[0].goodput_kbps.min(), 1,
                   "Lowest goodput (kbit/s)"),
    Measure[Worst]("goodput_efficiency", "%", lambda at: at[0].efficiency_percent, 1, "G (%)"),
    Measure[Worst]("dropped_packets", "packets", lambda at: at[0].dropped.sum(), -1, "Dropped"),
    Measure[Worst]("worst_client_dropped", "packets", lambda at: at[0].dropped[at[1]], -1,
                   "Dropped packets of the client that is slowest without ECN"),
    Measure[Worst]("worst_client_marked", "packets", lambda at: at[0].marked[at[1]], 0,
                   "Marked packets of the client that is slowest without ECN"),
    Measure[Worst]("worst_client_time", "s", lambda at: at[0].time_s[at[1]], -1,
                   "Download time (s) of the client that is slowest without ECN"),
    Measure[Worst]("worst_client_rank", "1", lambda at: rank(*at), -1,
                   "Rank of the client that is slowest without ECN"),
)  # fmt: skip


def _make(runs: Runs) -> Section:
    section = Section(
        text=[
            "Each replication first runs without ECN. Further runs of the replication enable ECN "
            "at the client that was slowest without ECN, then at the two slowest clients, and so "
            "on."
        ]
    )
    for n, steps in STEPS.items():
        columns = []
        for count in steps:
            pairs = list(zip(runs_with_ecn(runs, n, count), worst(runs, n), strict=True))
            where = {**WITHOUT[n].columns(), "ecn_clients": f"the {count} slowest"}
            columns.append([Cell.of("migration", where, q, pairs) for q in QUANTITIES])
            section.cells += columns[-1]
        rows: list[list[str | Entry]] = [
            [quantity.head, *(plain(column[i].ours) for column in columns)]
            for i, quantity in enumerate(QUANTITIES)
        ]
        head = ["Clients with ECN", *(f"{count} of {n}" for count in steps)]
        section.tables.append(Table(f"{n} clients, aggressive RED, limit 64", head, rows))
    return section


ITEM = Item("migration", "Migration: ECN at some clients only", _needs, _make, _then)
