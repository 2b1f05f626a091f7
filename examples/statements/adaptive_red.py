"""Adaptive RED has its mean queue near a target at any load (Floyd, Gummadi & Shenker 2001, §5)."""

import pandas as pd
from matplotlib.figure import Figure

from .common import Settings
from .load import draw_by_load, queue_by_load
from .statement import Statement

RED = {
    "kind": "red", "minth": "12.5 packets", "maxth": "37.5 packets", "maxp": 0.1, "wq": 0.0008,
    "idle_packet_size": "1500 B",
}  # fmt: skip


def measure(replications: int) -> pd.DataFrame:
    """Measure the queue of RED and of Adaptive RED, with equal thresholds around 20 ms."""
    adaptive = {"kind": "adaptive_red", "target_delay": "20 ms", "mean_packet_size": "1500 B"}
    queues: dict[str, Settings] = {"RED, maxp 0.1": RED, "Adaptive RED": adaptive}
    return queue_by_load(queues, replications, duration_s=90)


def draw(table: pd.DataFrame) -> Figure:
    """Plot the mean queue over the number of flows."""
    title = "15 Mbit/s, 100 ms: mean queue by load"
    return draw_by_load(table, title, (25, "target: 20 ms, 25 packets"), top=30)


STATEMENT = Statement(measure, draw, ("queue of", "flows"), ("queue",))
