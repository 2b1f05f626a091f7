"""Figures of medians against the start time, with published medians as crosses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from aqmlab.figures.style import legend_below, limits, look, sheet
from aqmlab.measures import Measure
from aqmlab.studies.framework import Figure, Item, Need, Runs, Section
from aqmlab.studies.red_wired_testbed import graphs
from aqmlab.studies.red_wired_testbed.beside import FILES, NAMED, at_most
from aqmlab.studies.red_wired_testbed.outcomes import (
    ELAPSED,
    FASTEST,
    PLACES,
    RECEIVED,
    RESENT,
    SLOWEST,
    THIRD,
    Outcome,
    handshake,
    measure,
)
from aqmlab.studies.red_wired_testbed.printed import HEADS, estimate, rows
from aqmlab.studies.red_wired_testbed.scenarios import (
    ALONE,
    BRIEF,
    DISCIPLINES,
    LONG,
    LONG_BYTES,
    MEDIUM,
    ONE_CLASS,
    RED,
    RED_STARTS_S,
    SHORT,
    SHORT_BYTES,
    TAIL_DROP,
    TAIL_DROP_STARTS_S,
    TWO_CLASS,
    Beside,
    Three,
    Workload,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TIME, RATE = "elapsed_time_s", "throughput_bytes_per_s"
Found = list[tuple[float, list[float]]]
STARTS = {TAIL_DROP: TAIL_DROP_STARTS_S, RED: RED_STARTS_S}
PRINTED_TABLES = {TAIL_DROP: "table5_1.csv", RED: "table5_4.csv"}


def _curve(
    axes: Axes, i: int, label: str, at: Sequence[tuple[float, list[float]]], *, dashed: bool = False
) -> None:
    """Plot the medians at each start time, with the central 95 % of their bootstrap."""
    colour, marker = look(i)
    medians = [(x, estimate("median", values)) for x, values in at]
    x = [where for where, _ in medians]
    middle = [e.value for _, e in medians]
    ends = [[e.value - e.low for _, e in medians], [e.high - e.value for _, e in medians]]
    style = "--" if dashed or i % 2 else "-"
    axes.errorbar(x, middle, ends, label=label, color=colour, marker=marker, linestyle=style,
                  capsize=2, markersize=7 - i, markerfacecolor="none" if i % 2 else colour,
                  linewidth=1.2)  # fmt: skip


def _crosses(axes: Axes, i: int, label: str, at: tuple[list[float], list[float]]) -> None:
    """Plot published medians as crosses."""
    if at[0]:
        axes.plot(*at, "x", color=look(i)[0], markersize=6, label=label)


def _over_starts(runs: Runs, discipline: str, read: Measure[Outcome]) -> Found:
    return [
        (s, [read.of(run) for run in runs.of(Three(discipline, s))])
        for s in STARTS[discipline]
        if runs.has(Three(discipline, s))
    ]


def _printed(
    discipline: str, place: str, starts_s: Sequence[float], *, rate: bool = False
) -> tuple[list[float], list[float]]:
    """Return published median elapsed times, or throughputs computed from these times."""
    medians = [
        (float(row["third_flow_start_s"]), float(row["elapsed_median_s"]))
        for row in rows(PRINTED_TABLES[discipline])
        if row["flow"] == place and float(row["third_flow_start_s"]) in starts_s
    ]
    size = SHORT_BYTES if place == THIRD else LONG_BYTES
    return [s for s, _ in medians], [size / t if rate else t for _, t in medians]


def _needs(*disciplines: str) -> Iterator[Need]:
    for discipline in disciplines:
        for s in STARTS[discipline]:
            at = Three(discipline, s)
            yield Need(at, at_most=at_most(at), quick=s in (0, 2, 5.5))


START = "start of the third flow (s)"


def _by_place(column: str, label: str, name: str) -> Callable[[Runs], Section]:
    def make(runs: Runs) -> Section:
        figure, axes = sheet()
        rate = column == RATE
        for i, place in enumerate(PLACES):
            by_start = _over_starts(runs, TAIL_DROP, measure(place, column))
            _curve(axes, i, f"{place} flow", by_start)
            starts_s = [s for s, _ in by_start]
            _crosses(axes, i, f"{place}, published",
                     _printed(TAIL_DROP, place, starts_s, rate=rate))  # fmt: skip
        axes.set_xlabel(START)
        axes.set_ylabel(label)
        axes.set_ylim(0, 1.06 * axes.get_ylim()[1])
        legend_below(figure, axes)
        how = (
            " Crosses show throughputs computed from the published median times of Table 5-1."
            if rate
            else ""
        )
        about = (
            "Lines show medians of the replications, and bars the central 95 % of the "
            f"bootstrap.{how}"
        )
        return Section(figures=[Figure(name, about, figure)])

    return make


def _both_starts(runs: Runs, discipline: str, read: Measure[Outcome]) -> Found:
    """Return the values at the start times for which Tail Drop and RED were both run."""
    return [(s, values) for s, values in _over_starts(runs, discipline, read) if s in RED_STARTS_S]


def _five(axes: Axes, runs: Runs, discipline: str) -> None:
    """Plot five statistics of the third flow's elapsed time, with published values as crosses."""
    by_start = _both_starts(runs, discipline, measure(THIRD, TIME))
    starts_s = [s for s, _ in by_start]
    printed = [
        row for row in rows(PRINTED_TABLES[discipline])
        if row["flow"] == THIRD and float(row["third_flow_start_s"]) in starts_s
    ]  # fmt: skip
    at = [float(row["third_flow_start_s"]) for row in printed]
    for i, s in enumerate(("max", "p75", "median", "p25", "min")):
        colour, marker = look(i + 2)
        axes.plot(starts_s, [estimate(s, values).value for _, values in by_start], color=colour,
                  marker=marker, label=HEADS[s])  # fmt: skip
        axes.plot(at, [float(row[f"elapsed_{s}_s"]) for row in printed], "x", color=colour,
                  markersize=6)  # fmt: skip
    axes.set_title(NAMED[ONE_CLASS, discipline], fontsize=10)
    axes.set_ylabel("elapsed time (s)")
    axes.set_ylim(0, 42)  # equal for both disciplines, up to the published maximum
    axes.legend(ncols=3, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, 0),
                borderaxespad=3, frameon=False)  # fmt: skip


