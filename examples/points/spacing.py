"""RED: uniform against geometric spacing (Floyd & Jacobson 1993, §7)."""

import io
import subprocess

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from .figures import blank
from .point import Point


def measure(replications: int) -> pd.DataFrame:
    """Which of 5000 packets are marked."""
    command = ["cargo", "run", "--quiet", "--locked", "-p", "queues"]
    tables = []
    for seed in range(1, replications + 1):
        run = subprocess.run([*command, "--example", "spacing", str(seed)], check=True,
                             capture_output=True, text=True)  # fmt: skip
        tables.append(pd.read_csv(io.StringIO(run.stdout)).assign(seed=seed))
    return pd.concat(tables)


def draw(table: pd.DataFrame) -> Figure:
    """Draw the marked packets of the first replication, as figure 8 of the paper does."""
    figure, axes = blank(
        "packet number", "", "RED: 5000 packets at a standing average, marked ones"
    )
    first = table[table["seed"] == 1]
    for y, (name, rows) in enumerate(first.groupby("spacing")):
        label = f"{name}: {len(rows)} marked, longest gap {rows['packet'].diff().max():.0f}"
        axes.scatter(rows["packet"], np.full(len(rows), y), marker="|", s=400, label=label)
    axes.set(ylim=(-0.7, 1.7), yticks=[0, 1], yticklabels=["geometric", "uniform"])
    axes.legend(fontsize=8)
    return figure


POINT = Point(measure, draw)
