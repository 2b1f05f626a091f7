"""Global synchronization: simultaneous losses and timeouts of clients, and an idle bottleneck.

The indices of synchronization are measured while all clients run. The synchronization indices
require every drop, and samples of the congestion windows every 50 ms, which only the first five
replications record:

- loss synchronization: share of congestion epochs in which more than half of the clients lose
  packets;
- retransmission synchronization: share of timeouts that more than half of the clients have within
  one round trip with a full queue;
- idle time of the bottleneck until the last download ends, in %.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from aqmlab.measures import Measure
from aqmlab.report import Entry, Table
from aqmlab.studies.ecn_finite_transfers.drawing import legend_below, sheet
from aqmlab.studies.ecn_finite_transfers.epochs import (
    coincident_share,
    epochs,
    full_queue_rtt_s,
)
from aqmlab.studies.ecn_finite_transfers.scenarios import SCHEMES, Setting
from aqmlab.studies.ecn_finite_transfers.transfers import Incidents, Transfers
from aqmlab.studies.framework.runs import Need, Record, Runs
from aqmlab.studies.framework.show import plain
from aqmlab.studies.framework.study import Figure, Item, Section
from aqmlab.studies.framework.verdicts import Cell

TRACED = 5
"""Number of replications that record drops and congestion windows."""
FINE = Record(frozenset({"window", "drops"}), interval_s=0.05)
SETTINGS = tuple(Setting(n, s, q) for n in (2, 5, 10) for q in (64, 16) for s in SCHEMES)
SHOWN = Setting(10, "DT", 64)


@dataclass(frozen=True)
class Together:
    """Synchronization indices of one run, in %; NaN if no loss or timeout occurred."""

    losses: float
    retransmissions: float
    idle: float
    timeouts: float
    losses_by_timeout: float


def together(setting: Setting, run: Transfers) -> Together:
    """Return the synchronization indices of a run, measured while all its clients are active."""
    until, rtt = float(run.time_s.min()), full_queue_rtt_s(setting)
    losers = epochs(run, rtt).before(until).losers
    assert run.timed_out is not None
    active = run.timed_out.time_s <= until
    timed_out = Incidents(run.timed_out.time_s[active], run.timed_out.client[active])
    timeouts, recoveries = run.timeouts.sum(), run.fast_retransmits.sum()
    return Together(
        100 * float(np.mean(2 * losers > run.n)) if losers.size else float("nan"),
        100 * coincident_share(timed_out, run.n, rtt),
        100 - run.utilization_percent,
        float(timeouts),
        100 * timeouts / max(1, timeouts + recoveries),
    )


def measured(runs: Runs, setting: Setting) -> list[Together]:
    """Return the synchronization indices of each replication that records every drop."""
    return [together(setting, run) for run in runs.of(setting)[:TRACED]]


QUANTITIES = (
    Measure[Together]("loss_synchronization", "%", lambda t: t.losses, -1,
                      "Epochs with losses of more than half of the clients (%)"),
    Measure[Together]("retransmission_synchronization", "%", lambda t: t.retransmissions, -1,
                      "Timeouts of more than half of the clients at once (%)"),
    Measure[Together]("link_idle", "%", lambda t: t.idle, -1, "Bottleneck idle (%)"),
    Measure[Together]("timeouts", "1", lambda t: t.timeouts, -1, "Timeouts"),
    Measure[Together]("recoveries_by_timeout", "%", lambda t: t.losses_by_timeout, -1,
                      "Recoveries by timeout (%)"),
)  # fmt: skip


def _needs() -> Iterator[Need]:
    for setting in SETTINGS:
        yield Need(setting, at_most=TRACED, record=FINE)


def _make(runs: Runs) -> Section:
    section = Section(
        text=[
            "Losses are synchronized if more than half of the clients lose packets within one "
            "round trip with a full queue. Retransmissions are synchronized if more than half of "
            "the clients have a timeout within one round trip with a full queue. The study argues "
            "that synchronized losses do not cause synchronized retransmissions, so that the link "
            "stays busy.",
            "The indices are measured while all clients run, in the first "
            f"{min(TRACED, runs.replications)} replications.",
        ],
        figures=[_raster(runs)],
    )
    for n in (2, 5, 10):
        for limit in (64, 16):
            section.tables.append(_table(runs, n, limit, section.cells))
    return section


def _table(runs: Runs, n: int, limit: int, cells: list[Cell]) -> Table:
    columns = []
    for scheme in SCHEMES:
        setting = Setting(n, scheme, limit)
        seen = measured(runs, setting)
        columns.append([Cell.of("synchronization", setting.columns(), q, seen) for q in QUANTITIES])
        cells += columns[-1]
    rows: list[list[str | Entry]] = [
        [quantity.head, *(plain(column[i].ours) for column in columns)]
        for i, quantity in enumerate(QUANTITIES)
    ]
    return Table(f"{n} clients, limit {limit}", ["", *SCHEMES], rows)


def _raster(runs: Runs) -> Figure:
    """Plot the times of the losses and timeouts of ten clients in the first 200 s."""
    run = runs.one(SHOWN, 0)
    figure, axes = sheet(size=(8.4, 3.8))
    axes.plot(run.drops.time_s, run.drops.client, "|", color="#0072B2", label="drop", markersize=9)
    axes.plot(
        run.timed_out.time_s,
        run.timed_out.client,
        "x",
        color="#D55E00",
        label="timeout",
        markersize=5,
    )
    axes.set(xlabel="time (s)", xlim=(0, 200), yticks=range(10))
    axes.set_yticklabels([f"C{i}" for i in range(10)])
    axes.set_ylabel("client")
    legend_below(figure, axes)
    caption = (
        "Drops and timeouts of ten clients through Drop Tail (limit 64, replication 0) in the "
        "first 200 s. The slow starts of all clients end at the same time. The table has the "
        "synchronization indices of the whole run."
    )
    return Figure("synchronization", caption, figure)


ITEM = Item("synchronization", "Global synchronization", _needs, _make)
