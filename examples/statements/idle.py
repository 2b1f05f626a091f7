"""Drops in a burst after an idle time, which an AQM causes because it remembers an earlier load.

The probability of PIE decays while its queue is empty (RFC 8033 §4.2). The average of RED decays as
if small packets had arrived (Floyd & Jacobson 1993, §4). Other AQMs have other rules for idle time,
or no rule.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

import aqmlab

from .common import Settings, scenario
from .figures import blank, curves, legend
from .statement import Statement

IDLE_S = (0.05, 0.2, 1, 2, 5, 20)
NEVER = float("inf")
"""Value of `idle_s` for runs in which no load precedes the burst."""
BURST = 60
LINUX_RED = {
    "kind": "tc_red", "min": "20 kB", "max": "60 kB", "burst": "100 packets", "probability": 0.1,
}  # fmt: skip
QUEUES: dict[str, Settings] = {
    "Drop Tail": {"kind": "drop_tail"},
    "threshold": {"kind": "threshold"},
    "RED": {"kind": "red"},
    "RED, Linux": LINUX_RED,
    "Adaptive RED": {"kind": "adaptive_red"},
    "self-configuring RED": {"kind": "self_configuring_red"},
    "nonlinear RED": {"kind": "nonlinear_red"},
    "WRED": {
        "kind": "wred", "precedences": [{"minth": "5 packets", "maxth": "15 packets"}],
    },
    "RIO": {"kind": "rio"},
    "RED-PD": {"kind": "red_pd"},
    "CHOKe": {"kind": "choke"},
    "FRED": {"kind": "fred"},
    "SRED": {"kind": "sred"},
    "BLUE": {"kind": "blue"},
    "SFB": {"kind": "sfb"},
    "REM": {"kind": "rem"},
    "PI": {"kind": "pi"},
    "AVQ": {"kind": "avq"},
    "PIE": {"kind": "pie"},
    "PIE, enhanced": {"kind": "pie_enhanced"},
    "PIE, Linux": {"kind": "tc_pie"},
    "PI2": {"kind": "pi2"},
    "CoDel": {"kind": "codel"},
    "COBALT": {"kind": "cobalt"},
    "FQ-CoDel": {"kind": "fq_codel"},
    "FQ-PIE": {"kind": "fq_pie"},
    "FQ-PIE, Linux": {"kind": "fq_pie", "rules": "linux"},
    "DualPI2": {"kind": "dualpi2"},
}  # fmt: skip


def case(queue: Settings, seed: int, burst_s: float | None, *, loaded: bool) -> dict[str, Any]:
    """Return a scenario with a burst of 60 packets of 1500 B at the time `burst_s`.

    If `loaded` is true, the link of 10 Mbit/s has a load of 110 % in the first 5 s. If `burst_s` is
    None, the scenario has no burst and records the queue instead.
    """
    flows: list[dict[str, Any]] = []
    if burst_s is not None:
        burst = {"kind": "cbr", "rate": "1 Gbit/s", "packets": BURST, "payload": "1472 B"}
        flows.append({"name": "B", "start": f"{round(burst_s, 9)} s", "traffic": burst})
    if loaded:
        load = {"kind": "poisson", "rate": "11 Mbit/s", "lasts": "5 s", "payload": "1472 B"}
        flows.append({"name": "L", "traffic": load})
    settings = {"limit": "200 packets", **queue}
    described = scenario(settings, flows, rate="10 Mbit/s", duration_s=1 + (burst_s or 6))
    described |= {"seed": seed, "phase_breaking": {"start": "0 s", "delay": "0 s"}}
    if burst_s is None:
        described["record"] |= {"series": ["queue"], "interval": "1 ms"}
    return described


CaseKey = tuple[str, int, float]
"""Key of a case: name of the queue, seed, and idle time in s."""


def results(
    cases: Mapping[CaseKey, dict[str, Any]],
) -> Iterator[tuple[CaseKey, aqmlab.Result]]:
    """Run the cases, and yield the key and the result of each case."""
    keys = list(cases)
    for i, result in aqmlab.experiment.run_each(cases.values()):
        yield keys[i], result


def measure(replications: int) -> pd.DataFrame:
    """Measure the dropped packets of the burst, by queue and idle time."""
    seeds = range(1, replications + 1)
    fell_idle = {}
    loads = {(q, s, 0.0): case(QUEUES[q], s, None, loaded=True) for q in QUEUES for s in seeds}
    for (name, seed, _), result in results(loads):
        queue = result.series("queue")
        fell_idle[name, seed] = float(queue.loc[queue["transmitting"] == 1, "time_s"].max())
    bursts = {
        (q, s, idle): case(QUEUES[q], s, at + idle, loaded=True)
        for (q, s), at in fell_idle.items() for idle in IDLE_S
    }  # fmt: skip
    bursts |= {(q, s, NEVER): case(QUEUES[q], s, 1.0, loaded=False) for q, s in fell_idle}
    rows = []
    for (name, seed, idle), result in results(bursts):
        dropped = result.series("datagrams").set_index("flow").loc["B", "dropped_packets"]
        rows.append((name, seed, idle, float(dropped)))
    rows.sort(key=lambda row: (list(QUEUES).index(row[0]), row[2], row[1]))
    return pd.DataFrame(rows, columns=["queue of", "seed", "idle_s", "dropped"])


def draw(table: pd.DataFrame) -> Figure:
    """Plot the drops of the burst over the idle time, for each queue that dropped a packet."""
    title = f"Burst of {BURST} packets after 5 s of 110 % load on 10 Mbit/s and an idle time"
    figure, axes = blank("idle time (s)", "dropped packets of the burst", title)
    shown = table[table["idle_s"] < NEVER]
    ever = shown.groupby("queue of")["dropped"].transform("max") > 0
    curves(axes, shown[ever], "queue of", "idle_s", "dropped")
    axes.set_xscale("log")
    legend(axes, 4)
    figure.set_figheight(5.5)  # for the legend of all queues
    return figure


STATEMENT = Statement(measure, draw, ("queue of", "idle_s"), ("dropped",))
