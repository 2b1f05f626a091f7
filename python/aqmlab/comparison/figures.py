"""Figures of a comparison.

The trade-off between delay and goodput follows RFC 7928 §2.7, after Winstein 2014
(`winstein2014transport`). Each run is a point. Each ellipse is a contour of the maximum-likelihood
normal distribution of a queue's runs, and each large marker is their median. The queueing delay
decreases to the right, so a better queue has its points further up and further to the right.
"""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.comparison.run import flow_goodputs
from aqmlab.figures.files import inline
from aqmlab.figures.style import legend_below, limits, literal, logarithmic, look, sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from aqmlab.comparison.comparison import Comparison

SIGMAS = 1.0
"""Distance of the ellipse of a queue from the mean of its runs, in standard deviations."""

STEEP = 20
"""Maximum ratio of the longest to the shortest delay on a linear axis."""


def ellipse(
    x: Sequence[float], y: Sequence[float], sigmas: float = SIGMAS, points: int = 200
) -> tuple[np.ndarray, np.ndarray]:
    """Return a contour of the maximum-likelihood normal distribution of points.

    Parameters
    ----------
    x, y : sequence of float
        Coordinates of the points.
    sigmas : float
        Mahalanobis distance of the contour from the mean, in standard deviations. The contour at
        distance 1 encloses 39 % of the distribution.
    points : int
        Number of points of the contour.

    Returns
    -------
    x, y : numpy.ndarray of float, shape (points,)
        Coordinates of the contour; its tilt shows the covariance of the points.

    Examples
    --------
    >>> x, y = ellipse([-1, 1, -1, 1], [-2, -2, 2, 2])
    >>> [round(float(z), 3) for z in (x.max(), y.max())]
    [1.0, 2.0]
    """
    data = np.array([x, y], dtype=float)
    covariance = np.cov(data, bias=True)  # The maximum-likelihood estimate divides by n.
    values, vectors = np.linalg.eigh(covariance)
    angle = np.linspace(0, 2 * math.pi, points)
    circle = sigmas * np.array([np.cos(angle), np.sin(angle)])
    contour = vectors @ (np.sqrt(np.maximum(values, 0))[:, None] * circle)
    return contour[0] + data[0].mean(), contour[1] + data[1].mean()


def trade_off(comparison: Comparison, link: str, size: tuple[float, float] = (7.2, 5)) -> Figure:
    """Plot goodput over queueing delay: the runs of each queue, with an ellipse and the median."""
    figure, axes = sheet(size=size, of=comparison)
    all_delays: list[float] = []
    all_goodputs: list[float] = []
    for i, arm in enumerate(comparison.arms):
        colour, marker = look(i)
        delay = [1e3 * v for v in comparison.values(i, comparison.name("mean_delay_s", link))]
        goodput = [1e-6 * v for v in comparison.values(i, comparison.name("goodput_bps", link))]
        all_delays += delay
        all_goodputs += goodput
        axes.plot(delay, goodput, ".", color=colour, alpha=0.5, markersize=4)
        if len(delay) > 2:
            x, y = ellipse(delay, goodput)
            axes.fill(x, y, facecolor=colour, edgecolor=colour, alpha=0.2)
            axes.plot(x, y, color=colour, linewidth=1)
        axes.plot(
            np.median(delay), np.median(goodput), marker, color=colour, markersize=6,
            label=literal(arm.label), markerfacecolor="white", linestyle="none",
        )  # fmt: skip
    if min(all_delays) > 0 and max(all_delays) / min(all_delays) > STEEP:
        logarithmic(axes, "x")
    else:
        axes.set_xlim(limits(all_delays))
    axes.set_ylim(limits(all_goodputs))
    axes.invert_xaxis()
    axes.set_xlabel("mean queueing delay (ms), decreasing to the right")
    axes.set_ylabel("goodput (Mbit/s)")
    axes.set_title("better ↗", loc="right", fontsize=10, color="0.35")
    legend_below(figure, axes, columns=_columns(comparison))
    return figure


def delays(comparison: Comparison, link: str) -> Figure:
    """Plot the mean and the 95th and 99th percentile of the queueing delay of each queue."""
    names = ("mean_delay_s", "p95_delay_s", "p99_delay_s")
    parts = [("mean", "o", -0.2), ("95 % of packets", "s", 0), ("99 % of packets", "^", 0.2)]
    figure, axes = sheet(size=(7.2, _height(comparison)), of=comparison)
    for name, (label, marker, shift), colour in zip(
        names, parts, ("0.1", "0.4", "0.65"), strict=True
    ):
        of = comparison.name(name, link)
        _dots(axes, comparison, of, 1e3, shift, color=colour, marker=marker, label=label)
    axes.set_xlim(left=0)
    axes.set_xlabel("queueing delay (ms)")
    legend_below(figure, axes)
    return figure


