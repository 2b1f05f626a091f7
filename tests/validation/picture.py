"""Picture of the page: values of aqmlab over values of the peers, on logarithmic axes."""

from collections.abc import Callable
from pathlib import Path
from statistics import mean

from aqmlab.figures.style import COLOURS, sheet
from validation.data import Origin
from validation.peer import peers
from validation.row import MISSES, Row

PICTURE = "validation.png"
FLOOR = 0.5
"""Position at which the logarithmic axes show a count of 0."""
TO_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}

PANELS: dict[str, tuple[Callable[[Row], bool], str]] = {
    "Rates": (lambda row: row.unit.endswith("bit/s"), "Mbit/s"),
    "Times": (lambda row: row.unit in TO_SECONDS, "s"),
    "Queues and windows": (lambda row: row.unit in ("packets", "segments"), "packets"),
    "Counts and ratios": (lambda row: row.unit in ("", "%"), "count or ratio"),
}
"""Panels of the picture: title, function that selects the panel's rows, and unit of the axes."""


def scaled(row: Row, values: tuple[float, ...]) -> tuple[float, float, float]:
    """Return the mean, minimum and maximum of a row's values, in the unit of the row's panel."""
    factor = TO_SECONDS.get(row.unit, 1.0)
    factor *= {"bit/s": 1e-6, "kbit/s": 1e-3, "Gbit/s": 1e3}.get(row.unit, 1.0)
    floor = FLOOR if row.unit == "" and max(map(abs, values)) >= 1 else 1e-9
    if row.unit == "" and not any(values):
        floor = FLOOR
    middle, low, high = (max(factor * x, floor) for x in (mean(values), min(values), max(values)))
    return middle, low, high


def draw(sections: dict[str, tuple[Origin, list[Row]]], folder: Path) -> None:
    """Draw the picture with the comparisons of all peers, and store the picture in a folder."""
    figure, axes = sheet(2, 2, (9.6, 9.6))
    for ax, (title, (belongs, unit)) in zip(axes.flat, PANELS.items(), strict=True):
        shown: list[float] = []
        for i, (_, rows) in enumerate(sections.values()):
            colour = COLOURS[i % len(COLOURS)]
            for row in filter(belongs, rows):
                x, x_low, x_high = scaled(row, row.theirs)
                y, y_low, y_high = scaled(row, row.ours)
                missed = row.verdict == MISSES
                ax.errorbar(
                    x, y, xerr=[[x - x_low], [x_high - x]], yerr=[[y - y_low], [y_high - y]],
                    color=colour, elinewidth=0.5, alpha=0.35, fmt="none",
                )  # fmt: skip
                ax.plot(
                    x, y, "X" if missed else "o", color=colour, markersize=7 if missed else 3.5,
                    markeredgecolor="black" if missed else colour, markeredgewidth=0.5,
                )  # fmt: skip
                shown += [x, y]
        ax.set(xscale="log", yscale="log", title=f"{title} ({unit})")
        ax.set(xlabel="peer", ylabel="aqmlab", aspect="equal", adjustable="box")
        if shown:
            low, high = min(shown) / 1.6, max(shown) * 1.6
            ax.plot([low, high], [low, high], color="#888888", linewidth=0.8, zorder=0)
            ax.set(xlim=(low, high), ylim=(low, high))
    for i, key in enumerate(sections):
        axes[0, 0].plot([], [], "o", color=COLOURS[i % len(COLOURS)], label=peers()[key].NAME)
    axes[0, 0].plot([], [], "X", color="white", markeredgecolor="black", label="a miss")
    figure.legend(loc="outside lower center", ncols=6, frameon=False)
    figure.savefig(folder / PICTURE, dpi=110, metadata={"Software": None})
