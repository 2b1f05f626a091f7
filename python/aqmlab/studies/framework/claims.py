"""Claims of a study and how they are decided: from the data of the runs, by code.

A study's `published/claims.csv` lists its claims. For each of them a function looks at the runs and
returns a `Decision`. Each function here decides one kind of claim: a printed number, a bound, a
direction, a condition. All of them compare an interval with what is printed
(:mod:`aqmlab.studies.framework.verdicts`).
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aqmlab import estimates
from aqmlab.estimates import Estimate, number
from aqmlab.results import NotMeasuredError
from aqmlab.statistics import Interval, proportion_interval
from aqmlab.studies.framework.resampling import resampled
from aqmlab.studies.framework.verdicts import (
    CONTRADICTED,
    KINDS_OF_QUALIFIER,
    NOT_MEASURED,
    NOT_TESTABLE,
    OPEN,
    REPRODUCED,
    Tolerance,
    judge,
)
from aqmlab.studies.framework.verdicts import verdict as by_interval

MEASURED = "measured"
"""Class of claims that the runs measure. Only these claims are counted."""
INPUT = "input or arithmetic"
"""Class of claims that restate an input, or follow by arithmetic from one or another claim."""
FITTED = "fitted"
"""Class of claims whose printed number a setting of the frozen reading was chosen by."""
BASES = (MEASURED, INPUT, FITTED)


@dataclass(frozen=True)
class Decision:
    """Result of one claim: our number, the verdict, and the evidence."""

    ours: str
    verdict: str
    evidence: str


@dataclass(frozen=True)
class Published:
    """One row of a study's claims.

    `basis` is the class of the claim: measured, input or arithmetic, fitted. `reason` explains
    why it is not measured.
    """

    id: str
    statement: str
    quantity: str
    value: float
    unit: str
    scenario: str
    source: str
    qualifier: str
    basis: str = MEASURED
    reason: str = ""

    @property
    def printed(self) -> str:
        """The printed value with its unit."""
        bound = {"upper_bound": "at most ", "lower_bound": "at least ", "approx": "about "}
        unit = "" if self.unit in ("1", "sign", "boolean") else f" {self.unit}"
        return f"{bound.get(self.qualifier, '')}{number(self.value)}{unit}"

    @property
    def counted(self) -> bool:
        """True if the score counts this claim."""
        return self.basis == MEASURED


EXACT = Tolerance.of("none", 0.0)

Decide = Callable[[Any, Published], Decision]
"""Looks at the runs for one claim."""


Absent = Mapping[str, NotMeasuredError]
NONE_ABSENT: Absent = {}


@dataclass
class Claims:
    """The claims of a study: printed rows, and the function that decides each.

    A claim names the items whose runs it looks at; it is decided when all of them were run. `apart`
    has the claims that are not counted, by their class, each with its reason.
    """

    path: Path
    apart: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    functions: dict[str, tuple[tuple[str, ...], Decide]] = field(default_factory=dict)

    def published(self) -> list[Published]:
        """All printed claims, in order."""
        with self.path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        apart = {claim: (b, why) for b, found in self.apart.items() for claim, why in found.items()}
        made = []
        for row in rows:
            printed = float(row.pop("value"))
            basis, reason = apart.get(row["id"], (MEASURED, ""))
            made.append(Published(value=printed, basis=basis, reason=reason, **row))
        return made

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

    def decide(
        self, runs: Any, items: Iterable[str], absent: Absent = NONE_ABSENT
    ) -> list[tuple[Published, Decision]]:
        """Decide every claim whose items are all among `items`; `absent` as of :meth:`decision`."""
        return [(claim, self.decision(runs, claim, absent)) for claim in self.about(items)]

    def decision(self, runs: Any, claim: Published, absent: Absent = NONE_ABSENT) -> Decision:
        """Decide a claim; it is not measured if the engine did not measure what it looks at.

        Parameters
        ----------
        runs : Runs
            The runs.
        claim : Published
            The claim.
        absent : mapping of str to NotMeasuredError
            The items that the engine did not record the series for, each with the reason.
        """
        items, function = self.functions[claim.id]
        try:
            for item in items:
                if item in absent:
                    raise absent[item]
            return function(runs, claim)
        except NotMeasuredError as reason:
            return Decision("", NOT_MEASURED, f"{reason}.")


def estimated(
    claim: Published, ours: Estimate, tolerance: Tolerance, evidence: str = ""
) -> Decision:
    """Decide a printed number or bound by an estimate whose interval is that of its value."""
    return _decided(claim, ours, tolerance, evidence)


def value(
    claim: Published, values: Iterable[float], tolerance: Tolerance, evidence: str = ""
) -> Decision:
    """Decide a printed number by the median of one number per replication.

    The interval is the exact 95 % confidence interval of the median.
    """
    every = list(values)
    ours, spread = estimates.median_confidence(every), estimates.median(every)
    missing = ""
    if ours.missing:
        often = f"{ours.missing} of {len(every)} replications" if ours.n else "any replication"
        missing = f"The event did not happen in {often}. "
    return _decided(claim, ours, tolerance, f"{missing}{evidence}", spread)


def whole(
    claim: Published,
    runs: Any,
    statistic: Callable[[Any], float],
    tolerance: Tolerance,
    evidence: str = "",
) -> Decision:
    """Decide a printed number or bound by one number of all replications together.

    Its interval is the bootstrap of the replications.
    """
    return _decided(claim, resampled(runs, statistic), tolerance, evidence)


def condition(runs: Any, margin: Callable[[Any], float], ours: object, evidence: str) -> Decision:
    """Decide a statement by its margin: positive where the statement holds, negative elsewhere.

    The interval is the bootstrap of the replications. A statement of several parts has the
    minimum of their margins.
    """
    of = resampled(runs, margin)
    found = by_interval(of.interval, 1, 0, "sign") if of.n else CONTRADICTED
    text = number(ours) if isinstance(ours, float) else str(ours)
    detail = f"Margin {of}; the statement holds where it is above 0."
    return Decision(text, found, _sentences(evidence, detail))


def most(count: int, total: int, ours: object, evidence: str) -> Decision:
    """Decide that a statement holds in most of the cases, by Wilson's interval of their share."""
    of = proportion_interval(count, total)
    share = Interval(of.low - 0.5, count / max(total, 1) - 0.5, of.high - 0.5)
    detail = (
        f"{count} of {total}, 95 % interval of the share {100 * of.low:.0f} to "
        f"{100 * of.high:.0f} %; most is more than 50 %."
    )
    return Decision(str(ours), by_interval(share, 1, 0, "sign"), _sentences(evidence, detail))


