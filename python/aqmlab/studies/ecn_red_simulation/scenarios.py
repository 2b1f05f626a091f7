"""Scenarios of the study: networks, queues, TCP, sessions, and the grid of 128 cases.

Source: the study itself (`ecnredsimulation`), sections IV to VII and Table 1. `deviations.py` lists
the settings that the study leaves open, and the defaults of the study's simulator (ns-2 2.26).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from aqmlab.scenario import with_keys

LINK_BPS = 512e3
DURATION_S = 300.0
SEGMENT_BYTES = 1492
"""Payload of a segment; with 40 B of headers a packet has 1532 B on the wire, as in FullTcp."""

MINTH = 10
LIMIT = 200
BULK_BYTES = 1_000_000
OBSERVED = "gw1>gw2"

SINGLE, MULTIPLE = "single", "multiple"
NETWORKS = (SINGLE, MULTIPLE)
"""Networks of the study: one congested link, and a chain of three congested links."""

STARS = {"star-across": ("gw4", "gw3"), "star-back": ("gw1", "gw1"), "star-near": ("gw2", "gw2")}
"""Star networks with three links around gw2, with the routers of hosts ftp5 and ftp6."""

OFF, ECN, HEAD = "off", "ecn", "head"
ARMS = (OFF, ECN, HEAD)
"""Arms: without ECN, with ECN, and with ECN and marks at the head of the queue."""

FACTORS: Mapping[str, tuple[Any, ...]] = {
    "delay_ms": (10, 25),
    "linterm": (5, 10),
    "maxth": (60, 120),
    "wq": (0.002, 0.02),
    "sessions": (6, 12),
    "file_bytes": (10_000, BULK_BYTES),
    "cbr_share": (0.0, 0.25),
}
"""Factors of Table 1 except ECN, with their levels; they give 2^7 = 128 cases."""

STUDY_TCP: dict[str, Any] = {
    "mss": f"{SEGMENT_BYTES} B",
    "receive_window": f"{20 * SEGMENT_BYTES} B",  # ns-2: window_ 20
    "initial_window": "2 segments",  # ns-2: windowInit_ 2
    "sack": True,
    "recovery": "sack",
    "delayed_ack": "1 segment",  # ns-2: segsperack_ 1
    "rto": {
        "initial": "6 s",  # ns-2: rtxcur_init_ 6.0
        "min": "1 s",  # ns-2: minrto_ 1
        "max": "64 s",  # ns-2: maxrto_ 64
        "granularity": "10 ms",  # ns-2: tcpTick_ 0.01
        "backoff_ends": "new-ack",  # ns-2: FullTcp, since March 2002
    },
    "ecn": {"packets": "all-data"},
}
"""TCP parameters of the study's simulator: the defaults of FullTcp with SACK in ns-2 2.26."""

STUDY_RED: dict[str, Any] = {
    "gentle": False,  # section I: above maxth all packets are dropped
    "spacing": "wait",
    "min_backlog": "1 packet",
    "idle_packet_size": "500 B",
    "above_maxth": "drop",
    "mark_below": 0.1,  # ns-2: mark_p_, since April 2002
}
"""RED parameters of the study's simulator, except the parameters in Table 1."""

LINKS = {
    SINGLE: (("gw1", "gw2"),),
    MULTIPLE: (("gw1", "gw2"), ("gw2", "gw3"), ("gw3", "gw4")),
    **dict.fromkeys(STARS, (("gw1", "gw2"), ("gw2", "gw3"), ("gw2", "gw4"))),
}
HOSTS = {
    SINGLE: {"ftp0": "gw1", "ftp3": "gw2", "ftp4": "gw2"},
    MULTIPLE: {"ftp0": "gw1", "ftp3": "gw2", "ftp4": "gw3", "ftp5": "gw4", "ftp6": "gw4"},
    **{
        star: {"ftp0": "gw1", "ftp3": "gw3", "ftp4": "gw4", "ftp5": five, "ftp6": six}
        for star, (five, six) in STARS.items()
    },
}
_FOUR = (("ftp0", "ftp3"), ("ftp0", "ftp4"), ("ftp3", "ftp5"), ("ftp4", "ftp6"))
PAIRS = {SINGLE: (("ftp0", "ftp3"), ("ftp0", "ftp4")), **dict.fromkeys((MULTIPLE, *STARS), _FOUR)}
UDP = {SINGLE: ("ftp0", "ftp3"), **dict.fromkeys((MULTIPLE, *STARS), ("ftp3", "ftp4"))}


