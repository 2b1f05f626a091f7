"""Tests that compare the stack ``linux`` with a real Linux kernel (``tests/kernel``)."""

from statistics import mean

import pytest

from kernel import compare
from validation.row import MISSES

RUNS = [
    (config, hosts)
    for hosts in (compare.OFF, compare.WIRE)
    for config in compare.measured(hosts)
    if not config.startswith("1g_")
]
"""Configurations of up to 100 Mbit/s. ``make validate`` also runs configurations of 1 Gbit/s."""


@pytest.mark.parametrize(("config", "hosts"), RUNS)
def test_the_stack_linux_misses_only_where_compare_lists_a_cause(config: str, hosts: str) -> None:
    rows = compare.compare(config, hosts)
    assert len(rows) in (4, 5)
    causes = {
        (setting, compare.MEASURES[name][0])
        for setting, name in compare.CAUSES
        if setting == rows[0].setting
    }
    assert {(row.setting, row.measure) for row in rows if row.verdict == MISSES} == causes


def test_the_send_buffer_limits_a_long_fast_path() -> None:
    """Without a limit of the send buffer, a flow at 1 Gbit/s and 40 ms would have 796 Mbit/s."""
    config = "1g_40ms_pfifohalf_cubic_n1"
    for hosts, goodput_bps, queue_ms in (
        (compare.OFF, 350.6e6, 1.34),
        (compare.WIRE, 554.1e6, 3.22),
    ):
        numbers = compare.run(config, 0, hosts)
        assert numbers.goodput_bps == pytest.approx(goodput_bps, rel=0.02)
        assert numbers.queue_ms == pytest.approx(queue_ms, rel=0.05)


def test_pie_updates_at_the_timer_ticks_of_each_kernel() -> None:
    """PIE updates every 30 ms at HZ = 100 and every 16 ms at HZ = 1000.

    The kernel with HZ = 100 has a mean queue of 16.6 ms and 5 retransmissions. The kernel with
    HZ = 1000 has a mean queue of 16.0 ms and 42 retransmissions. With HZ = 100 the number of
    retransmissions also depends on the time between an update of PIE and the start of the flows.
    """
    config = "pie_ecn1_n4"
    retransmitted = []
    for hz in (100, 1000):
        kernel = compare.measured(kernel_hz=hz)[config]
        ours = [compare.run(config, repetition, kernel_hz=hz) for repetition in range(5)]
        assert len(kernel) == 5
        for name, bound in (("queue_ms", 0.03), ("marked", 0.05)):
            simulated, expected = (
                mean(getattr(run, name) for run in runs) for runs in (ours, kernel)
            )
            assert simulated == pytest.approx(expected, rel=bound), (hz, name)
        retransmitted.append(mean(run.retransmitted for run in ours))
    assert retransmitted[0] < retransmitted[1] / 2
