"""Functions that decide the claims of the memo from the runs.

The published numbers are means of ten tests. The verdict compares the 95 % confidence interval of
our mean with the published mean, plus or minus five percentage points. A claim that one value is
larger than another is decided if the interval of our difference does not contain 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from aqmlab import estimates
from aqmlab.estimates import number
from aqmlab.studies.framework import Claims, Decision, Published, Runs, Tolerance, ratio
from aqmlab.studies.framework.claims import (
    EXACT,
    direction,
    estimated,
    every_sign,
    exactly,
    none,
    whole,
)
from aqmlab.studies.rfc2884 import bulk, fairness, recovery, transactions
from aqmlab.studies.rfc2884.frozen import APART
from aqmlab.studies.rfc2884.gains import POINTS, absolute, both, gain, percent
from aqmlab.studies.rfc2884.outcomes import JAIN, Outcome
from aqmlab.studies.rfc2884.scenarios import (
    HIGH,
    LEVELS,
    LOW,
    MAXP,
    MODERATE,
    RENO,
    SACK,
    Setting,
)

CLAIMS = Claims(Path(__file__).parent / "published" / "claims.csv", APART)
RATE = Tolerance.larger_of(0, 0.1)
AGAIN = ["bulk", "retransmissions"]


def _gains(claim: Published, runs: Runs, at: Setting, unit: str) -> Decision:
    on, off = (float(np.mean(values)) for values in both(runs, at))
    text = (
        f"Mean with ECN: {number(on)} {unit}. Mean without ECN: {number(off)} {unit}. "
        f"Replications: {len(runs.of(at))}."
    )
    return estimated(claim, gain(runs, at), POINTS, text)


BULK = {
    "R2-001": (LOW, 0.1, RENO), "R2-002": (HIGH, 0.1, RENO),
    "R2-003": (HIGH, 0.02, RENO), "R2-004": (HIGH, 0.5, RENO),
    "R2-005": (LOW, 0.1, SACK), "R2-006": (HIGH, 0.1, SACK),
    "R2-007": (HIGH, 0.02, SACK), "R2-008": (HIGH, 0.5, SACK),
}  # fmt: skip
SHORT = {
    "R2-009": (MODERATE, 0.1, RENO), "R2-010": (HIGH, 0.1, RENO),
    "R2-013": (HIGH, 0.02, RENO), "R2-014": (HIGH, 0.5, RENO),
    "R2-015": (MODERATE, 0.1, SACK), "R2-016": (HIGH, 0.1, SACK),
    "R2-017": (HIGH, 0.02, SACK), "R2-018": (HIGH, 0.5, SACK),
}  # fmt: skip


@CLAIMS.decides(*BULK, items=["bulk"])
def bulk_advantage(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the mean relative advantage of a bulk transfer."""
    return _gains(claim, runs, bulk.setting(*BULK[claim.id]), "kbit/s")


