"""DCTCP at a step marking threshold: amplitude of the queue (`alizadeh2010dctcp`, §3.3; `rfc8257`).

N synchronized flows share a link with a rate of C packets/s. RTT is the round-trip time without
queueing. The link marks packets while more than K packets are in the queue. One round trip later,
every flow multiplies its window by 1 - α/2. The window then grows by one packet per round trip. The
model is valid if the gain g is much smaller than 1/√(C RTT + K).
"""

from dataclasses import dataclass
from math import sqrt

from aqmlab.models.bounds import refuse_outside


@dataclass(frozen=True)
class StepMarking:
    """Synchronized DCTCP flows at a queue with a step marking threshold.

    Parameters
    ----------
    flows : float
        Number of flows N, 1 or more.
    packets_per_s : float
        Rate C of the link.
    rtt_s : float
        Round-trip time in s, without queueing.
    threshold : float
        Marking threshold K, in packets.

    Examples
    --------
    >>> of = StepMarking(flows=2, packets_per_s=1e9 / 12000, rtt_s=0.004, threshold=65)
    >>> round(of.alpha, 3), round(of.most), round(of.swing, 1), round(of.least, 1)
    (0.101, 67, 20.2, 46.8)
    """

    flows: float
    packets_per_s: float
    rtt_s: float
    threshold: float

    def __post_init__(self) -> None:
        refuse_outside("flows", self.flows, 1, open_low=False)
        for name in ("packets_per_s", "rtt_s"):
            refuse_outside(name, getattr(self, name), 0)
        refuse_outside("threshold", self.threshold, 0, open_low=False)

    @property
    def window(self) -> float:
        """Window W* of a flow at the time when marking starts, in packets (equation 5)."""
        return (self.packets_per_s * self.rtt_s + self.threshold) / self.flows

    @property
    def alpha(self) -> float:
        """Steady-state α, from α²(1 - α/4) = (2W* + 1)/(W* + 1)² (equation 6).

        Share α of marked packets; 1 if the equation for α has no solution.
        """
        from scipy.optimize import brentq

        share = (2 * self.window + 1) / (self.window + 1) ** 2
        if share >= 0.75:
            return 1.0
        return float(brentq(lambda a: a * a * (1 - a / 4) - share, 0, 1, xtol=1e-14))

    @property
    def swing(self) -> float:
        """Amplitude A = N(W* + 1)α/2 in packets: maximum minus minimum queue (equation 8)."""
        return self.flows * (self.window + 1) * self.alpha / 2

    @property
    def approximate_swing(self) -> float:
        """Approximation √(2N(C RTT + K))/2 of `swing` for large windows (equation 8)."""
        return sqrt(2 * self.flows * self.flows * self.window) / 2

    @property
    def most(self) -> float:
        """Maximum queue, K + N packets (equation 10)."""
        return self.threshold + self.flows

    @property
    def least(self) -> float:
        """Minimum queue, in packets (equation 11).

        If the minimum queue is negative, the link is sometimes idle.
        """
        return self.most - self.swing

    @property
    def period_s(self) -> float:
        """Time between two reductions of the window, (W* + 1)α/2 round-trip times (equation 9)."""
        return self.swing / self.flows * self.rtt_s

    @property
    def greatest_gain(self) -> float:
        """Maximum gain g at which α averages over whole periods.

        The maximum is 1.386/√(2(C RTT + K)) (equation 15).
        """
        return 1.386 / sqrt(2 * self.flows * self.window)


def least_threshold(packets_per_s: float, rtt_s: float) -> float:
    """Return the minimum threshold K at which the link is always busy, for any number of flows.

    The minimum K is C RTT/7, in packets (equation 13).

    Examples
    --------
    >>> round(least_threshold(1e10 / 12000, 100e-6), 1)
    11.9
    """
    refuse_outside("packets_per_s", packets_per_s, 0)
    refuse_outside("rtt_s", rtt_s, 0)
    return packets_per_s * rtt_s / 7
