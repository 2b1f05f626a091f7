"""The per-hop behaviours of DiffServ (kind "phb"): all of them want a link of 10 Mbit/s."""

from typing import Any

import pytest

import aqmlab

RATES = {"EF": 1, "CS6": 0.5, "AF11": 2, "AF13": 8, "AF22": 8, "DF": 8, "LE": 8}
"""What each codepoint sends, in Mbit/s."""


@pytest.fixture(scope="module")
def delivered() -> dict[str, float]:
    """What each codepoint gets, in Mbit/s; of EF also the longest delay in s, and losses."""
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
    got = {dscp: float(table.loc[dscp, "received_bytes"]) * 8 / 20 / 1e6 for dscp in RATES}
    ef = table.loc["EF"]
    return got | {"EF delay": float(ef["longest_delay_s"]), "EF lost": float(ef["lost_packets"])}


def test_ef_is_served_at_once(delivered: dict[str, float]) -> None:
    """RFC 3246 §2: served at its rate; it waits for the packet in service and for EF itself."""
    assert delivered["EF lost"] == 0
    assert delivered["EF delay"] < 0.001 + 8 * 1028 * 8 / 10e6


def test_network_control_goes_before_all_but_ef(delivered: dict[str, float]) -> None:
    """RFC 2474 §4.2.2.2: CS6 and CS7 before the default."""
    assert delivered["CS6"] == pytest.approx(0.5, rel=0.1)


def test_af_classes_and_the_default_share_alike(delivered: dict[str, float]) -> None:
    """RFC 2597 §2: each class has its share; here equal ones, of what EF and CS6 leave."""
    share = (10 * 1000 / 1028 - delivered["EF"] - delivered["CS6"]) / 3
    for got in (delivered["AF11"] + delivered["AF13"], delivered["AF22"], delivered["DF"]):
        assert got == pytest.approx(share, rel=0.02)


def test_the_lower_precedence_is_protected(delivered: dict[str, float]) -> None:
    """RFC 2597 §2: within a class AF13 is dropped before AF11."""
    assert delivered["AF11"] == pytest.approx(2, rel=0.05)
    assert delivered["AF13"] < 0.2 * RATES["AF13"]


def test_lower_effort_has_what_is_left(delivered: dict[str, float]) -> None:
    """RFC 8622 §4: nothing while the others want all; its 100 packets when they end."""
    assert delivered["LE"] * 20e6 / 8 <= 103 * 1000
