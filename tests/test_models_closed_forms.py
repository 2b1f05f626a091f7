"""Tests of closed-form models: published tables, known limits and simulated runs."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import aqmlab
from aqmlab.models import dctcp, short_flows, single_server, tcp_rates


@pytest.mark.parametrize(("rtt_s", "c", "windows"), [
    (0.1, 0.04, [12, 38, 120, 593, 3332, 18740, 105383]),
    (0.1, 0.4, [12, 38, 187, 1054, 5926, 33325, 187400]),
    (0.1, 4, [12, 59, 333, 1874, 10538, 59261, 333250]),
    (0.01, 0.4, [12, 38, 120, 379, 1200, 5926, 33325]),
    (0.01, 4, [12, 38, 120, 379, 1874, 10538, 59261]),
])  # fmt: skip
def test_cubic_agrees_with_the_tables_of_its_rfc(
    rtt_s: float, c: float, windows: list[int]
) -> None:
    """Tables 1 and 2 of rfc9438 §5.1 use 1.2/√p for Reno, and the model uses √(3/2)/√p."""
    computed = [tcp_rates.cubic(10.0**-k, rtt_s, c=c) for k in range(2, 9)]
    assert computed == pytest.approx(windows, rel=0.025)
    beyond = [w > 1.1 * tcp_rates.square_root(10.0**-k) for k, w in enumerate(windows, 2)]
    own = [(f, w) for f, w, far in zip(computed, windows, beyond, strict=True) if far]
    assert all(f == pytest.approx(w, rel=1e-4, abs=0.6) for f, w in own)
    assert own


def test_pftk_agrees_with_the_square_root_law_at_rare_losses() -> None:
    for b in (1, 2):
        rate = tcp_rates.pftk(1e-8, 0.1, 0.3, per_ack=b)
        assert rate * 0.1 == pytest.approx(tcp_rates.square_root(1e-8, per_ack=b), rel=1e-3)
    assert tcp_rates.pftk_simple(1e-6, 0.1, 0.3) == pytest.approx(
        tcp_rates.pftk(1e-6, 0.1, 0.3), rel=0.01
    )
    assert tcp_rates.pftk(1e-5, 0.1, 0.3, window=20) == pytest.approx(200, rel=0.01)


def test_the_swing_of_dctcp_approaches_the_approximation_for_large_windows() -> None:
    of = dctcp.StepMarking(2, 1e9 / 12000, 0.01, 100)
    assert of.swing == pytest.approx(of.approximate_swing, rel=0.05)
    at = dctcp.least_threshold(1e9 / 12000, 0.01)
    assert dctcp.StepMarking(1, 1e9 / 12000, 0.01, at + 5).least > 0
    assert dctcp.StepMarking(1, 1e9 / 12000, 0.01, 1).least < 0


@pytest.mark.parametrize(("segments", "per_ack", "growth"), [(1, 1, 2), (7, 1, 2), (60, 1, 2)])
def test_a_short_transfer_takes_the_predicted_time(
    segments: int, per_ack: int, growth: float
) -> None:
    rtt_s, rate = 0.1, 1e8
    scenario: dict[str, Any] = {
        "phase_breaking": {"start": "0 s", "delay": "0 s"},
        "network": {"kind": "graph", "links": [
            {"from": "a", "to": "b", "rate": "100 Mbit/s", "delay": "50 ms",
             "queue": {"kind": "drop_tail", "limit": "1000 packets"}}]},
        "tcp": {"initial_window": "2 packets", "mss": "1460 B",
                "delayed_ack": f"{per_ack} packets"},
        "flows": [{"from": "a", "to": "b",
                   "traffic": {"kind": "bulk", "size": f"{1460 * segments} B"}}],
    }  # fmt: skip
    (duration_s,) = aqmlab.run(scenario).columns("flows")["completed_s"]
    predicted = short_flows.latency(
        segments, rtt_s, initial=2, growth=growth, segment_s=12_000 / rate
    )
    assert float(duration_s) == pytest.approx(predicted, rel=2e-3)


def test_a_transfer_through_a_slow_link_takes_the_predicted_time() -> None:
    scenario: dict[str, Any] = {
        "phase_breaking": {"start": "0 s", "delay": "0 s"},
        "network": {"kind": "graph", "links": [
            {"from": "a", "to": "b", "rate": "1.2 Mbit/s", "delay": "50 ms"}]},
        "tcp": {"initial_window": "2 packets", "mss": "1460 B", "delayed_ack": "1 packets"},
        "flows": [{"from": "a", "to": "b", "traffic": {"kind": "bulk", "size": "73000 B"}}],
    }  # fmt: skip
    (duration_s,) = aqmlab.run(scenario).columns("flows")["completed_s"]
    predicted = short_flows.latency(50, 0.1, initial=2, segment_s=0.01)
    assert float(duration_s) == pytest.approx(predicted, rel=0.01)


def test_cardwell_without_loss_is_close_to_the_number_of_rounds() -> None:
    """The model's number of rounds is a real number, at most one below the whole number."""
    for n in (5, 30, 200):
        predicted = 0.1 + 0.1 * short_flows.rounds(n, initial=3, growth=1.5)
        assert predicted - 0.1 < short_flows.cardwell(n, 0, 0.1, 1) <= predicted + 0.05
    times = [short_flows.cardwell(200, p, 0.1, 1) for p in (0, 0.001, 0.01, 0.05, 0.2)]
    assert times == sorted(times)
    limited = short_flows.cardwell(1000, 0, 0.1, 1, window=10)
    assert limited == pytest.approx(0.1 + 0.1 * short_flows.rounds(
        1000, initial=3, growth=1.5, window=10), rel=0.02)  # fmt: skip


