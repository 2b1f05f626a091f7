"""Time-sequence graphs of the replications that are nearest to the graphs in the thesis.

As in the thesis, each figure is one sheet, which shows the two long flows above the third flow, or
one panel per configuration of HTB.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from aqmlab.estimates import number
from aqmlab.figures.segments import duplicate_acks, rows_of
from aqmlab.figures.style import legend_below, sheet
from aqmlab.measures import Measure
from aqmlab.studies.framework import Figure, Item, Need, Record, Runs, Section
from aqmlab.studies.red_wired_testbed.beside import NAMED, at_most
from aqmlab.studies.red_wired_testbed.outcomes import (
    ELAPSED,
    FASTEST,
    THIRD,
    Outcome,
    Transfer,
    measure,
)
from aqmlab.studies.red_wired_testbed.scenarios import (
    BRIEF,
    LONG,
    ONE_CLASS,
    RED,
    SHORT,
    TAIL_DROP,
    TWO_CLASS,
    Beside,
    Three,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

FULL = Record(frozenset({"segments", "drops"}))
Choose = Callable[[Sequence[Outcome]], int]
RATE, TIME, TRANSMIT = "throughput_bytes_per_s", "elapsed_time_s", "data_xmit_time_s"


def _nearest(read: Measure[Outcome], value: float) -> Choose:
    """Return a function that chooses the replication nearest to a published value."""
    return lambda ran: min(range(len(ran)), key=lambda r: abs(read.of(ran[r]) - value))


def _third(column: str, value: float) -> Choose:
    return _nearest(measure(THIRD, column), value)


def _most(place: str, column: str) -> Choose:
    read = measure(place, column)
    return lambda ran: max(range(len(ran)), key=lambda r: read.of(ran[r]))


def _least(place: str, column: str) -> Choose:
    read = measure(place, column)
    return lambda ran: min(range(len(ran)), key=lambda r: read.of(ran[r]))


GRAPHS: dict[str, tuple[str, str, list[tuple[Three | Beside, Choose]]]] = {
    "5-3": ("fair long flows", "third flow 4124 byte/s",
            [(Three(TAIL_DROP, 0.0), _third(RATE, 4124))]),
    "5-4": ("highest throughput of the third flow with Tail Drop, start 0 s",
            "fastest 32.6 s, slowest 36.6 s, third 6.4 s",
            [(Three(TAIL_DROP, 0.0), _most(THIRD, RATE))]),
    "5-5": ("lowest throughput of the third flow, start 2 s",
            "fastest 29.5 s, slowest 34 s, third 39.7 s",
            [(Three(TAIL_DROP, 2.0), _most(THIRD, TIME))]),
    "5-6": ("highest throughput of the third flow, start 2 s",
            "third flow 10.4 s, data transmit time 8.7 s",
            [(Three(TAIL_DROP, 2.0), _most(THIRD, RATE))]),
    "5-7": ("lowest data transmit time of the third flow, start 2 s",
            "third flow 12 s, data transmit time 6.8 s",
            [(Three(TAIL_DROP, 2.0), _least(THIRD, TRANSMIT))]),
    "5-8": ("the third flow starts late in the slow start of a long flow, start 2 s",
            "third flow 16 s",
            [(Three(TAIL_DROP, 2.0), _third(TIME, 16))]),
    "5-9": ("the third flow starts in the middle of a long flow's slow start, start 2 s",
            "third flow 21.2 s", [(Three(TAIL_DROP, 2.0), _third(TIME, 21.2))]),
    "5-10": ("the third flow starts early in the slow start of a long flow, start 2 s",
             "third flow 25 s",
             [(Three(TAIL_DROP, 2.0), _third(TIME, 25))]),
    "5-11": ("highest throughput of the fastest flow, start 5.5 s", "fastest 29.5 s, third 13.9 s",
             [(Three(TAIL_DROP, 5.5), _most(FASTEST, RATE))]),
    "5-12": ("highest throughput of the third flow, start 5.5 s",
             "fastest 8814 byte/s, third 4709 byte/s",
             [(Three(TAIL_DROP, 5.5), _most(THIRD, RATE))]),
    "5-15": ("three flows with RED and nearly equal throughputs, start 5.5 s",
             "8062, 7988 and 7190 byte/s", [(Three(RED, 5.5), _third(RATE, 7190))]),
    "5-17": ("test case 1, CBR after 3 s", "32.3, 33.4, 35.9 and 35.8 s",
             [(Beside(LONG, d, c, 3), _nearest(ELAPSED, v)) for c, d, v in (
                 (ONE_CLASS, TAIL_DROP, 32.3), (ONE_CLASS, RED, 33.4),
                 (TWO_CLASS, TAIL_DROP, 35.9), (TWO_CLASS, RED, 35.8))]),
    "5-19": ("test case 2, Tail Drop", "5 and 3.7 s",
             [(Beside(SHORT, TAIL_DROP, ONE_CLASS, 1.5), _nearest(ELAPSED, 5.0)),
              (Beside(SHORT, TAIL_DROP, ONE_CLASS, 0), _nearest(ELAPSED, 3.7))]),
    "5-20": ("test case 2, CBR flow in its own class, CBR after 0.5 s", "8.3 and 4.9 s",
             [(Beside(SHORT, TAIL_DROP, TWO_CLASS, 0.5), _nearest(ELAPSED, 8.3)),
              (Beside(SHORT, RED, TWO_CLASS, 0.5), _nearest(ELAPSED, 4.9))]),
    "5-23": ("test case 3, Tail Drop in one class", "25.5, 23.7 and 24.5 s",
             [(Beside(BRIEF, TAIL_DROP, ONE_CLASS, s), _nearest(ELAPSED, v))
              for s, v in ((0, 25.5), (7, 23.7), (18, 24.5))]),
}  # fmt: skip
"""Title, published numbers and settings of each figure.

