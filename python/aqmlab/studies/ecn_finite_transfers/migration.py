"""Migration: ECN at some of the clients only, aggressive RED, limit 64, five and ten clients.

The study enables ECN at the client that was slowest without it. Which one that is differs between
replications, so each replication takes its own: the slowest of its own run without ECN, then the
two slowest, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from aqmlab.report import Entry, Table
from aqmlab.studies.ecn_finite_transfers.scenarios import Setting
from aqmlab.studies.ecn_finite_transfers.transfers import Transfers
from aqmlab.studies.plan import Need, Runs
from aqmlab.studies.show import plain
from aqmlab.studies.study import Item, Section
from aqmlab.studies.verdicts import Cell, Spread

WITHOUT = {n: Setting(n, "RED-A", 64) for n in (5, 10)}
STEPS = {5: (0, 1, 2, 3, 4, 5), 10: (0, 1)}


def with_ecn(runs: Runs, n: int, count: int) -> list[Setting]:
    """For each replication: ECN at the `count` clients that are slowest without it."""
    settings = []
    for run in runs.of(WITHOUT[n]):
        slowest = np.argsort(-run.time_s, kind="stable")[:count]
        clients = tuple(sorted(int(c) for c in slowest))
        settings.append(replace(WITHOUT[n], ecn=clients or None))
    return settings


def runs_with_ecn(runs: Runs, n: int, count: int) -> list[Transfers]:
    """Return the runs of `with_ecn`, one per replication."""
    return [runs.one(setting, r) for r, setting in enumerate(with_ecn(runs, n, count))]


def worst(runs: Runs, n: int) -> list[int]:
    """Return the client that is slowest without ECN, per replication."""
    return [run.slowest for run in runs.of(WITHOUT[n])]


def rank(run: Transfers, client: int) -> int:
    """1 for the client that finishes first."""
    return 1 + int((run.time_s < run.time_s[client]).sum())


def _needs() -> Iterator[Need]:
    yield from map(Need, WITHOUT.values())


def _then(runs: Runs) -> Iterator[Need]:
    for n, steps in STEPS.items():
        for count in steps[1:]:
            for r, setting in enumerate(with_ecn(runs, n, count)):
                yield Need(setting, (r,))


QUANTITIES = (
    ("min_goodput", "kbit/s", "Lowest goodput (kbit/s)"),
    ("goodput_efficiency", "%", "G (%)"),
    ("dropped_packets", "packets", "Dropped"),
    ("worst_client_dropped", "packets", "Dropped of the client that was slowest"),
    ("worst_client_marked", "packets", "Marked of that client"),
    ("worst_client_time", "s", "Its download time (s)"),
    ("worst_client_rank", "1", "Its rank"),
)


def _numbers(run: Transfers, client: int) -> tuple[float, ...]:
    """Return the quantities of one run, in order."""
    return (
        float(run.goodput_kbps.min()),
        run.efficiency_percent,
        float(run.dropped.sum()),
        float(run.dropped[client]),
        float(run.marked[client]),
        float(run.time_s[client]),
        float(rank(run, client)),
    )


def _make(runs: Runs) -> Section:
    section = Section(
        text=[
            "Each replication enables ECN at the clients that are slowest in its own run without "
            "ECN: first the slowest, then the two slowest, and so on."
        ]
    )
    for n, steps in STEPS.items():
        columns = []
        for count in steps:
            pairs = zip(runs_with_ecn(runs, n, count), worst(runs, n), strict=True)
            numbers = [_numbers(run, client) for run, client in pairs]
            columns.append([Spread.of(values) for values in zip(*numbers, strict=True)])
            where = {**WITHOUT[n].columns(), "ecn_clients": f"the {count} slowest"}
            section.cells += [
                Cell("migration", where, name, unit, spread)
                for (name, unit, _), spread in zip(QUANTITIES, columns[-1], strict=True)
            ]
        rows: list[list[str | Entry]] = [
            [label, *(plain(column[i]) for column in columns)]
            for i, (_, _, label) in enumerate(QUANTITIES)
        ]
        head = ["Clients with ECN", *(f"{count} of {n}" for count in steps)]
        section.tables.append(Table(f"{n} clients, aggressive RED, limit 64", head, rows))
    return section


ITEM = Item("migration", "Migration: ECN at some clients only", _needs, _make, _then)
