"""Claims of a study, and the functions that decide them from the runs.

A study's `published/claims.csv` lists its claims. For each claim, a function of the study reads the
runs and returns a `Decision`. Each function of this module decides one kind of claim: a published
number, a bound, a direction or a condition. All functions compare an interval with the published
statement (:mod:`aqmlab.studies.framework.verdicts`).
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
"""Class of the claims that the runs measure. The score counts only these claims."""
INPUT = "input or arithmetic"
"""Class of the claims that restate an input, or follow from one by arithmetic."""
FITTED = "fitted"
"""Class of the claims whose published number was used to choose a setting."""
BASES = (MEASURED, INPUT, FITTED)
"""Classes of claims."""


@dataclass(frozen=True)
class Decision:
    """Decision on one claim: our number, the verdict, and the evidence."""

    ours: str
    verdict: str
    evidence: str


@dataclass(frozen=True)
class Published:
    """One claim of a study: a row of its claims.csv, with the class of the claim.

    `basis` is the class of the claim: measured, input or arithmetic, or fitted. `reason` explains
    why the claim is not counted, and is empty for a counted claim.
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
        """Published value with its unit, and with a word if the value is a bound."""
        bound = {"upper_bound": "at most ", "lower_bound": "at least ", "approx": "about "}
        unit = "" if self.unit in ("1", "sign", "boolean") else f" {self.unit}"
        return f"{bound.get(self.qualifier, '')}{number(self.value)}{unit}"

    @property
    def counted(self) -> bool:
        """True if the score counts this claim."""
        return self.basis == MEASURED


EXACT = Tolerance.of("none", 0.0)
"""Tolerance of 0."""

Decide = Callable[[Any, Published], Decision]
"""Function that decides one claim from the runs."""


Absent = Mapping[str, NotMeasuredError]
"""Items whose series the engine does not record, each with its error."""
NONE_ABSENT: Absent = {}


@dataclass
class Claims:
    """Claims of a study: the rows of its claims.csv, and the function that decides each claim.

    Each function is registered with the items of the study whose runs it reads. A claim is decided
    if all of these items were run. `apart` lists the claims that are not counted: for each class,
    the ids of its claims with the reasons.
    """

    path: Path
    apart: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    functions: dict[str, tuple[tuple[str, ...], Decide]] = field(default_factory=dict)

    def published(self) -> list[Published]:
        """Return all claims, in the order of claims.csv."""
        with self.path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        apart = {
            claim_id: (basis, reason)
            for basis, reasons in self.apart.items()
            for claim_id, reason in reasons.items()
        }
        claims = []
        for row in rows:
            printed = float(row.pop("value"))
            basis, reason = apart.get(row["id"], (MEASURED, ""))
            claims.append(Published(value=printed, basis=basis, reason=reason, **row))
        return claims

    def decides(self, *ids: str, items: Iterable[str]) -> Callable[[Decide], Decide]:
        """Register the decorated `function(runs, claim)` for claims, given by their ids."""

        def register(function: Decide) -> Decide:
            for claim in ids:
                if claim in self.functions:
                    raise ValueError(f"claim {claim} has two functions; register one")
                self.functions[claim] = (tuple(items), function)
            return function

        return register

    def one(self, claim: str) -> Published:
        """Return a claim by its id.

        Raises
        ------
        ValueError
            If the id is unknown. The message lists the ids.
        """
        every = {one.id: one for one in self.published()}
        if claim not in every:
            raise ValueError(f"--claim: {claim!r} is unknown; use one of: {', '.join(every)}")
        return every[claim]

    def about(self, items: Iterable[str]) -> list[Published]:
        """Return every claim that needs only runs of the items in `items`."""
        chosen = set(items)
        return [c for c in self.published() if chosen.issuperset(self.functions[c.id][0])]

    def decide(
        self, runs: Any, items: Iterable[str], absent: Absent = NONE_ABSENT
    ) -> list[tuple[Published, Decision]]:
        """Decide every claim that needs only runs of the items in `items`.

        `absent` is passed to :meth:`decision`.
        """
        return [(claim, self.decision(runs, claim, absent)) for claim in self.about(items)]

    def decision(self, runs: Any, claim: Published, absent: Absent = NONE_ABSENT) -> Decision:
        """Decide a claim, or return "not measured" if the engine did not measure its values.

        Parameters
        ----------
        runs : Runs
            Runs of the items of the claim.
        claim : Published
            Printed row of the claim.
        absent : mapping of str to NotMeasuredError
            Items whose series the engine does not record, each with its error.
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
    """Decide a published number or bound by an estimate and its interval."""
    return _decided(claim, ours, tolerance, evidence)


def value(
    claim: Published, values: Iterable[float], tolerance: Tolerance, evidence: str = ""
) -> Decision:
    """Decide a published number by the median of one number per replication.

    The interval is the exact 95 % confidence interval of the median.
    """
    every = list(values)
    ours, spread = estimates.median_confidence(every), estimates.median(every)
    missing = ""
    if ours.missing:
        where = f"{ours.missing} of {len(every)} replications" if ours.n else "any replication"
        missing = f"The event did not happen in {where}. "
    return _decided(claim, ours, tolerance, f"{missing}{evidence}", spread)


def whole(
    claim: Published,
    runs: Any,
    statistic: Callable[[Any], float],
    tolerance: Tolerance,
    evidence: str = "",
) -> Decision:
    """Decide a published number or bound by one number computed from all replications together.

    The interval comes from a bootstrap of the replications.
    """
    return _decided(claim, resampled(runs, statistic), tolerance, evidence)


def condition(runs: Any, margin: Callable[[Any], float], ours: object, evidence: str) -> Decision:
    """Decide a statement by its margin, which is positive if the statement holds.

    The interval comes from a bootstrap of the replications. The margin of a statement with several
    parts is the minimum of their margins.
    """
    of = resampled(runs, margin)
    verdict = by_interval(of.interval, 1, 0, "sign") if of.n else CONTRADICTED
    text = number(ours) if isinstance(ours, float) else str(ours)
    detail = f"Margin {of}. The statement holds if the margin is above 0."
    return Decision(text, verdict, _sentences(evidence, detail))


def most(count: int, total: int, ours: object, evidence: str) -> Decision:
    """Decide that a statement holds in more than half of the cases, by Wilson's interval."""
    of = proportion_interval(count, total)
    share = Interval(of.low - 0.5, count / max(total, 1) - 0.5, of.high - 0.5)
    detail = (
        f"{count} of {total}, 95 % interval of the share {100 * of.low:.0f} to "
        f"{100 * of.high:.0f} %. “Most” means more than 50 %."
    )
    return Decision(str(ours), by_interval(share, 1, 0, "sign"), _sentences(evidence, detail))


