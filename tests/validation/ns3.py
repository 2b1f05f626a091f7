"""aqmlab beside ns-3: NewReno and CUBIC through FIFO, RED, CoDel, FQ-CoDel and PIE.

``ns3_worker.py`` is the same dumbbell in ns-3. Both sides get the same starts and delays.
"""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from validation.dumbbell import SEGMENT_BYTES, Cbr, Dumbbell, Numbers, rows_of, simulated
from validation.row import Row

WORKER = Path(__file__).with_name("ns3_worker.py")
VENV = Path(__file__).parents[2] / "target" / "ns3"
"""Virtual environment that is used if it exists and NS3_PYTHON is not set."""
NAME = "ns-3"
ABOUT = """\
The bottleneck of a dumbbell, with NewReno, CUBIC and CBR flows. Each replication draws the starts
of the flows and the delays of their links; both simulators get the same draws. ns-3 is set by
[`ns3_worker.py`](../tests/validation/ns3_worker.py), aqmlab by
[`ns3.py`](../tests/validation/ns3.py). ns-3 holds one packet between its queue discipline and the
transmitter, which the discipline does not see; it counts towards the mean queue of both sides. The
goodput and the counts are those of the whole run, the mean queue leaves out the warm-up."""


@cache
def interpreter() -> str | None:
    """Return an interpreter that has the package ns3; None if there is none."""
    if importlib.util.find_spec("ns3") or importlib.util.find_spec("ns"):
        return sys.executable
    for python in (os.environ.get("NS3_PYTHON"), str(VENV / "bin" / "python")):
        ask = "from importlib.util import find_spec; raise SystemExit(not find_spec('ns'))"
        if python and Path(python).exists() and not subprocess.run([python, "-c", ask]).returncode:
            return python
    return None


def missing() -> str | None:
    """Return the reason why ns-3 cannot run here; None if it can."""
    if interpreter():
        return None
    return (
        "no interpreter has the package ns3: python3 -m venv target/ns3 && "
        "target/ns3/bin/pip install ns3, or set NS3_PYTHON to an interpreter that has it"
    )


def version() -> str:
    """Return the version of ns-3."""
    ask = "from importlib.metadata import version; print(version('ns3'))"
    done = subprocess.run(
        [str(interpreter()), "-c", ask], capture_output=True, text=True, check=True
    )
    return f"ns-3 {done.stdout.strip()} (Python wheel)"


def tcp(congestion: str = "reno", **keys: Any) -> dict[str, Any]:
    """Return TCP as ns-3 has it: SACK, PRR, limited transmit, delayed ACKs.

    In ns-3 an ACK that acknowledges two segments opens cwnd by two segments in the slow start of
    TcpCubic, and by one segment in that of TcpNewReno. TcpCubic computes ssthresh from cwnd,
    TcpNewReno computes it from the data in flight. TcpCubic follows its curve in whole segments,
    as Linux does.
    """
    control: Any = {
        "kind": "cubic",
        "arithmetic": "linux",
        "slow_start": {"kind": "standard", "limit": "255 packets"},
    }
    return {
        "cwnd": {"ssthresh_from": "flight-size" if congestion == "reno" else "cwnd"},
        "congestion": "reno" if congestion == "reno" else control,
        "mss": f"{SEGMENT_BYTES} B",
        "recovery": {
            "method": "sack",
            "dsack": False,
            "limited_transmit": True,
            "reduction": "prr",
        },
        "sack": True,
        "initial_window": "10 packets",
        "receive_window": "4000000 B",
        "wire": {"data_header": "42 B", "control_header": "42 B"},
        **keys,
    }


def fifo(limit: int) -> dict[str, Any]:
    """Return a FIFO that holds `limit` packets beside the one in service."""
    return {"kind": "drop_tail", "limit": f"{limit} packets"}


