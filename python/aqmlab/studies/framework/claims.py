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
    UNDECIDED,
    Tolerance,
    UndecidableError,
    judge,
)
from aqmlab.studies.framework.verdicts import verdict as by_interval

MEASURED = "measured"
"""Class of the claims that runs can test; the score counts only the claims of this class."""
INPUT = "input or arithmetic"
"""Class of the claims that repeat an input of the runs, or follow from inputs by arithmetic."""
FITTED = "fitted"
"""Class of the claims whose published number was used to choose a setting."""
BASES = (MEASURED, INPUT, FITTED)
"""Classes of claims."""


@dataclass(frozen=True)
class Decision:
    """Decision on one claim: our number, the verdict, and the evidence for the verdict.

    `estimate` is our number with its interval, if the claim is about a number.
    """

    ours: str
    verdict: str
    evidence: str
    estimate: Estimate | None = None


@dataclass(frozen=True)
class Published:
    """One claim of a study: a row of its claims.csv, with the class of the claim.

    `basis` is the class of the claim: `MEASURED`, `INPUT` or `FITTED`. `reason` explains why the
    score does not count the claim, and is empty for a counted claim.
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
        """Published value with its unit, preceded by "at most", "at least" or "about" if needed."""
        bound = {"upper_bound": "at most ", "lower_bound": "at least ", "approx": "about "}
        unit = "" if self.unit in ("1", "sign", "boolean", "count") else f" {self.unit}"
        return f"{bound.get(self.qualifier, '')}{number(self.value)}{unit}"

    @property
    def counted(self) -> bool:
        """True if the score counts this claim."""
        return self.basis == MEASURED


EXACT = Tolerance.of("none", 0.0)
"""Tolerance of 0."""

Decide = Callable[[Any, Published], Decision]
"""Function that decides one claim from the runs."""


Absent = Mapping[str, NotMeasuredError | UndecidableError]
"""Errors by item name, for items whose runs the engine cannot record or the study cannot plan."""
NONE_ABSENT: Absent = {}


@dataclass
class Claims:
    """Claims of a study: the rows of its claims.csv, and the function that decides each claim.

    Each function is registered with the names of the items whose runs it reads. A claim is decided
    only if the reproduction includes every item that the claim's function reads. `apart` lists the
    claims that the score does not count: for each class, the claim ids and the reasons.
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
        """Register the decorated `function(runs, claim)` for the claims with these ids."""

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
            If the id is unknown; the error message lists the ids of all claims.
        """
        every = {one.id: one for one in self.published()}
        if claim not in every:
            raise ValueError(f"--claim: {claim!r} is unknown; use one of: {', '.join(every)}")
        return every[claim]

    def about(self, items: Iterable[str]) -> list[Published]:
        """Return the claims whose functions read only runs of the items in `items`."""
        chosen = set(items)
        return [c for c in self.published() if chosen.issuperset(self.functions[c.id][0])]

    def decide(
        self, runs: Any, items: Iterable[str], absent: Absent = NONE_ABSENT
    ) -> list[tuple[Published, Decision]]:
        """Decide the claims whose functions read only runs of the items in `items`.

        The argument `absent` is passed to the method :meth:`decision`, which decides a single
        claim.
        """
        return [(claim, self.decision(runs, claim, absent)) for claim in self.about(items)]

    def decision(self, runs: Any, claim: Published, absent: Absent = NONE_ABSENT) -> Decision:
        """Decide a claim.

        The verdict is "not measured" if the engine cannot measure the values of the claim, and
        "cannot be decided" if the runs lack a value that the claim needs.

        Parameters
        ----------
        runs : Runs
            Runs of all items that the claim's function reads.
        claim : Published
            Row of the claim in claims.csv.
        absent : mapping of str to NotMeasuredError or UndecidableError
            Errors by item name, for items whose runs the engine cannot record or the study cannot
            plan.
        """
        items, function = self.functions[claim.id]
        try:
            for item in items:
                if item in absent:
                    raise absent[item]
            return function(runs, claim)
        except NotMeasuredError as reason:
            return Decision("", NOT_MEASURED, f"{reason}.")
        except UndecidableError as reason:
            return Decision("", UNDECIDED, f"{reason}.")


def estimated(
    claim: Published, ours: Estimate, tolerance: Tolerance, evidence: str = ""
) -> Decision:
    """Decide a claim about a number or a bound by an estimate and its interval."""
    return _decided(claim, ours, tolerance, evidence)


def value(
    claim: Published, values: Iterable[float], tolerance: Tolerance, evidence: str = ""
) -> Decision:
    """Decide a claim about a number by the median of the replications.

    `values` has one number per replication. The verdict judges the exact 95 % confidence interval
    of the median.
    """
    every = list(values)
    ours, spread = estimates.median_confidence(every), estimates.median(every)
    missing = ""
    if ours.missing:
        where = f"{ours.missing} of {len(every)} replications" if ours.n else "any replication"
        missing = f"The measured event did not happen in {where}. "
    return _decided(claim, ours, tolerance, f"{missing}{evidence}", spread)


def whole(
    claim: Published,
    runs: Any,
    statistic: Callable[[Any], float],
    tolerance: Tolerance,
    evidence: str = "",
) -> Decision:
    """Decide a claim by one statistic of all replications together, such as a ratio of medians.

    The verdict judges the bootstrap interval of the statistic.

    Raises
    ------
    UndecidableError
        If the runs do not have the statistic.
    """
    ours = resampled(runs, statistic)
    if not ours.n:
        raise UndecidableError("the runs do not have the values that the claim compares")
    return _decided(claim, ours, tolerance, evidence)


def condition(runs: Any, margin: Callable[[Any], float], ours: object, evidence: str) -> Decision:
    """Decide a statement by its margin, which is positive if the statement is true.

    The interval of the margin comes from a bootstrap of the replications. If a statement has
    several parts, its margin is the minimum of the margins of all parts.
    """
    of = resampled(runs, margin)
    verdict = by_interval(of.interval, 1, 0, "sign") if of.n else CONTRADICTED
    text = number(ours) if isinstance(ours, float) else str(ours)
    detail = f"Margin of the statement: {of}. Rule: the statement is true if its margin is above 0."
    return Decision(text, verdict, _sentences(evidence, detail))


def most(count: int, total: int, ours: object, evidence: str) -> Decision:
    """Decide a statement about most cases by the share of cases in which the statement is true.

    The verdict judges Wilson's 95 % interval of the share.
    """
    of = proportion_interval(count, total)
    share = Interval(of.low - 0.5, count / max(total, 1) - 0.5, of.high - 0.5)
    detail = (
        f"The statement is true in {count} of {total} cases (95 % interval of the share: "
        f"{100 * of.low:.0f} to {100 * of.high:.0f} %). Rule: “most” means more than 50 %."
    )
    return Decision(str(ours), by_interval(share, 1, 0, "sign"), _sentences(evidence, detail))


def none(claim: Published, ours: Estimate, margin: float, evidence: str) -> Decision:
    """Decide a claim of no difference; differences of at most `margin` count as no difference."""
    verdict = by_interval(ours.interval, claim.value, margin, "sign")
    detail = (
        f"Difference: {ours}. Rule: a difference of at most {number(margin)} counts as no "
        "difference."
    )
    return Decision(str(ours), verdict, _sentences(evidence, detail), ours)


def direction(
    claim: Published, differences: Sequence[float], evidence: str, least: float = 0.0
) -> Decision:
    """Decide a claim that a difference is negative (-1) or positive (1).

    The verdict judges the 95 % confidence interval of the mean difference, and is open if a
    replication has no difference, or if there is only one replication.

    Parameters
    ----------
    claim : Published
        Row of the claim in claims.csv.
    differences : sequence of float
        Difference in each replication.
    evidence : str
        Evidence for the verdict, in sentences.
    least : float
        Smallest difference that matters, in the unit of the differences. If the whole interval lies
        within plus or minus `least`, the claimed direction is contradicted, unless the interval
        lies wholly on the claimed side of 0.
    """
    mean = estimates.mean(differences)
    detail = f"Mean difference with its 95 % confidence interval: {mean}.{_rule(least)}"
    return Decision(sign(mean), _side(mean, claim.value, least), _sentences(evidence, detail))


def _side(of: Estimate, side: float, least: float) -> str:
    """Return the verdict on a claimed sign; an interval of negligible differences contradicts."""
    verdict = by_interval(of.interval, side, 0, "sign")
    negligible = verdict == OPEN and by_interval(of.interval, 0, least, "sign") == REPRODUCED
    return CONTRADICTED if side and negligible else verdict


def _rule(least: float) -> str:
    return f" Rule: a difference of at most {number(least)} counts as no difference." * bool(least)


def sign(of: Estimate) -> str:
    """Return the sign of a difference: +1, -1, or 0 if its interval contains 0."""
    return "+1" if of.low > 0 else "-1" if of.high < 0 else "0"


def exactly(claim: Published, ours: float, evidence: str, width: float = 0.0) -> Decision:
    """Decide a claim of the class "input or arithmetic" by a number without an interval."""
    same = by_interval(Interval(ours, ours, ours), claim.value, width, _kind(claim))
    return Decision(number(ours), same, evidence)


def holds(condition: bool, ours: object, evidence: str) -> Decision:
    """Decide a claim of the class `INPUT`: the claim is reproduced if `condition` is True."""
    text = number(ours) if isinstance(ours, float) else str(ours)
    return Decision(text, REPRODUCED if condition else CONTRADICTED, evidence)


def all_of(parts: Iterable[str]) -> str:
    """Return the verdict on a statement about all of several cases, from the verdict on each case.

    Examples
    --------
    >>> all_of(["reproduced", "open"]), all_of(["reproduced", "open", "contradicted"])
    ('open', 'contradicted')
    """
    every = set(parts)
    return next((v for v in (CONTRADICTED, OPEN) if v in every), REPRODUCED)


def every_sign(
    claim: Published, by_case: Mapping[str, Estimate], least: float, evidence: str
) -> Decision:
    """Decide a claim that a difference has the same sign in all of several cases.

    Differences of at most `least` count as no difference. They reproduce a claimed sign of 0, and
    contradict any other claimed sign.
    """
    parts = {
        case: _side(of, claim.value, least)
        if claim.value
        else by_interval(of.interval, 0, least, "sign")
        for case, of in by_case.items()
    }
    met = sum(part == REPRODUCED for part in parts.values())
    listed = "; ".join(f"{case}: {of}" for case, of in by_case.items())
    detail = (
        f"The claimed sign is reproduced in {met} of {len(by_case)} cases. Difference in each "
        f"case: {listed}."
    )
    detail += _rule(least) if claim.value else ""
    verdict = all_of(parts.values())
    return Decision(f"{met} of {len(by_case)}", verdict, _sentences(evidence, detail))


def not_testable(reason: str) -> Decision:
    """Return the verdict "not testable", with the reason why no simulation can decide the claim."""
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
    rule = (
        "Rule: our whole interval lies within the tolerance around the published number "
        f"({tolerance.about})."
    )
    if tolerance is EXACT:
        rule = "Rule: both bounds of our interval equal the published number."
        if _kind(claim) != "number":
            rule = "Rule: our whole interval lies within the published bound."
    if tolerance.single_run:
        rule = (
            "Rule: the interval of our median lies within the tolerance around the published "
            f"number ({tolerance.about}), or, because the published number comes from a single "
            "run, within the spread of our single runs"
            + (f" ({spread.statistic}: {spread})." if spread is not None and spread.n else ".")
        )
    return Decision(str(ours), verdict, _sentences(evidence, rule), ours)


def _sentences(*parts: str) -> str:
    return " ".join(part.strip() for part in parts if part.strip())
