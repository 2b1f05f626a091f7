"""Duration of a transfer that ends in slow start, or soon after slow start.

:func:`latency` computes the duration on an idle path without losses. The window doubles in each
round trip, or grows by the factor 1.5 with delayed ACKs. The rate of the bottleneck matters if the
transmission of a burst takes longer than a round trip. :func:`cardwell` includes losses
(`cardwell2000latency`, section II), and uses PFTK for the data after slow start.
"""

from math import log

from aqmlab.models.bounds import refuse_outside
from aqmlab.models.tcp_rates import back_off, by_timeout, pftk


def rounds(segments: int, *, initial: float = 10, growth: float = 2, window: float = 1e9) -> int:
    """Return the number of round trips in which a transfer sends data.

    Parameters
    ----------
    segments : int
        Size of the transfer in segments; 1 or more.
    initial : float
        Initial window in segments.
    growth : float
        Factor by which the window grows per round trip: 2, or 1.5 with one ACK per two segments.
    window : float
        Receive window in segments.

    Examples
    --------
    >>> [rounds(n, initial=2) for n in (1, 2, 3, 6, 7, 14)], rounds(100, initial=10, window=20)
    ([1, 1, 2, 2, 3, 3], 6)
    """
    _refuse(segments, initial, growth, window)
    n, burst = 0, float(initial)
    while segments > 0:
        segments -= int(min(burst, window))
        burst *= growth
        n += 1
    return n


def latency(
    segments: int,
    rtt_s: float,
    *,
    initial: float = 10,
    growth: float = 2,
    window: float = 1e9,
    segment_s: float = 0.0,
    handshake: bool = True,
) -> float:
    """Return the time from the first SYN to the ACK of the last byte, in s, without loss.

    A round begins when the first ACK of the previous round arrives, or when the transmission of the
    previous round ends, whichever is later.

    Parameters
    ----------
    segments, initial, growth, window
        As for :func:`rounds`.
    rtt_s : float
        Round-trip time in s, without queueing and without the transmission time of a segment.
    segment_s : float
        Transmission time of a segment at the bottleneck, in s.
    handshake : bool
        True if the time includes the opening of the connection.

    Examples
    --------
    >>> latency(7, 0.1, initial=2)
    0.4
    >>> round(latency(100, 0.1, initial=10, segment_s=0.001), 3)
    0.533
    """
    _refuse(segments, initial, growth, window)
    refuse_outside("rtt_s", rtt_s, 0)
    refuse_outside("segment_s", segment_s, 0, open_low=False)
    time, burst = rtt_s * handshake, float(initial)
    while True:
        size = min(int(min(burst, window)), segments)
        segments -= size
        if not segments:
            return time + size * segment_s + rtt_s
        time += max(size * segment_s, segment_s + rtt_s)
        burst *= growth


def cardwell(
    segments: int,
    p: float,
    rtt_s: float,
    rto_s: float,
    *,
    initial: float = 3,
    growth: float = 1.5,
    window: float = 1e9,
    delayed_ack_s: float = 0.0,
    handshake: bool = True,
) -> float:
    """Return the expected duration of a transfer with losses, in s (`cardwell2000latency`).

    Parameters
    ----------
    segments, initial, growth, window
        As for :func:`rounds`; `growth` is γ in the paper, which is 1.5 with delayed ACKs.
    p : float
        Probability that a segment is lost, at least 0 and below 1.
    rtt_s, rto_s : float
        Mean round-trip time and mean first retransmission timeout, in s.
    delayed_ack_s : float
        Mean delay of the first delayed ACK, in s; 0.1 to 0.15 s in the paper.
    handshake : bool
        True if the duration includes a handshake without loss.

    Examples
    --------
    >>> [round(cardwell(20, p, 0.1, 1.0), 3) for p in (0, 0.01, 0.1)]
    [0.462, 0.549, 2.394]
    """
    _refuse(segments, initial, growth, window)
    refuse_outside("p", p, 0, 1, open_low=False)
    for name, value in (("rtt_s", rtt_s), ("rto_s", rto_s)):
        refuse_outside(name, value, 0)
    lossy = 1 - (1 - p) ** segments
    first = min(segments, lossy * (1 - p) / p + 1) if p else segments  # E[d_ss]
    reached = first * (growth - 1) / growth + initial / growth  # E[W_ss]
    if reached <= window:
        time = log(first * (growth - 1) / initial + 1, growth)
    else:
        ramp = (growth * window - initial) / (growth - 1)
        time = log(window / initial, growth) + 1 + (first - ramp) / window
    time *= rtt_s
    if p:
        timeout = by_timeout(p, min(reached, window))
        time += lossy * (timeout * back_off(p) * rto_s / (1 - p) + (1 - timeout) * rtt_s)
        per_ack = 1 / (growth - 1)
        rest = segments - first
        time += rest / pftk(p, rtt_s, rto_s, per_ack=per_ack, window=window)
    return time + delayed_ack_s + rtt_s * handshake


def _refuse(segments: int, initial: float, growth: float, window: float) -> None:
    refuse_outside("segments", segments, 1, open_low=False)
    refuse_outside("initial", initial, 1, open_low=False)
    refuse_outside("growth", growth, 1)
    refuse_outside("window", window, 1, open_low=False)
