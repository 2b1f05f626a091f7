"""How a point is measured, drawn and put into words."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from aqmlab.statistics import mean_interval


@dataclass(frozen=True)
class Point:
    """How a point is measured, drawn and put into words."""

    measure: Callable[[int], pd.DataFrame]
    draw: Callable[[pd.DataFrame], Figure]
    by: tuple[str, ...] = ()
    """The columns that tell the cases apart."""
    values: tuple[str, ...] = ()
    """The columns that are measured."""
    replications: int = 5


def summary(table: pd.DataFrame, by: list[str], value: str) -> pd.DataFrame:
    """Return mean, low and high of a value, a row a case."""
    rows = []
    for key, group in table.groupby(by, sort=False):
        low, mean, high = mean_interval(group[value])
        rows.append([*(key if isinstance(key, tuple) else (key,)), mean, low, high])
    return pd.DataFrame(rows, columns=[*by, "mean", "low", "high"])


def words(point: Point, table: pd.DataFrame) -> str:
    """Return what was measured."""
    lines = []
    for value in point.values:
        rows = summary(table, list(point.by), value).round(3)
        lines.append(f"{value}:\n{rows.to_string(index=False)}")
    return "\n".join(lines) or table.groupby("seed").tail(1).to_string(index=False)
