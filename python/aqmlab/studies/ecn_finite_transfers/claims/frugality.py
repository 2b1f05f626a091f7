"""Claims of "TCP/ECN frugality", "Longer RTTs" and "Conclusions": buffers and delays."""

from __future__ import annotations

from collections.abc import Callable
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
from aqmlab.studies.framework.claims import Decision, Published, bound, holds
from aqmlab.studies.framework.runs import Runs

LIMITS = efficiency.limits_of(10)
SAME_G = 0.05
"""Percentage points of G up to which two settings have the same: 0.5 s of 1120 s."""
MOST = 0.75
"""Share of the cases in which a rough rule must hold."""
NEARLY_ALL = 0.9
"""Share of the cases in which a rule stated without exception must hold."""


def drops(runs: Runs, scheme: str, limit: int, delay_ms: int = 20) -> float:
    """Median drops of ten clients."""
    return efficiency.spread(runs, Setting(10, scheme, limit, delay_ms=delay_ms), dropped).value


def _by_limit(measure: Callable[[int], float]) -> str:
    return ", ".join(f"{limit}: {number(measure(limit))}" for limit in LIMITS)


@CLAIMS.decides("EF-060", items=["figure-4"])
def best_limit_of_aggressive_ecn(runs: Runs, claim: Published) -> Decision:
    """Decide by return the smallest limit with the highest G up to 256."""
    found = {limit: g(runs, 10, "ECN-A", limit) for limit in LIMITS if limit <= 256}
    best = max(found, key=lambda limit: found[limit])
    told = ", ".join(f"{limit}: {value:.3f}" for limit, value in found.items())
    return holds(best == claim.value, best, f"Median G in % by limit: {told}.")


@CLAIMS.decides("EF-061", items=["figure-4"])
def where_the_best_is_reached_again(runs: Runs, claim: Published) -> Decision:
    """Decide by the next limit after 32 with the same G."""
    target = g(runs, 10, "ECN-A", 32) - SAME_G
    again = [limit for limit in LIMITS if limit > 32 and g(runs, 10, "ECN-A", limit) >= target]
    first = min(again, default=0)
    free = drops(runs, "ECN-A", 512) == 0
    told = _by_limit(lambda limit: g(runs, 10, "ECN-A", limit))
    return holds(
        first == claim.value and free,
        first or "never",
        f"Median G in % by limit: {told}; the same within {SAME_G} percentage points. "
        f"Drops at 512: {'none' if free else number(drops(runs, 'ECN-A', 512))}.",
    )


@CLAIMS.decides("EF-062", items=["figure-4"])
def fewer_drops_at_64_than_at_128(runs: Runs, claim: Published) -> Decision:
    """Decide by drops of aggressive ECN at 64 less those at the printed limit."""
    pairs = zip(
        runs.of(Setting(10, "ECN-A", 64)),
        runs.of(Setting(10, "ECN-A", int(claim.value))),
        strict=True,
    )
    less = estimates.median(dropped(small) - dropped(large) for small, large in pairs)
    told = _by_limit(lambda limit: drops(runs, "ECN-A", limit))
    return holds(
        less.value < 0,
        f"{less} packets",
        f"Drops at 64 less those at {claim.value:g}, paired. Median drops by limit: {told}.",
    )


@CLAIMS.decides("EF-063", items=["buffer-equivalence"])
def buffer_that_drop_tail_needs(runs: Runs, claim: Published) -> Decision:
    """Decide by the smallest Drop Tail buffer that does as well as each ECN buffer."""
    ratios = {}
    for limit in (q for q in LIMITS if q < max(LIMITS)):
        enough = [tail for tail in LIMITS if not _ecn_is_better(pair(runs, 10, tail, limit))]
        # Where not even 512 is enough, the ratio is above 512 / limit.
        ratios[limit] = min(enough, default=2 * max(LIMITS)) / limit
    told = ", ".join(f"{limit}: {number(ratio)}" for limit, ratio in ratios.items())
    return bound(
        claim,
        median(ratios.values()),
        f"Smallest sufficient Drop Tail buffer over ECN's, by ECN's limit: {told} (limits double, "
        "so the ratios do). The median counts.",
    )


def _ecn_is_better(p: Pair) -> bool:
    """Whether Drop Tail with that limit drops more or is less efficient than ECN."""
    most = p.ecn_dropped.value
    return (
        p.tail_dropped.value > most + DROPPED.width(most)
        or p.tail_efficiency.value < p.ecn_efficiency.value - SAME_EFFICIENCY
    )


