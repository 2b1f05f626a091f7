"""Scenarios of the study: the network, the queues, TCP, and the settings of tables and figures.

Source: Pentikousis & Badr (`pentikousis2004ecn`), "Experimental methodology" and figure 1.
`published/notes.md` lists the settings that the publication does not state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aqmlab.scenario import with_keys

FILE_BYTES = 20 * 2**20
SEGMENT_BYTES = 1460
FILE_SEGMENTS = -(-FILE_BYTES // SEGMENT_BYTES)
BOTTLENECK_BPS = 1.5e6
RECEIVE_WINDOW_BYTES = 44 * SEGMENT_BYTES
BOTTLENECK = "left>right"
SAMPLING_S = 0.5
"""Sampling interval in s: the study's completion times are multiples of 0.5 s."""

SCHEMES = ("DT", "RED-C", "RED-A", "ECN-C", "ECN-A")
"""Names of the schemes: Drop Tail (DT), RED and RED with ECN; C: conservative, A: aggressive."""

MAXP = {"C": 0.02, "A": 0.1}
MINTH = {512: 160, 256: 80, 128: 40, 64: 20, 32: 10, 16: 5, 8: 2, 4: 1}
LIMITS = (256, 128, 64, 32, 16, 8, 4)

STUDY_TCP: dict[str, Any] = {
    "mss": f"{SEGMENT_BYTES} B",
    "receive_window": f"{RECEIVE_WINDOW_BYTES} B",  # 64 KB in whole segments
    "initial_window": "1 segment",
    "cwnd": {"slow_start_from": "second-ack", "ssthresh_from": "window"},
    "recovery": {"fast_retransmit": "unguarded", "exit": "deflate-and-open"},
    "ack": {"timeout": "100 ms", "gap": "when-released"},
    "rto": {
        "estimator": "jacobson1988",
        "initial": "3 s",
        "min": "200 ms",
        "granularity": "100 ms",
    },
    "ecn": {"packets": "all-data"},
    "wire": {"data_header": "0 B", "control_header": "40 B"},
}
"""TCP parameters of the study; `aqmlab explain tcp` describes each parameter."""

STUDY_RED: dict[str, Any] = {
    "wq": 0.002,
    "gentle": False,
    "spacing": "wait",
    "min_backlog": "1 packet",
    "idle_packet_size": "500 B",
    "above_maxth": "drop",
}
"""Parameters of RED in the study's simulator."""


@dataclass(frozen=True)
class Setting:
    """Setting of one column of a published table, or of one point of a published figure.

    Parameters
    ----------
    n : int
        Number of clients.
    scheme : str
        One of `SCHEMES`.
    limit : int
        Queue limit in packets.
    ecn : tuple of int, optional
        Numbers of the clients with ECN; default: all clients if the scheme is ECN, otherwise none.
    delay_ms : int
        Propagation delay of the bottleneck in ms.
    counting : str, optional
        Packets that the queue limit counts. By default, the limit of Drop Tail counts the packet in
        service, and the limit of RED does not. The study's simulator has the same default.
    header_bytes : int
        Bytes of headers on the wire per data packet; the study counted no headers.
    """

    n: int
    scheme: str
    limit: int
    ecn: tuple[int, ...] | None = None
    delay_ms: int = 20
    counting: str | None = None
    header_bytes: int = 0

    @property
    def maxp(self) -> float | None:
        """Maximum signal probability of RED; None for Drop Tail."""
        return MAXP.get(self.scheme[-1]) if "-" in self.scheme else None

    @property
    def limit_counts(self) -> str:
        """Packets that the queue limit counts: a value of the scenario key `limit_counts`."""
        return self.counting or ("waiting-and-in-service" if self.scheme == "DT" else "waiting")

    @property
    def ecn_clients(self) -> tuple[int, ...]:
        """Indices, from 0, of the clients that negotiate ECN."""
        if self.ecn is not None:
            return self.ecn
        return tuple(range(self.n)) if self.scheme.startswith("ECN") else ()

    @property
    def payload_segments(self) -> int:
        """Number of segments into which the files of all clients are divided."""
        return self.n * FILE_SEGMENTS

    def columns(self) -> dict[str, Any]:
        """Return the columns of cells.csv that describe the scenario."""
        return {
            "n": self.n,
            "scheme": self.scheme,
            "maxp": self.maxp,
            "limit": self.limit,
            "minth": MINTH[self.limit] if self.maxp else None,
            "delay_ms": self.delay_ms,
            "counting": self.limit_counts,
            "ecn_clients": " ".join(f"C{i}" for i in self.ecn_clients),
        }

    def queue(self) -> dict[str, Any]:
        """Return the bottleneck queue."""
        limit = {"limit": f"{self.limit} packets", "limit_counts": self.limit_counts}
        if self.maxp is None:
            return {"kind": "drop_tail", **limit}
        minth = MINTH[self.limit]
        thresholds = {"minth": f"{minth} packets", "maxth": f"{3 * minth} packets"}
        return {"kind": "red", **limit, **thresholds, "maxp": self.maxp, **STUDY_RED}

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication.

        In replication 0, all flows start at the same time, as in the study. In every replication
        except replication 0, each flow starts after a random delay of at most 1 ms. All
        replications have different random numbers.
        """
        return {
            "title": f"{self.n} downloads through {self.scheme}, limit {self.limit} packets",
            "seed": replication + 1,
            "time_limit": "20000 s",
            "phase_breaking": {"start": "1 ms" if replication else "0 s", "delay": "0 s"},
            "network": {
                "kind": "dumbbell",
                "rate": "1.5 Mbit/s",
                "delay": f"{self.delay_ms} ms",
                "queue": self.queue(),
                "reverse": {"queue": {"kind": "drop_tail", "limit": "1000 packets"}},
                "left_hosts": 1,
                "left_rate": "10 Mbit/s",
                "left_delay": "0.5 ms",
                "right_hosts": self.n,
                "right_rate": "10 Mbit/s",
                "right_delay": "0.5 ms",
            },
            "flows": [self._flow(i) for i in range(self.n)],
            "tcp": with_keys(STUDY_TCP, {"wire.data_header": f"{self.header_bytes} B"}),
        }

    def _flow(self, client: int) -> dict[str, Any]:
        return {
            "name": f"C{client}",
            "from": "left-0",
            "to": f"right-{client}",
            "start": "0 s",
            "traffic": {"kind": "bulk", "size": "20 MiB"},
            "tcp": {"ecn": "rfc3168" if client in self.ecn_clients else "off"},
        }
