"""Claims of the sections "TCP/ECN frugality", "Longer RTTs" and "Conclusions"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from statistics import median

from aqmlab import estimates
from aqmlab.estimates import number
from aqmlab.studies.ecn_finite_transfers import efficiency
from aqmlab.studies.ecn_finite_transfers.buffer_equivalence import (
    SAME_EFFICIENCY,
    Pair,
    halves,
    pair,
)
from aqmlab.studies.ecn_finite_transfers.claims.efficiency import g
from aqmlab.studies.ecn_finite_transfers.claims.registry import CLAIMS
from aqmlab.studies.ecn_finite_transfers.printed_tables import DROPPED
from aqmlab.studies.ecn_finite_transfers.scenarios import SCHEMES, Setting
from aqmlab.studies.framework.claims import (
    EXACT,
    Decision,
    Published,
    condition,
    direction,
    holds,
    whole,
)
from aqmlab.studies.framework.runs import Runs
from aqmlab.studies.framework.verdicts import ratio

LIMITS = efficiency.limits_of(10)
SAME_G = 0.05
"""Maximum difference of two goodput efficiencies that count as equal, in percentage points.

The study samples completion times every 0.5 s, which is about 0.05 % of a download of 1120 s.
"""
MOST = 0.75
"""Minimum share of the cases in which a rough rule is true."""
NEARLY_ALL = 0.9
"""Minimum share of the cases in which a rule that the study states without exception is true."""


def drops(runs: Runs, scheme: str, limit: int, delay_ms: int = 20) -> float:
    """Return the median number of packets that are dropped from ten downloads."""
    setting = Setting(10, scheme, limit, delay_ms=delay_ms)
    return efficiency.spread(runs, setting, efficiency.dropped).value


def _by_limit(measure: Callable[[int], float]) -> str:
    return ", ".join(f"{limit}: {number(measure(limit))}" for limit in LIMITS)


@CLAIMS.decides("EF-060", items=["figure-4"])
def best_limit_of_aggressive_ecn(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the queue limit with the highest goodput efficiency."""

    def by_limit(of: Runs) -> dict[int, float]:
        return {limit: g(of, 10, "ECN-A", limit) for limit in LIMITS if limit <= 256}

    def lead(of: Runs) -> float:
        every = by_limit(of)
        return every.pop(int(claim.value)) - max(every.values())

    every = by_limit(runs)
    best = max(every, key=lambda limit: every[limit])
    listed = ", ".join(f"{limit}: {value:.3f}" for limit, value in every.items())
    text = (
        f"Median goodput efficiency in %, by limit: {listed}. Lead of limit {claim.value:g} over "
        "the best other limit:"
    )
    return condition(runs, lead, best, text)


