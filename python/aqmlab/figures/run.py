"""Figures of a run: the queue of a link, and the congestion windows of flows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aqmlab.figures.style import over_time
from aqmlab.results import busiest_link

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aqmlab.results import Result


def queue(
    result: "Result", link: str | None = None, *, size: tuple[float, float] = (7, 3.5)
) -> "Figure":
    """Plot the queue of a link over time, with the average queue if the AQM computes one.

    Parameters
    ----------
    result : Result
        Result of a run that recorded the series "queue".
    link : str, optional
        Name of the link, e.g. "left>right"; default: the busiest link with a recorded queue.
    size : (float, float)
        Width and height of the figure in inches.

    Returns
    -------
    matplotlib.figure.Figure
        Figure of the queue length over the time in s. The queue length and the average queue are in
        kB if the AQM averages bytes, and in packets otherwise.

    Raises
    ------
    KeyError
        If the run did not record the series or the link.
    """
    series = result.series("queue")
    link = busiest_link(result, series["link"].unique()) if link is None else link
    rows = series[series["link"] == link]
    if rows.empty:
        known = ", ".join(series["link"].unique())
        raise KeyError(f"the run did not record the queue of {link!r}; it recorded {known}")
    in_bytes = rows["average_bytes"].notna().any()
    unit, scale = ("bytes", 1000) if in_bytes else ("packets", 1)
    figure, axes = over_time("queue (kB)" if in_bytes else "queue (packets)", size, of=result)
    axes.plot(rows["time_s"], rows[f"queue_{unit}"] / scale, linewidth=0.8, label="queue")
    average = rows[f"average_{unit}"] / scale
    if average.notna().any():
        axes.plot(rows["time_s"], average, linewidth=1.5, label="average queue")
        axes.legend()
    axes.set_ylim(bottom=0)
    return figure


def window(result: "Result", flows: Sequence[str] | None = None) -> "Figure":
    """Plot the congestion window of flows over time.

    Parameters
    ----------
    result : Result
        Result of a run that recorded the series "window".
    flows : sequence of str, optional
        Names of the flows; default: all.

    Returns
    -------
    matplotlib.figure.Figure
        Figure with the time in s, and cwnd in kB.

    Raises
    ------
    KeyError
        If the run did not record the series.
    """
    series = result.series("window")
    figure, axes = over_time("cwnd (kB)", of=result)
    for name in flows or series["flow"].unique():
        rows = series[series["flow"] == name]
        axes.plot(rows["time_s"], rows["cwnd_bytes"] / 1000, linewidth=0.8, label=name)
    axes.set_ylim(bottom=0)
    axes.legend()
    return figure
