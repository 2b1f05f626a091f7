"""Data of the time-sequence graphs, from the tables of a run.

The terms are those of tcptrace (Ostermann 2000): segments, the line of ACKs, the edge of the
advertised window, retransmissions, duplicate ACKs, SACK blocks.
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
"""Series of each graph. The first one is required."""


def load(source: Path, graph: str, overrides: Sequence[tuple[str, str]] = ()) -> "Result":
    """Read a run from its folder, or run a scenario with the series that a graph needs.

    Parameters
    ----------
    source : Path
        A folder or a scenario.
    graph : str
        The graph.
    overrides : sequence of (str, str)
        Keys of the scenario that are changed, as in :func:`aqmlab.scenario.normalize`.

    Raises
    ------
    ScenarioError
        If `source` is a file but not a valid scenario.
    OSError
        If `source` cannot be read.
    """
    from aqmlab.experiment import run
    from aqmlab.results import Result
    from aqmlab.scenario import normalize

    if source.is_dir():
        return Result.read(source)
    scenario = json.loads(normalize(source, overrides=overrides))
    recorded = scenario["record"]["series"]
    recorded += [s for s in SERIES[graph] if s not in recorded]
    return run(scenario)


def flow_name(result: "Result", flow: str | None) -> str:
    """Return the name of a flow given by name or number; None stands for the first flow.

    Raises
    ------
    ValueError
        If the run has no such flow.
    """
    names = list(result.columns("flows")["flow"])
    if flow is None:
        return str(names[0])
    if flow in names:
        return flow
    if flow.isdecimal() and int(flow) < len(names):
        return str(names[int(flow)])
    known = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
    raise ValueError(f"--flow {flow!r} is not a flow of this run, which has {known}")


def rows_of(result: "Result", series: str, flow: str, *, reply: bool = False) -> "pd.DataFrame":
    """Return the rows of a flow in a recorded series, of its forward or its reverse data.

    Raises
    ------
    ValueError
        If the run did not record the series or the flow.
    """
    if series not in result.tables:
        raise ValueError(
            f"the run did not record {series!r}; record it with "
            f'[record] series = ["{series}"], or --set record.series=\'["{series}"]\''
        )
    incidents = series in ("drops", "marks")
    name = f"reply_{series}" if reply and not incidents else series
    if name not in result.tables:
        raise ValueError("no recorded flow has reverse data; give a flow with responses")
    table = result.series(name)
    rows = table[table["flow"] == flow]
    if incidents:
        return rows[rows["reply"] == reply]
    if rows.empty:
        raise ValueError(_nothing_of(result, series, flow, list(table["flow"].unique())))
    return rows


def _nothing_of(result: "Result", series: str, flow: str, recorded: list[str]) -> str:
    """Return the reason why a series has no rows of a flow, and the remedy."""
    several = "connections" in result.tables and flow in result.columns("connections")["flow"]
    traced = result.scenario["record"]["traced"]
    if several:
        why = "it opens several connections, and the series has only flows of one connection"
        remedy = (
            "add a flow of one connection to the scenario, such as bulk traffic without arrivals"
        )
    elif traced and flow not in traced:
        why = "record.traced names other flows"
        remedy = f"add {flow!r} to record.traced"
    else:
        why = "the flow sent no data"
        remedy = "give a flow that sends data during the run"
    if recorded:
        known = ", ".join(recorded[:10]) + (", …" if len(recorded) > 10 else "")
        remedy = f"give --flow one of {known}"
    return f"the series {series!r} has no rows of the flow {flow!r}, because {why}; {remedy}"


def duplicate_acks(segments: "pd.DataFrame") -> "np.ndarray":
    """Return a mask of the rows of a flow's segments that are duplicate ACKs.

    A duplicate ACK (RFC 5681 §2) arrives while data is outstanding. A duplicate ACK has neither
    data nor SYN nor FIN, and repeats the acknowledgement number and the window of the previous ACK.
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
