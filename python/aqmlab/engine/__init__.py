"""Engines: programs that run scenarios and return their results.

An engine is a class with the attributes `build`, `capabilities` and `run` (:class:`Engine`); see
docs/how-to/add-an-engine.md. :class:`Simulator` is the packet-level simulator, and
:class:`Recorded` returns the results of recorded runs. :class:`Network` describes the hosts, links
and flows of a scenario to an engine. An engine writes its results into a :class:`Filling`.
"""

from aqmlab.engine.capabilities import EVERYTHING, Capabilities
from aqmlab.engine.filling import Filling
from aqmlab.engine.named import engine_named
from aqmlab.engine.network import Flow, Link, Network
from aqmlab.engine.protocol import (
    Capturing,
    Engine,
    Failed,
    Hosting,
    Limiting,
    Programmable,
    Progress,
    within_limits,
)
from aqmlab.engine.recorded import Recorded
from aqmlab.engine.simulator import Simulator, available_cores, engine_with

__all__ = [
    "EVERYTHING",
    "Capabilities",
    "Capturing",
    "Engine",
    "Failed",
    "Filling",
    "Flow",
    "Hosting",
    "Limiting",
    "Link",
    "Network",
    "Programmable",
    "Progress",
    "Recorded",
    "Simulator",
    "available_cores",
    "engine_named",
    "engine_with",
    "within_limits",
]