def _compare(axes: Axes, runs: Runs, read: Measure[Outcome], quantity: str) -> None:
    """Plot the medians with Tail Drop and RED, and the published medians if they exist."""
    for i, discipline in enumerate(DISCIPLINES):
        by_start = _both_starts(runs, discipline, read)
        named = NAMED[ONE_CLASS, discipline]
        _curve(axes, i, named, by_start)
        if read.name in ("elapsed_s", "throughput"):
            starts_s = [s for s, _ in by_start]
            rate = read.name == "throughput"
            printed = _printed(discipline, read.part, starts_s, rate=rate)
            _crosses(axes, i, f"{named}, published", printed)
    axes.set_ylabel(quantity)
    axes.set_ylim(0, 1.06 * axes.get_ylim()[1])


def _third_flow(runs: Runs) -> Section:
    """Return figure 5-13: statistics of the elapsed time, and medians of four other quantities."""
    figure, grid = sheet(2, 3, (11.0, 6.4))
    for axes, discipline in zip(grid[0, :2], DISCIPLINES, strict=True):
        _five(axes, runs, discipline)
    shown = (
        (handshake(THIRD), "three-way handshake (s)"),
        (measure(THIRD, "data_xmit_time_s"), "data transmit time (s)"),
        (measure(THIRD, RATE), "throughput (byte/s)"),
        (measure(THIRD, "retx_packets"), "retransmitted packets"),
    )
    for axes, of in zip(grid.flat[2:], shown, strict=True):
        _compare(axes, runs, *of)
    for axes in grid[-1]:
        axes.set_xlabel(START)
    legend_below(figure, grid[1, 1], columns=4)
    about = (
        "The third flow with Tail Drop and RED, at the start times for which both were run. The "
        "panels of elapsed times show five statistics, with published values as crosses. The "
        "other panels show medians with the central 95 % of the bootstrap."
    )
    return Section(figures=[Figure("figure-5-13", about, figure)])


def _long_flows(runs: Runs) -> Section:
    """Return figure 5-14: elapsed time and retransmissions of the fastest and the slowest flow."""
    figure, grid = sheet(2, 2, (8.4, 6.4))
    for line, place in zip(grid, (FASTEST, SLOWEST), strict=True):
        for axes, (column, quantity) in zip(
            line,
            ((TIME, "elapsed time (s)"), ("retx_packets", "retransmitted packets")),
            strict=True,
        ):
            _compare(axes, runs, measure(place, column), quantity)
            axes.set_title(f"{place} flow", fontsize=10)
            axes.set_xlabel(START)
    legend_below(figure, grid[0, 0], columns=4)
    about = (
        "The two long flows with Tail Drop and RED: medians with the central 95 % of the bootstrap."
    )
    return Section(figures=[Figure("figure-5-14", about, figure)])


