"""Section 5.3: number of outstanding packets with which Reno recovers without a timeout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aqmlab import estimates
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Item, Need, Runs, Section, UndecidableError
from aqmlab.studies.framework.show import plain
from aqmlab.studies.rfc2884.scenarios import ECN_OFF, ECN_ON, HOSTS, RENO, SEGMENT_BYTES, TCP

WINDOWS = (2, 3, 4, 5, 6)
LOST = 60
"""Number of the packet that is lost; it belongs to the non-ECN flow, long after slow start."""


@dataclass(frozen=True)
class Window:
    """Setting with one lost packet, and with a receive window of `segments` segments."""

    segments: int

    def columns(self) -> dict[str, Any]:
        """Return the columns of cells.csv that describe the scenario."""
        return {"experiment": "recovery", "tcp": RENO, "window": self.segments}

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario, in which the link loses one packet and queues stay empty."""
        lost = [{"kind": "listed_loss", "packets": [LOST]}]
        link = {"from": "server", "to": "lan", "rate": "1.5 Mbit/s", "delay": "20 ms",
                "impairments": lost}  # fmt: skip
        ends = [{"from": "lan", "to": host, "rate": "10 Mbit/s", "delay": "50 us"}
                for host in (ECN_ON, ECN_OFF)]  # fmt: skip
        size = {"kind": "bulk", "size": f"{200 * SEGMENT_BYTES} B"}
        window = {"receive_window": f"{self.segments * SEGMENT_BYTES} B"}
        return {
            "title": f"recovery from a loss, {self.segments} packets outstanding",
            "seed": replication + 1,
            "network": {"kind": "graph", "links": [link, *ends]},
            "flows": [
                {"name": ECN_OFF, "from": "server", "to": ECN_OFF, "traffic": size},
                {"name": ECN_ON, "from": "server", "to": ECN_ON, "traffic": size, "start": "60 s"},
            ],
            "tcp": HOSTS | TCP[RENO] | window,
        }


def least_window(runs: Runs) -> int:
    """Return the smallest window, in segments, with which the transfer has no timeout.

    Raises
    ------
    UndecidableError
        If the transfer has a timeout with every window.
    """
    enough = [w for w in WINDOWS if runs.one(Window(w), 0).off.timeouts == 0]
    if not enough:
        raise UndecidableError("the transfer has a timeout with every receive window")
    return min(enough)


def _make(runs: Runs) -> Section:
    section = Section(
        [
            "In each run one packet of a Reno transfer without ECN is lost. The runs differ in the "
            "receive window, which limits the number of outstanding packets."
        ]
    )
    rows: list[list[str | Entry]] = []
    for segments in WINDOWS:
        at = Window(segments)
        cells = [
            Cell("recovery", at.columns(), name, "times",
                 estimates.median([getattr(runs.one(at, 0).off, key)]))
            for name, key in (("fast_retransmits", "fast"), ("timeouts", "timeouts"))
        ]  # fmt: skip
        section.cells += cells
        rows.append([str(segments), *(plain(c.ours) for c in cells)])
    head = ["Outstanding packets", "Fast retransmits", "Timeouts"]
    section.tables.append(Table("Recovery from one loss", head, rows))
    return section


def _needs() -> Iterator[Need]:
    yield from (Need(Window(segments), at_most=1) for segments in WINDOWS)


ITEM = Item(
    "recovery", "Section 5.3: outstanding packets that Reno needs to avoid a timeout", _needs, _make
)