def rates(comparison: Comparison, link: str) -> Figure:
    """Plot the shares of arriving packets that each queue dropped and marked."""
    figure, axes = sheet(size=(7.2, _height(comparison)), of=comparison)
    for shift, name, label, hatch in [
        (-0.2, "drop_rate", "dropped", ""),
        (0.2, "mark_rate", "marked (CE)", "///"),
    ]:
        middle, errors = _bounds(comparison, comparison.name(name, link), 100)
        rows, colours = np.arange(len(middle)) + shift, [look(i)[0] for i in range(len(middle))]
        axes.barh(rows, middle, height=0.36, color=colours, hatch=hatch, edgecolor="white")
        axes.bar(0, 0, color="0.6", hatch=hatch, edgecolor="white", label=label)  # for the legend
        seen = middle > 0
        axes.errorbar(
            middle[seen], rows[seen], xerr=errors[:, seen], linestyle="none", color="black",
            elinewidth=1, capsize=2,
        )  # fmt: skip
    _name_rows(axes, comparison)
    axes.set_xlim(left=0)
    axes.set_xlabel("share of arriving packets (%)")
    legend_below(figure, axes)
    return figure


def fairness(comparison: Comparison) -> Figure:
    """Plot Jain's index of each run, and the mean of each queue with its 95 % interval."""
    figure, axes = sheet(size=(7.2, _height(comparison)), of=comparison)
    for i in range(len(comparison.arms)):
        values = comparison.values(i, "jain")
        axes.plot(values, [i + 0.2] * len(values), ".", color=look(i)[0], alpha=0.6, markersize=4)
    _dots(axes, comparison, "jain", 1, 0, color="0.1", marker="o", label="mean")
    left = min(0.9, axes.get_xlim()[0])
    axes.set_xlim(left, 1 + (1 - left) / 40)  # The dot of perfect fairness needs a margin.
    axes.set_xlabel("Jain's index of the flows' goodputs (1: all equal)")
    return figure


def round_trips(comparison: Comparison) -> Figure:
    """Plot the mean goodput of each bulk flow over its round-trip time without queueing.

    Raises
    ------
    ValueError
        If all bulk flows have the same round-trip time.
    """
    figure, axes = sheet(of=comparison)
    times: list[float] = []
    for i, arm in enumerate(comparison.arms):
        points = flow_goodputs(comparison.runs[i]).values()
        if not points:
            continue
        rtts = [1e3 * time_s for time_s, _ in points]
        low, middle, high = (
            1e-6 * np.array(part) for part in zip(*(m for _, m in points), strict=True)
        )
        errors = np.nan_to_num(np.array([middle - low, high - middle]))
        colour, marker = look(i)
        shift = 1 + 0.015 * (i - (len(comparison.arms) - 1) / 2)  # No dot covers another.
        axes.errorbar(
            [shift * rtt for rtt in rtts], middle, yerr=errors, fmt=marker, color=colour,
            capsize=2, elinewidth=1, markerfacecolor="none", label=literal(arm.label),
        )  # fmt: skip
        times += rtts
    if not times:
        raise ValueError(
            "the bulk flows through the compared links have equal round-trip times; use "
            "plot.fairness() instead"
        )
    if min(times) > 0 and max(times) / min(times) > STEEP:
        logarithmic(axes, "x")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("round-trip time without queueing (ms)")
    axes.set_ylabel("goodput of a flow (Mbit/s)")
    legend_below(figure, axes, columns=_columns(comparison))
    return figure


def queue_over_time(comparison: Comparison, link: str) -> Figure:
    """Plot the queue length over time in the first replication, one panel per queue."""
    n = len(comparison.arms)
    columns = 2 if n > 1 else 1
    rows = math.ceil(n / columns)
    size = (9.0, 1.9 * rows + 0.4)
    figure, panels = sheet(
        rows, columns, size, of=comparison, sharex=True, sharey=True, squeeze=False
    )
    for i, axes in enumerate(panels.flat):
        if i >= n:
            axes.set_visible(False)
            continue
        time_s, packets = (comparison.runs[i][0].traces or {}).get(link, [[], []])
        axes.plot(time_s, packets, color=look(i)[0], linewidth=0.7)
        axes.set_title(literal(comparison.arms[i].label), loc="left", fontsize=9)
        axes.margins(x=0)
        if i % columns == 0:
            axes.set_ylabel("queue (packets)")
        if i + columns >= n:
            axes.set_xlabel("time (s)")
            axes.tick_params(labelbottom=True)
    panels[0, 0].set_ylim(bottom=0)  # The panels share their axes, which now contain every line.
    return figure


