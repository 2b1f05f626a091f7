"""Reduction of a run's result to the values that tables, figures and claims read."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

from aqmlab.measures import Measure
from aqmlab.results import Columns, Result
from aqmlab.studies.red_wired_testbed.scenarios import SEGMENT_BYTES

if TYPE_CHECKING:
    import numpy as np

FASTEST, SLOWEST, THIRD = "fastest", "slowest", "third"
PLACES = (FASTEST, SLOWEST, THIRD)
NOTHING = math.nan
COLUMNS_OF_ACKS = ("time_s", "direction", "bytes", "resent", "ack", "seq", "flags", "window_bytes")
"""Columns of the series `segments` that :class:`Acks` reads."""


@dataclass(frozen=True)
class Acks:
    """Quantities of a flow's segments and ACKs, as recorded at the sender's host.

    Attributes
    ----------
    transmit_s : float
        Time in s from the first to the last segment with data, as the program tcptrace computes it.
    duplicates, triples : int
        Number of duplicate ACKs, and number of ACKs with at least three duplicates.
    slow_start_s : float
        Time in s from the first segment to the first retransmission; NaN without a retransmission.
    """

    transmit_s: float = NOTHING
    duplicates: float = NOTHING
    triples: float = NOTHING
    slow_start_s: float = NOTHING


@dataclass(frozen=True)
class Transfer:
    """Measures of a TCP transfer: times in s, and numbers of segments.

    Attributes
    ----------
    elapsed_s : float
        Time from the SYN to the ACK of the FIN.
    leaves : float
        The ssthresh in segments that the sender's host stores; NaN if the host does not store
        ssthresh, or if the run did not record the window.
    """

    name: str
    start_s: float
    elapsed_s: float
    handshake_s: float
    bytes: int
    resent: int
    resent_bytes: int
    timeouts: int
    closed_s: float
    acks: Acks = Acks()
    leaves: float = NOTHING

    @property
    def throughput(self) -> float:
        """User data divided by the elapsed time, in byte/s."""
        return self.bytes / self.elapsed_s


@dataclass(frozen=True)
class Outcome:
    """Reduced result of a run: TCP transfers, and CBR packets with their one-way delays.

    If the run recorded drops and segments for a graph, `result` is its whole result.
    """

    transfers: tuple[Transfer, ...]
    cbr_received: float
    cbr_sent: float
    cbr_delay_s: float = NOTHING
    cbr_p99_delay_s: float = NOTHING
    result: Result | None = field(default=None, repr=False, compare=False)

    def at(self, place: str) -> Transfer:
        """Return the faster or the slower long flow, or the third flow.

        Raises
        ------
        ValueError
            If the run does not have three flows.
        """
        return self._by_place[place]

    @cached_property
    def _by_place(self) -> dict[str, Transfer]:
        first, second, third = self.transfers
        fast, slow = sorted((first, second), key=lambda flow: flow.elapsed_s)
        return {FASTEST: fast, SLOWEST: slow, THIRD: third}

    @property
    def tcp(self) -> Transfer:
        """Measures of the first TCP flow."""
        return self.transfers[0]

    @property
    def exception(self) -> bool:
        """True if the third flow takes longer than the faster of the other two flows."""
        return self.at(THIRD).elapsed_s > self.at(FASTEST).elapsed_s


def reduce(result: Result) -> Outcome:
    """Reduce the result of a run to the values that tables, figures and claims read."""
    flows = result.columns("flows")
    acks, leaves = _acks(result), _leaves(result)
    transfers = tuple(
        Transfer(
            name=name,
            start_s=float(flows["start_s"][i]),
            elapsed_s=float(flows["closed_s"][i]) - float(flows["start_s"][i]),
            handshake_s=float(flows["established_s"][i]) - float(flows["start_s"][i]),
            bytes=int(flows["acked_bytes"][i]),
            resent=int(flows["retransmitted_segments"][i]),
            resent_bytes=int(flows["retransmitted_bytes"][i]),
            timeouts=int(flows["timeouts"][i]),
            closed_s=float(flows["closed_s"][i]),
            acks=acks.get(name, Acks()),
            leaves=leaves.get(name, NOTHING),
        )
        for i, name in enumerate(map(str, flows["flow"]))
    )
    cbr = result.columns("datagrams") if "datagrams" in result.tables else None
    outcome = Outcome(transfers, NOTHING, NOTHING)
    if cbr is not None:
        outcome = Outcome(
            transfers,
            float(cbr["received_packets"][0]),
            float(cbr["sent_packets"][0]),
            float(cbr["mean_delay_s"][0]),
            float(cbr["p99_delay_s"][0]),
        )
    drawn = {"drops", "segments"} <= set(result.tables)
    return replace(outcome, result=result) if drawn else outcome


def _acks(result: Result) -> dict[str, Acks]:
    """Return the segment and ACK quantities of each flow; duplicate ACKs only with three flows."""
    if "segments" not in result.tables:
        return {}
    import numpy as np

    segments = result.columns("segments")
    of_rows = np.asarray(segments["flow"])
    # pandas takes longer for these few rows than a run.
    columns = {name: np.asarray(segments[name]) for name in COLUMNS_OF_ACKS}
    names = np.unique(of_rows)
    return {
        str(name): _acks_of(
            {key: column[of_rows == name] for key, column in columns.items()},
            counted=len(names) == len(PLACES),
        )
        for name in names
    }


def _acks_of(rows: dict[str, np.ndarray], *, counted: bool) -> Acks:
    """Return the segment and ACK quantities of one flow; duplicate ACKs only if `counted`."""
    import numpy as np

    from aqmlab.figures.segments import duplicate_acks

    data = (rows["direction"] == "sent") & (rows["bytes"] > 0)
    times, again = rows["time_s"][data], rows["time_s"][data & (rows["resent"] == 1)]
    acks = Acks(
        transmit_s=float(times[-1] - times[0]),
        slow_start_s=float(again[0] - times[0]) if len(again) else NOTHING,
    )
    if not counted:
        return acks
    duplicate = duplicate_acks(rows)
    _, in_a_row = np.unique(rows["ack"][duplicate], return_counts=True)
    return replace(acks, duplicates=int(duplicate.sum()), triples=int((in_a_row >= 3).sum()))


def _leaves(result: Result) -> dict[str, float]:
    """Return the ssthresh that Linux 2.4 would store for each flow, or NaN if it stores none."""
    if "window" not in result.tables:
        return {}
    window, last = result.columns("window"), {}
    ended = dict(zip(map(str, result.columns("flows")["flow"]),
                     result.columns("flows")["completed_s"], strict=True))  # fmt: skip
    for i, name in enumerate(window["flow"]):
        if window["time_s"][i] < ended[str(name)]:
            last[str(name)] = i
    return {name: _remembers(window, i) for name, i in last.items()}


def _remembers(window: Columns, i: int) -> float:
    cwnd, ssthresh = (int(float(window[f"{key}_bytes"][i]) / SEGMENT_BYTES)
                      if math.isfinite(float(window[f"{key}_bytes"][i])) else 10**6
                      for key in ("cwnd", "ssthresh"))  # fmt: skip
    return max(cwnd // 2, ssthresh) if cwnd > ssthresh else NOTHING


def left_by(run: Outcome) -> float:
    """Return the ssthresh that is stored at the end of a run.

    The ssthresh is from the last flow that closes, among the flows that store an ssthresh.
    """
    storing = [f for f in run.transfers if math.isfinite(f.leaves)]
    return max(storing, key=lambda f: f.closed_s).leaves if storing else NOTHING


def _of(place: str, name: str, unit: str, head: str, better: int = 0) -> Measure[Outcome]:
    of_acks = name in {field.name for field in fields(Acks)}

    def read(run: Outcome) -> float:
        flow = run.at(place)
        return float(getattr(flow.acks if of_acks else flow, name))

    return Measure(name, unit, read, better, head, part=place)


COLUMNS = {
    "data_xmit_time_s": ("transmit_s", "s", "Data transmit time (s)"),
    "elapsed_time_s": ("elapsed_s", "s", "Elapsed time (s)"),
    "throughput_bytes_per_s": ("throughput", "byte/s", "Throughput (byte/s)"),
    "retx_packets": ("resent", "packets", "Retransmitted packets"),
    "retx_bytes": ("resent_bytes", "bytes", "Retransmitted bytes"),
    "dup_acks": ("duplicates", "ACKs", "Duplicate ACKs"),
    "triple_dupacks": ("triples", "times", "Triple duplicate ACKs"),
}
"""Columns of the published tables: for each, an attribute of a transfer, its unit and its head."""


@cache
def measure(place: str, column: str) -> Measure[Outcome]:
    """Return the measure for a column of the published tables and one of the three flows."""
    return _of(place, *COLUMNS[column])


@cache
def handshake(place: str) -> Measure[Outcome]:
    """Return a measure: the duration of the three-way handshake of one of the three flows."""
    return _of(place, "handshake_s", "s", "Three-way handshake (s)")


ELAPSED: Measure[Outcome] = Measure(
    "elapsed_s", "s", lambda run: run.tcp.elapsed_s, -1, "TCP: elapsed time (s)"
)
RESENT: Measure[Outcome] = Measure(
    "resent", "packets", lambda run: run.tcp.resent, -1, "TCP: retransmitted packets"
)
RECEIVED: Measure[Outcome] = Measure(
    "cbr_received", "packets", lambda run: run.cbr_received, 1, "CBR: packets received"
)
THROUGHPUT: Measure[Outcome] = Measure(
    "throughput", "byte/s", lambda run: run.tcp.throughput, 1, "TCP: throughput (byte/s)"
)
NOMINAL_BPS = 140_000
"""Link rate in bit/s by which the thesis computes utilizations (a kbit has 1000 bits)."""
TCP_SHARE: Measure[Outcome] = Measure(
    "utilization", "1", lambda run: 8 * run.tcp.throughput / NOMINAL_BPS, 0, "TCP: utilization"
)
CBR_SHARE: Measure[Outcome] = Measure(
    "utilization", "1",
    lambda run: 8 * 132 * run.cbr_received / ((run.cbr_sent - 1) / 50) / NOMINAL_BPS, 0,
    "CBR: utilization",
)  # fmt: skip
