"""Plots of a run: the queue of a link, the windows of its flows, what happened to one of them.

Each returns a figure.

Figures are drawn without pyplot, so that nothing is shared between them and no display is needed.
"""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.interrupts import uninterrupted

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from aqmlab.results import Result


Times = tuple[float | None, float | None]
"""From when to when a figure is drawn, in s; None: from the beginning, to the end."""

FORMATS = (".png", ".svg", ".pdf")
"""What a figure may be written as."""

MAKER = "Drawn by aqmlab"
"""Stands in every file, so that it may be replaced."""


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
    axes.set_ylim(bottom=0)
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
    axes.set_ylim(bottom=0)
    axes.legend()
    return figure


def sequence(result: "Result", flow: str, times: Times = (None, None)) -> "Figure":
    """Plot a flow's segments and ACKs over time, as its sender's host saw them (tcptrace).

    Parameters
    ----------
    result : Result
        A run that recorded the series "segments", and "drops" and "marks" to see these too.
    flow : str
        Name of the flow.
    times : (float or None, float or None)
        From when to when in s; None: all.

    Returns
    -------
    matplotlib.figure.Figure
        Time in s, position in the data in kB.

    Raises
    ------
    ValueError
        If the series or the flow was not recorded, or nothing lies between the times.
    """
    from aqmlab.sequence import duplicate_acks, is_accurate, rows_of

    rows = rows_of(result, "segments", flow)
    rows, accurate = rows.assign(duplicate=duplicate_acks(rows)), is_accurate(rows)
    rows = _shown(rows, flow, times)
    flags = rows["flags"].str.split()
    echo = flags.map(lambda f: "ECE" in f and "SYN" not in f)
    cwr = flags.map(lambda f: "CWR" in f and "SYN" not in f)
    sent = rows["direction"] == "sent"
    figure, axes = _axes("position in the data (kB)", (9, 5.5))
    axes.set_title(f"{flow}, at its sender")

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
    if not accurate:  # there the bits are a counter
        points(acks[echo[~sent]], "ack", "^", "tab:orange", "ECE")
        points(data[cwr[data.index]], "seq", "v", "tab:blue", "CWR")
    for series, marker, colour, label in [
        ("marks", "D", "tab:orange", "mark (CE)"),
        ("drops", "x", "tab:red", "drop"),
    ]:
        if series in result.tables:
            points(_between(rows_of(result, series, flow), times), "seq", marker, colour, label)
    _window_edge(axes, acks, data)
    _limits(axes, times)
    axes.legend(loc="upper left", fontsize="small", framealpha=0.9)
    return figure


def _window_edge(axes: "Axes", acks: "pd.DataFrame", data: "pd.DataFrame") -> None:
    """Draw the edge of the advertised window, but not let it flatten what is below."""
    if acks.empty or data.empty:
        return
    edge = (acks["ack"] + acks["window_bytes"]) / 1000
    highest = (data["seq"] + data["bytes"]).max() / 1000
    lowest = min(data["seq"].min(), acks["ack"].min()) / 1000
    label = "advertised window" if edge.min() < 1.5 * highest else "advertised window (above)"
    axes.step(
        acks["time_s"], edge, where="post", color="goldenrod", linewidth=1.0, label=label
    )  # fmt: skip
    room = 0.03 * (highest - lowest)
    top = edge.max() if edge.max() < 1.5 * highest else highest
    axes.set_ylim(max(0, lowest - room), top + room)


def windows(result: "Result", flow: str, times: Times = (None, None)) -> "Figure":
    """Plot cwnd, ssthresh and FlightSize of a flow over time.

    Parameters
    ----------
    result : Result
        A run that recorded the series "window".
    flow : str
        Name of the flow.
    times : (float or None, float or None)
        From when to when in s; None: all.

    Returns
    -------
    matplotlib.figure.Figure
        Time in s, windows in kB.

    Raises
    ------
    ValueError
        If the series or the flow was not recorded, or nothing lies between the times.
    """
    import numpy as np

    rows, figure, axes = _of_flow(result, "window", flow, times, "window (kB)")
    styles: dict[str, dict[str, Any]] = {
        "FlightSize": {"color": "tab:gray", "alpha": 0.7},
        "cwnd": {"color": "tab:blue"},
        "ssthresh": {"color": "tab:red", "linestyle": "--"},
    }
    columns = ["flight_bytes", "cwnd_bytes", "ssthresh_bytes"]
    for column, (label, style) in zip(columns, styles.items(), strict=True):
        values = rows[column].replace(np.inf, np.nan) / 1000  # infinite before the first cut
        axes.step(rows["time_s"], values, where="post", linewidth=1, label=label, **style)
    axes.set_ylim(bottom=0)
    _finish(axes, times)
    return figure


