"""Figures of the distributions of response times under several schemes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aqmlab.figures.style import legend_below, look, sheet, stroke

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from aqmlab.measures.responses import Responses

POINTS = 400


def responses(schemes: Mapping[str, Sequence[Responses]], longest_s: float = 2.0) -> Figure:
    """Plot the distribution of the response times under each scheme, and its tail.

    Parameters
    ----------
    schemes : mapping of str to sequence of Responses
        Responses of each replication, by name of the scheme.
    longest_s : float
        Maximum response time of the left panel, in s.

    Returns
    -------
    matplotlib.figure.Figure
        Figure with two panels. The left panel shows the distribution up to `longest_s`. The right
        panel shows the share of requests with a longer response time, on logarithmic axes. Lines
        are means over the replications, and bands are 95 % intervals.
    """
    import numpy as np

    figure, (left, right) = sheet(1, 2, size=(11, 4.4))
    slowest = max(
        (float(r.times.max()) for one in schemes.values() for r in one if len(r)), default=1
    )
    early = np.linspace(0, longest_s, POINTS)
    late = np.geomspace(0.01, max(slowest, 1.0), POINTS)
    for i, (name, several) in enumerate(schemes.items()):
        _curve(left, i, name, early, [100 * r.within(early) for r in several])
        _curve(right, i, None, late, [100 * (1 - r.within(late)) for r in several])
    left.set_xlabel("response time (s)")
    left.set_ylabel("requests answered within this time (%)")
    left.set_xlim(0, longest_s)
    left.set_ylim(0, 102)
    right.set_xscale("log")
    right.set_yscale("log")
    right.set_ylim(0.01, 120)
    right.set_xlim(late[0], late[-1])
    right.xaxis.set_major_formatter("{x:g}")
    right.yaxis.set_major_formatter("{x:g}")
    right.set_xlabel("response time (s)")
    right.set_ylabel("requests not answered within this time (%)")
    legend_below(figure, left, 4)
    return figure


def _curve(axes: Axes, i: int, label: str | None, at: Any, several: Sequence[Any]) -> None:
    """Plot the mean of several curves, with a band for its 95 % interval."""
    import numpy as np
    from scipy.stats import t

    values = np.array(several)
    mean, n = values.mean(axis=0), len(values)
    axes.plot(at, mean, label=label, **stroke(i))
    if n > 1:
        half = t.ppf(0.975, n - 1) * values.std(axis=0, ddof=1) / np.sqrt(n)
        axes.fill_between(at, mean - half, mean + half, color=look(i)[0], alpha=0.2, linewidth=0)
