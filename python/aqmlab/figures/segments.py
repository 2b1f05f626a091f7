"""Data for the graphs of `aqmlab plot`, from the tables of a run.

The graphs show segments, retransmissions, ACKs, duplicate ACKs, SACK blocks and the edge of the
advertised window with the terms of tcptrace (Ostermann 2000).
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import pandas as pd

    from aqmlab.figures.flow import Times
    from aqmlab.results import Result
    from aqmlab.scenario import Overrides

SERIES = {
    "sequence": ["segments", "drops", "marks"],
    "window": ["window"],
    "rtt": ["rtt"],
    "queue": ["queue"],
}
"""Series that each graph draws. A run must have the first series in the list of a graph; the other
series are optional.
"""
SAMPLED = ("window", "queue")
"""Graphs whose series are sampled, not recorded at every change."""
SAMPLES = 4000
"""Minimum number of samples on the time axis of a graph of a sampled series."""
MOST_ROWS = 2_000_000
"""Maximum number of rows of a sampled series, which limits the number of samples."""
AROUND = (3, 7)
"""Round-trip times before and after the first event, which a sequence graph shows by default."""
OPENING = 12
"""Round-trip times that a sequence graph shows by default of a flow without drops and marks."""
WHOLE = 400
"""Maximum number of rows of a flow that a sequence graph shows completely by default."""


def load(
    source: Path,
    graph: str,
    overrides: Overrides = (),
    times: Times = (None, None),
    link: str | None = None,
) -> Result:
    """Read a run from its folder, or run a scenario and record the series that a graph draws.

    The simulator samples queues and windows at intervals. The interval of the run is such that the
    graph shows at least `SAMPLES` samples. If the scenario does not determine the length of the run
    or the link, a first run without series determines them.

    Parameters
    ----------
    source : Path
        Folder of a run, or a scenario file.
    graph : str
        Name of the graph, a key of `SERIES`.
    overrides : mapping or iterable of (str, value)
        Changes of the scenario, as for :func:`aqmlab.run`.
    times : (float or None, float or None)
        Start and end of the time axis in s; default: the whole run.
    link : str, optional
        Name of the link whose queue is drawn; default: the busiest link.

    Raises
    ------
    ScenarioError
        If `source` is a file but not a valid scenario.
    ValueError
        If the network does not have the link.
    OSError
        If `source` cannot be read.
    """
    from aqmlab.engine import Network
    from aqmlab.experiment.runs import run_quietly
    from aqmlab.results import Result, busiest_link
    from aqmlab.scenario import normalize, seconds

    if source.is_dir():
        return Result.read(source)
    text = normalize(source, overrides=overrides)
    scenario = json.loads(text)
    record = scenario["record"]
    known = [one.name for one in Network.of(text).links] if link is not None else []
    if link is not None and link not in known:
        raise ValueError(f"--link {link!r} is not a link; choose from {', '.join(known[:10])}")
    if graph not in SAMPLED:
        record["series"] += [s for s in SERIES[graph] if s not in record["series"]]
        return run_quietly(scenario)
    duration = scenario["duration"]
    if duration is None or (graph == "queue" and link is None):
        first = run_quietly(scenario | {"record": record | {"series": []}})
        link, lasts = link or busiest_link(first), float(first.manifest["simulated_s"])
    else:
        lasts = seconds(duration)
    begin, end = times
    shown = max(0.0, min(lasts, lasts if end is None else end) - (begin or 0.0)) or lasts
    columns = 1 if graph == "queue" else sum(flow["count"] for flow in scenario["flows"])
    interval = max(shown / SAMPLES, lasts * columns / MOST_ROWS)
    if interval < seconds(record["interval"]):
        record["interval"] = f"{max(1, int(1e6 * interval))} us"
    record["series"] = SERIES[graph]
    record["links"] = [link] if graph == "queue" else record["links"]
    return run_quietly(scenario)


def first_event(
    runs: Mapping[str, Result], flow: str | None, *, reply: bool = False
) -> tuple[Times, str]:
    """Return the times that a sequence graph shows by default, and their description.

    The times are from 3 round-trip times before the first drop or mark of the flow in any of the
    runs to 7 round-trip times after it. Without drops and marks, they are the first 12 round-trip
    times. A flow with at most 400 rows is shown completely.
    """
    events: list[tuple[float, str, float]] = []
    begins: list[tuple[float, float]] = []
    for run in runs.values():
        name = flow_name(run, flow)
        rows = rows_of(run, "segments", name, reply=reply)
        if len(rows) <= WHOLE and len(runs) == 1:
            return (None, None), ""
        begins.append((float(rows["time_s"].min()), _round_trip(rows, math.inf)))
        for series, what in (("drops", "drop"), ("marks", "mark")):
            if series in run.tables and len(of := rows_of(run, series, name, reply=reply)):
                at = float(of["time_s"].min())
                events.append((at, what, _round_trip(rows, at)))
    begin, longest = min(at for at, _ in begins), max(trip for _, trip in begins)
    if not events:
        end = begin + OPENING * longest
        return (begin, end), f"; its first {OPENING} round trips, without drops and marks"
    at, what, trip = min(events)
    before, after = AROUND
    return (max(begin, at - before * trip), at + after * trip), f"; around the first {what}"


def _round_trip(rows: pd.DataFrame, at: float) -> float:
    """Return the last round-trip time in s that a flow's segments show before the time `at`.

    The round trip of the opening is that of the SYN; a flow without ACKs has a round trip of 0.1 s.
    """
    sent, acks = (rows[rows["direction"] == way] for way in ("sent", "received"))
    acks = acks[acks["time_s"] <= at]
    if acks.empty or sent.empty:
        return 0.1
    ack = acks.iloc[0 if math.isinf(at) else -1]
    acked = sent[(sent["time_s"] < ack["time_s"]) & (sent["seq"] + sent["bytes"] <= ack["ack"])]
    begin = acked["time_s"].max() if len(acked) else sent["time_s"].min()
    return max(float(ack["time_s"] - begin), 1e-6)


def flow_name(result: Result, flow: str | None) -> str:
    """Return the name of the flow with a given name or number; for None, that of the first flow.

    Raises
    ------
    ValueError
        If the run does not have this flow.
    """
    names = list(result.columns("flows")["flow"])
    if flow is None:
        return str(names[0])
    if flow in names:
        return flow
    if flow.isdecimal() and int(flow) < len(names):
        return str(names[int(flow)])
    known = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
    raise ValueError(f"--flow {flow!r} is not a flow of this run; the flows are {known}")


def rows_of(result: Result, series: str, flow: str, *, reply: bool = False) -> pd.DataFrame:
    """Return the rows of a flow in a recorded series, for its forward or its reverse data.

    Raises
    ------
    ValueError
        If the run did not record the series or the flow.
    """
    if series not in result.tables:
        raise ValueError(
            f"the run did not record the series {series!r}, which the graph draws; add it to "
            f"record.series in the scenario, for example with --set record.series='[\"{series}\"]'"
        )
    incidents = series in ("drops", "marks")
    name = f"reply_{series}" if reply and not incidents else series
    if name not in result.tables:
        raise ValueError(
            "no recorded flow has data in the reverse direction; use traffic with responses, or "
            "leave out --reverse"
        )
    table = result.series(name)
    rows = table[table["flow"] == flow]
    if incidents:
        return rows[rows["reply"] == reply]
    if rows.empty:
        raise ValueError(_nothing_of(result, series, flow, list(table["flow"].unique())))
    return rows


def _nothing_of(result: Result, series: str, flow: str, recorded: list[str]) -> str:
    """Return an error message with the reason why a series has no rows of a flow."""
    several = "connections" in result.tables and flow in result.columns("connections")["flow"]
    traced = result.scenario["record"]["traced"]
    if several:
        why = (
            "this flow opens several connections, and the series has only flows with one connection"
        )
        remedy = (
            "add a flow with one connection to the scenario, such as bulk traffic without arrivals"
        )
    elif traced and flow not in traced:
        why = "record.traced names other flows"
        remedy = f"add {flow!r} to record.traced"
    else:
        why = "this flow sent no data"
        remedy = "choose a flow that sends data during the run"
    if recorded:
        known = ", ".join(recorded[:10]) + (", …" if len(recorded) > 10 else "")
        remedy = f"give --flow one of {known}"
    return f"the series {series!r} has no rows of the flow {flow!r}, because {why}; {remedy}"


def duplicate_acks(segments: Mapping[str, Any]) -> np.ndarray:
    """Return a mask of the rows of a flow's segments that are duplicate ACKs.

    An ACK is a duplicate ACK (RFC 5681 §2) under three conditions. The ACK arrives while data is
    outstanding. The ACK has no data, no SYN and no FIN. The acknowledgement number and the window
    are the same as in the previous ACK.

    Parameters
    ----------
    segments : pandas.DataFrame or mapping
        Rows of one flow in the series `segments`, or its columns by name.
    """
    import numpy as np

    received = np.asarray(segments["direction"]) == "received"
    texts = list(segments["flags"])
    flags = {text: set(text.split()) for text in set(texts)}  # few combinations
    marked, fin = (
        np.array([not of.isdisjoint(flags[text]) for text in texts], dtype=bool)
        for of in ({"SYN", "FIN", "RST"}, {"FIN"})
    )
    length, ack, window = (np.asarray(segments[name]) for name in ("bytes", "ack", "window_bytes"))
    end = np.where(received, 0, np.asarray(segments["seq"]) + length + fin)
    outstanding = np.maximum.accumulate(end) > ack
    last = np.maximum.accumulate(np.where(received, np.arange(len(texts)), -1))
    before = np.append(-1, last[:-1])  # row of the ACK before each row, or -1
    same = (before >= 0) & (ack == ack[before]) & (window == window[before])
    duplicate: np.ndarray = received & ~marked & (length == 0) & outstanding & same
    return duplicate


def is_accurate(segments: pd.DataFrame) -> bool:
    """Return True if the handshake of a flow negotiated Accurate ECN (RFC 9768 §3.1, table 2)."""
    opening = segments[segments["flags"].str.contains("SYN")]
    bits = [set(flags.split()) & {"AE", "CWR", "ECE"} for flags in opening["flags"]]
    answers = [b for b, way in zip(bits, opening["direction"], strict=True) if way == "received"]
    offered = any("AE" in b for b in bits)
    return offered and any(b & {"AE", "CWR"} for b in answers)
