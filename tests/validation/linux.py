"""Comparison of the stack ``linux`` with a real Linux kernel (``tests/kernel``)."""

from collections.abc import Iterable

from kernel import compare
from validation.row import Row

NAME = "Linux"
ABOUT = """\
The stack `linux` of aqmlab is compared with the kernel Linux 6.12.117, which ran in virtual time.
Each setting with a link of up to 10 Mbit/s was measured in ten runs of the kernel, five with HZ =
100 and five with HZ = 1000. Each setting with a link of 100 Mbit/s or more was measured in five
runs of the kernel with HZ = 1000. aqmlab simulates each setting in as many runs as the kernel. The
hosts have no offloads, except in the settings whose names contain `wire`. In the settings with
`wire`, the sender of the kernel has a segmentation offload, and aqmlab has `offload = "linux"`.
[`tests/kernel`](../tests/kernel/README.md) describes the network and the measurement.

The name of a setting contains the queue, and in some settings also the rate, the round-trip time,
the use of ECN (`ecn1`), the congestion control and the number of flows (`n2`). The limit of the
queue `pfifohalf` is half of the bandwidth-delay product."""


def missing() -> str | None:
    """Return None, because the comparison needs only aqmlab and the data in tests/kernel."""
    return None


def version() -> str:
    """Return the version of the measured kernel."""
    return "Linux 6.12.117 (User-Mode Linux, virtual time)"


def rows() -> Iterable[Row]:
    """Run every configuration in aqmlab, and yield one row per measure."""
    for hosts in (compare.OFF, compare.WIRE):
        for config in compare.measured(hosts):
            yield from compare.compare(config, hosts)
