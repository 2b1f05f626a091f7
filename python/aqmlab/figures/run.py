"""Figures of a run: the queue of a link, and the congestion windows of flows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aqmlab._core import ScenarioError
from aqmlab.engine import Network
from aqmlab.figures.flow import between, runs_of
from aqmlab.figures.style import COLOURS, legend_below, literal, look, over_time, stroke, title
from aqmlab.results import NotMeasuredError, busiest_link
from aqmlab.scenario import quantities, seconds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aqmlab.figures.flow import Runs, Times
    from aqmlab.results import Result

THRESHOLDS = (
    *("minth", "maxth", "in_minth", "in_maxth", "out_minth", "out_maxth"),
    *("threshold", "early_threshold", "target", "qref", "limit"),
)
"""Keys of queues that the figure of a queue shows as lines."""
OF_FIFO = ("codel", "cobalt", "pie", "pie_enhanced", "tc_pie", "pi2")
"""Queues with a target delay and a single FIFO queue, so that the delay corresponds to a length."""
MOST_NAMES = 16
"""Maximum number of flows in a legend."""
NEAR = 0.8
"""Share of a threshold that the queue must reach, or else the figure does not show it."""
DASHES: tuple[Any, ...] = ("--", ":", "-.", (0, (8, 2)), (0, (2, 4)), (0, (8, 2, 1, 2, 1, 2)))
"""Styles of the lines of thresholds."""


def queue(
    result: Runs,
    link: str | None = None,
    times: Times = (None, None),
    *,
    size: tuple[float, float] = (7, 3.5),
) -> Figure:
    """Plot the queue of a link over time, with the average queue and the thresholds of its AQM.

    A target delay is shown as the data that the link sends in this time. Several runs are overlaid,
    without the thresholds.

    Parameters
    ----------
    result : Result or mapping of str to Result
        Result of a run that recorded the series "queue", or several runs by label.
    link : str, optional
        Name of the link, e.g. "left>right"; default: the busiest link with a recorded queue.
    times : (float or None, float or None)
        Start and end of the time axis in s; default: the whole run.
    size : (float, float)
        Width and height of the figure in inches.

    Returns
    -------
    matplotlib.figure.Figure
        Figure of the queue length over the time in s. The queue length and the average queue are in
        kB if the AQM averages bytes or has a target delay, and in packets otherwise.

    Raises
    ------
    NotMeasuredError
        If the run did not record the series or the link.
    ValueError
        If the queue was not sampled between the given times.
    """
    runs = runs_of(result)
    first = next(iter(runs.values()))
    link = busiest_link(first, first.series("queue")["link"].unique()) if link is None else link
    rows = {label: _queue_rows(run, link, times) for label, run in runs.items()}
    lines = _thresholds(first, link) if len(runs) == 1 else {}
    delay = any(unit == "B" for _, unit in lines.values())
    in_bytes = delay or any(of["average_bytes"].notna().any() for of in rows.values())
    unit, scale = ("bytes", 1000) if in_bytes else ("packets", 1)
    figure, axes = over_time("queue (kB)" if in_bytes else "queue (packets)", size, of=first)
    title(axes, link)
    most = 0.0
    for i, (label, of) in enumerate(rows.items()):
        name, colour = (f", {label}" if label else ""), look(i)[0]
        values, average = of[f"queue_{unit}"] / scale, of[f"average_{unit}"] / scale
        has_average = bool(average.notna().any())
        most = max(most, values.max(), average.max() if has_average else 0)
        style: dict[str, Any] = {"alpha": 0.45} if has_average else {}
        axes.plot(
            of["time_s"], values, linewidth=0.8, color=colour, label=literal(f"queue{name}"),
            **style,
        )  # fmt: skip
        if has_average:
            axes.plot(
                of["time_s"], average, linewidth=1.6, label=literal(f"average queue{name}"),
                color=colour if len(runs) > 1 else COLOURS[1],
            )  # fmt: skip
    reached = most
    for i, (name, (value, of_unit)) in enumerate(lines.items()):
        if (of_unit == "B") == in_bytes and reached >= NEAR * value / scale:
            axes.axhline(
                value / scale, color="#555555", linewidth=1, label=name,
                linestyle=DASHES[i % len(DASHES)],
            )  # fmt: skip
            most = max(most, value / scale)
    axes.set_xlim(left=times[0], right=times[1])
    axes.set_ylim(0, 1.06 * most or 1)
    if len(axes.get_lines()) > 1:
        legend_below(figure, axes)
    return figure


def _queue_rows(run: Result, link: str, times: Times) -> Any:
    """Return the samples of the queue of a link between the given times."""
    series = run.series("queue")
    rows = series[series["link"] == link]
    if rows.empty:
        known = ", ".join(series["link"].unique())
        raise NotMeasuredError(
            f"the run did not record the queue of {link!r}; it recorded {known or 'no queue'}"
        )
    shown = between(rows, times)
    if shown.empty:
        raise ValueError(
            f"the queue of {link} was not sampled between the given times; its samples are from "
            f"{rows['time_s'].min():g} s to {rows['time_s'].max():g} s"
        )
    return shown


def _thresholds(run: Result, link: str) -> dict[str, tuple[float, str]]:
    """Return the thresholds of a link's queue in packets or in B ("B"), by their labels.

    If one threshold is a target delay, which corresponds to a length in B, all thresholds in
    packets are left out.
    """
    try:
        of = Network.of(json.dumps(run.scenario)).link(link)
    except (KeyError, ScenarioError):
        return {}
    lines: dict[str, tuple[float, str]] = {}
    for key in THRESHOLDS:
        text = str(of.queue.get(key, ""))
        if key == "target" and of.queue["kind"] in OF_FIFO:
            length = seconds(text) * of.rate_bps / 8
            lines[f"{key} {text}"] = (length, "B")
        elif (parsed := quantities([text])) and parsed[1] in ("packets", "packet", "B"):
            lines[f"{key} {text}"] = (parsed[0][0], "B" if parsed[1] == "B" else "packets")
    return lines


def window(result: Result, flows: Sequence[str] | None = None) -> Figure:
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
    names = list(flows or series["flow"].unique())
    for i, name in enumerate(names):
        rows = series[series["flow"] == name]
        axes.step(
            rows["time_s"], rows["cwnd_bytes"] / 1000, where="post", linewidth=0.8,
            label=literal(name), **stroke(i),
        )  # fmt: skip
    axes.set_ylim(bottom=0)
    if 1 < len(names) <= MOST_NAMES:
        legend_below(figure, axes, 4)
    return figure
