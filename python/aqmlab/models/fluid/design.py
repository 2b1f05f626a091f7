"""Published rules for the coefficients of PI and RED, given the range of flows and RTTs.

The papers with these rules were not available. For PI, the rule is verified by published numbers:
in the setting of the paper, it gives the K and z that the literature cites, and these K and z give
the coefficients in ns-2. For RED, the parameters of the only known published design satisfy the
bound that the rule states.

Both rules are applied to the equilibrium of the worst case, which has the smallest number of flows
and the longest round-trip time.
"""

from math import hypot, sqrt

from aqmlab.models.bounds import refuse_outside
from aqmlab.models.fluid.controllers import Integral
from aqmlab.models.fluid.network import Network


def pi_of(network: Network, period_s: float = 0.0) -> Integral:
    """Return a PI controller by the rule of `hollot2001pi`; its reference is the network's queue.

    The zero of the PI controller is at the pole of the window, z = 2N/(R²C). The coefficient K
    makes the loop gain 1 at the frequency z: K = z |jz R + 1| / ((R C)³/(4N²)).

    Parameters
    ----------
    network : Network
        Network with the smallest number of flows and the longest round-trip time, including
        queueing.
    period_s : float
        Sampling period in s, which determines the coefficients a and b.

    Examples
    --------
    In the setting of the paper, 60 flows share a link with 3750 packets/s, a propagation time of
    0.2 s and a queue of 175 packets. The paper states R = 0.246 s, z = 0.53 and K = 9.64e-6. For a
    sampling frequency of 160 Hz, the paper states a = 1.822e-5 and b = 1.816e-5, which follow from
    z = 0.53.

    >>> law = pi_of(Network(60, 3750, 0.2, 175), period_s=1 / 160)
    >>> f"{law.z:.3f} {law.k:.3e}", [f"{x:.2e}" for x in law.coefficients]
    ('0.526 9.649e-06', ['1.84e-05', '1.83e-05'])
    """
    z = network.window_pole
    k = z * hypot(1, z * network.rtt_s) / network.gain
    return Integral(k, z, network.queue, period_s)


def red_slope(network: Network, pole: float) -> float:
    """Return the maximum stable slope L_RED = maxp/(maxth - minth) of RED, by `hollot2001red`.

    The condition is L (R C)³/(4N²) ≤ √(ω²/K² + 1), where ω is a tenth of the smaller of the two
    poles 2N/(R²C) and 1/R. With this slope, the loop is also stable for more flows and for shorter
    round-trip times.

    Parameters
    ----------
    network : Network
        Network with the smallest number of flows and the longest round-trip time, including
        queueing.
    pole : float
        Pole K = -ln(1 - wq) C of the average queue, in rad/s.

    Examples
    --------
    >>> f"{red_slope(Network(60, 3750, 0.246), 0.005):.2e}"  # the paper chooses 1.86e-4
    '1.95e-04'
    """
    refuse_outside("pole", pole, 0)
    least = 0.1 * min(network.window_pole, network.queue_pole)
    return sqrt((least / pole) ** 2 + 1) / network.gain
