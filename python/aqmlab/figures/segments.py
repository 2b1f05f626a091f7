"""What the time-sequence graphs show, from the tables of a run.

The names are those of tcptrace (Ostermann 2000): segments, the line of ACKs, the edge of the
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
"""The series that each graph draws; the first is needed."""


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
        If `source` is a file and no valid scenario.
    OSError
        If it cannot be read.
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
    """Return the name of a flow that is given by its name or its number, or of the first.

    Raises
    ------
    ValueError
        If there is no such flow.
    """
    names = list(result.columns("flows")["flow"])
    if flow is None:
        return str(names[0])
    if flow in names:
        return flow
    if flow.isdecimal() and int(flow) < len(names):
        return str(names[int(flow)])
    known = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
    raise ValueError(f"--flow {flow!r} is no flow of this run, which has {known}")


def rows_of(result: "Result", series: str, flow: str, *, reply: bool = False) -> "pd.DataFrame":
    """Return the rows of a flow in a recorded series: of its data, or of the data that comes back.

    Raises
    ------
    ValueError
        If the series or the flow was not recorded.
    """
    if series not in result.tables:
        raise ValueError(
            f"the run did not record {series!r}; ask for it with "
            f'[record] series = ["{series}"], or --set record.series=\'["{series}"]\''
        )
    incidents = series in ("drops", "marks")
    name = f"reply_{series}" if reply and not incidents else series
    if name not in result.tables:
        raise ValueError("no flow that was recorded has data that comes back")
    table = result.series(name)
    rows = table[table["flow"] == flow]
    if incidents:
        return rows[rows["reply"] == reply]
    if rows.empty:
        raise ValueError(_nothing_of(result, series, flow, list(table["flow"].unique())))
    return rows


def _nothing_of(result: "Result", series: str, flow: str, recorded: list[str]) -> str:
    """Return why a series has no rows of a flow, and which flows it has."""
    several = "connections" in result.tables and flow in result.columns("connections")["flow"]
    traced = result.scenario["record"]["traced"]
    if several:
        why = "its connections come and go, and only flows of one connection are recorded"
    elif traced and flow not in traced:
        why = "record.traced names other flows"
    else:
        why = "it sent nothing"
    known = ", ".join(recorded[:10]) + (", …" if len(recorded) > 10 else "")
    has = f"give --flow one of {known}" if known else "no flow of this run is recorded"
    return f"{series!r} has nothing of the flow {flow!r}: {why}; {has}"


def duplicate_acks(segments: "pd.DataFrame") -> "np.ndarray":
    """Return which rows of a flow's segments are duplicate ACKs.

    A duplicate ACK (RFC 5681 §2) arrives while data is outstanding, has no data, neither SYN nor
    FIN, and the acknowledgement number and the window of the one before.
    """
    import numpy as np

    received = (segments["direction"] == "received").to_numpy()
    flags = {text: text.split() for text in segments["flags"].unique()}  # a handful
    ends = {text: not {"SYN", "FIN", "RST"}.isdisjoint(said) for text, said in flags.items()}
    marked = segments["flags"].map(ends).to_numpy(dtype=bool)
    length = segments["bytes"].to_numpy()
    fin = (
        segments["flags"]
        .map({text: "FIN" in said for text, said in flags.items()})
        .to_numpy(dtype=bool)
    )
    end = np.where(received, 0, segments["seq"].to_numpy() + length + fin)
    outstanding = np.maximum.accumulate(end) > segments["ack"].to_numpy()
    ack = segments["ack"].where(received).ffill().shift()
    window = segments["window_bytes"].where(received).ffill().shift()
    same = (segments["ack"] == ack) & (segments["window_bytes"] == window)
    found: np.ndarray = received & ~marked & (length == 0) & outstanding & same.to_numpy()
    return found


def is_accurate(segments: "pd.DataFrame") -> bool:
    """Return whether a flow uses Accurate ECN, by its handshake (RFC 9768 §3.1, table 2)."""
    opening = segments[segments["flags"].str.contains("SYN")]
    said = [set(flags.split()) & {"AE", "CWR", "ECE"} for flags in opening["flags"]]
    answers = [s for s, way in zip(said, opening["direction"], strict=True) if way == "received"]
    offered = any("AE" in s for s in said)
    return offered and any(s & {"AE", "CWR"} for s in answers)
