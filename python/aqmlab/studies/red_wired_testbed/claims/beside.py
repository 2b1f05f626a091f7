"""Claims about a TCP flow that competes with a CBR flow."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from aqmlab.estimates import number
from aqmlab.measures import Measure
from aqmlab.studies.framework import Decision, Published, Runs
from aqmlab.studies.framework.claims import EXACT, direction, whole
from aqmlab.studies.framework.runs import Floats
from aqmlab.studies.red_wired_testbed.claims.rules import (
    CLAIMS,
    arithmetic,
    highest,
    median,
    middle,
    near,
    occurs,
)
from aqmlab.studies.red_wired_testbed.outcomes import (
    CBR_SHARE,
    ELAPSED,
    RECEIVED,
    RESENT,
    TCP_SHARE,
    Outcome,
)
from aqmlab.studies.red_wired_testbed.scenarios import (
    ALONE,
    BRIEF,
    LONG,
    MEDIUM,
    ONE_CLASS,
    RED,
    SHORT,
    TAIL_DROP,
    TWO_CLASS,
    Beside,
    Workload,
)

FIRST, SECOND, THIRD = ["table-8-8"], ["table-8-9"], ["table-8-10"]
DRAWN = ["drawn"]
SLOW_START: Measure[Outcome] = Measure(
    "slow_start_s", "s", lambda run: run.tcp.acks.slow_start_s, 0, "Slow start (s)"
)
Read = Measure[Outcome]


def of(runs: Runs, at: Beside, read: Read) -> Floats:
    """Return the values of a measure in a setting, one value per replication."""
    return runs.values(at, read.of)


def medians(runs: Runs, case: Workload, discipline: str, classes: str, read: Read) -> list[float]:
    """Return the median of a measure at each start time of the CBR flow."""
    return [median(of(runs, Beside(case, discipline, classes, s), read)) for s in case.starts_s]


def _discipline(claim: Published) -> str:
    return RED if claim.scenario.endswith("RED") or ", RED" in claim.scenario else TAIL_DROP


@CLAIMS.decides("RW-086", "RW-087", items=FIRST)
def lost_of_cbr(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the share of lost CBR packets: medians, averaged over start times."""
    discipline = TAIL_DROP if claim.id == "RW-086" else RED

    def lost(of_runs: Runs) -> float:
        received = medians(of_runs, LONG, discipline, ONE_CLASS, RECEIVED)
        return 100 * (1 - float(np.mean(received)) / LONG.cbr_packets)

    return near(
        claim,
        runs,
        lost,
        "Our number is the median share of lost packets, averaged over four start times.",
        0,
        2,
    )