def none(claim: Published, ours: Estimate, margin: float, evidence: str) -> Decision:
    """Decide that a difference is 0; differences of at most `margin` count as none."""
    verdict = by_interval(ours.interval, claim.value, margin, "sign")
    detail = f"Difference {ours}. A difference of at most {number(margin)} counts as none."
    return Decision(str(ours), verdict, _sentences(evidence, detail))


def direction(claim: Published, differences: Sequence[float], evidence: str) -> Decision:
    """Decide a claimed direction, -1 or 1, by one difference per replication.

    The interval is the 95 % confidence interval of the mean difference. The verdict on the
    direction is open if a difference is missing, or if only one exists.
    """
    mean = estimates.mean(differences)
    verdict = by_interval(mean.interval, claim.value, 0, "sign")
    detail = f"Mean difference {mean}, 95 % confidence."
    return Decision(sign(mean), verdict, _sentences(evidence, detail))


def sign(of: Estimate) -> str:
    """Return the direction of a difference: +1, -1, or 0 if its interval contains 0."""
    return "+1" if of.low > 0 else "-1" if of.high < 0 else "0"


def exactly(claim: Published, ours: float, evidence: str, width: float = 0.0) -> Decision:
    """Decide a claim of the class input or arithmetic by a number without an interval."""
    same = by_interval(Interval(ours, ours, ours), claim.value, width, _kind(claim))
    return Decision(number(ours), same, evidence)


def holds(condition: bool, ours: object, evidence: str) -> Decision:
    """Decide a claim of the class input or arithmetic by a condition."""
    text = number(ours) if isinstance(ours, float) else str(ours)
    return Decision(text, REPRODUCED if condition else CONTRADICTED, evidence)


def all_of(parts: Iterable[str]) -> str:
    """Return the verdict on a statement about several cases, from the verdicts on all cases.

    Examples
    --------
    >>> all_of(["reproduced", "open"]), all_of(["reproduced", "open", "contradicted"])
    ('open', 'contradicted')
    """
    every = set(parts)
    return next((v for v in (CONTRADICTED, OPEN) if v in every), REPRODUCED)


def every_sign(
    claim: Published, by_case: Mapping[str, Estimate], margin: float, evidence: str
) -> Decision:
    """Decide a direction that is claimed for each of several cases.

    If the direction is 0, differences of at most `margin` count as none.
    """
    parts = {
        case: by_interval(of.interval, claim.value, margin, "sign") for case, of in by_case.items()
    }
    met = sum(part == REPRODUCED for part in parts.values())
    listed = "; ".join(f"{case}: {of}" for case, of in by_case.items())
    detail = f"Reproduced in {met} of {len(by_case)} cases: {listed}."
    verdict = all_of(parts.values())
    return Decision(f"{met} of {len(by_case)}", verdict, _sentences(evidence, detail))


def not_testable(reason: str) -> Decision:
    """Return the decision on a claim that no run can decide, with the reason."""
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
    verdict = judge(ours, claim.value, tolerance, spread, _kind(claim))
    rule = f"Rule: the interval lies within {tolerance.about} of the printed number."
    if tolerance is EXACT:
        rule = "Rule: the interval consists of the printed number alone."
        if _kind(claim) != "number":
            rule = "Rule: the whole interval lies within the printed bound."
    if tolerance.single_run:
        rule = (
            f"Rule: the interval of the median lies within {tolerance.about} of the printed "
            "number, or, because the source prints one single run, within the spread of our single "
            "runs"
            + (f" ({spread.statistic}: {spread})." if spread is not None and spread.n else ".")
        )
    return Decision(str(ours), verdict, _sentences(evidence, rule))


def _sentences(*parts: str) -> str:
    return " ".join(part.strip() for part in parts if part.strip())
