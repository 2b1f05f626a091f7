"""`aqmlab plot`: a figure of a queue, or of the segments, windows or round trips of a flow."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.command import completion
from aqmlab.command.options import (
    SeedOption,
    SetOption,
    WarningsOption,
    out,
    read_instant,
    read_overrides,
)
from aqmlab.command.terminal import print_text, print_warnings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aqmlab.figures.flow import Times
    from aqmlab.results import Result

EXAMPLES = (
    "aqmlab plot queue examples/two_flows.toml --set network.queue.kind=red",
    "aqmlab plot sequence examples/two_flows.toml --flow 1 --out sequence.svg",
)
MOST_RUNS = 6
"""Maximum number of runs in one figure."""


class Graph(StrEnum):
    """Graphs that `aqmlab plot` can draw."""

    SEQUENCE = "sequence"
    WINDOW = "window"
    RTT = "rtt"
    QUEUE = "queue"


def plot_command(
    graph: Annotated[
        Graph,
        typer.Argument(
            help="Quantity to draw. sequence: segments and ACKs of a flow. window: the sender's "
            "congestion window, slow-start threshold and data in flight. rtt: round-trip times. "
            "queue: the queue of a link, with the thresholds of its AQM.",
            show_choices=True,
        ),
    ],
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Scenario to run, or the folder of a finished run that recorded the data to draw. "
            f"Up to {MOST_RUNS} scenarios or folders are drawn in one figure.",
            autocompletion=completion.scenarios,
        ),
    ],
    flow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Name of the flow, or its number; the first flow has the number 0.",
            show_default="0",
        ),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(
            metavar="FROM>TO",
            help="Link whose queue is drawn.",
            show_default="the busiest link",
        ),
    ] = None,
    begin: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help="Start of the time axis, e.g. '1.2 s'.",
            show_default="the beginning of the run; for sequence, shortly before the first drop or "
            "mark",
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="TIME",
            help="End of the time axis, e.g. '2.5 s'.",
            show_default="the end of the run; for sequence, shortly after the first drop or mark",
        ),
    ] = None,
    reverse: Annotated[
        bool,
        typer.Option(
            "--reverse",
            help="Draw the data that the flow's receiver sends to its sender, such as responses.",
        ),
    ] = False,
    seed: SeedOption = None,
    changes: SetOption = None,
    to: Annotated[Path | None, out("GRAPH.png")] = None,
    warnings: WarningsOption = True,
) -> None:
    """Draw a queue, or the segments, the windows or the round-trip times of a flow, over time.

    The output is an image file: .png, .svg or .pdf. If a file with the same name exists, it is
    replaced only if aqmlab wrote it. The changes of --set and --seed apply to each scenario.
    """
    from aqmlab import figures

    if flow and len(flow) > 1:
        raise ValueError(
            f"--flow is given {len(flow)} times; give it only once, because a figure shows one flow"
        )
    if graph is Graph.QUEUE and (flow or reverse):
        raise ValueError(
            "--flow and --reverse do not apply to the graph queue, which shows a link; use --link"
        )
    if graph is not Graph.QUEUE and link:
        raise ValueError(
            f"--link does not apply to the graph {graph}, which shows a flow; use --flow"
        )
    path = to or Path(f"{graph.value}.png")
    figures.check_image(path, "--out")
    times = (read_instant("--from", begin, "1.2 s"), read_instant("--to", end, "2.5 s"))
    overrides = read_overrides(changes, seed)
    runs = _load(sources, graph, overrides, times, link)
    figure = _draw(graph, runs, flow[0] if flow else None, link, times, reverse=reverse)
    texts = [text for run in runs.values() for text in run.warnings]
    print_warnings(list(dict.fromkeys(texts)) if warnings else [])
    if graph is Graph.SEQUENCE and times == (None, None):
        first, last = figure.axes[0].get_xlim()
        print_text(
            f"The figure shows {first:.3f} s to {last:.3f} s; --from '0 s' shows the whole run."
        )
    print_text(f"Written to {figures.save(figure, path)}")


def _load(
    sources: Sequence[Path],
    graph: Graph,
    overrides: list[tuple[str, str]],
    times: "Times",
    link: str | None,
) -> "dict[str, Result]":
    """Return the runs by their labels: the names of the files or folders, as short as unique."""
    from aqmlab.figures import segments

    if len(sources) > MOST_RUNS:
        raise ValueError(
            f"{len(sources)} runs do not fit into one figure; give at most {MOST_RUNS} runs"
        )
    if len(set(sources)) < len(sources):
        raise ValueError("a run is given twice; give each scenario or folder only once")
    for source in sources:
        if overrides and source.is_dir():
            raise ValueError(
                f"{source} is a finished run, which cannot be changed; leave out --set and --seed"
            )
    short = [source.stem for source in sources]
    labels = short if len(set(short)) == len(short) else [*map(str, sources)]
    return {
        label: segments.load(source, graph.value, overrides, times, link)
        for label, source in zip(labels, sources, strict=True)
    }


def _draw(
    graph: Graph,
    runs: "dict[str, Result]",
    flow: str | None,
    link: str | None,
    times: "Times",
    *,
    reverse: bool,
) -> "Figure":
    """Return the figure of one run, or of several runs."""
    from aqmlab import figures

    result = runs if len(runs) > 1 else next(iter(runs.values()))
    if graph is Graph.QUEUE:
        return figures.queue(result, link, times)
    if graph is Graph.SEQUENCE:
        shown = None if times == (None, None) else times
        return figures.sequence(result, flow, shown, reply=reverse)
    draw = figures.windows if graph is Graph.WINDOW else figures.rtt
    return draw(result, flow, times, reply=reverse)
