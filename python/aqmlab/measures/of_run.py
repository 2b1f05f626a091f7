"""Standard measures of a run, after RFC 7928 §2 and §4.2, for links and for flows.

Each function that computes a measure takes the run as its last argument. A measure stores a
`partial` of this function, because a `partial` can be pickled, while a lambda cannot.
"""

import math
from functools import partial

from aqmlab.estimates import transfer_time
from aqmlab.measures.measure import AtLeast, Measure
from aqmlab.measures.measured_run import CrossingFlows, MeasuredRun
from aqmlab.statistics import jain


def measures(links: list[str], crossing: list[CrossingFlows]) -> list[Measure[MeasuredRun]]:
    """Return the standard measures of a run: for all flows, for each link, and for each flow."""
    listed = [*ALL]
    for link in links:
        of_link = _of_link(link)
        listed += [m.of_part(link) for m in of_link] if len(links) > 1 else of_link
    for flows in crossing:
        of_flows = [_goodput(flows)] if len(crossing) > 1 else []
        of_flows += _of_transfers(flows) if flows.finite else []
        listed += [m.of_part(flows.name) for m in of_flows]
    return listed


def _all_goodput(run: MeasuredRun) -> float:
    """Return the total goodput in bit/s of all flows that cross the measured links."""
    return run.goodput([flow for flows in run.crossing for flow in flows.flows])


def _jain(run: MeasuredRun) -> float:
    """Return Jain's index of the flows' goodputs; NaN with fewer than two flows."""
    goodputs = run.goodputs()
    return jain(goodputs) if len(goodputs) > 1 else math.nan


ALL = (
    Measure("goodput_bps", "Mbit/s", _all_goodput, 1, "goodput",
            "Data that all flows across the link delivered, divided by the time in which at least "
            "one of these flows was active (§2.5). Delivered data is acknowledged data, or data "
            "in received datagrams. A flow is active from its start to its completion, or to the "
            "end of the run.", 1e-6, 2),
    Measure("jain", "index", _jain, 1, "Jain",
            "Jain's fairness index of the goodputs of the flows that cross the link and consist of "
            "one connection.", label="Jain's fairness index"),
)  # fmt: skip
"""Measures with one value for all flows that cross the measured links."""


def _share(link: str, columns: tuple[str, ...], run: MeasuredRun) -> float:
    """Return the sum of columns that count packets, divided by the number of arrived packets."""
    return run.link(link, *columns) / max(1, run.link(link, "arrived_packets"))


def _utilization(link: str, run: MeasuredRun) -> float:
    """Return the share of the time in which the link transmitted packets."""
    return run.link(link, "busy_s") / max(run.seconds, 1e-12)


def _delay(link: str, column: str, run: MeasuredRun) -> float:
    """Return a column of the table `delays` for a link, in s."""
    return run.delay(link, column)


DROPPED = ("dropped_full", "dropped_early", "dropped_threshold")
"""Columns of the table `links` that count drops at the queue."""
MARKED = ("marked_packets",)
"""Column of the table `links` that counts marks at the queue."""


def _of_link(link: str) -> list[Measure[MeasuredRun]]:
    """Return the measures of a link."""
    return [
        Measure("utilization", "%", partial(_utilization, link), 1, "busy",
                "Share of the time in which the link transmitted packets.", 100, 1,
                label="utilization"),
        Measure("mean_delay_s", "ms", partial(_delay, link, "mean_delay_s"), -1, "delay",
                "Mean queueing delay of the packets that the link transmitted (§2.6).",
                1e3, 2, label="mean queueing delay"),
        Measure("p95_delay_s", "ms", partial(_delay, link, "p95_delay_s"), -1, "delay, 95 %",
                "Queueing delay that 95 % of the packets did not exceed.", 1e3, 1,
                label="queueing delay, 95th percentile"),
        Measure("p99_delay_s", "ms", partial(_delay, link, "p99_delay_s"), -1, "delay, 99 %",
                "Queueing delay that 99 % of the packets did not exceed.", 1e3, 1,
                label="queueing delay, 99th percentile"),
        Measure("drop_rate", "%", partial(_share, link, DROPPED), -1, "dropped",
                "Packets that the queue dropped, divided by the packets that arrived (§2.3).", 100,
                label="dropped packets"),
        Measure("mark_rate", "%", partial(_share, link, MARKED), 0, "marked",
                "Packets that the queue marked, divided by the packets that arrived.", 100,
                label="marked packets"),
    ]  # fmt: skip


def _goodput_of(flows: CrossingFlows, run: MeasuredRun) -> float:
    """Return the goodput of the crossing flows of one `[[flows]]` table, in bit/s."""
    return run.goodput(flows.flows)


def _goodput(flows: CrossingFlows) -> Measure[MeasuredRun]:
    """Return the goodput measure for the flows of one `[[flows]]` table."""
    return Measure("goodput_bps", "Mbit/s", partial(_goodput_of, flows), 1, "goodput",
                   "Data that the flows of one [[flows]] table delivered across the link, divided "
                   "by the time in which at least one of these flows was active.",
                   1e-6, 2)  # fmt: skip


def _time(flows: CrossingFlows, share: float, run: MeasuredRun) -> float:
    """Return a quantile of the transfer times in s, or `AtLeast` if only a lower bound is known."""
    time = transfer_time(*run.transfers(flows), share)
    return AtLeast(time.value) if time.exceeded else time.value


def _unfinished(flows: CrossingFlows, run: MeasuredRun) -> float:
    """Return the share of unfinished transfers; NaN if no transfer began."""
    ended = run.transfers(flows)[1]
    return ended.count(False) / len(ended) if ended else math.nan


def _of_transfers(flows: CrossingFlows) -> list[Measure[MeasuredRun]]:
    """Return the transfer measures for the flows of one `[[flows]]` table."""

    def within(name: str, head: str, label: str, share: float) -> Measure[MeasuredRun]:
        return Measure(name, "s", partial(_time, flows, share), -1, head,
                       f"Time within which {100 * share:g} % of the transfers completed (§2.1). An "
                       "unfinished transfer counts with its duration until the end of the run.",
                       label=label)  # fmt: skip

    return [
        within("median_completion_s", "time, median", "median transfer time", 0.5),
        within("p95_completion_s", "time, 95 %", "transfer time, 95th percentile", 0.95),
        within("p99_completion_s", "time, 99 %", "transfer time, 99th percentile", 0.99),
        Measure("unfinished", "%", partial(_unfinished, flows), -1, "unfinished",
                "Transfers that were unfinished at the end of the run, divided by the transfers "
                "that began.", 100, 2, label="unfinished transfers"),
    ]  # fmt: skip