Each setting has a function that chooses the replication that the figure shows.
"""
QUICK = ("5-4", "5-15")


def _panel(axes: Axes, run: Outcome, flow: Transfer, title: str) -> None:
    """Plot the segments and ACKs of a flow against time, as recorded at the sender's host."""
    assert run.result is not None, "the run recorded segments and drops for this figure"
    rows = rows_of(run.result, "segments", flow.name)
    sent = rows["direction"] == "sent"
    data, acks = rows[sent & (rows["bytes"] > 0)], rows[~sent]
    for again, colour, label, width in (
        (0, "black", "segment", 1.4),
        (1, "tab:red", "retransmission", 2.6),
    ):
        of = data[data["resent"] == again]
        ends = (of["seq"] / 1000, (of["seq"] + of["bytes"]) / 1000)
        axes.vlines(of["time_s"], *ends, colors=colour, linewidth=width, label=label)
    axes.step(acks["time_s"], acks["ack"] / 1000, where="post", linewidth=1, color="tab:green",
              label="ACK")  # fmt: skip
    twice = acks[duplicate_acks(rows)[~sent]]
    lost = rows_of(run.result, "drops", flow.name)
    for of, at, marker, colour, label in (
        (twice, "ack", "|", "darkgreen", "duplicate ACK"),
        (lost, "seq", "x", "tab:red", "drop at the bottleneck"),
    ):
        axes.plot(of["time_s"], of[at] / 1000, marker, color=colour, label=label, markersize=5,
                  linestyle="none")  # fmt: skip
    axes.set_title(f"{title}: {flow.elapsed_s:.1f} s, {flow.resent} retransmitted", fontsize=10)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("sequence number (kB)")


def _three(run: Outcome) -> Sheet:
    """Return a figure with one panel for each of the three flows.

    A dotted line in each panel marks the first data segment of the third flow.
    """
    figure, grid = sheet(2, 2, (9.6, 6.6), sharex=True)
    panels, empty = grid.flat[:3], grid.flat[3]
    third = run.at(THIRD)
    assert run.result is not None, "the run recorded segments and drops for this figure"
    rows = rows_of(run.result, "segments", third.name)
    first = rows["time_s"][rows["bytes"] > 0].min()
    for axes, flow in zip(panels, run.transfers, strict=True):
        place = "third" if flow is third else "fastest" if flow is run.at(FASTEST) else "slowest"
        _panel(axes, run, flow, f"{flow.name} ({place})" if place != "third" else "third flow")
        axes.axvline(first, color="tab:blue", linestyle=":", linewidth=1,
                     label="first data of the third flow")  # fmt: skip
        axes.tick_params(labelbottom=True)
    empty.axis("off")
    empty.legend(*panels[0].get_legend_handles_labels(), loc="center", frameon=False)
    return figure


def _beside(shown: Sequence[tuple[Beside, Outcome]]) -> Sheet:
    """Return a figure with one panel per configuration of HTB."""
    columns = 3 if len(shown) == 3 else 2
    lines = -(-len(shown) // columns)
    figure, grid = sheet(lines, columns, (4.6 * columns, 0.6 + 3.2 * lines), squeeze=False)
    for axes, (at, run) in zip(grid.flat, shown, strict=True):
        _panel(
            axes, run, run.tcp, f"{NAMED[at.classes, at.discipline]}, CBR after {at.start_s:g} s"
        )
    legend_below(figure, grid.flat[0], columns=5)
    return figure


def _numbers(at: Three | Beside, run: Outcome) -> str:
    """Return the numbers of a replication that the thesis gives, as text."""
    if isinstance(at, Beside):
        return f"{number(run.tcp.elapsed_s)} s"
    third = run.at(THIRD)
    long = sorted(run.transfers[:2], key=lambda flow: flow.elapsed_s)
    times = [f"{number(flow.elapsed_s)} s ({number(flow.throughput)} byte/s)" for flow in long]
    return (
        f"fastest {times[0]}, slowest {times[1]}, third {number(third.elapsed_s)} s "
        f"({number(third.throughput)} byte/s), data transmit time {number(third.acks.transmit_s)} "
        "s"
    )


def _graph(name: str) -> Item:
    about, printed, shown = GRAPHS[name]

    def needs() -> Iterator[Need]:
        for at, _ in shown:
            yield Need(at, at_most=at_most(at), quick=name in QUICK)

    def then(runs: Runs) -> Iterable[Need]:
        for at, choose in shown:
            if runs.has(at):
                yield Need(at, (choose(runs.of(at)),), record=FULL, quick=name in QUICK)

    def make(runs: Runs) -> Section:
        there: list[tuple[Three | Beside, Outcome]] = [
            (at, runs.one(at, choose(runs.of(at)))) for at, choose in shown if runs.has(at)
        ]
        there = [(at, run) for at, run in there if run.result is not None]
        if not there:  # the quick form has only a few graphs
            return Section()
        caption = (
            "Numbers of our replications in the figure: "
            f"{'; '.join(_numbers(at, run) for at, run in there)}. Published numbers: {printed}."
        )
        at, run = there[0]
        drawing = (
            _three(run)
            if isinstance(at, Three)
            else _beside([(at, run) for at, run in there if isinstance(at, Beside)])
        )
        return Section(figures=[Figure(f"figure-{name}", caption, drawing)])

    return Item(f"figure-{name}", f"Figure {name}: {about}", needs, make, then)


ITEMS = tuple(map(_graph, GRAPHS))
