"""Translation of queues between Linux's tc and aqmlab.

:func:`read` translates a line of tc to a queue of aqmlab, with the numbers, units, defaults and
rounding of tc and of the kernel. :func:`write` translates a queue of aqmlab to commands of tc.

The sources are the manual pages of iproute2, the code of tc in iproute2 7.1 and the code of Linux
6.12; each file names its sources.
"""

from aqmlab.tc.translation import KINDS, NAMES, Translation, read, write
from aqmlab.words import LineError

__all__ = ["KINDS", "NAMES", "LineError", "Translation", "read", "write"]
