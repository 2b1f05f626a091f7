"""Tests of confidence intervals and of corrections of p-values: scipy, closed forms, invariants."""

import math

import numpy as np
import pytest
import scipy.signal
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from aqmlab.statistics import (
    batch_means,
    bootstrap_interval,
    exact_proportion_interval,
    false_discovery,
    holm,
    lognormal_mean_interval,
    mean_interval,
    paired_p_value,
    permutation_p_value,
    proportion_interval,
    quantile_interval,
    sign_p_value,
    time_quantile,
)

SKEWED = np.random.default_rng(3).lognormal(0, 1, 25)
CONFIDENCE = st.floats(0.5, 0.999)
COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
P_VALUES = st.lists(st.floats(0, 1), max_size=30)
VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20)


@pytest.mark.parametrize("statistic", [np.mean, np.median, np.std])
def test_the_bootstrap_agrees_with_scipy(statistic: object) -> None:
    interval = bootstrap_interval(SKEWED, statistic, 0.9, resamples=2000, seed=5)  # type: ignore[arg-type]
    of_scipy = scipy.stats.bootstrap(
        (SKEWED,), statistic, confidence_level=0.9, n_resamples=2000, method="BCa",
        rng=np.random.default_rng(5),
    ).confidence_interval  # fmt: skip
    assert (interval.low, interval.high) == pytest.approx(tuple(of_scipy), rel=0.01)


def test_the_bootstrap_depends_only_on_its_seed() -> None:
    first = bootstrap_interval(SKEWED)
    assert first == bootstrap_interval(SKEWED)
    assert first != bootstrap_interval(SKEWED, seed=2)
    low, middle, high = first
    assert high - middle > middle - low, "the interval must be longer above the estimate"


@given(VALUES, st.floats(-100, 100), st.floats(0.01, 100))
def test_the_bootstrap_is_within_the_values_and_independent_of_the_unit(
    x: list[float], shift: float, scale: float
) -> None:
    low, middle, high = bootstrap_interval(x, resamples=99)
    rounding = 1e-9 * max(1.0, *map(abs, x))
    assert min(x) - rounding <= low <= high <= max(x) + rounding
    assert middle == pytest.approx(np.mean(x))
    if np.ptp(x) > 1e-3 * max(
        1.0, *map(abs, x)
    ):  # for closer values rounding decides which are below the mean
        moved = bootstrap_interval([scale * v + shift for v in x], resamples=99)
        near = 0.02 * scale * np.ptp(x)
        assert moved == pytest.approx([scale * v + shift for v in (low, middle, high)], abs=near)


def test_equal_values_have_an_interval_of_width_0() -> None:
    for function in (mean_interval, bootstrap_interval, lognormal_mean_interval):
        assert function([2.0] * 5) == pytest.approx((2, 2, 2))


def test_the_lognormal_interval_equals_the_formula_of_cox() -> None:
    logs = np.log(SKEWED)
    n, mean, variance = len(logs), logs.mean(), logs.var(ddof=1)
    half = scipy.stats.t.ppf(0.975, n - 1) * np.sqrt(variance / n + variance**2 / (2 * (n - 1)))
    expected = np.exp(mean + variance / 2 + np.array([-half, 0, half]))
    assert lognormal_mean_interval(SKEWED) == pytest.approx(tuple(expected))


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=30), st.floats(1e-3, 1e3), CONFIDENCE)
def test_the_lognormal_interval_contains_its_estimate_and_scales_with_the_unit(
    x: list[float], unit: float, confidence: float
) -> None:
    low, middle, high = lognormal_mean_interval(x, confidence)
    assert 0 <= low <= middle <= high
    scaled = lognormal_mean_interval([unit * v for v in x], confidence)
    assert scaled == pytest.approx((unit * low, unit * middle, unit * high), rel=1e-6, abs=1e-300)


@given(st.integers(1, 500), st.floats(0.01, 0.99), CONFIDENCE)
def test_the_interval_of_a_quantile_follows_from_the_binomial(
    n: int, share: float, confidence: float
) -> None:
    low, middle, high = quantile_interval(np.arange(1, n + 1), share, confidence)
    assert low <= middle <= high
    below = scipy.stats.binom(n, share)
    tail, rounding = (1 - confidence) / 2, 1e-9
    lower, upper = (0 if low == -math.inf else int(low)), (n + 1 if high == math.inf else int(high))
    # The quantile lies outside a bound with at most the probability `tail`. If a bound is moved
    # inwards by one value, the quantile lies outside the bound with at least the probability
    # `tail`.
    assert below.cdf(lower - 1) <= tail + rounding
    assert below.cdf(lower) >= tail - rounding
    assert below.sf(upper - 1) <= tail + rounding
    assert below.sf(upper - 2) >= tail - rounding


