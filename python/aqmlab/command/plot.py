"""`aqmlab plot`: what happened to a flow."""

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from aqmlab.command.terminal import say


class Graph(StrEnum):
    """What `aqmlab plot` draws of a flow."""

    SEQUENCE = "sequence"
    WINDOW = "window"
    RTT = "rtt"


def plot(
    graph: Annotated[Graph, typer.Argument(help="What to draw of a flow.", show_choices=True)],
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="Folder of a run that recorded what is drawn, or a scenario to run."
        ),
    ],
    flow: Annotated[
        list[str] | None,
        typer.Option(metavar="N", help="Name of the flow, or its number; default: the first."),
    ] = None,
    begin: Annotated[
        str | None, typer.Option("--from", metavar="S", help="Draw from this time (s).")
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="S", help="Draw up to this time (s).")
    ] = None,
    reply: Annotated[
        bool, typer.Option("--reply", help="Draw the data that comes back, at the host `to`.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File to write (.png, .svg, .pdf); default GRAPH.png."),
    ] = None,
) -> None:
    """Draw a flow: its segments and ACKs over time, its windows, or its round trips."""
    from aqmlab import figures
    from aqmlab.figures import segments

    if flow and len(flow) > 1:
        raise ValueError(f"--flow is given {len(flow)} times; a plot is of one flow, so give one")
    path = out or Path(f"{graph.value}.png")
    if path.suffix.lower() not in figures.FORMATS:
        raise ValueError(f"--out {path} must end in one of {', '.join(figures.FORMATS)}")
    figures.refuse_foreign(path)
    result = segments.load(source, graph.value)
    name = segments.flow_name(result, flow[0] if flow else None)
    times = (_seconds("--from", begin), _seconds("--to", end))
    figure = {
        Graph.SEQUENCE: figures.sequence,
        Graph.WINDOW: figures.windows,
        Graph.RTT: figures.rtt,
    }[graph](result, name, times, reply=reply)
    say(f"Written to {figures.save(figure, path)}")


def _seconds(option: str, text: str | None) -> float | None:
    """Return the value of an option that is a time in seconds; None: it was not given."""
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not math.isfinite(seconds):
        raise ValueError(f"{option} {text!r} must be a number of seconds, for example 2.5")
    return seconds
