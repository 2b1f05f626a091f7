"""Figures of one flow: its segments and ACKs, its windows, or its round-trip times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aqmlab.figures.segments import duplicate_acks, first_event, flow_name, is_accurate, rows_of
from aqmlab.figures.style import (
    COLOURS,
    legend_below,
    literal,
    logarithmic,
    look,
    over_time,
    title,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from aqmlab.results import Result

    Times = tuple[float | None, float | None]
    """Start and end of the time axis in s; None stands for the start or the end of the run."""
    Runs = Result | Mapping[str, Result]
    """A run, or several runs by label, which the figure overlays."""

BLUE, RED, GREEN, PINK, AMBER, SKY, BLACK, BROWN = COLOURS
FAR = 5
"""Ratio of cwnd to the data in flight above which the figure of windows cuts cwnd off."""


def runs_of(result: Runs) -> dict[str, Result]:
    """Return several runs by label; a single run has the label ""."""
    return dict(result) if isinstance(result, Mapping) else {"": result}


def sequence(
    result: Runs, flow: str | None = None, times: Times | None = None, *, reply: bool = False
) -> Figure:
    """Plot the segments and ACKs of a flow over time, as a capture at the sending host shows them.

    Parameters
    ----------
    result : Result or mapping of str to Result
        Result of a run that recorded the series "segments". The figure also shows the series
        "drops" and "marks" if the run recorded them. Several runs are overlaid, without their ACKs.
    flow : str, optional
        Name or number of the flow; default: the first flow.
    times : (float or None, float or None), optional
        Start and end of the time axis in s. ``(None, None)`` shows the whole run. Default: the time
        around the first drop or mark of the flow, or the beginning of a flow without drops and
        marks; see :func:`aqmlab.figures.segments.first_event`.
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
    runs = runs_of(result)
    first = next(iter(runs.values()))
    figure, axes = over_time("sequence number (kB)", (9, 5.5), of=first)
    about = ""
    if times is None:
        times, about = first_event(runs, flow, reply=reply)
    names = dict.fromkeys(flow_name(run, flow) for run in runs.values())
    way = "reverse" if reply else "forward"
    title(axes, f"{', '.join(names)}: {way} data at its sender{about}")
    for i, (label, run) in enumerate(runs.items()):
        name = flow_name(run, flow)
        rows = rows_of(run, "segments", name, reply=reply)
        accurate = is_accurate(rows)
        rows = _shown(rows.assign(duplicate=duplicate_acks(rows)), name, times)
        if len(runs) == 1:
            _segments(axes, rows, accurate=accurate)
        else:
            _overlaid(axes, rows, literal(label), look(i)[0])
        for series, marker, colour, what in [
            ("marks", "D", AMBER, "mark (CE)"),
            ("drops", "x", RED, "drop"),
        ]:
            if series in run.tables:
                seen = between(rows_of(run, series, name, reply=reply), times)
                one = len(runs) == 1
                _points(
                    axes, seen, "seq", marker, colour if one else look(i)[0],
                    what if one else literal(f"{label}: {what}"),
                )  # fmt: skip
    _limits(axes, times)
    legend_below(figure, axes, 5)
    return figure


def _points(axes: Axes, of: pd.DataFrame, at: str, marker: str, colour: str, label: str) -> None:
    """Plot markers at the sequence numbers of the rows of a series; no rows, no legend entry."""
    style: dict[str, Any] = {"linestyle": "none", "markersize": 5, "markerfacecolor": "none"}
    if len(of):
        axes.plot(of["time_s"], of[at] / 1000, marker, color=colour, label=label, **style)


def _bars(axes: Axes, of: pd.DataFrame, colour: str, label: str, width: float = 1.2) -> None:
    """Plot segments as vertical bars from the first to the last byte of each segment."""
    low, high = of["seq"] / 1000, (of["seq"] + of["bytes"]) / 1000
    if len(of):
        axes.vlines(of["time_s"], low, high, colors=colour, linewidth=width, label=label)


