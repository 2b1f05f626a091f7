"""Tests of the statistics functions: comparison with scipy and with closed forms."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import example, given
from hypothesis import strategies as st

from aqmlab import estimates, statistics
from aqmlab.statistics import central, jain, mean_interval, median, paired_difference, quartiles

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60)


@given(NUMBERS)
@example([524288.9999999999, -524289.0])
@example([0.0, 5e-324])
def test_quantiles_agree_with_numpy(x: list[float]) -> None:
    assert median(x) == np.quantile(x, 0.5)
    assert quartiles(x) == tuple(np.quantile(x, [0.25, 0.5, 0.75]))
    assert math.isnan(median([*x, math.nan]))
    low, middle, high = central(x)
    assert min(x) <= low <= middle <= high <= max(x)


def test_the_central_interval_of_an_even_grid_has_95_percent_of_it() -> None:
    assert central(np.linspace(0, 1, 1001)) == pytest.approx((0.025, 0.5, 0.975))
    assert central([3.0]) == (3.0, 3.0, 3.0)


@given(NUMBERS, st.floats(0.5, 0.999))
def test_the_interval_of_the_mean_agrees_with_scipy(x: list[float], confidence: float) -> None:
    low, mean, high = mean_interval(x, confidence)
    expected = scipy.stats.ttest_1samp(x, 0).confidence_interval(confidence) if np.ptp(x) else None
    if expected is None:
        assert (low, high) == pytest.approx((mean, mean))
    else:
        assert (low, high) == pytest.approx(tuple(expected), rel=1e-6, abs=1e-6)


def test_the_interval_of_the_mean_has_its_nominal_coverage() -> None:
    random = np.random.default_rng(1)
    covered = [low <= 5 <= high for low, _, high in
            (mean_interval(random.normal(5, 2, size=8)) for _ in range(4000))]  # fmt: skip
    assert np.mean(covered) == pytest.approx(0.95, abs=0.012)


def test_pairing_removes_the_common_variation_of_both_arms() -> None:
    random = np.random.default_rng(2)
    shared = random.normal(0, 100, size=10)
    a, b = shared + 3 + random.normal(0, 0.1, size=10), shared
    low, middle, high = paired_difference(a, b)
    assert low < 3 < high
    assert high - low < 0.5
    expected = scipy.stats.ttest_rel(a, b).confidence_interval()
    assert (low, high) == pytest.approx(tuple(expected))
    assert middle == pytest.approx(np.mean(a - b))


@given(st.integers(1, 50), st.integers(1, 50))
def test_jains_index_has_its_closed_forms(n: int, k: int) -> None:
    """Jain's index is k/n if k of n users have equal shares and the other users have 0."""
    k = min(k, n)
    assert jain([7.5] * k + [0.0] * (n - k)) == pytest.approx(k / n)


@given(st.lists(st.floats(1e-3, 1e9), min_size=1, max_size=50), st.floats(1e-3, 1e3))
def test_jains_index_is_within_its_bounds_and_independent_of_the_unit(
    x: list[float], unit: float
) -> None:
    assert 1 / len(x) - 1e-9 <= jain(x) <= 1 + 1e-9
    assert jain([unit * v for v in x]) == pytest.approx(jain(x))


def test_invalid_input_raises_an_error() -> None:
    assert np.isnan(jain([0, 0]))
    for function in (median, quartiles, central, jain):
        with pytest.raises(ValueError, match="at least 1"):
            function([])
    with pytest.raises(ValueError, match="at least 2 values, got 1"):
        mean_interval([1])
    with pytest.raises(ValueError, match="3 and 2 values cannot be paired"):
        paired_difference([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match=r"confidence is 1\.5"):
        mean_interval([1, 2], 1.5)
    with pytest.raises(ValueError, match="share is 95"):
        central([1, 2], 95)


def test_tables_and_lists_of_unequal_length_raise_an_error() -> None:
    with pytest.raises(ValueError, match=r"the shape \(2, 2\); give a one-dim"):
        statistics.mean_interval([[1, 2], [3, 4]])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="1 and 2 values cannot be paired"):
        estimates.difference([1], [1, 2])
    with pytest.raises(ValueError, match="give one for each time"):
        statistics.time_quantile([1], [True, False], 0.5)
