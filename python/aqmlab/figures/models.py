"""Figures of analytic models: control loops, delays, and figures of a study.

Curves show models. Points show means of simulations, with confidence intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.figures.style import legend_below, logarithmic, look, sheet, stroke

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from aqmlab.models.batch_queue import BatchQueue
    from aqmlab.models.fluid.margins import Loop
    from aqmlab.models.fluid.over_time import Course

    Curve = tuple[Sequence[float], Sequence[float]]
    """Values on the x axis, and values on the y axis, of a curve."""
    Points = tuple[Sequence[float], Sequence[float], Sequence[float], Sequence[float]]
    """Values on the x axis of points; means, lower bounds and upper bounds of their intervals."""

LEAST = 1e-6
"""Minimum probability on the axis of a figure of delays."""


def bode(loops: Mapping[str, Loop]) -> Figure:
    """Plot the gain and the phase of control loops over the frequency (Bode plot).

    Parameters
    ----------
    loops : mapping of str to Loop
        Control loops by name. At most 8 loops have different colours.

    Returns
    -------
    matplotlib.figure.Figure
        Figure with the frequency in rad/s, the gain in dB and the phase in degrees. Dots on the
        phase mark the frequencies with gain 1, and dots on the gain mark the frequency with phase
        -180°.
    """
    figure, (gain, phase) = sheet(2, 1, (7.2, 5.6), sharex=True)
    ends = []
    for i, (name, loop) in enumerate(loops.items()):
        colour, _ = look(i)
        at = loop.frequencies
        response = loop.response(at)
        decibel = 20 * np.log10(np.abs(response))
        degrees = np.degrees(loop.phase(at))
        margins = f"phase margin {loop.phase_margin_deg:.0f}°, gain margin ×{loop.gain_margin:.3g}"
        gain.plot(at, decibel, color=colour, label=f"{name}: {margins}")
        phase.plot(at, degrees, color=colour)
        if loop.crossover:
            margin = np.interp(loop.crossover, at, degrees)
            phase.plot([loop.crossover] * 2, [-180, margin], color=colour, linewidth=0.8)
            phase.plot(loop.crossover, margin, "o", color=colour)
            gain.plot(loop.crossover, 0, "o", color=colour)
            ends.append(loop.crossover)
        if np.isfinite(loop.phase_crossover):
            gain.plot([loop.phase_crossover] * 2, [0, -20 * np.log10(loop.gain_margin)],
                      color=colour, linewidth=0.8, marker="o")  # fmt: skip
            ends.append(loop.phase_crossover)
    if ends:
        gain.set_xlim(min(ends) / 30, max(ends) * 6)
    _fit(gain)
    gain.set_xscale("log")
    gain.axhline(0, color="#666666", linewidth=0.8)
    gain.set_ylabel("gain (dB)")
    phase.axhline(-180, color="#666666", linewidth=0.8)
    phase.set_ylim(-360, 0)
    phase.set_yticks(range(-360, 1, 90))
    phase.set_ylabel("phase (°)")
    phase.set_xlabel("frequency (rad/s)")
    legend_below(figure, gain, 1 if len(loops) < 4 else 2)
    return figure


def _fit(axes: Axes) -> None:
    """Adapt the y axis to those parts of the lines that are within the limits of the x axis."""
    low, high = axes.get_xlim()
    seen = []
    for line in axes.get_lines():
        x, y = (np.asarray(a, dtype=float) for a in line.get_data())
        seen += [*y[(x >= low) & (x <= high)]]
    if seen:
        axes.set_ylim(min(seen) - 5, max(seen) + 5)


def courses(over_time: Mapping[str, Course]) -> Figure:
    """Plot the queue and the signal probability over time, as solutions of the fluid model.

    Parameters
    ----------
    over_time : mapping of str to Course
        Solutions of the fluid model by name.

    Returns
    -------
    matplotlib.figure.Figure
        Figure with the time in s, the queue in packets, and the probability in %.
    """
    figure, (queue, probability) = sheet(2, 1, (7.2, 5.2), sharex=True)
    for i, (name, course) in enumerate(over_time.items()):
        colour, _ = look(i)
        queue.plot(course.time_s, course.queue, color=colour, label=name)
        probability.plot(course.time_s, 100 * course.probability, color=colour)
    for axes in (queue, probability):
        axes.set_ylim(bottom=0)
        axes.margins(x=0)
    queue.set_ylabel("queue (packets)")
    probability.set_ylabel("signals (% of packets)")
    probability.set_xlabel("time (s)")
    if len(over_time) > 1:
        legend_below(figure, queue)
    return figure


def delays(
    queues: Mapping[str, BatchQueue], waits: Mapping[str, tuple[Any, Any]] | None = None
) -> Figure:
    """Plot the share of packets whose waiting time exceeds t, as a function of t.

    Parameters
    ----------
    queues : mapping of str to BatchQueue
        Queue models by name.
    waits : mapping of str to (array, array), optional
        Measurements of runs by name: distinct waiting times in s, and the number of packets with
        each waiting time.

    Returns
    -------
    matplotlib.figure.Figure
        Figure with t in ms, and the share of packets on a logarithmic axis.
    """
    figure, axes = sheet()
    for i, (name, queue) in enumerate(queues.items()):
        end = _end(queue)
        times = np.linspace(0, end, 240)
        shares = [queue.wait_exceeds(float(t)) for t in times]
        axes.plot(1e3 * times, shares, label=name, **stroke(i))
    for i, (name, (seconds, packets)) in enumerate((waits or {}).items()):
        seconds, packets = np.asarray(seconds), np.asarray(packets, dtype=float)
        order = np.argsort(seconds)
        left = 1 - packets[order].cumsum() / packets.sum()
        colour, marker = look(len(queues) + i)
        seen = left > 0
        axes.plot(1e3 * seconds[order][seen], left[seen], marker, color=colour,
                  markersize=3, markevery=max(1, int(seen.sum()) // 60), label=name)  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylim(LEAST, 1)
    axes.set_xlim(left=0)
    axes.set_xlabel("waiting time t (ms)")
    axes.set_ylabel("share of packets that wait longer than t")
    legend_below(figure, axes)
    return figure


def _end(queue: BatchQueue) -> float:
    """Return a time in s; at most the share `LEAST` of all packets wait longer than this time."""
    end = queue.mean_wait + queue.service_s
    while queue.wait_exceeds(end) > LEAST:
        end *= 1.3
    return end


def figure_7(curves: Mapping[str, Curve], points: Mapping[str, Points] | None = None) -> Figure:
    """Plot the mean queue over the flow size; all flows have the same size.

    `kuzmanovic2005ecnplus`, figure 7. Curves are those of
    :func:`aqmlab.models.power_of_ecn.mean_by_flow_size`.

    Parameters
    ----------
    curves : mapping of str to (sizes, means)
        Curves by name: flow sizes and mean queues, both in packets.
    points : mapping of str to (sizes, means, lows, highs), optional
        Simulations.

    Returns
    -------
    matplotlib.figure.Figure
        Figure with the flow size on a logarithmic axis and the mean queue, both in packets.
    """
    figure, axes = _curves(curves, points)
    logarithmic(axes, "x")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("flow size (packets)")
    axes.set_ylabel("mean queue (packets)")
    return figure


def figure_8(curves: Mapping[str, Curve], points: Mapping[str, Points] | None = None) -> Figure:
    """Plot the probability of a long queueing delay over the load, for web traffic.

    `kuzmanovic2005ecnplus`, figure 8. Curves are those of
    :func:`aqmlab.models.power_of_ecn.late_by_load`.

    Parameters
    ----------
    curves : mapping of str to (loads, probabilities)
        Curves by name, one per link.
    points : mapping of str to (loads, means, lows, highs), optional
        Simulations.

    Returns
    -------
    matplotlib.figure.Figure
        Figure with the load, and the probability that the queueing delay exceeds 5 ms.
    """
    return _by_load(curves, points, "web traffic")


def figure_9(curves: Mapping[str, Curve], points: Mapping[str, Points] | None = None) -> Figure:
    """Plot :func:`figure_8` for general traffic (`kuzmanovic2005ecnplus`, figure 9)."""
    return _by_load(curves, points, "general traffic")


def _by_load(
    curves: Mapping[str, Curve], points: Mapping[str, Points] | None, traffic: str
) -> Figure:
    figure, axes = _curves(curves, points)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel(f"load of the link, {traffic}")
    axes.set_ylabel("P(queueing delay > 5 ms)")
    return figure


def _curves(
    curves: Mapping[str, Curve], points: Mapping[str, Points] | None
) -> tuple[Figure, Axes]:
    """Return a figure with curves and points.

    A curve and points that have the same name also have the same colour.
    """
    figure, axes = sheet()
    names = list(curves)
    for i, (name, (x, y)) in enumerate(curves.items()):
        axes.plot(x, y, label=name, **stroke(i))
    for name, (x, means, lows, highs) in (points or {}).items():
        names += [name] if name not in names else []
        colour, marker = look(names.index(name))
        centre = np.asarray(means, dtype=float)
        bars = [centre - np.asarray(lows), np.asarray(highs) - centre]
        axes.errorbar(x, centre, yerr=bars, fmt=marker, color=colour, capsize=2,
                      label=f"{name}, simulated")  # fmt: skip
    legend_below(figure, axes)
    return figure, axes