@dataclass(frozen=True, order=True)
class Case:
    """Combination of levels of the factors in Table 1 of the study, except ECN."""

    delay_ms: int
    linterm: int
    maxth: int
    wq: float
    sessions: int
    file_bytes: int
    cbr_share: float

    @property
    def bulk(self) -> bool:
        """True if the files are long (1 MB)."""
        return self.file_bytes == BULK_BYTES

    def __str__(self) -> str:
        files, cbr = "1 MB" if self.bulk else "10 kB", "CBR" if self.cbr_share else "no CBR"
        return (
            f"{files}, {cbr}, {self.sessions} sessions, maxth {self.maxth}, "
            f"linterm {self.linterm}, wq {self.wq}, {self.delay_ms} ms"
        )


def cases() -> Iterator[Case]:
    """Yield all 128 combinations of factor levels, in the order of the published grid."""
    for values in itertools.product(*FACTORS.values()):
        yield Case(*values)


@dataclass(frozen=True)
class Setting:
    """Setting of a run: network, case, arm, and optional changes of RED and of TCP.

    Parameters
    ----------
    network : str
        One of `NETWORKS` or `STARS`.
    case : Case
    arm : str
        One of `ARMS`.
    red, tcp : tuple of (str, Any)
        Parameters of RED and of TCP that differ from `STUDY_RED` and `STUDY_TCP`.
    """

    network: str
    case: Case
    arm: str
    red: tuple[tuple[str, Any], ...] = field(default=())
    tcp: tuple[tuple[str, Any], ...] = field(default=())

    def under(self, arm: str) -> Setting:
        """Return the setting with the same case and network under another arm."""
        return replace(self, arm=arm)

    def columns(self) -> dict[str, Any]:
        """Return the columns of cells.csv that describe the scenario."""
        return {"network": self.network, "arm": self.arm, **vars(self.case)}

    def queue(self) -> dict[str, Any]:
        """Return the queue of a link between routers; both directions have equal queues."""
        return {
            "kind": "red",
            "limit": f"{LIMIT} packets",
            "minth": f"{MINTH} packets",
            "maxth": f"{self.case.maxth} packets",
            "maxp": 1 / self.case.linterm,
            "wq": self.case.wq,
            "mark_at": "head" if self.arm == HEAD else "tail",
            **STUDY_RED,
            **dict(self.red),
        }

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication; all arms have the same seed in a replication."""
        case = self.case
        return {
            "title": f"{self.network}, {self.arm}: {case}",
            "seed": replication + 1,
            "duration": f"{DURATION_S:g} s",
            "phase_breaking": {"start": "500 ms", "delay": "0 s"},
            "network": {"kind": "graph", "links": self._links()},
            "flows": [*self._sessions(), *self._udp()],
            "tcp": with_keys(
                STUDY_TCP, {"ecn.mode": "off" if self.arm == OFF else "rfc3168"} | dict(self.tcp)
            ),
            "record": {
                "series": ["delays", "queue", *["transfers"] * (not case.bulk)],
                "links": [OBSERVED],
                "interval": "250 ms",
                "flows": "table",
            },
        }

    def _links(self) -> list[dict[str, Any]]:
        queue = self.queue()
        between = {"rate": "512 kbit/s", "delay": f"{self.case.delay_ms} ms"}
        access = {"rate": "10 Mbit/s", "delay": "1 ms"}
        return [
            {"from": a, "to": b, **between, "queue": queue, "reverse": {"queue": queue}}
            for a, b in LINKS[self.network]
        ] + [{"from": host, "to": router, **access} for host, router in HOSTS[self.network].items()]

    def _sessions(self) -> list[dict[str, Any]]:
        """Return the sessions; each starts up to 50 ms after the previous one has closed."""
        return [
            {
                "name": f"{server}-{client}-{{i}}",
                "count": self.case.sessions,
                "from": server,
                "to": client,
                "arrivals": {"after": "closing", "interval": "25 ms", "spacing": "uniform"},
                "traffic": {"kind": "bulk", "size": f"{self.case.file_bytes} B"},
            }
            for server, client in PAIRS[self.network]
        ]

    def _udp(self) -> list[dict[str, Any]]:
        if not self.case.cbr_share:
            return []
        source, sink = UDP[self.network]
        rate = f"{self.case.cbr_share * LINK_BPS / 1e3:g} kbit/s"
        lengths = {"lengths": "constant", "on": "10 s", "off": "10 s"}
        traffic = {"kind": "on_off", "rate": rate, "payload": "72 B", **lengths}
        return [{"name": "udp", "from": source, "to": sink, "traffic": traffic}]
