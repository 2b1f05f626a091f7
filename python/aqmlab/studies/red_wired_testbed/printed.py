"""Published tables, and statistics and tolerances for comparisons with our replications."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from aqmlab.estimates import Estimate
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Tolerance, entry
from aqmlab.studies.red_wired_testbed.outcomes import FASTEST, SLOWEST
from aqmlab.studies.red_wired_testbed.scenarios import EXPERIMENT

PUBLISHED = Path(__file__).parent / "published"
Row = dict[str, str]


def extreme(of: Callable[..., Any], values: np.ndarray) -> Any:
    """Return the minimum or maximum of an experiment, averaged over our experiments.

    An extreme value depends on the number of replications, and an experiment of the thesis has 20
    replications.
    """
    n = values.shape[-1]
    size = min(n, EXPERIMENT)
    whole = values[..., : n - n % size]
    return of(whole.reshape(*whole.shape[:-1], -1, size), axis=-1).mean(axis=-1)


STATISTICS: dict[str, Callable[[np.ndarray], Any]] = {
    "min": partial(extreme, np.min),
    "max": partial(extreme, np.max),
    "p25": partial(np.quantile, q=0.25, axis=-1),
    "median": partial(np.median, axis=-1),
    "p75": partial(np.quantile, q=0.75, axis=-1),
    "mean": partial(np.mean, axis=-1),
    "stdev": partial(np.std, ddof=1, axis=-1),
}
"""Statistics of the thesis in its order; quartiles are interpolated as in the thesis."""
HEADS = {
    "min": "Min", "max": "Max", "p25": "25 %", "median": "Median", "p75": "75 %",
    "mean": "Mean", "stdev": "Deviation",
}  # fmt: skip
RESAMPLES = 400


@cache
def rows(file: str) -> tuple[Row, ...]:
    """Return the rows of a published table."""
    with (PUBLISHED / file).open(encoding="utf-8", newline="") as opened:
        return tuple(csv.DictReader(opened))


def number(row: Row, column: str) -> float | None:
    """Return a published number, or None for an empty cell of the table."""
    return float(row[column]) if row[column] else None


@cache
def _drawn(n: int) -> np.ndarray:
    """Return the replications of each bootstrap sample; a fixed seed makes reports reproducible."""
    return np.random.default_rng(2002).integers(0, n, (RESAMPLES, n))


def estimate(statistic: str, values: Iterable[float]) -> Estimate:
    """Return a statistic of the replications, with the central 95 % of its bootstrap.

    Replications without a value count as missing.
    """
    every = np.array(list(values), dtype=float)
    there = every[np.isfinite(every)]
    n, lost = len(there), len(every) - len(there)
    if n < 1 + (statistic == "stdev"):
        return Estimate(statistic, math.nan, math.nan, math.nan, 0, lost)
    of = STATISTICS[statistic]
    low, high = np.quantile(of(there[_drawn(n)]), [0.025, 0.975])
    about = f"{statistic}, bootstrap 95 %"
    return Estimate(about, float(of(there)), float(low), float(high), n, lost)


SLOW = Tolerance.larger_of(0, 0.03)
TIME = Tolerance.larger_of(0, 0.10)
COUNT = Tolerance.larger_of(1, 0.20)
SPREAD = Tolerance.larger_of(0, 0.30)


def tolerance(place: str, column: str, statistic: str) -> Tolerance:
    """Return the tolerance of a published number.

    The tolerance of times and rates is 3 % for the slowest flow, and 10 % for other flows. The
    tolerance of a count is one, or 20 % if that is more. The tolerance of a standard deviation is
    30 %.
    """
    if statistic == "stdev":
        return SPREAD
    if "retx_bytes" in column:
        return Tolerance.larger_of(1448, 0.20, "bytes")
    if column in ("retx_packets", "dup_acks", "triple_dupacks"):
        return COUNT
    return SLOW if place == SLOWEST else TIME


def cell(
    item: str, columns: dict[str, object], quantity: str, unit: str, statistic: str,
    values: Iterable[float], printed: float | None, rule: Tolerance, note: str = "",
    *, again: bool = False, fitted: bool = False,
) -> Cell:  # fmt: skip
    """Return our statistic as a cell, with the published statistic."""
    ours, columns = estimate(statistic, values), columns | {"statistic": statistic}
    return Cell(item, columns, quantity, unit, ours, printed, rule, note, again, fitted)


def table(caption: str, head: Sequence[str], lines: Iterable[tuple[str, Sequence[Cell]]]) -> Table:
    """Return a table with the given rows of cells."""
    rows_of_entries: list[list[str | Entry]] = [[name, *map(entry, cells)] for name, cells in lines]
    return Table(caption, head, rows_of_entries)


def doubtful(row: Row, statistic: str, place: str = "") -> str:
    """Return the reason why a published number is doubtful, or an empty text."""
    doubt = row["doubt"]
    if not doubt:
        return ""
    whole = doubt.startswith(
        ("differs", "same defect", "text assigns", "throughput", "mean equals")
    )
    if whole:
        return doubt
    named = "mean" if place in (FASTEST, SLOWEST) else "stdev"
    return doubt if statistic == named else ""
