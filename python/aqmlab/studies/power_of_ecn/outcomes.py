"""Reduction of a run's result to the values that tables, figures and claims read.

Response times are counted in bins with fixed bounds: bins of 10 ms up to 2 s, then 40 bins per
decade up to 1000 s. For a request that is unfinished at the end of the run, the time since the
request (its wait) is a lower bound of its response time. Waits are counted in the same bins as
response times. The distribution function is the product-limit estimate of response times and waits
(`kaplan1958incomplete`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.studies.power_of_ecn.scenarios import BOTTLENECK, RATE_BPS, WARM_UP_S
from aqmlab.studies.power_of_ecn.words import OFF

if TYPE_CHECKING:
    from aqmlab.results import Columns, Result

FINE = np.linspace(0.01, 2, 200)
EDGES = np.concatenate([FINE, 2 * 10 ** (np.arange(1, 109) / 40)])
"""Upper bounds of the bins, in s; one more bin has all longer times."""
SMALL, LARGE = 10_000, 100_000
CLASSES = ("below 10 kB", "10 to 100 kB", "above 100 kB")
"""Names of the size classes of objects."""
SYN_TIMEOUT_S = 2.9
"""Duration in s above which a handshake has lost a SYN or SYN-ACK, and has waited for 3 s."""


@dataclass(frozen=True, slots=True)
class Responses:
    """Histograms of response times (finished requests) and of waits (unfinished requests).

    Attributes
    ----------
    ended, left : numpy.ndarray
        Numbers of finished requests per bin of the response time, and of unfinished requests per
        bin of the wait.
    seconds : float
        Sum of all response times and waits.
    """

    ended: np.ndarray
    left: np.ndarray
    seconds: float

    @classmethod
    def of(cls, times: np.ndarray, ended: np.ndarray) -> Responses:
        """Return the histograms of `times` in s; `ended` is True for finished requests."""
        at = np.searchsorted(EDGES, times)
        n = len(EDGES) + 1
        counts = [np.bincount(at[which], minlength=n).astype(np.int32) for which in (ended, ~ended)]
        return cls(counts[0], counts[1], float(times.sum()))

    @property
    def number(self) -> int:
        """Number of requests."""
        return int(self.ended.sum() + self.left.sum())

    def cdf(self) -> np.ndarray:
        """Return the distribution function of response times at the upper bound of each bin."""
        both = self.ended + self.left
        at_risk = both[::-1].cumsum()[::-1]
        with np.errstate(invalid="ignore", divide="ignore"):
            stay = np.where(at_risk > 0, 1 - self.ended / at_risk, 1.0)
        cdf: np.ndarray = 1 - np.cumprod(stay)[: len(EDGES)]
        return cdf

    def within(self, seconds: float) -> float:
        """Return the share of response times of at most `seconds`, which is a bound of a bin."""
        return float(self.cdf()[np.searchsorted(EDGES, seconds - 1e-9)])

    def profile(self) -> float:
        """Return the mean of the distribution function from 0 to 2 s; a higher mean is better."""
        return float(self.cdf()[: len(FINE)].mean())

    def mean(self) -> float:
        """Return the mean of response times and waits in s."""
        return self.seconds / max(1, self.number)

    def __add__(self, other: Responses) -> Responses:
        return Responses(
            self.ended + other.ended, self.left + other.left, self.seconds + other.seconds
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """Reduced result of a run; all values are from the time after the warm-up.

    Attributes
    ----------
    classes : tuple of Responses
        Response times by size class of the object (`CLASSES`).
    kinds : dict of Responses
        Response times of clients with and without ECN, if the run has both.
    throughput : float
        Throughput of the bottleneck, as a share of 100 Mbit/s.
    served : int
        Number of requests with a complete response.
    syn_acks, syn_ack_drops : int
        Number of SYN-ACKs that reached a client, and number of SYN-ACKs that the bottleneck
        dropped.
    data_drops : int
        Number of other packets that the bottleneck dropped.
    empty_drops : int
        Number of these other packets that had no data, such as pure ACKs.
    marks : int
        Number of packets that the bottleneck marked.
    packets : int
        Number of packets that the bottleneck sent.
    syn_waits, syn_wait_s : float
        Number of requests whose handshake waited for a timer, and sum of the durations of these
        handshakes in s.
    timeouts : int
        Number of timeouts of servers, for SYN-ACKs and for responses.
    """

    classes: tuple[Responses, ...]
    kinds: dict[str, Responses]
    throughput: float
    served: int
    syn_acks: int
    syn_ack_drops: int
    data_drops: int
    empty_drops: int
    marks: int
    packets: int
    syn_waits: int
    syn_wait_s: float
    timeouts: int

    @property
    def all(self) -> Responses:
        """Response times of all requests."""
        first, *others = self.classes
        return sum(others, first)

    @property
    def syn_ack_loss(self) -> float:
        """Share of SYN-ACKs that the bottleneck dropped."""
        return self.syn_ack_drops / max(1, self.syn_ack_drops + self.syn_acks)

    @property
    def drops(self) -> int:
        """Number of packets that the bottleneck dropped."""
        return self.syn_ack_drops + self.data_drops

    @property
    def arrivals(self) -> int:
        """Number of packets that the bottleneck sent or dropped, and at least 1."""
        return max(1, self.packets + self.drops)

    @property
    def data_loss(self) -> float:
        """Share of packets other than SYN-ACKs that the bottleneck dropped."""
        other = self.packets - self.syn_acks
        return self.data_drops / max(1, self.data_drops + other)


def reduce(result: Result) -> Outcome:
    """Reduce the result of a run to the values that tables, figures and claims read."""
    end_s = float(result.manifest["simulated_s"])
    asked = result.columns("requests")
    start = np.asarray(asked["start_s"])
    seen = start < end_s
    completed = np.asarray(asked["completed_s"])[seen]
    start = start[seen]
    ended = np.isfinite(completed)
    times = np.where(ended, completed, end_s) - start
    size = np.asarray(asked["response_bytes"])[seen]
    kind = (size >= SMALL).astype(np.int8) + (size >= LARGE)
    classes = tuple(Responses.of(times[kind == k], ended[kind == k]) for k in range(len(CLASSES)))
    opened = np.asarray(asked["opened_s"])[seen]
    handshake = np.where(np.isfinite(opened), opened, end_s) - start
    late = handshake > SYN_TIMEOUT_S
    links = result.columns("links")
    at = list(links["link"]).index(BOTTLENECK)
    drops = result.columns("drops")
    here = np.array([name == BOTTLENECK for name in drops["link"]], dtype=bool)
    reply = np.asarray(drops["syn"])[here].astype(bool) & np.asarray(drops["reply"])[here].astype(
        bool
    )
    empty = np.asarray(drops["bytes"])[here] == 0
    return Outcome(
        classes,
        _kinds(result.scenario["flows"], asked, seen, times, ended),
        8 * float(links["departed_bytes"][at]) / (end_s - WARM_UP_S) / RATE_BPS,
        int(ended.sum()),
        int(np.isfinite(opened).sum()),
        int(reply.sum()),
        int(here.sum() - reply.sum()),
        int((empty & ~reply).sum()),
        int(links["marked_packets"][at]),
        int(links["departed_packets"][at]),
        int(late.sum()),
        float(handshake[late].sum()),
        int(np.asarray(asked["server_timeouts"])[seen].sum()),
    )


def _kinds(
    flows: list[dict[str, Any]],
    asked: Columns,
    seen: np.ndarray,
    times: np.ndarray,
    ended: np.ndarray,
) -> dict[str, Responses]:
    """Return the response times of clients with and without ECN, if the run has both."""
    modes = {f["name"].rpartition("-")[0]: f["tcp"].get("ecn", {}).get("mode", OFF) for f in flows}
    ends = {name: mode != OFF for name, mode in modes.items()}
    if len(set(ends.values())) < 2:
        return {}
    tables = {name: name.rpartition("-")[0] for name in set(asked["flow"])}
    capable = np.array([ends[tables[name]] for name in asked["flow"]], dtype=bool)[seen]
    parts = {"ecn": capable, "plain": ~capable}
    return {kind: Responses.of(times[which], ended[which]) for kind, which in parts.items()}
