"""The same traffic through several queues: ``aqmlab compare``; docs/how-to/compare-queues.md."""

from aqmlab.compare.comparison import Comparison, compare
from aqmlab.compare.queues import Arm

__all__ = ["Arm", "Comparison", "compare"]
