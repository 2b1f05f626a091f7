"""The preset ``linux`` beside eight configurations measured on a real kernel (``tests/kernel``)."""

from statistics import mean

import pytest

from kernel import compare
from validation.row import HOLDS


def test_the_preset_linux_does_what_the_kernel_does() -> None:
    rows = [row for config in compare.measured() for row in compare.compare(config)]
    assert len(rows) == 33
    labels = {(config, compare.MEASURES[name][0]) for config, name in compare.CAUSES}
    assert {(row.setting, row.measure) for row in rows if row.verdict != HOLDS} == labels


def test_pie_has_the_timer_of_each_kernel() -> None:
    """PIE updates every 30 ms at HZ = 100 and every 16 ms at HZ = 1000.

    The kernels have mean queues of 16.6 and 16.0 ms, and 5 and 42 retransmissions. With HZ = 100
    retransmissions also depend on where in a period the flows start.
    """
    config = "pie_ecn1_n4"
    retransmitted = []
    for hz in (100, 1000):
        kernel = compare.measured(hz)[config]
        ours = [compare.simulated(config, repetition, hz) for repetition in range(5)]
        assert len(kernel) == 5
        for name, bound in (("queue_ms", 0.03), ("marked", 0.05)):
            found, expected = (mean(getattr(run, name) for run in runs) for runs in (ours, kernel))
            assert found == pytest.approx(expected, rel=bound), (hz, name)
        retransmitted.append(mean(run.retransmitted for run in ours))
    assert retransmitted[0] < retransmitted[1] / 2
