"""AQM algorithms as controllers, which compute the signal probability from the queue length.

The queue length is in packets. The method `response` of a controller is its linear response at a
network in equilibrium. For :mod:`aqmlab.models.fluid.over_time`, a controller also has states and
their derivatives. A controller that samples the queue once per `period_s` keeps its output constant
between two samples. This delays the output by half a period on average, and the linear response
includes the delay.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np

from aqmlab.models.bounds import refuse_outside
from aqmlab.models.fluid.network import Network


class Controller(ABC):
    """Controller that computes the signal probability from the queue length."""

    def rest(self, network: Network) -> Network:
        """Return the network in the equilibrium that the controller determines.

        Raises
        ------
        ValueError
            If an equilibrium does not exist, or has less than one packet per flow in flight.
        """
        equilibrium = self._rest(network)
        if equilibrium.window < 1:
            most = equilibrium.rtt_s * equilibrium.packets_per_s
            raise ValueError(
                f"flows is {equilibrium.flows:g}; it must be at most {most:.4g}, the number of "
                "packets in flight; "
                "the fluid model needs a window of at least 1 packet"
            )
        return equilibrium

    @abstractmethod
    def _rest(self, network: Network) -> Network:
        """Return the network at the queue length at which the controller is in equilibrium."""

    @abstractmethod
    def response(self, s: Any, network: Network) -> Any:
        """Return the linear response C(s) in 1/packet; s is a number or an array, in rad/s."""

    @abstractmethod
    def start(self, network: Network) -> Sequence[float]:
        """Return the states of the controller in equilibrium."""

    @abstractmethod
    def change(
        self, states: Sequence[float], queue: float, slope: float, network: Network
    ) -> Sequence[float]:
        """Return the derivatives of the states; `queue` is in packets, and `slope` in packets/s."""

    @abstractmethod
    def probability(self, states: Sequence[float]) -> float:
        """Return the signal probability."""


SPACING: dict[str, Callable[[float], float]] = {
    "geometric": lambda p: p,
    "uniform": lambda p: 2 * p / (1 + p),
    "wait": lambda p: 2 * p / 3,
}
"""Mean number of signals per packet at the probability p of RED, for each spacing of signals. The
mean gap between signals is 1/p for geometric gaps, (1/p + 1)/2 for gaps uniform in 1..1/p
(`floyd1993red`, §7, method 2), and 1.5/p for gaps uniform in 1/p..2/p.
"""


@dataclass(frozen=True)
class Red(Controller):
    """RED, whose signal probability increases with the average queue.

    Sources: `floyd1993red`; `hollot2001red`, equation 10.

    Parameters
    ----------
    minth, maxth : float
        Thresholds in packets.
    maxp : float
        Signal probability at maxth.
    wq : float
        Weight of a new sample, one per packet, in the average queue.
    gentle : bool
        True if the probability increases linearly from maxth to 1 at twice maxth. If `gentle` is
        False, the signal probability jumps to 1 at maxth.
    spacing : str
        Spacing of the signals, a key of :data:`SPACING`. With uniform gaps there are nearly twice
        as many signals as with geometric gaps.

    Examples
    --------
    >>> red = Red(minth=20, maxth=60, maxp=0.1, wq=0.002)
    >>> red.slope, red.of_average(40), round(red.rest(Network(20, 1250, 0.05)).queue, 1)
    (0.0025, 0.05, 46.8)
    """

    minth: float
    maxth: float
    maxp: float
    wq: float
    gentle: bool = True
    spacing: str = "geometric"

    def __post_init__(self) -> None:
        refuse_outside("minth", self.minth, 0, open_low=False)
        refuse_outside("maxth", self.maxth, self.minth)
        refuse_outside("maxp", self.maxp, 0, 1, open_high=False)
        refuse_outside("wq", self.wq, 0, 1)
        if self.spacing not in SPACING:
            raise ValueError(f"spacing is {self.spacing!r}; it must be one of {', '.join(SPACING)}")

    @property
    def slope(self) -> float:
        """Slope L_RED = maxp/(maxth - minth), in 1/packet."""
        return self.maxp / (self.maxth - self.minth)

    def pole(self, network: Network) -> float:
        """Return the pole K of the average queue, in rad/s.

        The pole is K = -ln(1 - wq) C if the link is busy, because RED takes one sample per packet.
        """
        return -log(1 - self.wq) * network.packets_per_s

    def of_average(self, average: float) -> float:
        """Return the share of packets that RED marks or drops, for an average queue in packets."""
        if average <= self.minth:
            return 0.0
        if average <= self.maxth:
            return SPACING[self.spacing](self.slope * (average - self.minth))
        if self.gentle and average <= 2 * self.maxth:
            p = self.maxp + (1 - self.maxp) * (average - self.maxth) / self.maxth
            return SPACING[self.spacing](p)
        return 1.0

    def _slope_at(self, average: float) -> float:
        step = 1e-6 * self.maxth
        return (self.of_average(average + step) - self.of_average(average - step)) / (2 * step)

    def _rest(self, network: Network) -> Network:
        """Return the network at the queue where RED has the signal probability of the flows."""
        from scipy.optimize import brentq

        top = 2 * self.maxth if self.gentle else self.maxth

        def too_low(queue: float) -> float:
            return self.of_average(queue) - network.at(queue).probability

        if too_low(top) < 0:
            needed = network.at(top).probability
            jump = "" if self.gentle else "set gentle, or "
            raise ValueError(
                f"maxp: {self.maxp:g} is too small for {network.flows:g} flows, which need "
                f"{needed:.3g} at the upper threshold; {jump}raise maxp or maxth"
            )
        return network.at(float(brentq(too_low, self.minth, top)))

    def response(self, s: Any, network: Network) -> Any:
        """Return L_RED / (s/K + 1)."""
        return self._slope_at(network.queue) / (s / self.pole(network) + 1)

    def start(self, network: Network) -> Sequence[float]:
        """Return the average queue."""
        return [network.queue]

    def change(
        self, states: Sequence[float], queue: float, slope: float, network: Network
    ) -> Sequence[float]:
        """Return the derivative of the average queue."""
        del slope
        return [self.pole(network) * (queue - states[0])]

    def probability(self, states: Sequence[float]) -> float:
        """Return the signal probability at the average queue."""
        return self.of_average(states[0])


@dataclass(frozen=True)
class Integral(Controller):
    """Proportional-integral controller: dp/dt = K ((q - q0) + (1/z) dq/dt).

    Parameters
    ----------
    k : float
        Coefficient K, in 1/(packet s).
    z : float
        Zero z of the controller, in rad/s.
    queue : float
        Reference queue q0, in packets.
    period_s : float
        Sampling period, in s; 0 for continuous control.

    Examples
    --------
    For a sampling frequency of 160 Hz, K and z of `hollot2001pi` give the coefficients a and b of
    the same paper:

    >>> law = Integral(9.64e-6, 0.53, 200, period_s=1 / 160)
    >>> [f"{x:.3e}" for x in law.coefficients]
    ['1.822e-05', '1.816e-05']
    """

    k: float
    z: float
    queue: float
    period_s: float = 0.0

    def __post_init__(self) -> None:
        refuse_outside("k", self.k, 0)
        refuse_outside("z", self.z, 0)
        refuse_outside("queue", self.queue, 0, open_low=False)
        refuse_outside("period_s", self.period_s, 0, open_low=False)

    @classmethod
    def of_coefficients(cls, a: float, b: float, period_s: float, queue: float) -> "Integral":
        """Return the controller p(t) = a (q - q0) - b (q_old - q0) + p_old, with sampling.

        Tustin's rule gives a = K (1/z + T/2) and b = K (1/z - T/2). The coefficients a and b are in
        1/packet.
        """
        refuse_outside("b", b, 0)
        refuse_outside("a", a, b, remedy="if a = b, the controller ignores its reference queue")
        refuse_outside("period_s", period_s, 0)
        k = (a - b) / period_s
        return cls(k, 2 * k / (a + b), queue, period_s)

    @property
    def coefficients(self) -> tuple[float, float]:
        """Coefficients a and b of the sampled controller, in 1/packet."""
        half = self.period_s / 2
        return self.k * (1 / self.z + half), self.k * (1 / self.z - half)

    def _rest(self, network: Network) -> Network:
        """Return the network in equilibrium, where the queue length is the reference `queue`."""
        return network.at(self.queue)

    def response(self, s: Any, network: Network) -> Any:
        """Return the linear response K (s/z + 1)/s, delayed by half a sampling period."""
        del network
        return self.k * (s / self.z + 1) / s * np.exp(-s * self.period_s / 2)

    def start(self, network: Network) -> Sequence[float]:
        """Return the equilibrium probability."""
        return [network.probability]

    def change(
        self, states: Sequence[float], queue: float, slope: float, network: Network
    ) -> Sequence[float]:
        """Return the derivative of the probability, which is 0 at the limits of the range 0..1."""
        del network
        rise = self.k * (queue - self.queue + slope / self.z)
        return [0.0 if (states[0] <= 0 and rise < 0) or (states[0] >= 1 and rise > 0) else rise]

    def probability(self, states: Sequence[float]) -> float:
        """Return the state, limited to the range 0..1."""
        return min(1.0, max(0.0, states[0]))


@dataclass(frozen=True)
class DelayController(Controller):
    """PIE and PI2: proportional-integral control of the queueing delay τ = q/C.

    In each period, the state changes by alpha (τ - target) + beta (τ - τ_old) (`rfc8033`, §4.2;
    `rfc9332`, Appendix A). The state of PIE is the signal probability p. PIE divides each change by
    a number from 1 to 2048, which is larger for smaller p (`auto_tuned`). The state of PI2 is √p
    (`squared`).

    Parameters
    ----------
    target_s : float
        Target delay, in s.
    period_s : float
        Time between two updates, in s.
    alpha, beta : float
        Change of the state per update and per s of delay.
    auto_tuned, squared : bool
        True for the auto-tuning of PIE, and true for the squaring of PI2.

    Examples
    --------
    >>> network = Network(30, 1250, 0.1)
    >>> round(pie().rest(network).queue, 2), pie().scale(0.005), pi2().scale(0.005)
    (18.75, 8, 1)
    """

    target_s: float
    period_s: float
    alpha: float
    beta: float
    auto_tuned: bool = False
    squared: bool = False

    def __post_init__(self) -> None:
        for name in ("target_s", "period_s", "alpha", "beta"):
            refuse_outside(name, getattr(self, name), 0)

    def scale(self, p: float) -> int:
        """Return the divisor of PIE's probability changes at probability p (`rfc8033`, §4.2)."""
        if not self.auto_tuned:
            return 1
        below = ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2))
        return next((scale for bound, scale in below if p < bound), 1)

    def _rest(self, network: Network) -> Network:
        """Return the network in equilibrium, where the queueing delay is the target delay."""
        return network.at(self.target_s * network.packets_per_s)

    def as_integral(self, network: Network) -> Integral:
        """Return the equivalent PI controller of the queue length, at a network in equilibrium.

        By Tustin's rule, K = α/T per s of delay, and z = α/(T (β + α/2)) (`pan2013pie`,
        `hollot2001pi`).
        """
        scale = self.scale(network.probability) * network.packets_per_s
        factor = 2 * network.probability**0.5 if self.squared else 1.0
        k = self.alpha / self.period_s
        z = k / (self.beta + self.alpha / 2)
        return Integral(factor * k / scale, z, network.queue, self.period_s)

    def response(self, s: Any, network: Network) -> Any:
        """Return the linear response of the equivalent PI controller (:meth:`as_integral`)."""
        return self.as_integral(network).response(s, network)

    def start(self, network: Network) -> Sequence[float]:
        """Return the state in equilibrium: p, or √p if `squared` is True."""
        return [network.probability**0.5 if self.squared else network.probability]

    def change(
        self, states: Sequence[float], queue: float, slope: float, network: Network
    ) -> Sequence[float]:
        """Return the derivative of the state, which is 0 at the limits of the range 0..1."""
        c = network.packets_per_s
        error = queue / c - self.target_s
        steps = self.alpha * error / self.period_s + (self.beta + self.alpha / 2) * slope / c
        rise = steps / self.scale(self.probability(states))
        return [0.0 if (states[0] <= 0 and rise < 0) or (states[0] >= 1 and rise > 0) else rise]

    def probability(self, states: Sequence[float]) -> float:
        """Return the signal probability: the state, or its square if `squared` is True."""
        state = min(1.0, max(0.0, states[0]))
        return state**2 if self.squared else state


PIE = DelayController(0.015, 0.015, 0.125, 1.25, auto_tuned=True)
PI2 = DelayController(0.015, 0.016, 0.16, 3.2, squared=True)


def pie(target_s: float = 0.015, **changes: Any) -> DelayController:
    """Return PIE with the defaults of `rfc8033`, Appendix A; `changes` replace some of them."""
    return replace(PIE, target_s=target_s, **changes)


def pi2(target_s: float = 0.015, **changes: Any) -> DelayController:
    """Return PI2 with the defaults of `rfc9332`, Appendix A.1; `changes` replace some of them."""
    return replace(PI2, target_s=target_s, **changes)
