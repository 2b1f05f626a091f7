"""Reduction of a run's result to the values that tables, figures and claims read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.experiment.tuning import Shares
from aqmlab.measures import Measure
from aqmlab.results import Columns, NotMeasuredError, Result
from aqmlab.scenario import seconds
from aqmlab.statistics import jain
from aqmlab.studies.rfc2884.scenarios import (
    BEGINS_S,
    BOTTLENECK,
    ECN_OFF,
    ECN_ON,
    PACKET_BYTES,
    PIPE_BPS,
    TRANSACTIONS,
)

if TYPE_CHECKING:
    from collections.abc import Callable

NOTHING = math.nan


@dataclass(frozen=True, slots=True)
class Flow:
    """Counts and rates of the data that the server sent to one client.

    Attributes
    ----------
    goodput_bps : float
        Goodput in bit/s, since the start of the competing flows.
    transactions : int
        Number of completed transactions.
    rate : float
        Number of completed transactions per second; NaN for a bulk transfer.
    seconds : float
        Mean time of a transaction in s, from the request to the last byte; NaN for a bulk transfer.
    segments, resent : int
        Numbers of segments with data, and of retransmitted segments, that the server sent.
    timeouts, fast : int
        Numbers of retransmission timeouts and of fast retransmits of the server; `fast` is NaN if
        the engine cannot measure it, as over a kernel.
    client_timeouts : int
        Number of timeouts of the client, mostly because the response to its SYN or FIN was lost.
    marks, drops : int
        Numbers of marked and of dropped packets of the server.
    completed : bool
        True if a transfer ended.
    windows, several : int
        Numbers of windows of a bulk transfer with at least one dropped segment, and with at least
        two.
    """

    goodput_bps: float
    transactions: int
    rate: float
    seconds: float
    segments: int
    resent: int
    timeouts: int
    fast: float
    client_timeouts: int
    marks: int
    drops: int
    completed: bool
    windows: int = 0
    several: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """Reduced result of a run: the ECN flow, the non-ECN flow, and sums over all flows.

    Attributes
    ----------
    on, off : Flow
        The competing flows: one with ECN, one without ECN.
    jain : float
        Jain's index of all flows since the start of the competing flows; NaN if it was not
        recorded.
    marks, drops : int
        Number of marked packets of all ECN flows, and of dropped packets of all non-ECN flows.
    ecn_drops : int
        Number of dropped packets of all ECN flows.
    ecn_packets, other_packets : int
        Numbers of packets that the server sent in all ECN flows, and in all other flows.
    shares : Shares or None
        Shares of time of RED's average below, in and above the region, since the start of the
        competing flows; None for a queue without an average.
    queue : float
        Mean queue in packets, since the start of the competing flows.
    """

    on: Flow
    off: Flow
    jain: float
    marks: int
    drops: int
    ecn_drops: int
    ecn_packets: int
    other_packets: int
    shares: Shares | None
    queue: float


def reduce(result: Result) -> Outcome:
    """Reduce the result of a run to the values that tables, figures and claims read."""
    flows = result.columns("flows")
    names = list(map(str, flows["flow"]))
    ends_s = float(result.manifest["simulated_s"])
    transacting = "exchanges" in result.tables
    on, off = (
        _transactions(result, name, ends_s) if transacting else _transfer(result, name)
        for name in (ECN_ON, ECN_OFF)
    )
    with_ecn = [i for i, name in enumerate(names) if "rfc3168" in name or name == ECN_ON]
    without = [i for i in range(len(names)) if i not in with_ecn]
    shares, queue = _queue(result)
    return Outcome(
        on,
        off,
        _fairness(result, names, ends_s) if "window" in result.tables else NOTHING,
        int(np.asarray(flows["marked_packets"])[with_ecn].sum()),
        int(np.asarray(flows["dropped_packets"])[without].sum()),
        int(np.asarray(flows["dropped_packets"])[with_ecn].sum()),
        int(np.asarray(flows["packets_sent"])[with_ecn].sum()),
        int(np.asarray(flows["packets_sent"])[without].sum()),
        shares,
        queue,
    )


def _queue(result: Result) -> tuple[Shares | None, float]:
    """Return the shares of time with RED's average below, between and above the thresholds.

    The function also returns the mean queue in packets. Samples before `BEGINS_S` do not count.
    """
    if "queue" not in result.tables:
        return None, NOTHING
    queue = result.columns("queue")
    after = np.asarray(queue["time_s"]) >= BEGINS_S
    mean = float(np.asarray(queue["queue_packets"])[after].mean())
    average = np.asarray(queue["average_packets"])[after]
    (link,) = [one for one in result.scenario["network"]["links"]
               if f"{one['from']}>{one['to']}" == BOTTLENECK]  # fmt: skip
    leaf = link["queue"]["classes"][0]["queue"]
    if leaf["kind"] != "red":
        return None, mean
    minth, maxth = (float(leaf[key].split()[0]) for key in ("minth", "maxth"))
    return Shares.of(average, minth, maxth), mean


def _transfer(result: Result, name: str) -> Flow:
    flows: Columns = result.columns("flows")
    i = list(flows["flow"]).index(name)
    windows, several = _windows_with_drops(result, name) if "drops" in result.tables else (0, 0)

    def count(column: str) -> int:
        return int(flows[column][i])

    return Flow(
        goodput_bps=float(flows["goodput_bps"][i]),
        transactions=0,
        rate=NOTHING,
        seconds=NOTHING,
        segments=count("segments_sent"),
        resent=count("retransmitted_segments"),
        timeouts=count("timeouts"),
        fast=_fast_retransmits(flows, name),
        client_timeouts=0,
        marks=count("marked_packets"),
        drops=count("dropped_packets"),
        completed=math.isfinite(float(flows["completed_s"][i])),
        windows=windows,
        several=several,
    )


def _fast_retransmits(table: Columns, name: str) -> float:
    """Return the fast retransmits of a flow; NaN if the engine cannot measure them."""
    try:
        return float(table["fast_retransmits"][list(table["flow"]).index(name)])
    except NotMeasuredError:
        return NOTHING


def _windows_with_drops(result: Result, name: str) -> tuple[int, int]:
    """Return the numbers of windows of a flow with at least one drop, and with at least two drops.

    A drop belongs to the window of an earlier drop if it comes within one round trip and has a
    higher sequence number. The round trip is the propagation delay and the mean queueing delay.
    """
    drops = result.columns("drops")
    own = [i for i, flow in enumerate(drops["flow"]) if flow == name and not drops["reply"][i]]
    links = result.scenario["network"]["links"]
    delay_s = max(seconds(str(link["delay"])) for link in links)
    round_trip_s = 2 * delay_s + (_queue(result)[1] + 1) * 8 * PACKET_BYTES / PIPE_BPS
    windows = several = 0
    first_s, first_seq, counted = -math.inf, 0, False
    for i in own:
        time_s, seq = float(drops["time_s"][i]), int(drops["seq"][i])
        if time_s - first_s < round_trip_s and seq > first_seq:
            several += not counted
            counted = True
            continue
        windows += 1
        first_s, first_seq, counted = time_s, seq, False
    return windows, several


def _transactions(result: Result, name: str, ends_s: float) -> Flow:
    def row(table: str) -> Callable[[str], float]:
        columns = result.columns(table)
        i = list(columns["flow"]).index(name)
        return lambda column: float(columns[column][i])

    exchanged, replies, asked = row("exchanges"), row("replies"), row("flows")
    lasts_s = ends_s - asked("start_s")
    return Flow(
        goodput_bps=8 * exchanged("response_bytes") / lasts_s,
        transactions=int(exchanged("completed")),
        rate=exchanged("completed") / lasts_s,
        seconds=exchanged("mean_duration_s"),
        segments=int(replies("segments_sent")),
        resent=int(replies("retransmitted_segments")),
        timeouts=int(replies("timeouts")),
        fast=_fast_retransmits(result.columns("replies"), name),
        client_timeouts=int(asked("timeouts")),
        marks=int(replies("marked_packets")),
        drops=int(replies("dropped_packets")),
        completed=True,
    )


def _fairness(result: Result, names: list[str], ends_s: float) -> float:
    """Return Jain's index of all flows, since the start of the competing flows."""
    window = result.columns("window")
    then = np.isclose(np.asarray(window["time_s"]), BEGINS_S)
    had = dict(zip(np.asarray(window["flow"])[then], np.asarray(window["acked_bytes"])[then],
                   strict=True))  # fmt: skip
    flows = result.columns("flows")
    starts = np.maximum(np.asarray(flows["start_s"], dtype=float), BEGINS_S)
    acked = np.asarray(flows["acked_bytes"], dtype=float)
    before = np.array([float(had.get(name, 0)) for name in names])
    return float(jain((acked - before) / (ends_s - starts)))