@CLAIMS.decides(*SHORT, items=["transactions"])
def transactional_gain(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the mean relative gain of small transactions."""
    return _gains(claim, runs, transactions.setting(*SHORT[claim.id]), "per second")


@CLAIMS.decides("R2-011", "R2-012", items=["transactions"])
def transaction_rate(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the ECN client's transaction rate at the lowest (or highest) maxp."""
    at = transactions.setting(HIGH, MAXP[0] if claim.id == "R2-011" else MAXP[-1])
    on, off = both(runs, at)
    text = (
        "Our number is the rate of the client with ECN. The client without ECN has a rate of "
        f"{number(float(np.mean(off)))} per second."
    )
    return estimated(claim, estimates.mean(on), RATE, text)


@CLAIMS.decides("R2-019", items=["recovery"])
def outstanding_packets(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the smallest window in which Reno recovers without a timeout."""
    ours = recovery.least_window(runs)
    text = "Minimum number of outstanding packets with which a loss does not cause a timeout."
    return exactly(claim, ours, text)


@CLAIMS.decides("R2-020", items=["transactions"])
def packets_of_5_kb(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the number of new segments that the server sends per 5 KB transaction."""
    ran: list[Outcome] = runs.of(transactions.setting(LOW, 0.1))
    sent = [(r.on.segments - r.on.resent) / r.on.transactions for r in ran]
    text = f"New segments with data per transaction: {number(float(np.mean(sent)))}."
    return exactly(claim, round(float(np.mean(sent))), text)


@CLAIMS.decides("R2-021", items=["marks-and-drops"])
def drops_equal_marks(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the ratio of drops to marks that differs most from 1, with four flows."""
    ratios = fairness.ratios(runs)
    tested = {maxp: v for (n, maxp), v in ratios.items() if n == LOW and maxp in fairness.RATES}
    furthest = max(tested, key=lambda maxp: abs(float(np.mean(tested[maxp])) - 1))
    ends = ", ".join(
        f"{n + 2} flows, maxp {maxp:g}: {np.mean(values):.2f}"
        for (n, maxp), values in ratios.items()
        if maxp in (MAXP[0], MAXP[-1])
    )
    text = (
        f"Our number is the ratio of drops to marks with four flows and maxp {furthest:g}, which "
        f"differs most from 1 of {len(tested)} ratios. Other ratios of drops to marks: {ends}. "
        "The probability of a drop for a packet of a non-ECN flow equals the probability of a "
        f"mark or drop for a packet of an ECN flow within {100 * fairness.chances(runs):.0f} % in "
        "every setting. ECN flows have more marks, because they send more packets."
    )
    return estimated(claim, estimates.mean(tested[furthest]), fairness.ALIKE, text)


@CLAIMS.decides("R2-022", items=["fairness"])
def smallest_index(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by our index for the published cell; the evidence has our smallest index."""
    cells = {key: fairness.index(runs, *key) for key in fairness.printed()}
    least = min(cells, key=lambda key: cells[key].ours.value)
    where = f"{fairness.NAMES[least[0]]} background, maxp {least[1]:g}"
    text = f"Our smallest index is {number(cells[least].ours.value)}, with {where}."
    return estimated(claim, cells["all", 0.2].ours, fairness.INDEX, text)


@CLAIMS.decides("R2-039", items=["fairness"])
def background_does_not_matter(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the difference between the kinds of background flows, at every maxp."""

    def index(background: str, maxp: float) -> list[float]:
        return [JAIN.of(run) for run in runs.of(fairness.setting(background, maxp))]

    apart = {
        f"maxp {maxp:g}": estimates.difference(index("all", maxp), index("none", maxp))
        for maxp in fairness.RATES
    }
    width = fairness.INDEX.width(0)
    text = (
        "Fairness index with ECN in the background minus the index without ECN in the background. "
        f"Rule: a difference of at most {width:g} counts as no difference."
    )
    return every_sign(claim, apart, width, text)


def _every(runs: Runs, claim: Published, settings: Sequence[Setting], about: str) -> Decision:
    """Decide a claim that ECN gains in all settings: the intervals of all gains are above 0."""
    gains = {f"{LEVELS[at.congesting]}, maxp {at.maxp:g}": gain(runs, at) for at in settings}
    return every_sign(claim, gains, 0, f"Gains of ECN in %, with {about}.")


@CLAIMS.decides("R2-023", items=["bulk"])
def ecn_gains_in_bulk(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the gains at every level of congestion and every maxp, with Reno."""
    return _every(
        runs, claim, bulk.grid(RENO), "Reno, all levels of congestion and all maximum drop rates"
    )


@CLAIMS.decides("R2-038", items=["transactions"])
def ecn_gains_in_transactions(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the gains of transactions at every level of congestion."""
    settings = [transactions.setting(congesting, 0.1) for congesting in LEVELS]
    return _every(runs, claim, settings, "5 KB, Reno, maxp 0.1")


Values = Callable[[Runs, Setting], list[float]]


def _change(
    runs: Runs, claim: Published, first: Setting, last: Setting, values: Values = percent
) -> Decision:
    """Decide the claim by the paired change of a gain from one setting to another."""
    a, b = values(runs, first), values(runs, last)
    n = min(len(a), len(b))
    unit = "percentage points" if values is percent else "kbit/s"
    text = (
        f"The mean changes from {number(float(np.mean(a)))} to {number(float(np.mean(b)))} {unit}."
    )
    return direction(claim, [y - x for x, y in zip(a[:n], b[:n], strict=True)], text)


@CLAIMS.decides("R2-024", items=["bulk"])
def absolute_advantage_falls(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the change of the absolute advantage from low to high congestion."""
    ends = bulk.setting(LOW, 0.1), bulk.setting(HIGH, 0.1)
    return _change(runs, claim, *ends, absolute)


@CLAIMS.decides("R2-025", items=["transactions"])
def advantage_falls_with_size(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the gain of 20 KB transactions minus the gain of 5 KB transactions.

    Each gain is measured with Reno at high congestion.
    """
    return _change(
        runs, claim, transactions.setting(HIGH, 0.1), transactions.setting(HIGH, 0.1, RENO, 20)
    )


@CLAIMS.decides("R2-026", items=["bulk"])
def sack_gains_less(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the mean gain with SACK minus the mean gain with Reno."""
    pairs = [(n, maxp) for tcp, n, maxp in bulk.PRINTED if tcp == RENO]
    return _between(runs, claim, [bulk.setting(*at) for at in pairs],
                    [bulk.setting(*at, SACK) for at in pairs])  # fmt: skip


def _means(runs: Runs, settings: Sequence[Setting]) -> list[float]:
    """Return the mean gain from ECN over several settings, one number per replication."""
    return [float(np.mean(g)) for g in zip(*(percent(runs, at) for at in settings), strict=False)]


def _between(
    runs: Runs, claim: Published, reno: Sequence[Setting], sack: Sequence[Setting]
) -> Decision:
    a, b = _means(runs, reno), _means(runs, sack)
    text = (
        f"Mean gain over the settings with published numbers: {number(float(np.mean(a)))} % with "
        f"Reno, {number(float(np.mean(b)))} % with SACK."
    )
    return direction(claim, [y - x for x, y in zip(a, b, strict=True)], text)


@CLAIMS.decides("R2-027", items=["transactions"])
def sack_as_reno_in_transactions(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the mean gain with SACK minus the mean gain with Reno."""
    keys = [key[1:] for key in transactions.PRINTED if key[0] == RENO]
    reno, sack = (
        _means(runs, [transactions.setting(*key, tcp) for key in keys]) for tcp in (RENO, SACK)
    )
    apart = estimates.difference(sack, reno)
    return none(
        claim,
        apart,
        POINTS.width(0),
        "Mean gain with SACK minus mean gain with Reno, in percentage points.",
    )


GROWTH: dict[str, tuple[list[str], Setting, Setting]] = {
    "R2-028": (["bulk"], bulk.setting(LOW, 0.1), bulk.setting(HIGH, 0.1)),
    "R2-029": (["bulk"], bulk.setting(HIGH, 0.02), bulk.setting(HIGH, 0.5)),
    "R2-032": (["bulk"], bulk.setting(LOW, 0.1, SACK), bulk.setting(HIGH, 0.1, SACK)),
    "R2-033": (["bulk"], bulk.setting(HIGH, 0.02, SACK), bulk.setting(HIGH, 0.5, SACK)),
    "R2-034": (["transactions"], transactions.setting(MODERATE, 0.1),
               transactions.setting(HIGH, 0.1)),
    "R2-035": (["transactions"], transactions.setting(HIGH, 0.02), transactions.setting(HIGH, 0.5)),
    "R2-036": (["transactions"], transactions.setting(MODERATE, 0.1, SACK),
               transactions.setting(HIGH, 0.1, SACK)),
    "R2-037": (["transactions"], transactions.setting(HIGH, 0.02, SACK),
               transactions.setting(HIGH, 0.5, SACK)),
}  # fmt: skip


def _register(claim_id: str, items: list[str], first: Setting, last: Setting) -> None:
    def grows(runs: Runs, claim: Published) -> Decision:
        return _change(runs, claim, first, last)

    CLAIMS.decides(claim_id, items=items)(grows)


for _id, _row in GROWTH.items():
    _register(_id, *_row)


def _resent(run: Outcome) -> float:
    return 100 * run.on.resent / run.on.segments


@CLAIMS.decides("R2-030", items=AGAIN)
def hardly_any_retransmissions(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the highest share of retransmissions of all settings but one.

    The memo names the excluded setting as an exception: high congestion and maxp 0.02.
    """
    shares = {at: estimates.mean(map(_resent, runs.of(at))) for at in bulk.grid(RENO)}
    excepted = bulk.setting(HIGH, MAXP[0])
    there = shares.pop(excepted)
    most = max(shares, key=lambda at: shares[at].value)
    # The bounds of the interval are the highest lower bound and the highest upper bound of all
    # settings.
    ours = replace(
        shares[most],
        low=max(of.low for of in shares.values()),
        high=max(of.high for of in shares.values()),
    )
    text = (
        f"The share of retransmissions is highest at {LEVELS[most.congesting]} congestion and "
        f"maxp {most.maxp:g}. At the memo's exception, high congestion and maxp {MAXP[0]:g}, the "
        f"share is {there} %."
    )
    return estimated(claim, ours, EXACT, text)


@CLAIMS.decides("R2-031", items=AGAIN)
def hardly_any_timeouts(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the share of retransmissions by timeout, counted as in the memo."""

    def shares(of: Runs) -> dict[Setting, float]:
        by_setting = {}
        for at in bulk.grid(RENO):
            ran: list[Outcome] = of.of(at)
            resent, fast = sum(r.off.resent for r in ran), sum(r.off.fast for r in ran)
            none = f"no segment was retransmitted with {at.congesting} flows and maxp {at.maxp:g}"
            by_setting[at] = 100 * (1 - ratio(fast, resent, none))
        return by_setting

    every = shares(runs)
    least, most = (f(every, key=lambda at: every[at]) for f in (min, max))
    text = "; ".join(
        f"{about}: {number(every[at])} % ({LEVELS[at.congesting]} congestion, maxp {at.maxp:g})"
        for about, at in (("minimum", least), ("maximum", most))
    )
    return whole(
        claim, runs, lambda of: float(np.mean(list(shares(of).values()))), EXACT,
        f"{text.capitalize()}.",
    )  # fmt: skip