def none(claim: Published, ours: Estimate, margin: float, evidence: str) -> Decision:
    """Decide the direction 0 by a difference: differences up to `margin` count as none."""
    found = by_interval(ours.interval, claim.value, margin, "sign")
    detail = f"Difference {ours}; up to {number(margin)} counts as none."
    return Decision(str(ours), found, _sentences(evidence, detail))


def direction(claim: Published, differences: Sequence[float], evidence: str) -> Decision:
    """Decide the direction -1 or 1 by one difference per replication.

    The interval is the 95 % confidence interval of their mean. If one of the differences is
    missing, or there is only one, the direction is open.
    """
    mean = estimates.mean(differences)
    found = by_interval(mean.interval, claim.value, 0, "sign")
    detail = f"Mean difference {mean}, 95 % confidence."
    return Decision(sign(mean), found, _sentences(evidence, detail))


def sign(of: Estimate) -> str:
    """Return the direction of a difference: +1, -1, or 0 where its interval contains 0."""
    return "+1" if of.low > 0 else "-1" if of.high < 0 else "0"


def exactly(claim: Published, ours: float, evidence: str, width: float = 0.0) -> Decision:
    """Decide a claim of the class input or arithmetic: a number that no replication changes."""
    same = by_interval(Interval(ours, ours, ours), claim.value, width, _kind(claim))
    return Decision(number(ours), same, evidence)


def holds(condition: bool, ours: object, evidence: str) -> Decision:
    """Decide a claim of the class input or arithmetic by a condition."""
    text = number(ours) if isinstance(ours, float) else str(ours)
    return Decision(text, REPRODUCED if condition else CONTRADICTED, evidence)


def all_of(parts: Iterable[str]) -> str:
    """Return the verdict on a statement about several cases from the verdicts on each.

    Examples
    --------
    >>> all_of(["reproduced", "open"]), all_of(["reproduced", "open", "contradicted"])
    ('open', 'contradicted')
    """
    every = set(parts)
    return next((v for v in (CONTRADICTED, OPEN) if v in every), REPRODUCED)


def every_sign(
    claim: Published, found: Mapping[str, Estimate], margin: float, evidence: str
) -> Decision:
    """Decide a direction that is claimed of every one of several cases.

    `margin` is the largest difference that counts as none, where the direction is 0.
    """
    parts = {
        case: by_interval(of.interval, claim.value, margin, "sign") for case, of in found.items()
    }
    met = sum(part == REPRODUCED for part in parts.values())
    told = "; ".join(f"{case}: {of}" for case, of in found.items())
    detail = f"It holds surely in {met} of {len(found)} cases: {told}."
    verdict = all_of(parts.values())
    return Decision(f"{met} of {len(found)}", verdict, _sentences(evidence, detail))


def not_testable(reason: str) -> Decision:
    """Leave a claim undecided because no run of ours can decide it, and give the reason."""
    return Decision("", NOT_TESTABLE, reason)


def _kind(claim: Published) -> Any:
    return KINDS_OF_QUALIFIER.get(claim.qualifier, "number")


def _decided(
    claim: Published,
    ours: Estimate,
    tolerance: Tolerance,
    evidence: str,
    spread: Estimate | None = None,
) -> Decision:
    found = judge(ours, claim.value, tolerance, spread, _kind(claim))
    rule = f"Rule: the interval within {tolerance.about} of what is printed."
    if tolerance is EXACT:
        rule = "Rule: the interval must be what is printed."
        if _kind(claim) != "number":
            rule = "Rule: the whole interval must keep the printed bound."
    if tolerance.single_run:
        rule = (
            f"Rule: the interval of the median within {tolerance.about} of what is printed, or, "
            "since one single run is printed, within the spread of our single runs"
            + (f" ({spread.statistic}: {spread})." if spread is not None and spread.n else ".")
        )
    return Decision(str(ours), found, _sentences(evidence, rule))


def _sentences(*parts: str) -> str:
    return " ".join(part.strip() for part in parts if part.strip())
