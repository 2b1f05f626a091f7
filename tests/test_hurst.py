"""Tests of estimates of the Hurst parameter, with series whose parameter is known."""

from collections.abc import Callable

import numpy as np
import pytest

from aqmlab.statistics import Hurst, aggregated_variance, fractional_gaussian_noise, local_whittle


@pytest.mark.parametrize("hurst", [0.3, 0.5, 0.75, 0.9])
def test_noise_has_the_covariances_of_its_parameter(hurst: float) -> None:
    """The covariance of the noise at lag k is (|k − 1|^2H − 2 k^2H + (k + 1)^2H)/2."""
    noise = np.stack([fractional_gaussian_noise(hurst, 16, seed) for seed in range(2000)])
    for k in range(8):
        expected = (abs(k - 1) ** (2 * hurst) - 2 * k ** (2 * hurst) + (k + 1) ** (2 * hurst)) / 2
        products = noise[:, 0] * noise[:, k]
        error = products.std(ddof=1) / np.sqrt(len(products))
        assert abs(products.mean() - expected) < 6 * error, k


@pytest.mark.parametrize("hurst", [0.5, 0.7, 0.85])
@pytest.mark.parametrize("estimate", [aggregated_variance, local_whittle])
def test_estimates_and_intervals_contain_the_true_parameter(
    estimate: Callable[..., Hurst], hurst: float
) -> None:
    """At least 16 of 20 intervals contain the Hurst parameter, and the mean estimate is near it."""
    options = {"replications": 39} if estimate is aggregated_variance else {}
    intervals = [
        estimate(fractional_gaussian_noise(hurst, 1024, seed), **options).interval
        for seed in range(1000, 1020)
    ]
    mean = np.mean([interval.middle for interval in intervals])
    assert abs(mean - hurst) < 0.05
    assert sum(low < hurst < high for low, _, high in intervals) >= 16


def test_white_noise_has_the_parameter_one_half_in_any_unit() -> None:
    """Uniform white noise has the Hurst parameter 0.5, whatever its mean and its unit."""
    noise = np.random.default_rng(5).uniform(3, 9, 2048)
    for estimate in (aggregated_variance, local_whittle):
        low, middle, high = estimate(noise).interval
        assert low < 0.5 < high
        assert estimate(1e6 * noise).interval == pytest.approx((low, middle, high), abs=1e-4)


def test_a_minimum_block_length_excludes_short_range_dependence() -> None:
    """In an autoregressive series, short blocks give another estimate than long blocks."""
    noise = np.random.default_rng(6).standard_normal(1 << 13)
    series = np.empty_like(noise)
    last = 0.0
    for i, value in enumerate(noise):
        last = 0.8 * last + value
        series[i] = last
    short = aggregated_variance(series, replications=19).interval.middle
    long = aggregated_variance(series, shortest=64, replications=19).interval.middle
    assert short > 0.6 > long > 0.4


def test_invalid_series_raise_an_error() -> None:
    for estimate in (aggregated_variance, local_whittle):
        with pytest.raises(ValueError, match="at least 128"):
            estimate(range(100))
        with pytest.raises(ValueError, match="all values of the series are equal"):
            estimate([3.0] * 200)
    with pytest.raises(ValueError, match=r"hurst is 1.0; it must be above 0"):
        fractional_gaussian_noise(1.0, 10)
    with pytest.raises(ValueError, match=r"power is 1.5; it must be"):
        local_whittle(range(200), power=1.5)
