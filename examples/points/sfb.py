"""SFB holds down a flow that does not answer, beside 400 downloads (Feng et al. 2002, §V)."""

import pandas as pd
from matplotlib.figure import Figure

from .figures import blank, curves
from .point import Point
from .unresponsive import beside


def measure(replications: int) -> pd.DataFrame:
    """Beside 400 downloads on 45 Mbit/s, as in the paper."""
    queues = {name: {"kind": name.lower()} for name in ("RED", "SFB", "FRED")}
    return beside(queues, (2, 5, 10, 20, 45), 400, "45 Mbit/s", replications)


def draw(table: pd.DataFrame) -> Figure:
    """Draw what the flow gets against what it sends."""
    title = "A CBR flow beside 400 downloads, 45 Mbit/s, 100 ms, room for 200 packets"
    figure, axes = blank("it sends (Mbit/s)", "it gets (Mbit/s)", title)
    axes.axhline(45 / 401, color="0.5", linestyle=":", label="fair share")
    axes.set(xscale="log", yscale="log")
    curves(axes, table, "queue of", "sent", "got")
    return figure


POINT = Point(measure, draw, ("queue of", "sent"), ("got",))
