"""Standard measures of a run, after RFC 7928 §2 and §4.2, for links and for flows.

Each function that computes a measure takes the run as its last argument. A measure stores a
`partial` of this function, because a `partial` can be pickled, while a lambda cannot.
"""

import math
from dataclasses import replace
from functools import partial

from aqmlab.estimates import transfer_time
from aqmlab.measures.measure import AtLeast, Measure, key
from aqmlab.measures.measured_run import SIZE_CLASSES, CrossingFlows, MeasuredRun, Sizes
from aqmlab.statistics import jain


def measures(links: list[str], crossing: list[CrossingFlows]) -> list[Measure[MeasuredRun]]:
    """Return the standard measures of a run: for all flows, for each link, and for each flow.

    If there are several links, the goodput is also a measure of each link.
    """
    several = [link if len(links) > 1 else "" for link in links]
    listed = [replace(m, part=ALL_LINKS) for m in ALL] if len(links) > 1 else [*ALL]
    for link, part in zip(links, several, strict=True):
        goodput = [replace(GOODPUT, of=partial(_link_goodput, link))] if part else []
        listed += [m.of_part(part) for m in (*goodput, *_of_link(link))]
    for flows in crossing:
        of_flows = []
        if len(crossing) > 1:
            of_flows = [_goodput(flows), _marked(flows)]
            of_flows += [
                _delay_of_flows(link, at, flows) for link, at in zip(links, several, strict=True)
            ]
        of_flows += _of_transfers(flows) if flows.finite else []
        of_flows += _of_requests(flows) if flows.kind in REQUESTS else []
        of_flows += _of_datagrams(flows) if flows.kind in DATAGRAMS else []
        listed += [m.of_part(flows.name) for m in of_flows]
    return listed


def _all_goodput(run: MeasuredRun) -> float:
    """Return the total goodput in bit/s of all flows that cross the measured links."""
    return run.goodput([flow for flows in run.crossing for flow in flows.flows])


def _link_goodput(link: str, run: MeasuredRun) -> float:
    """Return the goodput in bit/s of the flows that cross one of several measured links."""
    return _all_goodput(run.at(link))


def _jain(run: MeasuredRun) -> float:
    """Return Jain's index of the flows' goodputs; NaN with fewer than two flows."""
    goodputs = list(run.goodputs().values())
    return jain(goodputs) if len(goodputs) > 1 else math.nan


GOODPUT = Measure(
    "goodput_bps", "Mbit/s", _all_goodput, 1, "goodput",
    "Data that all flows across the link, or across at least one of all links, delivered, divided "
    "by the time in which at least one of these flows was active (§2.5). Only data in the "
    "direction of a link counts. Delivered data is acknowledged data, or data in received "
    "datagrams. A flow is active from its start to its completion, or to the end of the run.",
    1e-6, 2, label="goodput",
)  # fmt: skip
"""Goodput of all flows that cross the measured links."""
ALL = (
    GOODPUT,
    Measure("jain", "index", _jain, 1, "Jain",
            "Jain's fairness index of the goodputs of the bulk flows that cross the link and "
            "consist of one connection.", label="Jain's fairness index"),
)  # fmt: skip
"""Measures with one value for all flows that cross the measured links."""
ALL_LINKS = "all links"
"""Part of the measures `ALL` if there are several measured links."""


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
                label="95th percentile of the queueing delay"),
        Measure("p99_delay_s", "ms", partial(_delay, link, "p99_delay_s"), -1, "delay, 99 %",
                "Queueing delay that 99 % of the packets did not exceed.", 1e3, 1,
                label="99th percentile of the queueing delay"),
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
                   1e-6, 2, label="goodput")  # fmt: skip


def _marked_share(flows: CrossingFlows, run: MeasuredRun) -> float:
    """Return the share of the flows' data segments that were marked; NaN without segments."""
    sent = sum(run.flows("segments_sent", flows.forward).values())
    marked = sum(run.flows("marked_packets", flows.forward).values())
    return marked / sent if sent else math.nan


def _marked(flows: CrossingFlows) -> Measure[MeasuredRun]:
    """Return the share of marked segments of the flows of one `[[flows]]` table."""
    return Measure("mark_rate", "%", partial(_marked_share, flows), 0, "marked",
                   "Data segments of the flows of one [[flows]] table that were marked, divided by "
                   "the segments that the flows sent.", 100,
                   label="share of marked segments")  # fmt: skip


def _flow_delay(link: str, flows: CrossingFlows, run: MeasuredRun) -> float:
    """Return the 95th percentile of the queueing delay of the flows' packets at a link, in s."""
    return run.delay_of_flows(link, flows, "p95_delay_s")


