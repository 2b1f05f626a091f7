"""Common style of all figures: size, colours, legends and time axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
"""Colours that people with any kind of colour vision can distinguish (Okabe & Ito 2008), and
brown."""

DASHES: tuple[Any, ...] = ("-", "--", ":", "-.")
"""Styles of lines without markers."""
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")


def look(i: int) -> tuple[str, str]:
    """Return the colour and the marker of the i-th line; they are unique for 64 lines."""
    return COLOURS[i % len(COLOURS)], MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]


def stroke(i: int) -> dict[str, Any]:
    """Return the colour and the dashes of the i-th line without markers, unique for 32 lines."""
    return {"color": look(i)[0], "linestyle": DASHES[i // len(COLOURS) % len(DASHES)]}


class Described(Protocol):
    """Object that a figure shows."""

    @property
    def origin(self) -> str:
        """Scenario and seeds, in one line."""


def sheet(
    rows: int = 1,
    columns: int = 1,
    size: tuple[float, float] = (7.2, 4.2),
    *,
    of: Described | None = None,
    **options: Any,
) -> tuple[Figure, Any]:
    """Return an empty figure in the style `STYLE`, and its axes.

    Parameters
    ----------
    rows, columns : int
        Number of rows and columns of axes.
    size : (float, float)
        Width and height in inches.
    of : Result, Comparison or Outcome, optional
        Object that the figure shows; image files of the figure contain its origin.
    options
        Options of :meth:`matplotlib.figure.Figure.subplots`.
    """
    from matplotlib import rc_context

    from aqmlab.figures.sheet import Sheet

    with rc_context(STYLE):
        figure = Sheet(figsize=size, layout="constrained")
        figure.origin = of.origin if of else ""
        return figure, figure.subplots(rows, columns, **options)


def limits(values: Iterable[float], noise: float = 0.0) -> tuple[float, float]:
    """Return the limits of an axis for values, so that the axis does not show only noise.

    The axis spans at least twice the widest interval `noise` of a value, and at least 10 % of the
    largest absolute value. If no value is negative, and the smallest value is less than half of the
    largest value, the axis begins at 0.

    Examples
    --------
    >>> [round(limit, 2) for limit in limits([19.0, 19.1])], limits([10, 80])
    ([18.0, 20.1], (0.0, 84.0))
    """
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    least = max(2 * noise, 0.1 * max(abs(low), abs(high))) or 1.0
    bottom = 0.0 if 0 <= low <= high / 2 else low
    more = max(0.0, least - (high - bottom)) / 2
    margin = 0.05 * (high - bottom + 2 * more)
    bottom -= more + margin
    return (bottom if low < 0 else max(0.0, bottom)), high + more + margin


def logarithmic(axes: Axes, way: Literal["x", "y"]) -> None:
    """Make an axis of at most three decades logarithmic, with labels at 1, 2 and 5 of a decade."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis = axes.xaxis if way == "x" else axes.yaxis
    (axes.set_xscale if way == "x" else axes.set_yscale)("log")
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(NullLocator())


def literal(text: str) -> str:
    """Escape a text of a user, so that Matplotlib shows it literally, also in a legend."""
    return ("\u200b" * text.startswith("_") + text).replace("$", r"\$")


def title(axes: Axes, text: str) -> None:
    """Place the name of the shown link or flow above the axes."""
    axes.set_title(literal(text), loc="left", fontsize=10)


def legend_below(figure: Figure, axes: Axes, columns: int = 3) -> None:
    """Place the legend of the axes below them, where it does not cover a line.

    The legend has at most `columns` columns, and fewer if the labels are long. Each row after the
    first makes the figure higher, so that the panels keep their height.
    """
    handles, labels = axes.get_legend_handles_labels()
    width, height = figure.get_size_inches()
    widest = 0.6 + 0.08 * max(map(len, labels), default=0)  # in inches: the line and the label
    columns = max(1, min(columns, int(width / widest)))
    rows = math.ceil(len(labels) / columns)
    figure.set_size_inches(width, height + 0.2 * max(0, rows - 1))
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def over_time(
    quantity: str, size: tuple[float, float] = (7, 3.5), *, of: Described | None = None
) -> tuple[Figure, Axes]:
    """Return an empty figure for a quantity over time, and its axes; see :func:`sheet`."""
    figure, axes = sheet(size=size, of=of)
    axes.set_xlabel("time (s)")
    axes.set_ylabel(quantity)
    axes.margins(x=0)
    return figure, axes
