"""Gains from ECN: the ECN flow minus the non-ECN flow, in % of the non-ECN flow.

The memo computes its percentages from averages. The ECN flow and the non-ECN flow are in the same
run, so the 95 % interval of a gain is that of the mean paired difference, by Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from aqmlab import estimates
from aqmlab.estimates import Estimate
from aqmlab.figures.style import look
from aqmlab.report import Entry
from aqmlab.studies.framework import Cell, Runs, Tolerance
from aqmlab.studies.framework.show import KINDS
from aqmlab.studies.rfc2884.outcomes import Outcome, metric
from aqmlab.studies.rfc2884.scenarios import Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = Tolerance.of("5 percentage points", 5)
"""Tolerance of published gains, which are means."""


def both(runs: Runs, at: Setting) -> tuple[list[float], list[float]]:
    """Return the rates of the ECN flow and of the non-ECN flow, one rate per replication."""
    there: list[Outcome] = runs.of(at)
    on, off = metric(at.kind, "on"), metric(at.kind, "off")
    return ([on.scale * on.of(run) for run in there], [off.scale * off.of(run) for run in there])


def percent(runs: Runs, at: Setting) -> list[float]:
    """Return the relative advantage of ECN in %, one number per replication."""
    on, off = both(runs, at)
    base = float(np.mean(off))
    return [100 * (a - b) / base for a, b in zip(on, off, strict=True)]


def absolute(runs: Runs, at: Setting) -> list[float]:
    """Return the absolute advantage of ECN, in kbit/s or 1/s, one number per replication."""
    return [a - b for a, b in zip(*both(runs, at), strict=True)]


def gain(runs: Runs, at: Setting) -> Estimate:
    """Return the relative advantage of ECN in %: the mean and its 95 % interval."""
    return estimates.mean(percent(runs, at))


def growth(values: Sequence[float], of: Sequence[float]) -> Estimate:
    """Return the mean of the paired differences `values` minus `of`."""
    return estimates.difference(values, of)


def cell(
    item: str, runs: Runs, at: Setting, published: float | None = None, *, again: bool = False
) -> Cell:
    """Return the relative advantage of ECN in a setting as a cell, with the published number."""
    rule = POINTS if published is not None else None
    return Cell(
        item, at.columns(), "relative_advantage_of_ecn", "%", gain(runs, at), published, rule,
        again=again,
    )  # fmt: skip


def entry(cell: Cell) -> Entry:
    """Return a relative advantage as a table entry, coloured by its verdict or its sign."""
    printed = "" if cell.published is None else f"published {cell.published:g} %"
    return with_interval(cell.ours, unit=" %", printed=printed, kind=KINDS.get(cell.verdict))


def with_interval(
    of: Estimate, form: str = "+.0f", unit: str = "", printed: str = "", kind: str | None = None
) -> Entry:
    """Return a mean with its interval as a table entry, coloured by the sign of the interval."""
    low, middle, high = of.interval
    if kind is None:
        kind = "good" if low > 0 else "bad" if high < 0 else ""
    apart = "" if math.isnan(low) else f"{low:{form}} to {high:{form}}"
    return Entry(f"{middle:{form}}{unit}", "\n".join(filter(None, [printed, apart])), kind)


def curve(axes: Axes, i: int, label: str, points: Iterable[tuple[float, Estimate]]) -> None:
    """Plot gains with their intervals against the x values of the points."""
    colour, marker = look(i)
    known = [(x, e.interval) for x, e in points]
    x = [at for at, _ in known]
    middle = [e.middle for _, e in known]
    ends = [[e.middle - e.low for _, e in known], [e.high - e.middle for _, e in known]]
    axes.errorbar(
        x, middle, np.nan_to_num(ends), label=label, color=colour, marker=marker, capsize=3
    )