def of_flow(which: str, name: str, unit: str, read: Callable[[Flow], float], better: int = 0,
            scale: float = 1.0) -> Measure[Outcome]:  # fmt: skip
    """Return a measure of the ECN flow (`which` is "on") or of the non-ECN flow ("off")."""

    def of(run: Outcome) -> float:
        return float(read(getattr(run, which)))

    return Measure(name, unit, of, better, part=which, scale=scale)


def metric(kind: str, which: str) -> Measure[Outcome]:
    """Return the measure that the memo compares: a flow's throughput or transaction rate."""
    if kind == TRANSACTIONS:
        return of_flow(which, "transaction_rate", "1/s", lambda f: f.rate, 1)
    return of_flow(which, "throughput", "kbit/s", lambda f: f.goodput_bps, 1, 1e-3)


JAIN: Measure[Outcome] = Measure("jain_index", "1", lambda run: run.jain, 1)
BELOW: Measure[Outcome] = Measure(
    "average_below_minth", "% of time", lambda run: _share(run, "below"), scale=100
)
WITHIN: Measure[Outcome] = Measure(
    "average_in_region", "% of time", lambda run: _share(run, "inside"), scale=100
)
ABOVE: Measure[Outcome] = Measure(
    "average_above_maxth", "% of time", lambda run: _share(run, "above"), scale=100
)


def _share(run: Outcome, which: str) -> float:
    return NOTHING if run.shares is None else float(getattr(run.shares, which))
