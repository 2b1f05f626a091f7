"""RIO does not drop packets of traffic in profile (Clark & Fang 1998, §IV)."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

import aqmlab

from .common import Key, downloads, run_cases, scenario
from .figures import blank, curves
from .statement import Statement


def measure(replications: int) -> pd.DataFrame:
    """Measure the losses of traffic in profile (4 Mbit/s) and out of profile, on 10 Mbit/s."""

    def poisson(name: str, dscp: str, rate_mbps: float) -> dict[str, Any]:
        traffic = {"kind": "poisson", "rate": f"{rate_mbps} Mbit/s"}
        return {"name": name, "dscp": dscp, "traffic": traffic}

    cases: dict[Key, dict[str, Any]] = {
        (name, out): scenario(
            {"kind": kind, "limit": "200 packets"},
            [poisson("In", "AF11", 4), poisson("Out", "AF12", out), downloads(5)],
            rate="10 Mbit/s",
        )
        for name, kind in {"RIO": "rio", "RED": "red"}.items()
        for out in (1, 2, 4, 8, 16, 32)
    }

    def read(result: aqmlab.Result) -> dict[str, float]:
        rows = result.table("datagrams").set_index("flow")
        share = 100 * rows["dropped_packets"] / rows["sent_packets"]
        return {"in_lost": float(share["In"]), "out_lost": float(share["Out"])}

    return run_cases(("queue of", "out"), cases, read, replications)


def draw(table: pd.DataFrame) -> Figure:
    """Plot the losses in profile and out of profile over the rate of traffic out of profile."""
    title = "Poisson traffic, 4 Mbit/s in profile, and 5 downloads out of profile, 10 Mbit/s"
    figure, axes = blank("Poisson traffic out of profile (Mbit/s)", "lost (%)", title)
    both = [
        table.assign(kind=table["queue of"] + ", " + kind, lost=table[f"{kind}_lost"])
        for kind in ("in", "out")
    ]
    curves(axes, pd.concat(both), "kind", "out", "lost")
    axes.set_xscale("log")
    return figure


STATEMENT = Statement(measure, draw, ("queue of", "out"), ("in_lost", "out_lost"))