@CLAIMS.decides("RW-088", "RW-089", "RW-090", items=FIRST)
def slow_starts(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the times to TCP's first retransmission, over all start times."""
    if claim.id == "RW-090":

        def every(of_runs: Runs) -> list[list[float]]:
            settings = [Beside(LONG, TAIL_DROP, ONE_CLASS, s) for s in LONG.starts_s]
            return [
                [t for t in of(of_runs, at, SLOW_START) if not math.isnan(t)] for at in settings
            ]

        middle_s = median(t for times in every(runs) for t in times)
        text = (
            "Our number is the longest time to the first retransmission. The median time is "
            f"{number(middle_s)} s."
        )

        def longest(of_runs: Runs) -> float:
            return max((highest(times) for times in every(of_runs) if times), default=math.nan)

        return near(claim, runs, longest, text, 0.25)
    pick = min if claim.id == "RW-088" else max
    text = (
        "We compute the median time to the first retransmission for each of four start times. "
        "Our number is the lowest (RW-088) or the highest (RW-089) of the four median times."
    )
    return near(
        claim, runs, lambda of_runs: pick(medians(of_runs, LONG, RED, ONE_CLASS, SLOW_START)), text,
        0, 0.5,
    )  # fmt: skip


@CLAIMS.decides("RW-091", "RW-092", items=FIRST)
def added_by_two_classes(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the time in two classes minus the time in one class."""
    discipline = TAIL_DROP if claim.id == "RW-091" else RED

    def added(of_runs: Runs) -> float:
        one, two = (medians(of_runs, LONG, discipline, c, ELAPSED) for c in (ONE_CLASS, TWO_CLASS))
        return float(np.mean(np.array(two) - np.array(one)))

    return near(
        claim,
        runs,
        added,
        "Our number is the difference of medians, averaged over four start times.",
        0,
        0.5,
    )


@CLAIMS.decides("RW-093", "RW-094", items=FIRST)
def shares_of_load(_: Runs, claim: Published) -> Decision:
    """Decide the claim by the sizes of the transfers."""
    tcp, cbr = LONG.tcp_bytes, 132 * LONG.cbr_packets
    share = 100 * (tcp if claim.id == "RW-093" else cbr) / (tcp + cbr)
    return arithmetic(
        claim, share, f"The TCP flow has {tcp} bytes, and the CBR flow {cbr} bytes.", 2
    )


@CLAIMS.decides("RW-095", "RW-096", items=["table-5-7"])
def sum_of_utilizations(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the sum of TCP's and CBR's median throughputs, with each discipline."""
    pick = min if claim.id == "RW-095" else max

    def total(of_runs: Runs) -> float:
        return pick(
            100
            * sum(
                median(of(of_runs, Beside(LONG, d, ONE_CLASS), m)) for m in (TCP_SHARE, CBR_SHARE)
            )
            for d in (TAIL_DROP, RED)
        )

    return near(
        claim,
        runs,
        total,
        "With each queue discipline, we add the median throughputs of TCP and of the CBR flow. "
        "Our number is the lower (RW-095) or the higher (RW-096) of the two sums of throughputs, "
        "with Tail Drop and with RED.",
        0,
        2,
    )


@CLAIMS.decides("RW-097", items=FIRST)
def cbr_outlasts_tcp(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the time from the median end of TCP to the end of the CBR flow.

    The TCP flow and the CBR flow start at 0 s, and the CBR flow lasts for 40 s.
    """
    at = Beside(LONG, TAIL_DROP, ONE_CLASS)
    text = "Our number is 40 s minus the median elapsed time of TCP with Tail Drop."
    return near(
        claim, runs, lambda of_runs: LONG.cbr_s - median(of(of_runs, at, ELAPSED)), text, 0, 1
    )


@CLAIMS.decides("RW-098", items=[*FIRST, *DRAWN])
def alone_is_faster(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by TCP's median time with CBR traffic minus the time without CBR traffic.

    The CBR traffic and the TCP flow are in different classes of HTB.
    """
    return _mean_gap(runs, claim, ELAPSED, TWO_CLASS, ALONE)


@CLAIMS.decides("RW-099", items=[*FIRST, *DRAWN])
def shorter_slow_start(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the median time until the first retransmission of TCP.

    The median without CBR traffic is compared with the median with CBR traffic in another class.
    """
    return _mean_gap(runs, claim, SLOW_START, ALONE, TWO_CLASS)


def _mean_gap(runs: Runs, claim: Published, read: Read, more: str, less: str) -> Decision:
    """Decide the claim by the difference between the medians with two configurations of HTB.

    The difference is averaged over Tail Drop and RED.
    """

    def gaps(of_runs: Runs) -> list[float]:
        return [
            median(of(of_runs, Beside(LONG, d, more), read))
            - median(of(of_runs, Beside(LONG, d, less), read))
            for d in (TAIL_DROP, RED)
        ]

    tail, red = gaps(runs)
    text = (
        f"The difference is {number(tail)} s with Tail Drop and {number(red)} s with RED. Our "
        "number is the mean of the difference with Tail Drop and the difference with RED."
    )
    return near(claim, runs, lambda of_runs: float(np.mean(gaps(of_runs))), text, 0, 0.5)


@CLAIMS.decides("RW-100", "RW-101", items=FIRST)
def red_over_tail_drop(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the median with RED divided by the median with Tail Drop.

    TCP and the CBR flow are in one class of HTB.
    """
    read = RESENT if claim.id == "RW-100" else SLOW_START

    def ratio(of_runs: Runs) -> float:
        red, tail = (
            float(np.mean(medians(of_runs, LONG, d, ONE_CLASS, read))) for d in (RED, TAIL_DROP)
        )
        return red / tail if tail else math.nan

    return near(
        claim,
        runs,
        ratio,
        "We average the medians over four start times. Our number is the average median with RED "
        "divided by the average median with Tail Drop.",
        0.3,
    )


EXAMPLES: dict[str, tuple[Beside, Read]] = {
    f"RW-{102 + 2 * i + j}": (Beside(LONG, discipline, classes, 3), read)
    for i, (classes, discipline) in enumerate(
        [(ONE_CLASS, TAIL_DROP), (ONE_CLASS, RED), (TWO_CLASS, TAIL_DROP), (TWO_CLASS, RED)]
    )
    for j, read in enumerate((ELAPSED, RESENT))
}


@CLAIMS.decides(*EXAMPLES, items=FIRST)
def first_examples(runs: Runs, claim: Published) -> Decision:
    """Decide a claim about one replication by the spread of our replications."""
    return occurs(claim, of(runs, *EXAMPLES[claim.id]))


@CLAIMS.decides("RW-110", "RW-111", items=SECOND)
def before_and_after(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by TCP's median elapsed times at some start times of the CBR flow.

    The start times are below 1.5 s for RW-110, and at least 1.5 s for RW-111.
    """
    chosen = slice(None, 3) if claim.id == "RW-110" else slice(3, None)

    def mean(of_runs: Runs) -> float:
        return float(np.mean(medians(of_runs, SHORT, TAIL_DROP, ONE_CLASS, ELAPSED)[chosen]))

    return near(
        claim, runs, mean, "Our number is the mean of the medians at the start times of the claim."
    )


SHORT_ONES: dict[str, tuple[Beside, Read]] = {
    "RW-112": (Beside(SHORT, TAIL_DROP, ONE_CLASS, 0), RESENT),
    "RW-113": (Beside(SHORT, TAIL_DROP, ONE_CLASS, 1.5), RESENT),
    "RW-114": (Beside(SHORT, TAIL_DROP, ONE_CLASS, 0), ELAPSED),
    "RW-115": (Beside(SHORT, TAIL_DROP, ONE_CLASS, 1.5), ELAPSED),
    "RW-118": (Beside(SHORT, TAIL_DROP, ONE_CLASS, 0.5), ELAPSED),
    "RW-119": (Beside(SHORT, TAIL_DROP, TWO_CLASS, 0.5), ELAPSED),
}


@CLAIMS.decides(*SHORT_ONES, items=SECOND)
def short_transfers(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the median of our replications."""
    at, read = SHORT_ONES[claim.id]
    return middle(claim, of(runs, at, read), 0.10, 1.0 if read is RESENT else 0.0)


@CLAIMS.decides("RW-116", "RW-117", items=SECOND)
def lost_more_by_red(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the number of received CBR packets with Tail Drop minus that with RED.

    The difference of the medians is computed for each start time. The smallest difference of three
    start times decides RW-116, and the largest difference decides RW-117.
    """
    pick = min if claim.id == "RW-116" else max

    def gaps(of_runs: Runs) -> list[float]:
        tail, red = (medians(of_runs, SHORT, d, ONE_CLASS, RECEIVED) for d in (TAIL_DROP, RED))
        return [t - r for t, r in zip(tail, red, strict=True)]

    listed = ", ".join(number(g) for g in gaps(runs))
    text = (
        f"Differences at the five start times: {listed} packets in our runs, and -19.5, 5.5, 9, "
        "4 and 0 packets in the thesis. Our number is the smallest (RW-116) or the largest "
        "(RW-117) of the differences at the start times 0.5 to 1.5 s."
    )
    return near(claim, runs, lambda of_runs: pick(gaps(of_runs)[1:4]), text, 0, 2)


@CLAIMS.decides("RW-120", "RW-121", items=SECOND)
def second_examples(runs: Runs, claim: Published) -> Decision:
    """Decide a claim about one replication by the spread of our replications."""
    discipline = TAIL_DROP if claim.id == "RW-120" else RED
    return occurs(claim, of(runs, Beside(SHORT, discipline, TWO_CLASS, 0.5), ELAPSED))


@CLAIMS.decides("RW-122", "RW-123", "RW-124", items=DRAWN)
def short_alone(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by a quartile of the elapsed time of the short transfer.

    The short transfer is the only traffic on the slower link.
    """
    at = Beside(SHORT, RED, ALONE)
    share = {"RW-122": 0.5, "RW-123": 0.25, "RW-124": 0.75}[claim.id]
    text = f"Our number is the {100 * share:g} % quantile of our replications."
    return near(
        claim, runs, lambda of_runs: float(np.quantile(of(of_runs, at, ELAPSED), share)), text
    )


@CLAIMS.decides("RW-125", "RW-126", items=DRAWN)
def medium_transfers(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the median of the medium transfer's retransmissions."""
    discipline = TAIL_DROP if claim.id == "RW-125" else RED
    return middle(claim, of(runs, Beside(MEDIUM, discipline, ONE_CLASS), RESENT), 0.2, 1.0)


@CLAIMS.decides("RW-127", "RW-128", items=THIRD)
def steady_with_red(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by RED's medians, averaged over the start times of the CBR flow."""
    read = ELAPSED if claim.id == "RW-127" else RECEIVED

    def mean(of_runs: Runs) -> float:
        return float(np.mean(medians(of_runs, BRIEF, RED, ONE_CLASS, read)))

    return near(
        claim, runs, mean, "Our number is the mean of the medians at six start times.", 0.03
    )


@CLAIMS.decides("RW-129", "RW-130", items=THIRD)
def range_over_starts(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the range of the medians over the start times of the CBR flow."""
    discipline = _discipline(claim)

    def width(of_runs: Runs) -> float:
        times = medians(of_runs, BRIEF, discipline, ONE_CLASS, ELAPSED)
        return max(times) - min(times)

    return near(
        claim, runs, width, "Our number is the range of the medians at six start times.", 0, 0.2
    )


@CLAIMS.decides("RW-131", items=THIRD)
def advantage_of_tail_drop(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the medians with RED minus Tail Drop, averaged over CBR start times."""

    def gap(of_runs: Runs) -> float:
        red, tail = (
            np.array(medians(of_runs, BRIEF, d, TWO_CLASS, ELAPSED)) for d in (RED, TAIL_DROP)
        )
        return float((red - tail).mean())

    return near(
        claim,
        runs,
        gap,
        "Our number is the mean difference of the medians at six start times.",
        0,
        0.1,
    )


THIRD_ONES: dict[str, tuple[float, Read]] = {
    "RW-132": (0, ELAPSED), "RW-133": (0, RECEIVED), "RW-134": (7, ELAPSED),
    "RW-135": (7, RECEIVED), "RW-136": (18, ELAPSED), "RW-137": (18, RECEIVED),
}  # fmt: skip


@CLAIMS.decides(*THIRD_ONES, items=THIRD)
def third_examples(runs: Runs, claim: Published) -> Decision:
    """Decide a claim about one replication by the spread of our replications."""
    start_s, read = THIRD_ONES[claim.id]
    return occurs(claim, of(runs, Beside(BRIEF, TAIL_DROP, ONE_CLASS, start_s), read))


@CLAIMS.decides("RW-138", items=THIRD)
def when_tail_drop_wins(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the start time of CBR traffic from which Tail Drop is faster than RED.

    From that start time on, TCP's median time with Tail Drop is lower than with RED at every tested
    start time of the CBR traffic.
    """

    def wins(of_runs: Runs) -> list[bool]:
        red, tail = (medians(of_runs, BRIEF, d, ONE_CLASS, ELAPSED) for d in (RED, TAIL_DROP))
        return [t < r for t, r in zip(tail, red, strict=True)]

    def first(of_runs: Runs) -> float:
        won = wins(of_runs)
        return next((s for i, s in enumerate(BRIEF.starts_s) if all(won[i:])), math.inf)

    text = f"TCP is faster with Tail Drop at {sum(wins(runs))} of {len(wins(runs))} start times."
    return whole(replace(claim, qualifier="exact"), runs, first, EXACT, text)


@CLAIMS.decides("RW-142", "RW-143", items=FIRST)
def red_against_tail_drop(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the value with RED minus the value with Tail Drop, per replication.

    The values are received CBR packets (RW-142) or TCP's elapsed times (RW-143), at four start
    times of the CBR flow.
    """
    read = RECEIVED if claim.id == "RW-142" else ELAPSED
    apart = [
        red - tail
        for s in LONG.starts_s
        for red, tail in zip(
            of(runs, Beside(LONG, RED, ONE_CLASS, s), read),
            of(runs, Beside(LONG, TAIL_DROP, ONE_CLASS, s), read),
            strict=True,
        )
    ]
    return direction(
        claim, apart, "Value with RED minus value with Tail Drop, at four start times."
    )
