"""Numbers of a study as entries of its report's tables."""

from __future__ import annotations

from aqmlab.estimates import Estimate, digits, number
from aqmlab.report import Entry
from aqmlab.studies.framework.verdicts import (
    CONTRADICTED,
    NOT_TESTABLE,
    OPEN,
    REPRODUCED,
    SINGLE_RUN,
    Cell,
)

KINDS = {
    REPRODUCED: "good",
    SINGLE_RUN: "fair",
    CONTRADICTED: "bad",
    OPEN: "open",
    NOT_TESTABLE: "none",
}
"""Colour of each verdict in a report."""


def interval(ours: Estimate) -> str:
    """Return the interval of an estimate, or nothing where its bounds agree."""
    low, _, high = digits(ours.interval)
    return "" if low in (high, "none") else f"{low} to {high}"


def missing(ours: Estimate) -> str:
    """Return how many replications have no number, or nothing if all have one."""
    return f"{ours.missing} of {ours.n + ours.missing} missing" if ours.missing else ""


def below(ours: Estimate) -> str:
    """Return the text below a number: its interval, and what is missing."""
    return "\n".join(filter(None, [interval(ours), missing(ours)]))


def entry(cell: Cell) -> Entry:
    """Return a number: ours, the printed one and the spread below, coloured by its verdict."""
    printed = "" if cell.published is None else f"printed {number(cell.published)}"
    sub = "\n".join(filter(None, [printed, below(cell.ours)]))
    kind = KINDS.get(cell.verdict, "") if cell.standing != "fitted" else ""
    note = "\n".join(filter(None, [cell.note, "fitted to this number" * cell.fitted]))
    return Entry(digits(cell.ours.interval)[1], sub, kind, note)


def plain(ours: Estimate) -> Entry:
    """Return a number of ours that nothing was printed for."""
    return Entry(digits(ours.interval)[1], below(ours))
