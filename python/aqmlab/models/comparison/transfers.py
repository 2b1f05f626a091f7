"""Models of unlimited transfers: goodput at the measured share of signals, and DCTCP's queue."""

from typing import Any

import numpy as np

from aqmlab.models import tcp_rates
from aqmlab.models.comparison.place import Place, packets, size
from aqmlab.models.comparison.row import NotApplicable, Row
from aqmlab.models.dctcp import StepMarking

RENO = ("reno",)
SCALABLE = ("dctcp", "prague", "scalable")
FEW = 10
"""Minimum number of signals (marks and drops) for an estimate of the signal probability."""
SETTLED = 0.5
"""Share of a run without warm-up that the measurement of DCTCP's queue excludes."""


def rows(place: Place) -> tuple[list[Row], list[str]]:
    """Return the compared quantities of each flow table, and the reasons for missing quantities.

    Raises
    ------
    NotApplicable
        If the scenario has no flow table with unlimited transfers.
    """
    compared: list[Row] = []
    reasons: list[str] = []
    tables = [(t, names) for t, names in place.crossing if endless(t)]
    if not tables:
        raise NotApplicable(
            "the models of TCP rates need transfers of unlimited size, and no such transfer "
            "crosses "
            "the link"
        )
    if place.result.scenario["record"]["flows"] != "flow":
        raise NotApplicable('the models of TCP rates need one row per flow: record.flows = "flow"')
    for table, names in tables:
        for model in (_by_signals, _by_threshold):
            try:
                compared += model(place, table, names)
            except NotApplicable as e:
                reasons.append(f"{table['name']}: {e}")
    return compared, reasons


def endless(table: dict[str, Any]) -> bool:
    """Return True if the flows of a table are transfers of unlimited size."""
    traffic = table["traffic"]
    return traffic["kind"] == "bulk" and traffic["size"] is None and not table["arrivals"]


def tcp_of(place: Place, table: dict[str, Any]) -> dict[str, Any]:
    """Return the effective TCP settings of a flow table, for sender and receiver."""
    for group in place.result.tcp:
        if any(name.partition(" (")[0] == table["name"] for name in group["flows"]):
            return group
    raise NotApplicable("the run has no TCP settings for these flows")


def _by_signals(place: Place, table: dict[str, Any], names: list[str]) -> list[Row]:
    tcp = tcp_of(place, table)
    sender, control = tcp["sender"], tcp["sender"]["congestion"]
    sent, marked = (_sum(place, column, names) for column in ("packets_sent", "marked_packets"))
    signals = marked + _sum(place, "dropped_packets", names)
    goodput = _goodput(place, names)
    rtt, rto = round_trip(place, names)
    mss = size(sender["mss"])
    part, unit = table["name"], "Mbit/s"
    most = size(sender["receive_window"]) / mss
    if signals < FEW:
        limit = 8e-6 * mss * most / rtt
        return [
            Row(
                "receive window",
                part,
                "goodput of a flow",
                unit,
                min(limit, 1e-6 * place.bps),
                1e-6 * goodput,
                f"{signals:.0f} signals, so the receive window or the link limits the goodput",
            )
        ]
    p = signals / sent
    per_ack = per_ack_of(tcp)
    measured = f"{100 * p:.3g} % of packets dropped or marked, RTT {1e3 * rtt:.4g} ms, as measured"

    def of_window(name: str, window: float, assumed: str) -> Row:
        predicted = 8e-6 * mss * min(window, most) / rtt
        return Row(name, part, "goodput of a flow", unit, predicted, 1e-6 * goodput, assumed)

    kind = control["kind"]
    if kind in RENO:
        law = tcp_rates.square_root(p, per_ack=per_ack)
        full = tcp_rates.pftk(p, rtt, rto, per_ack=per_ack, window=most)
        simple = tcp_rates.pftk_simple(p, rtt, rto, per_ack=per_ack, window=most)
        first = f"{measured}; b = {per_ack:g}; no timeouts, and equally spaced losses"
        reno = [of_window("square-root law", law, first)]
        if marked > signals / 2:
            return reno  # PFTK treats each signal as a loss, which may cause a timeout
        return [
            *reno,
            of_window("PFTK", full * rtt, f"timeouts of {rto:.3g} s; losses end a round trip"),
            of_window("PFTK, simplified", simple * rtt, "the same"),
        ]
    if kind == "cubic":
        window = tcp_rates.cubic(p, rtt, c=control.get("c", 0.4), left=control.get("beta", 0.7))
        return [of_window("CUBIC", window, f"{measured}; equally spaced losses")]
    if kind == "dctcp" and place.queue["kind"] == "threshold":
        return []  # compared in `_by_threshold`
    if kind in SCALABLE:
        return [of_window("W p = 2", tcp_rates.scalable(p), f"{measured}; signals at random")]
    raise NotApplicable(
        f"none of the models predicts the rate of {kind} at a {place.queue['kind']} queue"
    )


