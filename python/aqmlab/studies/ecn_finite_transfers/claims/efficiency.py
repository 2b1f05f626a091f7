"""Claims of "Goodput efficiency" (figures 2 to 4); differences of medians over replications."""

from __future__ import annotations

from statistics import fmean

from aqmlab.estimates import number
from aqmlab.studies.ecn_finite_transfers import efficiency
from aqmlab.studies.ecn_finite_transfers.claims.registry import CLAIMS, SAME_PERCENT
from aqmlab.studies.ecn_finite_transfers.scenarios import SCHEMES, Setting
from aqmlab.studies.framework.claims import Decision, Published, direction, holds, none
from aqmlab.studies.framework.runs import Runs

CLOSE_TO_ONE_PERCENT = 98.0
"""G that counts as close to 1; the study draws no line."""

MANY = ["figure-3", "figure-4"]
ALL = ["figure-2", *MANY]


def g(runs: Runs, n: int, scheme: str, limit: int, delay_ms: int = 20) -> float:
    """Median goodput efficiency in %."""
    setting = Setting(n, scheme, limit, delay_ms=delay_ms)
    return efficiency.spread(runs, setting, lambda run: run.efficiency_percent).value


def _limits(n: int, least: int) -> list[int]:
    return [limit for limit in efficiency.limits_of(n) if limit >= least]


@CLAIMS.decides("EF-012", items=["figure-2"])
def close_to_one(runs: Runs, claim: Published) -> Decision:
    """Decide by return the smallest limit from which all schemes are close to 1."""
    lowest = {q: min(g(runs, 2, s, q) for s in SCHEMES) for q in efficiency.limits_of(2)}
    bad = [q for q, least in lowest.items() if least < CLOSE_TO_ONE_PERCENT]
    start = min(q for q in lowest if q > max(bad, default=0))
    told = ", ".join(f"{q}: {number(least)}" for q, least in lowest.items())
    return holds(
        start <= claim.value,
        start,
        f"Lowest G of the schemes in % by limit: {told}; close to 1: {CLOSE_TO_ONE_PERCENT} %.",
    )


@CLAIMS.decides("EF-013", items=["figure-2"])
def red_helps_small_queues(runs: Runs, claim: Published) -> Decision:
    """Decide by RED's gain over Drop Tail at small limits against that at larger ones."""
    gains = {
        limit: fmean(g(runs, 2, s, limit) - g(runs, 2, "DT", limit) for s in ("RED-C", "RED-A"))
        for limit in efficiency.limits_of(2)
    }
    small = [gain for limit, gain in gains.items() if limit <= claim.value]
    large = [gain for limit, gain in gains.items() if limit > claim.value]
    last = max((q for q, gain in gains.items() if gain > SAME_PERCENT), default=0)
    told = ", ".join(f"{limit}: {gain:+.2f}" for limit, gain in gains.items())
    return holds(
        min(small) > SAME_PERCENT >= max(abs(gain) for gain in large),
        last,
        f"Gain of RED over Drop Tail in percentage points by limit: {told}; {SAME_PERCENT} counts.",
    )


@CLAIMS.decides("EF-014", items=MANY)
def schemes_alike(runs: Runs, claim: Published) -> Decision:
    """Decide by range of G over the schemes from a limit up."""
    ranges = {}
    for n in (5, 10):
        for limit in efficiency.limits_of(n):
            found = [g(runs, n, scheme, limit) for scheme in SCHEMES]
            ranges[n, limit] = max(found) - min(found)
    apart = [limit for (_, limit), width in ranges.items() if width > SAME_PERCENT]
    start = min(q for q in efficiency.limits_of(5) if q > max(apart, default=0))
    told = ", ".join(f"n={n} limit {q}: {width:.2f}" for (n, q), width in ranges.items())
    return holds(
        start <= claim.value,
        start,
        f"Highest less lowest G in percentage points: {told}; up to {SAME_PERCENT} is alike.",
    )


@CLAIMS.decides("EF-015", items=MANY)
def small_queues_deteriorate(runs: Runs, claim: Published) -> Decision:
    """Decide by G at small limits below that at 16, lowest for Drop Tail."""
    small = [limit for limit in efficiency.limits_of(5) if limit <= claim.value]
    lost, dt_lowest = {}, True
    for n in (5, 10):
        for limit in small:
            found = {scheme: g(runs, n, scheme, limit) for scheme in SCHEMES}
            lost[n, limit] = g(runs, n, "DT", 16) - found["DT"]
            dt_lowest &= found["DT"] == min(found.values())
    told = ", ".join(f"n={n} limit {q}: {loss:.2f}" for (n, q), loss in lost.items())
    worse = [q for (_, q), loss in lost.items() if loss > SAME_PERCENT]
    return holds(
        min(lost.values()) > SAME_PERCENT and dt_lowest,
        max(worse, default=0),
        f"Drop Tail's loss of G against limit 16 in percentage points: {told}; Drop Tail is "
        f"{'' if dt_lowest else 'not '}the lowest everywhere there.",
    )


@CLAIMS.decides("EF-069", items=ALL)
def ecn_gains_no_efficiency(runs: Runs, claim: Published) -> Decision:
    """Decide by the largest difference between ECN and Drop Tail at adequate limits."""
    gaps = {
        f"n={n} {s} limit {q}": g(runs, n, s, q) - g(runs, n, "DT", q)
        for n in (2, 5, 10)
        for s in ("ECN-C", "ECN-A")
        for q in _limits(n, 16)
    }
    where = max(gaps, key=lambda key: abs(gaps[key]))
    return none(claim, gaps[where], SAME_PERCENT, f"Largest of {len(gaps)} differences: {where}.")


@CLAIMS.decides("EF-070", items=["figure-2"])
def red_gains_efficiency_in_small_queues(runs: Runs, claim: Published) -> Decision:
    """Decide by the smallest gain of RED at limits up to 8, in each replication."""
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
        claim, smallest, "Smallest gain in percentage points of both maxp, both limits."
    )
