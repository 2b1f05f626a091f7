"""Claims about three TCP flows through Tail Drop and RED."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aqmlab.estimates import Estimate, number
from aqmlab.statistics import jain, proportion_interval
from aqmlab.studies.framework import Decision, Published, Runs, Tolerance
from aqmlab.studies.framework.claims import (
    EXACT,
    condition,
    direction,
    estimated,
    exactly,
    whole,
)
from aqmlab.studies.framework.runs import Floats
from aqmlab.studies.red_wired_testbed.claims.rules import (
    CLAIMS,
    arithmetic,
    counted,
    highest,
    lowest,
    median,
    middle,
    near,
    occurs,
    quartile_range,
)
from aqmlab.studies.red_wired_testbed.outcomes import (
    FASTEST,
    SLOWEST,
    THIRD,
    Outcome,
    handshake,
    measure,
)
from aqmlab.studies.red_wired_testbed.scenarios import (
    EXPERIMENT,
    LONG_BYTES,
    RED,
    RED_STARTS_S,
    SHORT_BYTES,
    TAIL_DROP,
    TAIL_DROP_STARTS_S,
    USUAL,
    Three,
)

TAIL, REDS, BOTH = ["table-5-1"], ["table-5-4"], ["table-5-1", "table-5-4"]
STARTS = {TAIL_DROP: TAIL_DROP_STARTS_S, RED: RED_STARTS_S}
LINK_BYTES_PER_S = 17_500
"""Link rate in byte/s by which the thesis computes shares: 140 kbit/s."""
FAIR = 0.035
"""Maximum relative difference of the throughputs of fair long flows.

With a limit of 3.5 %, the published replications have as many fair replications as the thesis
states: 10 of 20 at 0 s, and 7 of 20 at 5.5 s.
"""


def of(runs: Runs, discipline: str, start_s: float, place: str, column: str) -> Floats:
    """Return our numbers for a column of the published tables, one number per replication."""
    read = handshake(place) if column == "handshake" else measure(place, column)
    return runs.values(Three(discipline, start_s), read.of)


def elapsed(runs: Runs, discipline: str, start_s: float, place: str) -> Floats:
    """Return the elapsed times of a flow in s, one time per replication."""
    return of(runs, discipline, start_s, place, "elapsed_time_s")


def rates(runs: Runs, discipline: str, start_s: float, place: str) -> Floats:
    """Return the throughputs of a flow in byte/s, one throughput per replication."""
    return of(runs, discipline, start_s, place, "throughput_bytes_per_s")


def _by_start(discipline: str, read: Callable[[float], float]) -> dict[float, float]:
    return {s: read(s) for s in STARTS[discipline]}


@CLAIMS.decides("RW-001", "RW-002", "RW-003", "RW-004", items=TAIL)
def throughput_of_long_flows(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the mean throughput, averaged over the start times."""
    place = FASTEST if claim.id in ("RW-001", "RW-002") else SLOWEST

    def mean(of_runs: Runs) -> float:
        each = [np.mean(rates(of_runs, TAIL_DROP, s, place)) for s in TAIL_DROP_STARTS_S]
        return float(np.mean(each))

    if claim.unit == "%":
        text = "Our number is the mean throughput in % of 17500 byte/s."
        return near(claim, runs, lambda of: 100 * mean(of) / LINK_BYTES_PER_S, text, 0, 2)
    return near(
        claim, runs, mean, "Our number is the mean throughput, averaged over 12 start times.", 0.05
    )


