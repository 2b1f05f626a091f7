"""The preset ``linux`` beside configurations measured on a real kernel (``tests/kernel``)."""

import pytest

from kernel import compare
from validation.row import MISSES

RUNS = [
    (config, hosts)
    for hosts in (compare.OFF, compare.WIRE)
    for config in compare.measured(hosts)
    if not config.startswith("1g_")
]
"""Configurations of up to 100 Mbit/s; ``make validate`` runs those of 1 Gbit/s, too."""


@pytest.mark.parametrize(("config", "hosts"), RUNS)
def test_the_preset_linux_does_what_the_kernel_does(config: str, hosts: str) -> None:
    rows = compare.compare(config, hosts)
    assert len(rows) in (4, 5)
    causes = {
        (setting, compare.MEASURES[name][0])
        for setting, name in compare.CAUSES
        if setting == rows[0].setting
    }
    assert {(row.setting, row.measure) for row in rows if row.verdict == MISSES} == causes


def test_the_send_buffer_limits_a_long_fast_path() -> None:
    """Of one flow over 1 Gbit/s and 40 ms; a sender without limit has 796 Mbit/s and no queue."""
    config = "1g_40ms_pfifohalf_cubic_n1"
    for hosts, goodput_bps, queue_ms in (
        (compare.OFF, 350.6e6, 1.34),
        (compare.WIRE, 554.1e6, 3.22),
    ):
        numbers = compare.simulated(config, 0, hosts)
        assert numbers.goodput_bps == pytest.approx(goodput_bps, rel=0.02)
        assert numbers.queue_ms == pytest.approx(queue_ms, rel=0.05)
