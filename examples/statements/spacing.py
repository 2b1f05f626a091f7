"""RED: uniform and geometric gaps between marks (Floyd & Jacobson 1993, §7)."""

import io
import subprocess

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from .figures import blank, legend
from .statement import Statement


def measure(replications: int) -> pd.DataFrame:
    """Measure which of 5000 packets RED marks."""
    command = ["cargo", "run", "--quiet", "--locked", "-p", "aqmlab-queues"]
    tables = []
    for seed in range(1, replications + 1):
        run = subprocess.run([*command, "--example", "spacing", str(seed)], check=True,
                             capture_output=True, text=True)  # fmt: skip
        tables.append(pd.read_csv(io.StringIO(run.stdout)).assign(seed=seed))
    return pd.concat(tables)


def draw(table: pd.DataFrame) -> Figure:
    """Plot the marked packets of the first replication, as figure 8 of the paper does."""
    figure, axes = blank(
        "packet number", "", "RED: marked packets of 5000, at a constant average queue"
    )
    first = table[table["seed"] == 1]
    for y, (name, rows) in enumerate(first.groupby("spacing")):
        label = f"{name}: {len(rows)} marked, longest gap {rows['packet'].diff().max():.0f}"
        axes.scatter(rows["packet"], np.full(len(rows), y), marker="|", s=400, label=label)
    axes.set(ylim=(-0.7, 1.7), yticks=[0, 1], yticklabels=["geometric", "uniform"])
    legend(axes)
    return figure


STATEMENT = Statement(measure, draw)
