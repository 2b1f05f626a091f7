"""Parameters that tc computes from the options of RED: Wlog, Plog and Scell_log.

Source: tc_red_eval_ewma, tc_red_eval_P and tc_red_eval_idle_damping of iproute2 7.1 (tc/tc_red.c),
and red_check_params of Linux 6.12 (include/net/red.h). The same formulas are in
crates/queues/src/tc_red.rs, which also computes the table of the idle decay from them.
"""

import math

TICKS_PER_MICROSECOND = 15.625
"""Ticks of 64 ns per microsecond: the kernel and tc measure transmission times in these ticks."""
MOST_BURST = 10**6
"""Maximum burst in packets of aqmlab's `tc_red`."""


def wlog(min_bytes: int, burst: int, avpkt: int) -> int | None:
    """Return the smallest Wlog with which the burst passes; None if there is none.

    The weight of the average is W = 2^-Wlog. The burst passes if burst + 1 - min/avpkt <= (1 - (1 -
    W)^burst)/W.

    Examples
    --------
    >>> wlog(30_000, 55, 1000), wlog(30_000, 20, 1000)
    (5, None)
    """
    a = burst + 1 - min_bytes / avpkt
    if a < 1:
        return None
    weights = ((log, 2.0**-log) for log in range(1, 32))
    return next((log for log, w in weights if a <= (1 - (1 - w) ** burst) / w), None)


def plog(min_bytes: int, max_bytes: int, probability: float) -> int | None:
    """Return the smallest Plog for which 2^Plog exceeds (max - min)/probability.

    Examples
    --------
    >>> plog(30_000, 90_000, 0.02)
    22
    """
    if min_bytes == max_bytes:
        return 0
    share = probability / (max_bytes - min_bytes)
    return next((log for log in range(32) if share * 2**log > 1), None)


def scell_log(log: int, avpkt: int, bandwidth: int) -> int | None:
    """Return Scell_log for the weight 2^-log: a cell of the idle table lasts 2^Scell_log ticks.

    `avpkt` is in bytes, and `bandwidth` in bytes per second.

    Examples
    --------
    >>> scell_log(3, 1000, 187_500)
    16
    """
    ticks = math.ceil(1e6 * (avpkt / bandwidth) * TICKS_PER_MICROSECOND)
    longest = 31 / (-math.log(1 - 1 / (1 << log)) / ticks)
    return next((cells for cells in range(32) if longest / (1 << cells) < 512), None)


def fits(threshold: int, log: int) -> bool:
    """Return True if the kernel accepts a threshold with this Wlog (red_check_params)."""
    return threshold.bit_length() + log < 32


def burst_of(log: int, min_bytes: int, avpkt: int) -> int | None:
    """Return the smallest burst for which tc computes this Wlog; None if there is none.

    Examples
    --------
    >>> burst_of(5, 30_000, 1000), wlog(30_000, 45, 1000), wlog(30_000, 44, 1000)
    (45, 5, 4)
    """
    low, high = max(1, -(-min_bytes // avpkt)), MOST_BURST
    while low < high:  # Wlog rises with the burst
        middle = (low + high) // 2
        if (wlog(min_bytes, middle, avpkt) or 32) < log:
            low = middle + 1
        else:
            high = middle
    return low if wlog(min_bytes, low, avpkt) == log else None