def _delay_of_flows(link: str, at: str, flows: CrossingFlows) -> Measure[MeasuredRun]:
    """Return the queueing delay at a link of the flows of one `[[flows]]` table.

    `at` is the name of the link if there are several, else "".
    """
    where = f" at {at}" if at else ""
    name = key("p95_flow_delay_s", at)
    return Measure(name, "ms", partial(_flow_delay, link, flows), -1, f"delay{where}, 95 %",
                   "Queueing delay that 95 % of the packets of one [[flows]] table did not exceed. "
                   "It shows the delay of each class of traffic, such as L4S.", 1e3, 1,
                   label=f"95th percentile of the queueing delay{where}")  # fmt: skip


ENOUGH = 20
"""Minimum number of completed transfers of a size class; 5 % of 20 transfers are one transfer."""


def _time(flows: CrossingFlows, share: float, sizes: Sizes | None, run: MeasuredRun) -> float:
    """Return a quantile of the transfer times in s, or `AtLeast` if only a lower bound is known.

    The result for a size class with fewer than `ENOUGH` completed transfers is NaN.
    """
    times, ended = run.transfers(flows, sizes)
    if sizes and ended.count(True) < ENOUGH:
        return math.nan
    time = transfer_time(times, ended, share)
    return AtLeast(time.value) if time.exceeded else time.value


def _unfinished(flows: CrossingFlows, run: MeasuredRun) -> float:
    """Return the share of unfinished transfers; NaN if no transfer began."""
    ended = run.transfers(flows)[1]
    return ended.count(False) / len(ended) if ended else math.nan


def _of_transfers(flows: CrossingFlows) -> list[Measure[MeasuredRun]]:
    """Return the transfer measures for the flows of one `[[flows]]` table."""

    def within(name: str, head: str, label: str, share: float) -> Measure[MeasuredRun]:
        return Measure(name, "s", partial(_time, flows, share, None), -1, head,
                       f"Time within which {100 * share:g} % of the transfers completed (§2.1). An "
                       "unfinished transfer counts with its duration until the end of the run.",
                       label=label)  # fmt: skip

    return [
        within("median_completion_s", "time, median", "median transfer time", 0.5),
        within("p95_completion_s", "time, 95 %", "95th percentile of the transfer time", 0.95),
        within("p99_completion_s", "time, 99 %", "99th percentile of the transfer time", 0.99),
        Measure("unfinished", "%", partial(_unfinished, flows), -1, "unfinished",
                "Transfers that were unfinished at the end of the run, divided by the transfers "
                "that began.", 100, 2, label="unfinished transfers"),
        *(_of_sizes(flows) if flows.sizes_vary else []),
    ]  # fmt: skip


def _of_sizes(flows: CrossingFlows) -> list[Measure[MeasuredRun]]:
    """Return the transfer times by size class for the flows of one `[[flows]]` table."""
    quantiles = [
        ("median", "median", "median transfer time", 0.5),
        ("p95", "95 %", "95th percentile of the transfer time", 0.95),
    ]
    return [
        Measure(f"{name}_{size}_s", "s", partial(_time, flows, share, sizes), -1,
                f"time {title}, {head}",
                f"Time within which {100 * share:g} % of the transfers ({title}) completed, if at "
                f"least {ENOUGH} of them completed. The size of an unfinished transfer is unknown, "
                "so it counts in each class that its acknowledged data permits, with its duration "
                "until the end of the run.", label=f"{label} ({title})")
        for size, title, sizes in SIZE_CLASSES
        for name, head, label, share in quantiles
    ]  # fmt: skip


REQUESTS = ("ping", "request_response", "requests", "web")
"""Kinds of traffic whose requests the table `exchanges` describes."""
DATAGRAMS = ("cbr", "voip", "poisson")
"""Kinds of traffic without TCP, which the table `datagrams` describes."""


def _mean_of(table: str, column: str, flows: CrossingFlows, run: MeasuredRun) -> float:
    """Return the mean of a column over the flows of one `[[flows]]` table; NaN without flows."""
    values = [x for x in run.of_kind(table, column, flows) if not math.isnan(x)]
    return sum(values) / len(values) if values else math.nan


def _of_requests(flows: CrossingFlows) -> list[Measure[MeasuredRun]]:
    """Return the measures of requests for the flows of one `[[flows]]` table."""

    def column(name: str) -> partial[float]:
        return partial(_mean_of, "exchanges", name, flows)

    return [
        Measure("median_request_s", "ms", column("median_duration_s"), -1, "request, median",
                "Median time from a request to the last byte of its response, as the mean over the "
                "flows of the table.", 1e3, 1, label="median of the request time"),
        Measure("p95_request_s", "ms", column("p95_duration_s"), -1, "request, 95 %",
                "Time within which 95 % of the requests were answered, as the mean over the flows "
                "of the table.", 1e3, 1, label="95th percentile of the request time"),
        Measure("responsiveness_rpm", "1/min", column("responsiveness_rpm"), 1, "responsiveness",
                "Round trips per minute: 60 s divided by the mean time of a request "
                "(draft-ietf-ippm-responsiveness).", 1, 0, label="responsiveness"),
    ]  # fmt: skip


