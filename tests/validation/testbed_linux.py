"""Comparison of the testbed with the measurements of a Linux kernel in ``tests/kernel``."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from aqmlab.engine.simulator import available_cores
from aqmlab.engine.testbed import KernelTestbed
from kernel import compare
from validation.row import Row
from validation.testbed import missing, version

__all__ = ["ABOUT", "NAME", "missing", "rows", "version"]

NAME = "Testbed and Linux"
ABOUT = """\
The testbed `testbed:kernel` runs the settings of the section "Linux" again, so "aqmlab" means the
testbed in this section. Both sides have the TCP of Linux 6.12. In the measurement the kernel also
had the network: HTB, the queue and netem. In the testbed the network is that of aqmlab. A
difference is therefore a difference of the network, or of the devices of the hosts. The testbed
runs each setting once, and the kernel was measured five or ten times, so random losses and the
draws of RED also cause differences."""


def rows() -> Iterable[Row]:
    """Run every configuration on the testbed, and yield one row per measure."""
    measured = {hosts: compare.measured(hosts) for hosts in (compare.OFF, compare.WIRE)}
    jobs = [(config, hosts) for hosts, configs in measured.items() for config in configs]

    def run(job: tuple[str, str]) -> compare.Numbers:
        config, hosts = job
        return compare.run(config, 0, hosts, engine=KernelTestbed())

    with ThreadPoolExecutor(available_cores()) as pool:
        numbers = dict(zip(jobs, pool.map(run, jobs), strict=True))
    for (config, hosts), ours in numbers.items():
        yield from compare.rows(config, hosts, [ours], measured[hosts][config], {})
