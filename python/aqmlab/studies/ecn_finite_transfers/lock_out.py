"""Lock-out: shares of the link while all downloads run, and differences of download times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from aqmlab import estimates
from aqmlab.estimates import Estimate
from aqmlab.measures import Measure
from aqmlab.report import Entry, Table
from aqmlab.studies.ecn_finite_transfers import efficiency
from aqmlab.studies.ecn_finite_transfers.drawing import against_limit, legend_below, sheet
from aqmlab.studies.ecn_finite_transfers.replications import need
from aqmlab.studies.ecn_finite_transfers.scenarios import LIMITS, SCHEMES, Setting
from aqmlab.studies.ecn_finite_transfers.transfers import Transfers
from aqmlab.studies.framework.runs import Need, Record, Runs
from aqmlab.studies.framework.show import plain
from aqmlab.studies.framework.study import Figure, Item, Section
from aqmlab.studies.framework.verdicts import Cell

TRACE = Record(frozenset({"window", "drops"}), 0.5)
WINDOW = Record(frozenset({"window"}), 0.5)
RED_128 = Setting(2, "RED-A", 128)
TRACED = (Setting(2, "DT", 64), RED_128)
LEADS = (0, 5, 10, 100)
"""Bounds of the groups of replications by the lead of the faster download, in %."""


def slower_share_percent(run: Transfers) -> float:
    """Return the slower download's share of the link while both downloads run, in %."""
    rates = run.rate_while_all_run_kbps
    return float(100 * rates.min() / rates.sum())


def gap_percent(run: Transfers) -> float:
    """Return the goodput lead of the faster download, in % of the slower download's goodput."""
    rates = run.rate_while_all_run_kbps
    return float(100 * (rates.max() / rates.min() - 1))


def slower_progress_percent(run: Transfers) -> float:
    """Return the slower download's data when the faster download finishes, in % of a whole file."""
    acked = run.acked_at(float(run.time_s.min()))
    return float(100 * acked.min() / acked.max())


def lead_percent(run: Transfers) -> float:
    """Return the time that the fastest download needs less than the slowest, in % of the latter."""
    return float(100 * (1 - run.time_s.min() / run.time_s.max()))


QUANTITIES = (
    Measure[Transfers]("slower_share_while_both_run", "%", slower_share_percent, 1),
    Measure[Transfers]("goodput_gap_at_first_completion", "%", gap_percent, -1),
    Measure[Transfers]("download_time_difference", "%", lambda run: run.spread_percent, -1),
    Measure[Transfers]("jain_index", "1", lambda run: run.jain, 1),
)


def _needs() -> Iterator[Need]:
    for setting in efficiency.grid(2):
        yield need(setting, TRACE if setting in TRACED else WINDOW)
    for n in (5, 10):
        yield from map(need, efficiency.grid(n))


def _spread(runs: Runs, setting: Setting, quantity: Callable[[Transfers], float]) -> Estimate:
    return efficiency.spread(runs, setting, quantity)


def _cells(runs: Runs) -> Iterator[Cell]:
    for n, quantities in ((2, QUANTITIES), (5, QUANTITIES[2:]), (10, QUANTITIES[2:])):
        for setting in efficiency.grid(n):
            for quantity in quantities:
                yield Cell.of("lock-out", setting.columns(), quantity, runs.of(setting))


def _table(runs: Runs) -> Table:
    rows: list[list[str | Entry]] = [
        [
            scheme,
            *(plain(_spread(runs, Setting(2, scheme, q), slower_share_percent)) for q in LIMITS),
        ]
        for scheme in SCHEMES
    ]
    caption = "Share of the link that the slower of two downloads has while both run (%)"
    return Table(caption, ["Queue limit", *map(str, LIMITS)], rows)


def _drops_by_lead(runs: Runs) -> Table:
    """Return the drops of two downloads through RED, by the lead of the faster download."""
    rows: list[list[str | Entry]] = []
    for low, high in pairwise(LEADS):
        chosen = [run for run in runs.of(RED_128) if low <= lead_percent(run) < high]
        slower = estimates.median(run.dropped[run.slowest] for run in chosen)
        faster = estimates.median(run.dropped[run.fastest] for run in chosen)
        lead = f"{low} to {high} %" if high < LEADS[-1] else f"{low} % or more"
        rows.append([lead, str(len(chosen)), plain(slower), plain(faster)])
    caption = "Drops of two downloads, aggressive RED, limit 128, by the lead of the faster one"
    head = ["Lead", "Replications", "Drops of the slower client", "Drops of the faster client"]
    return Table(caption, head, rows)


def _figure(runs: Runs) -> Figure:
    figure, panels = sheet(1, 3, (10.0, 4.0))
    for n, axes in zip((2, 5, 10), panels, strict=True):
        limits = efficiency.limits_of(n)
        curves = {
            s: [_spread(runs, Setting(n, s, q), lambda run: run.spread_percent) for q in limits]
            for s in SCHEMES
        }
        against_limit(axes, curves, limits, "")
        axes.tick_params(axis="x", labelsize=8)
        axes.set_title(f"{n} clients", fontsize=10)
    panels[0].set_ylabel("excess of slowest over fastest time (%)")
    top = max(axes.get_ylim()[1] for axes in panels)
    for axes in panels:
        axes.set_ylim(0, top)
    legend_below(figure, panels[0], 5)
    caption = (
        "Excess of the slowest download time over the fastest download time, in %: medians "
        "(lines) and the central 95 % of the replications (bands)."
    )
    return Figure("lock_out", caption, figure)


def _make(runs: Runs) -> Section:
    text = [
        "A download is locked out if its share of the link is far below an equal share while all "
        "downloads run. With two downloads an equal share is 50 %. The median hides differences "
        "between replications: in one replication of a setting the shares may be equal, and in "
        "the next very unequal."
    ]
    return Section(text, list(_cells(runs)), [_table(runs), _drops_by_lead(runs)], [_figure(runs)])


ITEM = Item("lock-out", "Lock-out: shares of the link while all downloads run", _needs, _make)


def first_difference(run: Transfers, bytes_apart: float) -> float:
    """Return the first time in s at which two downloads differ by more than `bytes_apart` bytes."""
    assert run.progress is not None
    apart = np.abs(np.diff(run.progress.acked_bytes, axis=1))[:, 0] > bytes_apart
    return float(run.progress.time_s[apart.argmax()]) if apart.any() else float("nan")
