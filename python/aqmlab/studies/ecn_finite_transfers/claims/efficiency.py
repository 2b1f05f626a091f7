"""Claims of the section "Goodput efficiency" (figures 2 to 4), decided by medians."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean

from aqmlab.estimates import number
from aqmlab.studies.ecn_finite_transfers import efficiency
from aqmlab.studies.ecn_finite_transfers.claims.registry import CLAIMS, SAME_PERCENT
from aqmlab.studies.ecn_finite_transfers.scenarios import SCHEMES, Setting
from aqmlab.studies.framework.claims import (
    EXACT,
    Decision,
    Published,
    condition,
    direction,
    none,
    whole,
)
from aqmlab.studies.framework.resampling import resampled
from aqmlab.studies.framework.runs import Runs

CLOSE_TO_ONE_PERCENT = 98.0
"""Goodput efficiency in % from which it counts as close to 1; the study gives no threshold."""

MANY = ["figure-3", "figure-4"]
ALL = ["figure-2", *MANY]


def g(runs: Runs, n: int, scheme: str, limit: int, delay_ms: int = 20) -> float:
    """Return the median goodput efficiency in %."""
    setting = Setting(n, scheme, limit, delay_ms=delay_ms)
    return efficiency.spread(runs, setting, efficiency.percent).value


def _limits(n: int, least: int) -> list[int]:
    return [limit for limit in efficiency.limits_of(n) if limit >= least]


@CLAIMS.decides("EF-012", items=["figure-2"])
def close_to_one(runs: Runs, claim: Published) -> Decision:
    """Decide the claim that every scheme has an efficiency close to 1 at large queue limits."""

    def lowest(of: Runs) -> dict[int, float]:
        return {q: min(g(of, 2, s, q) for s in SCHEMES) for q in efficiency.limits_of(2)}

    def start(of: Runs) -> float:
        lowest_g = lowest(of)
        bad = [q for q, least in lowest_g.items() if least < CLOSE_TO_ONE_PERCENT]
        return min((q for q in lowest_g if q > max(bad, default=0)), default=math.inf)

    listed = ", ".join(f"{q}: {number(least)}" for q, least in lowest(runs).items())
    text = (
        f"Lowest goodput efficiency G of all schemes in %, by queue limit: {listed}. Rule: close "
        f"to 1 means at least {CLOSE_TO_ONE_PERCENT} %."
    )
    return whole(replace(claim, qualifier="upper_bound"), runs, start, EXACT, text)


@CLAIMS.decides("EF-013", items=["figure-2"])
def red_helps_small_queues(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by RED's gain over Drop Tail at small and at larger queue limits."""

    def gains(of: Runs) -> dict[int, float]:
        return {
            limit: fmean(g(of, 2, s, limit) - g(of, 2, "DT", limit) for s in ("RED-C", "RED-A"))
            for limit in efficiency.limits_of(2)
        }

    def margin(of: Runs) -> float:
        by_limit = gains(of)
        small = [gain for limit, gain in by_limit.items() if limit <= claim.value]
        large = [abs(gain) for limit, gain in by_limit.items() if limit > claim.value]
        return min(min(small) - SAME_PERCENT, SAME_PERCENT - max(large))

    every = gains(runs)
    last = max((q for q, gain in every.items() if gain > SAME_PERCENT), default=0)
    listed = ", ".join(f"{limit}: {gain:+.2f}" for limit, gain in every.items())
    text = (
        f"Gain of RED over Drop Tail in percentage points, by queue limit: {listed}. Rule: a gain "
        f"counts if it is above {SAME_PERCENT} percentage points."
    )
    return condition(runs, margin, last, text)


@CLAIMS.decides("EF-014", items=MANY)
def schemes_alike(runs: Runs, claim: Published) -> Decision:
    """Decide the claim that all schemes are equally efficient at large queue limits."""

    def ranges(of: Runs) -> dict[tuple[int, int], float]:
        widths = {}
        for n in (5, 10):
            for limit in efficiency.limits_of(n):
                values = [g(of, n, scheme, limit) for scheme in SCHEMES]
                widths[n, limit] = max(values) - min(values)
        return widths

    def start(of: Runs) -> float:
        apart = [limit for (_, limit), width in ranges(of).items() if width > SAME_PERCENT]
        return min(
            (q for q in efficiency.limits_of(5) if q > max(apart, default=0)), default=math.inf
        )

    listed = ", ".join(f"n={n} limit {q}: {width:.2f}" for (n, q), width in ranges(runs).items())
    text = (
        f"Range of the schemes' goodput efficiency in percentage points: {listed}. Rule: a range "
        f"of at most {SAME_PERCENT} counts as equal."
    )
    return whole(replace(claim, qualifier="upper_bound"), runs, start, EXACT, text)


@CLAIMS.decides("EF-015", items=MANY)
def small_queues_deteriorate(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the efficiency that Drop Tail loses at small limits."""
    small = [limit for limit in efficiency.limits_of(5) if limit <= claim.value]

    def lost(of: Runs) -> dict[tuple[int, int], float]:
        return {(n, q): g(of, n, "DT", 16) - g(of, n, "DT", q) for n in (5, 10) for q in small}

    def below(of: Runs) -> float:
        """Return the minimum efficiency of another scheme minus the efficiency of Drop Tail."""
        others = [scheme for scheme in SCHEMES if scheme != "DT"]
        return min(
            min(g(of, n, s, q) for s in others) - g(of, n, "DT", q) for n in (5, 10) for q in small
        )

    def margin(of: Runs) -> float:
        return min(min(lost(of).values()) - SAME_PERCENT, below(of))

    every = lost(runs)
    listed = ", ".join(f"n={n} limit {q}: {loss:.2f}" for (n, q), loss in every.items())
    worse = [q for (_, q), loss in every.items() if loss > SAME_PERCENT]
    text = (
        "Decrease of Drop Tail's goodput efficiency from queue limit 16 to a smaller limit, in "
        f"percentage points: {listed}. The efficiencies of the other schemes exceed that of Drop "
        f"Tail by at least {number(below(runs))} percentage points."
    )
    return condition(runs, margin, max(worse, default=0), text)


@CLAIMS.decides("EF-069", items=ALL)
def ecn_gains_no_efficiency(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the largest difference between ECN and Drop Tail at limits from 16 on."""

    def gaps(of: Runs) -> dict[str, float]:
        return {
            f"n={n} {s} limit {q}": g(of, n, s, q) - g(of, n, "DT", q)
            for n in (2, 5, 10)
            for s in ("ECN-C", "ECN-A")
            for q in _limits(n, 16)
        }

    def largest(of: Runs) -> float:
        return max(gaps(of).values(), key=abs)

    every = gaps(runs)
    where = max(every, key=lambda key: abs(every[key]))
    text = f"Largest of {len(every)} differences: {where}."
    return none(claim, resampled(runs, largest), SAME_PERCENT, text)


@CLAIMS.decides("EF-070", items=["figure-2"])
def red_gains_efficiency_in_small_queues(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by RED's smallest gain at queue limits 4 and 8, for each replication."""
    gains = [
        [
            a.efficiency_percent - b.efficiency_percent
            for a, b in zip(runs.of(Setting(2, s, q)), runs.of(Setting(2, "DT", q)), strict=True)
        ]
        for s in ("RED-C", "RED-A")
        for q in (4, 8)
    ]
    smallest = [min(of_one) for of_one in zip(*gains, strict=True)]
    return direction(
        claim,
        smallest,
        "Smallest of RED's gains, in percentage points, with both values of maxp and limits 4 and "
        "8.",
    )
