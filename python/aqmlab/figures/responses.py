"""Response times of several schemes beside each other, with bands over replications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aqmlab.figures.style import legend_below, look, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from aqmlab.measures.responses import Responses

POINTS = 400


def responses(schemes: Mapping[str, Sequence[Responses]], longest_s: float = 2.0) -> Figure:
    """Draw which share of the requests has its response within a time, and which has not.

    Parameters
    ----------
    schemes : mapping of str to sequence of Responses
        For each scheme its replications.
    longest_s : float
        Where the first panel ends, in s.

    Returns
    -------
    matplotlib.figure.Figure
        Left the distribution up to `longest_s`, right what exceeds a time on logarithmic axes; the
        mean of the replications, and its 95 % interval as a band.
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
    left.set_ylabel("requests with their response (%)")
    left.set_xlim(0, longest_s)
    right.set_xscale("log")
    right.set_yscale("log")
    right.set_ylim(bottom=0.01)
    right.set_xlabel("response time (s)")
    right.set_ylabel("requests without (%)")
    legend_below(figure, left, 4)
    return figure


def _curve(axes: Axes, i: int, label: str | None, at: Any, several: Sequence[Any]) -> None:
    """Draw the mean of curves, and its interval as a band if there are several."""
    import numpy as np
    from scipy.stats import t

    values = np.array(several)
    mean, n = values.mean(axis=0), len(values)
    colour, _ = look(i)
    axes.plot(at, mean, color=colour, label=label)
    if n > 1:
        half = t.ppf(0.975, n - 1) * values.std(axis=0, ddof=1) / np.sqrt(n)
        axes.fill_between(at, mean - half, mean + half, color=colour, alpha=0.2, linewidth=0)
