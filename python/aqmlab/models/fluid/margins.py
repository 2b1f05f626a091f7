"""Closed loop of a network and a controller, and its stability margins.

The transfer function of the open loop is L(s) = P(s) C(s), and the feedback is negative. The closed
loop is unstable if the phase of L reaches -180° at a frequency with a gain above 1. The *gain
margin* is the factor by which the gain can increase before the loop is unstable. The *phase margin*
is the difference between the phase and -180° at the frequency with gain 1. The *delay margin* is
the additional delay that reduces the phase margin to 0.
"""

from dataclasses import dataclass
from functools import cached_property
from math import degrees, inf, pi

import numpy as np
from numpy.typing import NDArray

from aqmlab.models.fluid.controllers import Controller
from aqmlab.models.fluid.network import Network

POINTS = 40_000
LOWEST, HIGHEST = 1e-6, 1e2
"""Range of the examined frequencies, as multiples of 1/R."""


@dataclass(frozen=True)
class Loop:
    """Closed loop of a network and a controller, in equilibrium.

    Parameters
    ----------
    network : Network
        Network, with any queue length, because the controller determines the queue in equilibrium.
    controller : Controller
        The controller.
    exact : bool
        True to use the full linearization of the network (:meth:`Network.response`).

    Examples
    --------
    Margins of the PI controller of `hollot2001pi` in the setting of the paper:

    >>> from aqmlab.models.fluid.controllers import Integral
    >>> loop = Loop(Network(60, 3750, 0.2), Integral(9.64e-6, 0.53, 175))
    >>> [round(x, 2) for x in (loop.crossover, loop.phase_margin_deg, loop.gain_margin)]
    [0.52, 75.02, 8.74]
    """

    network: Network
    controller: Controller
    exact: bool = False

    @cached_property
    def rest(self) -> Network:
        """Network in equilibrium with the controller.

        Raises
        ------
        ValueError
            If an equilibrium does not exist.
        """
        return self.controller.rest(self.network)

    @property
    def frequencies(self) -> NDArray[np.float64]:
        """Examined frequencies in rad/s, from far below 1/R to far above 1/R."""
        low, high = np.log10([LOWEST, HIGHEST]) - np.log10(self.rest.rtt_s)
        return np.logspace(low, high, POINTS)

    def response(self, frequencies: NDArray[np.float64]) -> NDArray[np.complex128]:
        """Return L(jω); ω in rad/s."""
        s = 1j * np.asarray(frequencies)
        plant = self.rest.response(s, exact=self.exact)
        loop: NDArray[np.complex128] = plant * self.controller.response(s, self.rest)
        return loop

    def phase(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the phase of L in rad, as a continuous function of the frequency."""
        return np.unwrap(np.angle(self.response(frequencies)))

    @cached_property
    def _crossings(self) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
        """Frequencies with gain 1 and their phase; frequencies with phase -180° and their gain."""
        w = np.log(self.frequencies)
        loop = self.response(self.frequencies)
        gain, phase = np.log(np.abs(loop)), np.unwrap(np.angle(loop))
        ones = [(float(np.exp(at)), float(np.interp(at, w, phase))) for at in _zeros(w, gain)]
        turns = _zeros(w, phase + pi)
        return ones, [(float(np.exp(at)), float(np.exp(np.interp(at, w, gain)))) for at in turns]

    @property
    def crossover(self) -> float:
        """Maximum frequency at which the gain is 1, in rad/s; 0 if the gain is never 1."""
        return max((w for w, _ in self._crossings[0]), default=0.0)

    @property
    def phase_margin_deg(self) -> float:
        """Minimum phase margin of all frequencies with gain 1, in degrees; infinite without any."""
        return min((degrees(phase + pi) for _, phase in self._crossings[0]), default=inf)

    @property
    def gain_margin(self) -> float:
        """Largest stable gain divided by the present gain; below 1 if the loop is unstable."""
        gain = max((gain for _, gain in self._crossings[1]), default=0.0)
        return 1 / gain if gain else inf

    @property
    def phase_crossover(self) -> float:
        """Frequency with phase -180° in rad/s, that of an oscillation at the limit of stability."""
        return max(self._crossings[1], key=lambda at: at[1], default=(inf, 0.0))[0]

    @property
    def delay_margin_s(self) -> float:
        """Minimum additional delay, in s, that makes the loop unstable; infinite if none does."""
        return min((max(0.0, phase + pi) / w for w, phase in self._crossings[0]), default=inf)

    @property
    def is_stable(self) -> bool:
        """True if the loop returns to its equilibrium after a disturbance."""
        return self.phase_margin_deg > 0 and self.gain_margin > 1


def _zeros(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[float]:
    """Return the zeros of a curve, by linear interpolation between its points."""
    at = np.flatnonzero(np.signbit(y[1:]) != np.signbit(y[:-1]))
    return [float(x[i] - y[i] * (x[i + 1] - x[i]) / (y[i + 1] - y[i])) for i in at]
