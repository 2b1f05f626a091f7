"""Table entries that show the numbers of a study in its report."""

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
    """Return the interval of an estimate as text, or an empty text if the bounds are equal."""
    low, _, high = digits(ours.interval)
    return "" if low in (high, "none") else f"{low} to {high}"


def missing(ours: Estimate) -> str:
    """Return the number of replications without a value as text, or an empty text for 0."""
    return f"{ours.missing} of {ours.n + ours.missing} missing" if ours.missing else ""


def below(ours: Estimate) -> str:
    """Return the text below a number: its interval, and how many replications have no value."""
    return "\n".join(filter(None, [interval(ours), missing(ours)]))


def entry(cell: Cell) -> Entry:
    """Return a table entry: our number, below it the published number and our interval."""
    printed = "" if cell.published is None else f"published {number(cell.published)}"
    sub = "\n".join(filter(None, [printed, below(cell.ours)]))
    kind = KINDS.get(cell.verdict, "") if cell.standing != "fitted" else ""
    note = "\n".join(
        filter(None, [cell.note, "the published number was used to choose a setting" * cell.fitted])
    )
    return Entry(digits(cell.ours.interval)[1], sub, kind, note)


def plain(ours: Estimate) -> Entry:
    """Return a table entry for a number that the publication does not contain."""
    return Entry(digits(ours.interval)[1], below(ours))
