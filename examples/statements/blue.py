"""BLUE needs only a small buffer (Feng and others 2002, §IV)."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

import aqmlab

from .common import LINK, Key, downloads, run_cases, scenario
from .figures import curves
from .statement import Statement

BUFFERS = (25, 50, 100, 200, 400)


def measure(replications: int) -> pd.DataFrame:
    """Measure losses and utilization of BLUE and RED with ECN, by buffer size."""

    def red(limit: int) -> dict[str, Any]:
        return {
            "kind": "red", "minth": f"{0.2 * limit} packets", "maxth": f"{0.8 * limit} packets",
            "maxp": 1.0, "wq": 0.002, "gentle": False,
        }  # fmt: skip

    cases: dict[Key, dict[str, Any]] = {
        (name, limit): scenario(
            {"limit": f"{limit} packets", **(red(limit) if name == "RED" else {"kind": "blue"})},
            [downloads(200)], rate="45 Mbit/s", mss=960, ecn="rfc3168",
        )
        for name in ("BLUE", "RED")
        for limit in BUFFERS
    }  # fmt: skip

    def read(result: aqmlab.Result) -> dict[str, float]:
        link = result.links.set_index("link").loc[LINK]
        lost = float(link["dropped_packets"] / link["arrived_packets"])
        return {"lost": 100 * lost, "utilization": 100 * float(link["utilization"])}

    return run_cases(("queue of", "buffer"), cases, read, replications)


def draw(table: pd.DataFrame) -> Figure:
    """Plot losses and utilization over the buffer size."""
    figure = Figure(figsize=(9, 4), layout="constrained", dpi=130)
    left, right = figure.subplots(1, 2)
    for axes, value, label in ((left, "lost", "lost (%)"), (right, "utilization", "busy (%)")):
        axes.set(xlabel="buffer (packets)", ylabel=label)
        axes.grid(visible=True, linewidth=0.3)
        curves(axes, table, "queue of", "buffer", value)
    figure.suptitle("200 downloads with ECN, 45 Mbit/s, 100 ms", fontsize=10)
    return figure


STATEMENT = Statement(measure, draw, ("queue of", "buffer"), ("lost", "utilization"))
