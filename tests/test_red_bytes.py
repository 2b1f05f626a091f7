"""Drop rates of RED in byte mode, compared with ns-2 (``tests/ns2``)."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import aqmlab

MEASURED = pd.read_csv(Path(__file__).parent / "ns2" / "red_bytes.csv")
SIZES = (500, 1500)


def shares(wait: int, mean: int, chance_by: str) -> list[float]:
    """Return the drop rate of RED per packet size."""
    network = {
        "kind": "dumbbell",
        "rate": "10 Mbit/s",
        "delay": "1 ms",
        "left_rate": "10 Gbit/s",
        "left_delay": "0 s",
        "right_rate": "10 Gbit/s",
        "right_delay": "0 s",
        "queue": {
            "kind": "red",
            "limit": "10000 packets",
            "minth": f"{5 * mean} B",
            "maxth": f"{105 * mean} B",
            "maxp": 0.5,
            "wq": 0.002,
            "gentle": False,
            "spacing": "wait" if wait else "uniform",
            "chance_by": chance_by,
            "reference_size": f"{mean} B",
            "idle_packet_size": f"{mean} B",
        },
    }
    flows = [
        {
            "name": f"{size}",
            "from": "left-0",
            "to": "right-0",
            "traffic": {
                "kind": "poisson",
                "rate": f"{750 * 8 * size} bit/s",
                "payload": f"{size - 28} B",
            },
        }
        for size in SIZES
    ]
    columns = aqmlab.run({"network": network, "flows": flows, "duration": "520 s"}).columns(
        "datagrams"
    )
    return list(np.asarray(columns["dropped_packets"]) / np.asarray(columns["sent_packets"]))


@pytest.mark.parametrize("wait", [0, 1])
@pytest.mark.parametrize("mean", [500, 1000])
def test_byte_mode_has_the_drop_rates_of_ns2(wait: int, mean: int) -> None:
    """The drop rates of five runs of ns-2 have a standard deviation of 1 %."""
    rows = MEASURED[(MEASURED["wait"] == wait) & (MEASURED["mean"] == mean)]
    assert len(rows) == 5
    expected = [(rows[f"dropped_{size}"] / rows[f"arrived_{size}"]).mean() for size in SIZES]
    assert shares(wait, mean, "bytes") == pytest.approx(expected, rel=0.02)


def test_the_size_mode_of_the_paper_of_1993_drops_large_packets_more_often() -> None:
    small, large = shares(0, 1000, "size")
    assert large / small > 5
