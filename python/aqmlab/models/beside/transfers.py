"""Transfers without end: what signals, or a threshold, say of their goodput and queue."""

from typing import Any

import numpy as np

from aqmlab.models import tcp_rates
from aqmlab.models.beside.place import Place, packets, size
from aqmlab.models.beside.row import NotHere, Row
from aqmlab.models.dctcp import StepMarking

RENO = ("reno",)
SCALABLE = ("dctcp", "prague", "scalable")
FEW = 10
"""Signals from which on their rate is worth something."""
SETTLED = 0.5
"""Part of a run after which DCTCP's queue is looked at."""


def rows(place: Place) -> tuple[list[Row], list[str]]:
    """Return the rows of every table of transfers, and why some have none.

    Raises
    ------
    NotHere
        If there is no such table.
    """
    found: list[Row] = []
    reasons: list[str] = []
    tables = [(t, names) for t, names in place.crossing if endless(t)]
    if not tables:
        raise NotHere("rates of TCP are known for transfers without end; there are none")
    if place.result.scenario["record"]["flows"] != "flow":
        raise NotHere('rates of TCP need a row a flow: record.flows = "flow"')
    for table, names in tables:
        for model in (_by_signals, _by_threshold):
            try:
                found += model(place, table, names)
            except NotHere as e:
                reasons.append(f"{table['name']}: {e}")
    return found, reasons


def endless(table: dict[str, Any]) -> bool:
    """Whether the flows of a table are transfers without end."""
    traffic = table["traffic"]
    return traffic["kind"] == "bulk" and traffic["size"] is None and not table["arrivals"]


def tcp_of(place: Place, table: dict[str, Any]) -> dict[str, Any]:
    """Return sender and receiver of a table of flows, resolved."""
    for group in place.result.tcp:
        if any(name.partition(" (")[0] == table["name"] for name in group["flows"]):
            return group
    raise NotHere("its TCP is not known")


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
                f"{signals:.0f} signals: the window or the link limits it",
            )
        ]
    p = signals / sent
    per_ack = per_ack_of(tcp)
    told = f"p = {100 * p:.3g} % of packets dropped or marked, RTT {1e3 * rtt:.4g} ms, as measured"

    def of_window(name: str, window: float, assumed: str) -> Row:
        predicted = 8e-6 * mss * min(window, most) / rtt
        return Row(name, part, "goodput of a flow", unit, predicted, 1e-6 * goodput, assumed)

    kind = control["kind"]
    if kind in RENO:
        law = tcp_rates.square_root(p, per_ack=per_ack)
        full = tcp_rates.pftk(p, rtt, rto, per_ack=per_ack, window=most)
        simple = tcp_rates.pftk_simple(p, rtt, rto, per_ack=per_ack, window=most)
        first = f"{told}; b = {per_ack:g}; no timeouts, losses evenly spaced"
        found = [of_window("square-root law", law, first)]
        if marked > signals / 2:
            return found  # PFTK has a loss behind every signal, and so timeouts
        return [
            *found,
            of_window("PFTK", full * rtt, f"timeouts of {rto:.3g} s; losses end a round trip"),
            of_window("PFTK, simplified", simple * rtt, "the same"),
        ]
    if kind == "cubic":
        window = tcp_rates.cubic(p, rtt, c=control.get("c", 0.4), left=control.get("beta", 0.7))
        return [of_window("CUBIC", window, f"{told}; losses evenly spaced")]
    if kind == "dctcp" and place.queue["kind"] == "threshold":
        return []  # :func:`_by_threshold`
    if kind in SCALABLE:
        return [of_window("W p = 2", tcp_rates.scalable(p), f"{told}; signals at random")]
    raise NotHere(f"no rate of {kind} at a {place.queue['kind']} queue is known here")


def _sum(place: Place, column: str, names: list[str]) -> float:
    """Return the sum of a count over flows."""
    return sum(place.seen.flows(column, set(names)).values())


def _goodput(place: Place, names: list[str]) -> float:
    """Return the mean goodput of flows without end, in bit/s."""
    seen = place.seen
    columns = seen.result.columns("flows")
    starts = dict(zip(columns["flow"], columns["start_s"], strict=True))
    acked = seen.flows("acked_bytes", set(names))
    return float(np.mean(
        [8 * n / (seen.end_s - max(starts[flow], seen.begin_s)) for flow, n in acked.items()]
    ))  # fmt: skip


def per_ack_of(tcp: dict[str, Any]) -> float:
    """Return b: the segments that arrive for each growth of the window by a segment a window."""
    if tcp["sender"]["congestion"].get("avoidance", "per-ack") != "per-ack":
        return 1.0
    return float(tcp["receiver"]["delayed_ack"].split()[0])


def round_trip(place: Place, names: list[str]) -> tuple[float, float]:
    """Return the mean round trip and the mean first timeout of flows, in s."""
    series = place.recorded("rtt")
    of = np.isin(np.array(series["flow"]), names)
    rtt = np.asarray(series["rtt_s"])
    of &= ~np.isnan(rtt)
    if not of.any():
        raise NotHere("none of its round trips was measured")
    return float(rtt[of].mean()), float(np.asarray(series["rto_s"])[of].mean())


def _by_threshold(place: Place, table: dict[str, Any], names: list[str]) -> list[Row]:
    """DCTCP through a threshold: the swing of the queue."""
    tcp = tcp_of(place, table)
    if tcp["sender"]["congestion"]["kind"] != "dctcp" or place.queue["kind"] != "threshold":
        return []
    if len(place.crossing) != 1:
        raise NotHere("DCTCP's swing is known for flows that are alone on the link")
    sender = tcp["sender"]
    packet = size(sender["mss"]) + size(sender["wire"]["data_header"])
    times, queue = place.queue_packets
    begins = place.seen.begin_s or SETTLED * times[-1]
    settled = queue[times > begins]
    if not len(settled):
        raise NotHere(f"the queue was not sampled after {begins:g} s")
    path = round_trip(place, names)[0] - place.mean_delay_s
    of = StepMarking(
        flows=len(names),
        packets_per_s=place.bps / 8 / packet,
        rtt_s=path,
        threshold=packets(place.queue["threshold"], packet),
    )
    marked, sent = (_sum(place, column, names) for column in ("marked_packets", "packets_sent"))
    when = f"from {begins:g} s on" if place.seen.begin_s else "second half of the run"
    told = f"{len(names)} flows in step, RTT {1e3 * path:.4g} ms without queue; {when}"
    part = table["name"]
    return [
        Row("DCTCP", part, "greatest queue", "packets", of.most, float(settled.max()), told),
        Row("DCTCP", part, "least queue", "packets", max(0.0, of.least), float(settled.min())),
        Row("DCTCP", part, "share of marks α", "%", 100 * of.alpha, 100 * marked / sent,
            f"for g below {of.greatest_gain:.3g}"),
    ]  # fmt: skip