@CLAIMS.decides("EF-064", items=["buffer-equivalence"])
def half_the_buffer(runs: Runs, claim: Published) -> Decision:
    """Decide by the pairs in which ECN with half the buffer does as well as Drop Tail."""
    pairs = halves(runs)
    good = [p for p in pairs if p.equal_or_better]
    bad = [f"n={p.tail.n} {p.tail.limit} against {p.ecn.limit}" for p in pairs if p not in good]
    return holds(
        len(good) >= MOST * len(pairs),
        f"{claim.value:g} in {len(good)} of {len(pairs)} pairs",
        f"A rough rule: must hold in {100 * MOST:.0f} % of the pairs. "
        f"It fails in: {', '.join(bad) or 'none'}.",
    )


@CLAIMS.decides("EF-065", items=["long-delay"])
def longer_delay(runs: Runs, claim: Published) -> Decision:
    """Decide by the delay of the runs, and the round trip they measured."""
    run = runs.of(Setting(10, "DT", 64, delay_ms=100))[0]
    delay = run.manifest["scenario"]["network"]["delay"]
    rtt_ms = 1000 * run.handshake_s.min()
    return holds(
        rtt_ms >= 2 * claim.value,
        delay,
        f"A setting of the runs; shortest handshake {rtt_ms:.1f} ms.",
    )


@CLAIMS.decides("EF-066", items=["long-delay"])
def ecn_advantage_grows_with_delay(runs: Runs, claim: Published) -> Decision:
    """Decide by drops of aggressive ECN over those of Drop Tail, at both delays."""
    ratios = {
        (limit, delay): drops(runs, "ECN-A", limit, delay) / drops(runs, "DT", limit, delay)
        for limit, delay in product((16, 32), (20, 100))
    }
    grows = [limit for limit in (16, 32) if ratios[limit, 100] < ratios[limit, 20]]
    told = ", ".join(f"limit {q}, {d} ms: {100 * r:.1f} %" for (q, d), r in ratios.items())
    return holds(
        max(grows, default=0) == claim.value and len(grows) == 2,
        max(grows, default=0),
        f"Drops of aggressive ECN over those of Drop Tail: {told}.",
    )


@CLAIMS.decides("EF-068", items=["figure-4"])
def ecn_drops_less(runs: Runs, claim: Published) -> Decision:
    """Decide by the sign at most queue limits."""
    gaps = [drops(runs, "ECN-A", q) - drops(runs, "DT", q) for q in LIMITS]
    fewer, more = sum(gap < 0 for gap in gaps), sum(gap > 0 for gap in gaps)
    most = max(fewer, more) > len(gaps) / 2
    ours = 0 if not most else (-1 if fewer > more else 1)
    text = f"Fewer median drops at {fewer}, more at {more} of {len(gaps)} limits."
    return holds(ours == claim.value, f"{ours:+d}", text)


def _share_lower(measure: Callable[[str, int, int], float]) -> tuple[int, int]:
    """In how many of the cases a quantity is lower at 100 ms than at 20 ms."""
    cases = [(scheme, limit) for scheme in SCHEMES for limit in LIMITS]
    changed = [(measure(s, q, 20), measure(s, q, 100)) for s, q in cases]
    moving = [(near, far) for near, far in changed if near or far]
    return sum(far < near for near, far in moving), len(moving)


@CLAIMS.decides("EF-073", items=["long-delay"])
def drops_fall_with_delay(runs: Runs, _claim: Published) -> Decision:
    """Decide by cases with fewer drops at 100 ms."""
    lower, cases = _share_lower(lambda s, q, d: drops(runs, s, q, d))
    return holds(
        lower >= NEARLY_ALL * cases,
        f"-1 in {lower} of {cases}",
        f"Fewer drops at 100 ms in {lower} of {cases} cases (scheme, limit) that drop at all; "
        f"{100 * NEARLY_ALL:.0f} % must.",
    )


@CLAIMS.decides("EF-074", items=["long-delay"])
def efficiency_falls_with_delay(runs: Runs, _claim: Published) -> Decision:
    """Decide by cases with lower G at 100 ms."""
    lower, cases = _share_lower(lambda s, q, d: g(runs, 10, s, q, d))
    return holds(
        lower >= NEARLY_ALL * cases,
        f"-1 in {lower} of {cases}",
        f"Lower G at 100 ms in {lower} of {cases} cases; {100 * NEARLY_ALL:.0f} % must.",
    )
