"""Scenarios of the testbed: three TCP flows, and a TCP flow with a CBR flow.

Source: the thesis (`redwiredtestbed`), chapter 4; `deviations.py` lists the settings that the
thesis leaves open, with evidence from its tables.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from aqmlab.scenario import with_keys

TAIL_DROP, RED = "tail_drop", "red"
DISCIPLINES = (TAIL_DROP, RED)
ONE_CLASS, TWO_CLASS, ALONE = "one_class", "two_class", "alone"

SEGMENT_BYTES = 1448
KBIT = 1024
"""Number of bits per kbit in the version of the program `tc` that the thesis used."""
LINK_KBIT = 140
LINK_BPS = LINK_KBIT * KBIT
HEADERS_BYTES = 52
"""Bytes of IP and TCP headers, and 12 bytes of the Ethernet header, which HTB includes."""
TICKS_PER_S = 100
"""Timer ticks per second of Linux 2.4, by which `tc` computes the default bursts of HTB."""
CBR_PAYLOAD_BYTES, CBR_HEADERS_BYTES, CBR_PER_S = 104, 40, 50
"""Payload and headers (28 bytes of IP and UDP, 12 of Ethernet) in bytes, and packets per second."""
CBR_BPS = 8 * (CBR_PAYLOAD_BYTES + CBR_HEADERS_BYTES) * CBR_PER_S
BOTTLENECK = "kemi-3>kemi-4"

LONG_BYTES, SHORT_BYTES = 292_000, 46_720
FLOWS = ("flow 1", "flow 2", "flow 3")
TAIL_DROP_STARTS_S = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0)
RED_STARTS_S = (0.0, 2.0, 4.0, 5.0, 5.5)

REMEMBERED: dict[tuple[str, str], tuple[int, ...]] = {
    ("three", TAIL_DROP): (3, 3, 4, 4, 4, 4, 4, 5, 5, 6),
    (ONE_CLASS, TAIL_DROP): (5,),
    (TWO_CLASS, TAIL_DROP): (7,),
    ("three", RED): (2, 2, 2, 3, 3, 3, 3, 3, 3, 4),
    (ONE_CLASS, RED): (2, 2, 2, 3, 3, 3, 3, 3, 4, 4),
    (TWO_CLASS, RED): (3, 3, 4, 4, 4, 4, 4, 4, 4, 5),
}
"""Values of ssthresh in segments that hosts remember, by test and queue discipline.

