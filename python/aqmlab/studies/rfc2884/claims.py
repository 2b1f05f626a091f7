"""Functions that decide the claims of the memo from the runs.

The published numbers are means of ten tests. The verdict compares the 95 % confidence interval of
our mean with the published mean, plus or minus five percentage points. A claim that one value is
larger than another is decided if the interval of our difference does not contain 0. A difference of
gains that lies within the same five points counts as no difference.
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
from aqmlab.studies.rfc2884 import bulk, fairness, recovery, transactions, tuned
from aqmlab.studies.rfc2884.frozen import APART
from aqmlab.studies.rfc2884.gains import POINTS, absolute, both, gain, percent
from aqmlab.studies.rfc2884.outcomes import JAIN, Outcome
from aqmlab.studies.rfc2884.scenarios import (
    HIGH,
    LEVELS,
    LOW,
    MAXP,
    MODERATE,
    NEWRENO,
    RENO,
    SACK,
    Setting,
)

CLAIMS = Claims(Path(__file__).parent / "published" / "claims.csv", APART)
RATE = Tolerance.larger_of(0, 0.1)
DIGIT = Tolerance.of("0.05 per second, half of the last printed digit of a rate", 0.05)
LEAST = POINTS.width(0)
"""Smallest difference of gains that matters, in percentage points: the tolerance of a gain."""
QUARTER = 0.25
"""Share of the mean gain with Reno up to which another TCP makes "hardly any difference"."""
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


STILL = {"R2-040": NEWRENO, "R2-041": SACK}


@CLAIMS.decides(*STILL, items=["bulk"])
def ecn_still_gains_in_bulk(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the gains of a newer TCP in the settings with published gains."""
    tcp = STILL[claim.id]
    return _every(runs, claim, [bulk.setting(*at, tcp) for at in bulk.STATED], tcp)


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
    least = LEAST if values is percent else 0.0
    return direction(claim, [y - x for x, y in zip(a[:n], b[:n], strict=True)], text, least)


