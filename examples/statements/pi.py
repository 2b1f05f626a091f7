"""PI holds its queue at the reference if there are at least `min_flows` flows (hollot2001pi)."""

import pandas as pd
from matplotlib.figure import Figure

from .common import Settings
from .load import draw_by_load, queue_by_load
from .statement import Statement


def measure(replications: int) -> pd.DataFrame:
    """Measure PI with the coefficients of its paper, and with coefficients for 10 or more flows."""
    rule = {"kind": "pi", "max_rtt": "246 ms", "min_flows": 10, "limit": "800 packets"}
    queues: dict[str, Settings] = {
        "published coefficients (60 flows or more)": {"kind": "pi", "limit": "800 packets"},
        "design rule, 10 flows or more": rule,
    }
    return queue_by_load(
        queues, replications, size=500, rtt_ms=160, duration_s=1500, after_s=1000, ecn="rfc3168"
    )


def draw(table: pd.DataFrame) -> Figure:
    """Plot the mean queue over the number of flows."""
    title = "PI, 15 Mbit/s, 500 B packets, 160 ms, ECN: the last 500 of 1500 s"
    return draw_by_load(table, title, (200, "reference: 200 packets"), top=400)


STATEMENT = Statement(measure, draw, ("queue of", "flows"), ("queue",))
