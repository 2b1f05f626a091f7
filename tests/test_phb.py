"""Tests of DiffServ's per-hop behaviours (queue kind "phb") on an overloaded link of 10 Mbit/s."""

from typing import Any

import pytest

import aqmlab

RATES = {"EF": 1, "CS6": 0.5, "AF11": 2, "AF13": 8, "AF22": 8, "DF": 8, "LE": 8}
"""Sending rate per codepoint, in Mbit/s."""


@pytest.fixture(scope="module")
def delivered() -> dict[str, float]:
    """Return the received rate per codepoint in Mbit/s, and the maximum delay and drops of EF."""
    flows: list[dict[str, Any]] = [
        {
            "name": dscp,
            "from": "left-0",
            "to": "right-0",
            "dscp": dscp,
            "traffic": {
                "kind": "poisson",
                "rate": f"{rate} Mbit/s",
                "payload": "1000 B",
                "lasts": "20 s",
            },
        }
        for dscp, rate in RATES.items()
    ]
    access = {"left_rate": "1 Gbit/s", "right_rate": "1 Gbit/s", "left_delay": "0 s"}
    network = {"kind": "dumbbell", "rate": "10 Mbit/s", "delay": "1 ms", "right_delay": "0 s"}
    queue = {"kind": "phb", "limit": "100 packets"}
    run = aqmlab.run({"network": network | access | {"queue": queue}, "flows": flows})
    table = run.table("datagrams").set_index("flow")
    received = {dscp: float(table.loc[dscp, "received_bytes"]) * 8 / 20 / 1e6 for dscp in RATES}
    ef = table.loc["EF"]
    return received | {
        "EF delay": float(ef["longest_delay_s"]),
        "EF lost": float(ef["lost_packets"]),
    }


def test_ef_waits_only_for_the_packet_in_service_and_for_ef(delivered: dict[str, float]) -> None:
    """RFC 3246 §2: packets of EF are sent at the configured rate of EF or faster."""
    assert delivered["EF lost"] == 0
    assert delivered["EF delay"] < 0.001 + 8 * 1028 * 8 / 10e6


def test_network_control_precedes_everything_except_ef(delivered: dict[str, float]) -> None:
    """RFC 2474 §4.2.2.2: packets with CS6 and CS7 precede packets with the default codepoint."""
    assert delivered["CS6"] == pytest.approx(0.5, rel=0.1)


def test_af_classes_and_the_default_have_equal_shares(delivered: dict[str, float]) -> None:
    """RFC 2597 §2: AF classes and default traffic get equal shares of what EF and CS6 leave."""
    share = (10 * 1000 / 1028 - delivered["EF"] - delivered["CS6"]) / 3
    for rate in (delivered["AF11"] + delivered["AF13"], delivered["AF22"], delivered["DF"]):
        assert rate == pytest.approx(share, rel=0.02)


def test_af13_is_dropped_before_af11(delivered: dict[str, float]) -> None:
    """RFC 2597 §2: within a class, a higher drop precedence is dropped first."""
    assert delivered["AF11"] == pytest.approx(2, rel=0.05)
    assert delivered["AF13"] < 0.2 * RATES["AF13"]


def test_lower_effort_is_not_served_while_other_classes_use_the_link(
    delivered: dict[str, float],
) -> None:
    """RFC 8622 §4: only 100 lower-effort packets leave, after all other traffic has ended."""
    assert delivered["LE"] * 20e6 / 8 <= 103 * 1000
