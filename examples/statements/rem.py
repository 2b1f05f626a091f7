"""REM holds its queue at the reference for any number of users (Athuraliya and others 2001)."""

import pandas as pd
from matplotlib.figure import Figure

from .common import Settings
from .load import draw_by_load, queue_by_load
from .statement import Statement

LOADS = (20, 60, 100, 160)


def measure(replications: int) -> pd.DataFrame:
    """Measure REM with two periods, and RED, in the setting of REM's paper."""
    limit = {"limit": "120 packets"}
    red = {"kind": "red", "minth": "20 packets", "maxth": "80 packets", "maxp": 0.1}
    queues: dict[str, Settings] = {
        "REM, period 10 ms": {"kind": "rem", "period": "10 ms", **limit},
        "REM, period 2 ms": {"kind": "rem", **limit},
        "RED 20/80/0.1": red | limit,
    }
    return queue_by_load(
        queues, replications, LOADS, 1000, rate="64 Mbit/s", rtt_ms=80, duration_s=150,
        after_s=75, ecn="rfc3168",
    )  # fmt: skip


def draw(table: pd.DataFrame) -> Figure:
    """Plot the mean queue over the number of flows."""
    title = "REM, 64 Mbit/s, 1000 B packets, 80 ms, buffer of 120 packets, ECN"
    return draw_by_load(table, title, (20, "reference: 20 packets"), top=90)


STATEMENT = Statement(measure, draw, ("queue of", "flows"), ("queue", "utilization"))
