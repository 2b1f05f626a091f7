"""Comparison of a queue of the simulator with its reference, on the same random arrivals."""

from typing import Any, Protocol

import numpy as np
import pytest

from references.fifo import Packet
from references.program import records_of

RECORD = np.dtype(
    {
        "names": ["time", "done", "flow", "size", "ecn", "dscp", "code"],
        "formats": ["<u8", "<u8", "<u4", "<u2", "u1", "u1", "u1"],
        "itemsize": 32,
    }
)
"""Record of one arriving packet: its times in picoseconds, its fields, and its outcome's code."""


class Link(Protocol):
    """Queue with a transmitter."""

    def arrive(self, now: int, packet: Packet) -> None:
        """Pass an arriving packet to the queue."""

    def finish(self) -> None:
        """Send all waiting packets."""


def arrivals_at(
    queue: dict[str, Any], *, rate: int, seed: int, arrivals: int, flows: int = 10
) -> np.ndarray:
    """Simulate random arrivals at a queue; return one record per arrival, with its outcome."""
    spec = {"queue": queue, "rate": f"{rate} bit/s", "seed": seed}
    return records_of("decisions", spec | {"arrivals": arrivals, "flows": flows}, RECORD)


def assert_alike(records: np.ndarray, link: Link) -> None:
    """Pass the recorded packets to a reference, and compare each packet's outcome and time."""
    names = ("time", "flow", "size", "ecn", "dscp")
    columns = [records[name].tolist() for name in names]
    packets = [Packet(*p) for p in zip(*columns[1:], strict=True)]
    for time, packet in zip(columns[0], packets, strict=True):
        link.arrive(time, packet)
    link.finish()
    for field, expected in (
        ("code", np.array([p.outcome for p in packets])),
        ("done", np.array([p.done for p in packets], dtype=np.uint64)),
    ):
        for i in np.flatnonzero(records[field] != expected)[:1]:
            pytest.fail(
                f"arrival {i}: {field} is {records[field][i]}, in the reference {expected[i]}"
            )
