"""A CBR flow that ignores signals, among downloads (Lin & Morris 1997; RFC 8290 §6)."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

import aqmlab

from .common import Key, Settings, cbr, downloads, run_cases, scenario, utilization
from .figures import blank, curves
from .statement import Statement


def delivered_bps(result: aqmlab.Result, after_s: float) -> float:
    """Return the delivered rate of the CBR flow in bit/s; losses before `after_s` do not count."""
    drops, end = result.series("drops"), result.manifest["simulated_s"]
    flow = result.table("datagrams").set_index("flow").loc["U"]
    sent = 8 * float(flow["sent_bytes"]) / (end - float(flow["start_s"]))
    count = ((drops["flow"] == "U") & (drops["time_s"] >= after_s)).sum()
    return float(sent - 8000 * count / (end - after_s))


def cbr_among_downloads(
    queues: Mapping[str, Settings],
    offered_mbps: Iterable[float],
    flows: int,
    rate: str,
    replications: int,
) -> pd.DataFrame:
    """Measure the delivered rate of a CBR flow among downloads, from 60 s to 120 s."""
    cases: dict[Key, dict[str, Any]] = {
        (name, sent): scenario(
            {"limit": "200 packets", **queue}, [downloads(flows), cbr(1e6 * sent)],
            rate=rate, mss=960, duration_s=120, series=["drops"],
        )
        for name, queue in queues.items()
        for sent in offered_mbps
    }  # fmt: skip

    def read(result: aqmlab.Result) -> dict[str, float]:
        return {"delivered": delivered_bps(result, 60) / 1e6, "utilization": utilization(result)}

    return run_cases(("queue of", "sent"), cases, read, replications)


def measure(replications: int) -> pd.DataFrame:
    """Measure the delivered rate of a CBR flow among ten downloads on 10 Mbit/s."""
    kinds = {
        "Drop Tail": "drop_tail", "RED": "red", "CHOKe": "choke", "FRED": "fred",
        "FQ-CoDel": "fq_codel", "FQ-PIE": "fq_pie",
    }  # fmt: skip
    queues: dict[str, Settings] = {name: {"kind": kind} for name, kind in kinds.items()}
    queues["RED-PD, R 100 ms"] = {"kind": "red_pd", "target_rtt": "100 ms"}
    return cbr_among_downloads(queues, (1, 2, 4, 6, 8, 12), 10, "10 Mbit/s", replications)


def draw(table: pd.DataFrame) -> Figure:
    """Plot the delivered rate of the CBR flow over its sending rate."""
    title = "A CBR flow and ten downloads, 10 Mbit/s, 100 ms, limit 200 packets"
    figure, axes = blank("sent (Mbit/s)", "delivered (Mbit/s)", title)
    axes.axhline(10 / 11, color="0.5", linestyle=":", label="fair share")
    curves(axes, table, "queue of", "sent", "delivered")
    return figure


STATEMENT = Statement(measure, draw, ("queue of", "sent"), ("delivered",))
