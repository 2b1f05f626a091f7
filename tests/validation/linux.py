"""The stack ``linux`` beside a real kernel (``tests/kernel``)."""

from collections.abc import Iterable

from kernel import compare
from validation.row import Row

NAME = "Linux"
ABOUT = (
    "The stack `linux` beside Linux 6.12.117 in virtual time. Of the configurations up to "
    "10 Mbit/s the kernel has ten runs, half with HZ = 100 and half with HZ = 1000; of the faster "
    "ones it has five with HZ = 1000. Ours are as many. Hosts had no offloads, or (`wire`) a "
    'segmentation offload at the sender, where ours have `offload = "linux"`. '
    "[`tests/kernel`](../tests/kernel/README.md) describes how it was measured."
)


def missing() -> str | None:
    """Return None: the measurements are in the repository."""
    return None


def version() -> str:
    """Return the version of the kernel that was measured."""
    return "Linux 6.12.117 (User-Mode Linux, virtual time)"


def rows() -> Iterable[Row]:
    """Run every configuration and yield its rows."""
    for hosts in (compare.OFF, compare.WIRE):
        for config in compare.measured(hosts):
            yield from compare.compare(config, hosts)
