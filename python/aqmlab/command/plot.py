"""`aqmlab plot`: a figure of the segments, the windows or the round-trip times of a flow."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from aqmlab.command.options import SeedOption, SetOption, out, read_instant, read_overrides
from aqmlab.command.terminal import print_text

EXAMPLES = (
    "aqmlab plot sequence examples/one_flow.toml --from '1.2 s' --to '2.5 s'",
    "aqmlab plot window examples/two_flows.toml --flow 1 --out window.svg",
)


class Graph(StrEnum):
    """Graphs of a flow that `aqmlab plot` can draw."""

    SEQUENCE = "sequence"
    WINDOW = "window"
    RTT = "rtt"


def plot_command(
    graph: Annotated[
        Graph,
        typer.Argument(
            help="Quantity to draw. sequence: segments and ACKs. window: the sender's congestion "
            "window, slow-start threshold and data in flight. rtt: round-trip times.",
            show_choices=True,
        ),
    ],
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="Scenario to run, or the folder of a finished run that recorded the data to draw.",
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
    begin: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help="Start of the time axis, e.g. '1.2 s'.",
            show_default="the beginning of the run",
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="TIME",
            help="End of the time axis, e.g. '2.5 s'.",
            show_default="the end of the run",
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
) -> None:
    """Draw the segments and ACKs, the windows or the round-trip times of a flow over time.

    The output is an image file: .png, .svg or .pdf. If a file with the same name exists, it is
    replaced only if aqmlab wrote it.
    """
    from aqmlab import figures
    from aqmlab.figures import segments

    if flow and len(flow) > 1:
        raise ValueError(
            f"--flow is given {len(flow)} times; give it only once, because a figure shows one flow"
        )
    path = to or Path(f"{graph.value}.png")
    figures.check_image(path, "--out")
    times = (read_instant("--from", begin, "1.2 s"), read_instant("--to", end, "2.5 s"))
    overrides = read_overrides(changes, seed)
    if overrides and source.is_dir():
        raise ValueError(
            f"{source} is a finished run, which cannot be changed; leave out --set and --seed"
        )
    result = segments.load(source, graph.value, overrides)
    name = segments.flow_name(result, flow[0] if flow else None)
    figure = {
        Graph.SEQUENCE: figures.sequence,
        Graph.WINDOW: figures.windows,
        Graph.RTT: figures.rtt,
    }[graph](result, name, times, reply=reverse)
    print_text(f"Written to {figures.save(figure, path)}")
