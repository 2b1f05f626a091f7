"""Reduction of a run's result to the values that tables, figures and claims read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aqmlab.results import Columns, Result
from aqmlab.statistics import jain
from aqmlab.studies.ecn_finite_transfers.scenarios import (
    BOTTLENECK,
    BOTTLENECK_BPS,
    FILE_BYTES,
    FILE_SEGMENTS,
    SAMPLING_S,
    SEGMENT_BYTES,
)
from aqmlab.studies.framework.verdicts import UndecidableError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Progress:
    """Samples of all n flows at T times: times in s (T,), acknowledged bytes and cwnd (T, n)."""

    time_s: Floats
    acked_bytes: Floats
    cwnd_bytes: Floats


@dataclass(frozen=True)
class Incidents:
    """Drops or timeouts in the order of time, each with its time in s and its client."""

    time_s: Floats
    client: Ints


@dataclass(frozen=True)
class Transfers:
    """Measures of the n downloads of one run; arrays have one entry per client, C0 first.

    Attributes
    ----------
    time_s : ndarray of float64, shape (n,)
        Times from the start of a download to the last acknowledgement of its data.
    handshake_s : ndarray of float64, shape (n,)
        Times from the SYN to the SYN-ACK.
    sent : ndarray of int64, shape (n,)
        Number of sent segments with data, including retransmissions.
    delivered : ndarray of int64, shape (n,)
        Number of segments with data that arrived.
    timed_out : Incidents
        Timeouts that the samples of cwnd show; a long sampling interval misses some timeouts.
    """

    manifest: dict[str, Any]
    time_s: Floats
    handshake_s: Floats
    acked_bytes: Ints
    sent: Ints
    delivered: Ints
    timeouts: Ints
    fast_retransmits: Ints
    dropped: Ints
    marked: Ints
    dropped_full: int
    busy_s: float
    progress: Progress | None
    drops: Incidents | None
    timed_out: Incidents | None

    @property
    def n(self) -> int:
        """Number of clients."""
        return self.time_s.size

    @property
    def goodput_kbps(self) -> Floats:
        """Goodput of each client, g = f / t, in kbit/s."""
        return FILE_BYTES * 8 / 1000 / self.time_s

    @property
    def sampled_time_s(self) -> Floats:
        """Download times as the study samples them, rounded up to a multiple of 0.5 s."""
        return np.ceil(self.time_s / SAMPLING_S) * SAMPLING_S

    @property
    def efficiency_percent(self) -> float:
        """Goodput efficiency G, eq. (2): payload divided by the capacity of the bottleneck."""
        return float(100 * self.n * FILE_BYTES * 8 / BOTTLENECK_BPS / self.time_s.max())

    @property
    def utilization_percent(self) -> float:
        """Link utilization U, eq. (1): busy time divided by the longest download time."""
        return float(100 * self.busy_s / self.time_s.max())

    @property
    def jain(self) -> float:
        """Jain's fairness index of the goodputs."""
        return jain(self.goodput_kbps)

    @property
    def duplicates(self) -> int:
        """Number of duplicates among the delivered segments (r of equation 3)."""
        return int(self.delivered.sum()) - self.n * FILE_SEGMENTS

    @property
    def fastest(self) -> int:
        """Number of the client that finishes first."""
        return int(self.time_s.argmin())

    @property
    def slowest(self) -> int:
        """Number of the client that finishes last."""
        return int(self.time_s.argmax())

    @property
    def spread_percent(self) -> float:
        """Excess of the slowest over the fastest download time, in % of the fastest time."""
        return float(100 * (self.time_s.max() / self.time_s.min() - 1))

    @property
    def rate_while_all_run_kbps(self) -> Floats:
        """Goodput of each client until the first client finishes, in kbit/s."""
        rates: Floats = self.acked_at(self.time_s.min()) * 8 / 1000 / self.time_s.min()
        return rates

    def acked_at(self, time_s: float) -> Floats:
        """Return the acknowledged bytes of each of the n clients at one time, shape (n,)."""
        p = self.progress
        if p is None:
            raise ValueError("series: window: not recorded by this run; request the series window")
        return np.array([np.interp(time_s, p.time_s, acked) for acked in p.acked_bytes.T])


