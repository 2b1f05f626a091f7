"""Claims of "TCP/ECN frugality", "Longer RTTs" and "Conclusions": buffers and delays."""

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
from aqmlab.studies.ecn_finite_transfers.long_delay import dropped
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

LIMITS = efficiency.limits_of(10)
SAME_G = 0.05
"""Percentage points of G up to which two settings count as equal: 0.5 s of 1120 s."""
MOST = 0.75
"""Share of the cases in which a rough rule must hold."""
NEARLY_ALL = 0.9
"""Share of the cases in which a rule stated without exception must hold."""


def drops(runs: Runs, scheme: str, limit: int, delay_ms: int = 20) -> float:
    """Return the median number of packets that ten clients lose."""
    return efficiency.spread(runs, Setting(10, scheme, limit, delay_ms=delay_ms), dropped).value


def _by_limit(measure: Callable[[int], float]) -> str:
    return ", ".join(f"{limit}: {number(measure(limit))}" for limit in LIMITS)


@CLAIMS.decides("EF-060", items=["figure-4"])
def best_limit_of_aggressive_ecn(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the smallest queue limit with the highest goodput efficiency."""

    def by_limit(of: Runs) -> dict[int, float]:
        return {limit: g(of, 10, "ECN-A", limit) for limit in LIMITS if limit <= 256}

    def lead(of: Runs) -> float:
        every = by_limit(of)
        return every.pop(int(claim.value)) - max(every.values())

    every = by_limit(runs)
    best = max(every, key=lambda limit: every[limit])
    listed = ", ".join(f"{limit}: {value:.3f}" for limit, value in every.items())
    text = f"Median G in % by limit: {listed}. Lead of limit {claim.value:g} over the best other."
    return condition(runs, lead, best, text)


@CLAIMS.decides("EF-061", items=["figure-4"])
def where_the_best_is_reached_again(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the next queue limit after 32 with equal goodput efficiency."""
    between = [limit for limit in LIMITS if 32 < limit < claim.value]

    def margin(of: Runs) -> float:
        """Return the margin by which G is reached without drops at the limit and not below it."""
        target = g(of, 10, "ECN-A", 32) - SAME_G
        reached = g(of, 10, "ECN-A", int(claim.value)) - target
        before = max(g(of, 10, "ECN-A", limit) for limit in between)
        free = 1 - drops(of, "ECN-A", int(claim.value))
        return min(reached, target - before, free)

    target = g(runs, 10, "ECN-A", 32) - SAME_G
    again = [limit for limit in LIMITS if limit > 32 and g(runs, 10, "ECN-A", limit) >= target]
    listed = _by_limit(lambda limit: g(runs, 10, "ECN-A", limit))
    text = (
        f"Median G in % by limit: {listed}; the same within {SAME_G} percentage points. "
        f"Drops at {claim.value:g}: {number(drops(runs, 'ECN-A', int(claim.value)))}."
    )
    return condition(runs, margin, min(again, default="never"), text)


@CLAIMS.decides("EF-062", items=["figure-4"])
def fewer_drops_at_64_than_at_128(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by aggressive ECN's drops at limit 64 minus those at the claim's limit."""
    pairs = zip(
        runs.of(Setting(10, "ECN-A", 64)),
        runs.of(Setting(10, "ECN-A", int(claim.value))),
        strict=True,
    )
    less = [dropped(small) - dropped(large) for small, large in pairs]
    listed = _by_limit(lambda limit: drops(runs, "ECN-A", limit))
    text = (
        f"Drops at 64 less those at {claim.value:g}, paired, must be below 0. Median drops by "
        f"limit: {listed}."
    )
    decision = direction(replace(claim, value=-1), less, text)
    return replace(decision, ours=f"{estimates.median(less)} packets")


@CLAIMS.decides("EF-063", items=["buffer-equivalence"])
def buffer_that_drop_tail_needs(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the smallest Drop Tail buffer that equals each ECN buffer."""

    def ratios(of: Runs) -> dict[int, float]:
        # The ratio is set to 1024 / limit if a queue limit of 512 packets is too small.
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
        f"Smallest sufficient Drop Tail buffer over ECN's, by ECN's limit: {listed} (limits "
        "double, so the ratios do). The median counts."
    )
    return whole(claim, runs, lambda of: median(ratios(of).values()), EXACT, text)


def _ecn_is_better(p: Pair) -> bool:
    """Return True if Drop Tail drops more packets or is less efficient than ECN."""
    most = p.ecn_dropped.value
    return (
        p.tail_dropped.value > most + DROPPED.width(most)
        or p.tail_efficiency.value < p.ecn_efficiency.value - SAME_EFFICIENCY
    )


@CLAIMS.decides("EF-064", items=["buffer-equivalence"])
def half_the_buffer(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the pairs in which ECN with half the buffer equals Drop Tail."""
    pairs = halves(runs)
    good = [p for p in pairs if p.equal_or_better]
    bad = [f"n={p.tail.n} {p.tail.limit} against {p.ecn.limit}" for p in pairs if p not in good]

    def margin(of: Runs) -> float:
        every = halves(of)
        return sum(p.equal_or_better for p in every) / len(every) - MOST

    text = (
        f"The rule is rough, so it must hold in {100 * MOST:.0f} % of the pairs. "
        f"It fails in: {', '.join(bad) or 'none'}."
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
        f"The delay is a setting of the runs; the shortest handshake took {rtt_ms:.1f} ms.",
    )


@CLAIMS.decides("EF-066", items=["long-delay"])
def ecn_advantage_grows_with_delay(runs: Runs, _claim: Published) -> Decision:
    """Decide the claim by the drops of aggressive ECN over those of Drop Tail, at both delays."""

    def ratios(of: Runs) -> dict[tuple[int, int], float]:
        return {
            (limit, delay): drops(of, "ECN-A", limit, delay) / drops(of, "DT", limit, delay)
            for limit, delay in product((16, 32), (20, 100))
        }

    def margin(of: Runs) -> float:
        by_case = ratios(of)
        return min(by_case[limit, 20] - by_case[limit, 100] for limit in (16, 32))

    every = ratios(runs)
    grows = [limit for limit in (16, 32) if every[limit, 100] < every[limit, 20]]
    listed = ", ".join(f"limit {q}, {d} ms: {100 * r:.1f} %" for (q, d), r in every.items())
    text = f"Drops of aggressive ECN over those of Drop Tail: {listed}."
    return condition(runs, margin, max(grows, default=0), text)


@CLAIMS.decides("EF-068", items=["figure-4"])
def ecn_drops_less(runs: Runs, _claim: Published) -> Decision:
    """Decide a direction by the sign of the difference at most queue limits."""

    def gaps(of: Runs) -> list[float]:
        return [drops(of, "ECN-A", q) - drops(of, "DT", q) for q in LIMITS]

    def margin(of: Runs) -> float:
        return sum(gap < 0 for gap in gaps(of)) / len(LIMITS) - 0.5

    fewer, more = sum(gap < 0 for gap in gaps(runs)), sum(gap > 0 for gap in gaps(runs))
    text = (
        f"Fewer median drops at {fewer}, more at {more} of {len(LIMITS)} limits; most is over half."
    )
    return condition(runs, margin, f"-1 at {fewer} of {len(LIMITS)}", text)


def _share_lower(measure: Callable[[str, int, int], float]) -> tuple[int, int]:
    """Return the number of cases in which a quantity is lower at 100 ms, and that of all cases."""
    cases = [(scheme, limit) for scheme in SCHEMES for limit in LIMITS]
    changed = [(measure(s, q, 20), measure(s, q, 100)) for s, q in cases]
    moving = [(near, far) for near, far in changed if near or far]
    return sum(far < near for near, far in moving), len(moving)


def _falls(
    runs: Runs, measure: Callable[[Runs, str, int, int], float], about: str, extra: str
) -> Decision:
    """Decide the claim that a quantity is lower at 100 ms than at 20 ms in nearly all cases."""

    def margin(of: Runs) -> float:
        lower, cases = _share_lower(partial(measure, of))
        return lower / cases - NEARLY_ALL

    lower, cases = _share_lower(partial(measure, runs))
    text = f"{about} in {lower} of {cases} cases{extra}; {100 * NEARLY_ALL:.0f} % must."
    return condition(runs, margin, f"-1 in {lower} of {cases}", text)


@CLAIMS.decides("EF-073", items=["long-delay"])
def drops_fall_with_delay(runs: Runs, _claim: Published) -> Decision:
    """Decide the claim by the cases with fewer drops at a delay of 100 ms than at 20 ms."""
    about = "Fewer drops at 100 ms"
    return _falls(runs, drops, about, " (scheme, limit) that drop at all")


@CLAIMS.decides("EF-074", items=["long-delay"])
def efficiency_falls_with_delay(runs: Runs, _claim: Published) -> Decision:
    """Decide the claim by the cases with lower goodput efficiency at a delay of 100 ms."""

    def efficiency_of_ten(of: Runs, scheme: str, limit: int, delay_ms: int) -> float:
        return g(of, 10, scheme, limit, delay_ms)

    return _falls(runs, efficiency_of_ten, "Lower G at 100 ms", "")
