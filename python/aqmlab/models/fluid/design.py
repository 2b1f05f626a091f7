"""Published rules for coefficients, for at least N flows and round trips of at most R.

The papers were not at hand. That the rule for PI is theirs is shown by its numbers, which
agree: the rule gives K and z as they are cited for its setting, and these the coefficients that
ns-2 has. Of RED only the cited design is known, and that it lies within the bound.

Both ask for the network at rest that is worst for them: the fewest flows, the longest round trip.
"""

from math import hypot, sqrt

from aqmlab.models.bounds import refuse_outside
from aqmlab.models.fluid.laws import Integral
from aqmlab.models.fluid.network import Network


def pi_of(network: Network, period_s: float = 0.0) -> Integral:
    """Return PI by the rule of `hollot2001pi`, that holds the network's queue.

    Its zero is at the pole of the window, z = 2N/(R²C), and K makes the gain 1 there:
    K = z |jz R + 1| / ((R C)³/(4N²)).

    Parameters
    ----------
    network : Network
        The fewest flows and the longest round trip, queue included.
    period_s : float
        Time between samples, for the coefficients a and b.

    Examples
    --------
    The paper's setting, 60 flows, 3750 packets/s, 0.2 s and a queue of 175 packets: it prints R
    = 0.246 s, z = 0.53, K = 9.64e-6, and at 160 Hz a = 1.822e-5, b = 1.816e-5, which follow
    from z as printed.

    >>> law = pi_of(Network(60, 3750, 0.2, 175), period_s=1 / 160)
    >>> f"{law.z:.3f} {law.k:.3e}", [f"{x:.2e}" for x in law.coefficients]
    ('0.526 9.649e-06', ['1.84e-05', '1.83e-05'])
    """
    z = network.window_pole
    k = z * hypot(1, z * network.rtt_s) / network.gain
    return Integral(k, z, network.queue, period_s)


def red_slope(network: Network, pole: float) -> float:
    """Return the greatest L_RED = maxp/(maxth - minth) that is stable by `hollot2001red`.

    Its proposition: L (R C)³/(4N²) ≤ √(ω²/K² + 1), with ω a tenth of the lesser of the poles
    2N/(R²C) and 1/R. Then the loop is stable for more flows and shorter round trips too.

    Parameters
    ----------
    network : Network
        The fewest flows and the longest round trip, queue included.
    pole : float
        K = -ln(1 - wq) C, of the average, in rad/s.

    Examples
    --------
    >>> f"{red_slope(Network(60, 3750, 0.246), 0.005):.2e}"  # it prints 1.86e-4 as its choice
    '1.95e-04'
    """
    refuse_outside("pole", pole, 0)
    least = 0.1 * min(network.window_pole, network.queue_pole)
    return sqrt((least / pole) ** 2 + 1) / network.gain
