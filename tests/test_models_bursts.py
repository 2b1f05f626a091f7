"""Tests of the conversion of flow sizes to batches, and of the readings of the paper's figure 7."""

import re
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqmlab.models.batch_queue import MxM1
from aqmlab.models.bursts import (
    ADVERTISED,
    DELAYED_ACKS,
    EVERY_FLOW_FROM_1,
    EVERY_FLOW_FROM_2,
    STATED,
    Ramp,
    batches,
    lognormal_sizes,
    of_responses,
    packets_of,
    shape_of,
)
from aqmlab.models.figure_7 import readings

RAMPS = [STATED, EVERY_FLOW_FROM_1, EVERY_FLOW_FROM_2, DELAYED_ACKS, Ramp(10, growth=1.5)]


@given(
    sizes=st.lists(st.integers(1, 400), min_size=1, max_size=30),
    ramp=st.sampled_from(RAMPS),
    window=st.integers(1, 70),
)
def test_counting_all_flows_at_once_equals_counting_each_flow(
    sizes: list[int], ramp: Ramp, window: int
) -> None:
    counts: Counter[int] = Counter()
    for size in sizes:
        bursts = ramp.bursts(size, window)
        assert sum(bursts) == size
        assert max(bursts) <= window
        counts.update(bursts)
    of = batches(sizes, ramp=ramp, windows={1000 * window: 1})
    probabilities = {size: p for size, p in enumerate(of.pmf) if p}
    assert probabilities == pytest.approx({k: n / counts.total() for k, n in counts.items()})


def test_the_two_readings_of_the_study_differ_only_for_long_flows() -> None:
    assert STATED.bursts(13, 64) == EVERY_FLOW_FROM_2.bursts(13, 64) == [2, 4, 7]
    assert STATED.bursts(30, 8) == [1, 2, 4, 8, 8, 7]
    assert EVERY_FLOW_FROM_2.bursts(30, 8) == [2, 4, 8, 8, 8]


def test_advertised_windows_have_the_shares_of_the_study() -> None:
    assert sum(ADVERTISED.values()) == pytest.approx(1)
    of = batches({100_000: 1})
    flows = {w // 1000: share for w, share in ADVERTISED.items()}
    whole = {w: share * 100_000 / w for w, share in flows.items()}
    for window in flows:
        assert of.pmf[window] == pytest.approx(whole[window] / sum(whole.values()), rel=0.02)


def test_sizes_in_bytes_and_in_packets_give_the_same_batches() -> None:
    by_bytes = of_responses([1, 1000, 1001, 7000, 62_000])
    assert (by_bytes.pmf == batches([1, 1, 2, 7, 62]).pmf).all()
    assert packets_of(1460 * np.arange(1, 4), 1460).tolist() == [1, 2, 3]


def test_distributions_have_the_printed_share_of_large_flows() -> None:
    """The largest 15 % of flows have 80 % of the bytes (section 4.2)."""
    rng = np.random.default_rng(1)
    sigma, exponent = shape_of(0.15, 0.8)
    sample = np.sort(rng.lognormal(0, sigma, 1_000_000))
    assert sample[-150_000:].sum() / sample.sum() == pytest.approx(0.8, abs=0.01)
    top = 0.15 ** (1 - 1 / exponent)  # Lorenz curve of the Pareto distribution
    assert top == pytest.approx(0.8)
    sizes = lognormal_sizes(7.2, sigma)
    mean = sum(n * p for n, p in sizes.items())
    assert mean == pytest.approx(7.2 + 0.5, rel=0.02)  # sizes are rounded up to whole packets


def test_no_single_departure_gives_the_printed_5_packets() -> None:
    """For figure 7 (claim PE-025), equation (1) gives 8.0 packets, but the paper has 5 packets."""
    all_readings = readings()
    by = {frozenset(r.departures): round(r.packets, 1) for r in all_readings}
    assert len(by) == len(all_readings) == 150
    assert by[frozenset()] == 8.0
    assert not any(r.meets for r in all_readings if len(r.departures) < 2)
    assert by[frozenset({"constant service"})] == 6.4
    assert {
        r.departures: round(r.packets, 1)
        for r in all_readings
        if r.meets and len(r.departures) == 2
    } == {
        ("E(X)² for E(X²)", "constant service"): 5.2,
        ("growth 1.5", "constant service"): 5.4,
    }
    best = min(
        (r for r in all_readings if len(r.departures) == 3), key=lambda r: abs(r.packets - 5)
    )
    assert best.departures == ("growth 1.5", "constant service", "work before a burst")
    assert round(best.packets, 2) == 5.01


def test_figure_8_is_below_10_percent_at_the_printed_point() -> None:
    """Claim PE-026: 622 Mbit/s, load 0.95; the lognormal flow sizes have the published shares."""
    web = batches(lognormal_sizes(7.2, shape_of(0.15, 0.8)[0]))
    at = {c: MxM1(0.95, web, service_s=8000 / c).work_exceeds(0.005) for c in (1e8, 1.55e8, 6.22e8)}
    assert at[6.22e8] < 0.1
    assert at[1e8] > at[1.55e8] > at[6.22e8]


def test_figure_9_is_above_one_half_at_the_printed_point() -> None:
    """Claim PE-027: 100 Mbit/s, load 0.9; long flows have 90 % of the bytes (§5.3.1)."""
    sizes = lognormal_sizes(7.2, shape_of(0.15, 0.8)[0])
    long = 100_000
    sizes[long] += 9 * sum(n * p for n, p in sizes.items()) / long
    assert MxM1(0.9, batches(sizes), service_s=8000 / 1e8).work_exceeds(0.005) > 0.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: batches([]), "flows: give one or more sizes"),
        (lambda: batches({1.5: 1}), "as whole numbers of packets"),  # type: ignore[dict-item]
        (lambda: batches({3: 0}), "the weights are not valid; give weights of 0 or more"),
        (lambda: batches({3: 1}, windows={500: 1}), "a window is 500; it must be at least 1000"),
        (
            lambda: packets_of([0]),
            "sizes: the minimum is 0; it must be above 0; remove empty flows",
        ),
        (lambda: packets_of([]), "sizes: the list is empty"),
        (lambda: Ramp(growth=1), "growth is 1; it must be above 1"),
        (lambda: Ramp(0.5), "initial_window is 0.5; it must be at least 1"),
        (lambda: shape_of(0.15, 0.1), "share is 0.1; it must be above 0.15 and below 1"),
    ],
)
def test_invalid_sizes_raise_an_error(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        make()
