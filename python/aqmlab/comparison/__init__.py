"""Comparison of queues under the same traffic (``aqmlab compare``).

The guide is docs/how-to/compare-queues.md.
"""

from aqmlab.comparison.comparison import Comparison, compare
from aqmlab.comparison.queues import Arm

__all__ = ["Arm", "Comparison", "compare"]