def red(minth: int, maxth: int, **keys: Any) -> dict[str, Any]:
    """Return RED as ns-3 has it."""
    return {
        "kind": "red",
        "limit": "200 packets",
        "minth": f"{minth} packets",
        "maxth": f"{maxth} packets",
        "maxp": 0.1,
        "wq": 0.002,
        "gentle": True,
        "spacing": "wait",
        "least_backlog": "1 packets",
        "idle_packet_size": "1500 B",
        **keys,
    }


CODEL = {"kind": "codel", "limit": "1000 packets"}
FQ_CODEL = {"kind": "fq_codel", "limit": "10240 packets", "occupancy": "own-queue"}
PIE = {"kind": "pie", "limit": "200 packets", "mean_packet_size": "1500 B"}
SLOW: dict[str, Any] = {"duration": 60.0, "warmup": 10.0, "replications": 20}
FAST: dict[str, Any] = {
    "rate": 10e6, "access": 100e6, "duration": 30.0, "warmup": 5.0, "replications": 10
}  # fmt: skip

SETTINGS = (
    Dumbbell("fifo-reno-n1-10M", fifo(50), tcp(), flows=1, **FAST),
    Dumbbell("fifo-reno-n5-10M", fifo(100), tcp(), **FAST),
    Dumbbell("fifo-reno-n10-10M", fifo(60), tcp(), flows=10, **FAST),
    Dumbbell("fifo-reno-n5-1.5M", fifo(32), tcp(), **SLOW),
    Dumbbell("fifo-reno-n4-200ms", fifo(200), tcp(), flows=4, **{**FAST, "delay": 0.08}),
    Dumbbell("fifo-cubic-n5-10M", fifo(100), tcp("cubic"), **FAST),
    Dumbbell("fifo-cbr-overload", fifo(50), flows=0, cbr=(Cbr(0.9e6), Cbr(0.8e6)), **SLOW),
    Dumbbell("red-reno-n5-10M", red(10, 30), tcp(), **FAST),
    Dumbbell("red-not-gentle-reno-n5-10M", red(10, 30, gentle=False), tcp(), **FAST),
    Dumbbell("red-reno-n10-1.5M", red(5, 15), tcp(), flows=10, **SLOW),
    Dumbbell("red-ecn-reno-n5-10M", red(10, 30), tcp(), ecn_flows=5, **FAST),
    Dumbbell("red-ecn-reno-n10-1.5M", red(5, 15), tcp(), flows=10, ecn_flows=10, **SLOW),
    Dumbbell("codel-reno-n5-10M", CODEL, tcp(), **FAST),
    Dumbbell("codel-cubic-n10-10M", CODEL, tcp("cubic"), flows=10, **FAST),
    Dumbbell("codel-ecn-reno-n5-10M", CODEL, tcp(), ecn_flows=5, **FAST),
    Dumbbell("fq-codel-reno-n5-10M", FQ_CODEL, tcp(), **FAST),
    Dumbbell("fq-codel-cubic-n5-cbr-10M", FQ_CODEL, tcp("cubic"), cbr=(Cbr(1e6),), **FAST),
    Dumbbell("fq-codel-ecn-reno-n5-10M", FQ_CODEL, tcp(), ecn_flows=5, **FAST),
    Dumbbell("pie-reno-n5-10M", PIE, tcp(), **FAST),
    Dumbbell("pie-cubic-n10-10M", PIE, tcp("cubic"), flows=10, **FAST),
    Dumbbell("pie-ecn-reno-n5-10M", PIE, tcp(), ecn_flows=5, **FAST),
)
"""The settings; their names say queue, TCP, flows and rate."""

