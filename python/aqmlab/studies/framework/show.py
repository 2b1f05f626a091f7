"""Numbers of a study as entries of its report's tables."""

from __future__ import annotations

from aqmlab.estimates import Estimate, number
from aqmlab.report import Entry
from aqmlab.studies.framework.verdicts import (
    NOT_REPRODUCED,
    NOT_TESTABLE,
    OPEN,
    REPRODUCED,
    WITHIN_SPREAD,
    Cell,
)

KINDS = {
    REPRODUCED: "good",
    WITHIN_SPREAD: "fair",
    NOT_REPRODUCED: "bad",
    NOT_TESTABLE: "none",
    OPEN: "open",
}


def interval(ours: Estimate) -> str:
    """Return the central 95 % of the replications, or nothing where they agree."""
    low, high = number(ours.low), number(ours.high)
    return "" if low == high else f"{low} to {high}"


def missing(ours: Estimate) -> str:
    """Return how many replications have no number, or nothing if all have one."""
    return f"{ours.missing} of {ours.n + ours.missing} missing" if ours.missing else ""


def below(ours: Estimate) -> str:
    """Return what stands below a number: how far the replications spread, and what is missing."""
    return "\n".join(filter(None, [interval(ours), missing(ours)]))


def entry(cell: Cell) -> Entry:
    """Return a number: ours, the printed one and the spread below, coloured by its verdict."""
    printed = "" if cell.published is None else f"printed {number(cell.published)}"
    sub = "\n".join(filter(None, [printed, below(cell.ours)]))
    return Entry(number(cell.ours.value), sub, KINDS.get(cell.verdict, ""), cell.note)


def plain(ours: Estimate) -> Entry:
    """Return a number of ours that nothing was printed for."""
    return Entry(number(ours.value), below(ours))