Each value is as frequent in its tuple as among the values that hosts store at the end of our runs
(item `memory`). The values of `TWO_CLASS` also apply to a TCP flow without CBR traffic, and to test
case 3, in which the CBR flow lasts for 5 s.
"""

LINUX_2_4: dict[str, Any] = {
    "mss": "1460 B",  # 1448 B of data beside the timestamps
    "timestamps": True,
    "sack": True,
    "recovery": {
        "method": "fack",  # Linux 2.4 with SACK
        "limited_transmit": True,  # SACKed segments leave the pipe at once
        "eifel": True,
        "spurious_response": "restore",
    },
    "initial_window": "2 segments",
    "receive_window": "65535 B",
    "window": {"scaling": "off"},
    "cwnd": {"ssthresh_from": "cwnd", "validation": "limited", "idle_restart": "rfc2861"},
    "details": {"flight_unit": "segments"},
    "rto": {
        "estimator": "linux",
        "initial": "3 s",
        "min": "200 ms",
        "max": "120 s",
        "granularity": "10 ms",
        "fast_retransmit": "first-restarts",
    },
    "delayed_ack": "2 segments",
    # Half of the first receive window, which has four segments, is acknowledged at once.
    "ack": {"timeout": "40 ms", "unit": "full-segments", "quick": "2 packets"},
    "connection": {"nagle": "minshall", "syn_retries": 5, "synack_retries": 5},
    "wire": {"data_header": f"{HEADERS_BYTES} B", "control_header": f"{HEADERS_BYTES} B"},
}
"""TCP parameters of Linux 2.4.17 (`sarolahti2002linux`) that matter in this study."""


@dataclass(frozen=True)
class Red:
    """Parameters of RED with the units of the program `tc`: sizes in bytes, burst in packets."""

    min: int = 5000
    max: int = 18000
    burst: int = 12
    avpkt: int = 1000
    limit: int = 20_000
    probability: float = 0.1

    def queue(self) -> dict[str, Any]:
        """Return the queue of a scenario."""
        return {
            "kind": "tc_red",
            "min": f"{self.min} B",
            "max": f"{self.max} B",
            "burst": f"{self.burst} packets",
            "avpkt": f"{self.avpkt} B",
            "probability": self.probability,
            "bandwidth": "10 Mbit/s",  # default of `tc`
            "arithmetic": "linux-2.4",
            "limit": f"{self.limit} B",
            "limit_counts": "waiting-before",
        }


CLASS_1 = Red()
CLASS_2 = Red(min=800, max=3500, avpkt=150, limit=5000)


def _leaf(discipline: str, red: Red) -> dict[str, Any]:
    if discipline == RED:
        return red.queue()
    return {"kind": "drop_tail", "limit": f"{red.limit} B", "limit_counts": "waiting-before"}


def _class(rate_kbit: int, ceil_kbit: int, **more: Any) -> dict[str, Any]:
    rates = {"rate": f"{rate_kbit * KBIT} bit/s", "ceil": f"{ceil_kbit * KBIT} bit/s"}
    return {"parent": "link", **rates, **more}


def _scenario(
    title: str, seed: int, classes: list[dict[str, Any]], flows: list[dict[str, Any]],
    tcp: dict[str, Any], link_bps: int = LINK_BPS,
) -> dict[str, Any]:  # fmt: skip
    """Return a scenario with four hosts in a row, and up to 100 us of jitter on the first link."""
    jitter = [{"kind": "jitter", "mean": "50 us"}]
    htb = {
        "kind": "htb",
        "hysteresis": True,
        "hz": TICKS_PER_S,
        "classes": [{"name": "link", "rate": f"{link_bps} bit/s"}, *classes],
    }
    return {
        "title": title,
        "seed": seed,
        "time_limit": "1000 s",
        "phase_breaking": {"start": "20 ms", "delay": "0 s"},
        "network": {
            "kind": "graph",
            "links": [
                {
                    "from": "kemi-1", "to": "kemi-2", "rate": "100 Mbit/s", "delay": "50 us",
                    "impairments": jitter, "reverse": {"impairments": jitter},
                },
                {
                    "from": "kemi-2", "to": "kemi-3", "rate": "10 Mbit/s", "delay": "50 us",
                    "queue": {"kind": "drop_tail", "limit": "4096 packets"},
                },
                {
                    "from": "kemi-3", "to": "kemi-4", "rate": "10 Mbit/s", "delay": "50 us",
                    "queue": htb,
                },
            ],
        },
        "flows": [{"from": "kemi-1", "to": "kemi-4", **flow} for flow in flows],
        "tcp": tcp,
    }  # fmt: skip


EXPERIMENT = 20
"""Number of replications of a scenario in the thesis; our replications repeat the experiment."""
USUAL, MANY = 12 * EXPERIMENT, 48 * EXPERIMENT
"""Number of replications of a test with three flows, and of a test in `NEAR`."""


def remembered(test: str, discipline: str, replication: int) -> int | None:
    """Return the ssthresh in segments that the host remembers.

    The result is None in the first replication of each experiment.
    """
    if replication % EXPERIMENT == 0:
        return None
    return random.Random(f"memory {replication}").choice(REMEMBERED[test, discipline])


def _tcp(segments: int | None) -> dict[str, Any]:
    known = {} if segments is None else {"cwnd.initial_ssthresh": f"{segments} packets"}
    return with_keys(LINUX_2_4, known)


def _bulk(name: str, size: int, start_s: float = 0) -> dict[str, Any]:
    traffic = {"kind": "bulk", "size": f"{size} B"}
    return {"name": name, "start": f"{start_s:g} s", "traffic": traffic}


@dataclass(frozen=True)
class Three:
    """Setting with three TCP flows: two long flows start together, a short flow starts later.

    Parameters
    ----------
    discipline : str
        Queue discipline: Tail Drop or RED.
    start_s : float
        Start of the third flow in s, after the start of the two long flows.
    red : Red
        Parameters of RED.
    memory : bool
        True if hosts remember ssthresh between replications.
    link_kbit : float
        Rate of the link, in kbit/s of 1000 bits.
    """

    discipline: str
    start_s: float
    red: Red = CLASS_1
    memory: bool = True
    link_kbit: float = LINK_BPS / 1000

    def columns(self) -> dict[str, Any]:
        """Return the columns of cells.csv that describe the scenario."""
        red = self.red if self.discipline == RED else None
        return {
            "test": "three flows",
            "discipline": self.discipline,
            "start_s": self.start_s,
            "red": f"{red.min}-{red.max}, burst {red.burst}" if red else "",
            "memory": self.memory,
            "link_kbps": self.link_kbit,
        }

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication of this setting."""
        known = remembered("three", self.discipline, replication) if self.memory else None
        rate = round(1000 * self.link_kbit)
        leaf = _class(100, LINK_KBIT, queue=_leaf(self.discipline, self.red))
        leaf["ceil"] = f"{rate} bit/s"
        sizes = (LONG_BYTES, LONG_BYTES, SHORT_BYTES)
        starts = (0.0, 0.0, self.start_s)
        flows = [_bulk(*flow) for flow in zip(FLOWS, sizes, starts, strict=True)]
        scenario = _scenario(
            f"three flows, {self.discipline}, third after {self.start_s:g} s",
            replication + 1, [leaf], flows, _tcp(known), rate,
        )  # fmt: skip
        # Tables and figures need the ACKs only for the settings of the thesis, at the start times
        # of RED.
        traced = self == Three(self.discipline, self.start_s) and self.start_s in RED_STARTS_S
        return scenario | {"record": {"series": ["segments"] if traced else []}}


