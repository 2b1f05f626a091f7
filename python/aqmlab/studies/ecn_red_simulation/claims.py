"""Functions that decide the 34 claims of the study from pairs of runs in both networks.

The study averages five runs, and calls a pair different if ECN changes its goodput by more than
about 3 %. The functions in this module also call a pair different if goodput changes by more than
about 3 %. Many claims are numbers of pairs that meet a condition. The 95 % interval of a pair can
meet a condition wholly, partly or not at all. The lower bound of our number counts the pairs whose
interval wholly meets the condition. The upper bound of our number also counts the pairs whose
interval partly meets the condition. The tolerance of a number of pairs is one pair, or 10 % if that
is more. “Most cases” means more than half of the pairs, by Wilson's interval of their share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from aqmlab import estimates
from aqmlab.estimates import Estimate, digits, number
from aqmlab.measures import Measure
from aqmlab.statistics import Interval
from aqmlab.studies.ecn_red_simulation import pairs
from aqmlab.studies.ecn_red_simulation.frozen import APART
from aqmlab.studies.ecn_red_simulation.pairs import Gain, gains
from aqmlab.studies.ecn_red_simulation.ratios import losses, share
from aqmlab.studies.ecn_red_simulation.scenarios import (
    ECN,
    HEAD,
    MULTIPLE,
    OFF,
    SINGLE,
    Case,
    Setting,
)
from aqmlab.studies.ecn_red_simulation.tallies import (
    DROPS,
    GOODPUT,
    MARKS,
    QUEUE,
    SIGNALS,
    UTILIZATION,
    Tally,
)
from aqmlab.studies.framework import (
    Claims,
    Decision,
    Published,
    Runs,
    Tolerance,
    UndecidableError,
)
from aqmlab.studies.framework.claims import (
    EXACT,
    direction,
    estimated,
    every_sign,
    exactly,
    most,
)
from aqmlab.studies.framework.verdicts import CONTRADICTED, OPEN, REPRODUCED

CLAIMS = Claims(Path(__file__).parent / "published" / "claims.csv", APART)
FOUR, SIX, HEADS = ["figure-4"], ["figure-6"], ["head-marking"]

DIFFERS = 3.0
"""Change of goodput in % above which the study calls a pair different: “around 3 %”."""
AROUND = 0.5
"""Tolerance of “around 3 %” on either side, in percentage points."""
PAIRS = 13
"""Published number of pairs with a goodput change above the threshold."""


COUNT = Tolerance.larger_of(1, 0.10, "pair")
PERCENT = Tolerance.of(f"{AROUND:g} percentage points (“around”)", AROUND)


def _size(gain: Gain) -> Interval:
    """Return the interval of the absolute difference of goodput, in %."""
    low, middle, high = gain.percent
    least = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    return Interval(least, abs(middle), max(abs(low), abs(high)))


def _is(gain: Gain, least: float) -> tuple[bool, bool]:
    """Return two flags for the change of a pair's goodput in percent.

    The first flag is True if the whole 95 % interval of the change is above `least`. The second
    flag is True if a part of the interval is above `least`.
    """
    size = _size(gain)
    return size.low > least, size.high > least


def _counted(known: Iterable[tuple[bool, bool]], middle: float) -> Estimate:
    """Return a number of pairs with its bounds, from two flags for each pair.

    The lower bound counts the pairs whose first flag is True. The upper bound counts the pairs
    whose second flag is True.
    """
    every = list(known)
    low, high = (float(sum(of[i] for of in every)) for i in (0, 1))
    return Estimate("pairs, surely to possibly", middle, low, high, max(len(every), 1))


def large(all_gains: Iterable[Gain], least: float = DIFFERS) -> list[Gain]:
    """Return the pairs whose mean goodput differs by more than `least` percent."""
    return [g for g in all_gains if abs(g.percent.middle) > least]


def _largest(all_gains: Sequence[Gain]) -> str:
    most = max(all_gains, key=lambda g: abs(g.percent.middle))
    low, middle, high = digits(most.percent)
    return f"Largest change of goodput in {len(all_gains)} pairs: {middle} % [{low} to {high}]."


@CLAIMS.decides("ES-001", items=FOUR)
def tests_run(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the number of simulated settings with one congested link."""
    settings = [need.setting for need in pairs.needs(SINGLE, (OFF, ECN))]
    run = len({setting for setting in settings if runs.has(setting)})
    return exactly(claim, run, "Number of settings that were run, with ECN and without ECN.")


