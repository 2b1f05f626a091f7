"""Numbers of a study as entries of its report's tables."""

from __future__ import annotations

from aqmlab.report import Entry
from aqmlab.studies.verdicts import (
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
    WITHIN_SPREAD,
    Cell,
    Spread,
    number,
)

KINDS = {
    REPRODUCED: "good",
    WITHIN_SPREAD: "fair",
    NOT_REPRODUCED: "bad",
    NOT_TESTABLE: "none",
}


def interval(spread: Spread) -> str:
    """Return the central 95 % of the replications, or nothing where they agree."""
    low, high = number(spread.low), number(spread.high)
    return "" if low == high else f"{low} to {high}"


def entry(cell: Cell) -> Entry:
    """Return a number: ours, the printed one and the spread below, coloured by its verdict."""
    printed = "" if cell.published is None else f"printed {number(cell.published)}"
    sub = "\n".join(filter(None, [printed, interval(cell.ours)]))
    return Entry(number(cell.ours.median), sub, KINDS.get(cell.verdict, ""), cell.note)


def plain(spread: Spread) -> Entry:
    """Return a number of ours that nothing was printed for."""
    return Entry(number(spread.median), interval(spread))
