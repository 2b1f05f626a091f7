"""Testbed: scenarios over the TCP of a Linux kernel.

The clients and servers of a scenario are sockets of a kernel, and their packets cross the links,
queues, conditioners and impairments of the simulator. :class:`KernelTestbed` boots a kernel of its
own for each run, in virtual time. :class:`HostTestbed` uses the kernel of this machine, in real
time.
"""

from aqmlab.engine.testbed.capabilities import CAPABILITIES
from aqmlab.engine.testbed.host import HostTestbed
from aqmlab.engine.testbed.kernel import KernelTestbed

__all__ = ["CAPABILITIES", "HostTestbed", "KernelTestbed"]