def test_a_quantile_needs_a_minimum_number_of_values() -> None:
    for share, minimum in ((0.5, 6), (0.95, 72), (0.99, 368)):
        assert math.isfinite(quantile_interval(range(minimum), share).high)
        assert quantile_interval(range(minimum - 1), share).high == math.inf


@given(COUNTS, CONFIDENCE)
def test_the_intervals_of_a_proportion_agree_with_scipy(
    counts: tuple[int, int], confidence: float
) -> None:
    test = scipy.stats.binomtest(*counts)
    for function, method in ((proportion_interval, "wilson"), (exact_proportion_interval, "exact")):
        low, middle, high = function(*counts, confidence)
        assert 0 <= low <= middle <= high <= 1
        of_scipy = test.proportion_ci(confidence, method)
        assert (low, high) == pytest.approx(tuple(of_scipy), abs=1e-9)


@given(COUNTS)
def test_the_interval_of_failures_mirrors_that_of_successes(counts: tuple[int, int]) -> None:
    k, n = counts
    for function in (proportion_interval, exact_proportion_interval):
        low, middle, high = function(k, n)
        assert function(n - k, n) == pytest.approx((1 - high, 1 - middle, 1 - low), abs=1e-9)


def test_the_paired_test_agrees_with_scipy_and_the_interval() -> None:
    random = np.random.default_rng(4)
    a, b = random.normal(0, 1, 12), random.normal(0.8, 1, 12)
    p = paired_p_value(a, b)
    assert p == pytest.approx(scipy.stats.ttest_rel(a, b).pvalue)
    low, _, high = mean_interval(a - b, 1 - p)
    assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("pairs", "tolerance"), [(9, 0), (30, 0.01)])
def test_the_permutation_test_agrees_with_scipy(pairs: int, tolerance: float) -> None:
    random = np.random.default_rng(6)
    a, b = random.normal(0, 1, pairs), random.normal(0.4, 1, pairs)
    reference = scipy.stats.permutation_test(
        (a - b,), np.mean, permutation_type="samples", n_resamples=99_999, vectorized=True
    )
    assert permutation_p_value(a, b) == pytest.approx(reference.pvalue, rel=1e-12, abs=tolerance)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12), st.floats(1e-3, 1e6))
def test_a_difference_that_is_the_same_in_all_pairs_has_the_least_p_value(
    values: list[float], difference: float
) -> None:
    """Only the two sign changes that leave all signs equal are as extreme."""
    shifted = [x + difference for x in values]
    if len({y - x for x, y in zip(values, shifted, strict=True)}) == 1:
        assert permutation_p_value(shifted, values) == 2 / 2 ** len(values)
    assert permutation_p_value(values, values) == 1


def test_the_sign_test_agrees_with_scipy_and_the_interval_of_the_median() -> None:
    random = np.random.default_rng(5)
    for _ in range(20):
        a, b = random.integers(0, 9, 15), random.integers(1, 9, 15)
        above, untied = int((a > b).sum()), int((a != b).sum())
        assert sign_p_value(a, b) == pytest.approx(scipy.stats.binomtest(above, untied).pvalue)
        x = random.normal(0.4, 1, 15)
        low, _, high = quantile_interval(x)
        assert (sign_p_value(x, [0] * 15) <= 0.05) == (low > 0 or high < 0)


def test_equal_differences_have_no_p_value() -> None:
    assert math.isnan(sign_p_value([1, 2], [1, 2]))
    assert math.isnan(paired_p_value([1, 2, 3], [1, 2, 3]))
    assert math.isnan(paired_p_value([0.1, 0.2, 0.3], [0.0, 0.1, 0.2])), (
        "differences that are equal up to rounding have no variance"
    )


