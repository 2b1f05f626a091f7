"""The 30 printed claims of the study, decided from the pairs of both networks.

The study averages five runs and calls a pair different from about 3 % of goodput on; so is it here.
A count of pairs is given with those that the replications leave open: pairs whose 95 % interval
holds 0. “Most cases” is more than half of the pairs, by Wilson's interval of their share.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from aqmlab import estimates
from aqmlab.estimates import number
from aqmlab.measures import Measure
from aqmlab.statistics import proportion_interval
from aqmlab.studies.ecn_red_simulation import pairs
from aqmlab.studies.ecn_red_simulation.pairs import Gain, gains
from aqmlab.studies.ecn_red_simulation.ratios import losses, share
from aqmlab.studies.ecn_red_simulation.scenarios import (
    ECN,
    HEAD,
    MULTIPLE,
    OFF,
    SINGLE,
    Setting,
)
from aqmlab.studies.ecn_red_simulation.tallies import GOODPUT, QUEUE, SIGNALS, UTILIZATION, Tally
from aqmlab.studies.framework import Claims, Decision, Published, Runs
from aqmlab.studies.framework.claims import direction, holds
from aqmlab.studies.framework.verdicts import NOT_REPRODUCED, REPRODUCED, WITHIN_SPREAD

CLAIMS = Claims(Path(__file__).parent / "published" / "claims.csv")
FOUR, SIX, HEADS = ["figure-4"], ["figure-6"], ["head-marking"]

DIFFERS = 3.0
"""Percent of goodput from which on the study speaks of a difference, “around”."""
AROUND = 0.5
"""What “around” is taken to be, in percentage points either way."""


def large(found: tuple[Gain, ...], least: float = DIFFERS) -> list[Gain]:
    """Return the pairs whose mean goodput differs by more than some percent."""
    return [g for g in found if abs(g.percent.middle) > least]


def _none_large(found: tuple[Gain, ...]) -> str:
    most = max(abs(g.percent.middle) for g in found)
    return f"Largest difference of {len(found)} pairs: {number(most)} %."


@CLAIMS.decides("ES-001", items=FOUR)
def tests_run(runs: Runs, claim: Published) -> Decision:
    """Decide by the settings of one congested link that were run."""
    settings = [need.setting for need in pairs.needs(SINGLE, (OFF, ECN))]
    run = len({setting for setting in settings if runs.has(setting)})
    return holds(run == claim.value, str(run), "Settings run with and without ECN.")


@CLAIMS.decides("ES-002", items=FOUR)
def pairs_compared(runs: Runs, claim: Published) -> Decision:
    """Decide by the pairs that were compared."""
    compared = len(gains(runs, SINGLE, GOODPUT))
    return holds(compared == claim.value, str(compared), "Pairs with both of their settings.")


@CLAIMS.decides("ES-003", "ES-004", "ES-005", items=FOUR)
def meaning_of_ratios(_: Runs, claim: Published) -> Decision:
    """Decide by arithmetic."""
    percent = {"ES-003": 0, "ES-004": 10, "ES-005": 20}[claim.id]
    ours = share(percent)
    return holds(
        round(ours, 3) == claim.value,
        ours,
        f"{percent} % more is (1 + x)/(2 + x). Arithmetic alone.",
    )


@CLAIMS.decides("ES-006", items=FOUR)
def pairs_that_differ(runs: Runs, claim: Published) -> Decision:
    """Decide by the number of pairs beyond 3 %; “around” is half a point either way."""
    found = gains(runs, SINGLE, GOODPUT)
    counts = [len(large(found, DIFFERS + shift)) for shift in (AROUND, 0, -AROUND)]
    text = f"Beyond 3.5, 3, 2.5 %: {counts[0]}, {counts[1]}, {counts[2]}. {_none_large(found)}"
    if counts[1] == claim.value:
        return Decision(str(counts[1]), REPRODUCED, text)
    inside = counts[0] <= claim.value <= counts[2]
    return Decision(str(counts[1]), WITHIN_SPREAD if inside else NOT_REPRODUCED, text)


@CLAIMS.decides("ES-007", items=FOUR)
def threshold(runs: Runs, claim: Published) -> Decision:
    """Decide by the difference that as many pairs exceed as in the study."""
    sizes = sorted((abs(g.percent.middle) for g in gains(runs, SINGLE, GOODPUT)), reverse=True)
    ours = sizes[12] if len(sizes) > 12 else 0.0
    close = abs(ours - claim.value) <= AROUND
    return holds(close, ours, "The 13th largest difference; half a point either way is about 3 %.")


def _of_large(
    runs: Runs, claim: Published, what: str, test: Callable[[Gain], bool], *, every: bool = False
) -> Decision:
    """Decide by how many of the pairs that differ are of a kind: as printed, or all of them."""
    found = gains(runs, SINGLE, GOODPUT)
    differ = large(found)
    count = sum(map(test, differ))
    first = sorted(found, key=lambda g: -abs(g.percent.middle))[:13]
    text = (
        f"{what}: {count} of {len(differ)} pairs beyond 3 %; of the 13 largest differences "
        f"{sum(map(test, first))}. {_none_large(found)}"
    )
    met = bool(differ) and count == (len(differ) if every else claim.value)
    return holds(met, f"{count} of {len(differ)}", text)


@CLAIMS.decides("ES-008", items=FOUR)
def bulk_among_them(runs: Runs, claim: Published) -> Decision:
    """Decide by whether all of them are bulk transfers."""
    return _of_large(runs, claim, "Bulk transfers", lambda g: g.case.bulk, every=True)


@CLAIMS.decides("ES-009", items=FOUR)
def not_twelve_sessions(runs: Runs, claim: Published) -> Decision:
    """Decide by how many of them have six sessions a pair."""
    return _of_large(runs, claim, "Six sessions a pair of nodes", lambda g: g.case.sessions != 12)


@CLAIMS.decides("ES-010", items=FOUR)
def with_cbr(runs: Runs, claim: Published) -> Decision:
    """Decide by how many of them have CBR traffic."""
    return _of_large(runs, claim, "With CBR traffic", lambda g: g.case.cbr_share > 0)


def _side(runs: Runs, *, gain: bool) -> tuple[list[Gain], str]:
    """Return the pairs beyond 3 % that ECN wins, or loses, and their maxth in words."""
    found = gains(runs, SINGLE, GOODPUT)
    chosen = [g for g in large(found) if (g.percent.middle > 0) == gain]
    counts = ", ".join(
        f"maxth {maxth}: {sum(g.case.maxth == maxth for g in chosen)}" for maxth in (60, 120)
    )
    who = "ECN wins" if gain else "ECN loses"
    return chosen, f"{who} beyond 3 %: {len(chosen)} pairs; {counts}. {_none_large(found)}"


@CLAIMS.decides("ES-011", items=FOUR)
def maxth_of_losers(runs: Runs, claim: Published) -> Decision:
    """Decide by whether all pairs that lose have the printed maxth."""
    chosen, text = _side(runs, gain=False)
    all_of = bool(chosen) and all(g.case.maxth == claim.value for g in chosen)
    return holds(all_of, _maxths(chosen), text)


@CLAIMS.decides("ES-012", items=FOUR)
def maxth_of_winners(runs: Runs, claim: Published) -> Decision:
    """Decide by whether the pairs that win have the printed maxth, but for one at most."""
    chosen, text = _side(runs, gain=True)
    others = sum(g.case.maxth != claim.value for g in chosen)
    met = len(chosen) > 1 and others <= 1
    return holds(met, _maxths(chosen), text)


def _maxths(chosen: list[Gain]) -> str:
    return ", ".join(str(maxth) for maxth in sorted({g.case.maxth for g in chosen})) or "none"


@CLAIMS.decides("ES-013", items=FOUR)
def exceptions(runs: Runs, claim: Published) -> Decision:
    """Decide by how many pairs that win have another maxth than 60."""
    chosen, text = _side(runs, gain=True)
    others = sum(g.case.maxth != 60 for g in chosen)
    return holds(len(chosen) > 1 and others == claim.value, str(others), text)


@CLAIMS.decides("ES-014", items=FOUR)
def best_case(runs: Runs, claim: Published) -> Decision:
    """Decide by maxth of the pair with the largest gain."""
    best = max(gains(runs, SINGLE, GOODPUT), key=lambda g: g.percent.middle)
    low, middle, high = best.percent
    text = f"Its gain: {number(middle)} % ({number(low)} to {number(high)}). {best.case}."
    return holds(best.case.maxth == claim.value, str(best.case.maxth), text)


@CLAIMS.decides("ES-015", "ES-016", items=SIX)
def bulk_of_three_links(runs: Runs, claim: Published) -> Decision:
    """Decide by whether a few bulk transfers differ, by 5 % at least and 10 % at most."""
    found = [g for g in gains(runs, MULTIPLE, GOODPUT) if g.case.bulk]
    sizes = sorted(abs(g.percent.middle) for g in found)
    noticeable = [size for size in sizes if size >= 5 - AROUND]
    few = 0 < len(noticeable) <= len(found) / 8
    text = (
        f"{len(noticeable)} of {len(found)} bulk pairs differ by 4.5 % or more; the largest "
        f"difference is {number(sizes[-1])} %. Few: at most one in eight."
    )
    edge = (noticeable[0] if claim.id == "ES-015" else noticeable[-1]) if noticeable else sizes[-1]
    inside = all(5 - AROUND <= size <= 10 + AROUND for size in noticeable)
    return holds(few and inside, float(edge), text)


def _count(claim: Published, chosen: list[Gain], about: str) -> Decision:
    """Decide a printed count of pairs with more than before; open: their interval holds 0."""
    more = [g for g in chosen if g.difference.value > 0]
    surely = sum(g.difference.low > 0 for g in more)
    maybe = sum(g.difference.low <= 0 <= g.difference.high for g in chosen)
    text = f"{about}: {len(more)} of {len(chosen)}; surely {surely}, open {maybe} (95 % holds 0)."
    if len(more) == claim.value:
        return Decision(str(len(more)), REPRODUCED, text)
    inside = surely <= claim.value <= surely + maybe
    return Decision(str(len(more)), WITHIN_SPREAD if inside else NOT_REPRODUCED, text)


@CLAIMS.decides("ES-017", "ES-018", items=SIX)
def more_signals(runs: Runs, claim: Published) -> Decision:
    """Decide by the pairs with more drops and marks; of these, by the bulk transfers."""
    found = list(gains(runs, MULTIPLE, SIGNALS))
    if claim.id == "ES-017":
        return _count(claim, found, "Pairs with more drops and marks with ECN")
    return _count(claim, [g for g in found if g.case.bulk], "Bulk pairs with more of them")


@CLAIMS.decides("ES-019", items=["causes"])
def full_links(runs: Runs, claim: Published) -> Decision:
    """Decide by the utilization of the observed link without ECN."""
    settings = [Setting(n, case, OFF) for n in (SINGLE, MULTIPLE) for case in pairs.ALL]
    used = [
        UTILIZATION.scale * float(np.mean([UTILIZATION.of(run) for run in runs.of(setting)]))
        for setting in settings
        if runs.has(setting)
    ]
    near = sum(u > claim.value - 1 for u in used)
    text = f"99 % or more without ECN: {near} of {len(used)} cases; least {number(min(used))} %."
    return holds(near > len(used) / 2, float(np.median(used)), text)


def _mostly(
    claim: Published, found: list[Gain], tally: Callable[[Gain], int], about: str
) -> Decision:
    """Decide a direction by what most pairs do: -1, 0 or 1 of each."""
    signs = [tally(g) for g in found]
    counts = {sign: signs.count(sign) for sign in (1, 0, -1)}
    ours = next(
        (s for s, k in counts.items() if k and proportion_interval(k, len(signs)).low > 0.5), None
    )
    sure = {
        1: sum(g.difference.low > 0 for g in found),
        -1: sum(g.difference.high < 0 for g in found),
    }
    text = (
        f"{about}: more in {counts[1]}, less in {counts[-1]}, neither in {counts[0]} of "
        f"{len(found)} pairs; 95 % intervals above 0: {sure[1]}, below: {sure[-1]}."
    )
    told = "none" if ours is None else f"{ours:+d}" if ours else "0"
    return holds(ours == claim.value, told, text)


def _sign(g: Gain) -> int:
    """Return the direction of a pair's mean difference."""
    return int(np.sign(g.difference.value))


