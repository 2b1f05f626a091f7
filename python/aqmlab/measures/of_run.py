"""What is measured of a run: RFC 7928 §2 and §4.2, after the warm-up, and by group of flows."""

import math
from functools import partial

from aqmlab.estimates import transfer_time
from aqmlab.measures.measure import AtLeast, Measure
from aqmlab.measures.seen import Group, Seen
from aqmlab.statistics import jain


def measures(links: list[str], groups: list[Group]) -> list[Measure[Seen]]:
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
    return seen.goodput([flow for group in seen.groups for flow in group.flows])


def _jain(seen: Seen) -> float:
    goodputs = seen.goodputs()
    return jain(goodputs) if len(goodputs) > 1 else math.nan


ALL = (
    Measure("goodput_bps", "Mbit/s", _all_goodput, 1, "goodput",
            "Data acknowledged or received in datagrams, of the flows that cross the link, over "
            "the time in which at least one of them ran (§2.5): from its start to its completion, "
            "or to the end of the run.", 1e-6, 2),
    Measure("jain", "index", _jain, 1, "Jain",
            "Jain's fairness index of the goodputs of flows that cross the link and are one "
            "connection."),
)  # fmt: skip


# What reads a measure takes the run last and is a partial of a function of this file: unlike a
# lambda it can be pickled, and so can a comparison.


def _share(link: str, columns: tuple[str, ...], seen: Seen) -> float:
    """Return the share that some packets are of those that arrived."""
    return seen.link(link, *columns) / max(1, seen.link(link, "arrived_packets"))


def _utilization(link: str, seen: Seen) -> float:
    return seen.link(link, "busy_s") / max(seen.seconds, 1e-12)


def _delay(link: str, column: str, seen: Seen) -> float:
    return seen.delay(link, column)


DROPPED = ("dropped_full", "dropped_early", "dropped_threshold")
MARKED = ("marked_packets",)


def _of_link(link: str) -> list[Measure[Seen]]:
    return [
        Measure("utilization", "%", partial(_utilization, link), 1, "busy",
                "Share of the time in which the link was sending.", 100, 1),
        Measure("mean_delay_s", "ms", partial(_delay, link, "mean_delay_s"), -1, "delay",
                "Mean time that a packet waited in the queue, of every packet that it sent (§2.6).",
                1e3, 2),
        Measure("p95_delay_s", "ms", partial(_delay, link, "p95_delay_s"), -1, "delay, 95 %",
                "The delay in the queue that 95 % of its packets did not exceed.", 1e3, 1),
        Measure("p99_delay_s", "ms", partial(_delay, link, "p99_delay_s"), -1, "delay, 99 %",
                "The delay in the queue that 99 % of its packets did not exceed.", 1e3, 1),
        Measure("drop_rate", "%", partial(_share, link, DROPPED), -1, "dropped",
                "Packets dropped at the queue, of those that arrived (§2.3).", 100),
        Measure("mark_rate", "%", partial(_share, link, MARKED), 0, "marked",
                "Packets marked at the queue, of those that arrived.", 100),
    ]  # fmt: skip


def _group_goodput(group: Group, seen: Seen) -> float:
    return seen.goodput(group.flows)


def _goodput(group: Group) -> Measure[Seen]:
    return Measure("goodput_bps", "Mbit/s", partial(_group_goodput, group), 1, "goodput",
                   "Data of the flows of a [[flows]] table that cross the link, over the time in "
                   "which at least one of them ran.", 1e-6, 2)  # fmt: skip


def _time(group: Group, share: float, seen: Seen) -> float:
    time = transfer_time(*seen.transfers(group), share)
    return AtLeast(time.value) if time.exceeded else time.value


def _unfinished(group: Group, seen: Seen) -> float:
    ended = seen.transfers(group)[1]
    return ended.count(False) / len(ended) if ended else math.nan


def _of_transfers(group: Group) -> list[Measure[Seen]]:
    def within(name: str, head: str, share: float) -> Measure[Seen]:
        return Measure(name, "s", partial(_time, group, share), -1, head,
                       f"Time within which {100 * share:g} % of the transfers that began were "
                       "completed (§2.1); those that did not end count with what they had taken.",
                       )  # fmt: skip

    return [
        within("median_completion_s", "time, median", 0.5),
        within("p95_completion_s", "time, 95 %", 0.95),
        within("p99_completion_s", "time, 99 %", 0.99),
        Measure("unfinished", "%", partial(_unfinished, group), -1, "unfinished",
                "Transfers that had not ended when the run did, of those that began.", 100, 2),
    ]  # fmt: skip
