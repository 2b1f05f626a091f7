"""CHOKe limits the share of a flow that does not respond to signals (Tang, Wang & Low 2004)."""

import math
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

import aqmlab

from .common import Key, cbr, downloads, run_cases, scenario
from .figures import blank, curves
from .statement import Statement

RATES = (0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 10)


def measure(replications: int) -> pd.DataFrame:
    """Measure the share of a CBR flow among 32 downloads on 1 Mbit/s, the paper's setting."""
    thresholds = {"minth": "20 packets", "maxth": "520 packets", "limit": "1000 packets"}
    cases: dict[Key, dict[str, Any]] = {
        (name, sent): scenario(
            {"kind": kind, **thresholds}, [downloads(32), cbr(sent * 1e6)],
            rate="1 Mbit/s", mss=960, duration_s=600,
        )
        for name, kind in {"CHOKe": "choke", "RED": "red"}.items()
        for sent in RATES
    }  # fmt: skip

    def read(result: aqmlab.Result) -> dict[str, float]:
        datagrams = result.table("datagrams").set_index("flow")
        return {"share": float(datagrams.loc["U", "goodput_bps"]) / 1e6}

    return run_cases(("queue of", "sent"), cases, read, replications)


def draw(table: pd.DataFrame) -> Figure:
    """Plot the CBR flow's share of the link over the sending rate of the flow."""
    title = "A CBR flow and 32 downloads, 1 Mbit/s, thresholds 20 and 520 packets"
    figure, axes = blank("sending rate / link rate", "share of the link", title)
    axes.axhline(1 / (1 + math.e), color="0.5", linestyle=":", label="bound 1/(1 + e)")
    axes.set_xscale("log")
    curves(axes, table, "queue of", "sent", "share")
    return figure


STATEMENT = Statement(measure, draw, ("queue of", "sent"), ("share",))
