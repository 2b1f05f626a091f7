"""Figures of one flow: its segments and ACKs, its windows, or its round-trip times."""

from typing import TYPE_CHECKING, Any

from aqmlab.figures.segments import duplicate_acks, is_accurate, rows_of
from aqmlab.figures.style import over_time

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from aqmlab.results import Result

Times = tuple[float | None, float | None]
"""Start and end of the time axis in s. None stands for the start or the end of the run."""


def sequence(
    result: "Result", flow: str, times: Times = (None, None), *, reply: bool = False
) -> "Figure":
    """Plot the segments and ACKs of a flow over time, as a capture at the sending host shows them.

    Parameters
    ----------
    result : Result
        Result of a run that recorded the series "segments". The figure also shows the series
        "drops" and "marks" if the run recorded them.
    flow : str
        Name of the flow.
    times : (float or None, float or None)
        Start and end of the time axis in s; default: the whole run.
    reply : bool
        True to draw the data that the host `to` sends.

    Returns
    -------
    matplotlib.figure.Figure
        Figure with the time in s, and the sequence number relative to the first byte, in kB.

    Raises
    ------
    ValueError
        If the run did not record the series or the flow, or if the series has no rows of the flow
        between the given times.
    """
    rows = rows_of(result, "segments", flow, reply=reply)
    rows, accurate = rows.assign(duplicate=duplicate_acks(rows)), is_accurate(rows)
    rows = _shown(rows, flow, times)
    flags = rows["flags"].str.split()
    echo = flags.map(lambda f: "ECE" in f and "SYN" not in f)
    cwr = flags.map(lambda f: "CWR" in f and "SYN" not in f)
    sent = rows["direction"] == "sent"
    figure, axes = over_time("sequence number (kB)", (9, 5.5), of=result)
    axes.set_title(f"{flow}, {'reverse' if reply else 'forward'} data at its sender")

    def bars(of: "pd.DataFrame", colour: str, label: str, width: float = 1.2) -> None:
        low, high = of["seq"] / 1000, (of["seq"] + of["bytes"]) / 1000
        if len(of):
            axes.vlines(of["time_s"], low, high, colors=colour, linewidth=width, label=label)

    def points(of: "pd.DataFrame", at: str, marker: str, colour: str, label: str) -> None:
        style: dict[str, Any] = {"linestyle": "none", "markersize": 5, "markerfacecolor": "none"}
        if len(of):
            axes.plot(of["time_s"], of[at] / 1000, marker, color=colour, label=label, **style)

    data, acks = rows[sent & (rows["bytes"] > 0)], rows[~sent]
    bars(data[data["resent"] == 0], "black", "segment")
    bars(data[data["resent"] == 1], "tab:red", "retransmission", 2.5)
    if len(acks):
        axes.step(
            acks["time_s"], acks["ack"] / 1000, where="post", linewidth=1, color="tab:green",
            label="ACK",
        )  # fmt: skip
    points(acks[acks["duplicate"]], "ack", "|", "darkgreen", "duplicate ACK")
    left, right = ([f"sack_{i}_{side}" for i in range(1, 5)] for side in ("left", "right"))
    for first, (low, high) in enumerate(zip(left, right, strict=True)):
        blocks = acks[acks[low].notna()]
        label = "SACK block" if first == 0 else ""
        if len(blocks):
            axes.vlines(
                blocks["time_s"], blocks[low] / 1000, blocks[high] / 1000, label=label,
                colors="tab:purple", linewidth=1.0, alpha=0.5,
            )  # fmt: skip
    if not accurate:  # with Accurate ECN these flags are a counter
        points(acks[echo[~sent]], "ack", "^", "tab:orange", "ECE")
        points(data[cwr[data.index]], "seq", "v", "tab:blue", "CWR")
    for series, marker, colour, label in [
        ("marks", "D", "tab:orange", "mark (CE)"),
        ("drops", "x", "tab:red", "drop"),
    ]:
        if series in result.tables:
            points(
                _between(rows_of(result, series, flow, reply=reply), times),
                "seq",
                marker,
                colour,
                label,
            )
    _window_edge(axes, acks, data)
    _limits(axes, times)
    axes.legend(loc="upper left", fontsize="small", framealpha=0.9)
    return figure


def _window_edge(axes: "Axes", acks: "pd.DataFrame", data: "pd.DataFrame") -> None:
    """Plot the edge of the advertised window, as far as it is not far above the data."""
    if acks.empty or data.empty:
        return
    edge = (acks["ack"] + acks["window_bytes"]) / 1000
    highest = (data["seq"] + data["bytes"]).max() / 1000
    lowest = min(data["seq"].min(), acks["ack"].min()) / 1000
    label = "advertised window" if edge.min() < 1.5 * highest else "advertised window (off scale)"
    axes.step(
        acks["time_s"], edge, where="post", color="goldenrod", linewidth=1.0, label=label
    )  # fmt: skip
    margin = 0.03 * (highest - lowest)
    top = edge.max() if edge.max() < 1.5 * highest else highest
    axes.set_ylim(max(0, lowest - margin), top + margin)


