"""Comparison of the stack ``linux`` with a real kernel (``tests/kernel``)."""

from collections.abc import Iterable

from kernel import compare
from validation.row import Row

NAME = "Linux"
ABOUT = """\
aqmlab's stack `linux` is compared with Linux 6.12.117, which ran in virtual time. A setting of up
to 10 Mbit/s has ten runs of the kernel, half of them with HZ = 100 and half with HZ = 1000. A
faster setting has five runs of the kernel with HZ = 1000. aqmlab has the same number of runs. The
hosts have no offloads, except in the settings named `wire`, where the sender has a segmentation
offload; aqmlab has `offload = "linux"` in these settings.
[`tests/kernel`](../tests/kernel/README.md) describes the network and the measurement."""


def missing() -> str | None:
    """Return None, because the measurements are in the repository."""
    return None


def version() -> str:
    """Return the version of the kernel that was measured."""
    return "Linux 6.12.117 (User-Mode Linux, virtual time)"


def rows() -> Iterable[Row]:
    """Run every configuration in aqmlab and yield its rows."""
    for hosts in (compare.OFF, compare.WIRE):
        for config in compare.measured(hosts):
            yield from compare.compare(config, hosts)