NEAR = (*(Three(TAIL_DROP, start_s) for start_s in (0.0, 2.0, 4.0, 5.5)), Three(RED, 5.5))
"""Tests with three flows in which claims were open with `USUAL` replications.

Claims that need more than `MANY` replications stay open.
"""


@dataclass(frozen=True)
class Workload:
    """Test case with CBR traffic: size of the TCP flow, size and start times of the CBR flow."""

    name: str
    tcp_bytes: int
    cbr_packets: int
    starts_s: tuple[float, ...]
    remembers: bool

    @property
    def cbr_s(self) -> float:
        """Duration of the CBR flow, in s."""
        return (self.cbr_packets - 1) / CBR_PER_S


LONG = Workload("1", 391_280, 2001, (0, 1, 2, 3), remembers=True)
SHORT = Workload("2", 46_720, 301, (0, 0.5, 1, 1.5, 2), remembers=False)
BRIEF = Workload("3", 391_280, 251, (0, 2, 7, 12, 16, 18), remembers=True)
MEDIUM = Workload("medium", 116_800, 601, (0, 0.5, 1, 1.5, 2), remembers=False)
CASES = (LONG, SHORT, BRIEF)


@dataclass(frozen=True)
class Beside:
    """Setting with a TCP flow and a CBR flow, or with a TCP flow alone on a slower link.

    Parameters
    ----------
    case : Workload
        Test case, which gives the sizes of both flows.
    discipline : str
        Queue discipline of each class of HTB.
    classes : str
        Configuration: both flows in one class of HTB, one class per flow, or no CBR flow and a link
        that is slower by the rate of the CBR flow.
    start_s : float
        Start of the CBR flow in s, after the start of the TCP flow.
    """

    case: Workload
    discipline: str
    classes: str
    start_s: float = 0

    @property
    def test(self) -> str:
        """Key of `REMEMBERED`: `TWO_CLASS` if TCP has its own queue for most of the time."""
        return TWO_CLASS if self.classes != ONE_CLASS or self.case is BRIEF else ONE_CLASS

    def columns(self) -> dict[str, Any]:
        """Return the columns of cells.csv that describe the scenario."""
        return {
            "test": f"test case {self.case.name}",
            "discipline": self.discipline,
            "start_s": self.start_s,
            "classes": self.classes,
        }

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication of this setting."""
        rate = LINK_BPS - (CBR_BPS if self.classes == ALONE else 0)
        first = _class(70, LINK_KBIT, queue=_leaf(self.discipline, CLASS_1))
        first["ceil"] = f"{rate} bit/s"
        classes = [first]
        flows = [_bulk("TCP", self.case.tcp_bytes)]
        if self.classes == TWO_CLASS:
            second = _leaf(self.discipline, CLASS_2)
            classes.insert(0, _class(70, 100, match={"protocol": "udp"}, queue=second))
        if self.classes != ALONE:
            traffic = {
                "kind": "cbr",
                "rate": f"{CBR_BPS} bit/s",
                "payload": f"{CBR_PAYLOAD_BYTES} B",
                "headers": f"{CBR_HEADERS_BYTES} B",
                "packets": self.case.cbr_packets,
            }
            flows.append({"name": "CBR", "start": f"{self.start_s:g} s", "traffic": traffic})
        known = None
        if self.case.remembers:
            known = remembered(self.test, self.discipline, replication)
        title = f"test case {self.case.name}, {self.classes}, {self.discipline}, CBR after"
        scenario = _scenario(
            f"{title} {self.start_s:g} s",
            replication + 1,
            classes,
            flows,
            _tcp(known),
            rate,
        )
        series = ["segments"] if self.case is LONG else []
        return scenario | {"record": {"series": series}}