def _segments(axes: Axes, rows: pd.DataFrame, *, accurate: bool) -> None:
    """Plot the segments, the ACKs and the advertised window of a single run."""
    flags = rows["flags"].str.split()
    echo = flags.map(lambda f: "ECE" in f and "SYN" not in f)
    cwr = flags.map(lambda f: "CWR" in f and "SYN" not in f)
    sent = rows["direction"] == "sent"
    data, acks = rows[sent & (rows["bytes"] > 0)], rows[~sent]
    _bars(axes, data[data["resent"] == 0], BLACK, "segment")
    _bars(axes, data[data["resent"] == 1], RED, "retransmission", 2.5)
    if len(acks):
        axes.step(
            acks["time_s"], acks["ack"] / 1000, where="post", linewidth=1, color=GREEN,
            label="ACK",
        )  # fmt: skip
    _points(axes, acks[acks["duplicate"]], "ack", "|", GREEN, "duplicate ACK")
    left, right = ([f"sack_{i}_{side}" for i in range(1, 5)] for side in ("left", "right"))
    for first, (low, high) in enumerate(zip(left, right, strict=True)):
        blocks = acks[acks[low].notna()]
        label = "SACK block" if first == 0 else ""
        if len(blocks):
            axes.vlines(
                blocks["time_s"], blocks[low] / 1000, blocks[high] / 1000, label=label,
                colors=PINK, linewidth=1.0, alpha=0.5,
            )  # fmt: skip
    if not accurate:  # with Accurate ECN these flags are a counter
        _points(axes, acks[echo[~sent]], "ack", "^", AMBER, "ECE")
        _points(axes, data[cwr[data.index]], "seq", "v", BLUE, "CWR")
    _window_edge(axes, acks, data)


def _overlaid(axes: Axes, rows: pd.DataFrame, label: str, colour: str) -> None:
    """Plot the segments of one of several runs; its retransmissions are wider bars."""
    data = rows[(rows["direction"] == "sent") & (rows["bytes"] > 0)]
    _bars(axes, data[data["resent"] == 0], colour, label)
    _bars(axes, data[data["resent"] == 1], colour, f"{label}: retransmission", 3)


def _window_edge(axes: Axes, acks: pd.DataFrame, data: pd.DataFrame) -> None:
    """Plot the edge of the advertised window, as far as it is not far above the shown data."""
    if acks.empty or data.empty:
        return
    edge = (acks["ack"] + acks["window_bytes"]) / 1000
    highest = (data["seq"] + data["bytes"]).max() / 1000
    lowest = min(data["seq"].min(), acks["ack"].min()) / 1000
    near = edge.max() - highest < highest - lowest
    label = "advertised window" + " (off scale)" * bool(edge.min() > highest and not near)
    axes.step(
        acks["time_s"], edge, where="post", color=BROWN, linewidth=1.0, label=label
    )  # fmt: skip
    margin = 0.03 * (highest - lowest)
    axes.set_ylim(max(0, lowest - margin), (edge.max() if near else highest) + margin)