def _differs(g: Gain) -> int:
    """Return the direction of a difference of goodput, 0 if the study would not speak of it."""
    middle = g.percent.middle
    return 0 if abs(middle) <= DIFFERS else int(np.sign(middle))


DIRECTIONS: dict[str, tuple[str, Measure[Tally], str, pairs.Chosen]] = {
    "ES-020": (SINGLE, SIGNALS, "Drops and marks", lambda _: True),
    "ES-021": (SINGLE, QUEUE, "Mean queue", lambda _: True),
    "ES-022": (SINGLE, GOODPUT, "Goodput, up to 3 % counts as none", lambda _: True),
    "ES-023": (SINGLE, GOODPUT, "Goodput with CBR, up to 3 % counts as none",
               lambda case: case.cbr_share > 0),
    "ES-024": (MULTIPLE, SIGNALS, "Drops and marks, bulk", lambda case: case.bulk),
    "ES-025": (MULTIPLE, SIGNALS, "Drops and marks, transactional", lambda case: not case.bulk),
    "ES-026": (MULTIPLE, QUEUE, "Mean queue, bulk", lambda case: case.bulk),
    "ES-027": (MULTIPLE, QUEUE, "Mean queue, transactional", lambda case: not case.bulk),
    "ES-028": (MULTIPLE, GOODPUT, "Goodput, up to 3 % counts as none", lambda _: True),
}  # fmt: skip