def reduce(result: Result) -> Transfers:
    """Reduce the result of a run to the values that tables, figures and claims read.

    Raises
    ------
    UndecidableError
        If a download did not end.
    """
    flows, links = result.columns("flows"), result.columns("links")
    if np.isnan(_floats(flows["completed_s"])).any():
        raise UndecidableError("a download did not end before the end of its run")
    bottleneck = list(links["link"]).index(BOTTLENECK)
    names = list(flows["flow"])
    start = _floats(flows["start_s"])
    progress, timed_out = (None, None)
    if "window" in result.tables:
        window, end_s = result.columns("window"), float(_floats(flows["completed_s"]).max())
        progress, timed_out = _window(window, len(names), end_s, _floats(flows["acked_bytes"]))
    return Transfers(
        manifest=result.manifest,
        time_s=_floats(flows["completed_s"]) - start,
        handshake_s=_floats(flows["established_s"]) - start,
        acked_bytes=_counts(flows["acked_bytes"]),
        sent=_counts(flows["segments_sent"]),
        delivered=_counts(flows["received_segments"]),
        timeouts=_counts(flows["timeouts"]),
        fast_retransmits=_counts(flows["fast_retransmits"]),
        dropped=_counts(flows["dropped_packets"]),
        marked=_counts(flows["marked_packets"]),
        dropped_full=int(_counts(links["dropped_full"])[bottleneck]),
        busy_s=float(_floats(links["busy_s"])[bottleneck]),
        progress=progress,
        drops=_drops(result.columns("drops"), names) if "drops" in result.tables else None,
        timed_out=timed_out,
    )


PROGRESS_S = 0.5
"""Sampling interval of the stored progress in s; a run may have a shorter sampling interval."""


def _window(
    window: Columns, n: int, end_s: float, acked_at_end: Floats
) -> tuple[Progress, Incidents]:
    """Return the progress until the last download ends, and the timeouts in the samples.

    Every sample contains all flows, in the order of the clients.
    """
    time_s = _floats(window["time_s"])[::n]
    keys = ("acked_bytes", "cwnd_bytes", "ssthresh_bytes")
    acked, cwnd, ssthresh = (_floats(window[key]).reshape(-1, n) for key in keys)
    step = max(1, round(PROGRESS_S / (time_s[1] - time_s[0])))
    stored = np.flatnonzero(time_s[::step] < end_s) * step
    progress = Progress(
        np.append(time_s[stored], end_s),
        np.vstack([acked[stored], acked_at_end]),
        np.vstack([cwnd[stored], cwnd[stored[-1]]]),
    )
    return progress, _timeouts(time_s, cwnd, ssthresh)


def _timeouts(time_s: Floats, cwnd: Floats, ssthresh: Floats) -> Incidents:
    """Return the timeouts: the samples in which cwnd falls below ssthresh or to one segment.

    Fast recovery and the response to ECN do not reduce cwnd below ssthresh, and ssthresh is at
    least two segments (RFC 5681 §3.1, eq. 4; RFC 3168 §6.1.2).
    """
    low = (cwnd < 0.99 * ssthresh) | (cwnd < 1.5 * SEGMENT_BYTES)
    sample, client = np.nonzero(low[1:] & (cwnd[1:] < cwnd[:-1]))
    return Incidents(time_s[sample + 1], client)


def _drops(drops: Columns, names: list[str]) -> Incidents:
    here = np.array([link == BOTTLENECK for link in drops["link"]], dtype=bool)
    index = {name: i for i, name in enumerate(names)}
    client = np.array([index[name] for name in drops["flow"]], dtype=np.int64)
    return Incidents(_floats(drops["time_s"])[here], client[here])


def _floats(column: Any) -> Floats:
    return np.asarray(column, dtype=np.float64)


def _counts(column: Any) -> Ints:
    return np.asarray(column, dtype=np.int64)