@CLAIMS.decides("R2-024", items=["bulk"])
def absolute_advantage_falls(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the change of the absolute advantage from low to high congestion."""
    ends = bulk.setting(LOW, 0.1), bulk.setting(HIGH, 0.1)
    return _change(runs, claim, *ends, absolute)


@CLAIMS.decides("R2-044", items=["transactions"])
def absolute_gain_does_not_grow(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the change of the absolute gain from moderate to high congestion."""
    first, last = (absolute(runs, transactions.setting(n, 0.1)) for n in (MODERATE, HIGH))
    text = (
        f"The gain changes from {number(float(np.mean(first)))} to "
        f"{number(float(np.mean(last)))} transactions per second."
    )
    return estimated(claim, estimates.difference(last, first), DIGIT, text)


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
    return _between(runs, claim, [bulk.setting(*at) for at in bulk.STATED],
                    [bulk.setting(*at, SACK) for at in bulk.STATED])  # fmt: skip


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
    return direction(claim, [y - x for x, y in zip(a, b, strict=True)], text, LEAST)


NEWER = {"R2-027": SACK, "R2-042": NEWRENO}


@CLAIMS.decides(*NEWER, items=["transactions"])
def as_reno_in_transactions(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the mean gain with a newer TCP minus the mean gain with Reno.

    Differences up to a quarter of the mean gain with Reno count as hardly any difference, so that
    the claim is as hard to meet with small gains as with large gains.
    """
    tcp = NEWER[claim.id]
    keys = [key[1:] for key in transactions.PRINTED if key[0] == RENO]
    reno, newer = (
        _means(runs, [transactions.setting(*key, one) for key in keys]) for one in (RENO, tcp)
    )
    usual = float(np.mean(reno))
    text = (
        f"Mean gain with {tcp} minus mean gain with Reno, in percentage points. The mean gain with "
        f"Reno is {number(usual)} %, and a quarter of it is {number(QUARTER * usual)} points."
    )
    return none(claim, estimates.difference(newer, reno), QUARTER * usual, text)


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


@CLAIMS.decides("R2-043", items=AGAIN)
def no_multiple_drops(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the mean share of windows with several drops, over all settings."""

    def shares(of: Runs) -> dict[Setting, float]:
        by_setting = {}
        for at in bulk.grid(RENO):
            ran: list[Outcome] = of.of(at)
            several, windows = sum(r.off.several for r in ran), sum(r.off.windows for r in ran)
            absent = f"no segment was dropped with {at.congesting} flows and maxp {at.maxp:g}"
            by_setting[at] = 100 * ratio(several, windows, absent)
        return by_setting

    every = shares(runs)
    most = max(every, key=lambda at: every[at])
    others = [share for at, share in every.items() if at != most]
    text = (
        "Share of the windows with a drop that have at least two drops, mean of all settings. "
        f"Maximum: {number(every[most])} % ({LEVELS[most.congesting]} congestion, maxp "
        f"{most.maxp:g}). Other settings: {number(min(others))} to {number(max(others))} %."
    )
    return whole(claim, runs, lambda of: float(np.mean(list(shares(of).values()))), EXACT, text)


@CLAIMS.decides("R2-046", items=AGAIN)
def timeouts_are_avoided(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the timeouts of ECN flows in % of the timeouts of non-ECN flows.

    The settings exclude the memo's exception: high congestion and maxp 0.02.
    """
    excepted = bulk.setting(HIGH, MAXP[0])
    settings = [at for at in bulk.grid(RENO) if at != excepted]

    def share(of: Runs, chosen: Sequence[Setting]) -> float:
        ran: list[Outcome] = [run for at in chosen for run in of.of(at)]
        on, off = sum(run.on.timeouts for run in ran), sum(run.off.timeouts for run in ran)
        return 100 * ratio(on, off, "no flow without ECN had a timeout")

    text = f"At the memo's exception, the share is {number(share(runs, [excepted]))} %."
    return whole(claim, runs, lambda of: share(of, settings), EXACT, text)


@CLAIMS.decides("R2-045", items=["transactions"])
def always_a_timeout(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the fast retransmits of the server for the client without ECN."""
    ran: list[Outcome] = [r for at in transactions.grid(RENO) for r in runs.of(at)]
    fast, timeouts = sum(r.off.fast for r in ran), sum(r.off.timeouts for r in ran)
    text = f"Timeouts of the server for the client without ECN: {timeouts}."
    return exactly(claim, fast, text)


@CLAIMS.decides("R2-047", items=["transactions"])
def ecn_avoids_timeouts(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the timeouts per transaction, of the server and the client together."""

    def rates(at: Setting, which: str) -> list[float]:
        flows = [getattr(run, which) for run in runs.of(at)]
        return [(f.timeouts + f.client_timeouts) / f.transactions for f in flows]

    settings = [transactions.setting(congesting, 0.1) for congesting in LEVELS]
    apart = {
        f"{LEVELS[at.congesting]} congestion": estimates.difference(
            rates(at, "on"), rates(at, "off")
        )
        for at in settings
    }
    text = "Timeouts per transaction with ECN minus those without ECN, of both hosts together."
    return every_sign(claim, apart, 0, text)


@CLAIMS.decides("R2-048", items=["untuned"])
def more_flows_exceed_maxth(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the share of time above maxth with 10 flows minus that with 2 flows."""
    few, many = tuned.above(runs, LOW), tuned.above(runs, HIGH)
    text = "Share of time of RED's average above maxth, in percentage points."
    return direction(claim, [b - a for a, b in zip(few, many, strict=True)], text)


@CLAIMS.decides("R2-049", items=["untuned"])
def exceeds_maxth_most_of_the_time(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the share of time above maxth with 10 flows."""
    most = tuned.MANY[-1]
    text = f"With {most} flows the share is {estimates.mean(tuned.above(runs, most))} %."
    return estimated(claim, estimates.mean(tuned.above(runs, HIGH)), EXACT, text)


@CLAIMS.decides("R2-050", items=["untuned"])
def advantage_diminishes_without_tuning(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the gain without tuned thresholds minus the gain with them."""
    usual = bulk.setting(HIGH, MAXP[0])
    return _change(runs, claim, usual, tuned.UNTUNED_BULK)