def windows(
    result: Runs,
    flow: str | None = None,
    times: Times = (None, None),
    *,
    reply: bool = False,
) -> Figure:
    """Plot cwnd, ssthresh and FlightSize of a flow over time; for several runs, only cwnd.

    If cwnd is far above the data in flight, because the receive window or the application limits
    the flow, the axis ends at twice the largest FlightSize, and the legend states the largest cwnd.

    Parameters
    ----------
    result : Result or mapping of str to Result
        A run that recorded the series "window", or several runs by label.
    flow : str, optional
        Name or number of the flow; default: the first flow.
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

    runs = runs_of(result)
    figure, axes = _of_flow(runs, flow, "window (kB)", reply)
    several = len(runs) > 1
    flight, most = 0.0, 0.0
    for i, (label, run) in enumerate(runs.items()):
        rows = _rows(run, "window", flow, times, reply)
        flight = max(flight, rows["flight_bytes"].max() / 1000)
        most = max(most, rows["cwnd_bytes"].max() / 1000)
        lines: list[tuple[str, str, dict[str, Any]]] = [
            ("flight_bytes", "FlightSize", {"color": "#888888", "alpha": 0.7}),
            ("cwnd_bytes", "cwnd", {"color": BLUE}),
            ("ssthresh_bytes", "ssthresh", {"color": RED, "linestyle": "--"}),
        ]
        if several:
            lines = [("cwnd_bytes", f"cwnd, {label}", {"color": look(i)[0]})]
        for column, name, style in lines:
            values = rows[column].replace(np.inf, np.nan) / 1000  # infinite before a reduction
            if values.notna().any():
                axes.step(
                    rows["time_s"], values, where="post", linewidth=1, label=literal(name), **style
                )
    end = 2 * flight if flight > 0 and most > FAR * flight else 1.08 * max(flight, most) or 1
    for line in axes.get_lines():
        top = np.nanmax(np.asarray(line.get_ydata(), dtype=float))
        if top > end and str(line.get_label()).startswith("cwnd"):
            line.set_label(f"{line.get_label()} (off scale, up to {top:.0f} kB)")
    axes.set_ylim(0, end)
    _limits(axes, times)
    legend_below(figure, axes)
    return figure


def rtt(
    result: Runs,
    flow: str | None = None,
    times: Times = (None, None),
    *,
    reply: bool = False,
) -> Figure:
    """Plot the RTT samples, the SRTT and the RTO of a sender over time; of several runs, the SRTT.

    Parameters
    ----------
    result : Result or mapping of str to Result
        A run that recorded the series "rtt", or several runs by label.
    flow : str, optional
        Name or number of the flow; default: the first flow.
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
    runs = runs_of(result)
    figure, axes = _of_flow(runs, flow, "time (ms)", reply)
    logarithmic(axes, "y")
    line: dict[str, Any] = {"where": "post", "linewidth": 1.2}
    for i, (label, run) in enumerate(runs.items()):
        rows = _rows(run, "rtt", flow, times, reply)
        time_s, colour = rows["time_s"], look(i)[0]
        if len(runs) > 1:
            axes.step(
                time_s, rows["srtt_s"] * 1000, color=colour, label=literal(f"SRTT, {label}"), **line
            )
            continue
        axes.plot(time_s, rows["rtt_s"] * 1000, ".", color=BLACK, markersize=3, label="RTT sample")
        axes.step(time_s, rows["srtt_s"] * 1000, color=BLUE, label="SRTT", **line)
        axes.step(time_s, rows["rto_s"] * 1000, color=RED, label="RTO", **line)
    _limits(axes, times)
    legend_below(figure, axes)
    return figure


def _of_flow(
    runs: Mapping[str, Result], flow: str | None, quantity: str, reply: bool
) -> tuple[Figure, Axes]:
    """Return empty axes for a quantity of a flow over time, with the name of the flow as title."""
    figure, axes = over_time(quantity, of=next(iter(runs.values())))
    names = ", ".join(dict.fromkeys(flow_name(run, flow) for run in runs.values()))
    title(axes, f"{names}, reverse data" if reply else names)
    return figure, axes


def _rows(run: Result, series: str, flow: str | None, times: Times, reply: bool) -> pd.DataFrame:
    """Return a flow's rows in a series between the given times."""
    name = flow_name(run, flow)
    return _shown(rows_of(run, series, name, reply=reply), name, times)


def between(rows: pd.DataFrame, times: Times) -> pd.DataFrame:
    """Return the rows between the given times."""
    begin, end = times
    rows = rows if begin is None else rows[rows["time_s"] >= begin]
    return rows if end is None else rows[rows["time_s"] <= end]


def _shown(rows: pd.DataFrame, flow: str, times: Times) -> pd.DataFrame:
    """Return the rows between the given times; raise ValueError if all rows are at other times."""
    shown = between(rows, times)
    if shown.empty and len(rows):
        first, last = rows["time_s"].min(), rows["time_s"].max()
        raise ValueError(
            f"{flow} has no rows between the given times; its rows are from {first:g} s to "
            f"{last:g} s"
        )
    return shown


def _limits(axes: Axes, times: Times) -> None:
    """Set the limits of the time axis.

    Call `_limits` after all lines are drawn, because lines that are drawn later do not extend the
    time axis.
    """
    begin, end = times
    axes.set_xlim(left=begin, right=end)
