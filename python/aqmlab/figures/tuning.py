"""Figure of the results of `aqmlab tune-red`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aqmlab.figures.style import legend_below, look, sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from aqmlab.experiment.tuning import ThresholdPair


def threshold_pairs(pairs: Sequence[ThresholdPair], best: ThresholdPair, unit: str) -> Figure:
    """Plot the share of time that the average queue is between the thresholds, over minth.

    Parameters
    ----------
    pairs : sequence of ThresholdPair
        Evaluated pairs of thresholds, in ascending order of minth.
    best : ThresholdPair
        Best pair of thresholds, which a vertical line marks.
    unit : str
        Unit of the thresholds.

    Returns
    -------
    matplotlib.figure.Figure
        Figure with minth in `unit`, and one line per load with the shares in % of the time.
    """
    figure, axes = sheet()
    for i, load in enumerate(best.shares):
        colour, marker = look(i)
        inside = [100 * pair.shares[load].inside for pair in pairs]
        axes.plot([p.minth for p in pairs], inside, marker=marker, color=colour, label=load)
    label = f"chosen: {best.minth:g} and {best.maxth:g} {unit}"
    axes.axvline(best.minth, color="#666666", linestyle="--", linewidth=1, label=label)
    axes.set_xscale("log")
    ticks = [pair.minth for pair in pairs]
    while len(ticks) > 12:
        ticks = ticks[::2]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel(f"minth ({unit}); maxth is {best.maxth / best.minth:g} × minth")
    axes.set_ylabel("average queue between thresholds (% of time)")
    axes.set_ylim(-2, 102)
    legend_below(figure, axes, 3 if max(map(len, best.shares)) < 20 else 1)
    return figure
