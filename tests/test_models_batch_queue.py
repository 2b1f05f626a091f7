"""Tests of the models M[X]/M/1 and M[X]/D/1: distributions, moments, delays and errors."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqmlab.models.batch_queue import LEFT_OUT, Batches, BatchQueue, MxD1, MxM1

FLOW_OF_7 = Batches.of({1: 1, 2: 1, 4: 1})
WEIGHTS = st.dictionaries(st.integers(1, 60), st.floats(0.01, 1), min_size=1, max_size=8)
QUEUES = pytest.mark.parametrize("queue", [MxM1, MxD1])


@QUEUES
@given(weights=WEIGHTS, load=st.floats(0.02, 0.95))
def test_recursion_and_generating_function_agree(
    queue: type[BatchQueue], weights: dict[int, float], load: float
) -> None:
    of = queue(load, Batches.of(weights))
    assert np.abs(of.pmf - of.by_inversion()).max() < 1e-9
    n = np.arange(len(of.pmf))
    assert n @ of.pmf == pytest.approx(of.mean_system, rel=1e-9)
    assert of.pmf[0] == pytest.approx(1 - load)
    assert abs(1 - of.pmf.sum()) < LEFT_OUT + len(n) * 1e-16
    assert (of.pmf >= 0).all()


def test_batches_of_one_packet_give_the_single_arrival_queue() -> None:
    plain = MxM1(0.7)
    n = np.arange(60)
    assert plain.pmf[:60] == pytest.approx(0.3 * 0.7**n, rel=1e-12)
    assert plain.work_exceeds(3.3) == pytest.approx(0.7 * np.exp(-0.3 * 3.3), rel=1e-10)
    constant = MxD1(0.7)
    assert constant.pmf[1] == pytest.approx(
        0.3 * (np.exp(0.7) - 1), rel=1e-12
    )  # a formula of Kleinrock
    # Up to one service time, Erlang's formula for M/D/1 gives the distribution of the wait.
    assert 1 - constant.work_exceeds(0.6) == pytest.approx(0.3 * np.exp(0.42), rel=1e-12)


def test_the_distribution_satisfies_the_balance_equations() -> None:
    """The balance equation of each state (Kleinrock), which the model's recursion does not use."""
    of = MxM1(0.6, Batches.of({1: 0.5, 3: 0.3, 7: 0.2}))
    size = len(of.pmf)
    out = of.pmf * (of.rate + (np.arange(size) > 0))
    into = of.rate * np.convolve(of.pmf, of.batches.pmf)[:size] + np.append(of.pmf[1:], 0)
    assert np.abs(out - into).max() < 1e-12


def test_the_distribution_is_stationary_over_a_service_time() -> None:
    of = MxD1(0.6, Batches.of({1: 0.5, 3: 0.3, 7: 0.2}))
    remaining = np.concatenate([[of.pmf[:2].sum()], of.pmf[2:]])
    after = np.convolve(remaining, of.arrivals(1))[: len(of.pmf)]
    assert np.abs(after - of.pmf).max() < 1e-12


@QUEUES
@pytest.mark.parametrize("load", [0.3, 0.8])
def test_delays_have_the_means_of_the_formulas(queue: type[BatchQueue], load: float) -> None:
    of = queue(load, FLOW_OF_7, service_s=0.01)
    step = 0.0025
    middles = np.arange(step / 2, 1.5, step)
    work = sum(of.work_exceeds(float(t)) for t in middles) * step
    wait = sum(of.wait_exceeds(float(t)) for t in middles) * step
    assert work == pytest.approx(of.mean_work, rel=2e-3)
    assert wait == pytest.approx(of.mean_wait, rel=2e-3)
    assert of.work_exceeds(0) == pytest.approx(load)


def test_the_work_of_constant_service_is_continuous_at_service_times() -> None:
    of = MxD1(0.8, FLOW_OF_7)
    for n in (1, 4, 20):
        near = [of.work_exceeds(n + d) for d in (-1e-7, 0, 1e-7)]
        assert near == pytest.approx([of.exceeds(n)] * 3, abs=1e-6)
        assert near[0] >= near[1] >= near[2]


@QUEUES
def test_the_tail_of_a_distribution_is_below_its_bound(queue: type[BatchQueue]) -> None:
    of = queue(0.9, FLOW_OF_7)
    for tail in (1e-3, 1e-6):
        assert of.exceeds(of.size(tail) - 1) <= tail
    ratio = of.pmf[300] / of.pmf[301]
    assert ratio == pytest.approx(of.decay, rel=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MxM1(1.0), "load is 1; it must be above 0 and below 1; at load 1 or more"),
        (lambda: MxM1(float("nan")), "load is nan; it must be above 0"),
        (lambda: MxM1(0.5, service_s=0), "service_s is 0; it must be above 0"),
        (lambda: Batches.of({0: 1}), "a size is 0; it must be a whole number of at least 1"),
        (lambda: Batches.of({2: -1}), "weight of 2 is -1; it must be at least 0"),
        (lambda: Batches.of({2: 0}), "every weight is 0"),
        (lambda: Batches(np.array([0.1, 0.9])), "probability of size 0 is 0.1"),
        (lambda: Batches(np.array([0, 0.9])), "sum of the probabilities is 0.9"),
        (lambda: Batches(np.array([[0, 1.0]])), "give a list of probabilities"),
        (
            lambda: MxM1(0.999999999, FLOW_OF_7).pmf,
            "too close to 1, because the distribution would have",
        ),
    ],
)
def test_invalid_parameters_raise_an_error(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        make()
