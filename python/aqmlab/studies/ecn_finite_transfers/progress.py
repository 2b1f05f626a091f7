"""Figures 5, 7 and 9 to 13: download progress of the fastest and the slowest client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from aqmlab.measures import Measure
from aqmlab.studies.ecn_finite_transfers import migration
from aqmlab.studies.ecn_finite_transfers.drawing import (
    FASTEST,
    SLOWEST,
    band,
    legend_below,
    sheet,
)
from aqmlab.studies.ecn_finite_transfers.replications import need
from aqmlab.studies.ecn_finite_transfers.scenarios import Setting
from aqmlab.studies.ecn_finite_transfers.transfers import Floats, Transfers
from aqmlab.studies.framework.runs import Need, Record, Runs
from aqmlab.studies.framework.study import Figure, Item, Section
from aqmlab.studies.framework.verdicts import Cell

WINDOW = Record(frozenset({"window"}), 0.5)
TIMES = {
    "fastest": Measure[Transfers]("download_time", "s", lambda run: run.time_s.min(), -1),
    "slowest": Measure[Transfers]("download_time", "s", lambda run: run.time_s.max(), -1),
}
SPREAD = Measure[Transfers]("download_time_difference", "%", lambda run: run.spread_percent, -1)
ROLES = (("fastest", FASTEST), ("slowest", SLOWEST))


def _curve(run: Transfers, client: int, time_s: Floats) -> Floats:
    """Return the acknowledged data of a client at the sampled times, in MiB."""
    assert run.progress is not None
    return np.interp(time_s, run.progress.time_s, run.progress.acked_bytes[:, client]) / 2**20


def _name(setting: Setting, client: int) -> str:
    return f"C{client} with ECN" if client in setting.ecn_clients else f"C{client}"


def draw(number: int, title: str, pairs: list[tuple[Setting, Transfers]]) -> Figure:
    """Plot the acknowledged data of the fastest and the slowest client over time."""
    figure, axes = sheet()
    setting, first = pairs[0]
    end = max(run.time_s.max() for _, run in pairs)
    time_s = np.arange(0, end + 0.5, 0.5)
    for role, colour in ROLES:
        band(axes, time_s, [_curve(run, getattr(run, role), time_s) for _, run in pairs], colour)
        client = getattr(first, role)
        label = f"{role} ({_name(setting, client)})"
        axes.plot(time_s, _curve(first, client, time_s), color=colour, label=label)
    if len(setting.ecn_clients) == 1:
        (client,) = setting.ecn_clients
        label = _name(setting, client)
        axes.plot(time_s, _curve(first, client, time_s), ":", color="black", label=label)
    axes.set(xlabel="time (s)", ylabel="acknowledged data (MiB)", ylim=(0, 20.5))
    axes.set_xlim(0, end)
    legend_below(figure, axes)
    caption = (
        f"{title}. Lines show replication 0, in which all downloads start at the same time. Bands "
        "contain the central 95 % of the replications, for the fastest client and for the slowest "
        "client of each replication."
    )
    return Figure(f"figure_{number:02d}", caption, figure)


def cells(item: str, pairs: list[tuple[Setting, Transfers]]) -> Iterator[Cell]:
    """Yield the download times of the fastest and the slowest client, and their difference in %."""
    columns = pairs[0][0].columns()
    runs = [run for _, run in pairs]
    for role, time in TIMES.items():
        yield Cell.of(item, {**columns, "client": role}, time, runs)
    yield Cell.of(item, columns, SPREAD, runs)


def section(item: str, number: int, title: str, pairs: list[tuple[Setting, Transfers]]) -> Section:
    """Return the section with a figure of download progress and its numbers."""
    return Section([], list(cells(item, pairs)), [], [draw(number, title, pairs)])


def figure_item(number: int, title: str, setting: Setting) -> Item:
    """Return the item that reproduces one figure whose setting does not depend on other runs."""
    name, title = f"figure-{number}", f"Figure {number}: {title}"

    def needs() -> Iterable[Need]:
        yield need(setting, WINDOW)

    def make(runs: Runs) -> Section:
        return section(name, number, title, [(setting, run) for run in runs.of(setting)])

    return Item(name, title, needs, make)


def _figure_13() -> Item:
    """Return the item of figure 13, in which only each replication's slowest client has ECN."""
    title = "Figure 13: progress, five clients, ECN only at the client that is slowest without ECN"

    def needs() -> Iterable[Need]:
        yield need(migration.WITHOUT[5])

    def then(runs: Runs) -> Iterable[Need]:
        for r, setting in enumerate(migration.with_ecn(runs, 5, 1)):
            yield Need(setting, (r,), record=WINDOW)

    def make(runs: Runs) -> Section:
        settings = migration.with_ecn(runs, 5, 1)
        pairs = [(setting, runs.one(setting, r)) for r, setting in enumerate(settings)]
        return section("figure-13", 13, title, pairs)

    return Item("figure-13", title, needs, make, then)


ITEMS = (
    figure_item(5, "progress of two downloads, Drop Tail, limit 64", Setting(2, "DT", 64)),
    figure_item(
        7, "progress of two downloads, aggressive RED, limit 128", Setting(2, "RED-A", 128)
    ),
    figure_item(
        9, "progress of two downloads, conservative ECN, limit 64", Setting(2, "ECN-C", 64)
    ),
    figure_item(10, "progress, five clients, Drop Tail, limit 64", Setting(5, "DT", 64)),
    figure_item(11, "progress, five clients, aggressive RED, limit 64", Setting(5, "RED-A", 64)),
    figure_item(12, "progress, five clients, aggressive ECN, limit 64", Setting(5, "ECN-A", 64)),
    _figure_13(),
)
