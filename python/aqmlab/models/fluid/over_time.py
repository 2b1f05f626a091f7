"""Numerical solution of the delay-differential equations of the fluid model.

scipy has no solver for equations with delays, so this module uses the method of steps. No step of
scipy's Runge–Kutta solver (RK45) is longer than half of the round-trip time without queueing. The
interpolants of earlier steps give the delayed values.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from aqmlab.models.bounds import refuse_outside
from aqmlab.models.fluid.controllers import Controller
from aqmlab.models.fluid.network import Network

Array = NDArray[np.float64]
W, Q, CONTROLLER = 0, 1, 2


@dataclass(frozen=True)
class Course:
    """Solution over time: times in s, window of a flow and queue in packets, signal probability."""

    time_s: Array
    window: Array
    queue: Array
    probability: Array


class _Past:
    """States at past times; before time 0, the state is the initial state."""

    def __init__(self, first: Array) -> None:
        self._first = first
        self._ends: list[float] = []
        self._parts: list[Callable[[float], Array]] = []

    def add(self, end: float, part: Callable[[float], Array]) -> None:
        self._ends.append(end)
        self._parts.append(part)

    def __call__(self, time: float) -> Array:
        if time <= 0 or not self._ends:
            return self._first
        return self._parts[min(bisect_left(self._ends, time), len(self._ends) - 1)](time)


def over_time(
    network: Network,
    controller: Controller,
    seconds: float,
    *,
    flows: Sequence[tuple[float, float]] = (),
    start: tuple[float, float] | None = None,
    limit: float = inf,
    points: int = 2000,
    tolerance: float = 1e-6,
) -> Course:
    """Return the solution from an initial state, which by default is the equilibrium.

    Parameters
    ----------
    network : Network
        Flows and link. The queue length of `network` is ignored, because the controller determines
        the equilibrium.
    controller : Controller
        The controller.
    seconds : float
        Duration of the solution, in s.
    flows : sequence of (float, float)
        Changes of the number of flows: time in s, and number of flows from this time on; default:
        no change.
    start : (float, float), optional
        Initial window of a flow and initial queue, in packets; default: the equilibrium.
    limit : float
        Limit of the queue in packets; default: infinite. Packets above the limit are lost, without
        a signal to the flows.
    points : int
        Number of equally spaced times in the result.
    tolerance : float
        Relative tolerance of each step.

    Raises
    ------
    ValueError
        If a value is outside its bounds, or if an equilibrium does not exist.

    Examples
    --------
    >>> from aqmlab.models.fluid.controllers import Integral
    >>> course = over_time(Network(60, 3750, 0.2), Integral(9.64e-6, 0.53, 175), 80, start=(8, 100))
    >>> round(float(course.queue[-1]), 1), round(float(course.window[-1]), 2)
    (175.0, 15.42)
    """
    from scipy.integrate import RK45

    refuse_outside("seconds", seconds, 0)
    refuse_outside("limit", min(limit, 1e300), 0)
    refuse_outside("points", points, 2, open_low=False)
    for _, n in flows:
        refuse_outside("flows", n, 0)
    rest = controller.rest(network)
    window, queue = start or (rest.window, rest.queue)
    refuse_outside("start: the window", window, 0)
    refuse_outside("start: the queue", queue, 0, open_low=False)
    first = np.array([window, queue, *controller.start(rest)])
    past = _Past(first)
    changes = sorted(flows)
    ends = [*(t for t, _ in changes if 0 < t < seconds), seconds]
    count = rest.flows
    times = np.linspace(0, seconds, points)
    state, begin = first, 0.0
    for end in ends:
        count = next((n for t, n in reversed(changes) if t <= begin), count)
        slopes = _Slopes(rest, controller, count, limit, past)
        solver = RK45(
            slopes, begin, state, end, max_step=rest.propagation_s / 2, rtol=tolerance, atol=1e-9
        )
        while solver.status == "running":
            solver.step()
            past.add(float(solver.t), solver.dense_output())
        if solver.status == "failed":
            raise ValueError(
                f"tolerance: {tolerance:g} is too small for the solver; increase the tolerance"
            )
        state, begin = solver.y, end
    states = np.array([past(float(t)) for t in times])
    probabilities = np.array([controller.probability(list(row[CONTROLLER:])) for row in states])
    queues = np.clip(states[:, Q], 0, limit)
    return Course(times, states[:, W], queues, probabilities)


class _Slopes:
    """Right-hand side of the differential equations, for a given number of flows."""

    def __init__(
        self, rest: Network, controller: Controller, flows: float, limit: float, past: _Past
    ) -> None:
        self.rest, self.controller, self.flows, self.limit, self.past = (
            rest,
            controller,
            flows,
            limit,
            past,
        )

    def __call__(self, time: float, state: Array) -> list[float]:
        """Return dW/dt, dq/dt and the derivatives of the controller's states."""
        c = self.rest.packets_per_s
        queue = min(max(float(state[Q]), 0.0), self.limit)
        rtt = queue / c + self.rest.propagation_s
        ago = self.past(time - rtt)
        rtt_ago = min(max(float(ago[Q]), 0.0), self.limit) / c + self.rest.propagation_s
        signals = self.controller.probability([float(x) for x in ago[CONTROLLER:]])
        window = float(state[W])
        fall = window / 2 * float(ago[W]) / rtt_ago * signals
        rise = self.flows * window / rtt - c
        if (state[Q] <= 0 and rise < 0) or (state[Q] >= self.limit and rise > 0):
            rise = 0.0
        states = [float(x) for x in state[CONTROLLER:]]
        grown = 1 / (self.rest.per_ack * rtt)
        return [grown - fall, rise, *self.controller.change(states, queue, rise, self.rest)]
