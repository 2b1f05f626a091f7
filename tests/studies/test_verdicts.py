"""Tests of the verdicts on numbers and claims: reproduced, contradicted or open."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqmlab import estimates
from aqmlab.estimates import Estimate, number
from aqmlab.measures import Measure
from aqmlab.statistics import Interval
from aqmlab.studies.ecn_finite_transfers.printed_tables import (
    DROPPED,
    EFFICIENCY,
    GOODPUT,
    JAIN,
    SENT,
)
from aqmlab.studies.framework import claims
from aqmlab.studies.framework.claims import FITTED, INPUT, MEASURED, Claims, Published
from aqmlab.studies.framework.resampling import resampled
from aqmlab.studies.framework.show import entry
from aqmlab.studies.framework.verdicts import (
    CONTRADICTED,
    NOT_PRINTED,
    OPEN,
    REPRODUCED,
    SINGLE_RUN,
    Cell,
    Kind,
    Tolerance,
    accepted,
    judge,
    verdict,
)

GREEN = (REPRODUCED, SINGLE_RUN)
LEVEL = st.floats(-1e6, 1e6)
WIDTH = st.floats(0, 1e6)
NARROW = st.floats(0, 1)
SPREADS = st.none() | st.tuples(WIDTH, WIDTH)
BOUNDS: tuple[Kind, ...] = ("number", "upper_bound", "lower_bound")


@st.composite
def statements(draw: st.DrawFn) -> tuple[float, float, Kind]:
    """Return the value, the tolerance and the kind of a random published statement."""
    if draw(st.booleans()):
        return float(draw(st.sampled_from([-1, 0, 1]))), draw(WIDTH), "sign"
    return draw(LEVEL), draw(WIDTH), draw(st.sampled_from(BOUNDS))


def around(centre: float, below: float, above: float) -> Interval:
    return Interval(centre - below, centre, centre + above)


@given(statements(), LEVEL, WIDTH, WIDTH, NARROW, NARROW, SPREADS)
def test_a_wider_interval_never_makes_a_verdict_reproduced(
    printed: tuple[float, float, Kind],
    centre: float,
    below: float,
    above: float,
    left: float,
    right: float,
    spread: tuple[float, float] | None,
) -> None:
    """An interval inside a reproduced or contradicted interval has the same verdict."""
    single = None if spread is None else around(centre, *spread)
    wide = verdict(around(centre, below, above), *printed, spread=single)
    narrow = verdict(around(centre, below * left, above * right), *printed, spread=single)
    if wide in GREEN:
        assert narrow in GREEN
    if wide == CONTRADICTED:
        assert narrow == CONTRADICTED
    if narrow in (OPEN, CONTRADICTED):
        assert wide not in GREEN, "a wide interval is reproduced, a narrower one in it is not"


@given(statements(), LEVEL, WIDTH, WIDTH, SPREADS)
def test_shrinking_intervals_lead_to_one_final_decision(
    printed: tuple[float, float, Kind],
    centre: float,
    below: float,
    above: float,
    spread: tuple[float, float] | None,
) -> None:
    single = None if spread is None else around(centre, *spread)
    final = verdict(around(centre, 0, 0), *printed, spread=single)
    assert final in (*GREEN, CONTRADICTED)
    # While the interval shrinks, a verdict other than open never changes.
    verdicts = [
        verdict(around(centre, below / 2**k, above / 2**k), *printed, spread=single)
        for k in range(64)
    ]
    assert {v in GREEN for v in verdicts if v != OPEN} <= {final in GREEN}


@given(statements(), LEVEL, WIDTH)
def test_a_wider_tolerance_never_loses_a_reproduced_verdict(
    printed: tuple[float, float, Kind], centre: float, half: float
) -> None:
    value, width, kind = printed
    interval = around(centre, half, half)
    if verdict(interval, value, width, kind) in GREEN:
        assert verdict(interval, value, 2 * width, kind) in GREEN


def test_the_verdict_compares_the_interval_with_the_tolerance() -> None:
    assert verdict(Interval(36, 38, 40), 38, 3) == REPRODUCED
    assert verdict(Interval(34, 38, 40), 38, 3) == OPEN
    assert verdict(Interval(20, 38, 60), 38, 3) == OPEN, "an interval beyond the tolerance is open"
    assert verdict(Interval(42, 50, 60), 38, 3) == CONTRADICTED
    assert verdict(Interval(math.nan, 38, math.nan), 38, 3) == OPEN, (
        "one replication has no interval"
    )
    assert verdict(Interval(-math.inf, 38, math.inf), 38, 3) == OPEN, (
        "the interval of few replications can be unlimited"
    )


def test_a_rank_or_a_direction_needs_an_interval_without_0() -> None:
    assert verdict(Interval(-0.07, 0.03, 0.13), 1, 0, "sign") == OPEN
    assert verdict(Interval(0, 0.03, 0.13), 1, 0, "sign") == OPEN
    assert verdict(Interval(0.01, 0.03, 0.13), 1, 0, "sign") == REPRODUCED
    assert verdict(Interval(0.01, 0.03, 0.13), -1, 0, "sign") == CONTRADICTED
    assert verdict(Interval(-0.9, 0.1, 1.0), 0, 1, "sign") == REPRODUCED
    assert verdict(Interval(-0.9, 0.1, 1.1), 0, 1, "sign") == OPEN


def test_a_single_printed_run_may_lie_within_the_spread_of_the_runs() -> None:
    """A published single run may differ from our mean by the spread of our runs (SINGLE_RUN).

    If the accepted range contains only a part of the confidence interval, the verdict is OPEN.
    """
    spread = Interval(20, 30, 60)
    assert accepted(55, 2, "number", spread) == (25, 65)
    assert verdict(Interval(28, 30, 33), 55, 2, spread=spread) == SINGLE_RUN
    assert verdict(Interval(28, 30, 33), 31, 4, spread=spread) == REPRODUCED
    assert verdict(Interval(22, 30, 33), 55, 2, spread=spread) == OPEN
    assert verdict(Interval(28, 30, 33), 70, 2, spread=spread) == CONTRADICTED
    assert verdict(Interval(28, 30, 33), 55, 2) == CONTRADICTED


def spread(value: float, low: float, high: float) -> Estimate:
    return Estimate(estimates.MEDIAN, value, low, high, 20)


def alike(value: float) -> Estimate:
    return spread(value, value, value)


@pytest.mark.parametrize(
    ("ours", "printed", "expected"),
    [
        (38, 38, REPRODUCED),
        (41, 38, REPRODUCED),  # The difference is 3 packets.
        (42, 38, CONTRADICTED),
        (3, 0, REPRODUCED),
        (4, 0, CONTRADICTED),
        (424, 400, REPRODUCED),  # The difference is 6 %.
        (425, 400, CONTRADICTED),
    ],
)
def test_drops_are_reproduced_within_3_packets_or_6_percent(
    ours: float, printed: float, expected: str
) -> None:
    assert judge(alike(ours), printed, DROPPED) == expected


def test_the_payload_does_not_widen_the_tolerance_of_sent_packets() -> None:
    assert SENT.width(28730) == 3
    assert SENT.width(28730 + 1000) == 60


def test_goodputs_may_differ_by_half_a_second_of_completion_time() -> None:
    kbit = 20 * 2**20 * 8 / 1000
    assert judge(alike(kbit / 224.0), round(kbit / 224.5, 1), GOODPUT) == REPRODUCED
    assert judge(alike(kbit / 223.5), round(kbit / 224.5, 1), GOODPUT) == CONTRADICTED
    percent = 2 * 100 / 1500
    assert judge(alike(percent * kbit / 225.0), percent * 744.0, EFFICIENCY) == REPRODUCED
    assert judge(alike(0.9985), 0.999, JAIN) == REPRODUCED


def test_a_number_that_was_not_printed_has_no_verdict() -> None:
    assert judge(alike(1), None, None) == NOT_PRINTED
    assert Cell("i", {}, "q", "1", alike(1)).difference is None


def test_a_median_without_replications_is_contradicted() -> None:
    nothing = estimates.median([math.nan])
    assert nothing.n == 0
    assert judge(nothing, 1.0, Tolerance.of("all", 1e9)) == CONTRADICTED


def test_the_spread_is_the_central_95_percent() -> None:
    assert estimates.median(range(101)).interval == pytest.approx((2.5, 50, 97.5))


def claim(value: float, qualifier: str = "exact") -> Published:
    return Published("EF-000", "s", "q", value, "unit", "scenario", "source", qualifier)


EXACT = claims.EXACT


def mean(*values: float) -> Estimate:
    return estimates.mean(values)


def test_claims_of_bounds_of_zero_and_of_directions() -> None:
    above, below = mean(63.7, 63.8, 63.9), mean(62.1, 62.2, 62.3)
    for of, low, high in ((above, REPRODUCED, CONTRADICTED), (below, CONTRADICTED, REPRODUCED)):
        assert claims.estimated(claim(63, "lower_bound"), of, EXACT).verdict == low
        assert claims.estimated(claim(63, "upper_bound"), of, EXACT).verdict == high
    assert claims.none(claim(0), mean(0.4, 0.5, 0.6), 1.0, "").verdict == REPRODUCED
    assert claims.none(claim(0), mean(1.4, 1.5, 1.6), 1.0, "").verdict == CONTRADICTED
    assert claims.none(claim(0), mean(-1.4, 1.5, 1.6), 1.0, "").verdict == OPEN
    assert claims.direction(claim(1), [1.0, 1.1, 0.9], "").verdict == REPRODUCED
    assert claims.direction(claim(-1), [1.0, 1.1, 0.9], "").verdict == CONTRADICTED
    assert claims.direction(claim(1), [1.0, -1.1, 0.9], "").verdict == OPEN
    assert claims.direction(claim(1), [0.1], "").verdict == OPEN, "the result of one run is open"
    assert claims.most(80, 128, "+1", "").verdict == REPRODUCED
    assert claims.most(66, 128, "+1", "").verdict == OPEN
    assert claims.most(40, 128, "-1", "").verdict == CONTRADICTED


def test_a_negligible_difference_contradicts_a_claimed_direction() -> None:
    up = Published("A", "", "", 1.0, "sign", "", "", "exact")
    around_0, above_0, wide = [-0.1, 0.0, 0.1], [0.2, 0.21, 0.22], [-5.0, 0.0, 5.0]
    assert claims.direction(up, around_0, "").verdict == OPEN
    assert claims.direction(up, around_0, "", 1).verdict == CONTRADICTED
    assert claims.direction(up, above_0, "", 1).verdict == REPRODUCED
    assert claims.direction(up, wide, "", 1).verdict == OPEN
    assert "at most 1 counts as no difference" in claims.direction(up, wide, "", 1).evidence
    cases = {"a": estimates.mean(above_0), "b": estimates.mean(around_0)}
    assert claims.every_sign(up, cases, 0, "").verdict == OPEN
    assert claims.every_sign(up, cases, 1, "").verdict == CONTRADICTED


def test_a_claim_about_several_cases_needs_all_cases() -> None:
    up, down, wide = mean(1, 2, 1.5), mean(-1, -2, -1.5), mean(-1, 2, 1)
    every = {"a": up, "b": up}
    assert claims.every_sign(claim(1), every, 0, "").verdict == REPRODUCED
    assert claims.every_sign(claim(1), every | {"b": wide}, 0, "").verdict == OPEN
    decision = claims.every_sign(claim(1), every | {"b": wide, "c": down}, 0, "")
    assert (decision.verdict, decision.ours) == (CONTRADICTED, "1 of 3")


class Some:
    """Substitute for `Runs` with numbers as results; the only setting is the string "x"."""

    def __init__(self, *values: float) -> None:
        self.values, self.replications = list(values), len(values)

    def of(self, setting: Any) -> list[Any]:
        """Return the results of the runs of the setting."""
        assert setting == "x"
        return self.values

    def has(self, setting: Any) -> bool:
        """Return True if the setting is "x", the only setting with runs."""
        return bool(setting == "x")


def maximum(runs: Any) -> float:
    return float(max(runs.of("x")))


def test_a_number_over_all_replications_has_a_bootstrap_interval() -> None:
    of = resampled(Some(*range(1, 21)), lambda runs: sum(runs.of("x")) / len(runs.of("x")))
    low, middle, high = of.interval
    assert middle == 10.5
    half = 1.96 * math.sqrt((20**2 - 1) / 12 / 20)  # 1.96 standard errors of the mean
    assert (middle - low, high - middle) == pytest.approx((half, half), rel=0.25)
    assert math.isnan(resampled(Some(3.0), maximum).low), "one replication has no interval"
    tight, loose = Some(*[7.0] * 9), Some(*[7.0] * 8, 9.0)
    assert claims.whole(claim(7), tight, maximum, EXACT).verdict == REPRODUCED
    assert claims.whole(claim(9), loose, maximum, EXACT).verdict == OPEN
    assert claims.condition(tight, lambda runs: maximum(runs) - 8, 7, "").verdict == CONTRADICTED
    assert claims.condition(loose, lambda runs: maximum(runs) - 8, 9, "").verdict == OPEN


def test_classes_of_claims_have_their_reasons() -> None:
    from aqmlab.studies.ecn_red_simulation.claims import CLAIMS

    apart = {INPUT: {"ES-001": "counts an input"}, FITTED: {"ES-006": "chosen by it"}}
    by_id = {c.id: c for c in Claims(CLAIMS.path, apart).published()}
    assert (by_id["ES-001"].basis, by_id["ES-001"].reason) == (INPUT, "counts an input")
    assert (by_id["ES-006"].basis, by_id["ES-006"].counted) == (FITTED, False)
    assert (by_id["ES-007"].basis, by_id["ES-007"].counted) == (MEASURED, True)


def test_the_evidence_names_an_event_that_never_happened() -> None:
    decision = claims.value(claim(21), [math.nan], Tolerance.of("1 s", 1.0))
    assert decision.verdict == CONTRADICTED
    assert "did not happen in any replication" in decision.evidence


def test_a_replication_without_a_number_is_counted_as_missing() -> None:
    """A cell, the report's table and a claim's evidence have the number of missing replications."""
    time = Measure[float]("time", "s", lambda run: run, -1)
    in_ms = Measure[float]("time", "ms", lambda run: run, -1, scale=1000)
    assert Cell.of("item", {}, in_ms, [0.25]).ours.value == 250
    rule = Tolerance.of("1 s", 1.0)
    times = [20.5, 20.6, 20.7, 20.8, 20.9, 21, 21.1, 21.2, 21.3, 21.5]
    lost = [math.nan, math.inf] * 2
    cell = Cell.of("item", {}, time, [*times, *lost], 21, rule)
    row = cell.row("study")
    assert (row["replications"], row["missing"], row["verdict"]) == (10, 4, OPEN), (
        "the verdict is open because 4 of 14 replications have no number"
    )
    assert entry(cell).sub.endswith("4 of 14 missing")
    assert Cell.of("item", {}, time, times, 21, rule).verdict == REPRODUCED
    assert "missing" not in entry(Cell.of("item", {}, time, [20.5, 21.5])).sub
    decision = claims.value(claim(21), [*times, math.nan], rule)
    assert "did not happen in 1 of 11 replications" in decision.evidence
    undecided = claims.direction(claim(1), [1.0, 1.1, math.nan], "")
    assert undecided.verdict == OPEN, "the missing replication could decide the verdict"


def test_cells_that_are_fitted_or_compared_again_are_not_counted() -> None:
    rule = Tolerance.of("1", 1.0)
    cell = Cell("item", {}, "q", "1", alike(1), 1, rule)
    assert (cell.counted, cell.standing) == (True, "counted")
    for apart in (replace(cell, again=True), replace(cell, fitted=True)):
        assert not apart.counted
        assert apart.standing == ("again" if apart.again else "fitted")
    assert Cell("item", {}, "q", "1", alike(1)).standing == ""


def test_numbers_are_rounded_without_an_exponent() -> None:
    written = [number(x) for x in (0.0, 38.0, 28835.5, 1491.33, 0.993, 1e6, math.nan)]
    assert written == ["0", "38", "28836", "1491.3", "0.993", "1000000", "none"]


def test_an_estimate_has_the_digits_that_its_interval_supports() -> None:
    assert str(spread(0.090014, 0.02282, 0.15721)) == "0.09 [0.023 to 0.157]"
    assert str(spread(94.293, 94.07, 94.515)) == "94.29 [94.07 to 94.52]"
    assert str(spread(78.24, 56.3, 100)) == "78 [56 to 100]"
    assert str(alike(38.5)) == "38.5"
    assert str(spread(112.34823467144, 112.34823467143, 112.34823467145)) == "112.35"


@given(st.lists(st.floats(0, 100), min_size=2, max_size=9))
def test_the_interval_of_a_share_stays_within_0_and_100_percent(values: list[float]) -> None:
    of = estimates.share(values)
    assert 0 <= of.low <= of.value <= of.high <= 100 or not math.isfinite(of.low)
