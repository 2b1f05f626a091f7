"""Comparison of queues under the same traffic (``aqmlab compare``).

The guide is docs/how-to/compare-queues.md.
"""

from aqmlab.compare.comparison import Comparison, compare
from aqmlab.compare.queues import Arm

__all__ = ["Arm", "Comparison", "compare"]
