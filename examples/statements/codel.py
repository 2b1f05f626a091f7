"""CoDel's drop intervals decrease with the root of the number of drops (RFC 8289 §5.3)."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import aqmlab

from .common import cbr, scenario
from .figures import blank, legend
from .statement import Statement


def measure(replications: int) -> pd.DataFrame:
    """Measure the times of CoDel's drops while a CBR flow sends 1.5 times the rate of the link."""
    queue = {"kind": "codel", "limit": "100000 packets", "root": "exact"}
    case = scenario(queue, [cbr(15e6)], rate="10 Mbit/s", duration_s=20, series=["drops"])
    tables = []
    for seed in range(1, replications + 1):
        drops = aqmlab.run(case, seed=seed).series("drops")
        times = drops["time_s"].to_numpy()
        gaps = 0.1 / np.sqrt(np.arange(1, len(times)))
        formula = times[0] + np.concatenate([[0], np.cumsum(gaps)])
        tables.append(pd.DataFrame({"seed": seed, "dropped_s": times, "formula_s": formula}))
    return pd.concat(tables)


def draw(table: pd.DataFrame) -> Figure:
    """Plot the number of drops over time, as measured and by the formula of RFC 8289."""
    title = "CoDel with 15 Mbit/s of CBR on 10 Mbit/s: time of the n-th drop"
    figure, axes = blank("time (s)", "drops", title)
    first = table[table["seed"] == 1]
    count = np.arange(1, len(first) + 1)
    axes.plot(first["dropped_s"], count, label="measured", linewidth=3, alpha=0.5)
    formula = "formula: 100 ms (1 + 1/√2 + … + 1/√n) after the first"
    axes.plot(first["formula_s"], count, "--", color="black", label=formula, linewidth=1)
    legend(axes)
    return figure


STATEMENT = Statement(measure, draw)
