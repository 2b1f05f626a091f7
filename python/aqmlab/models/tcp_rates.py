"""Throughput of a TCP connection with unlimited data, at a given share of losses or marks.

p is the share of segments that are lost or marked, which are congestion signals. The models assume
at most one signal per round trip. Windows are in segments, times in s, and rates in segments/s.

- :func:`square_root`: square-root law for periodic losses (`mathis1997macroscopic`, equation 3).
- :func:`pftk`: PFTK, which includes timeouts and the receive window (`padhye1998`, equations 32 and
  33).
- :func:`aimd` and :func:`cubic`: AIMD with other constants than Reno, and CUBIC (`rfc9438`, §5).
- :func:`scalable`: Scalable congestion controls, whose window is proportional to 1/p. Examples are
  DCTCP with random marks, and Prague with 2 marks per round trip (`rfc9331`, §1.1).
"""

from math import sqrt

from aqmlab.models.bounds import refuse_outside


def square_root(p: float, *, per_ack: float = 1) -> float:
    """Return Reno's mean window, √(3/(2 b p)), in segments.

    `per_ack` is b, the number of segments per ACK.

    Examples
    --------
    >>> round(square_root(0.01), 2), round(square_root(0.01, per_ack=2), 2)
    (12.25, 8.66)
    """
    return aimd(_share(p), per_ack=per_ack)


def aimd(p: float, *, increase: float = 1, left: float = 0.5, per_ack: float = 1) -> float:
    """Return the mean window of AIMD in segments, for periodic losses.

    `increase` is α, the increase of the window in segments per round trip. `left` is β: a signal
    multiplies the window by β.

    Examples
    --------
    >>> beta = 0.7  # CUBIC in its Reno-friendly region (rfc9438, §4.3)
    >>> round(aimd(0.01, increase=3 * (1 - beta) / (1 + beta), left=beta), 2)
    12.25
    """
    refuse_outside("per_ack", per_ack, 1, open_low=False)
    refuse_outside("increase", increase, 0)
    refuse_outside("left", left, 0, 1)
    return sqrt(increase * (1 + left) / (2 * per_ack * (1 - left) * _share(p)))


def random_marks(p: float) -> float:
    """Return the equilibrium window √(2/p) of Reno's fluid model, in segments.

    Each signal reduces the window W by W/2, and each ACK increases the window by 1/W.

    Examples
    --------
    >>> round(random_marks(0.01), 2)
    14.14
    """
    return sqrt(2 / _share(p))


def pftk(p: float, rtt_s: float, rto_s: float, *, per_ack: float = 2, window: float = 1e9) -> float:
    """Return the rate of Reno in segments/s by the full PFTK model (`padhye1998`, equation 32).

    Parameters
    ----------
    p : float
        Share of segments that begin a loss event, above 0 and below 1.
    rtt_s : float
        Mean round-trip time, in s.
    rto_s : float
        Mean first retransmission timeout (T0), in s.
    per_ack : float
        Number b of segments per ACK; 2 with delayed ACKs.
    window : float
        Receive window in segments (Wmax).

    Examples
    --------
    >>> round(pftk(0.01, 0.1, 1.0), 2), round(pftk(0.01, 0.1, 1.0, window=6), 2)
    (69.52, 41.66)
    """
    p, b = _share(p), per_ack
    _times(rtt_s, rto_s, window)
    refuse_outside("per_ack", per_ack, 1, open_low=False)
    base = (2 + b) / (3 * b)
    unlimited = base + sqrt(8 * (1 - p) / (3 * b * p) + base**2)  # E[Wu]
    most = min(unlimited, window)
    timeout = by_timeout(p, most)
    sent = (1 - p) / p + most + timeout / (1 - p)
    if unlimited < window:
        rounds = b / 2 * unlimited + 1
    else:
        rounds = b / 8 * window + (1 - p) / (p * window) + 2
    return sent / (rtt_s * rounds + timeout * back_off(p) * rto_s / (1 - p))


def by_timeout(p: float, window: float) -> float:
    """Return the probability that a loss at a given window leads to a timeout (equation 24)."""
    if window <= 3:
        return 1.0
    q = 1 - p
    probability: float = (1 - q**3) * (1 + q**3 * (1 - q ** (window - 3))) / (1 - q**window)
    return min(1.0, probability)


def back_off(p: float) -> float:
    """Return f(p) of equation 29.

    The mean duration of a series of timeouts is f(p)/(1 - p), in units of the first timeout.
    """
    return 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6


def pftk_simple(
    p: float, rtt_s: float, rto_s: float, *, per_ack: float = 2, window: float = 1e9
) -> float:
    """Return the rate of Reno in segments/s by the simplified PFTK (`padhye1998`, equation 33).

    Examples
    --------
    >>> round(pftk_simple(0.01, 0.1, 1.0), 2)
    70.65
    """
    p = _share(p)
    _times(rtt_s, rto_s, window)
    refuse_outside("per_ack", per_ack, 1, open_low=False)
    waits = rto_s * min(1.0, 3 * sqrt(3 * per_ack * p / 8)) * p * (1 + 32 * p**2)
    return min(window / rtt_s, 1 / (rtt_s * sqrt(2 * per_ack * p / 3) + waits))


def cubic(p: float, rtt_s: float, *, c: float = 0.4, left: float = 0.7) -> float:
    """Return CUBIC's mean window in segments.

    The window is the larger of that of equation 6 of `rfc9438` and that of Reno. `c` is in
    segments/s³; `left` is β_cubic.

    Examples
    --------
    >>> [round(cubic(p, 0.1)) for p in (1e-2, 1e-4, 1e-6, 1e-8)]
    [12, 187, 5926, 187400]
    """
    refuse_outside("rtt_s", rtt_s, 0)
    refuse_outside("c", c, 0)
    refuse_outside("left", left, 0, 1)
    own = sqrt(sqrt(c * (3 + left) / (4 * (1 - left)) * (rtt_s / _share(p)) ** 3))
    return max(own, aimd(p, increase=3 * (1 - left) / (1 + left), left=left))


def scalable(p: float, marks: float = 2) -> float:
    """Return the mean window of a Scalable congestion control in segments.

    `marks` is the number of marks per round trip, which is the window times p.

    Examples
    --------
    >>> scalable(0.04)
    50.0
    """
    refuse_outside("marks", marks, 0)
    return marks / _share(p)


def _share(p: float) -> float:
    refuse_outside(
        "p", p, 0, 1, "without signals of congestion, only the receive window limits the rate"
    )
    return p


def _times(rtt_s: float, rto_s: float, window: float) -> None:
    refuse_outside("rtt_s", rtt_s, 0)
    refuse_outside("rto_s", rto_s, 0)
    refuse_outside("window", window, 1, open_low=False)
