"""Features that a run over the TCP of a kernel supports, and the columns that it measures."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from aqmlab import _core
from aqmlab.engine.capabilities import Capabilities
from aqmlab.results import Columns, Plain, Result

CONGESTION = (
    *("reno", "cubic", "bbr", "dctcp", "vegas", "westwood", "htcp"),
    *("highspeed", "illinois", "scalable"),
)
"""Congestion controls that Linux has and that the simulator has too."""
TCP = {
    "stack": ["linux"],
    "congestion.kind": CONGESTION,
    "ecn.mode": ["off", "passive", "rfc3168", "ecn+unheeded", "dctcp"],
    "ecn.fallback": None,
    **dict.fromkeys(["sack", "timestamps", "mss", "initial_window"]),
    **dict.fromkeys(["window.scaling", "window.tuning", "memory.*", "send_buffer"]),
    "receive_window": None,
    "wire.*": None,
    "offload": ["none", "linux"],
}
"""TCP keys that become settings of the kernel, with their values."""
SERIES = (
    *("queue", "delays", "waits", "drops", "marks", "why", "transfers", "requests"),
    *("window", "delivery_rate", "rtt"),
)
"""Series that need only the network, the applications, and samples of TCP_INFO."""
NOT_MEASURED = {"flows": ("fast_retransmits",), "replies": ("fast_retransmits",)}
"""Columns that neither the packets nor the kernel show."""


def _keys() -> dict[str, Any]:
    """Return the keys that may differ from their defaults, with their allowed values."""
    free = ("duration", "time_limit", "warm_up", "phase_breaking.*", "network.*", "record.flows")
    captures = ("record.pcap.on", "record.pcap.keep")
    flows = ("count", "start", "traffic.*", "arrivals.*", "dscp")
    tables = ("tcp", "flows.*.tcp", "flows.*.receiver_tcp")
    return {
        **dict.fromkeys([*free, *captures, *(f"flows.*.{key}" for key in flows)]),
        **{f"{table}.{key}": values for table in tables for key, values in TCP.items()},
    }


@cache
def _defined() -> dict[str, list[str]]:
    """Return the columns of each table of a simulation, without the variables of its queues."""
    tables = json.loads(_core.columns())
    return {table: [column["name"] for column in of["columns"]] for table, of in tables.items()}


def _columns() -> dict[str, list[str]]:
    """Return the columns of each table that a run fills."""
    return {
        table: [name for name in columns if name not in NOT_MEASURED.get(table, ())]
        for table, columns in _defined().items()
    }


CAPABILITIES = Capabilities(series=SERIES, keys=_keys(), columns=_columns())
"""Capabilities of the testbed."""


def measured(
    engine: str,
    manifest: dict[str, Any],
    tables: Mapping[str, Columns | Plain],
    capabilities: Capabilities,
) -> Result:
    """Return the result of a run with only what the run measured.

    Parameters
    ----------
    engine : str
        Description of the back end.
    manifest : dict
        Manifest as the simulator's module writes it.
    tables : dict
        Tables as the simulator's module returns them.
    capabilities : Capabilities
        Capabilities of the back end.
    """
    defined = _defined()
    kept = {
        table: {
            name: column
            for name, column in columns.items()
            if name not in defined.get(table, ()) or capabilities.fills(table, name)
        }
        for table, columns in tables.items()
    }
    names = {table: list(columns) for table, columns in kept.items()}
    # Events and their simultaneity have a meaning only in a simulation.
    manifest = {k: v for k, v in manifest.items() if k not in ("events", "tie_share")}
    return Result(manifest | {"measured": names, "engine": engine}, kept)
