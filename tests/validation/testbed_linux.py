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
repeats a setting up to 10 Mbit/s ten times, a setting with 100 Mbit/s three times, and a setting
with 1 Gbit/s twice."""
RUNS = {1e7: 10, 1e8: 3, 1e9: 2}
"""Number of runs, by the largest rate of the bottleneck in bit/s, in ascending order."""


def rows() -> Iterable[Row]:
    """Run every configuration on the testbed, and yield one row per measure."""
    settings = compare.settings()
    measured = {hosts: compare.measured(hosts) for hosts in (compare.OFF, compare.WIRE)}
    jobs = [
        (config, hosts, repetition)
        for hosts, configs in measured.items()
        for config in configs
        for repetition in range(next(n for r, n in RUNS.items() if settings[config].rate_bps <= r))
    ]

    def run(job: tuple[str, str, int]) -> compare.Numbers:
        config, hosts, repetition = job
        return compare.run(config, repetition, hosts, engine=KernelTestbed())

    with ThreadPoolExecutor(available_cores()) as pool:
        numbers = dict(zip(jobs, pool.map(run, jobs), strict=True))
    for hosts, configs in measured.items():
        for config, theirs in configs.items():
            ours = [n for (c, h, _), n in numbers.items() if (c, h) == (config, hosts)]
            yield from compare.rows(config, hosts, ours, theirs, {})
