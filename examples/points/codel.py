"""CoDel drops by the square root of its count (RFC 8289 §5.3)."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import aqmlab

from .common import cbr, scenario
from .figures import blank
from .point import Point


def measure(replications: int) -> pd.DataFrame:
    """When CoDel drops while a CBR flow sends one and a half times what the link can."""
    queue = {"kind": "codel", "limit": "100000 packets", "root": "exact"}
    case = scenario(queue, [cbr(15e6)], rate="10 Mbit/s", duration_s=20, series=["drops"])
    tables = []
    for seed in range(1, replications + 1):
        drops = aqmlab.run(case, seed=seed).series("drops")
        times = drops["time_s"].to_numpy()
        law = times[0] + np.concatenate([[0], np.cumsum(0.1 / np.sqrt(np.arange(1, len(times))))])
        tables.append(pd.DataFrame({"seed": seed, "dropped_s": times, "law_s": law}))
    return pd.concat(tables)


def draw(table: pd.DataFrame) -> Figure:
    """Draw the count of drops over time, and the law."""
    title = "CoDel under 15 Mbit/s of CBR on 10 Mbit/s: the n-th drop"
    figure, axes = blank("time (s)", "drops", title)
    first = table[table["seed"] == 1]
    count = np.arange(1, len(first) + 1)
    axes.plot(first["dropped_s"], count, label="measured", linewidth=3, alpha=0.5)
    law = "law: 100 ms (1 + 1/√2 + … + 1/√n) after the first"
    axes.plot(first["law_s"], count, "--", color="black", label=law, linewidth=1)
    axes.legend(fontsize=8)
    return figure


POINT = Point(measure, draw)