def windows(
    result: "Result", flow: str, times: Times = (None, None), *, reply: bool = False
) -> "Figure":
    """Plot cwnd, ssthresh and FlightSize of a flow over time.

    Parameters
    ----------
    result : Result
        A run that recorded the series "window".
    flow : str
        Name of the flow.
    times : (float or None, float or None)
        Start and end of the time axis in s; default: the whole run.
    reply : bool
        True to draw the data that the host `to` sends.

    Returns
    -------
    matplotlib.figure.Figure
        Time in s, windows in kB.

    Raises
    ------
    ValueError
        If the run did not record the series or the flow, or if the series has no rows of the flow
        between the given times.
    """
    import numpy as np

    rows, figure, axes = _of_flow(result, "window", flow, times, "window (kB)", reply)
    styles: dict[str, dict[str, Any]] = {
        "FlightSize": {"color": "tab:gray", "alpha": 0.7},
        "cwnd": {"color": "tab:blue"},
        "ssthresh": {"color": "tab:red", "linestyle": "--"},
    }
    columns = ["flight_bytes", "cwnd_bytes", "ssthresh_bytes"]
    for column, (label, style) in zip(columns, styles.items(), strict=True):
        values = rows[column].replace(np.inf, np.nan) / 1000  # infinite before the first reduction
        axes.step(rows["time_s"], values, where="post", linewidth=1, label=label, **style)
    axes.set_ylim(bottom=0)
    _finish(axes, times)
    return figure


def rtt(
    result: "Result", flow: str, times: Times = (None, None), *, reply: bool = False
) -> "Figure":
    """Plot the RTT samples, the SRTT and the retransmission timeout of a sender over time.

    Parameters
    ----------
    result : Result
        A run that recorded the series "rtt".
    flow : str
        Name of the flow.
    times : (float or None, float or None)
        Start and end of the time axis in s; default: the whole run.
    reply : bool
        True to draw the data that the host `to` sends.

    Returns
    -------
    matplotlib.figure.Figure
        Figure with the time in s, and times in ms on a logarithmic axis.

    Raises
    ------
    ValueError
        If the run did not record the series or the flow, or if the series has no rows of the flow
        between the given times.
    """
    from matplotlib.ticker import LogLocator, NullLocator

    rows, figure, axes = _of_flow(result, "rtt", flow, times, "time (ms)", reply)
    axes.set_yscale("log")
    line: dict[str, Any] = {"where": "post", "linewidth": 1.2}
    axes.plot(
        rows["time_s"], rows["rtt_s"] * 1000, ".", color="black", markersize=3, label="RTT sample"
    )
    axes.step(rows["time_s"], rows["srtt_s"] * 1000, color="tab:blue", label="SRTT", **line)
    axes.step(rows["time_s"], rows["rto_s"] * 1000, color="tab:red", label="RTO", **line)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(NullLocator())
    _finish(axes, times)
    return figure


def _of_flow(
    result: "Result", series: str, flow: str, times: Times, quantity: str, reply: bool
) -> "tuple[pd.DataFrame, Figure, Axes]":
    """Return a flow's rows in a series between the given times, and empty axes with a title."""
    rows = _shown(rows_of(result, series, flow, reply=reply), flow, times)
    figure, axes = over_time(quantity, of=result)
    axes.set_title(f"{flow}, reverse data" if reply else flow, loc="left")
    return rows, figure, axes


def _between(rows: "pd.DataFrame", times: Times) -> "pd.DataFrame":
    begin, end = times
    rows = rows if begin is None else rows[rows["time_s"] >= begin]
    return rows if end is None else rows[rows["time_s"] <= end]


def _shown(rows: "pd.DataFrame", flow: str, times: Times) -> "pd.DataFrame":
    """Return the rows between the given times; raise ValueError if all rows are at other times."""
    shown = _between(rows, times)
    if shown.empty and len(rows):
        first, last = rows["time_s"].min(), rows["time_s"].max()
        raise ValueError(
            f"{flow} has no rows between the given times; its rows are from {first:g} s to "
            f"{last:g} s"
        )
    return shown


def _finish(axes: "Axes", times: Times) -> None:
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, frameon=False)
    _limits(axes, times)


def _limits(axes: "Axes", times: Times) -> None:
    """Set the limits of the time axis.

    Call `_limits` after all lines are drawn, because lines that are drawn later do not extend the
    time axis.
    """
    begin, end = times
    axes.set_xlim(left=begin, right=end)
