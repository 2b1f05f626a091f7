"""Comparison with ns-3: NewReno and CUBIC through FIFO, RED, CoDel, FQ-CoDel and PIE.

``ns3_worker.py`` builds the same dumbbell in ns-3. The flows have the same start times and delays
in aqmlab and in ns-3.
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
"""Virtual environment with ns-3; `interpreter` tries this environment last."""
NAME = "ns-3"
ABOUT = """\
In the comparison with ns-3, TCP flows (NewReno or CUBIC) and CBR flows share the bottleneck of a
dumbbell. In each replication, the start times of the flows and the delays of their links are
random, and aqmlab and ns-3 use the same random values.
[`ns3_worker.py`](../tests/validation/ns3_worker.py) builds the dumbbell in ns-3, and
[`ns3.py`](../tests/validation/ns3.py) sets the parameters of aqmlab and of ns-3. ns-3 stores one
packet between its queue discipline and the transmitter, and the queue discipline of ns-3 does not
count this packet. The mean queue length, in aqmlab and in ns-3, includes the packet between the
queue discipline and the transmitter. The goodput and the counts are measured over the whole run,
and the mean queue length is measured after the warm-up.

The name of a setting contains the queue, the TCP (`reno` for NewReno), the number of flows (`n5`)
and the rate of the bottleneck. In settings with `ecn` the queue marks packets. The bottleneck of
the setting `fifo-reno-n4-200ms` has a rate of 10 Mbit/s."""


@cache
def interpreter() -> str | None:
    """Return the path of a Python interpreter with the package ns3, or None."""
    if importlib.util.find_spec("ns3") or importlib.util.find_spec("ns"):
        return sys.executable
    for python in (os.environ.get("NS3_PYTHON"), str(VENV / "bin" / "python")):
        code = "from importlib.util import find_spec; raise SystemExit(not find_spec('ns'))"
        if python and Path(python).exists() and not subprocess.run([python, "-c", code]).returncode:
            return python
    return None


def missing() -> str | None:
    """Return the reason why ns-3 cannot run here, with the remedy, or None if ns-3 can run."""
    if interpreter():
        return None
    return (
        "the package ns3 is not installed: run python3 -m venv target/ns3 && "
        "target/ns3/bin/pip install ns3, or set NS3_PYTHON to an interpreter with the package"
    )


def version() -> str:
    """Return the version of ns-3."""
    query = "from importlib.metadata import version; print(version('ns3'))"
    done = subprocess.run(
        [str(interpreter()), "-c", query], capture_output=True, text=True, check=True
    )
    return f"ns-3 {done.stdout.strip()} (Python wheel)"


def tcp(congestion: str = "reno", **keys: Any) -> dict[str, Any]:
    """Return the TCP keys with which TCP in aqmlab behaves as TCP in ns-3.

    TCP in ns-3 has SACK, PRR, limited transmit and delayed ACKs. In slow start, an ACK of two
    segments increases cwnd by two segments in TcpCubic and by one segment in TcpNewReno. TcpCubic
    computes ssthresh from cwnd, and TcpNewReno computes ssthresh from the data in flight. TcpCubic
    follows the cubic curve in whole segments, as Linux does.
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
    """Return a FIFO; its limit in packets does not count the packet in service."""
    return {"kind": "drop_tail", "limit": f"{limit} packets"}


