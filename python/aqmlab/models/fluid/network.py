"""Fluid model of Reno flows through one link, and their linear response to signals.

    dW/dt = 1/(b R(t)) - W(t)/2 · W(t-R)/R(t-R) · p(t-R)
    dq/dt = N W/R - C,   R = q/C + T

(`misra2000fluid`; `hollot2001red`, equations 1 and 2). The symbols are: W, window of a flow in
packets; q, queue length in packets; p, share of packets that are signals; N, number of flows; C,
rate of the link in packets/s; T, round-trip time without queueing; R, round-trip time with
queueing; b, number of segments per ACK (2 with delayed ACKs, 1 in the papers). In equilibrium, W² p
= 2/b and W = R C/N.

The linear response of q to p, without the minus sign of the feedback, is

    P(s) = C²/(2N) e^(-sR) / ((s + 2N/(b R²C)) (s + 1/R))

(`hollot2001red`, equation 9). This formula assumes that N/(R²C) is small compared with 1/R.
:meth:`Network.response` computes P(s). With `exact=True`, the method computes the full
linearization, which includes the delays of the window and of the rate. Each signal concerns one
flow, which is chosen at random. The model omits timeouts, slow start and the receive window.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aqmlab.models.bounds import refuse_outside


@dataclass(frozen=True)
class Network:
    """N Reno flows through one link, in equilibrium at a given queue length.

    Parameters
    ----------
    flows : float
        Number of flows N, above 0.
    packets_per_s : float
        Rate C of the link, above 0.
    propagation_s : float
        Round-trip time T without queueing, in s; above 0.
    queue : float
        Equilibrium queue, in packets; 0 or more.
    per_ack : float
        Number b of segments per ACK, 1 or more. Default 1.

    Examples
    --------
    >>> of = Network(flows=60, packets_per_s=3750, propagation_s=0.2, queue=175)
    >>> round(of.rtt_s, 4), round(of.window, 2), round(of.probability, 5)
    (0.2467, 15.42, 0.00841)
    """

    flows: float
    packets_per_s: float
    propagation_s: float
    queue: float = 0.0
    per_ack: float = 1.0

    def __post_init__(self) -> None:
        refuse_outside("flows", self.flows, 0)
        refuse_outside("packets_per_s", self.packets_per_s, 0)
        refuse_outside("propagation_s", self.propagation_s, 0)
        refuse_outside("queue", self.queue, 0, open_low=False)
        refuse_outside("per_ack", self.per_ack, 1, open_low=False)

    @property
    def rtt_s(self) -> float:
        """Round-trip time R in equilibrium, including queueing, in s."""
        return self.queue / self.packets_per_s + self.propagation_s

    @property
    def window(self) -> float:
        """W in equilibrium, in packets."""
        return self.rtt_s * self.packets_per_s / self.flows

    @property
    def probability(self) -> float:
        """Signal probability 2/(b W²) in equilibrium, limited to at most 1."""
        return min(1.0, 2 / (self.per_ack * self.window**2))

    @property
    def window_pole(self) -> float:
        """Pole of the window, 2N/(b R²C), in rad/s."""
        return 2 * self.flows / (self.per_ack * self.rtt_s**2 * self.packets_per_s)

    @property
    def queue_pole(self) -> float:
        """Pole of the queue, 1/R, in rad/s."""
        return 1 / self.rtt_s

    @property
    def gain(self) -> float:
        """Response b (R C)³/(4N²) of the queue to the signal probability at ω = 0, in packets."""
        return self.per_ack * (self.rtt_s * self.packets_per_s) ** 3 / (4 * self.flows**2)

    def response(self, s: Any, *, exact: bool = False) -> Any:
        """Return P(s) in packets, including the delay; s is a number or an array, in rad/s."""
        r, c, n = self.rtt_s, self.packets_per_s, self.flows
        late = np.exp(-s * r)
        if not exact:
            return c**2 / (2 * n) * late / ((s + self.window_pole) * (s + self.queue_pole))
        half = self.window_pole / 2
        below = (s + 1 / r) * (s + half * (1 + late)) + half / r * (1 - late)
        return c**2 / (2 * n) * late / below

    def at(self, queue: float) -> "Network":
        """Return the same network in equilibrium at another queue length, in packets."""
        return replace(self, queue=queue)
