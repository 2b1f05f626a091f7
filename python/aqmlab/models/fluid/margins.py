"""The loop of network and law: where it crosses, and how far it is from instability.

L(s) = P(s) C(s) with a minus sign at the comparison, so it is unstable when the phase reaches
-180° while the gain is above 1. *Gain margin*: the factor by which the gain may grow; *phase
margin*: what is left to -180° where the gain is 1; *delay margin*: the longer delay that takes
it away.
"""

from dataclasses import dataclass
from functools import cached_property
from math import degrees, inf, pi

import numpy as np
from numpy.typing import NDArray

from aqmlab.models.fluid.laws import Law
from aqmlab.models.fluid.network import Network

POINTS = 40_000
LOWEST, HIGHEST = 1e-6, 1e2
"""Frequencies that are looked at, in units of 1/R."""


@dataclass(frozen=True)
class Loop:
    """Network and law in a loop, at rest where the law holds the queue.

    Parameters
    ----------
    network : Network
        At any queue; the law's is taken.
    law : Law
        The controller.
    exact : bool
        Whether the network's response is the whole linear one (:meth:`Network.response`).

    Examples
    --------
    The PI controller of `hollot2001pi` in its setting:

    >>> from aqmlab.models.fluid.laws import Integral
    >>> loop = Loop(Network(60, 3750, 0.2), Integral(9.64e-6, 0.53, 175))
    >>> [round(x, 2) for x in (loop.crossover, loop.phase_margin_deg, loop.gain_margin)]
    [0.52, 75.02, 8.74]
    """

    network: Network
    law: Law
    exact: bool = False

    @cached_property
    def rest(self) -> Network:
        """The network at rest under this law.

        Raises
        ------
        ValueError
            If there is no such rest.
        """
        return self.law.rest(self.network)

    @property
    def frequencies(self) -> NDArray[np.float64]:
        """Frequencies in rad/s, from far below to far above 1/R."""
        low, high = np.log10([LOWEST, HIGHEST]) - np.log10(self.rest.rtt_s)
        return np.logspace(low, high, POINTS)

    def response(self, frequencies: NDArray[np.float64]) -> NDArray[np.complex128]:
        """Return L(jω); ω in rad/s."""
        s = 1j * np.asarray(frequencies)
        plant = self.rest.response(s, exact=self.exact)
        found: NDArray[np.complex128] = plant * self.law.response(s, self.rest)
        return found

    def phase(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the phase of L in rad, continuous from the lowest frequency on."""
        return np.unwrap(np.angle(self.response(frequencies)))

    @cached_property
    def _crossings(self) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
        """Crossings of gain 1, with their phase, and of -180°, with their gain."""
        w = np.log(self.frequencies)
        found = self.response(self.frequencies)
        gain, phase = np.log(np.abs(found)), np.unwrap(np.angle(found))
        ones = [(float(np.exp(at)), float(np.interp(at, w, phase))) for at in _zeros(w, gain)]
        turns = _zeros(w, phase + pi)
        return ones, [(float(np.exp(at)), float(np.exp(np.interp(at, w, gain)))) for at in turns]

    @property
    def crossover(self) -> float:
        """The greatest frequency at which the gain is 1, in rad/s; 0: it is nowhere."""
        return max((w for w, _ in self._crossings[0]), default=0.0)

    @property
    def phase_margin_deg(self) -> float:
        """The least phase margin of all crossings, in degrees; infinite without one."""
        return min((degrees(phase + pi) for _, phase in self._crossings[0]), default=inf)

    @property
    def gain_margin(self) -> float:
        """The factor by which the gain may grow; below 1: it is unstable."""
        gain = max((gain for _, gain in self._crossings[1]), default=0.0)
        return 1 / gain if gain else inf

    @property
    def phase_crossover(self) -> float:
        """The frequency at which the phase is -180°, in rad/s: that of swings at the limit."""
        return max(self._crossings[1], key=lambda at: at[1], default=(inf, 0.0))[0]

    @property
    def delay_margin_s(self) -> float:
        """The least longer delay that makes it unstable, in s; infinite if none does."""
        return min((max(0.0, phase + pi) / w for w, phase in self._crossings[0]), default=inf)

    @property
    def is_stable(self) -> bool:
        """Whether the loop comes back to rest."""
        return self.phase_margin_deg > 0 and self.gain_margin > 1


def _zeros(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[float]:
    """Return where a curve crosses 0, on straight lines between its points."""
    at = np.flatnonzero(np.signbit(y[1:]) != np.signbit(y[:-1]))
    return [float(x[i] - y[i] * (x[i + 1] - x[i]) / (y[i + 1] - y[i])) for i in at]
