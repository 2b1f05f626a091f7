"""Hosts of the testbed in place of the hosts that a scenario describes."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from aqmlab.scenario import normalize, with_keys

KEPT = (
    *("congestion.kind", "ecn.mode", "sack", "timestamps", "mss"),
    *("initial_window", "receive_window", "window.scaling", "window.tuning"),
    *("wire.data_header", "wire.control_header"),
)
"""TCP keys that a publication states and that the kernel can have."""
LINUX: dict[str, Any] = {"stack": "linux", "memory": {"segment": "linear"}}
"""TCP of the hosts of the testbed."""


def hosted(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario with the kernel's TCP; see :meth:`aqmlab.engine.Hosting.hosted`.

    The kernel has the values of `KEPT`. All other TCP keys of the scenario are left out. A value
    that the kernel lacks remains in the scenario, so the engine refuses it by its name.

    Examples
    --------
    >>> tcp = {"congestion": "reno", "sack": True, "rto": {"min": "1 s"}}
    >>> flow = {"name": "a", "from": "a", "to": "b", "traffic": {"kind": "bulk"}}
    >>> link = {"from": "a", "to": "b", "rate": "1 Mbit/s", "delay": "5 ms"}
    >>> scenario = {"duration": "5 s", "network": {"kind": "graph", "links": [link]}}
    >>> hosts = hosted(scenario | {"flows": [flow], "tcp": tcp})["tcp"]
    >>> hosts["stack"], hosts["sack"], "rto" in hosts
    ('linux', True, False)
    """
    complete = json.loads(normalize(scenario))
    flows = []
    for flow, written in zip(complete["flows"], scenario["flows"], strict=True):
        own = {key: with_keys({}, dict(_kept(flow[key]))) for key in ("tcp", "receiver_tcp")}
        rest = {key: value for key, value in written.items() if key not in own}
        flows.append(rest | {key: tcp for key, tcp in own.items() if tcp})
    return {
        **scenario, "flows": flows, "tcp": with_keys(LINUX, dict(_kept(complete["tcp"]))),
    }  # fmt: skip


def _kept(tcp: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of each key of a TCP table that the kernel has."""
    for path in KEPT:
        value: Any = tcp
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        if value is not None:
            yield path, value
