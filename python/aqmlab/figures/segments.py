"""Data for the graphs of `aqmlab plot`, from the tables of a run.

The graphs show segments, retransmissions, ACKs, duplicate ACKs, SACK blocks and the edge of the
advertised window with the terms of tcptrace (Ostermann 2000).
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from aqmlab.results import Result

SERIES = {
    "sequence": ["segments", "drops", "marks"],
    "window": ["window"],
    "rtt": ["rtt"],
}
"""Series that each graph draws. A run must have the first series in the list of a graph; the other
series are optional.
"""


def load(source: Path, graph: str, overrides: Sequence[tuple[str, str]] = ()) -> "Result":
    """Read a run from its folder, or run a scenario and record the series that a graph draws.

    Parameters
    ----------
    source : Path
        Folder of a run, or a scenario file.
    graph : str
        Name of the graph, a key of `SERIES`.
    overrides : sequence of (str, str)
        Changes of the scenario, as for :func:`aqmlab.scenario.normalize`.

    Raises
    ------
    ScenarioError
        If `source` is a file but not a valid scenario.
    OSError
        If `source` cannot be read.
    """
    from aqmlab.experiment.runs import run_quietly
    from aqmlab.results import Result
    from aqmlab.scenario import normalize

    if source.is_dir():
        return Result.read(source)
    scenario = json.loads(normalize(source, overrides=overrides))
    recorded = scenario["record"]["series"]
    recorded += [s for s in SERIES[graph] if s not in recorded]
    return run_quietly(scenario)


def flow_name(result: "Result", flow: str | None) -> str:
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


def rows_of(result: "Result", series: str, flow: str, *, reply: bool = False) -> "pd.DataFrame":
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


def _nothing_of(result: "Result", series: str, flow: str, recorded: list[str]) -> str:
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


def duplicate_acks(segments: "pd.DataFrame") -> "np.ndarray":
    """Return a mask of the rows of a flow's segments that are duplicate ACKs.

    An ACK is a duplicate ACK (RFC 5681 §2) under three conditions. The ACK arrives while data is
    outstanding. The ACK has no data, no SYN and no FIN. The acknowledgement number and the window
    are the same as in the previous ACK.
    """
    import numpy as np

    received = (segments["direction"] == "received").to_numpy()
    flags = {text: text.split() for text in segments["flags"].unique()}  # few combinations
    ends = {text: not {"SYN", "FIN", "RST"}.isdisjoint(words) for text, words in flags.items()}
    marked = segments["flags"].map(ends).to_numpy(dtype=bool)
    length = segments["bytes"].to_numpy()
    fin = (
        segments["flags"]
        .map({text: "FIN" in words for text, words in flags.items()})
        .to_numpy(dtype=bool)
    )
    end = np.where(received, 0, segments["seq"].to_numpy() + length + fin)
    outstanding = np.maximum.accumulate(end) > segments["ack"].to_numpy()
    ack = segments["ack"].where(received).ffill().shift()
    window = segments["window_bytes"].where(received).ffill().shift()
    same = (segments["ack"] == ack) & (segments["window_bytes"] == window)
    duplicate: np.ndarray = received & ~marked & (length == 0) & outstanding & same.to_numpy()
    return duplicate


def is_accurate(segments: "pd.DataFrame") -> bool:
    """Return True if the handshake of a flow negotiated Accurate ECN (RFC 9768 §3.1, table 2)."""
    opening = segments[segments["flags"].str.contains("SYN")]
    bits = [set(flags.split()) & {"AE", "CWR", "ECE"} for flags in opening["flags"]]
    answers = [b for b, way in zip(bits, opening["direction"], strict=True) if way == "received"]
    offered = any("AE" in b for b in bits)
    return offered and any(b & {"AE", "CWR"} for b in answers)