@CLAIMS.decides("EF-061", items=["figure-4"])
def where_the_best_is_reached_again(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the next limit above 32 with the same goodput efficiency as limit 32."""
    between = [limit for limit in LIMITS if 32 < limit < claim.value]

    def margin(of: Runs) -> float:
        """Return the minimum of the margins of the claim's three conditions."""
        target = g(of, 10, "ECN-A", 32) - SAME_G
        reached = g(of, 10, "ECN-A", int(claim.value)) - target
        before = max(g(of, 10, "ECN-A", limit) for limit in between)
        free = 1 - drops(of, "ECN-A", int(claim.value))
        return min(reached, target - before, free)

    target = g(runs, 10, "ECN-A", 32) - SAME_G
    again = [limit for limit in LIMITS if limit > 32 and g(runs, 10, "ECN-A", limit) >= target]
    listed = _by_limit(lambda limit: g(runs, 10, "ECN-A", limit))
    text = (
        f"Median goodput efficiency in %, by limit: {listed}. Rule: values within {SAME_G} "
        f"percentage points count as equal. Drops at limit {claim.value:g}: "
        f"{number(drops(runs, 'ECN-A', int(claim.value)))}."
    )
    return condition(runs, margin, min(again, default="never"), text)


@CLAIMS.decides("EF-062", items=["figure-4"])
def fewer_drops_at_64_than_at_128(runs: Runs, claim: Published) -> Decision:
    """Decide the claim that aggressive ECN has fewer drops at limit 64 than at limit 128."""
    pairs = zip(
        runs.of(Setting(10, "ECN-A", 64)),
        runs.of(Setting(10, "ECN-A", int(claim.value))),
        strict=True,
    )
    less = [efficiency.dropped(small) - efficiency.dropped(large) for small, large in pairs]
    listed = _by_limit(lambda limit: drops(runs, "ECN-A", limit))
    text = (
        f"Rule: the paired difference of drops, limit 64 minus limit {claim.value:g}, is below 0. "
        f"Median drops by limit: {listed}."
    )
    decision = direction(replace(claim, value=-1), less, text)
    return replace(decision, ours=f"{estimates.median(less)} packets")


@CLAIMS.decides("EF-063", items=["buffer-equivalence"])
def buffer_that_drop_tail_needs(runs: Runs, claim: Published) -> Decision:
    """Decide the claim that Drop Tail needs a larger queue limit than ECN for equal results."""

    def ratios(of: Runs) -> dict[int, float]:
        # If a Drop Tail limit of 512 packets is still too small, the ratio is set to 1024 / limit.
        return {
            limit: min(
                (tail for tail in LIMITS if not _ecn_is_better(pair(of, 10, tail, limit))),
                default=2 * max(LIMITS),
            )
            / limit
            for limit in LIMITS
            if limit < max(LIMITS)
        }

    listed = ", ".join(f"{limit}: {number(ratio)}" for limit, ratio in ratios(runs).items())
    text = (
        "For each queue limit with ECN, the smallest queue limit with which Drop Tail performs as "
        f"well, divided by the limit with ECN: {listed}. The ratios are powers of two, because the "
        "limits are powers of two. Rule: the median of all ratios decides the claim."
    )
    return whole(claim, runs, lambda of: median(ratios(of).values()), EXACT, text)


def _ecn_is_better(p: Pair) -> bool:
    """Return True if ECN is better than Drop Tail: it drops fewer packets, or is more efficient."""
    most = p.ecn_dropped.value
    return (
        p.tail_dropped.value > most + DROPPED.width(most)
        or p.tail_efficiency.value < p.ecn_efficiency.value - SAME_EFFICIENCY
    )


@CLAIMS.decides("EF-064", items=["buffer-equivalence"])
def half_the_buffer(runs: Runs, claim: Published) -> Decision:
    """Decide the claim that ECN needs only half of the queue limit that Drop Tail needs."""
    pairs = halves(runs)
    good = [p for p in pairs if p.equal_or_better]
    bad = [f"n={p.tail.n} {p.tail.limit} against {p.ecn.limit}" for p in pairs if p not in good]

    def margin(of: Runs) -> float:
        every = halves(of)
        return sum(p.equal_or_better for p in every) / len(every) - MOST

    text = (
        f"The study states a rough rule, so {100 * MOST:.0f} % of the pairs have to agree with "
        f"the claim. Pairs that disagree: {', '.join(bad) or 'none'}."
    )
    return condition(runs, margin, f"{claim.value:g} in {len(good)} of {len(pairs)} pairs", text)


@CLAIMS.decides("EF-065", items=["long-delay"])
def longer_delay(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the propagation delay and the measured round trip of the runs."""
    run = runs.of(Setting(10, "DT", 64, delay_ms=100))[0]
    delay = run.manifest["scenario"]["network"]["delay"]
    rtt_ms = 1000 * run.handshake_s.min()
    return holds(
        rtt_ms >= 2 * claim.value,
        delay,
        "The propagation delay is a setting of the runs. The shortest handshake took "
        f"{rtt_ms:.1f} ms.",
    )


@CLAIMS.decides("EF-066", items=["long-delay"])
def ecn_advantage_grows_with_delay(runs: Runs, _claim: Published) -> Decision:
    """Decide the claim by the ratio of ECN's drops to Drop Tail's drops, at both delays."""

    def ratios(of: Runs) -> dict[tuple[int, int], float]:
        return {
            (limit, delay): ratio(
                drops(of, "ECN-A", limit, delay), drops(of, "DT", limit, delay),
                f"Drop Tail dropped no packet at limit {limit} and a delay of {delay} ms",
            )
            for limit, delay in product((16, 32), (20, 100))
        }  # fmt: skip

    def margin(of: Runs) -> float:
        by_case = ratios(of)
        return min(by_case[limit, 20] - by_case[limit, 100] for limit in (16, 32))

    every = ratios(runs)
    grows = [limit for limit in (16, 32) if every[limit, 100] < every[limit, 20]]
    listed = ", ".join(f"limit {q}, {d} ms: {100 * r:.1f} %" for (q, d), r in every.items())
    text = f"Drops with aggressive ECN in % of the drops with Drop Tail: {listed}."
    return condition(runs, margin, max(grows, default=0), text)


@CLAIMS.decides("EF-068", items=["figure-4"])
def ecn_drops_less(runs: Runs, _claim: Published) -> Decision:
    """Decide the claim by the share of queue limits at which ECN has fewer drops than Drop Tail."""

    def gaps(of: Runs) -> list[float]:
        return [drops(of, "ECN-A", q) - drops(of, "DT", q) for q in LIMITS]

    def margin(of: Runs) -> float:
        return sum(gap < 0 for gap in gaps(of)) / len(LIMITS) - 0.5

    fewer, more = sum(gap < 0 for gap in gaps(runs)), sum(gap > 0 for gap in gaps(runs))
    text = (
        f"ECN has fewer median drops at {fewer} of {len(LIMITS)} limits, and more at {more}. "
        "Rule: most means more than half."
    )
    return condition(runs, margin, f"-1 at {fewer} of {len(LIMITS)}", text)


def _share_lower(measure: Callable[[str, int, int], float]) -> tuple[int, int]:
    """Return the number of cases whose value is lower at the longer delay, and of all cases.

    The delays are 20 ms and 100 ms. A case with the value 0 at both delays does not count.
    """
    cases = [(scheme, limit) for scheme in SCHEMES for limit in LIMITS]
    changed = [(measure(s, q, 20), measure(s, q, 100)) for s, q in cases]
    moving = [(near, far) for near, far in changed if near or far]
    return sum(far < near for near, far in moving), len(moving)


def _falls(
    runs: Runs, measure: Callable[[Runs, str, int, int], float], about: str, extra: str
) -> Decision:
    """Decide a claim that a quantity is nearly always lower at a delay of 100 ms than at 20 ms."""

    def margin(of: Runs) -> float:
        lower, cases = _share_lower(partial(measure, of))
        return ratio(lower, cases, "the values of all cases are 0") - NEARLY_ALL

    lower, cases = _share_lower(partial(measure, runs))
    text = (
        f"{about} in {lower} of {cases} cases{extra}. Rule: at least {100 * NEARLY_ALL:.0f} % of "
        "the cases."
    )
    return condition(runs, margin, f"-1 in {lower} of {cases}", text)


@CLAIMS.decides("EF-073", items=["long-delay"])
def drops_fall_with_delay(runs: Runs, _claim: Published) -> Decision:
    """Decide the claim by the share of cases with fewer drops at 100 ms of delay than at 20 ms."""
    about = "Fewer drops at a delay of 100 ms than at 20 ms"
    return _falls(runs, drops, about, " (a scheme with a limit) that have drops")


@CLAIMS.decides("EF-074", items=["long-delay"])
def efficiency_falls_with_delay(runs: Runs, _claim: Published) -> Decision:
    """Decide the claim by the share of cases with lower goodput efficiency at a delay of 100 ms."""

    def efficiency_of_ten(of: Runs, scheme: str, limit: int, delay_ms: int) -> float:
        return g(of, 10, scheme, limit, delay_ms)

    return _falls(
        runs, efficiency_of_ten, "Lower goodput efficiency at a delay of 100 ms than at 20 ms", ""
    )
