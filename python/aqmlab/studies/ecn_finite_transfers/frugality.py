"""Figures 14 and 15: packets that the server sent to ten clients, by their fate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.studies.ecn_finite_transfers import efficiency
from aqmlab.studies.ecn_finite_transfers.drawing import sheet
from aqmlab.studies.ecn_finite_transfers.replications import need
from aqmlab.studies.ecn_finite_transfers.scenarios import SCHEMES, Setting
from aqmlab.studies.framework.runs import Need, Runs
from aqmlab.studies.framework.study import Figure, Item, Section

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure

PARTS = (
    ("payload", "#222222", None),
    ("duplicate and retransmitted, delivered", "#b0b0b0", "////"),
    ("dropped at the gateway", "#ffffff", None),
)


def figure_item(number: int, delay_ms: int) -> Item:
    """Return the item of the study that reproduces one figure."""
    name = f"figure-{number}"
    title = f"Figure {number}: packets sent to ten clients"
    if delay_ms != 20:
        title += f", d = {delay_ms} ms"

    def needs() -> Iterable[Need]:
        yield from map(need, efficiency.grid(10, delay_ms))

    def make(runs: Runs) -> Section:
        caption = (
            f"{title}: medians of the replications, by queue limit and scheme (D: Drop Tail, R: "
            "RED, E: ECN; c: conservative, a: aggressive). The upper panel shows payload, "
            "duplicate and dropped packets, and the lower panel shows only duplicate and dropped "
            "packets. Whiskers show the central 95 % of duplicate plus dropped packets."
        )
        drawn = Figure(f"figure_{number:02d}", caption, _draw(runs, delay_ms))
        return Section([], efficiency.cells(name, runs, efficiency.grid(10, delay_ms)), [], [drawn])

    return Item(name, title, needs, make)


def _draw(runs: Runs, delay_ms: int) -> MatplotlibFigure:
    from matplotlib.patches import Patch

    figure, (whole, overhead) = sheet(2, 1, (9.0, 6.4))
    limits = efficiency.limits_of(10)
    labels = []
    for group, limit in enumerate(limits):
        for i, scheme in enumerate(SCHEMES):
            at = group * (len(SCHEMES) + 1) + i
            setting = Setting(10, scheme, limit, delay_ms=delay_ms)
            labels.append((at, "D" if scheme == "DT" else scheme[0] + scheme[-1].lower()))
            _bars(runs, setting, at, whole, overhead)
    middle = [g * (len(SCHEMES) + 1) + (len(SCHEMES) - 1) / 2 for g in range(len(limits))]
    for panel in (whole, overhead):
        panel.grid(False, axis="x")
        panel.set_xticks([at for at, _ in labels], [text for _, text in labels], fontsize=7)
        panel.set_ylabel("packets" if panel is whole else "packets beyond the payload")
        panel.yaxis.set_major_formatter("{x:,.0f}")
        for x, limit in zip(middle, limits, strict=True):
            panel.annotate(
                str(limit),
                (x, 0),
                (0, -24),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                ha="center",
                fontsize=9,
                annotation_clip=False,
            )
    overhead.set_xlabel("scheme, and queue limit (packets)", labelpad=16)
    patches = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="black", linewidth=0.6, label=label)
        for label, colour, hatch in PARTS
    ]
    figure.legend(handles=patches, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _bars(runs: Runs, setting: Setting, at: float, whole: Axes, overhead: Axes) -> None:
    """Plot the stacked bar of one setting in both panels of the figure."""
    chosen = runs.of(setting)
    duplicates = float(np.median([run.duplicates for run in chosen]))
    dropped = float(np.median([run.dropped.sum() for run in chosen]))
    heights = (setting.payload_segments, duplicates, dropped)
    for panel, skip in ((whole, 0), (overhead, 1)):
        bottom = 0.0
        for (_, colour, hatch), height in list(zip(PARTS, heights, strict=True))[skip:]:
            panel.bar(
                at,
                height,
                bottom=bottom,
                width=0.85,
                color=colour,
                hatch=hatch,
                edgecolor="black",
                linewidth=0.5,
            )
            bottom += height
    extra = [run.duplicates + run.dropped.sum() for run in chosen]
    low, high = np.quantile(extra, [0.025, 0.975])
    overhead.vlines(at, low, high, color="#c0392b", linewidth=1.2)


ITEMS = (figure_item(14, 20), figure_item(15, 100))