HIDDEN_PACKET = (
    "ns-3's discipline does not see the packet that it has handed to the device. With minth and "
    "maxth larger by that packet ours is 14.5."
)
PRR = (
    "ns-3's TcpPrrRecovery counts a segment for every duplicate ACK, beside the bytes that the ACK "
    "SACKs. With the PRR of RFC 6937 in ns-3 the means of the same {runs} replications are {ours} "
    "(aqmlab), {theirs} (ns-3) and {switched} (ns-3 with this PRR)."
)
PIPE = (
    "ns-3's TcpTxBuffer counts a retransmitted segment as in flight after it is SACKed, until a "
    "cumulative ACK covers it. A lost retransmission therefore slows the sender, above all at the "
    "end of slow start. "
)
"""Cause of ns-3's smaller counts of drops; RFC 6675, SetPipe, leaves SACKed data out."""
PIPE_RED = PIPE + (
    "With the pipe of RFC 6675 in ns-3 the means of the same 6 replications are 266.5 (aqmlab), "
    "222 (ns-3) and 278 (ns-3 with this pipe); with the PRR of RFC 6937 as well ns-3 drops 245 "
    "(standard deviation 10)."
)
PIPE_FQ_CODEL = PIPE + (
    "With the pipe of RFC 6675 in ns-3 the means of the same 6 replications are 217 (aqmlab), 168 "
    "(ns-3) and 207 (ns-3 with this pipe); with the PRR of RFC 6937 as well ns-3 drops 192 "
    "(standard deviation 28)."
)
PIPE_PIE = PIPE + (
    "With the pipe of RFC 6675 in ns-3 the means of the same 6 replications are 353 (aqmlab), 283 "
    "(ns-3) and 408 (ns-3 with this pipe); with the PRR of RFC 6937 as well ns-3 drops 337 "
    "(standard deviation 32)."
)


PIPE_AND_PRR = PIPE + (
    "Its TcpPrrRecovery also counts a segment for every duplicate ACK. With the pipe of RFC 6675 "
    "and the PRR of RFC 6937 in ns-3 the means of the same {runs} replications are {ours} "
    "(aqmlab), {theirs} (ns-3) and {switched} (ns-3 with both)."
)


def prr(ours: float, theirs: float, switched: float, text: str = PRR, runs: int = 5) -> str:
    """Return the cause with the means of aqmlab, ns-3, and ns-3 with the mechanism switched."""
    return text.format(ours=ours, theirs=theirs, switched=switched, runs=runs)


CAUSES: dict[tuple[str, str], str] = {
    ("red-reno-n10-1.5M", "queue"): HIDDEN_PACKET,
    ("red-reno-n5-10M", "drops"): PIPE_RED,
    ("fq-codel-reno-n5-10M", "drops"): PIPE_FQ_CODEL,
    ("pie-reno-n5-10M", "drops"): PIPE_PIE,
    ("fifo-cubic-n5-10M", "drops"): prr(362, 552, 390),
    ("fifo-cubic-n5-10M", "queue"): prr(86.0, 73.3, 86.7),
    ("fq-codel-cubic-n5-cbr-10M", "drops"): prr(464, 542, 446),
    ("fq-codel-cubic-n5-cbr-10M", "goodput"): prr(8.47, 8.27, 8.47),
    ("codel-cubic-n10-10M", "drops"): prr(644, 780, 699),
    ("codel-cubic-n10-10M", "queue"): prr(11.5, 14.1, 12.8),
    ("red-reno-n5-10M", "goodput"): prr(9.294, 8.99, 9.301, PIPE_AND_PRR, 6),
    ("fq-codel-reno-n5-10M", "goodput"): prr(9.151, 8.82, 9.129, PIPE_AND_PRR, 6),
    ("pie-reno-n5-10M", "goodput"): prr(9.198, 9.02, 9.251, PIPE_AND_PRR, 6),
}
"""Causes of the misses, by setting and measure."""


