"""Functions that decide the claims of the paper from the runs.

The verdict compares the 95 % confidence interval of our mean with the published number and its
tolerance. A claim that one value is larger than another is decided if the interval of the mean
paired difference does not contain 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from aqmlab import estimates
from aqmlab.models.bursts import PACKET
from aqmlab.models.figure_7 import readings
from aqmlab.models.power_of_ecn import late_by_load
from aqmlab.studies.framework import Claims, Decision, Published, Runs, Tolerance
from aqmlab.studies.framework.claims import (
    EXACT,
    direction,
    estimated,
    every_sign,
    exactly,
    not_testable,
)
from aqmlab.studies.power_of_ecn import deployment, testbed, threshold
from aqmlab.studies.power_of_ecn.frozen import APART
from aqmlab.studies.power_of_ecn.mixes import sizes
from aqmlab.studies.power_of_ecn.model import MIXED, OF_TEXT, Alike, late, mean_in_system, of_mix
from aqmlab.studies.power_of_ecn.profiles import LOADS
from aqmlab.studies.power_of_ecn.scenarios import Setting
from aqmlab.studies.power_of_ecn.showing import (
    MEAN,
    PROFILE,
    SYN_ACK_LOSS,
    THROUGHPUT,
    VISIBLE,
    WITHIN,
    Quantity,
    gain,
    mean,
    over,
)
from aqmlab.studies.power_of_ecn.table_1 import RULE, relative
from aqmlab.studies.power_of_ecn.words import (
    ECN,
    ECN_PLUS,
    ENDS,
    GENERAL,
    LIGHT,
    OFF,
    PERSISTENT,
    PI,
    RED,
    RED_STAR,
    REM,
    SCHEMES,
    THRESHOLD,
    WEB,
)
from aqmlab.traffic import distribution

CLAIMS = Claims(Path(__file__).parent / "published" / "claims.csv", APART)
POINTS = Tolerance.of("five percentage points", 5)
GAIN = Tolerance.of("one percentage point", 1)
READ = (
    "In the figures of the paper, curves that differ by less than one percentage point cannot be "
    "distinguished."
)
FIGURE = {RED: "figure-2", RED_STAR: "figure-3", REM: "figure-4", PI: "figure-5"}
EVERY = list(FIGURE.values())


@CLAIMS.decides("PE-001", "PE-002", "PE-003", "PE-004", items=["table-1"])
def cited(runs: Runs, claim: Published) -> Decision:  # noqa: ARG001
    """Return "not testable" for a measurement in the Internet."""
    return not_testable(
        "The claims PE-001 to PE-004 are measurements of other authors in the Internet, from "
        "2000 and 2004. A simulation cannot reproduce a measurement in the Internet."
    )


@CLAIMS.decides("PE-006", "PE-007", items=["figure-3"])
def within_half_a_second(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the mean share of responses within 0.5 s."""
    ends = OFF if claim.id == "PE-006" else ECN
    at = Setting(RED_STAR, ends, LIGHT)
    there = mean(runs, Setting(RED_STAR, ends, PERSISTENT), WITHIN)
    lost = mean(runs, at, SYN_ACK_LOSS)
    text = (
        f"The queue drops {lost} % of the SYN-ACKs. At 105 % load, {there} % of the responses "
        "arrive within 0.5 s."
    )
    return estimated(claim, mean(runs, at, WITHIN), POINTS, text)


