"""When a number or a claim counts as reproduced."""

import math

import pytest

from aqmlab import estimates
from aqmlab.estimates import Estimate, number
from aqmlab.measures import Measure
from aqmlab.studies.ecn_finite_transfers.printed_tables import (
    DROPPED,
    EFFICIENCY,
    GOODPUT,
    JAIN,
    SENT,
)
from aqmlab.studies.framework import claims
from aqmlab.studies.framework.claims import Published
from aqmlab.studies.framework.show import entry
from aqmlab.studies.framework.verdicts import (
    NOT_PRINTED,
    NOT_REPRODUCED,
    REPRODUCED,
    WITHIN_SPREAD,
    Cell,
    Tolerance,
    judge,
)


def spread(value: float, low: float, high: float) -> Estimate:
    return Estimate(estimates.MEDIAN, value, low, high, 20)


def alike(value: float) -> Estimate:
    return spread(value, value, value)


@pytest.mark.parametrize(
    ("ours", "printed", "verdict"),
    [
        (38, 38, REPRODUCED),
        (41, 38, REPRODUCED),  # 3 packets
        (42, 38, NOT_REPRODUCED),
        (3, 0, REPRODUCED),
        (4, 0, NOT_REPRODUCED),
        (424, 400, REPRODUCED),  # 6 %
        (425, 400, NOT_REPRODUCED),
    ],
)
def test_drops_are_reproduced_within_3_packets_or_6_percent(
    ours: float, printed: float, verdict: str
) -> None:
    assert judge(alike(ours), printed, DROPPED) == verdict


def test_a_wide_spread_reproduces_what_lies_inside() -> None:
    assert judge(spread(60, 30, 90), 38, DROPPED) == WITHIN_SPREAD
    assert judge(spread(60, 40, 90), 38, DROPPED) == NOT_REPRODUCED
    assert judge(spread(39, 30, 90), 38, DROPPED) == REPRODUCED


def test_the_payload_does_not_widen_the_tolerance_of_sent_packets() -> None:
    assert SENT.width(28730) == 3
    assert SENT.width(28730 + 1000) == 60


def test_goodputs_may_differ_by_half_a_second() -> None:
    kbit = 20 * 2**20 * 8 / 1000
    assert judge(alike(kbit / 224.0), round(kbit / 224.5, 1), GOODPUT) == REPRODUCED
    assert judge(alike(kbit / 223.5), round(kbit / 224.5, 1), GOODPUT) == NOT_REPRODUCED
    percent = 2 * 100 / 1500
    assert judge(alike(percent * kbit / 225.0), percent * 744.0, EFFICIENCY) == REPRODUCED
    assert judge(alike(0.9985), 0.999, JAIN) == REPRODUCED


def test_nothing_is_judged_that_was_not_printed() -> None:
    assert judge(alike(1), None, None) == NOT_PRINTED
    assert Cell("i", {}, "q", "1", alike(1)).difference is None


def test_no_replication_is_no_reproduction() -> None:
    nothing = estimates.median([math.nan])
    assert nothing.n == 0
    assert judge(nothing, 1.0, Tolerance.of("all", 1e9)) == NOT_REPRODUCED


def test_the_spread_is_the_central_95_percent() -> None:
    assert estimates.median(range(101)).interval == pytest.approx((2.5, 50, 97.5))


def claim(value: float, qualifier: str = "exact") -> Published:
    return Published("EF-000", "s", "q", value, "unit", "scenario", "source", qualifier)


def test_bounds_and_directions() -> None:
    assert claims.bound(claim(63, "lower_bound"), 63.8, "").verdict == REPRODUCED
    assert claims.bound(claim(63, "upper_bound"), 63.8, "").verdict == NOT_REPRODUCED
    assert claims.none(claim(0), 0.5, 1.0, "").verdict == REPRODUCED
    assert claims.none(claim(0), 1.5, 1.0, "").verdict == NOT_REPRODUCED
    assert claims.direction(claim(1), [1.0, 1.1, 0.9], "").verdict == REPRODUCED
    assert claims.direction(claim(-1), [1.0, 1.1, 0.9], "").verdict == NOT_REPRODUCED
    assert claims.direction(claim(1), [1.0, -1.1, 0.9], "").verdict == NOT_REPRODUCED  # holds 0
    assert claims.direction(claim(1), [0.1], "").verdict == REPRODUCED


def test_an_event_that_never_happened_is_told() -> None:
    decision = claims.value(claim(21), [math.nan], Tolerance.of("1 s", 1.0))
    assert decision.verdict == NOT_REPRODUCED
    assert "did not happen in any replication" in decision.evidence


def test_a_replication_without_a_number_is_counted_as_missing() -> None:
    """In the row of the cell, in the table of the report, and in the evidence of a claim."""
    time = Measure[float]("time", "s", lambda run: run, -1)
    in_ms = Measure[float]("time", "ms", lambda run: run, -1, scale=1000)
    assert Cell.of("item", {}, in_ms, [0.25]).ours.value == 250
    cell = Cell.of("item", {}, time, [20.5, math.nan, 21.5, math.inf], 21, Tolerance.of("1 s", 1.0))
    row = cell.row("study")
    assert (row["replications"], row["missing"], row["verdict"]) == (2, 2, REPRODUCED)
    assert entry(cell).sub.endswith("2 of 4 missing")
    assert "missing" not in entry(Cell.of("item", {}, time, [20.5, 21.5])).sub
    decision = claims.value(claim(21), [20.5, math.nan, 21.5], Tolerance.of("1 s", 1.0))
    assert "did not happen in 1 of 3 replications" in decision.evidence
    undecided = claims.direction(claim(1), [1.0, 1.1, math.nan], "")
    assert undecided.verdict == NOT_REPRODUCED, "what is missing may be anything"


def test_numbers_are_written_for_people() -> None:
    written = [number(x) for x in (0.0, 38.0, 28835.5, 1491.33, 0.993, 1e6, math.nan)]
    assert written == ["0", "38", "28836", "1491.3", "0.993", "1000000", "none"]
