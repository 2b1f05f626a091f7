"""Plots of a run: the queue of a link, the windows of its flows. Each returns a figure.

Figures are drawn without pyplot, so that nothing is shared between them and no display is needed.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from aqmlab.results import Result


def queue(result: "Result", link: str) -> "Figure":
    """Plot the queue of a link over time, with its average where the law keeps one.

    Parameters
    ----------
    result : Result
        A run that recorded the series "queue".
    link : str
        Name of the link, e.g. "left>right".

    Returns
    -------
    matplotlib.figure.Figure
        Time in s, queue in packets.

    Raises
    ------
    KeyError
        If the series or the link was not recorded.
    """
    series = result.series("queue")
    rows = series[series["link"] == link]
    if rows.empty:
        known = ", ".join(series["link"].unique())
        raise KeyError(f"the queue of {link!r} was not recorded; that of {known} was")
    figure, axes = _axes("queue (packets)")
    axes.plot(rows["time_s"], rows["queue_packets"], linewidth=0.8, label="queue")
    if rows["average_packets"].notna().any():
        axes.plot(rows["time_s"], rows["average_packets"], linewidth=1.5, label="average queue")
        axes.legend()
    return figure


def window(result: "Result", flows: Sequence[str] | None = None) -> "Figure":
    """Plot the congestion window of flows over time.

    Parameters
    ----------
    result : Result
        A run that recorded the series "window".
    flows : sequence of str, optional
        Names of the flows; default: all.

    Returns
    -------
    matplotlib.figure.Figure
        Time in s, cwnd in kB.

    Raises
    ------
    KeyError
        If the series was not recorded.
    """
    series = result.series("window")
    figure, axes = _axes("cwnd (kB)")
    for name in flows or series["flow"].unique():
        rows = series[series["flow"] == name]
        axes.plot(rows["time_s"], rows["cwnd_bytes"] / 1000, linewidth=0.8, label=name)
    axes.legend()
    return figure


def save(figure: "Figure", path: str | Path) -> Path:
    """Write a figure to a file; its suffix (.svg, .png, .pdf) says how.

    The same figure gives the same bytes: nothing in the file depends on the time or on chance.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    from matplotlib import rc_context

    path = Path(path)
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower(), {})
    with rc_context({"svg.hashsalt": "aqmlab"}):
        figure.savefig(path, metadata=undated)
    return path


def _axes(quantity: str) -> "tuple[Figure, Axes]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.5), layout="constrained", dpi=150)
    axes = figure.subplots()
    axes.set_xlabel("time (s)")
    axes.set_ylabel(quantity)
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, linewidth=0.3)
    return figure, axes
