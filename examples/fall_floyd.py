"""Recovery of one to four lost segments: Tahoe, Reno, NewReno and SACK (Fall & Floyd 1996).

    .venv/bin/python examples/fall_floyd.py [FILE]

The script prints the number of retransmissions of sixteen transfers. With FILE (.svg, .png, .pdf)
the script plots the segment number of each packet over time, as the paper does. Retransmitted and
lost packets have different markers. `cargo run -p aqmlab-tcp --example fall_floyd` runs the
simulation.
"""

import io
import subprocess
import sys

import pandas as pd
from matplotlib.figure import Figure

from aqmlab import figures

NAMES = {"tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno", "sack": "SACK"}
STYLES = {
    "Acked": {"marker": ".", "color": "0.7", "s": 2, "label": "ACK"},
    "Sent": {"marker": "s", "color": "tab:blue", "s": 3, "label": "sent"},
    "Retransmitted": {"marker": "s", "color": "tab:red", "s": 9, "label": "retransmitted"},
    "Dropped": {"marker": "x", "color": "black", "s": 24, "linewidths": 1, "label": "lost"},
}


def packets() -> pd.DataFrame:
    """Run the sixteen transfers and return one row per packet."""
    command = ["cargo", "run", "--quiet", "--locked", "-p", "aqmlab-tcp", "--example", "fall_floyd"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return pd.read_csv(io.StringIO(text))


def draw(rows: pd.DataFrame) -> Figure:
    """Plot the packets in a grid: one row per recovery method, one column per number of losses."""
    figure = Figure(figsize=(10, 10), layout="constrained", dpi=150)
    grid = figure.subplots(len(NAMES), 4, sharex=True, sharey=True)
    for (recovery, losses), panel in rows.groupby(["recovery", "losses"]):
        axes = grid[list(NAMES).index(recovery), losses - 1]
        for what, style in STYLES.items():
            points = panel[panel["what"] == what]
            axes.scatter(points["seconds"], points["segment"], **style)
        axes.set_title(f"{NAMES[recovery]}, {losses} lost", fontsize=9)
        axes.grid(visible=True, linewidth=0.3)
    grid[0, 0].set(xlim=(0.5, 5), ylim=(0, 80))
    grid[0, 0].legend(fontsize=7)
    figure.supxlabel("time (s)")
    figure.supylabel("segment")
    return figure


def main() -> None:
    """Print the retransmissions and the end time of each transfer, and plot the packets to FILE."""
    rows = packets()
    retransmitted = rows[rows["what"] == "Retransmitted"].groupby(["recovery", "losses"]).size()
    last = rows.groupby(["recovery", "losses"])["seconds"].max()
    table = pd.DataFrame({"retransmitted": retransmitted, "seconds": last.round(2)}).unstack()
    print(table.reindex(list(NAMES)).to_string())
    if len(sys.argv) > 1:
        figures.save(draw(rows), sys.argv[1])


if __name__ == "__main__":
    main()