@CLAIMS.decides("PE-008", "PE-009", items=["table-1"])
def range_of_gains(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the minimum (or maximum) mean gain of PI, RED and REM at both loads.

    The interval of the minimum gain reaches from the minimum lower bound to the minimum upper bound
    of all gains. The interval of the maximum gain reaches from the maximum lower bound to the
    maximum upper bound of all gains.
    """
    cases = [(scheme, load) for scheme in (PI, RED, REM) for load in LOADS]
    by_case = {case: estimates.mean(relative(runs, *case)) for case in cases}
    pick = min if claim.id == "PE-008" else max
    at = pick(by_case, key=lambda case: by_case[case].value)
    low, high = (pick(getattr(of, bound) for of in by_case.values()) for bound in ("low", "high"))
    ours = replace(by_case[at], low=low, high=high)
    text = "; ".join(f"{scheme} {load} %: {by_case[scheme, load]}" for scheme, load in cases)
    return estimated(
        claim, ours, GAIN, f"{text}. By Table 1 of the paper, the gains of PI are 0.22 and 0.13 %."
    )


@CLAIMS.decides("PE-010", "PE-011", items=["table-1"])
def gain_of_red_star(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the mean throughput gain of ECN+ over ECN with RED*."""
    load = LIGHT if claim.id == "PE-010" else PERSISTENT
    lost = mean(runs, Setting(RED_STAR, ECN, load), SYN_ACK_LOSS)
    text = f"With ECN, the queue drops {lost} % of the SYN-ACKs."
    return estimated(claim, estimates.mean(relative(runs, RED_STAR, load)), GAIN, text)


THROUGHPUTS: dict[str, tuple[str, Setting]] = {
    "PE-012": ("figure-6", Setting(THRESHOLD, ECN_PLUS, LIGHT)),
    "PE-013": ("figure-6", Setting(PI, OFF, LIGHT)),
    "PE-014": ("figure-6", Setting(THRESHOLD, ECN_PLUS, PERSISTENT)),
    "PE-015": ("figure-6", Setting(PI, OFF, PERSISTENT)),
    "PE-016": ("figure-6", Setting(THRESHOLD, ECN_PLUS, LIGHT, GENERAL)),
    "PE-017": ("figure-6", Setting(PI, OFF, LIGHT, GENERAL)),
    "PE-018": ("figure-6", Setting(THRESHOLD, ECN_PLUS, PERSISTENT, GENERAL)),
    "PE-019": ("figure-6", Setting(PI, OFF, PERSISTENT, GENERAL)),
    "PE-020": ("table-1", Setting(PI, ECN, LIGHT)),
    "PE-021": ("table-1", Setting(PI, ECN_PLUS, LIGHT)),
    "PE-022": ("table-1", Setting(PI, ECN, PERSISTENT)),
    "PE-023": ("table-1", Setting(PI, ECN_PLUS, PERSISTENT)),
}


def _register(claim_id: str, item: str, at: Setting) -> None:
    def throughput(runs: Runs, claim: Published) -> Decision:
        free = mean(runs, at.reference, THROUGHPUT)
        text = (
            f"On the uncongested link, the same requests have a throughput of {free} % of 100 "
            "Mbit/s."
        )
        return estimated(claim, mean(runs, at, THROUGHPUT), RULE, text)

    CLAIMS.decides(claim_id, items=[item])(throughput)


for _id, _row in THROUGHPUTS.items():
    _register(_id, *_row)


@CLAIMS.decides("PE-024", items=["model"])
def packets_of_a_flow(runs: Runs, claim: Published) -> Decision:  # noqa: ARG001
    """Decide the claim by the mean object size of the web mix, in packets."""
    ours = distribution("size", sizes(WEB)).mean / PACKET
    text = (
        f"Our number is the mean object size of the web mix in packets of {PACKET} B. The paper's "
        "mean sizes of 7.2 kB and 7.22 packets imply this packet size."
    )
    return exactly(
        claim,
        ours,
        f"{text} Rule: our number is within 1 % of the published number.",
        0.01 * claim.value,
    )


@CLAIMS.decides("PE-025", items=["model"])
def mean_queue(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the mean queue that equation (1) of the paper gives.

    The evidence of the claim names the change of equation (1) that gives a mean queue of 5 packets.
    """
    stated, *others = readings()
    near = min((one for one in others if one.meets), key=lambda one: len(one.departures))
    with_all, delayed = (
        estimates.mean(mean_in_system(runs, Alike(OF_TEXT, delayed_acks=d))) for d in (False, True)
    )
    text = (
        "Our number is the result of equation (1) with bursts of 2, 4 and 1 packets. With "
        f"{' and '.join(near.departures)}, equation (1) gives {near.packets:.1f} packets. "
        f"Simulated TCP flows of 7 packets through a FIFO queue have a mean queue of {with_all} "
        f"with an ACK per segment, and {delayed} with delayed ACKs. Rule: our number is within "
        "one packet of the published number."
    )
    return exactly(claim, stated.packets, text, 1)


LATE = {"PE-026": (WEB, 0.95, 622e6), "PE-027": (GENERAL, 0.9, 100e6)}


@CLAIMS.decides(*LATE, items=["model"])
def long_delays(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the probability of long delays that the queueing model gives.

    The evidence of the claim lists the probabilities of long delays in simulations.
    """
    mix, load, rate = LATE[claim.id]
    ours = 100 * float(late_by_load(of_mix(mix, PACKET), [load], rate)[0])
    alike = [at for at in MIXED if (at.mix, at.rate_bps) == (mix, rate) and runs.has(at)]
    seen = [pair for at in alike for pair in late(runs, at)]
    listed = "; ".join(f"{100 * p:.1f} % at load {100 * x:.1f} %" for x, p in sorted(seen))
    there = f" With a simulated FIFO queue: {listed}." if seen else ""
    return exactly(
        claim,
        ours,
        f"Our number is the result of the model M[X]/M/1 with the bursts of our traffic.{there}",
    )


@CLAIMS.decides("PE-028", "PE-029", "PE-030", items=["figure-10"])
def deployed(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the share of requests that clients with ECN send.

    The evidence of the claim compares the response-time profiles of clients with ECN and without
    ECN.
    """
    at = deployment.setting(round(claim.value / 5))
    ran = runs.of(at)
    shares = [100 * r.kinds["ecn"].number / r.all.number for r in ran]
    better = estimates.mean(
        100 * (r.kinds["ecn"].profile() - r.kinds["plain"].profile()) for r in ran
    )
    text = (
        f"Clients with ECN send {estimates.mean(shares)} % of the requests. The mean "
        f"response-time profile of clients with ECN minus that of clients without ECN is {better} "
        "percentage points."
    )
    return exactly(claim, float(np.mean(shares)), text, 2)


def _testbed(runs: Runs, ends: str, quantity: Quantity) -> list[float]:
    at = testbed.Testbed(RED_STAR, ends)
    return [quantity[2](run) for run in runs.of(at)]


SHARES = {"PE-031": OFF, "PE-032": ECN, "PE-033": ECN_PLUS}
TIMES = {"PE-034": OFF, "PE-035": ECN, "PE-036": ECN_PLUS}


@CLAIMS.decides(*SHARES, items=["testbed"])
def share_of_testbed(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the mean throughput in the testbed."""
    at = testbed.Testbed(RED_STAR, SHARES[claim.id])
    ours = over(testbed.THROUGHPUT, runs.of(at))
    return estimated(claim, ours, testbed.SHARE_RULE)


@CLAIMS.decides(*TIMES, items=["testbed"])
def time_of_testbed(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the mean response time in the testbed."""
    ours = estimates.mean(_testbed(runs, TIMES[claim.id], MEAN))
    return estimated(claim, ours, testbed.TIME_RULE)


RATIOS: dict[str, Callable[[float, float], float]] = {
    "PE-037": lambda plus, ecn: 100 * (plus / ecn - 1),
    "PE-038": lambda plus, ecn: 100 * (plus / ecn - 1),
    "PE-039": lambda plus, ecn: ecn / plus,
}
OF = {"PE-037": testbed.SERVED, "PE-038": testbed.THROUGHPUT, "PE-039": MEAN}


@CLAIMS.decides(*RATIOS, items=["testbed"])
def gain_of_testbed(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the mean change from ECN to ECN+ over the replications."""
    both = zip(*(_testbed(runs, ends, OF[claim.id]) for ends in (ECN_PLUS, ECN)), strict=True)
    ours = estimates.mean(RATIOS[claim.id](plus, ecn) for plus, ecn in both)
    if claim.qualifier == "lower_bound":
        return estimated(claim, ours, EXACT)
    return estimated(claim, ours, Tolerance.larger_of(0, 0.25))


def _mix(at: Setting) -> str:
    return "" if at.mix == WEB else f"{at.mix} mix, "


def _all(
    runs: Runs, claim: Published, pairs: Sequence[tuple[Setting, Setting]], quantity: Quantity
) -> Decision:
    """Decide a claim about a sign by the difference in every pair of settings."""
    by_case = {
        f"{_mix(at)}{at.scheme} {at.load} %": estimates.mean(gain(runs, at, over, quantity))
        for at, over in pairs
    }
    if quantity is THROUGHPUT:
        return every_sign(claim, by_case, 0, "Differences in % of the link.")
    return every_sign(
        claim, by_case, VISIBLE, f"Differences in percentage points of the mean profile. {READ}"
    )


def _pairs(schemes: Sequence[str], more: str, less: str) -> list[tuple[Setting, Setting]]:
    return [(Setting(s, more, load), Setting(s, less, load)) for s in schemes for load in LOADS]


@CLAIMS.decides("PE-040", items=["table-1"])
def plus_carries_more(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the throughput with ECN+ minus ECN, for four schemes at both loads."""
    return _all(runs, claim, _pairs(SCHEMES, ECN_PLUS, ECN), THROUGHPUT)


@CLAIMS.decides("PE-041", items=EVERY)
def plus_answers_sooner(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the gain of ECN+ over ECN in the mean response-time profile.

    The gain is computed for four AQM schemes, at 90 and at 105 % load.
    """
    return _all(runs, claim, _pairs(SCHEMES, ECN_PLUS, ECN), PROFILE)


SIGNS = {"PE-042": RED_STAR, "PE-043": RED, "PE-044": REM, "PE-045": PI}


def _register_sign(claim_id: str, scheme: str) -> None:
    def sign(runs: Runs, claim: Published) -> Decision:
        return _all(runs, claim, _pairs([scheme], ECN, OFF), PROFILE)

    CLAIMS.decides(claim_id, items=[FIGURE[scheme]])(sign)


for _id, _scheme in SIGNS.items():
    _register_sign(_id, _scheme)


def _mean_over_loads(runs: Runs, scheme: str, ends: str) -> dict[int, float]:
    """Return the mean profile over both loads, for each replication that ran at both loads."""
    light, persistent = (dict(runs.by_replication(Setting(scheme, ends, load))) for load in LOADS)
    return {
        r: float(np.mean([PROFILE[2](light[r]), PROFILE[2](persistent[r])]))
        for r in light.keys() & persistent.keys()
    }


def _lead(first: dict[int, float], second: dict[int, float]) -> list[float]:
    """Return the differences of two quantities in the replications that both have."""
    return [first[r] - second[r] for r in sorted(first.keys() & second.keys())]


@CLAIMS.decides("PE-046", items=EVERY)
def rank_of_pi(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the mean response-time profiles with ECN+, averaged over both loads."""
    every = {s: _mean_over_loads(runs, s, ECN_PLUS) for s in SCHEMES}
    means = {s: estimates.mean(profiles.values()) for s, profiles in every.items()}
    order = sorted(means, key=lambda s: -means[s].value)
    text = ", ".join(f"{s} {means[s]}" for s in order)
    rank = order.index(PI) + 1
    best = next(s for s in order if s != PI)
    lead = _lead(every[PI], every[best])
    text = (
        f"Mean response-time profile with {ENDS[ECN_PLUS]}: {text}. The differences are those "
        f"between PI and the best other scheme, {best}."
    )
    return replace(direction(claim, lead, f"{text} {READ}", VISIBLE), ours=str(rank))


@CLAIMS.decides("PE-047", items=["figure-2", "figure-3"])
def red_star_above_red(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the response-time profile with RED* minus the profile with RED.

    The hosts use ECN+. Each profile is averaged over 90 and 105 % load.
    """
    star, red = (_mean_over_loads(runs, s, ECN_PLUS) for s in (RED_STAR, RED))
    return direction(
        claim,
        _lead(star, red),
        "Mean response-time profile with RED* minus the mean profile with RED, both with ECN+. "
        f"{READ}",
        VISIBLE,
    )


@CLAIMS.decides("PE-048", items=["figure-6"])
def threshold_above_pi(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the mean response-time profiles in both mixes at both loads."""
    return _all(runs, claim, [threshold.pair(*case) for case in threshold.CASES], PROFILE)


@CLAIMS.decides("PE-049", items=["figure-10"])
def others_lose(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the change of the response-time profile of clients without ECN.

    The change is the profile if 95 % of the clients have ECN, minus the profile if 5 % have ECN.
    """
    return direction(
        claim,
        deployment.changes(runs, deployment.OPEN),
        "Mean profile of clients without ECN, in percentage points: at 95 % deployment minus at "
        f"5 % deployment. {READ}",
        VISIBLE,
    )


@CLAIMS.decides("PE-005", items=["loads"])
def schemes_matter_above(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the loads at which the schemes have different profiles."""
    from aqmlab.studies.power_of_ecn import loads

    return loads.matters(runs, claim)
