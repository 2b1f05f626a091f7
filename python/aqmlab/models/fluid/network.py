"""Reno flows through one link as a fluid, and the linear response of its queue to the probability.

    dW/dt = 1/(b R(t)) - W(t)/2 · W(t-R)/R(t-R) · p(t-R)
    dq/dt = N W/R - C,   R = q/C + T

(`misra2000fluid`; `hollot2001red`, equations 1 and 2). W is the window of a flow in packets, q
the queue in packets, p the share of packets that are signals, N flows, C packets/s, T the round
trip without queue, b the segments that an ACK acknowledges (2 with delayed ACKs; 1 in the
papers). At rest W² p = 2/b, W = R C/N.

Linearized there, p → q is, without the minus sign of the loop,

    P(s) = C²/(2N) e^(-sR) / ((s + 2N/(b R²C)) (s + 1/R))

(`hollot2001red`, equation 9), which takes N/(R²C) for small beside 1/R.
:meth:`Network.response` has it, or with `exact=True` what it was made from: the delayed window
and the delayed rate then stay. Signals are told to each flow alone and at random; timeouts,
slow start and the receive window are left out.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aqmlab.models.bounds import refuse_outside


@dataclass(frozen=True)
class Network:
    """N Reno flows through a link, at rest at a given queue.

    Parameters
    ----------
    flows : float
        N, above 0.
    packets_per_s : float
        C, the rate of the link.
    propagation_s : float
        T, the round trip without queue; above 0.
    queue : float
        Queue at rest, in packets; 0 or more.
    per_ack : float
        b; 1 or more. Default 1.

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
        """R, the round trip at rest."""
        return self.queue / self.packets_per_s + self.propagation_s

    @property
    def window(self) -> float:
        """W at rest, in packets."""
        return self.rtt_s * self.packets_per_s / self.flows

    @property
    def probability(self) -> float:
        """P at rest: 2/(b W²), and 1 at most."""
        return min(1.0, 2 / (self.per_ack * self.window**2))

    @property
    def window_pole(self) -> float:
        """2N/(b R²C), of the window, in rad/s."""
        return 2 * self.flows / (self.per_ack * self.rtt_s**2 * self.packets_per_s)

    @property
    def queue_pole(self) -> float:
        """1/R, of the queue, in rad/s."""
        return 1 / self.rtt_s

    @property
    def gain(self) -> float:
        """B (R C)³/(4N²): the response of the queue to the probability at ω = 0, in packets."""
        return self.per_ack * (self.rtt_s * self.packets_per_s) ** 3 / (4 * self.flows**2)

    def response(self, s: Any, *, exact: bool = False) -> Any:
        """Return P(s) in packets, delay included; s in rad/s, a number or an array."""
        r, c, n = self.rtt_s, self.packets_per_s, self.flows
        late = np.exp(-s * r)
        if not exact:
            return c**2 / (2 * n) * late / ((s + self.window_pole) * (s + self.queue_pole))
        half = self.window_pole / 2
        below = (s + 1 / r) * (s + half * (1 + late)) + half / r * (1 - late)
        return c**2 / (2 * n) * late / below

    def at(self, queue: float) -> "Network":
        """Return the same at rest at another queue, in packets."""
        return replace(self, queue=queue)