def _configurations(case: Workload) -> Iterator[tuple[str, list[Beside]]]:
    for classes in (ONE_CLASS, TWO_CLASS, ALONE):
        if classes == ALONE and case is BRIEF:
            continue
        for discipline in DISCIPLINES:
            yield (
                NAMED[classes, discipline],
                [
                    Beside(case, discipline, classes, 0 if classes == ALONE else s)
                    for s in case.starts_s
                ],
            )


def _case_needs(case: Workload) -> Iterator[Need]:
    for _, settings in _configurations(case):
        for at in dict.fromkeys(settings):
            quick = at.start_s == 0 and case is not MEDIUM
            yield Need(at, at_most=at_most(at), quick=quick)


def _printed_case(case: Workload, at: Beside, column: str) -> tuple[list[float], list[float]]:
    """Return the published medians of a configuration, by start time of the CBR flow."""
    medians = [
        (float(row["cbr_start_s"]), float(row[column]))
        for row in (rows(FILES[case.name]) if case.name in FILES else ())
        if (row["htb_config"], row["discipline"]) == (at.classes, at.discipline) and row[column]
    ]
    return [s for s, _ in medians], [value for _, value in medians]


def _case(case: Workload, number: str) -> Item:
    name = f"figure-{number}"

    def make(runs: Runs) -> Section:
        figure, grid = sheet(1, 3, (11.0, 4.4), sharex=True)
        columns = {ELAPSED: "elapsed_median_s", RECEIVED: "udp_received_median_packets"}
        for axes, read in zip(grid, (ELAPSED, RESENT, RECEIVED), strict=True):
            for i, (label, settings) in enumerate(_configurations(case)):
                alone = settings[0].classes == ALONE
                there = [
                    (start_s, [read.of(run) for run in runs.of(at)])
                    for start_s, at in zip(case.starts_s, settings, strict=True)
                    if runs.has(at)
                ]
                if not there or (read is RECEIVED and alone):
                    continue
                _curve(axes, i, label, there, dashed=alone)
                if read in columns and not alone:
                    printed = _printed_case(case, settings[0], columns[read])
                    _crosses(axes, i, "", printed)
            axes.set_ylabel(read.head)
            axes.set_ylim(limits(axes.get_ylim()))
            axes.set_xlabel("start of the CBR flow (s)")
            axes.set_visible(axes.has_data())
        legend_below(figure, grid[0])
        crosses = " Crosses show published medians." if case.name in FILES else ""
        about = (
            f"Test case {case.name}: medians with the central 95 % of the bootstrap. DS means "
            f"that the CBR flow has its own class.{crosses}"
        )
        return Section(figures=[Figure(name, about, figure)])

    title = (
        f"Figure {number}: test case {case.name}, TCP transfer of {case.tcp_bytes / 1000:.1f} kB "
        "and CBR"
    )
    return Item(name, title, lambda: _case_needs(case), make)


MEDIANS = (
    Item(
        "figure-5-1", "Figure 5-1: elapsed times of three flows, Tail Drop",
        lambda: _needs(TAIL_DROP),
        _by_place("elapsed_time_s", "median elapsed time (s)", "figure-5-1"),
    ),
    Item(
        "figure-5-2", "Figure 5-2: throughputs of three flows, Tail Drop",
        lambda: _needs(TAIL_DROP),
        _by_place("throughput_bytes_per_s", "median throughput (byte/s)", "figure-5-2"),
    ),
    Item(
        "figure-5-13", "Figure 5-13: the third flow, Tail Drop and RED",
        lambda: _needs(*DISCIPLINES), _third_flow,
    ),
    Item(
        "figure-5-14", "Figure 5-14: the two long flows, Tail Drop and RED",
        lambda: _needs(*DISCIPLINES), _long_flows,
    ),
    _case(LONG, "5-16"),
    _case(SHORT, "5-18"),
    _case(MEDIUM, "5-21"),
    _case(BRIEF, "5-22"),
)  # fmt: skip
ITEMS = tuple(
    sorted((*MEDIANS, *graphs.ITEMS), key=lambda item: int(item.name.removeprefix("figure-5-")))
)