@CLAIMS.decides("RW-005", "RW-006", items=TAIL)
def ends_of_third(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the minimum elapsed times, which the thesis calls medians."""
    pick = min if claim.id == "RW-005" else max

    def end(of_runs: Runs) -> float:
        return pick(lowest(elapsed(of_runs, TAIL_DROP, s, THIRD)) for s in TAIL_DROP_STARTS_S)

    return near(
        claim,
        runs,
        end,
        "The text of the thesis calls the published number a median, but by Table 5-1 it is a "
        "minimum over the replications of one start time.",
    )


def _third_rate(runs: Runs) -> dict[float, float]:
    def mean(start_s: float) -> float:
        return float(np.mean(rates(runs, TAIL_DROP, start_s, THIRD)))

    return _by_start(TAIL_DROP, mean)


@CLAIMS.decides("RW-007", "RW-008", "RW-009", "RW-010", items=TAIL)
def rate_of_third(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the third flow's mean throughput at the start time of the claim."""
    start_s = 2.0 if "2 s" in claim.scenario else 0.0

    def mean(of_runs: Runs) -> float:
        return float(np.mean(rates(of_runs, TAIL_DROP, start_s, THIRD)))

    if claim.unit == "%":
        text = "Our number is the mean throughput in % of 17500 byte/s."
        return near(claim, runs, lambda of: 100 * mean(of) / LINK_BYTES_PER_S, text, 0, 2)
    return near(
        claim,
        runs,
        mean,
        f"Our number is the mean throughput of the third flow at start {start_s:g} s.",
    )


@CLAIMS.decides("RW-011", "RW-012", items=TAIL)
def worst_and_best_start(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the start time with the lowest throughput (or elapsed time)."""
    if claim.id == "RW-011":
        by_start, about = {s: -rate for s, rate in _third_rate(runs).items()}, "mean throughput"
    else:
        by_start, about = _medians(runs, TAIL_DROP, THIRD), "median elapsed time"

    def lead(of_runs: Runs) -> float:
        """Return by how much the published start time is lower than all other start times."""
        if claim.id == "RW-011":
            values = {s: -rate for s, rate in _third_rate(of_runs).items()}
        else:
            values = _medians(of_runs, TAIL_DROP, THIRD)
        printed = values.pop(claim.value)
        return min(values.values()) - printed

    ours = min(by_start, key=lambda s: by_start[s])
    text = (
        f"Our number is the start time with the lowest {about}. The {about} is "
        f"{number(abs(by_start[ours]))} at this start time, and "
        f"{number(abs(by_start[claim.value]))} at the published start time of {claim.value:g} s. "
        f"Statement: the {about} is lowest at {claim.value:g} s."
    )
    return condition(runs, lead, f"{ours:g} s", text)


def _medians(runs: Runs, discipline: str, place: str) -> dict[float, float]:
    return _by_start(discipline, lambda s: median(elapsed(runs, discipline, s, place)))


@CLAIMS.decides("RW-013", "RW-014", items=TAIL)
def median_rates(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the third flow's median throughput at the start time of the claim."""
    return middle(claim, rates(runs, TAIL_DROP, 5.5 if claim.id == "RW-013" else 2.0, THIRD))


@CLAIMS.decides("RW-015", "RW-016", "RW-072", "RW-073", "RW-074", "RW-075", items=BOTH)
def median_times(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the third flow's median elapsed time at the claim's start time."""
    discipline = RED if claim.scenario.startswith("RED") else TAIL_DROP
    return middle(claim, elapsed(runs, discipline, 5.5 if "5.5" in claim.scenario else 2.0, THIRD))


@CLAIMS.decides("RW-017", items=TAIL)
def size_of_third(_: Runs, claim: Published) -> Decision:
    """Decide the claim by the sizes of the transfers."""
    return arithmetic(
        claim,
        SHORT_BYTES / LONG_BYTES,
        "The third flow has 46720 bytes, and a long flow 292000 bytes.",
        0.005,
    )


def fair(run: Outcome) -> bool:
    """Return True if the two long flows have nearly equal throughputs."""
    return run.at(SLOWEST).throughput > (1 - FAIR) * run.at(FASTEST).throughput


@CLAIMS.decides("RW-018", "RW-019", "RW-024", "RW-045", "RW-046", "RW-047", items=TAIL)
def replications_of_a_kind(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the number of replications that meet the condition of the claim."""
    start_s = 5.5 if "5.5" in claim.scenario else 0.0
    ran = runs.of(Three(TAIL_DROP, start_s))
    third = [run.at(THIRD).throughput for run in ran]
    mid, high = np.quantile(third, [0.5, 0.75])
    about = "Rule: “fair” means that the throughputs of the long flows differ by less than 3.5 %."
    tests: dict[str, tuple[Callable[[Outcome], bool], str]] = {
        "RW-018": (fair, about),
        "RW-019": (lambda r: fair(r) and mid <= r.at(THIRD).throughput <= high, about),
        "RW-024": (lambda r: r.at(THIRD).throughput >= high,
                   "Rule: the throughput of the third flow is at or above the upper quartile of "
                   "our replications."),
        "RW-045": (fair, about),
        "RW-046": (lambda r: fair(r) and r.at(THIRD).throughput >= mid,
                   f"{about} Rule: “optimal” means that the third flow's throughput is at or "
                   "above our median."),
        "RW-047": (lambda r: r.at(THIRD).handshake_s >= 3,
                   "Rule: “long” means 3 s or more, with a lost SYN."),
    }  # fmt: skip
    test, evidence = tests[claim.id]
    count = sum(test(run) for run in ran)
    return counted(claim, count, len(ran), 10 if claim.unit == "%" else 2, evidence)


@CLAIMS.decides("RW-023", items=TAIL)
def fairest(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by Jain's index of the fairest replication."""

    def best(of_runs: Runs) -> float:
        ran = of_runs.of(Three(TAIL_DROP, 0.0))
        return highest(jain([r.at(FASTEST).throughput, r.at(SLOWEST).throughput]) for r in ran)

    return near(
        claim, runs, best, "Our number is Jain's index of our fairest replication.", 0, 0.0002
    )


@CLAIMS.decides("RW-025", "RW-083", items=BOTH)
def replications(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by how many replications were run."""
    discipline = TAIL_DROP if claim.id == "RW-025" else RED
    repeated = min(len(runs.of(Three(discipline, s))) for s in STARTS[discipline])
    count = len(STARTS[discipline]) * min(repeated, EXPERIMENT)
    text = (
        f"The scenarios are {len(STARTS[discipline])} start times. We ran {repeated} replications "
        f"of each, and an experiment of the thesis has {EXPERIMENT}."
    )
    return exactly(claim, count, text)


EXAMPLES: dict[str, tuple[str, float, str, str]] = {
    "RW-020": (TAIL_DROP, 0.0, THIRD, "throughput_bytes_per_s"),
    "RW-021": (TAIL_DROP, 0.0, FASTEST, "throughput_bytes_per_s"),
    "RW-022": (TAIL_DROP, 0.0, SLOWEST, "throughput_bytes_per_s"),
    "RW-026": (TAIL_DROP, 2.0, FASTEST, "elapsed_time_s"),
    "RW-027": (TAIL_DROP, 2.0, SLOWEST, "elapsed_time_s"),
    "RW-028": (TAIL_DROP, 2.0, THIRD, "elapsed_time_s"),
    "RW-029": (TAIL_DROP, 2.0, THIRD, "data_xmit_time_s"),
    "RW-030": (TAIL_DROP, 2.0, THIRD, "throughput_bytes_per_s"),
    "RW-031": (TAIL_DROP, 2.0, FASTEST, "throughput_bytes_per_s"),
    **{f"RW-0{i}": (TAIL_DROP, 2.0, THIRD, "throughput_bytes_per_s") for i in (33, 36, 39, 41, 43)},
    **{f"RW-0{i}": (TAIL_DROP, 2.0, THIRD, "elapsed_time_s") for i in (34, 37, 40, 42, 44)},
    **{f"RW-0{i}": (TAIL_DROP, 2.0, THIRD, "data_xmit_time_s") for i in (35, 38)},
    "RW-048": (TAIL_DROP, 5.5, FASTEST, "throughput_bytes_per_s"),
    "RW-049": (TAIL_DROP, 5.5, FASTEST, "elapsed_time_s"),
    "RW-050": (TAIL_DROP, 5.5, THIRD, "throughput_bytes_per_s"),
    "RW-051": (TAIL_DROP, 5.5, THIRD, "elapsed_time_s"),
    "RW-052": (TAIL_DROP, 5.5, THIRD, "throughput_bytes_per_s"),
    "RW-053": (TAIL_DROP, 5.5, FASTEST, "throughput_bytes_per_s"),
    "RW-054": (TAIL_DROP, 5.5, FASTEST, "retx_packets"),
    "RW-059": (RED, 5.0, THIRD, "elapsed_time_s"),
    "RW-060": (RED, 5.0, FASTEST, "elapsed_time_s"),
    "RW-061": (RED, 5.0, SLOWEST, "elapsed_time_s"),
    "RW-069": (RED, 5.5, FASTEST, "throughput_bytes_per_s"),
    "RW-070": (RED, 5.5, SLOWEST, "throughput_bytes_per_s"),
    "RW-071": (RED, 5.5, THIRD, "throughput_bytes_per_s"),
}
"""Claims about one replication.

The text of the thesis has some numbers at 4 s, which Table 5-4 and this module have at 5 s.
"""


@CLAIMS.decides(*EXAMPLES, items=BOTH)
def example(runs: Runs, claim: Published) -> Decision:
    """Decide a claim about one replication by the spread of our replications."""
    return occurs(claim, of(runs, *EXAMPLES[claim.id]))


@CLAIMS.decides("RW-032", items=TAIL)
def first_packet_again(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the number of timeouts of the third flow."""
    timeouts = [run.at(THIRD).timeouts for run in runs.of(Three(TAIL_DROP, 2.0))]
    return occurs(claim, timeouts)


def _ranges(runs: Runs, discipline: str) -> list[float]:
    return [quartile_range(elapsed(runs, discipline, s, THIRD)) for s in RED_STARTS_S]


@CLAIMS.decides("RW-055", "RW-056", "RW-057", "RW-058", items=BOTH)
def spread_of_third(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the interquartile ranges of the third flow's time at five start times."""
    discipline = RED if claim.scenario.startswith("RED") else TAIL_DROP
    typical = claim.id in ("RW-055", "RW-056")

    def width(of_runs: Runs) -> float:
        widths = _ranges(of_runs, discipline)
        return float(np.mean(widths)) if typical else max(widths)

    text = (
        "Our number is the mean of the ranges at five start times."
        if typical
        else "Our number is the largest of the ranges at five start times."
    )
    return near(claim, runs, width, text, 0.25)


MEDIANS: dict[str, tuple[str, float, str, str]] = {
    "RW-062": (RED, 4.0, THIRD, "handshake"),
    "RW-063": (TAIL_DROP, 4.0, THIRD, "handshake"),
    "RW-064": (TAIL_DROP, 2.0, THIRD, "handshake"),
    "RW-065": (RED, 2.0, THIRD, "data_xmit_time_s"),
    "RW-066": (TAIL_DROP, 2.0, THIRD, "data_xmit_time_s"),
    "RW-067": (TAIL_DROP, 4.0, THIRD, "data_xmit_time_s"),
}


@CLAIMS.decides(*MEDIANS, items=BOTH)
def phases_of_third(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the median of the third flow's handshake or data transmit time."""
    return middle(claim, of(runs, *MEDIANS[claim.id]))


@CLAIMS.decides("RW-068", items=TAIL)
def critical_time(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the time of the third flow's first data, at the worst start time."""

    def critical(of_runs: Runs) -> tuple[float, float]:
        times = _medians(of_runs, TAIL_DROP, THIRD)
        start_s = max(times, key=lambda s: times[s])
        return start_s, median(of(of_runs, TAIL_DROP, start_s, THIRD, "handshake"))

    start_s, shake = critical(runs)
    text = (
        f"Our number is the worst start time, {start_s:g} s, plus the median handshake time of "
        f"{number(shake)} s."
    )
    return near(claim, runs, lambda of_runs: sum(critical(of_runs)), text, 0, 1.0)


@CLAIMS.decides("RW-076", "RW-077", items=BOTH)
def gaps(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the largest difference between the medians with RED and Tail Drop."""
    place = SLOWEST if claim.id == "RW-076" else FASTEST

    def largest(of_runs: Runs) -> float:
        tail, red = (_medians(of_runs, d, place) for d in (TAIL_DROP, RED))
        return max(abs(red[s] - tail[s]) for s in RED_STARTS_S)

    text = "Our number is the largest difference at five start times."
    if claim.id == "RW-077":
        return whole(claim, runs, largest, EXACT, text)
    return near(claim, runs, largest, text, 0, 0.25)


def _resent(runs: Runs, discipline: str, start_s: float, place: str) -> float:
    return median(of(runs, discipline, start_s, place, "retx_packets"))


def _initial(runs: Runs, discipline: str, start_s: float) -> float:
    return sum(_resent(runs, discipline, start_s, p) for p in (FASTEST, SLOWEST)) / 2


@CLAIMS.decides("RW-078", items=BOTH)
def resent_by_red(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the long flows' median retransmissions at the five start times."""

    def ratio(of_runs: Runs) -> float:
        red, tail = (sum(_initial(of_runs, d, s) for s in RED_STARTS_S) for d in (RED, TAIL_DROP))
        return red / tail

    return near(
        claim,
        runs,
        ratio,
        "We sum the long flows' median retransmissions over five start times. Our number is the "
        "sum of the retransmissions with RED divided by the sum with Tail Drop.",
        0.25,
    )


@CLAIMS.decides("RW-079", "RW-080", "RW-081", "RW-082", items=BOTH)
def resent_by_long_flows(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the retransmissions of a long flow divided by those of the third flow."""
    discipline = RED if claim.id in ("RW-079", "RW-080") else TAIL_DROP
    pick = min if claim.id in ("RW-079", "RW-081") else max

    def ratio(of_runs: Runs) -> float:
        return pick(
            _initial(of_runs, discipline, s) / max(1, _resent(of_runs, discipline, s, THIRD))
            for s in RED_STARTS_S
        )

    return near(
        claim,
        runs,
        ratio,
        "Our number is the lowest (or highest) ratio of median retransmissions at five start "
        "times.",
        0.3,
    )


@CLAIMS.decides("RW-084", items=REDS)
def exceptions(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the replications with RED in which the third flow takes longest."""
    ran = [run for s in RED_STARTS_S for run in runs.of(Three(RED, s))]
    both = sum(run.at(THIRD).elapsed_s > run.at(SLOWEST).elapsed_s for run in ran)
    one = sum(run.exception for run in ran)
    text = (
        f"The third flow takes longer than both long flows in {both} of {len(ran)} replications, "
        f"and longer than the faster long flow in {one}. Our number is the share of "
        "replications in which the third flow takes longer than the faster long flow, for 100 "
        "replications."
    )
    low, _, high = (100 * bound for bound in proportion_interval(one, len(ran)))
    share = 100 * one / len(ran)
    ours = Estimate("of 100 replications, 95 % confidence", share, low, high, len(ran))
    return estimated(claim, ours, Tolerance.of("one replication in twenty", 5), text)


@CLAIMS.decides("RW-085", items=REDS)
def dropped_near_maxth(_: Runs, claim: Published) -> Decision:
    """Decide the claim by RED's average drop probability near maxth, with even spacing of drops."""
    return arithmetic(
        claim,
        2 * 0.1 / (1 + 0.1),
        "RED spaces its drops evenly, so RED's average drop probability near maxth is 2p / (1 + "
        "p), where the maximum drop probability p is 0.1.",
        0.03,
    )


@CLAIMS.decides("RW-139", items=TAIL)
def later_by_two_seconds(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the largest ratio of two medians with starts two seconds apart."""

    def ratio(of_runs: Runs) -> float:
        times = _medians(of_runs, TAIL_DROP, THIRD)
        return max(
            max(times[s] / times[s + 2], times[s + 2] / times[s]) for s in times if s + 2 in times
        )

    return near(
        claim,
        runs,
        ratio,
        "Our number is the largest ratio of two medians whose start times are two seconds apart.",
        0.25,
    )


@CLAIMS.decides("RW-140", "RW-141", items=BOTH)
def red_against_tail_drop(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the paired differences at the five start times of the third flow.

    Every start time has the same number of differences, and therefore the same weight.
    """
    place, column = (FASTEST, "retx_packets") if claim.id == "RW-140" else (THIRD, "elapsed_time_s")
    apart = [
        red - tail
        for s in RED_STARTS_S
        for red, tail in zip(
            of(runs, RED, s, place, column)[:USUAL],
            of(runs, TAIL_DROP, s, place, column)[:USUAL],
            strict=True,
        )
    ]
    return direction(
        claim, apart, "Value with RED minus value with Tail Drop, at five start times."
    )
