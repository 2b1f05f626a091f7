"""AQM laws as controllers, from the queue to the probability: linear, and as they act over time.

The queue is in packets. Each has `response(s, network)`, the linear one, at a network at rest,
and `states` of its own with their derivatives for :mod:`aqmlab.models.fluid.over_time`. A law
that samples every `period_s` holds what it decided meanwhile, which is a delay of half a
period; that delay is in the response.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np

from aqmlab.models.bounds import refuse_outside
from aqmlab.models.fluid.network import Network


class Law(ABC):
    """What makes a probability of a queue."""

    def rest(self, network: Network) -> Network:
        """Return the network at rest at the queue at which this law holds it.

        Raises
        ------
        ValueError
            If there is no such queue, or no whole packet is in flight a flow.
        """
        found = self._rest(network)
        if found.window < 1:
            most = found.rtt_s * found.packets_per_s
            raise ValueError(
                f"flows: {found.flows:g} must be at most {most:.4g}, a packet each in path and "
                "queue; a window below 1 packet is none of this fluid"
            )
        return found

    @abstractmethod
    def _rest(self, network: Network) -> Network:
        """Return the network at that queue."""

    @abstractmethod
    def response(self, s: Any, network: Network) -> Any:
        """Return C(s), in 1/packet; s in rad/s, a number or an array."""

    @abstractmethod
    def start(self, network: Network) -> Sequence[float]:
        """Return the states of the law at rest."""

    @abstractmethod
    def change(
        self, states: Sequence[float], queue: float, slope: float, network: Network
    ) -> Sequence[float]:
        """Return the derivatives of the states; queue in packets, its slope in packets/s."""

    @abstractmethod
    def probability(self, states: Sequence[float]) -> float:
        """Return the signal probability."""


SPACING: dict[str, Callable[[float], float]] = {
    "geometric": lambda p: p,
    "uniform": lambda p: 2 * p / (1 + p),
    "wait": lambda p: 2 * p / 3,
}
"""Signals a packet at RED's probability p: gaps have the mean 1/p; (1/p + 1)/2, uniform in 1..1/p
(`floyd1993red`, §7, method 2); 1.5/p, uniform in 1/p..2/p."""


@dataclass(frozen=True)
class Red(Law):
    """RED: an average, and a probability that grows with it.

    `floyd1993red`; `hollot2001red`, equation 10.

    Parameters
    ----------
    minth, maxth : float
        Thresholds in packets.
    maxp : float
        Probability at maxth.
    wq : float
        Weight of a packet's sample in the average.
    gentle : bool
        Whether the probability rises to 1 at twice maxth; else it jumps there.
    spacing : str
        How signals are spaced, one of :data:`SPACING`; uniform ones are nearly twice as many.

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
            raise ValueError(f"spacing: {self.spacing!r} must be one of {', '.join(SPACING)}")

    @property
    def slope(self) -> float:
        """L_RED, maxp/(maxth - minth), in 1/packet."""
        return self.maxp / (self.maxth - self.minth)

    def pole(self, network: Network) -> float:
        """K, of the average, in rad/s: -ln(1 - wq) C, a sample a packet of a busy link."""
        return -log(1 - self.wq) * network.packets_per_s

    def of_average(self, average: float) -> float:
        """Return the share of packets that are signals at an average, in packets."""
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
        """Return the network at the queue whose probability is what the flows ask for."""
        from scipy.optimize import brentq

        top = 2 * self.maxth if self.gentle else self.maxth

        def too_low(queue: float) -> float:
            return self.of_average(queue) - network.at(queue).probability

        if too_low(top) < 0:
            asked = network.at(top).probability
            told = "with gentle it goes on to 1; " * (not self.gentle)
            raise ValueError(
                f"maxp: {self.maxp:g} is too small for {network.flows:g} flows, which ask for "
                f"{asked:.3g} at the upper threshold; {told}raise maxp or maxth"
            )
        return network.at(float(brentq(too_low, self.minth, top)))

    def response(self, s: Any, network: Network) -> Any:
        """L_RED / (s/K + 1)."""
        return self._slope_at(network.queue) / (s / self.pole(network) + 1)

    def start(self, network: Network) -> Sequence[float]:
        """The average."""
        return [network.queue]

    def change(
        self, states: Sequence[float], queue: float, slope: float, network: Network
    ) -> Sequence[float]:
        """The average follows the queue."""
        del slope
        return [self.pole(network) * (queue - states[0])]

    def probability(self, states: Sequence[float]) -> float:
        """By the average."""
        return self.of_average(states[0])


