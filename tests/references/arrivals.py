"""Random arrivals: what the simulator's queues make of each, and what their references do."""

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


class Link(Protocol):
    """A queue and a transmitter."""

    def arrive(self, now: int, packet: Packet) -> None:
        """Take a packet."""

    def finish(self) -> None:
        """Send what waits."""


def arrivals_at(
    queue: dict[str, Any], *, rate: int, seed: int, arrivals: int, flows: int = 10
) -> np.ndarray:
    """Return random arrivals, with what becomes of each at a queue of the simulator, and when."""
    spec = {"queue": queue, "rate": f"{rate} bit/s", "seed": seed}
    return records_of("decisions", spec | {"arrivals": arrivals, "flows": flows}, RECORD)


def assert_alike(records: np.ndarray, link: Link) -> None:
    """Let the same packets arrive at a reference, which must do the same with each at its time."""
    names = ("time", "flow", "size", "ecn", "dscp")
    columns = [records[name].tolist() for name in names]
    packets = [Packet(*p) for p in zip(*columns[1:], strict=True)]
    for time, packet in zip(columns[0], packets, strict=True):
        link.arrive(time, packet)
    link.finish()
    for what, expected in (
        ("code", np.array([p.outcome for p in packets])),
        ("done", np.array([p.done for p in packets], dtype=np.uint64)),
    ):
        for i in np.flatnonzero(records[what] != expected)[:1]:
            pytest.fail(f"arrival {i}: {what} {records[what][i]}, by the reference {expected[i]}")
