"""What is measured of a run: RFC 7928 §2 and §4.2, each over the whole run, its start included."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aqmlab.statistics import jain

if TYPE_CHECKING:
    from aqmlab.results import Result


@dataclass(frozen=True)
class Measure:
    """A quantity: name, head of its column, unit, factor to that unit, digits, what is better.

    `better` is 1 if more is better, -1 if less is, 0 if neither.
    """

    name: str
    head: str
    unit: str
    scale: float
    digits: int
    better: int
    meaning: str

    def text(self, value: float) -> str:
        """Return a value in the unit of its column."""
        return "–" if math.isnan(value) else f"{value * self.scale:.{self.digits}f}"


MEASURES = (
    Measure("goodput_bps", "goodput", "Mbit/s", 1e-6, 2, 1,
            "Data acknowledged or received in datagrams, over the time of the run (§2.5)."),
    Measure("utilization", "busy", "%", 100, 1, 1,
            "Share of the time in which the link was sending."),
    Measure("mean_delay_s", "delay", "ms", 1e3, 2, -1,
            "Mean time that a packet waited in the queue, of every packet that it sent (§2.6)."),
    Measure("p95_delay_s", "95 %", "ms", 1e3, 1, -1,
            "The delay in the queue that 95 % of its packets did not exceed."),
    Measure("p99_delay_s", "99 %", "ms", 1e3, 1, -1,
            "The delay in the queue that 99 % of its packets did not exceed."),
    Measure("drop_rate", "dropped", "%", 100, 3, -1,
            "Packets dropped at the queue, of those that arrived (§2.3)."),
    Measure("mark_rate", "marked", "%", 100, 3, 0,
            "Packets marked at the queue, of those that arrived."),
    Measure("jain", "Jain", "index", 1, 3, 1,
            "Jain's fairness index of the goodputs of flows that are one connection."),
    Measure("completion_s", "short", "s", 1, 3, -1,
            "Mean completion time of connections that come and go (§2.1)."),
)  # fmt: skip
"""Every measure, in the order of its column."""


def measure(result: "Result", link: str) -> dict[str, float]:
    """Return every measure of a run that recorded the delays of the link."""
    flows, links, delays = (result.columns(name) for name in ("flows", "links", "delays"))
    at, of = links["link"].index(link), delays["link"].index(link)
    arrived = max(1, int(links["arrived_packets"][at]))
    one_connection = [
        goodput
        for name, goodput in zip(flows["flow"], flows["goodput_bps"], strict=True)
        if name not in _sources(result)
    ]
    received = result.columns("datagrams")["received_bytes"] if "datagrams" in result.tables else []
    dropped = sum(int(links[f"dropped_{why}"][at]) for why in ("full", "early", "threshold"))
    all_bytes = int(sum(flows["acked_bytes"])) + int(sum(received))
    return {
        "goodput_bps": 8 * all_bytes / result.manifest["simulated_s"],
        "utilization": float(links["utilization"][at]),
        **{
            name: float(delays[name][of]) for name in ("mean_delay_s", "p95_delay_s", "p99_delay_s")
        },
        "drop_rate": dropped / arrived,
        "mark_rate": int(links["marked_packets"][at]) / arrived,
        "jain": jain(one_connection) if len(one_connection) > 1 else math.nan,
        "completion_s": _completion(result),
    }


def _sources(result: "Result") -> list[str]:
    """Return the flows whose connections come and go."""
    return result.columns("connections")["flow"] if "connections" in result.tables else []


def _completion(result: "Result") -> float:
    """Return the mean duration of all connections that were completed."""
    if not _sources(result):
        return math.nan
    table = result.columns("connections")
    pairs = list(zip(table["completed"], table["mean_duration_s"], strict=True))
    completed = sum(int(n) for n, _ in pairs)
    return (
        sum(int(n) * float(mean) for n, mean in pairs if n) / completed if completed else math.nan
    )
