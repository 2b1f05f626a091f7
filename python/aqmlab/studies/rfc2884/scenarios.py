"""Scenarios of the memo's testbed (section 4.1): fairness, bulk transfers and transactions.

Source: RFC 2884 (`rfc2884`), sections 4 and 5. This module chooses values for the settings that the
memo leaves open. `deviations.py` lists the chosen values, and `readings.py` has other values of the
open settings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from aqmlab.scenario import with_keys

SERVER, ECN_ON, ECN_OFF, CONGESTING = "server", "ecn-on", "ecn-off", "c"
"""Names of the hosts, as in the memo's figure; competing flows have the names of their hosts."""
BOTTLENECK = "r1>r2"
PIPE_BPS = 1_500_000
PACKET_BYTES, SEGMENT_BYTES = 1500, 1460

LOW, MODERATE, HIGH = 2, 5, 10
LEVELS = {LOW: "low", MODERATE: "moderate", HIGH: "high"}
"""Names of the levels of congestion, by the number of congesting flows (section 4.3)."""
MAXP = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Maximum drop rates of RED (section 4.3)."""

RENO, NEWRENO, SACK = "Reno", "NewReno", "SACK"
TCPS = (RENO, NEWRENO, SACK)

FAIRNESS, BULK, TRANSACTIONS, TUNING = "fairness", "bulk", "transactions", "tuning"
BEGINS_S, LASTS_S = 20, 180
"""Start of the competing flows in s, and time from this start to the end of a run (section 5)."""
TUNED_S = 100
"""Time in s from the start of the competing flows to the end of a run that tunes thresholds."""
FILE_BYTES = 20 * 2**20
KB = 1024
REQUEST_BYTES = KB
SIZES_KB = (5, 8, 10, 20)

THRESHOLDS = (7, 21)
"""RED's minth and maxth in packets, which are results of the item `tuning`."""
BY_LEVEL = {LOW: (7, 21), MODERATE: (8, 24), HIGH: (15, 45)}
"""Thresholds tuned for each level of congestion alone, which are results of the item `tuning`."""
UNTUNED = (5, 15)
"""Thresholds of the RED paper in packets, for runs without tuning (`floyd1993red`)."""
LIMIT = 100

HOSTS: dict[str, Any] = {
    "receive_window": "32736 B",
    "cwnd": {"ssthresh_from": "cwnd"},
    "rto": {"initial": "3 s", "min": "200 ms", "max": "120 s", "granularity": "10 ms"},
    "delayed_ack": "2 segments",
    "ack": {"timeout": "200 ms", "quick": "2 packets"},
    "connection": {"syn_retries": 10},
    "ecn": {
        "packets": "all-data",  # section 3.2: all packets other than pure ACKs
        "min_window": "2 packets",  # section 3.2: as a fast retransmit does
    },
}
LINUX_2_2: dict[str, Any] = {"mss": "1448 B", "timestamps": True, "initial_window": "2 segments"}
TCP: dict[str, dict[str, Any]] = {
    RENO: {"mss": f"{SEGMENT_BYTES} B", "recovery": "reno", "initial_window": "1 segment"},
    NEWRENO: {**LINUX_2_2, "recovery": "newreno"},
    SACK: {**LINUX_2_2, "recovery": "fack", "sack": True, "details": {"flight_unit": "segments"}},
}
"""TCP parameters of Linux 2.0.32 (Reno) and 2.2 (NewReno, and SACK with FACK); see section 4."""


@dataclass(frozen=True)
class Reading:
    """Interpretation of the memo: its description, and the scenario keys that it changes.

    `thresholds` are minth and maxth in packets, instead of those of the study. If `by_level` is
    True, the thresholds are those that were tuned for the level of congestion.
    """

    about: str = "interpretation that the score counts"
    tcp: tuple[tuple[str, Any], ...] = ()
    red: tuple[tuple[str, Any], ...] = ()
    thresholds: tuple[float, float] | None = None
    by_level: bool = False
    delay_ms: float = 20
    background: tuple[tuple[str, Any], ...] = ()
    traffic: tuple[tuple[str, Any], ...] = ()
    next_after: str = "response"
    queue: str = ""
    stack: str = ""


AS_READ = Reading()
SYN_ACK = Reading("ECN-capable SYN-ACKs", tcp=(("ecn.packets", "all-packets"),))
"""Interpretation in which "all packets other than pure ACKs" includes the SYN-ACK."""