def test_single_server_models_agree_in_their_common_cases() -> None:
    for load in (0.1, 0.7, 0.95):
        mm1, md1 = single_server.mm1(load), single_server.md1(load)
        assert single_server.MG1(load).mean_system == pytest.approx(mm1.mean_system)
        assert single_server.MG1(load, variation=0).mean_wait == pytest.approx(md1.mean_wait)
        large = single_server.MM1K(load, 2000)
        assert large.mean_system == pytest.approx(mm1.mean_system)
        assert large.mean_wait == pytest.approx(mm1.mean_wait)
    for load, limit in ((0.5, 1), (0.8, 10), (0.9, 400)):
        exponential = single_server.MG1K(single_server.mm1(load), limit)
        known = single_server.MM1K(load, limit)
        assert exponential.pmf == pytest.approx(known.pmf, abs=1e-12)
        assert exponential.mean_wait == pytest.approx(known.mean_wait, abs=1e-9)
        constant = single_server.MG1K(single_server.md1(load), limit)
        assert 0 <= constant.loss <= known.loss + 1e-12
    assert single_server.MG1K(single_server.md1(0.8), 1).loss == pytest.approx(0.8 / 1.8)
    assert single_server.MM1K(1.0, 4).loss == pytest.approx(1 / 5)
    assert single_server.MM1K(2.0, 1).loss == pytest.approx(single_server.erlang_b(2, 1))
    sizes = single_server.MG1.of_sizes(0.6, np.array([100, 1500, 1500]), 125_000)
    assert sizes.service_s == pytest.approx(3100 / 3 / 125_000)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: tcp_rates.square_root(0),
            "p is 0; it must be above 0 and below 1; without signals",
        ),
        (lambda: tcp_rates.pftk(0.1, 0, 1), "rtt_s is 0; it must be above 0"),
        (lambda: tcp_rates.pftk(0.1, 1, 1, window=0.5), "window is 0.5; it must be at least 1"),
        (lambda: tcp_rates.cubic(0.1, 1, left=1), "left is 1; it must be above 0 and below 1"),
        (lambda: dctcp.StepMarking(0, 1, 1, 1), "flows is 0; it must be at least 1"),
        (lambda: short_flows.rounds(0), "segments is 0; it must be at least 1"),
        (lambda: short_flows.cardwell(3, 1, 0.1, 1), "p is 1; it must be at least 0 and below 1"),
        (lambda: single_server.MG1(1), "load is 1; it must be above 0 and below 1"),
        (lambda: single_server.MG1.of_sizes(0.5, [], 1), "sizes: the list is empty"),
        (lambda: single_server.MM1K(1, 0), "limit is 0; it must be at least 1"),
        (lambda: single_server.erlang_b(1, 0), "servers is 0; it must be at least 1"),
    ],
)
def test_invalid_parameters_raise_an_error(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        make()
