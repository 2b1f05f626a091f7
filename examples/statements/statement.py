"""Definition of a statement of a paper: its measurement, its figure and its table of numbers."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from aqmlab.statistics import mean_interval


@dataclass(frozen=True)
class Statement:
    """Statement of a paper, with a function that measures it and a function that plots it.

    Attributes
    ----------
    measure : callable
        Function that runs a number of replications and returns one row per run.
    draw : callable
        Function that plots the rows.
    by : tuple of str
        Columns that identify a case.
    values : tuple of str
        Measured columns.
    replications : int
        Number of replications that the command runs.
    """

    measure: Callable[[int], pd.DataFrame]
    draw: Callable[[pd.DataFrame], Figure]
    by: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    replications: int = 5


def summary(table: pd.DataFrame, by: list[str], value: str) -> pd.DataFrame:
    """Return one row per case: the mean of a column and the bounds of its 95 % interval."""
    rows = []
    for key, group in table.groupby(by, sort=False):
        low, mean, high = mean_interval(group[value])
        rows.append([*(key if isinstance(key, tuple) else (key,)), mean, low, high])
    return pd.DataFrame(rows, columns=[*by, "mean", "low", "high"])


def numbers(statement: Statement, table: pd.DataFrame) -> str:
    """Return the mean of each measured column of a statement, as text.

    If the statement has no `values`, the text shows the last row of each seed instead of means.
    """
    lines = []
    for value in statement.values:
        rows = summary(table, list(statement.by), value).round(3)
        lines.append(f"{value}:\n{rows.to_string(index=False)}")
    return "\n".join(lines) or table.groupby("seed").tail(1).to_string(index=False)