@dataclass(frozen=True)
class Setting:
    """Setting with congesting flows, and with an ECN flow and a non-ECN flow that start after 20 s.

    Parameters
    ----------
    kind : str
        Kind of the experiment.
    congesting : int
        Number of congesting flows.
    maxp : float
        RED's maximum drop rate.
    tcp : str
        Name of the TCP variant of all hosts.
    size : int
        Size of a file or of a response, in bytes.
    ecn_of_congesting : str
        Congesting flows with ECN: "none", "half" or "all".
    thresholds : (float, float)
        RED's minth and maxth, in packets.
    reading : Reading
        Interpretation of the memo.
    """

    kind: str
    congesting: int
    maxp: float
    tcp: str = RENO
    size: int = FILE_BYTES
    ecn_of_congesting: str = "none"
    thresholds: tuple[float, float] = THRESHOLDS
    reading: Reading = field(default=AS_READ)

    def columns(self) -> dict[str, Any]:
        """Return the columns of cells.csv that describe the scenario."""
        return {
            "experiment": self.kind,
            "congesting": self.congesting,
            "maxp": self.maxp,
            "tcp": self.tcp,
            "bytes": self.size,
            "ecn_of_congesting": self.ecn_of_congesting,
            "minth": self.pair[0],
            "maxth": self.pair[1],
            "reading": self.reading.about,
        }

    @property
    def pair(self) -> tuple[float, float]:
        """RED's minth and maxth in packets; a reading does not change thresholds of a setting."""
        if self.thresholds != THRESHOLDS:
            return self.thresholds
        if self.reading.by_level:
            return BY_LEVEL[self.congesting]
        return self.reading.thresholds or self.thresholds

    @property
    def ends_s(self) -> float:
        """End of a run in s.

        A run with bulk transfers ends after 1.1 times the time that a transfer needs if all flows
        share the link equally.
        """
        if self.kind == TUNING:
            return BEGINS_S + TUNED_S
        if self.kind != BULK:
            return BEGINS_S + LASTS_S
        share_bps = PIPE_BPS * SEGMENT_BYTES / PACKET_BYTES / (self.congesting + 2)
        return round(BEGINS_S + 1.1 * 8 * self.size / share_bps)

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication of this setting."""
        return {
            "title": f"{self.kind}, {self.congesting} congesting flows, maxp {self.maxp:g}",
            "seed": replication + 1,
            "duration": f"{self.ends_s:g} s",
            "phase_breaking": {"start": "1 s"},
            "network": _network(self),
            "flows": [*_congesting(self), _competing(self, ECN_ON), _competing(self, ECN_OFF)],
            "tcp": with_keys(_hosts(self), dict(self.reading.tcp)),
            "record": _record(self),
        }


def _hosts(at: Setting) -> dict[str, Any]:
    return {"stack": at.reading.stack} if at.reading.stack else HOSTS | TCP[at.tcp]


def red(at: Setting) -> dict[str, Any]:
    """Return the queue of CBQ's class at router R1."""
    minth, maxth = at.pair
    return {
        "kind": "red",
        "minth": f"{minth:g} packets",
        "maxth": f"{maxth:g} packets",
        "maxp": at.maxp,
        "wq": 0.002,
        "gentle": False,  # section 2.1.1: RED drops all packets beyond maxth
        "limit": f"{LIMIT} packets",
    } | dict(at.reading.red)


def _network(at: Setting) -> dict[str, Any]:
    """Return the network: the server, R1 with CBQ, R2 with the delay, and the clients."""
    leaf: Any = at.reading.queue or red(at)
    pipe = {"rate": f"{PIPE_BPS} bit/s", "borrow": "bounded", "queue": leaf}
    cbq = {"kind": "cbq", "classes": [pipe]}

    def link(a: str, b: str, delay: str = "50 us", **more: Any) -> dict[str, Any]:
        return {"from": a, "to": b, "rate": "10 Mbit/s", "delay": delay} | more

    clients = [link("lan", name) for name in (CONGESTING, ECN_ON, ECN_OFF)]
    delayed = link("r2", "lan", f"{at.reading.delay_ms:g} ms")
    links = [link(SERVER, "r1"), link("r1", "r2", queue=cbq), delayed, *clients]
    return {"kind": "graph", "links": links}


def _congesting(at: Setting) -> list[dict[str, Any]]:
    """Return the congesting flows, which are endless FTP transfers from the server to host c."""
    with_ecn = {"none": 0, "half": at.congesting // 2, "all": at.congesting}[at.ecn_of_congesting]
    counts = {"rfc3168": with_ecn, "off": at.congesting - with_ecn}
    return [
        {
            "name": f"congesting-{ecn}-{{i}}",
            "count": count,
            "from": SERVER,
            "to": CONGESTING,
            "traffic": {"kind": "bulk"},
            "tcp": with_keys(dict(at.reading.background), {"ecn.mode": ecn}),
        }
        for ecn, count in counts.items()
        if count
    ]


def _competing(at: Setting, host: str) -> dict[str, Any]:
    """Return a competing flow: a file from the server, or consecutive transactions of a client."""
    flow = {
        "name": host,
        "start": f"{BEGINS_S} s",
        "tcp": {"ecn": "rfc3168" if host == ECN_ON else "off"},
    }
    if at.kind != TRANSACTIONS:
        size = {"size": f"{at.size} B"} if at.kind == BULK else {}
        return flow | {"from": SERVER, "to": host, "traffic": {"kind": "bulk"} | size}
    sizes = {"request": f"{REQUEST_BYTES} B", "response": f"{at.size} B", "requests": 1}
    traffic = {"kind": "request_response", **sizes, "closes": "server"} | dict(at.reading.traffic)
    # netperf, send_tcp_conn_rr: the client reads up to the server's FIN, closes, and connects again
    one_by_one = {"interval": "1 us", "spacing": "constant", "after": at.reading.next_after}
    return flow | {"from": host, "to": SERVER, "traffic": traffic, "arrivals": one_by_one}


def _record(at: Setting) -> dict[str, Any]:
    """Return the `record` table: RED's average, and each flow's data for the fairness index."""
    often = {TUNING: "100 ms", FAIRNESS: "500 ms", TRANSACTIONS: "500 ms", BULK: "1 s"}[at.kind]
    series = ["queue", *{FAIRNESS: ["window"], BULK: ["drops"]}.get(at.kind, [])]
    return {"series": series, "links": [BOTTLENECK], "interval": often}
