"""Figures of a random sample of web traffic: sizes, load over time, and Hurst parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aqmlab.figures.style import COLOURS, legend_below, logarithmic, look, sheet

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure

    from aqmlab.statistics import Hurst
    from aqmlab.traffic import Sample

SPANS = (1, 10, 100)
"""Averaging interval of each panel in a plot of the load, in multiples of the shortest interval."""


def sizes(sample: Sample) -> Figure:
    """Plot the tail of the distribution of sampled sizes, and of the distribution in the scenario.

    If the scenario sets a size to a constant, the figure omits this size.

    Returns
    -------
    matplotlib.figure.Figure
        Figure with sizes in B on logarithmic axes. Dots are sampled sizes at about equal distances
        on the axis, and lines are the distributions in the scenario.
    """
    import numpy as np

    from aqmlab.traffic import distributions

    figure, axes = sheet()
    written = distributions(sample.traffic)
    for i, key in enumerate(("response", "main_response", "request")):
        values = np.sort(sample.drawn.get(key, []))
        if not len(values) or values[0] == values[-1]:  # absent or constant
            continue
        colour, name = look(i)[0], key.replace("_", " ")
        exceeds = 1 - np.arange(len(values)) / len(values)
        shown = np.unique(np.geomspace(1, len(values), 200).astype(int)) - 1
        shown = len(values) - 1 - shown
        axes.plot(values[shown], exceeds[shown], ".", color=colour, label=f"{name}, sample")
        tail = np.geomspace(1, exceeds[-1] / 10, 300)
        tail_sizes = written[key].quantile(1 - tail)
        axes.plot(
            tail_sizes, tail, color=colour, linewidth=1, alpha=0.7, label=f"{name}, distribution"
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("size (B)")
    axes.set_ylabel("share of larger objects")
    legend_below(figure, axes, 2)
    return figure


def load(sample: Sample, bin_s: float, rate_bps: float) -> Figure:
    """Plot the load at three time scales, each ten times as coarse as the previous one.

    Returns
    -------
    matplotlib.figure.Figure
        Figure with the time in s, and the load in Mbit/s. A load without long-range dependence is
        smooth at coarse time scales.
    """
    import numpy as np

    rates = sample.rates_bps(bin_s, rate_bps) / 1e6
    count = len(rates) // SPANS[-1]
    figure, panels = sheet(len(SPANS), 1, (7.2, 6.0))
    for i, (span, axes) in enumerate(zip(SPANS, panels, strict=True)):
        values = rates[: count * span].reshape(count, span).mean(axis=1)
        times = (np.arange(count) + 0.5) * bin_s * span
        axes.plot(times, values, color=COLOURS[i], linewidth=0.8)
        axes.set_title(f"mean over {bin_s * span:g} s", fontsize=9, loc="left")
        axes.set_ylabel("load (Mbit/s)")
        axes.set_ylim(bottom=0)
        axes.set_xlim(0, count * bin_s * span)
    panels[-1].set_xlabel("time after the warm-up (s)")
    return figure


def hurst(estimates: dict[str, Hurst], bin_s: float) -> Figure:
    """Plot the points and the fitted line from which each estimate of the Hurst parameter comes.

    Parameters
    ----------
    estimates : dict of str to Hurst
        Estimates with the names "aggregated variance" and "local Whittle".
    bin_s : float
        Sampling interval of the series from which the estimates were computed, in s.

    Returns
    -------
    matplotlib.figure.Figure
        Figure with variances over averaging intervals in s, and the periodogram over frequencies in
        Hz.
    """
    import numpy as np

    figure, panels = sheet(1, 2, (9.0, 4.0))
    blocks, whittle = estimates["aggregated variance"], estimates["local Whittle"]
    spans, frequencies = blocks.x * bin_s, whittle.x / (2 * np.pi * bin_s)
    panels[0].plot(spans, blocks.y / blocks.y[0], "o", color=COLOURS[0], label="load")
    panels[0].plot(spans, blocks.line / blocks.y[0], color=COLOURS[1], label=_label(blocks))
    white = blocks.y[-1] / blocks.y[0] * blocks.x[-1] / blocks.x
    inside = white <= 1.5
    panels[0].plot(
        spans[inside], white[inside], "--", color="#666666", linewidth=1, label="H = 0.5"
    )
    panels[0].set_xlabel("averaging interval (s)")
    panels[0].set_ylabel("variance of means, relative")
    panels[1].plot(*_thinned(frequencies, whittle.y), ".", color=COLOURS[0], label="load")
    panels[1].plot(frequencies, whittle.line, color=COLOURS[1], label=_label(whittle))
    panels[1].set_xlabel("frequency (Hz)")
    panels[1].set_ylabel("periodogram (arbitrary unit)")
    for (name, _), axes in zip(estimates.items(), panels, strict=True):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(name, fontsize=10, loc="left")
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=4, frameon=False, ncols=2
        )
    logarithmic(panels[0], "y")
    return figure


def _label(estimate: Hurst) -> str:
    low, middle, high = estimate.interval
    return f"H = {middle:.2f} ({low:.2f} to {high:.2f})"


def _thinned(x: np.ndarray, y: np.ndarray, most: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """Return at most `most` of the points, at about equal distances on a logarithmic axis."""
    import numpy as np

    places = np.unique(np.geomspace(1, len(x), most).astype(int)) - 1
    return x[places], y[places]
