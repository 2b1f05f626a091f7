"""Congestion epochs: groups of drops that occur within one round trip.

A sender detects a drop only one round trip later. A congestion epoch therefore contains all drops
within one round trip of its first drop. The length of an epoch is the round-trip time with a full
queue.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aqmlab.studies.ecn_finite_transfers.scenarios import (
    BOTTLENECK_BPS,
    SEGMENT_BYTES,
    Setting,
)
from aqmlab.studies.ecn_finite_transfers.transfers import Floats, Incidents, Ints, Transfers


@dataclass(frozen=True)
class Epochs:
    """Congestion epochs of a run.

    Attributes
    ----------
    start_s : ndarray of float64, shape (E,)
        Time of the first drop of each epoch, in s.
    lost : ndarray of int64, shape (E, n)
        Number of packets that each client lost in each epoch.
    """

    start_s: Floats
    lost: Ints

    @property
    def losers(self) -> Ints:
        """Number of clients that lost a packet, per epoch."""
        losers: Ints = (self.lost > 0).sum(axis=1)
        return losers

    def before(self, time_s: float) -> Epochs:
        """Return the epochs that began before a time."""
        early = self.start_s < time_s
        return Epochs(self.start_s[early], self.lost[early])


def full_queue_rtt_s(setting: Setting) -> float:
    """Return the round-trip time with a full queue, in s."""
    propagation = 2 * (setting.delay_ms + 1) / 1000
    return propagation + (setting.limit + 1) * SEGMENT_BYTES * 8 / BOTTLENECK_BPS


def epochs(run: Transfers, length_s: float) -> Epochs:
    """Return the congestion epochs of a run; each epoch lasts `length_s` from its first drop."""
    if run.drops is None:
        raise ValueError("series: drops: not recorded by this run; request the series drops")
    time_s, client = run.drops.time_s, run.drops.client
    after = np.searchsorted(time_s, time_s + length_s, side="right")
    first, at = [], 0
    while at < time_s.size:
        first.append(at)
        at = int(after[at])
    opens = np.zeros(time_s.size, dtype=np.int64)
    opens[first] = 1
    cell = (np.cumsum(opens) - 1) * run.n + client
    lost = np.bincount(cell, minlength=len(first) * run.n).reshape(-1, run.n)
    return Epochs(time_s[first], lost)


def coincident_share(incidents: Incidents, n: int, within_s: float) -> float:
    """Return the share of events that occur together at more than half of the clients.

    Two events occur together if the interval between the events is at most `within_s` seconds.

    Examples
    --------
    >>> from aqmlab.studies.ecn_finite_transfers.transfers import Incidents
    >>> timeouts = Incidents(np.array([1.0, 1.1, 9.0]), np.array([0, 1, 0]))
    >>> round(coincident_share(timeouts, 2, 0.5), 3)
    0.667
    """
    time_s, client = incidents.time_s, incidents.client
    if not time_s.size:
        return float("nan")
    others = np.zeros(time_s.size, dtype=np.int64)
    for c in range(n):
        own = time_s[client == c]
        after = np.searchsorted(own, time_s + within_s, side="right")
        near = after > np.searchsorted(own, time_s - within_s, side="left")
        others += near & (client != c)
    return float(np.mean(2 * (others + 1) > n))
