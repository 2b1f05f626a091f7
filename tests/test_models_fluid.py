"""Tests of the fluid model of TCP and AQM: published designs, margins, solutions over time."""

import re
from collections.abc import Callable
from math import hypot
from typing import Any

import numpy as np
import pytest

from aqmlab.models.fluid.controllers import Controller, Integral, Red, pi2, pie
from aqmlab.models.fluid.design import pi_of, red_slope
from aqmlab.models.fluid.margins import Loop
from aqmlab.models.fluid.network import Network
from aqmlab.models.fluid.over_time import over_time

PAPER = Network(flows=60, packets_per_s=3750, propagation_s=0.2, queue=175)
"""Network of hollot2001pi and hollot2001red: 15 Mbit/s, packets of 500 B."""


def test_the_rule_for_pi_gives_the_printed_coefficients() -> None:
    """The paper hollot2001pi prints R = 0.246 s, z = 0.53 and K = 9.64e-6, which give a and b."""
    controller = pi_of(PAPER, period_s=1 / 160)
    assert PAPER.rtt_s == pytest.approx(0.246, abs=0.001)
    assert controller.z == pytest.approx(0.53, abs=0.005)
    assert controller.k == pytest.approx(9.64e-6, rel=2e-3)
    assert controller.coefficients == pytest.approx((1.822e-5, 1.816e-5), rel=0.01)
    printed = Integral(9.64e-6, 0.53, 175, period_s=1 / 160)
    assert printed.coefficients == pytest.approx((1.822e-5, 1.816e-5), rel=2e-4)
    inverse = Integral.of_coefficients(*printed.coefficients, 1 / 160, 175)
    assert (inverse.k, inverse.z) == pytest.approx((9.64e-6, 0.53), rel=1e-9)


def test_the_printed_red_design_satisfies_its_rule() -> None:
    """L_RED = 1.86e-4 of hollot2001red satisfies the condition for 60 flows, 0.246 s, K = 0.005."""
    worst = Network(60, 3750, 0.246)
    bound = red_slope(worst, 0.005)
    assert 1.86e-4 < bound < 1.05 * 1.86e-4
    red = Red(minth=1, maxth=1 + 0.5 / bound, maxp=0.5, wq=1 - np.exp(-0.005 / 3750))
    loop = Loop(worst, red)
    assert red.pole(worst) == pytest.approx(0.005)
    gain = np.abs(loop.response(np.array([0.1 * worst.window_pole])))
    at_rest = loop.rest  # the equilibrium queue is above that of the bound
    assert gain[0] < 1.05 * at_rest.gain / worst.gain
    assert loop.phase_margin_deg > 70


def test_the_response_has_its_poles_and_gain() -> None:
    assert abs(PAPER.response(1e-9j)) == pytest.approx(PAPER.gain, rel=1e-6)
    at = abs(PAPER.response(1j * PAPER.window_pole))
    queue = hypot(1, PAPER.window_pole * PAPER.rtt_s)
    assert at == pytest.approx(PAPER.gain / (2**0.5 * queue))
    w = np.array([0.01, 0.1, 5.0])  # the omitted terms are small at these frequencies
    exact, short = (abs(PAPER.response(1j * w, exact=e)) for e in (True, False))
    assert exact == pytest.approx(short, rel=0.15)


def test_margins_of_a_loop_with_a_closed_form() -> None:
    """The margins of the loop K g e^(-sR)/s, an integrator with a delay, have closed forms."""

    class Ideal(Integral):
        def response(self, s: Any, network: Network) -> Any:
            return self.k * np.exp(-s * network.rtt_s) / s / network.response(s)

    loop = Loop(PAPER, Ideal(2.0, 1, 175))
    assert loop.crossover == pytest.approx(2, rel=1e-4)
    assert loop.phase_margin_deg == pytest.approx(90 - np.degrees(2 * PAPER.rtt_s), rel=1e-4)
    assert loop.phase_crossover == pytest.approx(np.pi / 2 / PAPER.rtt_s, rel=1e-4)
    assert loop.gain_margin == pytest.approx(np.pi / 4 / PAPER.rtt_s, rel=1e-4)
    expected = (np.pi / 2 - 2 * PAPER.rtt_s) / 2
    assert loop.delay_margin_s == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(("factor", "stable"), [(0.85, True), (1.15, False)])