@CLAIMS.decides("ES-002", items=FOUR)
def pairs_compared(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the number of pairs of runs that were compared."""
    compared = len(gains(runs, SINGLE, GOODPUT))
    return exactly(claim, compared, "Number of pairs that were run with ECN and without ECN.")


@CLAIMS.decides("ES-003", "ES-004", "ES-005", items=FOUR)
def meaning_of_ratios(_: Runs, claim: Published) -> Decision:
    """Decide the claim by the ratio ECN / (ECN + non-ECN) for an increase of 0, 10 or 20 %."""
    percent = {"ES-003": 0, "ES-004": 10, "ES-005": 20}[claim.id]
    ours = share(percent)
    return exactly(
        claim,
        ours,
        f"An increase of {percent} % (x) corresponds to a ratio of (1 + x)/(2 + x).",
        0.0005,
    )


@CLAIMS.decides("ES-006", items=FOUR)
def pairs_that_differ(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the number of pairs with a goodput change above 3 %."""
    all_gains = gains(runs, SINGLE, GOODPUT)
    sure = sum(_is(g, DIFFERS + AROUND)[0] for g in all_gains)
    maybe = sum(_is(g, DIFFERS - AROUND)[1] for g in all_gains)
    count = len(large(all_gains))
    ours = Estimate("pairs, surely to possibly", count, min(sure, count), maybe, len(all_gains))
    text = (
        "The lower bound is the number of pairs whose goodput certainly changes by more than 3.5 "
        "%. The upper bound is the number of pairs whose goodput possibly changes by more than 2.5 "
        f"%. {_largest(all_gains)}"
    )
    return estimated(claim, ours, COUNT, text)


@CLAIMS.decides("ES-007", items=FOUR)
def threshold(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the 13th largest change of goodput.

    In the study, the goodput of 13 pairs changes by more than the threshold.
    """
    by_size = sorted(gains(runs, SINGLE, GOODPUT), key=lambda g: -abs(g.percent.middle))
    if len(by_size) < PAIRS:
        return Decision("none", OPEN, f"Only {len(by_size)} pairs were run, fewer than {PAIRS}.")
    low, middle, high = _size(by_size[PAIRS - 1])
    ours = Estimate("mean, 95 % confidence", middle, low, high, len(by_size))
    return estimated(
        claim, ours, PERCENT, f"Our number is the {PAIRS}th largest change of goodput."
    )


def _of_large(
    runs: Runs, claim: Published, what: str, test: Callable[[Gain], bool], printed: float
) -> Decision:
    """Decide the claim by the number of pairs of one kind with a goodput change above 3 %."""
    all_gains = gains(runs, SINGLE, GOODPUT)
    differ = large(all_gains)
    possible = sum(_is(g, DIFFERS)[1] for g in all_gains)
    count = sum(map(test, differ))
    first = sorted(all_gains, key=lambda g: -abs(g.percent.middle))[:PAIRS]
    text = (
        f"{what}: {count} of the {len(differ)} pairs whose goodput changes by more than 3 %, and "
        f"{sum(map(test, first))} of the {PAIRS} pairs with the largest changes. The goodput of "
        f"{possible} pairs possibly changes by more than 3 %. {_largest(all_gains)}"
    )
    ours_text = f"{count} of {len(differ)}"
    if not possible:
        return Decision(
            ours_text,
            CONTRADICTED,
            f"{text} No 95 % interval contains a value that meets the condition.",
        )
    if not any(_is(g, DIFFERS)[0] for g in all_gains):
        return Decision(
            ours_text,
            OPEN,
            f"{text} No 95 % interval contains only values that meet the condition.",
        )
    ours = _counted((_is(g, DIFFERS) for g in all_gains if test(g)), count)
    decided = estimated(replace(claim, value=printed), ours, EXACT, text)
    return replace(decided, ours=ours_text)


@CLAIMS.decides("ES-008", items=FOUR)
def bulk_among_them(runs: Runs, claim: Published) -> Decision:
    """Decide the claim that goodput changes by more than 3 % only in pairs with bulk transfers."""
    return _of_large(runs, claim, "Transactional", lambda g: not g.case.bulk, 0)


@CLAIMS.decides("ES-009", items=FOUR)
def not_twelve_sessions(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the pairs with six sessions whose goodput changes by more than 3 %."""
    what = "Six sessions per pair of nodes"
    return _of_large(runs, claim, what, lambda g: g.case.sessions != 12, claim.value)


@CLAIMS.decides("ES-010", items=FOUR)
def with_cbr(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the pairs with CBR traffic whose goodput changes by more than 3 %."""
    return _of_large(runs, claim, "With CBR traffic", lambda g: g.case.cbr_share > 0, claim.value)


def _side(runs: Runs, claim: Published, *, gain: bool, maxth: float, printed: float) -> Decision:
    """Decide the claim by the pairs whose goodput ECN raises, or lowers, by more than 3 %.

    The verdict compares `printed` with the number of the pairs whose maxth is not `maxth`.
    """
    sign, outcome = (1, "ECN gains") if gain else (-1, "ECN loses")
    all_gains = gains(runs, SINGLE, GOODPUT)

    def beyond(g: Gain) -> tuple[bool, bool]:
        low, high = sorted((sign * g.percent.low, sign * g.percent.high))
        return low > DIFFERS, high > DIFFERS

    chosen = [g for g in all_gains if sign * g.percent.middle > DIFFERS]
    counts = ", ".join(f"maxth {m}: {sum(g.case.maxth == m for g in chosen)}" for m in (60, 120))
    known = {g: beyond(g) for g in all_gains}
    sure, maybe = (sum(of[i] for of in known.values()) for i in (0, 1))
    text = (
        f"{outcome} more than 3 % of goodput in {len(chosen)} pairs ({counts}), certainly in "
        f"{sure} and possibly in {maybe} pairs. {_largest(all_gains)}"
    )
    ours_text = _maxths(chosen)
    if not maybe:
        return Decision(
            ours_text,
            CONTRADICTED,
            f"{text} No 95 % interval contains a value that meets the condition.",
        )
    if not sure:
        return Decision(
            ours_text,
            OPEN,
            f"{text} No 95 % interval contains only values that meet the condition.",
        )
    others = sum(g.case.maxth != maxth for g in chosen)
    ours = _counted((of for g, of in known.items() if g.case.maxth != maxth), others)
    decided = estimated(replace(claim, value=printed), ours, EXACT, text)
    return replace(decided, ours=ours_text)


@CLAIMS.decides("ES-011", items=FOUR)
def maxth_of_losers(runs: Runs, claim: Published) -> Decision:
    """Decide the claim that all pairs whose goodput ECN lowers have the published maxth."""
    return _side(runs, claim, gain=False, maxth=claim.value, printed=0)


@CLAIMS.decides("ES-012", items=FOUR)
def maxth_of_winners(runs: Runs, claim: Published) -> Decision:
    """Decide the claim that at most one pair with a gain does not have the published maxth."""
    bound = replace(claim, qualifier="upper_bound")
    return _side(runs, bound, gain=True, maxth=claim.value, printed=1)


def _maxths(chosen: list[Gain]) -> str:
    return ", ".join(str(maxth) for maxth in sorted({g.case.maxth for g in chosen})) or "none"


@CLAIMS.decides("ES-013", items=FOUR)
def exceptions(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the number of pairs whose goodput ECN raises and whose maxth is 120."""
    return _side(runs, claim, gain=True, maxth=60, printed=claim.value)


@CLAIMS.decides("ES-014", items=FOUR)
def best_case(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by maxth of the pair with the largest gain."""
    all_gains = gains(runs, SINGLE, GOODPUT)
    best, other = (
        max(
            (g for g in all_gains if same == (g.case.maxth == claim.value)),
            default=None,
            key=_middle,
        )
        for same in (True, False)
    )
    if best is None or other is None:
        return Decision("none", OPEN, "The runs have only one value of maxth.")
    # The two pairs of runs are assumed to be independent, so the variances of their means are
    # added.
    lead = best.percent.middle - other.percent.middle
    half = math.hypot(*((g.percent.high - g.percent.low) / 2 for g in (best, other)))
    ours = Estimate("lead, 95 % confidence", lead, lead - half, lead + half, 2)
    text = (
        f"Largest gain with maxth {claim.value:g}: {number(best.percent.middle)} % ({best.case}). "
        f"Largest gain with a maxth other than {claim.value:g}: {number(other.percent.middle)} % "
        f"({other.case})."
    )
    winner = best if lead > 0 else other
    lead_of = {"Lead in percentage points": ours}
    decided = every_sign(replace(claim, value=1), lead_of, DIFFERS, text)
    return replace(decided, ours=str(winner.case.maxth))


def _middle(gain: Gain) -> float:
    return gain.percent.middle


@CLAIMS.decides("ES-015", "ES-016", items=SIX)
def bulk_of_three_links(runs: Runs, claim: Published) -> Decision:
    """Decide ES-015 by the smallest and ES-016 by the largest noticeable change of goodput.

    The study claims that ECN changes the goodput of a few bulk transfers by 5 to 10 %. We define
    “few” as at most one in eight.
    """
    bulk = [g for g in gains(runs, MULTIPLE, GOODPUT) if g.case.bulk]
    least = 5 - AROUND
    sure, maybe = (sum(_is(g, least)[i] for g in bulk) for i in (0, 1))
    text = (
        f"The goodput of {sure} of {len(bulk)} pairs with bulk transfers certainly changes by "
        f"{least:g} % or more, and that of {maybe} pairs possibly. Rule: “few” means at most one "
        f"in eight. {_largest(bulk)}"
    )
    by_size = sorted(bulk, key=lambda g: -abs(g.percent.middle))
    noticeable = [g for g in by_size if abs(g.percent.middle) > least] or by_size[:1]
    low, middle, high = _size(noticeable[-1] if claim.id == "ES-015" else noticeable[0])
    if not maybe or sure > len(bulk) / 8:
        return Decision(number(middle), CONTRADICTED, text)
    ours = Estimate("mean, 95 % confidence", middle, low, high, len(bulk))
    decided = estimated(claim, ours, PERCENT, text)
    few = maybe <= len(bulk) / 8
    return decided if few or decided.verdict != REPRODUCED else replace(decided, verdict=OPEN)


def _count(claim: Published, chosen: list[Gain], about: str) -> Decision:
    """Decide a claim about the number of pairs in which ECN increases a measure."""
    more = sum(g.difference.value > 0 for g in chosen)
    ours = _counted(((g.difference.low > 0, g.difference.high > 0) for g in chosen), more)
    return estimated(claim, ours, COUNT, f"{about}: {more} of {len(chosen)}.")


@CLAIMS.decides("ES-017", "ES-018", items=SIX)
def more_signals(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the number of pairs (or bulk transfers) with more drops and marks."""
    all_gains = list(gains(runs, MULTIPLE, SIGNALS))
    if claim.id == "ES-017":
        return _count(claim, all_gains, "Pairs with more drops and marks with ECN")
    return _count(
        claim,
        [g for g in all_gains if g.case.bulk],
        "Pairs of bulk transfers with more drops and marks with ECN",
    )


@CLAIMS.decides("ES-019", items=["causes"])
def full_links(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the utilization of the observed link without ECN."""
    settings = [Setting(n, case, OFF) for n in (SINGLE, MULTIPLE) for case in pairs.ALL]
    used = [
        UTILIZATION.scale * float(np.mean([UTILIZATION.of(run) for run in runs.of(setting)]))
        for setting in settings
        if runs.has(setting)
    ]
    near = sum(u > claim.value - 1 for u in used)
    text = (
        f"Minimum utilization of any case without ECN: {number(min(used))} %. Statement: the "
        "utilization without ECN is 99 % or more."
    )
    return most(near, len(used), number(float(np.median(used))), text)


def _mostly(
    claim: Published, chosen: list[Gain], tally: Callable[[Gain], int], about: str
) -> Decision:
    """Decide a claim by the share of node pairs whose gain has a sign (-1, 0 or 1)."""
    signs = [tally(g) for g in chosen]
    counts = {sign: signs.count(sign) for sign in (1, 0, -1)}
    sure = {
        1: sum(g.difference.low > 0 for g in chosen),
        -1: sum(g.difference.high < 0 for g in chosen),
    }
    text = (
        f"{about}: more in {counts[1]}, less in {counts[-1]}, and equal in {counts[0]} of "
        f"{len(chosen)} pairs. The 95 % interval is above 0 in {sure[1]} pairs, and below 0 in "
        f"{sure[-1]} pairs. Statement: the change of a pair has the published sign."
    )
    majority = max(counts, key=lambda sign: counts[sign])
    return most(counts[int(claim.value)], len(signs), f"{majority:+d}" if majority else "0", text)


def _sign(g: Gain) -> int:
    """Return the sign of a pair's mean difference."""
    return int(np.sign(g.difference.value))


def _differs(g: Gain) -> int:
    """Return the sign of a goodput difference, 0 for one within the study's threshold."""
    middle = g.percent.middle
    return 0 if abs(middle) <= DIFFERS else int(np.sign(middle))


DIRECTIONS: dict[str, tuple[str, Measure[Tally], str, pairs.Chosen]] = {
    "ES-020": (SINGLE, SIGNALS, "Drops and marks", lambda _: True),
    "ES-021": (SINGLE, QUEUE, "Mean queue", lambda _: True),
    "ES-022": (SINGLE, GOODPUT, "Goodput (up to 3 % counts as equal)", lambda _: True),
    "ES-023": (SINGLE, GOODPUT, "Goodput with CBR (up to 3 % counts as equal)",
               lambda case: case.cbr_share > 0),
    "ES-024": (MULTIPLE, SIGNALS, "Drops and marks, bulk", lambda case: case.bulk),
    "ES-025": (MULTIPLE, SIGNALS, "Drops and marks, transactional", lambda case: not case.bulk),
    "ES-026": (MULTIPLE, QUEUE, "Mean queue, bulk", lambda case: case.bulk),
    "ES-027": (MULTIPLE, QUEUE, "Mean queue, transactional", lambda case: not case.bulk),
    "ES-028": (MULTIPLE, GOODPUT, "Goodput (up to 3 % counts as equal)", lambda _: True),
}  # fmt: skip


@CLAIMS.decides("ES-031", items=FOUR)
def drops_dominate(runs: Runs, _: Published) -> Decision:
    """Decide the claim by the share of bulk cases that have more drops than marks with ECN."""
    bulk = [signals for case, signals in _signals(runs) if case.bulk]
    more = sum(drops > marks for drops, marks in bulk)
    both = (sum(of) for of in zip(*bulk, strict=True))
    drops, marks = (number(of / len(bulk)) for of in both)
    text = f"A bulk case has {drops} drops and {marks} marks on average."
    return most(more, len(bulk), f"{more} of {len(bulk)}", text)


@CLAIMS.decides("ES-032", items=FOUR)
def uncongested(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the number of cases in which no replication has a drop or a mark."""
    every = [
        [run.drops + run.marks for run in runs.of(Setting(SINGLE, case, arm))]
        for case in pairs.ALL
        for arm in (OFF, ECN)
        if runs.has(Setting(SINGLE, case, arm))
    ]
    ours = _counted(((max(of) == 0, min(of) == 0) for of in every), sum(not sum(o) for o in every))
    text = f"Smallest number of drops and marks of any run: {min(map(min, every))}."
    return estimated(claim, ours, EXACT, text)


@CLAIMS.decides("ES-033", "ES-034", items=FOUR)
def where_marks_dominate(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the cases that have more marks than drops with ECN."""
    chosen = {case for case, (drops, marks) in _signals(runs) if marks > drops}
    measure, tally = (GOODPUT, _differs) if claim.id == "ES-033" else (QUEUE, _sign)
    of = [g for g in gains(runs, SINGLE, measure) if g.case in chosen]
    if not of:
        raise UndecidableError("no case has more marks than drops")
    about = "Goodput (up to 3 % counts as equal)" if measure is GOODPUT else "Mean queue"
    return _mostly(claim, of, tally, f"{about}, in cases with more marks than drops")


def _signals(runs: Runs) -> list[tuple[Case, tuple[float, float]]]:
    """Return the mean numbers of drops and of marks with ECN on one link, for each case."""
    return [
        (case, (_mean(runs, case, DROPS), _mean(runs, case, MARKS)))
        for case in pairs.ALL
        if runs.has(Setting(SINGLE, case, ECN))
    ]


def _mean(runs: Runs, case: Case, measure: Measure[Tally]) -> float:
    return float(np.mean([measure.of(run) for run in runs.of(Setting(SINGLE, case, ECN))]))


def _register(
    claim_id: str, network: str, measure: Measure[Tally], about: str, chosen: pairs.Chosen
) -> None:
    def decide(runs: Runs, claim: Published) -> Decision:
        chosen_gains = [g for g in gains(runs, network, measure) if chosen(g.case)]
        return _mostly(claim, chosen_gains, _differs if measure is GOODPUT else _sign, about)

    CLAIMS.decides(claim_id, items=FOUR if network == SINGLE else SIX)(decide)


for _id, _row in DIRECTIONS.items():
    _register(_id, *_row)


@CLAIMS.decides("ES-029", items=HEADS)
def head_of_one_link(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the share of pairs whose goodput head marking changes by at most 3 %."""
    all_gains = list(gains(runs, SINGLE, GOODPUT, HEAD, ECN))
    return _mostly(
        claim,
        all_gains,
        _differs,
        "Goodput compared with plain ECN (a change of at most 3 % counts as equal)",
    )


@CLAIMS.decides("ES-030", items=HEADS)
def head_of_three_links(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the mean change of goodput over all pairs, one per replication.

    The replications are those that all settings have.
    """
    totals = {
        arm: [
            GOODPUT.scale * sum(GOODPUT.of(t) for t in ran) / len(ran)
            for ran in zip(*(runs.of(s) for s in _under(runs, arm)), strict=False)
        ]
        for arm in (ECN, HEAD)
    }
    differences = [head - ecn for head, ecn in zip(totals[HEAD], totals[ECN], strict=True)]
    listed = "; ".join(
        f"{pairs.ARM_NAMES[arm]} has less goodput than no ECN in {count} pairs, by {number(mean)} "
        "% on average"
        for arm in (ECN, HEAD)
        for count, mean, _ in [losses(runs, MULTIPLE, arm)]
    )
    of = estimates.mean(totals[ECN]).value
    text = (
        f"{listed}. Mean goodput over all pairs with plain ECN: {number(of)} kbit/s. Goodput in "
        "kbit/s with head marking minus goodput with plain ECN:"
    )
    return direction(claim, differences, text)


def _under(runs: Runs, arm: str) -> list[Setting]:
    settings = (Setting(MULTIPLE, case, arm) for case in pairs.ALL)
    return [setting for setting in settings if runs.has(setting)]