@dataclass(frozen=True)
class Integral(Law):
    """A proportional-integral law: dp/dt = K ((q - q0) + (1/z) dq/dt).

    Parameters
    ----------
    k : float
        K, in 1/(packet s).
    z : float
        Its zero, in rad/s.
    queue : float
        The queue that is held, in packets.
    period_s : float
        Time between two samples; 0: none, it acts at once.

    Examples
    --------
    The coefficients that are printed for 160 Hz (`hollot2001pi`), from its printed controller:

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
        """Return p(t) = a (q - q0) - b (q_old - q0) + p_old, sampled every period, as such a law.

        Tustin's rule: a = K (1/z + T/2), b = K (1/z - T/2). a and b in 1/packet.
        """
        refuse_outside("b", b, 0)
        refuse_outside("a", a, b, remedy="with b = a the queue is not pulled to its reference")
        refuse_outside("period_s", period_s, 0)
        k = (a - b) / period_s
        return cls(k, 2 * k / (a + b), queue, period_s)

    @property
    def coefficients(self) -> tuple[float, float]:
        """A and b of the sampled law, in 1/packet (see :meth:`of_coefficients`)."""
        half = self.period_s / 2
        return self.k * (1 / self.z + half), self.k * (1 / self.z - half)

    def _rest(self, network: Network) -> Network:
        """Return the network at the queue that is held."""
        return network.at(self.queue)

    def response(self, s: Any, network: Network) -> Any:
        """K (s/z + 1)/s, half a period late."""
        del network
        return self.k * (s / self.z + 1) / s * np.exp(-s * self.period_s / 2)

    def start(self, network: Network) -> Sequence[float]:
        """The probability."""
        return [network.probability]

    def change(
        self, states: Sequence[float], queue: float, slope: float, network: Network
    ) -> Sequence[float]:
        """By the distance and by the slope; not beyond 0 and 1."""
        del network
        rise = self.k * (queue - self.queue + slope / self.z)
        return [0.0 if (states[0] <= 0 and rise < 0) or (states[0] >= 1 and rise > 0) else rise]

    def probability(self, states: Sequence[float]) -> float:
        """The state, within 0 and 1."""
        return min(1.0, max(0.0, states[0]))


@dataclass(frozen=True)
class OfDelay(Law):
    """PIE and PI2: proportional-integral in the queueing delay, p or its root being what is kept.

    Every period what is kept grows by alpha (τ - target) + beta (τ - τ_old), τ = q/C
    (`rfc8033`, §4.2; `rfc9332`, Appendix A). PIE divides the step by 1 to 2048, the more the
    smaller p is (`auto_tuned`); PI2 takes the square of what is kept for p (`squared`).

    Parameters
    ----------
    target_s : float
        The delay that is held, in s.
    period_s : float
        Time between two steps, in s.
    alpha, beta : float
        Weights, per s of delay and step.
    auto_tuned, squared : bool
        PIE; PI2.

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
        """Return what PIE divides a step by at this probability (`rfc8033`, §4.2)."""
        if not self.auto_tuned:
            return 1
        below = ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2))
        return next((scale for bound, scale in below if p < bound), 1)

    def _rest(self, network: Network) -> Network:
        """Return the network at the target."""
        return network.at(self.target_s * network.packets_per_s)

    def as_integral(self, network: Network) -> Integral:
        """Return the linear law at a network at rest, in packets.

        K = α/T per s of delay, z = α/(T (β + α/2)), by Tustin's rule (`pan2013pie`,
        `hollot2001pi`).
        """
        scale = self.scale(network.probability) * network.packets_per_s
        factor = 2 * network.probability**0.5 if self.squared else 1.0
        k = self.alpha / self.period_s
        z = k / (self.beta + self.alpha / 2)
        return Integral(factor * k / scale, z, network.queue, self.period_s)

    def response(self, s: Any, network: Network) -> Any:
        """As :meth:`as_integral`."""
        return self.as_integral(network).response(s, network)

    def start(self, network: Network) -> Sequence[float]:
        """What is kept: p, or its root."""
        return [network.probability**0.5 if self.squared else network.probability]

    def change(
        self, states: Sequence[float], queue: float, slope: float, network: Network
    ) -> Sequence[float]:
        """By the delay's distance and by its slope; not beyond 0 and 1."""
        c = network.packets_per_s
        far = queue / c - self.target_s
        steps = self.alpha * far / self.period_s + (self.beta + self.alpha / 2) * slope / c
        rise = steps / self.scale(self.probability(states))
        return [0.0 if (states[0] <= 0 and rise < 0) or (states[0] >= 1 and rise > 0) else rise]

    def probability(self, states: Sequence[float]) -> float:
        """What is kept, or its square, within 0 and 1."""
        kept = min(1.0, max(0.0, states[0]))
        return kept**2 if self.squared else kept


PIE = OfDelay(0.015, 0.015, 0.125, 1.25, auto_tuned=True)
PI2 = OfDelay(0.015, 0.016, 0.16, 3.2, squared=True)


def pie(target_s: float = 0.015, **changes: Any) -> OfDelay:
    """Return PIE with the defaults of `rfc8033`, Appendix A, but for what is changed."""
    return replace(PIE, target_s=target_s, **changes)


def pi2(target_s: float = 0.015, **changes: Any) -> OfDelay:
    """Return PI2 with the defaults of `rfc9332`, Appendix A.1, but for what is changed."""
    return replace(PI2, target_s=target_s, **changes)