def _register(
    claim_id: str, network: str, measure: Measure[Tally], about: str, chosen: pairs.Chosen
) -> None:
    def decide(runs: Runs, claim: Published) -> Decision:
        found = [g for g in gains(runs, network, measure) if chosen(g.case)]
        return _mostly(claim, found, _differs if measure is GOODPUT else _sign, about)

    CLAIMS.decides(claim_id, items=FOUR if network == SINGLE else SIX)(decide)


for _id, _row in DIRECTIONS.items():
    _register(_id, *_row)


@CLAIMS.decides("ES-029", items=HEADS)
def head_of_one_link(runs: Runs, claim: Published) -> Decision:
    """Decide by whether head marking changes goodput beyond 3 % in most pairs."""
    found = list(gains(runs, SINGLE, GOODPUT, HEAD, ECN))
    return _mostly(claim, found, _differs, "Goodput against plain ECN, up to 3 % counts as none")


@CLAIMS.decides("ES-030", items=HEADS)
def head_of_three_links(runs: Runs, claim: Published) -> Decision:
    """Decide by the mean change of goodput over all pairs, replication by replication."""
    totals = {
        arm: [
            GOODPUT.scale * sum(GOODPUT.of(t) for t in ran) / len(ran)
            for ran in zip(*(runs.of(s) for s in _under(runs, arm)), strict=True)
        ]
        for arm in (ECN, HEAD)
    }
    differences = [head - ecn for head, ecn in zip(totals[HEAD], totals[ECN], strict=True)]
    told = "; ".join(
        f"{pairs.ARM_NAMES[arm]} loses against none in {count} pairs, {number(mean)} % on average"
        for arm in (ECN, HEAD)
        for count, mean, _ in [losses(runs, MULTIPLE, arm)]
    )
    of = estimates.mean(totals[ECN]).value
    text = (
        f"{told}. Mean goodput over all pairs (kbit/s; {number(of)} with plain ECN), head marking "
        "less plain ECN:"
    )
    return direction(claim, differences, text)


def _under(runs: Runs, arm: str) -> list[Setting]:
    settings = (Setting(MULTIPLE, case, arm) for case in pairs.ALL)
    return [setting for setting in settings if runs.has(setting)]
