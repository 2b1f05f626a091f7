"""Figures 6 and 8: congestion windows of two downloads."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from aqmlab.studies.ecn_finite_transfers.drawing import FASTEST, SLOWEST, sheet
from aqmlab.studies.ecn_finite_transfers.scenarios import RECEIVE_WINDOW_BYTES, Setting
from aqmlab.studies.framework.runs import Need, Record, Runs
from aqmlab.studies.framework.study import Figure, Item, Section

TRACE = Record(frozenset({"window", "drops"}), 0.5)


def figure_item(number: int, title: str, setting: Setting) -> Item:
    """Return the item of the study that reproduces one figure."""
    name, title = f"figure-{number}", f"Figure {number}: {title}"

    def needs() -> Iterable[Need]:
        yield Need(setting, (0,), record=TRACE)

    def make(runs: Runs) -> Section:
        run = runs.one(setting, 0)
        figure, axes = sheet(2, 1, (7.2, 5.2))
        for client, colour, panel in zip((0, 1), (FASTEST, SLOWEST), axes, strict=True):
            time_s = run.progress.time_s
            alive = time_s <= run.time_s[client]
            cwnd = run.progress.cwnd_bytes[:, client] / 1024
            panel.plot(time_s[alive], cwnd[alive], color=colour, label=f"cwnd of C{client}")
            lost = run.drops.time_s[run.drops.client == client]
            panel.plot(
                lost,
                np.zeros(lost.size),
                "|",
                color="black",
                markersize=7,
                clip_on=False,
                label="drop" if client else None,
            )
            panel.axhline(
                RECEIVE_WINDOW_BYTES / 1024,
                color="grey",
                linestyle=":",
                linewidth=1,
                label="receive window" if client else None,
            )
            panel.set(ylabel="cwnd (KiB)", xlim=(0, run.time_s.max()), ylim=(0, None))
        axes[0].sharex(axes[1])
        axes[1].set_xlabel("time (s)")
        handles = [h for panel in axes for h in panel.get_legend_handles_labels()[0]]
        labels = [t for panel in axes for t in panel.get_legend_handles_labels()[1]]
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        caption = (
            f"{title}. The curves are from replication 0, sampled every 0.5 s. The sender cannot "
            "use the part of cwnd above the receive window."
        )
        return Section(figures=[Figure(f"figure_{number:02d}", caption, figure)])

    return Item(name, title, needs, make)


ITEMS = (
    figure_item(6, "congestion windows, two downloads, Drop Tail, limit 64", Setting(2, "DT", 64)),
    figure_item(
        8, "congestion windows, two downloads, aggressive RED, limit 128", Setting(2, "RED-A", 128)
    ),
)
