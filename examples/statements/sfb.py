"""SFB limits a flow that ignores signals, among 400 downloads (Feng and others 2002, §V)."""

import pandas as pd
from matplotlib.figure import Figure

from .figures import blank, curves
from .statement import Statement
from .unresponsive import cbr_among_downloads


def measure(replications: int) -> pd.DataFrame:
    """Measure the delivered rate of a CBR flow among 400 downloads on 45 Mbit/s."""
    queues = {name: {"kind": name.lower()} for name in ("RED", "SFB", "FRED")}
    return cbr_among_downloads(queues, (2, 5, 10, 20, 45), 400, "45 Mbit/s", replications)


def draw(table: pd.DataFrame) -> Figure:
    """Plot the delivered rate of the CBR flow over its sending rate."""
    title = "A CBR flow and 400 downloads, 45 Mbit/s, 100 ms, limit 200 packets"
    figure, axes = blank("sent (Mbit/s)", "delivered (Mbit/s)", title)
    axes.axhline(45 / 401, color="0.5", linestyle=":", label="fair share")
    axes.set(xscale="log", yscale="log")
    curves(axes, table, "queue of", "sent", "delivered")
    return figure


STATEMENT = Statement(measure, draw, ("queue of", "sent"), ("delivered",))