def red(minth: int, maxth: int, **keys: Any) -> dict[str, Any]:
    """Return a RED queue with the parameters of ns-3; the thresholds are in packets."""
    return {
        "kind": "red",
        "limit": "200 packets",
        "minth": f"{minth} packets",
        "maxth": f"{maxth} packets",
        "maxp": 0.1,
        "wq": 0.002,
        "gentle": True,
        "spacing": "wait",
        "min_backlog": "1 packets",
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
"""Settings; a setting's name has the queue, the TCP, the flows and the bottleneck's rate."""


def means(setting: str, measure: str, runs: int, ours: str, theirs: str, changed: str) -> str:
    """Return a sentence with the mean of aqmlab, of ns-3, and of ns-3 with a changed mechanism.

    Parameters
    ----------
    setting, measure : str
        Name of the setting, and name of the measure in the sentence.
    runs : int
        Number of replications of each mean.
    ours, theirs : str
        Means of aqmlab and of ns-3 as released.
    changed : str
        Mean of ns-3 with a changed mechanism, followed by "with" and the name of the mechanism.
    """
    return (
        f" In the setting {setting}, the mean {measure} over the same {runs} replications is "
        f"{ours} in aqmlab, {theirs} in ns-3, and {changed}."
    )


HIDDEN_PACKET = (
    "RED in ns-3 does not count the packet that ns-3's queue discipline has passed to the device. "
    "If RED in aqmlab has minth and maxth that are one packet larger than in ns-3, the mean queue "
    "length of aqmlab is 14.5 packets in the setting red-reno-n10-1.5M."
)
PRR = (
    "PRR in ns-3 counts too much delivered data: for each duplicate ACK, `TcpPrrRecovery` counts "
    "the bytes that the ACK SACKs and, in addition, one segment."
) + "".join(
    means(setting, measure, 5, ours, theirs, f"{changed} in ns-3 with the PRR of RFC 6937")
    for setting, measure, ours, theirs, changed in (
        ("fifo-cubic-n5-10M", "number of drops", "362", "552", "390"),
        ("fifo-cubic-n5-10M", "queue in packets", "86.0", "73.3", "86.7"),
        ("fq-codel-cubic-n5-cbr-10M", "number of drops", "464", "542", "446"),
        ("fq-codel-cubic-n5-cbr-10M", "goodput in Mbit/s", "8.47", "8.27", "8.47"),
        ("codel-cubic-n10-10M", "number of drops", "644", "780", "699"),
        ("codel-cubic-n10-10M", "queue in packets", "11.5", "14.1", "12.8"),
    )
)
PIPE = (
    "ns-3 counts some SACKed data as in flight: after a retransmitted segment is SACKed, "
    "`TcpTxBuffer` continues to count the segment as in flight until a cumulative ACK covers it. A "
    "lost retransmission therefore slows the sender of ns-3, especially at the end of slow start."
) + "".join(
    means(
        setting, "number of drops", 6, ours, theirs,
        f"{pipe} in ns-3 with the pipe of RFC 6675. With the pipe of RFC 6675 and the PRR of RFC "
        f"6937, ns-3 has a mean of {both} drops in {setting} (standard deviation {deviation})",
    )
    for setting, ours, theirs, pipe, both, deviation in (
        ("red-reno-n5-10M", "266.5", "222", "278", "245", "10"),
        ("fq-codel-reno-n5-10M", "217", "168", "207", "192", "28"),
        ("pie-reno-n5-10M", "353", "283", "408", "337", "32"),
    )
)  # fmt: skip
"""Cause of the smaller numbers of drops in ns-3: its pipe counts SACKed data, unlike RFC 6675."""
PIPE_AND_PRR = (
    "ns-3 counts some SACKed data as in flight: after a retransmitted segment is SACKed, "
    "`TcpTxBuffer` of ns-3 still counts the segment as in flight until a cumulative ACK covers it. "
    "In addition, PRR in ns-3 counts too much delivered data: for each duplicate ACK, "
    "`TcpPrrRecovery` counts the bytes that the ACK SACKs and one segment more."
) + "".join(
    means(
        setting, "goodput in Mbit/s", 6, ours, theirs,
        f"{changed} in ns-3 with the pipe of RFC 6675 and the PRR of RFC 6937",
    )
    for setting, ours, theirs, changed in (
        ("red-reno-n5-10M", "9.294", "8.99", "9.301"),
        ("fq-codel-reno-n5-10M", "9.151", "8.82", "9.129"),
        ("pie-reno-n5-10M", "9.198", "9.02", "9.251"),
    )
)  # fmt: skip

CAUSES: dict[tuple[str, str], str] = {
    ("red-reno-n10-1.5M", "queue"): HIDDEN_PACKET,
    ("red-reno-n5-10M", "drops"): PIPE,
    ("fq-codel-reno-n5-10M", "drops"): PIPE,
    ("pie-reno-n5-10M", "drops"): PIPE,
    ("fifo-cubic-n5-10M", "drops"): PRR,
    ("fifo-cubic-n5-10M", "queue"): PRR,
    ("fq-codel-cubic-n5-cbr-10M", "drops"): PRR,
    ("fq-codel-cubic-n5-cbr-10M", "goodput"): PRR,
    ("codel-cubic-n10-10M", "drops"): PRR,
    ("codel-cubic-n10-10M", "queue"): PRR,
    ("red-reno-n5-10M", "goodput"): PIPE_AND_PRR,
    ("fq-codel-reno-n5-10M", "goodput"): PIPE_AND_PRR,
    ("pie-reno-n5-10M", "goodput"): PIPE_AND_PRR,
}
"""Causes of differences beyond the tolerance, by the setting's name and the measure's key."""


def discipline(setting: Dumbbell) -> tuple[str, dict[str, Any]]:
    """Return the type and the attributes of the queue discipline in ns-3.

    The limit of a setting counts the packet between the queue discipline and the transmitter. In
    ns-3, the limit of a queue discipline does not count the packet that waits for the transmitter,
    so the limit in ns-3 is one packet smaller.
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
    """Return the request for one replication to the program ``ns3_worker.py``."""
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
            **setting.peer_arguments,
        },
    }  # fmt: skip


def measured(settings: Iterable[Dumbbell]) -> dict[str, list[Numbers]]:
    """Run every replication of every setting in ns-3, with one process per core."""
    jobs = [(setting, i) for setting in settings for i in range(setting.replications)]
    cores = os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as pool:
        parts = list(pool.map(worker, (jobs[i::cores] for i in range(cores))))
    by_setting: dict[str, list[Numbers]] = {}
    for index, (setting, _) in enumerate(jobs):
        by_setting.setdefault(setting.name, []).append(parts[index % cores][index // cores])
    return by_setting


def worker(jobs: Sequence[tuple[Dumbbell, int]]) -> list[Numbers]:
    """Run replications in one process of ns-3.

    The option -P removes the folder of ``ns3_worker.py`` from Python's path, because the file
    ``ns3.py`` in this folder would hide the package ns3.
    """
    lines = "".join(json.dumps(request(*job)) + "\n" for job in jobs)
    command = [str(interpreter()), "-P", str(WORKER)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True)
    answers = [json.loads(x[2:]) for x in done.stdout.splitlines() if x.startswith("> ")]
    if len(answers) != len(jobs):
        last = (done.stderr or done.stdout).strip()[-500:]
        raise RuntimeError(f"ns-3 stopped after {len(answers)} of {len(jobs)} runs: {last}")
    return answers


def rows() -> Iterable[Row]:
    """Run all settings in aqmlab and in ns-3, and yield the rows of the comparison."""
    ours, theirs = simulated(SETTINGS), measured(SETTINGS)
    for setting in SETTINGS:
        yield from rows_of(setting, ours[setting.name], theirs[setting.name], CAUSES)
