"""PI holds its reference, from as many flows as it was designed for (Hollot et al. 2001)."""

import pandas as pd
from matplotlib.figure import Figure

from .common import Settings
from .load import draw_by_load, queue_by_load
from .point import Point


def measure(replications: int) -> pd.DataFrame:
    """PI in the setting that its published coefficients are for, and by the rule for 10 flows."""
    rule = {"kind": "pi", "max_rtt": "246 ms", "min_flows": 10, "limit": "800 packets"}
    queues: dict[str, Settings] = {
        "published coefficients (60 flows or more)": {"kind": "pi", "limit": "800 packets"},
        "design rule, 10 flows or more": rule,
    }
    return queue_by_load(
        queues, replications, size=500, rtt_ms=160, duration_s=1500, after_s=1000, ecn="rfc3168"
    )


def draw(table: pd.DataFrame) -> Figure:
    """Draw the mean queue against the number of flows."""
    title = "PI, 15 Mbit/s, 500 B packets, 160 ms, ECN: the last 500 of 1500 s"
    return draw_by_load(table, title, (200, "reference: 200 packets"), top=400)


POINT = Point(measure, draw, ("queue of", "flows"), ("queue",))
