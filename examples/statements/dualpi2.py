"""DualPI2 gives scalable flows a lower delay than classic flows (RFC 9330, RFC 9332 §2.4)."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

import aqmlab

from .common import Key, run_cases, scenario, utilization
from .figures import blank, legend
from .statement import Statement, summary

MIXES = ((1, 1), (5, 5), (10, 10), (2, 8), (8, 2))


def measure(replications: int) -> pd.DataFrame:
    """Measure the queueing delays and rates of Prague and CUBIC flows through DualPI2.

    The receivers acknowledge every segment, so a round trip does not include a delayed ACK.
    """
    common = {"timestamps": True, "delayed_ack": "1 packet"}
    cases: dict[Key, dict[str, Any]] = {}
    for scalable, classic in MIXES:
        prague = {"congestion": "prague", "ecn": "accurate"} | common
        cubic = {"congestion": "cubic"} | common
        flows = [
            {"name": "L{i}", "count": scalable, "traffic": {"kind": "bulk"}, "tcp": prague},
            {"name": "C{i}", "count": classic, "traffic": {"kind": "bulk"}, "tcp": cubic},
        ]
        case = scenario({"kind": "dualpi2"}, flows, rate="40 Mbit/s", rtt_ms=30, series=["rtt"])
        case["record"]["traced"] = ["L0", "C0"]
        cases[f"{scalable} + {classic}",] = case

    def read(result: aqmlab.Result) -> dict[str, float]:
        rtt = result.series("rtt")
        rtt = rtt[rtt["time_s"] > 20]
        goodput = result.flows.set_index("flow")["goodput_bps"]
        delay = {f: 1000 * rtt.loc[rtt["flow"] == f, "rtt_s"] - 30 for f in ("L0", "C0")}
        of_kind = {kind: goodput[goodput.index.str.startswith(kind)] for kind in "LC"}
        return {
            "L_ms": float(delay["L0"].mean()), "L99_ms": float(delay["L0"].quantile(0.99)),
            "C_ms": float(delay["C0"].mean()), "utilization": 100 * utilization(result),
            "ratio": float(of_kind["L"].mean() / of_kind["C"].mean()),
        }  # fmt: skip

    return run_cases(("mix",), cases, read, replications)


def draw(table: pd.DataFrame) -> Figure:
    """Plot the queueing delays of queue L and queue C for each mix of flows."""
    title = "DualPI2, 40 Mbit/s, 30 ms: Prague (L) and CUBIC (C)"
    figure, axes = blank("Prague + CUBIC flows", "queueing delay (ms)", title)
    for value, label in (
        ("C_ms", "C, mean"),
        ("L99_ms", "L, 99th percentile"),
        ("L_ms", "L, mean"),
    ):
        rows = summary(table, ["mix"], value)
        errors = [rows["mean"] - rows["low"], rows["high"] - rows["mean"]]
        axes.errorbar(rows["mix"], rows["mean"], errors, fmt="o", capsize=3, label=label)
    busy = summary(table, ["mix"], "utilization")
    labels = [f"{r.mix}\n{r.mean:.1f} % busy" for r in busy.itertuples()]
    axes.set_xticks(range(len(labels)), labels)
    axes.set_yscale("log")
    legend(axes)
    return figure


STATEMENT = Statement(measure, draw, ("mix",), ("L_ms", "L99_ms", "C_ms", "utilization", "ratio"))