def test_the_solution_oscillates_above_the_gain_margin(factor: float, stable: bool) -> None:
    """An oscillation grows above the gain margin and decays below it, at the model's frequency."""
    controller = Integral(9.64e-6, 0.53, 175)
    margin = Loop(PAPER, controller, exact=True).gain_margin
    loop = Loop(PAPER, Integral(factor * margin * controller.k, controller.z, 175), exact=True)
    assert loop.is_stable is stable
    course = over_time(
        PAPER, loop.controller, 40, start=(PAPER.window * 1.001, 175), tolerance=1e-8, points=8000
    )
    deviation = course.queue - 175
    early, late = (np.abs(deviation[a:b]).max() for a, b in ((1000, 3000), (6000, 8000)))
    assert late < early / 3 if stable else late > 2 * early
    ups = course.time_s[1:][(deviation[1:] > 0) & (deviation[:-1] <= 0)]
    swing = 2 * np.pi / np.diff(ups[2:12]).mean()
    assert swing == pytest.approx(loop.phase_crossover, rel=0.1)


CONTROLLERS = [
    Red(minth=150, maxth=700, maxp=0.1, wq=1.33e-6 * 100),
    Integral(9.64e-6, 0.53, 200, period_s=1 / 160),
    pie(0.05),
    pi2(0.05),
]


@pytest.mark.parametrize(
    "controller", CONTROLLERS, ids=lambda controller: type(controller).__name__
)
def test_every_controller_maintains_its_equilibrium_queue(controller: Controller) -> None:
    rest = controller.rest(PAPER)
    assert controller.probability(controller.start(rest)) == pytest.approx(
        rest.probability, rel=1e-6
    )
    course = over_time(PAPER, controller, 20)
    assert np.abs(course.queue - rest.queue).max() < 1e-3 * rest.queue
    assert course.probability[-1] * course.window[-1] ** 2 == pytest.approx(2, rel=1e-3)


def test_more_flows_lead_to_another_equilibrium() -> None:
    controller = pi_of(PAPER)
    course = over_time(PAPER, controller, 120, flows=[(10, 90)])
    other = Network(90, 3750, 0.2, 175)
    before = course.time_s < 10
    assert np.abs(course.queue[before] - 175).max() < 0.1
    assert course.queue.max() > 200
    assert course.queue[-1] == pytest.approx(175, rel=1e-2)
    assert course.window[-1] == pytest.approx(other.window, rel=1e-2)
    assert course.probability[-1] == pytest.approx(other.probability, rel=2e-2)


def test_the_queue_stays_between_empty_and_full() -> None:
    course = over_time(PAPER, pi_of(PAPER), 30, start=(40, 0), limit=250)
    assert course.queue.max() == pytest.approx(250)
    assert course.queue.min() == 0
    assert np.isfinite(course.window).all()


def test_the_auto_tuning_of_pie_preserves_its_margins() -> None:
    """Without auto-tuning (pan2013pie), PIE's gains are unstable for few flows with a small p."""
    for flows in (5, 10, 20, 40, 80, 160):
        loop = Loop(Network(flows, 12_500, 0.02), pie())
        assert loop.is_stable
        assert 5 < loop.gain_margin < 30
    few = Network(5, 12_500, 0.02)
    assert Loop(few, pie(auto_tuned=False)).gain_margin < 0.4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Network(60, 3750, 0), "propagation_s is 0; it must be above 0"),
        (
            lambda: pie().rest(Network(6000, 3750, 0.2)),
            "flows is 6000; it must be at most 806",
        ),
        (lambda: Red(50, 40, 0.1, 0.002), "maxth is 40; it must be above 50"),
        (lambda: Red(5, 15, 0.001, 0.002, gentle=False).rest(PAPER), "maxp: 0.001 is too small"),
        (
            lambda: Integral.of_coefficients(1e-5, 1e-5, 0.01, 0),
            "a is 1e-05; it must be above 1e-05",
        ),
        (lambda: over_time(PAPER, CONTROLLERS[1], 0), "seconds is 0; it must be above 0"),
        (lambda: over_time(PAPER, CONTROLLERS[1], 1, limit=0), "limit is 0; it must be above 0"),
        (lambda: red_slope(PAPER, 0), "pole is 0; it must be above 0"),
    ],
)
def test_invalid_parameters_raise_an_error(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        make()
