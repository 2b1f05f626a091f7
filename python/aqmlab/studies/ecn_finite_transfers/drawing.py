"""Style of the figures: colours and markers of the schemes, and bands for the replications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.estimates import Estimate
from aqmlab.figures.style import legend_below, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
__all__ = ["against_limit", "band", "legend_below", "limit_axis", "sheet"]

FASTEST, SLOWEST = "#0072B2", "#D55E00"


def against_limit(
    axes: Axes, curves: Mapping[str, Sequence[Estimate]], limits: Sequence[int], label: str
) -> None:
    """Plot each scheme's measure against the queue limit, with the central 95 % of replications."""
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
            [s.value for s in spreads],
            color=colour,
            linestyle="--" if scheme.startswith("ECN") else "-",
            marker=MARKERS[scheme],
            label=NAMES[scheme],
        )
    limit_axis(axes, limits)
    axes.set_ylabel(label)


def limit_axis(axes: Axes, limits: Sequence[int]) -> None:
    """Set up a base-2 logarithmic axis that labels each queue limit."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(limits), [str(limit) for limit in limits])
    axes.minorticks_off()
    axes.set_xlabel("queue limit (packets)")


def band(axes: Axes, time_s: np.ndarray, curves: Sequence[np.ndarray], colour: str) -> None:
    """Plot the range of the central 95 % of the curves; each replication has one curve."""
    if len(curves) > 1:
        low, high = np.quantile(np.array(curves), [0.025, 0.975], axis=0)
        axes.fill_between(time_s, low, high, color=colour, alpha=0.15, linewidth=0)