def test_holm_corrects_four_p_values_as_computed_by_hand() -> None:
    """Holm's correction of four p-values that are not sorted by size."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == false_discovery([]) == []


@given(P_VALUES)
def test_false_discovery_agrees_with_scipy(p: list[float]) -> None:
    of_scipy = scipy.stats.false_discovery_control(p) if p else []
    assert false_discovery(p) == pytest.approx(list(of_scipy))


@given(P_VALUES)
def test_corrected_p_values_are_at_least_as_large_and_in_the_same_order(p: list[float]) -> None:
    strict, mild = holm(p), false_discovery(p)
    for raw, few, any_false in zip(p, mild, strict, strict=True):
        assert raw <= few <= any_false <= 1
    for corrected in (strict, mild):
        order = np.argsort(p, kind="stable")
        assert list(np.array(corrected)[order]) == sorted(corrected)


@given(P_VALUES, st.integers(0, 5))
def test_missing_p_values_do_not_change_the_correction(p: list[float], untested: int) -> None:
    nan = [math.nan] * untested
    for function in (holm, false_discovery):
        together = function([*nan, *p])
        assert all(map(math.isnan, together[:untested]))
        assert together[untested:] == function(p)


def test_batch_means_cover_the_mean_of_a_dependent_series() -> None:
    """The mean of an autoregressive series has (1 + a)/(1 - a) times the variance of noise."""
    random = np.random.default_rng(6)
    a, covered = 0.9, [0, 0]
    for _ in range(300):
        x = scipy.signal.lfilter([1], [1, -a], random.normal(size=4000))
        for i, (low, _, high) in enumerate([batch_means(x), mean_interval(x)]):
            covered[i] += low <= 0 <= high
    assert covered[0] / 300 > 0.91
    assert covered[1] / 300 < 0.5


def test_incomplete_batches_at_the_start_are_ignored() -> None:
    x = [100.0, 1, 3, 2, 4, 3, 5]
    assert batch_means(x, 3) == mean_interval([2, 3, 4])


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40), st.floats(0.001, 1))
def test_a_quantile_of_ended_transfers_is_the_nearest_rank(x: list[float], share: float) -> None:
    time, known = time_quantile(x, [True] * len(x), share)
    rank = max(1, math.ceil(round(share * len(x), 9)))
    assert (time, known) == (sorted(x)[rank - 1], True)


@given(st.lists(st.tuples(st.floats(0, 1e3), st.booleans()), min_size=1, max_size=40))
def test_unfinished_transfers_never_shorten_a_quantile(x: list[tuple[float, bool]]) -> None:
    times, ended = [t for t, _ in x], [e for _, e in x]
    for share in (0.5, 0.95):
        time, known = time_quantile(times, ended, share)
        assert time >= time_quantile(times, [True] * len(x), share)[0]
        later, still = time_quantile(times, ended, 0.99)
        assert later >= time
        assert known or not still


def test_the_product_limit_estimate_equals_the_example_of_kaplan_and_meier() -> None:
    """Kaplan & Meier 1958, table 1: deaths at 0.8, 3.1, 5.4, 9.2; losses at 1.0, 2.7, 7.0, 12.1."""
    times = [0.8, 1.0, 2.7, 3.1, 5.4, 7.0, 9.2, 12.1]
    ended = [True, False, False, True, True, False, True, False]
    survival = {0.8: 7 / 8, 3.1: 7 / 10, 5.4: 21 / 40, 9.2: 21 / 80}
    for time, share in survival.items():
        assert time_quantile(times, ended, 1 - share) == (time, True)
    assert time_quantile(times, ended, 0.8) == (12.1, False)


def test_invalid_input_raises_an_error() -> None:
    with pytest.raises(
        ValueError, match="a value is 0 and has no logarithm; every value must be above 0"
    ):
        lognormal_mean_interval([1, 0, 2])
    with pytest.raises(ValueError, match=r"share is 1; it must be above 0 and below 1"):
        quantile_interval([1, 2], 1)
    with pytest.raises(ValueError, match="trials is 0; it must be at least 1"):
        proportion_interval(0, 0)
    with pytest.raises(ValueError, match="successes is 4; it must be between 0 and"):
        exact_proportion_interval(4, 3)
    with pytest.raises(ValueError, match=r"p-value is 1\.5; it must be between 0 and 1"):
        holm([0.5, 1.5])
    with pytest.raises(ValueError, match="batches is 1; it must be at least 2"):
        batch_means([1, 2], 1)
    with pytest.raises(ValueError, match="at least 20 values, got 2"):
        batch_means([1, 2])
    with pytest.raises(ValueError, match="resamples is 0; it must be at least 1"):
        bootstrap_interval([1, 2], resamples=0)
    with pytest.raises(ValueError, match="2 times and 1 values of"):
        time_quantile([1, 2], [True], 0.5)
    with pytest.raises(ValueError, match="share is 95"):
        time_quantile([1], [True], 95)
