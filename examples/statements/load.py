"""Measurement of the mean queue by the number of flows, for AQMs with a target queue."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

import aqmlab

from .common import Key, Settings, downloads, run_cases, scenario, utilization, waiting
from .figures import blank, curves

LOADS = (10, 30, 60, 100)


def queue_by_load(
    queues: Mapping[str, Settings],
    replications: int,
    loads: Iterable[int] = LOADS,
    size: int = 1500,
    after_s: float = 30,
    **network: Any,
) -> pd.DataFrame:
    """Measure the mean and the standard deviation of the queue, for each number of downloads.

    The measurement omits samples before `after_s`. `size` is the packet size in bytes.
    """
    cases: dict[Key, dict[str, Any]] = {
        (name, n): scenario(queue, [downloads(n)], series=["queue"], mss=size - 40, **network)
        for name, queue in queues.items()
        for n in loads
    }

    def read(result: aqmlab.Result) -> dict[str, float]:
        queue = waiting(result, after_s, size)
        return {
            "queue": float(queue.mean()),
            "deviation": float(queue.std()),
            "utilization": utilization(result),
        }

    return run_cases(("queue of", "flows"), cases, read, replications)


def draw_by_load(
    table: pd.DataFrame,
    title: str,
    reference: tuple[float, str],
    *,
    top: float | None = None,
    value: str = "queue",
    label: str = "mean queue (packets)",
) -> Figure:
    """Plot the mean of the column `value` over the number of flows.

    `reference` has the value and the label of a horizontal line in the plot.
    """
    figure, axes = blank("downloads", label, title)
    level, what = reference
    axes.axhline(level, color="0.5", linestyle=":", label=what)
    curves(axes, table, "queue of", "flows", value)
    if top is not None:
        axes.set_ylim(0, top)
    return figure
