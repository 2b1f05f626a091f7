"""How the figures of the study look: one colour and marker a scheme, bands for replications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.studies.verdicts import Spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "DT": "#000000",
    "RED-C": "#E69F00",
    "RED-A": "#D55E00",
    "ECN-C": "#56B4E9",
    "ECN-A": "#0072B2",
}
MARKERS = {"DT": "o", "RED-C": "s", "RED-A": "D", "ECN-C": "^", "ECN-A": "v"}
NAMES = {
    "DT": "Drop Tail",
    "RED-C": "RED, conservative",
    "RED-A": "RED, aggressive",
    "ECN-C": "ECN, conservative",
    "ECN-A": "ECN, aggressive",
}
FASTEST, SLOWEST = "#0072B2", "#D55E00"

STYLE: Any = {
    "font.size": 10,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#e3e3e3",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 5,
}


def sheet(
    rows: int = 1, columns: int = 1, size: tuple[float, float] = (7.2, 4.2)
) -> tuple[Figure, Any]:
    """Return an empty figure and its axes, as `matplotlib.pyplot.subplots` without a window."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        return figure, figure.subplots(rows, columns)


def against_limit(
    axes: Axes, curves: Mapping[str, Sequence[Spread]], limits: Sequence[int], label: str
) -> None:
    """One line a scheme over the queue limit, with the central 95 % of the replications."""
    for scheme, spreads in curves.items():
        colour = COLOURS[scheme]
        axes.fill_between(
            limits,
            [s.low for s in spreads],
            [s.high for s in spreads],
            color=colour,
            alpha=0.15,
            linewidth=0,
        )
        axes.plot(
            limits,
            [s.median for s in spreads],
            color=colour,
            linestyle="--" if scheme.startswith("ECN") else "-",
            marker=MARKERS[scheme],
            label=NAMES[scheme],
        )
    limit_axis(axes, limits)
    axes.set_ylabel(label)


def limit_axis(axes: Axes, limits: Sequence[int]) -> None:
    """Return the queue limits on a doubling axis, each with its number."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(limits), [str(limit) for limit in limits])
    axes.minorticks_off()
    axes.set_xlabel("queue limit (packets)")


def band(axes: Axes, time_s: np.ndarray, curves: Sequence[np.ndarray], colour: str) -> None:
    """Return the central 95 % of one curve per replication."""
    if len(curves) > 1:
        low, high = np.quantile(np.array(curves), [0.025, 0.975], axis=0)
        axes.fill_between(time_s, low, high, color=colour, alpha=0.15, linewidth=0)


def legend_below(figure: Figure, axes: Axes, columns: int = 3) -> None:
    """Return the legend under the axes, where no line runs."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