def discipline(setting: Dumbbell) -> tuple[str, dict[str, Any]]:
    """Return type and attributes of the queue discipline of ns-3.

    The packet between discipline and transmitter is one of those that the limit counts.
    """
    queue, ecn = setting.queue, str(setting.ecn_flows > 0).lower()
    limit = {"MaxSize": f"{int(queue['limit'].split()[0]) - 1}p"}
    match queue["kind"]:
        case "drop_tail":
            return "ns3::FifoQueueDisc", limit
        case "red":
            return "ns3::RedQueueDisc", {
                **limit,
                "MinTh": queue["minth"].split()[0],
                "MaxTh": queue["maxth"].split()[0],
                "QW": queue["wq"],
                "LInterm": 1 / queue["maxp"],
                "Gentle": str(queue["gentle"]).lower(),
                "MeanPktSize": 1500,
                "LinkBandwidth": f"{setting.rate:.0f}bps",
                "LinkDelay": f"{setting.delay * 1e3:g}ms",
                "UseEcn": ecn,
            }
        case "codel":
            return "ns3::CoDelQueueDisc", {**limit, "UseEcn": ecn}
        case "fq_codel":
            return "ns3::FqCoDelQueueDisc", {"UseEcn": ecn}
    return "ns3::PieQueueDisc", {
        **limit, "MeanPktSize": 1500, "UseEcn": ecn, "UseCapDropAdjustment": "false",
    }  # fmt: skip


def request(setting: Dumbbell, replication: int) -> dict[str, Any]:
    """Return what the worker reads for a replication."""
    draws = setting.draws(replication)
    control = setting.tcp.get("congestion", "reno")
    return {
        "seed": replication + 1, "rate": setting.rate, "access": setting.access,
        "delay": setting.delay, "starts": draws.starts, "delays": draws.delays,
        "duration": setting.duration, "warmup": setting.warmup, "limit": "1p",
        "queue": discipline(setting), "cbr": [[c.rate, c.packet] for c in setting.cbr],
        "defaults": {
            "ns3::TcpL4Protocol::SocketType":
                "ns3::TcpNewReno" if control == "reno" else "ns3::TcpCubic",
            "ns3::TcpSocket::SegmentSize": SEGMENT_BYTES,
            "ns3::TcpSocket::SndBufSize": 4_000_000,
            "ns3::TcpSocket::RcvBufSize": 4_000_000,
            "ns3::TcpSocketBase::Timestamp": "false",
            "ns3::TcpSocketBase::UseEcn": "On" if setting.ecn_flows else "Off",
            "ns3::TcpCubic::HyStart": "false",
            **setting.theirs,
        },
    }  # fmt: skip


def measured(settings: Iterable[Dumbbell]) -> dict[str, list[Numbers]]:
    """Run every replication of every setting in ns-3, with a worker per core."""
    asks = [(setting, i) for setting in settings for i in range(setting.replications)]
    cores = os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as pool:
        parts = list(pool.map(worker, (asks[i::cores] for i in range(cores))))
    found: dict[str, list[Numbers]] = {}
    for index, (setting, _) in enumerate(asks):
        found.setdefault(setting.name, []).append(parts[index % cores][index // cores])
    return found


def worker(asks: Sequence[tuple[Dumbbell, int]]) -> list[Numbers]:
    """Run replications in one process of ns-3.

    The option -P leaves this folder out of the path, whose ``ns3.py`` hides the package ns3.
    """
    lines = "".join(json.dumps(request(*ask)) + "\n" for ask in asks)
    command = [str(interpreter()), "-P", str(WORKER)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True)
    answers = [json.loads(x[2:]) for x in done.stdout.splitlines() if x.startswith("> ")]
    if len(answers) != len(asks):
        last = (done.stderr or done.stdout).strip()[-500:]
        raise RuntimeError(f"ns-3 ended after {len(answers)} of {len(asks)} runs: {last}")
    return answers


def rows() -> Iterable[Row]:
    """Run both sides and yield the rows."""
    ours, theirs = simulated(SETTINGS), measured(SETTINGS)
    for setting in SETTINGS:
        yield from rows_of(setting, ours[setting.name], theirs[setting.name], CAUSES)
