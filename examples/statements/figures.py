"""Functions that draw figures of the measurements for statements of AQM papers."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .statement import summary


def blank(x: str, y: str, title: str) -> tuple[Figure, Axes]:
    """Return a figure with a title and axis labels, but without data."""
    figure = Figure(figsize=(7, 4), layout="constrained", dpi=130)
    axes = figure.subplots()
    axes.set(xlabel=x, ylabel=y)
    axes.set_title(title, fontsize=10)
    axes.grid(visible=True, linewidth=0.3)
    return figure, axes


def legend(axes: Axes, columns: int = 3) -> None:
    """Place the legend below the axes, where it does not cover a curve."""
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=5, ncols=columns, fontsize=8,
        frameon=False,
    )  # fmt: skip


def curves(axes: Axes, table: pd.DataFrame, series: str, x: str, value: str) -> None:
    """Plot one curve per value of the column `series`: means with their confidence intervals."""
    points = summary(table, [series, x], value)
    marks = "os^vD<>PX*"
    for i, (name, rows) in enumerate(points.groupby(series, sort=False)):
        errors = [rows["mean"] - rows["low"], rows["high"] - rows["mean"]]
        mark = marks[(i + i // 10) % 10]  # Matplotlib has ten colours.
        axes.errorbar(rows[x], rows["mean"], errors, label=str(name), marker=mark,
                      markersize=4, capsize=2, linewidth=1)  # fmt: skip
    legend(axes)