def rtt(result: "Result", flow: str, times: Times = (None, None)) -> "Figure":
    """Plot the round trips that a sender measured, SRTT and its retransmission timeout over time.

    Parameters
    ----------
    result : Result
        A run that recorded the series "rtt".
    flow : str
        Name of the flow.
    times : (float or None, float or None)
        From when to when in s; None: all.

    Returns
    -------
    matplotlib.figure.Figure
        Time in s, round trips in ms with a logarithmic axis.

    Raises
    ------
    ValueError
        If the series or the flow was not recorded, or nothing lies between the times.
    """
    from matplotlib.ticker import LogLocator, NullLocator

    rows, figure, axes = _of_flow(result, "rtt", flow, times, "time (ms)")
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
    result: "Result", series: str, flow: str, times: Times, quantity: str
) -> "tuple[pd.DataFrame, Figure, Axes]":
    """Return what a series has of a flow in these times, and empty axes for it, with its name."""
    from aqmlab.sequence import rows_of

    rows = _shown(rows_of(result, series, flow), flow, times)
    figure, axes = _axes(quantity)
    axes.set_title(flow, loc="left")
    return rows, figure, axes


def _between(rows: "pd.DataFrame", times: Times) -> "pd.DataFrame":
    begin, end = times
    rows = rows if begin is None else rows[rows["time_s"] >= begin]
    return rows if end is None else rows[rows["time_s"] <= end]


def _shown(rows: "pd.DataFrame", flow: str, times: Times) -> "pd.DataFrame":
    """Return what was recorded of a flow in a span of time; raise ValueError if it is nothing."""
    shown = _between(rows, times)
    if shown.empty and len(rows):
        first, last = rows["time_s"].min(), rows["time_s"].max()
        raise ValueError(
            f"nothing of {flow} lies in the time asked for; it runs from {first:g} s to {last:g} s"
        )
    return shown


def _finish(axes: "Axes", times: Times) -> None:
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, frameon=False)
    _limits(axes, times)


def _limits(axes: "Axes", times: Times) -> None:
    """Show these times of what is drawn already: limits that are set do not move afterwards."""
    begin, end = times
    axes.set_xlim(left=begin, right=end)


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
    suffix = path.suffix.lower()
    about = {
        ".png": {"Software": MAKER},
        ".svg": {"Creator": MAKER, "Date": None},
        ".pdf": {"Creator": MAKER, "CreationDate": None},
    }.get(suffix)
    drawn = BytesIO()
    with rc_context({"svg.hashsalt": "aqmlab"}):
        figure.savefig(drawn, format=suffix.removeprefix(".") or None, metadata=about)
    part = path.with_name(f".{path.name}.part")
    with uninterrupted():
        try:
            part.write_bytes(drawn.getvalue())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    return path


def refuse_foreign(path: Path) -> None:
    """Refuse a file that is there and that no plot of aqmlab is.

    Raises
    ------
    FileExistsError
        With what to do.
    """
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise FileExistsError(f"{path} is no plain file; give another name")
    if path.exists() and MAKER.encode() not in path.read_bytes():
        raise FileExistsError(f"{path} is there and no plot of aqmlab; give another name")


def _axes(quantity: str, size: tuple[float, float] = (7, 3.5)) -> "tuple[Figure, Axes]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained", dpi=150)
    axes = figure.subplots()
    axes.set_xlabel("time (s)")
    axes.set_ylabel(quantity)
    axes.grid(visible=True, linewidth=0.3)
    return figure, axes
