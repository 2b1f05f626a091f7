"""Claims of a study and how they are decided: from the data of the runs, by code.

A study's `published/claims.csv` lists its claims; for each of them a function looks at the runs and
returns a `Decision`. The kinds that come back (a printed number, a bound, a sign) are here.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aqmlab import estimates
from aqmlab.estimates import number
from aqmlab.studies.framework.verdicts import (
    NOT_REPRODUCED,
    NOT_TESTABLE,
    OPEN,
    REPRODUCED,
    WITHIN_SPREAD,
    Tolerance,
    judge,
)


@dataclass(frozen=True)
class Decision:
    """What the runs say of one claim.

    `wide` says that the verdict hangs on the width of an interval, so that more replications, whose
    interval is narrower, may decide otherwise.
    """

    ours: str
    verdict: str
    evidence: str
    wide: bool = False

    @property
    def of_few(self) -> Decision:
        """What it is worth where there are few replications: a wide interval leaves it open.

        Examples
        --------
        >>> Decision("0", NOT_REPRODUCED, "Between -1 and 3.", wide=True).of_few.verdict
        'open'
        >>> Decision("3", NOT_REPRODUCED, "Between 2 and 4.").of_few.verdict
        'not reproduced'
        """
        wide = self.wide or self.verdict == WITHIN_SPREAD
        return replace(self, verdict=OPEN) if wide else self


@dataclass(frozen=True)
class Published:
    """One row of a study's claims."""

    id: str
    statement: str
    quantity: str
    value: float
    unit: str
    scenario: str
    source: str
    qualifier: str

    @property
    def printed(self) -> str:
        """The printed value with its unit."""
        bound = {"upper_bound": "at most ", "lower_bound": "at least ", "approx": "about "}
        unit = "" if self.unit in ("1", "sign", "boolean") else f" {self.unit}"
        return f"{bound.get(self.qualifier, '')}{number(self.value)}{unit}"


Decide = Callable[[Any, Published], Decision]
"""Looks at the runs for one claim."""


@dataclass
class Claims:
    """The claims of a study: printed rows, and the function that decides each.

    A claim names the items whose runs it looks at; it is decided when all of them were run.
    """

    path: Path
    functions: dict[str, tuple[tuple[str, ...], Decide]] = field(default_factory=dict)

    def published(self) -> list[Published]:
        """All printed claims, in order."""
        with self.path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return [Published(value=float(row.pop("value")), **row) for row in rows]

    def decides(self, *ids: str, items: Iterable[str]) -> Callable[[Decide], Decide]:
        """Register the decorated `function(runs, claim)` for these claims."""

        def register(function: Decide) -> Decide:
            for claim in ids:
                if claim in self.functions:
                    raise ValueError(f"claim {claim} is decided twice")
                self.functions[claim] = (tuple(items), function)
            return function

        return register

    def one(self, claim: str) -> Published:
        """Return a claim by its number.

        Raises
        ------
        ValueError
            If there is none; the message lists those there are.
        """
        every = {one.id: one for one in self.published()}
        if claim not in every:
            raise ValueError(f"--claim: {claim!r} is unknown; there are: {', '.join(every)}")
        return every[claim]

    def about(self, items: Iterable[str]) -> list[Published]:
        """Return every claim whose items are all among `items`."""
        chosen = set(items)
        return [c for c in self.published() if chosen.issuperset(self.functions[c.id][0])]

    def decide(self, runs: Any, items: Iterable[str]) -> list[tuple[Published, Decision]]:
        """Decide every claim whose items are all among `items`."""
        return [(claim, self.functions[claim.id][1](runs, claim)) for claim in self.about(items)]


def holds(condition: bool, ours: object, evidence: str, *, wide: bool = False) -> Decision:
    """Decide by a condition."""
    text = number(ours) if isinstance(ours, float) else str(ours)
    return Decision(text, REPRODUCED if condition else NOT_REPRODUCED, evidence, wide)


def value(
    claim: Published, values: Iterable[float], tolerance: Tolerance, evidence: str = ""
) -> Decision:
    """Decide a printed number, against one number per replication."""
    ours = estimates.median(values)
    rule = f"tolerance {tolerance.about}, or inside the central 95 % of the replications"
    missing = ""
    if ours.missing:
        every = ours.n + ours.missing
        often = f"{ours.missing} of {every} replications" if ours.n else "any replication"
        missing = f"The event did not happen in {often}. "
    return Decision(
        str(ours),
        judge(ours, claim.value, tolerance),
        f"{missing}{evidence + ' ' if evidence else ''}Rule: {rule}.",
    )


def bound(claim: Published, ours: float, evidence: str) -> Decision:
    """Decide a printed bound: ours is at most, or at least, the printed value."""
    met = ours <= claim.value if claim.qualifier == "upper_bound" else ours >= claim.value
    return holds(met, float(ours), evidence)


def none(claim: Published, difference: float, margin: float, evidence: str) -> Decision:
    """Decide the direction 0: differences up to `margin` count as none."""
    ours = 0 if abs(difference) <= margin else (1 if difference > 0 else -1)
    detail = f"Difference {number(difference)}; up to {number(margin)} counts as none."
    return holds(ours == claim.value, f"{ours:+d}" if ours else "0", f"{evidence} {detail}")


def direction(claim: Published, differences: Sequence[float], evidence: str) -> Decision:
    """Decide the direction -1 or 1 by one difference per replication.

    It is 0 if the 95 % confidence interval of their mean holds 0, or if one of them is missing; a
    single replication has no interval.
    """
    mean = estimates.mean(differences)
    low, middle, high = mean.interval
    if len(differences) == 1:
        low = high = middle
    ours = 1 if low > 0 else (-1 if high < 0 else 0)
    detail = f"Mean difference {number(middle)}, 95 % confidence {number(low)} to {number(high)}."
    told = f"{ours:+d}" if ours else "0"
    return holds(ours == claim.value, told, f"{evidence} {detail}", wide=not ours)


def not_testable(reason: str) -> Decision:
    """Leave a claim open that no run of ours can decide, and say why."""
    return Decision("", NOT_TESTABLE, reason)
