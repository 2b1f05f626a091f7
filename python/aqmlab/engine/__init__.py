"""What runs scenarios: texts in; (index, finished or failed) out, as they complete.

An engine is one class with a `build` and a `run` (:class:`Engine`); docs/how-to/add-an-engine.md.
:class:`Simulator` is the packet-level simulator, :class:`Recorded` plays back what was recorded.
"""

from aqmlab.engine.protocol import Engine, Failed, Limiting, Progress
from aqmlab.engine.recorded import Recorded
from aqmlab.engine.simulator import Simulator, available_cores

__all__ = ["Engine", "Failed", "Limiting", "Progress", "Recorded", "Simulator", "available_cores"]