class Plots:
    """Figures of a comparison; each method returns a Matplotlib figure.

    The parameter `link` of the methods is the name of a link with the compared queues; default: the
    first of these links.

    Parameters
    ----------
    comparison : Comparison
        The comparison.

    Examples
    --------
    >>> from aqmlab.comparison import compare
    >>> c = compare(["drop_tail", "codel"], overrides={"duration": "5 s"}, replications=2)
    >>> c.plot.delays().axes[0].get_xlabel()
    'queueing delay (ms)'
    """

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def __repr__(self) -> str:
        methods = "trade_off(), delays(), rates(), fairness(), round_trips() and queue()"
        return f"<Plots of a comparison: {methods}>"

    def trade_off(self, link: str | None = None) -> Figure:
        """Plot goodput over queueing delay; see :func:`trade_off`."""
        return trade_off(self._comparison, self._link(link))

    def delays(self, link: str | None = None) -> Figure:
        """Plot the queueing delay of each queue; see :func:`delays`."""
        return delays(self._comparison, self._link(link))

    def rates(self, link: str | None = None) -> Figure:
        """Plot the shares of dropped and marked packets; see :func:`rates`."""
        return rates(self._comparison, self._link(link))

    def fairness(self) -> Figure:
        """Plot Jain's index of the flows' goodputs; see :func:`fairness`."""
        return fairness(self._comparison)

    def round_trips(self) -> Figure:
        """Plot the goodput of each bulk flow over its round-trip time; see :func:`round_trips`."""
        return round_trips(self._comparison)

    def queue(self, link: str | None = None) -> Figure:
        """Plot the queue length over time in the first replication of each queue."""
        return queue_over_time(self._comparison, self._link(link))

    def small(self) -> list[str]:
        """Return the trade-off as a small SVG element; an empty list if it was not measured."""
        link = self._comparison.links[0]
        drawn = {self._comparison.name(m, link) for m in ("goodput_bps", "mean_delay_s")}
        if not drawn <= {m.name for m in self._comparison.measures}:
            return []
        return [inline(trade_off(self._comparison, link, (4.8, 3)))]

    def _link(self, link: str | None) -> str:
        """Return the name of a compared link; raise ValueError for any other name."""
        links = self._comparison.links
        if link is not None and link not in links:
            raise ValueError(
                f"link: {link!r} has no compared queue; choose from {', '.join(links)}"
            )
        return links[0] if link is None else link


def _height(comparison: Comparison) -> float:
    """Return the height of a figure with one row per queue, in inches."""
    return 1.3 + 0.45 * len(comparison.arms)


def _columns(comparison: Comparison) -> int:
    """Return the number of columns of the legend, so that its longest label fits."""
    longest = max(len(arm.label) for arm in comparison.arms)
    return max(1, min(4, 96 // (longest + 8)))


def _bounds(comparison: Comparison, name: str, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of a measure for each queue, and the lengths of the error bars."""
    intervals = [comparison.interval(i, name) for i in range(len(comparison.arms))]
    low, middle, high = (scale * np.array(part) for part in zip(*intervals, strict=True))
    return middle, np.nan_to_num(np.array([middle - low, high - middle]))


def _dots(
    axes: Axes, comparison: Comparison, name: str, scale: float, shift: float, **style: Any
) -> None:
    """Plot a dot with an error bar per queue, `shift` rows below the row of the queue."""
    middle, errors = _bounds(comparison, name, scale)
    axes.errorbar(
        middle, np.arange(len(middle)) + shift, xerr=errors, linestyle="none", capsize=2,
        elinewidth=1, **style,
    )  # fmt: skip
    _name_rows(axes, comparison)


def _name_rows(axes: Axes, comparison: Comparison) -> None:
    """Label the vertical axis with the queues, from top to bottom."""
    names = [literal(arm.label).replace(",", ", ") for arm in comparison.arms]
    labels = [textwrap.fill(name, 26) for name in names]
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
