"""FQ-CoDel: packets of a sparse flow do not wait for packets of bulk flows (RFC 8290 §6)."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import aqmlab

from .common import downloads, scenario
from .figures import blank, legend
from .statement import Statement


def measure(replications: int) -> pd.DataFrame:
    """Measure by how much short transfers among ten downloads exceed two round-trip times."""
    short = {
        "name": "S", "arrivals": {"interval": "200 ms"},
        "traffic": {"kind": "bulk", "size": "1000 B"},
    }  # fmt: skip
    kinds = {"Drop Tail": "drop_tail", "CoDel": "codel", "PIE": "pie", "COBALT": "cobalt",
             "FQ-CoDel": "fq_codel", "FQ-PIE": "fq_pie"}  # fmt: skip
    tables = []
    for name, kind in kinds.items():
        case = scenario({"kind": kind}, [downloads(10), short], series=["transfers"])
        for seed in range(1, replications + 1):
            rows = aqmlab.run(case, seed=seed).series("transfers")
            chosen = rows[(rows["flow"] == "S") & rows["start_s"].between(20, 50)]
            waits = 1000 * (chosen["duration_s"] - 0.2)
            tables.append(pd.DataFrame({"queue of": name, "seed": seed, "waited_ms": waits}))
    return pd.concat(tables)


def draw(table: pd.DataFrame) -> Figure:
    """Plot the distributions of the transfer times."""
    title = "Transfers of 1000 B among ten downloads, 15 Mbit/s, 100 ms"
    figure, axes = blank("transfer time beyond two round trips (ms)", "share of transfers", title)
    for name, rows in table.groupby("queue of", sort=False):
        values = np.sort(rows["waited_ms"].fillna(np.inf).clip(lower=0.1))
        axes.step(values, np.arange(1, len(values) + 1) / len(values), label=str(name))
    axes.set(xscale="log", ylim=(0, 1.02))
    legend(axes)
    return figure


STATEMENT = Statement(measure, draw, ("queue of",), ("waited_ms",))
