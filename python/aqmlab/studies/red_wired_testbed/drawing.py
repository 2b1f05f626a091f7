"""The figures: medians over the starts, and time-sequence graphs of replications."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from aqmlab.figures import sequence
from aqmlab.figures.style import legend_below, look, sheet
from aqmlab.measures import Measure
from aqmlab.studies.framework import Figure, Item, Need, Record, Runs, Section
from aqmlab.studies.red_wired_testbed.beside import NAMED
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
from aqmlab.studies.red_wired_testbed.printed import estimate, rows
from aqmlab.studies.red_wired_testbed.scenarios import (
    ALONE,
    BRIEF,
    DISCIPLINES,
    LONG,
    MEDIUM,
    ONE_CLASS,
    RED,
    RED_STARTS_S,
    SHORT,
    TAIL_DROP,
    TAIL_DROP_STARTS_S,
    TWO_CLASS,
    Beside,
    Three,
    Workload,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FULL = Record(frozenset({"segments", "drops"}))
STARTS = {TAIL_DROP: TAIL_DROP_STARTS_S, RED: RED_STARTS_S}
PRINTED_TABLES = {TAIL_DROP: "table5_1.csv", RED: "table5_4.csv"}


def _curve(
    axes: Axes, i: int, label: str, at: Sequence[tuple[float, list[float]]], *, dashed: bool = False
) -> None:
    """Draw medians with the central 95 % of their bootstrap."""
    colour, marker = look(i)
    found = [(x, estimate("median", values)) for x, values in at]
    x = [where for where, _ in found]
    middle = [e.value for _, e in found]
    ends = [[e.value - e.low for _, e in found], [e.high - e.value for _, e in found]]
    style = "--" if dashed else "-"
    axes.errorbar(x, middle, ends, label=label, color=colour, marker=marker, linestyle=style,
                  capsize=2, markersize=5, linewidth=1.2)  # fmt: skip


def _over_starts(
    runs: Runs, discipline: str, read: Measure[Outcome]
) -> list[tuple[float, list[float]]]:
    return [
        (s, [read.of(run) for run in runs.of(Three(discipline, s))])
        for s in STARTS[discipline]
        if runs.has(Three(discipline, s))
    ]


def _printed(discipline: str, place: str) -> tuple[list[float], list[float]]:
    found = [row for row in rows(PRINTED_TABLES[discipline]) if row["flow"] == place]
    return (
        [float(row["third_flow_start_s"]) for row in found],
        [float(row["elapsed_median_s"]) for row in found],
    )


def _needs(*disciplines: str) -> Iterator[Need]:
    for discipline in disciplines:
        for s in STARTS[discipline]:
            yield Need(Three(discipline, s), quick=s in (0, 2, 5.5))


def _by_place(column: str, label: str, name: str) -> Callable[[Runs], Section]:
    def make(runs: Runs) -> Section:
        figure, axes = sheet()
        for i, place in enumerate(PLACES):
            _curve(axes, i, f"{place} flow", _over_starts(runs, TAIL_DROP, measure(place, column)))
            if column == "elapsed_time_s":
                axes.plot(*_printed(TAIL_DROP, place), "x", color=look(i)[0], markersize=6,
                          label=f"{place}, printed")  # fmt: skip
        axes.set_xlabel("start of the third flow (s)")
        axes.set_ylabel(label)
        axes.set_ylim(0, 1.06 * axes.get_ylim()[1])
        legend_below(figure, axes)
        return Section(figures=[Figure(name, "Medians of the replications; bars: 95 % of the "
                                             "bootstrap.", figure)])  # fmt: skip

    return make


def _both(runs: Runs) -> Section:
    """Figures 5-13 and 5-14: the third flow, and the others, with Tail Drop and RED."""
    third = [
        (measure(THIRD, "elapsed_time_s"), "elapsed time (s)"),
        (measure(THIRD, "data_xmit_time_s"), "data transmit time (s)"),
        (handshake(THIRD), "three-way handshake (s)"),
        (measure(THIRD, "retx_packets"), "retransmitted packets"),
    ]
    others = [
        (measure(place, column), f"{place}: {label}")
        for place in (FASTEST, SLOWEST)
        for column, label in (("elapsed_time_s", "elapsed (s)"), ("retx_packets", "resent packets"))
    ]
    figures = []
    for name, panels, whose in (("figure-5-13", third, "third flow"),
                                ("figure-5-14", others, "first two flows")):  # fmt: skip
        figure, grid = sheet(2, 2, (8.4, 6.0))
        for axes, (read, label) in zip(grid.flat, panels, strict=True):
            for i, discipline in enumerate(DISCIPLINES):
                told = NAMED[ONE_CLASS, discipline]
                _curve(axes, i, told, _over_starts(runs, discipline, read))
            axes.set_ylabel(label)
            axes.set_ylim(0, 1.06 * axes.get_ylim()[1])
            axes.set_xlabel("start of the third flow (s)")
        legend_below(figure, grid.flat[0])
        figures.append(Figure(name, f"The {whose} with Tail Drop and RED: medians.", figure))
    return Section(figures=figures)


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
            yield Need(at, quick=at.start_s == 0 and case is not MEDIUM)


def _case(case: Workload, number: str) -> Item:
    name = f"figure-{number}"

    def make(runs: Runs) -> Section:
        figure, grid = sheet(1, 3, (10.5, 4.2))
        for axes, read in zip(grid, (ELAPSED, RESENT, RECEIVED), strict=True):
            for i, (label, settings) in enumerate(_configurations(case)):
                alone = settings[0].classes == ALONE
                if read is RECEIVED and alone:
                    continue
                there = [
                    (start_s, [read.of(run) for run in runs.of(at)])
                    for start_s, at in zip(case.starts_s, settings, strict=True)
                    if runs.has(at)
                ]
                if there:
                    _curve(axes, i, label, there, dashed=alone)
            axes.set_ylabel(read.head)
            axes.set_xlabel("start of the CBR flow (s)")
        legend_below(figure, grid[0])
        about = (
            f"Test case {case.name}: medians and 95 % of the bootstrap. DS: CBR in a class of its "
            "own."
        )
        return Section(figures=[Figure(name, about, figure)])

    title = f"Figure {number}: test case {case.name}"
    return Item(name, title, lambda: _case_needs(case), make)


Choose = Callable[[Sequence[Outcome]], int]


def _nearest(place: str, column: str, value: float) -> Choose:
    """Choose the replication that comes nearest to the one shown."""
    read = measure(place, column)
    return lambda found: min(range(len(found)), key=lambda r: abs(read.of(found[r]) - value))


def _most(place: str, column: str) -> Choose:
    read = measure(place, column)
    return lambda found: max(range(len(found)), key=lambda r: read.of(found[r]))


def _near_tcp(value: float) -> Choose:
    return lambda found: min(range(len(found)), key=lambda r: abs(ELAPSED.of(found[r]) - value))


RATE, TIME = "throughput_bytes_per_s", "elapsed_time_s"
GRAPHS: dict[str, tuple[str, list[tuple[Three | Beside, Choose]]]] = {
    "5-3": ("fair long flows, third flow near 4124 byte/s",
            [(Three(TAIL_DROP, 0.0), _nearest(THIRD, RATE, 4124))]),
    "5-4": ("the third flow's greatest throughput", [(Three(TAIL_DROP, 0.0), _most(THIRD, RATE))]),
    "5-5": ("the third flow's least throughput", [(Three(TAIL_DROP, 2.0), _most(THIRD, TIME))]),
    "5-6": ("the third flow's greatest throughput, start 2 s",
            [(Three(TAIL_DROP, 2.0), _most(THIRD, RATE))]),
    "5-9": ("third flow near 21.2 s, start 2 s",
            [(Three(TAIL_DROP, 2.0), _nearest(THIRD, TIME, 21.2))]),
    "5-11": ("the fastest flow at its best, start 5.5 s",
             [(Three(TAIL_DROP, 5.5), _most(FASTEST, RATE))]),
    "5-12": ("the third flow's greatest throughput, start 5.5 s",
             [(Three(TAIL_DROP, 5.5), _most(THIRD, RATE))]),
    "5-15": ("RED, the third flow's greatest throughput, start 5.5 s",
             [(Three(RED, 5.5), _most(THIRD, RATE))]),
    "5-17": ("test case 1, CBR after 3 s: Tail Drop, RED, each in one class and two",
             [(Beside(LONG, d, c, 3), _near_tcp(v)) for c, d, v in (
                 (ONE_CLASS, TAIL_DROP, 32.3), (ONE_CLASS, RED, 33.4),
                 (TWO_CLASS, TAIL_DROP, 35.9), (TWO_CLASS, RED, 35.8))]),
    "5-19": ("test case 2, Tail Drop, CBR after 1.5 s and 0 s",
             [(Beside(SHORT, TAIL_DROP, ONE_CLASS, 1.5), _near_tcp(5.0)),
              (Beside(SHORT, TAIL_DROP, ONE_CLASS, 0), _near_tcp(3.7))]),
    "5-20": ("test case 2, CBR after 0.5 s, two classes: Tail Drop and RED",
             [(Beside(SHORT, TAIL_DROP, TWO_CLASS, 0.5), _near_tcp(8.3)),
              (Beside(SHORT, RED, TWO_CLASS, 0.5), _near_tcp(4.9))]),
    "5-23": ("test case 3, Tail Drop in one class, CBR after 0, 7, 18 s",
             [(Beside(BRIEF, TAIL_DROP, ONE_CLASS, s), _near_tcp(v))
              for s, v in ((0, 25.5), (7, 23.7), (18, 24.5))]),
}  # fmt: skip
"""What each figure shows, and of which replications: those of ours that are nearest."""
QUICK = ("5-4", "5-15")


def _graph(number: str) -> Item:
    about, shown = GRAPHS[number]
    name = f"figure-{number}"

    def needs() -> Iterator[Need]:
        yield from (Need(at, quick=number in QUICK) for at, _ in shown)

    def then(runs: Runs) -> Iterable[Need]:
        for at, choose in shown:
            if runs.has(at):
                yield Need(at, (choose(runs.of(at)),), record=FULL, quick=number in QUICK)

    def make(runs: Runs) -> Section:
        section = Section([f"Here: {about}; of ours, the replication that comes nearest."])
        for i, (at, choose) in enumerate(shown):
            if runs.has(at):
                run: Outcome = runs.one(at, choose(runs.of(at)))
                if run.result is None:  # the quick form has few graphs
                    continue
                section.figures += _graphs(f"{name}-{i + 1}" if len(shown) > 1 else name, at, run)
        return section

    return Item(name, f"Figure {number}: {about}", needs, make, then)


def _graphs(name: str, at: Three | Beside, run: Outcome) -> list[Figure]:
    """Return a time-sequence graph of each TCP flow of a run."""
    assert run.result is not None, "recorded for this figure"
    made = []
    for i, flow in enumerate(run.transfers):
        suffix = f"-{'abc'[i]}" if len(run.transfers) > 1 else ""
        caption = (
            f"{run_title(at)}: {flow.name} takes {flow.elapsed_s:.1f} s, {flow.resent} segments "
            "sent again."
        )
        made.append(Figure(name + suffix, caption, sequence(run.result, flow.name)))
    return made


def run_title(at: Three | Beside) -> str:
    """Return what a scenario is, in words."""
    if isinstance(at, Three):
        return f"{at.discipline.replace('_', ' ')}, third flow after {at.start_s:g} s"
    return f"{NAMED[at.classes, at.discipline]}, CBR after {at.start_s:g} s"


MEDIANS = (
    Item(
        "figure-5-1", "Figure 5-1: elapsed times, Tail Drop", lambda: _needs(TAIL_DROP),
        _by_place("elapsed_time_s", "median elapsed time (s)", "figure-5-1"),
    ),
    Item(
        "figure-5-2", "Figure 5-2: throughputs, Tail Drop", lambda: _needs(TAIL_DROP),
        _by_place("throughput_bytes_per_s", "median throughput (byte/s)", "figure-5-2"),
    ),
    Item(
        "figure-5-13", "Figures 5-13 and 5-14: Tail Drop and RED", lambda: _needs(*DISCIPLINES),
        _both,
    ),
    _case(LONG, "5-16"),
    _case(SHORT, "5-18"),
    _case(MEDIUM, "5-21"),
    _case(BRIEF, "5-22"),
)  # fmt: skip
ITEMS = tuple(
    sorted(
        (*MEDIANS, *map(_graph, GRAPHS)), key=lambda item: int(item.name.removeprefix("figure-5-"))
    )
)
