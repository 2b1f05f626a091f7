"""Tests that compare whole runs with closed forms; each test names the source of its formula."""

from math import sqrt

import pytest

import aqmlab


@pytest.mark.parametrize(
    ("rate", "delay", "threshold", "flows"),
    [(100, 5, 40, 1), (400, 5, 40, 2), (1000, 2, 65, 2), (1000, 5, 65, 4), (1000, 10, 100, 10)],
)
def test_the_queue_of_dctcp_swings_as_in_the_fluid_model(
    rate: int, delay: int, threshold: int, flows: int
) -> None:
    """Formulas of DCTCP for N synchronized flows and a threshold K (alizadeh2010dctcp, §3.3).

    With W* = (C·RTT + K)/N, α satisfies α²(1 - α/4) = (2W* + 1)/(W* + 1)². The maximum queue is
    K + N. The queue oscillates with the amplitude A = N(W* + 1)α/2, which equation 9 simplifies to
    √(2N(C·RTT + K))/2. The formulas require a small g (equation 15), and this test has g = 1/64.
    The link rate C is in packets of 1500 B per second, and `delay` is the one-way delay in ms.
    """
    scenario = {
        "duration": "12 s",
        "phase_breaking": {"start": "1 ms"},
        "network": {
            "kind": "dumbbell",
            "rate": f"{rate} Mbit/s",
            "delay": f"{delay} ms",
            "left_hosts": flows,
            "left_rate": "10 Gbit/s",
            "left_delay": "10 us",
            "right_hosts": flows,
            "right_rate": "10 Gbit/s",
            "right_delay": "10 us",
            "queue": {
                "kind": "threshold",
                "limit": "1000 packets",
                "threshold": f"{threshold} packets",
            },
        },
        "tcp": {
            "mss": "1460 B",
            "congestion": {"kind": "dctcp", "g": 1 / 64},
            "ecn": "dctcp",
            "recovery": "sack",
            "sack": True,
            "delayed_ack": "1 packets",
            "receive_window": "100 MB",
        },
        "flows": [
            {"from": f"left-{i}", "to": f"right-{i}", "traffic": {"kind": "bulk"}}
            for i in range(flows)
        ],
        "record": {"series": ["queue"], "interval": "0.1 ms", "links": ["left>right"]},
    }
    queue = aqmlab.run(scenario).series("queue")
    settled = queue.loc[queue["time_s"] > 8, "queue_packets"]
    round_trip = 2 * (delay + 0.02) * 1e-3
    in_pipe = rate * 1e6 * round_trip / (8 * 1500)
    window = (in_pipe + threshold) / flows
    share = (2 * window + 1) / (window + 1) ** 2
    alpha = sqrt(share)
    for _ in range(20):
        alpha = sqrt(share / (1 - alpha / 4))
    swing = flows * (window + 1) * alpha / 2
    assert settled.max() == pytest.approx(threshold + flows, abs=2)
    assert settled.max() - settled.min() == pytest.approx(swing, abs=2)
