"""Claims about orders: which of two settings has the larger value."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from aqmlab.estimates import number
from aqmlab.measures import Measure
from aqmlab.studies.framework import Decision, Published, Runs
from aqmlab.studies.framework.claims import condition, direction, every_sign
from aqmlab.studies.framework.resampling import resampled
from aqmlab.studies.red_wired_testbed.claims import beside
from aqmlab.studies.red_wired_testbed.claims.rules import CLAIMS, median, near
from aqmlab.studies.red_wired_testbed.outcomes import (
    CBR_SHARE,
    ELAPSED,
    TCP_SHARE,
    THIRD,
    Outcome,
    handshake,
    measure,
)
from aqmlab.studies.red_wired_testbed.scenarios import (
    BRIEF,
    CLASS_1,
    LONG,
    ONE_CLASS,
    RED,
    RED_STARTS_S,
    SHORT,
    TAIL_DROP,
    TWO_CLASS,
    USUAL,
    Beside,
    Red,
    Three,
)

BOTH = ["table-5-1", "table-5-4"]
TIME: Measure[Outcome] = measure(THIRD, "elapsed_time_s")
RETRANSMITTED: Measure[Outcome] = measure(THIRD, "retx_packets")
HANDSHAKE: Measure[Outcome] = handshake(THIRD)
EARLY_S = 1.0
"""Last start of the CBR flow, in s, that the thesis calls early."""
LEAST_TIME = 0.1 * 11.51
"""Smallest difference of the third flow's times with RED that matters, in s.

The difference is 10 % of the published median, which is the tolerance of this median.
"""
LEAST_HANDSHAKE_S = 0.1 * (3.81 - 0.57)
"""Smallest difference of handshakes that matters: 10 % of the published difference at 4 s."""
LEAST_PACKETS = 0.5
"""Smallest difference of medians of whole numbers of packets that matters."""


def minus(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Return the differences of two sequences of equal length."""
    return [a - b for a, b in zip(first, second, strict=True)]


def of(runs: Runs, at: Three, read: Measure[Outcome]) -> list[float]:
    """Return the values of a measure in a setting, one value per replication."""
    return [read.of(run) for run in runs.of(at)]


