"""What the papers of queues show as their point, on TCP traffic over a bottleneck of 15 Mbit/s."""

from functools import cache
from typing import Any

import pytest

import aqmlab

RTT = 0.100
"""Propagation there and back, in seconds."""


def scenario(queue: dict[str, Any], flows: int, series: str) -> dict[str, Any]:
    """Return a scenario of endless downloads through a queue with room for 0.8 s."""
    return {
        "title": "The point of a queue",
        "seed": 3,
        "duration": "60 s",
        "network": {
            "kind": "dumbbell",
            "rate": "15 Mbit/s",
            "delay": "40 ms",
            "queue": {"limit": "1000 packets"} | queue,
            "left_hosts": 1,
            "left_rate": "1 Gbit/s",
            "left_delay": "5 ms",
            "right_hosts": 1,
            "right_rate": "1 Gbit/s",
            "right_delay": "5 ms",
        },
        "flows": [
            {
                "name": "D{i}",
                "count": flows,
                "from": "left-0",
                "to": "right-0",
                "traffic": {"kind": "bulk"},
            }
        ],
        "record": {"interval": "10 ms", "series": [series], "links": ["left>right"]},
    }


@cache
def standing(kind: str, flows: int, *settings: tuple[str, Any]) -> float:
    """Return the mean of what waits after 20 s, in packets of 1500 B."""
    queue = aqmlab.run(scenario({"kind": kind} | dict(settings), flows, "queue")).series("queue")
    return float(queue.loc[queue["time_s"] > 20, "queue_bytes"].mean()) / 1500


@pytest.mark.parametrize("flows", [10, 30, 100])
@pytest.mark.parametrize("kind", ["pie", "pi2", "dualpi2"])
def test_the_target_delay_is_held_whatever_the_load(kind: str, flows: int) -> None:
    """RFC 8033 §4.2, RFC 9332 §2.4: 15 ms, for 10 to 100 flows."""
    delay = standing(kind, flows) * 1500 * 8 / 15e6
    assert delay == pytest.approx(0.015, rel=0.2)


def test_adaptive_red_holds_its_queue_where_red_wanders() -> None:
    """Floyd, Gummadi & Shenker 2001, §5: the same thresholds, maxp fixed and adapted."""
    red: tuple[tuple[str, Any], ...] = (
        ("minth", "12.5 packets"), ("maxth", "37.5 packets"), ("maxp", 0.1),
        ("wq", 0.0008), ("idle_packet_size", "1500 B"),
    )  # fmt: skip
    adaptive = (("target_delay", "20 ms"), ("mean_packet_size", "1500 B"))
    fixed = [standing("red", n, *red) for n in (10, 30, 60, 100)]
    held = [standing("adaptive_red", n, *adaptive) for n in (10, 30, 60, 100)]
    assert max(fixed) > 2 * min(fixed)
    assert max(held) < 1.5 * min(held)
    # From 30 flows on maxp is not at its bound any more, and the queue near 20 ms: 25 packets.
    assert held[1:] == pytest.approx([25] * 3, rel=0.2)


def test_a_sparse_flow_does_not_wait_for_the_others() -> None:
    """RFC 8290 §4.2, §6: short transfers beside ten downloads; two round trips, hardly more."""
    durations = {}
    for kind in ("drop_tail", "codel", "fq_codel"):
        both = scenario({"kind": kind}, 10, "transfers")
        both["flows"].append(
            {
                "name": "S",
                "from": "left-0",
                "to": "right-0",
                "arrivals": {"interval": "200 ms"},
                "traffic": {"kind": "bulk", "size": "1000 B"},
            }
        )
        all_of_them = aqmlab.run(both).series("transfers")
        chosen = (all_of_them["flow"] == "S") & all_of_them["start_s"].between(20, 57)
        durations[kind] = all_of_them.loc[chosen, "duration_s"]
    waits = {kind: float(d.median()) - 2 * RTT for kind, d in durations.items()}
    assert 0 < waits["fq_codel"] < 0.004
    assert waits["codel"] > 2 * waits["fq_codel"]
    assert waits["drop_tail"] > 100 * waits["fq_codel"]
