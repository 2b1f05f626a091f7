"""Engines run scenarios: texts in; (index, finished or failed) out, as they complete.

An engine is one class with `build`, `capabilities` and `run` (:class:`Engine`);
docs/how-to/add-an-engine.md. :class:`Simulator` is the packet-level simulator, :class:`Recorded`
plays recorded runs back. :class:`Network` gives an engine the hosts, links and flows of a
scenario, :class:`Filling` an empty result.
"""

from aqmlab.engine.capabilities import EVERYTHING, Capabilities
from aqmlab.engine.filling import Filling
from aqmlab.engine.named import engine_named
from aqmlab.engine.network import Flow, Link, Network
from aqmlab.engine.protocol import Engine, Failed, Limiting, Progress, within_limits
from aqmlab.engine.recorded import Recorded
from aqmlab.engine.simulator import Simulator, available_cores

__all__ = [
    "EVERYTHING",
    "Capabilities",
    "Engine",
    "Failed",
    "Filling",
    "Flow",
    "Limiting",
    "Link",
    "Network",
    "Progress",
    "Recorded",
    "Simulator",
    "available_cores",
    "engine_named",
    "within_limits",
]