def _lost(flows: CrossingFlows, run: MeasuredRun) -> float:
    """Return the share of lost datagrams; NaN if no datagram was sent."""
    sent = sum(run.of_kind("datagrams", "sent_packets", flows))
    return sum(run.of_kind("datagrams", "lost_packets", flows)) / sent if sent else math.nan


PLAYOUT = 0.99
"""Share of the voice packets that arrive before their playout."""
PACKETIZATION_S = 0.02
"""Duration of the speech in one packet, which delays the first sample of the packet, in s."""


def opinion_score(delay_s: float, lost: float) -> float:
    """Return the estimated mean opinion score of a call with the codec G.711, from 1 to 4.4.

    The function computes the transmission rating R of the reduced E-model (``cole2001voice``) with
    random losses that the receiver conceals, and converts R with :func:`score_of_rating`.

    The reduced E-model fixes all terms of ITU-T G.107 (``itu2015g107``) except delay and loss at
    their default values, so it leaves out echo, noise and loudness. It also leaves out bursts of
    losses: according to ITU-T G.113 (``itu1999g113``), a loss of 5 % costs 15 points of R if it is
    random, and 30 points if it is bursty. A full queue drops packets in bursts, so the score is too
    high for such drops. R without impairments is 94.2 here, and 93.2 in later editions of G.107,
    which lowers the score by at most 0.06. The score is always that of G.711, whatever the size of
    the simulated packets.

    Parameters
    ----------
    delay_s : float
        Delay from mouth to ear in s.
    lost : float
        Share of lost and late packets, in 0..1.

    Examples
    --------
    >>> [round(opinion_score(*call), 2) for call in ((0.02, 0), (0.2, 0), (0.2, 0.05))]
    [4.42, 4.26, 3.6]
    """
    delay_ms = 1e3 * delay_s
    impairment = 0.024 * delay_ms + 0.11 * max(0.0, delay_ms - 177.3)
    return score_of_rating(94.2 - impairment - 30 * math.log(1 + 15 * lost))


def score_of_rating(rating: float) -> float:
    """Return the mean opinion score of a transmission rating R (``itu2015g107`` Annex B).

    Parameters
    ----------
    rating : float
        Transmission rating R. A rating of at most 0 has the score 1, and a rating of at least 100
        has the score 4.5. Between 0 and 6.5 the formula of G.107 falls below 1, and the function
        returns 1.

    Examples
    --------
    >>> [round(score_of_rating(rating), 2) for rating in (90, 70, 50)]
    [4.34, 3.6, 2.58]
    """
    rating = min(max(rating, 0.0), 100.0)
    return max(1.0, 1 + 0.035 * rating + 7e-6 * rating * (rating - 60) * (100 - rating))


def _score(flows: CrossingFlows, run: MeasuredRun) -> float:
    """Return the mean opinion score of calls whose playout waits for 99 % of the packets."""
    delay = _mean_of("datagrams", "p99_delay_s", flows, run)
    lost = _lost(flows, run)
    if math.isnan(delay) or math.isnan(lost):
        return math.nan
    return opinion_score(delay + PACKETIZATION_S, 1 - PLAYOUT * (1 - lost))


def _of_datagrams(flows: CrossingFlows) -> list[Measure[MeasuredRun]]:
    """Return the measures of datagrams for the flows of one `[[flows]]` table."""

    def column(name: str) -> partial[float]:
        return partial(_mean_of, "datagrams", name, flows)

    score = Measure("mos", "MOS", partial(_score, flows), 1, "voice quality",
                    "Estimated mean opinion score of a call with G.711, from 1 (bad) to 4.4: the "
                    "reduced E-model (Cole & Rosenbluth 2001). The playout delay is the one-way "
                    "delay that 99 % of the packets do not exceed, plus 20 ms. Later packets count "
                    "as lost. The score assumes random losses; bursts of losses are worse.",
                    1, 2, label="voice quality")  # fmt: skip
    return [
        Measure("mean_one_way_s", "ms", column("mean_delay_s"), -1, "one-way delay",
                "Mean delay of the datagrams from sender to receiver, as the mean over the flows.",
                1e3, 1, label="mean one-way delay"),
        Measure("p99_one_way_s", "ms", column("p99_delay_s"), -1, "one-way delay, 99 %",
                "Delay that 99 % of the datagrams did not exceed, as the mean over the flows.",
                1e3, 1, label="99th percentile of the one-way delay"),
        Measure("datagram_loss", "%", partial(_lost, flows), -1, "lost",
                "Datagrams that were lost, divided by the datagrams that were sent.", 100, 2,
                label="loss of datagrams"),
        *([score] if flows.kind == "voip" else []),
    ]  # fmt: skip
