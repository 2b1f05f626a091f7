"""PIE, PI2 and DualPI2 keep the delay at 15 ms (RFC 8033 §4.2, RFC 9332 §2.4).

The figure also shows CoDel and COBALT for comparison.
"""

import pandas as pd
from matplotlib.figure import Figure

from .load import draw_by_load, queue_by_load
from .statement import Statement


def measure(replications: int) -> pd.DataFrame:
    """Measure the delays of PIE, PI2, DualPI2, CoDel and COBALT with default parameters."""
    kinds = {"PIE": "pie", "PI2": "pi2", "DualPI2": "dualpi2", "CoDel": "codel", "COBALT": "cobalt"}
    queues = {name: {"kind": kind} for name, kind in kinds.items()}
    table = queue_by_load(queues, replications)
    return table.assign(delay_ms=table["queue"] * 1500 * 8 / 15e6 * 1000)


def draw(table: pd.DataFrame) -> Figure:
    """Plot the mean delay over the number of flows."""
    return draw_by_load(
        table, "15 Mbit/s, 100 ms: mean delay by load", (15, "target of PIE, PI2 and DualPI2"),
        value="delay_ms", label="mean queueing delay (ms)",
    )  # fmt: skip


STATEMENT = Statement(measure, draw, ("queue of", "flows"), ("delay_ms",))
