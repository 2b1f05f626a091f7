"""Values that figures and claims need from each run, and measures that use these values."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from aqmlab.measures import Measure
from aqmlab.results import Result
from aqmlab.studies.ecn_red_simulation.scenarios import DURATION_S, MINTH, OBSERVED

BUSY = 0.9
"""Minimum utilization of a link that counts as busy."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Reduced result of one run.

    Attributes
    ----------
    goodput_bps : tuple of float
        Rate of acknowledged data over the whole run, for each group of sessions, in bit/s.
    full, early, threshold : int
        Packets that queues between routers dropped: at the queue limit, at random by RED, and above
        maxth.
    marks : int
        Packets that queues between routers marked.
    lost : int
        Number of packets lost by transmission errors.
    queue : float
        Time average of the number of packets that wait in the observed queue.
    below, above : float
        Share of time in which RED's average of the observed queue is below minth, and in which it
        is at least maxth.
    utilization : float
        Utilization of the observed link, 0..1.
    busy_links : int
        Number of links between routers with a utilization of at least 90 % in one direction.
    first_is_worst : bool
        True if link gw1–gw2 has more drops and marks than the other links between routers.
    timeouts, fast_retransmits, reductions : int
        Numbers of events of all sessions; reductions are responses to ECN-Echo.
    duplicates : float
        Share of the arriving data that is duplicate, 0..1.
    completed : int
        Number of completely acknowledged files.
    mean_s, p99_s : float
        Mean and 99th percentile of the time from a file's SYN to its last ACK; NaN if there are too
        few files, and for long files.
    """

    goodput_bps: tuple[float, ...]
    full: int
    early: int
    threshold: int
    marks: int
    lost: int
    queue: float
    below: float
    above: float
    utilization: float
    busy_links: int
    first_is_worst: bool
    timeouts: int
    fast_retransmits: int
    reductions: int
    duplicates: float
    completed: int
    mean_s: float
    p99_s: float

    @property
    def drops(self) -> int:
        """Number of packets that the queues between routers dropped."""
        return self.full + self.early + self.threshold


def reduce(result: Result) -> Tally:
    """Reduce the result of a run to the values that tables, figures and claims read."""
    flows, links = result.columns("flows"), result.columns("links")
    names = list(links["link"])
    between = [i for i, name in enumerate(names) if name.count("gw") == 2]
    observed = names.index(OBSERVED)
    delays, average = result.columns("delays"), result.columns("queue")["average_packets"]
    times = np.array([])
    if "transfers" in result.tables:
        times = np.asarray(result.columns("transfers")["duration_s"], dtype=float)
        times = times[np.isfinite(times)]
    lost = result.columns("impairments")["lost_packets"] if "impairments" in result.tables else []

    def on_links(column: str) -> int:
        return int(np.asarray(links[column])[between].sum())

    def of_flows(column: str) -> int:
        return int(np.sum(flows[column]))

    signals: Counter[frozenset[str]] = Counter()
    busy: Counter[frozenset[str]] = Counter()
    for i in between:
        link = frozenset(names[i].split(">"))
        signals[link] += int(links["dropped_packets"][i]) + int(links["marked_packets"][i])
        busy[link] += float(links["utilization"][i]) >= BUSY
    first = frozenset(OBSERVED.split(">"))

    return Tally(
        goodput_bps=tuple(8 * float(acked) / DURATION_S for acked in flows["acked_bytes"]),
        full=on_links("dropped_full"),
        early=on_links("dropped_early"),
        threshold=on_links("dropped_threshold"),
        marks=on_links("marked_packets"),
        lost=int(np.sum(lost)),
        # Little's law: the mean number of waiting packets is the sum of all waits over the
        # duration.
        queue=float(delays["mean_delay_s"][0]) * int(delays["packets"][0]) / DURATION_S,
        below=float((average < MINTH).mean()),
        above=float((average >= _maxth(result)).mean()),
        utilization=float(links["utilization"][observed]),
        busy_links=sum(ways > 0 for ways in busy.values()),
        first_is_worst=signals[first] == max(signals.values()),
        timeouts=of_flows("timeouts"),
        fast_retransmits=of_flows("fast_retransmits"),
        reductions=of_flows("ecn_reductions"),
        duplicates=of_flows("duplicate_bytes") / max(of_flows("received_bytes"), 1),
        completed=int(np.sum(result.columns("connections")["completed"])),
        mean_s=float(times.mean()) if len(times) else math.nan,
        p99_s=float(np.quantile(times, 0.99)) if len(times) > 100 else math.nan,
    )


def _maxth(result: Result) -> float:
    """Return maxth of the observed queue, in packets."""
    first = result.manifest["scenario"]["network"]["links"][0]
    assert f"{first['from']}>{first['to']}" == OBSERVED, "links between routers come first"
    return float(first["queue"]["maxth"].split()[0])


GOODPUT = Measure[Tally]("goodput", "kbit/s", lambda t: sum(t.goodput_bps), 1, scale=1e-3)
SIGNALS = Measure[Tally]("signals", "packets", lambda t: t.drops + t.marks, -1)
QUEUE = Measure[Tally]("mean_queue", "packets", lambda t: t.queue, -1)
THREE = (SIGNALS, GOODPUT, QUEUE)
"""Measures that the figures of the study show."""

DROPS = Measure[Tally]("drops", "packets", lambda t: t.drops, -1)
MARKS = Measure[Tally]("marks", "packets", lambda t: t.marks)
THRESHOLD = Measure[Tally]("drops_above_maxth", "packets", lambda t: t.threshold, -1)
TIMEOUTS = Measure[Tally]("timeouts", "times", lambda t: t.timeouts, -1)
BELOW = Measure[Tally]("average_below_minth", "% of time", lambda t: t.below, scale=100)
ABOVE = Measure[Tally]("average_above_maxth", "% of time", lambda t: t.above, scale=100)
WITHIN = Measure[Tally](
    "average_in_region", "% of time", lambda t: 1 - t.below - t.above, scale=100
)
UTILIZATION = Measure[Tally]("utilization", "%", lambda t: t.utilization, 1, scale=100)
DUPLICATES = Measure[Tally]("duplicate_data", "%", lambda t: t.duplicates, -1, scale=100)
MEAN_TIME = Measure[Tally]("mean_time_of_file", "s", lambda t: t.mean_s, -1)
P99_TIME = Measure[Tally]("p99_time_of_file", "s", lambda t: t.p99_s, -1)
EVERY = (
    *THREE, DROPS, MARKS, THRESHOLD, TIMEOUTS, BELOW, WITHIN, ABOVE, UTILIZATION,
    DUPLICATES, MEAN_TIME, P99_TIME,
)  # fmt: skip
