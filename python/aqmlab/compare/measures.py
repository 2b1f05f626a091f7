"""What is measured of a run: RFC 7928 §2 and §4.2, after the warm-up, and by group of flows."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from aqmlab.compare.seen import Group, Seen
from aqmlab.statistics import jain, time_quantile


class AtLeast(float):
    """A value that is known to be exceeded."""


@dataclass(frozen=True)
class Measure:
    """A quantity: name, head, unit, factor to that unit, digits, what is better, how it is taken.

    `better` is 1 if more is better, -1 if less is, 0 if neither. `part` is the link or the group of
    flows that it is of, where there are several.
    """

    name: str
    head: str
    unit: str
    scale: float
    digits: int
    better: int
    meaning: str
    of: Callable[[Seen], float]
    part: str = ""

    def text(self, value: float) -> str:
        """Return a value in the unit of its column."""
        return "–" if math.isnan(value) else f"{value * self.scale:z.{self.digits}f}"

    @property
    def title(self) -> str:
        """Head and part."""
        return f"{self.part}: {self.head}" if self.part else self.head

    def of_part(self, part: str) -> "Measure":
        """Return the measure as that of a link or a group among several."""
        return replace(self, name=key(self.name, part), part=part)


def key(name: str, part: str) -> str:
    """Return the name of a measure of a link or a group; "" if there is but one."""
    return f"{name}@{part}" if part else name


def measures(links: list[str], groups: list[Group]) -> list[Measure]:
    """Return every measure in the order of the table: of all flows, each link, each group."""
    found = [*ALL]
    for link in links:
        of = _of_link(link)
        found += [m.of_part(link) for m in of] if len(links) > 1 else of
    for group in groups:
        wanted = [_goodput(group)] if len(groups) > 1 else []
        wanted += _of_transfers(group) if group.ends else []
        found += [m.of_part(group.name) for m in wanted]
    return found


def _all_goodput(seen: Seen) -> float:
    return seen.goodput(flow for group in seen.groups for flow in group.flows)


def _jain(seen: Seen) -> float:
    goodputs = seen.goodputs()
    return jain(goodputs) if len(goodputs) > 1 else math.nan


ALL = (
    Measure("goodput_bps", "goodput", "Mbit/s", 1e-6, 2, 1,
            "Data acknowledged or received in datagrams, of the flows that cross the link, over "
            "the time (§2.5).", _all_goodput),
    Measure("jain", "Jain", "index", 1, 3, 1,
            "Jain's fairness index of the goodputs of flows that cross the link and are one "
            "connection, each while it was open.", _jain),
)  # fmt: skip


def _rate(link: str, *columns: str) -> Callable[[Seen], float]:
    """Return the share that some packets are of those that arrived."""
    return lambda seen: seen.link(link, *columns) / max(1, seen.link(link, "arrived_packets"))


DROPPED = ("dropped_full", "dropped_early", "dropped_threshold")


def _of_link(link: str) -> list[Measure]:
    return [
        Measure("utilization", "busy", "%", 100, 1, 1,
                "Share of the time in which the link was sending.",
                lambda seen: seen.link(link, "busy_s") / max(seen.seconds, 1e-12)),
        Measure("mean_delay_s", "delay", "ms", 1e3, 2, -1,
                "Mean time that a packet waited in the queue, of every packet that it sent (§2.6).",
                lambda seen: seen.mean_wait(link)),
        Measure("p95_delay_s", "delay, 95 %", "ms", 1e3, 1, -1,
                "The delay in the queue that 95 % of its packets did not exceed.",
                lambda seen: seen.wait_quantile(link, 0.95)),
        Measure("p99_delay_s", "delay, 99 %", "ms", 1e3, 1, -1,
                "The delay in the queue that 99 % of its packets did not exceed.",
                lambda seen: seen.wait_quantile(link, 0.99)),
        Measure("drop_rate", "dropped", "%", 100, 3, -1,
                "Packets dropped at the queue, of those that arrived (§2.3).",
                _rate(link, *DROPPED)),
        Measure("mark_rate", "marked", "%", 100, 3, 0,
                "Packets marked at the queue, of those that arrived.",
                _rate(link, "marked_packets")),
    ]  # fmt: skip


def _goodput(group: Group) -> Measure:
    return Measure("goodput_bps", "goodput", "Mbit/s", 1e-6, 2, 1,
                   "Data of the flows of a [[flows]] table that cross the link, over the time.",
                   lambda seen: seen.goodput(group.flows))  # fmt: skip


def _time(group: Group, share: float) -> Callable[[Seen], float]:
    def quantile(seen: Seen) -> float:
        time, known = time_quantile(*seen.transfers(group), share)
        return time if known or math.isnan(time) else AtLeast(time)

    return quantile


def _unfinished(group: Group) -> Callable[[Seen], float]:
    def share(seen: Seen) -> float:
        ended = seen.transfers(group)[1]
        return ended.count(False) / len(ended) if ended else math.nan

    return share


def _of_transfers(group: Group) -> list[Measure]:
    def within(name: str, head: str, share: float) -> Measure:
        return Measure(name, head, "s", 1, 3, -1,
                       f"Time within which {100 * share:g} % of the transfers that began were "
                       "completed (§2.1); those that did not end count with what they had taken.",
                       _time(group, share))  # fmt: skip

    return [
        within("median_completion_s", "time, median", 0.5),
        within("p95_completion_s", "time, 95 %", 0.95),
        within("p99_completion_s", "time, 99 %", 0.99),
        Measure("unfinished", "unfinished", "%", 100, 2, -1,
                "Transfers that had not ended when the run did, of those that began.",
                _unfinished(group)),
    ]  # fmt: skip