@CLAIMS.decides("RW-144", items=["table-8-9"])
def late_cbr_against_early(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by TCP's mean time at late starts minus that at early starts."""
    by_start = {
        s: beside.of(runs, Beside(SHORT, TAIL_DROP, ONE_CLASS, s), ELAPSED) for s in SHORT.starts_s
    }
    late = np.mean([times for s, times in by_start.items() if s > EARLY_S], axis=0)
    early = np.mean([times for s, times in by_start.items() if s <= EARLY_S], axis=0)
    text = "Mean of the elapsed times at the late starts minus mean of those at the early starts."
    return direction(claim, minus(late.tolist(), early.tolist()), text, 0.1)


def _range(discipline: str, runs: Runs) -> float:
    medians = [median(of(runs, Three(discipline, s), TIME)) for s in RED_STARTS_S]
    return max(medians) - min(medians)


@CLAIMS.decides("RW-145", "RW-146", items=BOTH)
def range_over_starts(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the range of the third flow's medians over five start times."""
    discipline = RED if claim.id == "RW-145" else TAIL_DROP
    text = "Our number is the highest minus the lowest median at five start times."
    return near(claim, runs, partial(_range, discipline), text, 0.25)


@CLAIMS.decides("RW-147", items=BOTH)
def red_varies_less(runs: Runs, claim: Published) -> Decision:  # noqa: ARG001
    """Decide the claim by the range of the medians with Tail Drop minus the range with RED."""

    def margin(of_runs: Runs) -> float:
        return _range(TAIL_DROP, of_runs) - _range(RED, of_runs)

    tail, red = (_range(d, runs) for d in (TAIL_DROP, RED))
    text = f"The range is {number(red)} s with RED and {number(tail)} s with Tail Drop."
    return condition(runs, margin, "-1" if margin(runs) > 0 else "+1", text)


@CLAIMS.decides("RW-148", "RW-149", items=["table-5-6"])
def other_parameters_of_red(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the third flow's times with other parameters of RED minus the usual."""
    others = [Red(burst=9)] if claim.id == "RW-148" else [Red(max=15_000, burst=b) for b in (8, 12)]
    usual = of(runs, Three(RED, 2.0, CLASS_1), TIME)
    apart = [
        difference
        for red in others
        for difference in minus(of(runs, Three(RED, 2.0, red), TIME), usual)
    ]
    text = "Elapsed time with the parameters of the claim minus that with the usual parameters."
    return direction(claim, apart, text, LEAST_TIME)


@CLAIMS.decides("RW-150", items=["table-8-8", "table-8-10"])
def red_is_nearer_to_two_classes(runs: Runs, claim: Published) -> Decision:  # noqa: ARG001
    """Decide the claim by the change of TCP's median time from one class to two classes."""

    def changes(of_runs: Runs) -> list[tuple[float, float]]:
        pairs = []
        for case in (LONG, BRIEF):
            tail, red = (
                float(np.mean(np.abs(minus(*(
                    beside.medians(of_runs, case, d, c, ELAPSED) for c in (ONE_CLASS, TWO_CLASS)
                )))))
                for d in (TAIL_DROP, RED)
            )  # fmt: skip
            pairs.append((tail, red))
        return pairs

    def margin(of_runs: Runs) -> float:
        return min(tail - red for tail, red in changes(of_runs))

    listed = "; ".join(
        f"test case {case.name}: {number(red)} s with RED, {number(tail)} s with Tail Drop"
        for case, (tail, red) in zip((LONG, BRIEF), changes(runs), strict=True)
    )
    text = (
        "We average the absolute change of TCP's median time from one class to two classes over "
        f"the start times. {listed}. Statement: the change is smaller with RED in both test cases."
    )
    return condition(runs, margin, "-1" if margin(runs) > 0 else "+1", text)


@CLAIMS.decides("RW-151", items=["table-5-7"])
def red_is_nearer_to_the_load(runs: Runs, claim: Published) -> Decision:  # noqa: ARG001
    """Decide the claim by the distances of the median utilisations from the shares of the load."""

    def distances(of_runs: Runs) -> list[tuple[float, float]]:
        return [
            (
                abs(median(beside.of(of_runs, Beside(LONG, TAIL_DROP, ONE_CLASS), read)) - share),
                abs(median(beside.of(of_runs, Beside(LONG, RED, ONE_CLASS), read)) - share),
            )
            for read, share in ((TCP_SHARE, 0.6), (CBR_SHARE, 0.4))
        ]

    def margin(of_runs: Runs) -> float:
        return min(tail - red for tail, red in distances(of_runs))

    listed = "; ".join(
        f"{flow}: {number(red)} with RED, {number(tail)} with Tail Drop"
        for flow, (tail, red) in zip(("TCP", "CBR"), distances(runs), strict=True)
    )
    text = (
        f"Distances of the utilisations from 0.6 (TCP) and 0.4 (CBR): {listed}. Statement: the "
        "distances of both flows are smaller with RED."
    )
    return condition(runs, margin, "-1" if margin(runs) > 0 else "+1", text)


@CLAIMS.decides("RW-152", items=BOTH)
def equal_handshakes(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the difference of the median handshakes at 0 s and at 2 s."""

    def difference(start_s: float, of_runs: Runs) -> float:
        red, tail = (median(of(of_runs, Three(d, start_s), HANDSHAKE)) for d in (RED, TAIL_DROP))
        return red - tail

    by_case = {f"{s:g} s": resampled(runs, partial(difference, s)) for s in (0.0, 2.0)}
    text = (
        f"Rule: a difference of at most {number(LEAST_HANDSHAKE_S)} s counts as no difference, "
        "which is 10 % of the published difference at 4 s."
    )
    return every_sign(claim, by_case, LEAST_HANDSHAKE_S, text)


@CLAIMS.decides("RW-153", items=BOTH)
def third_flow_retransmits_less(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the third flow's retransmissions with RED minus Tail Drop."""
    apart = [
        difference
        for s in (2.0, 4.0)
        for difference in minus(
            *(of(runs, Three(d, s), RETRANSMITTED)[:USUAL] for d in (RED, TAIL_DROP))
        )
    ]
    text = "Retransmissions with RED minus retransmissions with Tail Drop, at two start times."
    return direction(claim, apart, text, LEAST_PACKETS)