def _sum(place: Place, column: str, names: list[str]) -> float:
    """Return the sum of a column over flows."""
    return sum(place.seen.flows(column, set(names)).values())


def _goodput(place: Place, names: list[str]) -> float:
    """Return the mean goodput of a flow with an unlimited transfer, in bit/s."""
    seen = place.seen
    columns = seen.result.columns("flows")
    starts = dict(zip(columns["flow"], columns["start_s"], strict=True))
    acked = seen.flows("acked_bytes", set(names))
    return float(np.mean(
        [8 * n / (seen.end_s - max(starts[flow], seen.begin_s)) for flow, n in acked.items()]
    ))  # fmt: skip


def per_ack_of(tcp: dict[str, Any]) -> float:
    """Return b, the number of segments per ACK, or 1 if the window growth does not depend on b."""
    if tcp["sender"]["congestion"].get("avoidance", "per-ack") != "per-ack":
        return 1.0
    return float(tcp["receiver"]["delayed_ack"].split()[0])


def round_trip(place: Place, names: list[str]) -> tuple[float, float]:
    """Return the means of the round-trip time and of the first retransmission timeout, in s."""
    series = place.recorded("rtt")
    of = np.isin(np.array(series["flow"]), names)
    rtt = np.asarray(series["rtt_s"])
    of &= ~np.isnan(rtt)
    if not of.any():
        raise NotApplicable("the run has no sample of the round-trip time of these flows")
    return float(rtt[of].mean()), float(np.asarray(series["rto_s"])[of].mean())


def _by_threshold(place: Place, table: dict[str, Any], names: list[str]) -> list[Row]:
    """Return the predicted and measured queue of DCTCP at a step marking threshold."""
    tcp = tcp_of(place, table)
    if tcp["sender"]["congestion"]["kind"] != "dctcp" or place.queue["kind"] != "threshold":
        return []
    if len(place.crossing) != 1:
        raise NotApplicable("the model of DCTCP's queue needs a link without other traffic")
    sender = tcp["sender"]
    packet = size(sender["mss"]) + size(sender["wire"]["data_header"])
    times, queue = place.queue_packets
    begins = place.seen.begin_s or SETTLED * times[-1]
    settled = queue[times > begins]
    if not len(settled):
        raise NotApplicable(f"the run has no sample of the queue after {begins:g} s")
    path = round_trip(place, names)[0] - place.mean_delay_s
    of = StepMarking(
        flows=len(names),
        packets_per_s=place.bps / 8 / packet,
        rtt_s=path,
        threshold=packets(place.queue["threshold"], packet),
    )
    marked, sent = (_sum(place, column, names) for column in ("marked_packets", "packets_sent"))
    when = f"from {begins:g} s on" if place.seen.begin_s else "second half of the run"
    assumed = f"{len(names)} synchronized flows, RTT {1e3 * path:.4g} ms without queueing; {when}"
    part = table["name"]
    return [
        Row("DCTCP", part, "maximum queue", "packets", of.most, float(settled.max()), assumed),
        Row("DCTCP", part, "minimum queue", "packets", max(0.0, of.least), float(settled.min())),
        Row("DCTCP", part, "share of marks α", "%", 100 * of.alpha, 100 * marked / sent,
            f"for g below {of.greatest_gain:.3g}"),
    ]  # fmt: skip
