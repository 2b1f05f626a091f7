"""Comparison with ns-2: one-way TCP and CBR through Drop Tail and RED.

``ns2.tcl`` builds the same dumbbell in ns-2. The flows have the same start times and delays in
aqmlab and in ns-2.
"""

import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aqmlab.scenario import with_keys
from validation.dumbbell import SEGMENT_BYTES, Cbr, Draws, Dumbbell, Numbers, compare
from validation.row import Row

SCRIPT = Path(__file__).with_name("ns2.tcl")
NAME = "ns-2"
ABOUT = """\
In the comparison with ns-2, TCP flows (Tahoe, Reno, NewReno or SACK) and CBR flows share the
bottleneck of a dumbbell. In each replication, the start times of the flows and the delays of their
links are random, and aqmlab and ns-2 use the same random values.
[`ns2.tcl`](../tests/validation/ns2.tcl) sets the parameters of ns-2, and
[`ns2.py`](../tests/validation/ns2.py) sets the keys of aqmlab. aqmlab uses no stack and the TCP
keys of the study [ecn_finite_transfers](../python/aqmlab/studies/ecn_finite_transfers), which
imitate the TCP of ns-2. The goodput and the counts are measured over the whole run, and the mean
queue length is measured after the warm-up.

The name of a setting contains the queue (`dt` for Drop Tail, `red` for RED that drops, `ecn` for
RED that marks) and the TCP. The name of a setting also contains the number of flows (`n5`), or the
number of transfers and their size in segments (`finish-5x1000`). If the rate of the bottleneck is
not 1.5 Mbit/s, the name also contains this rate."""


def missing() -> str | None:
    """Return the reason why ns-2 cannot run here, with the remedy, or None if ns-2 can run."""
    return None if shutil.which("ns") else "ns is not installed: apt-get install ns2"


def version() -> str:
    """Return the version of ns-2."""
    done = subprocess.run(["ns", "-"], input="puts [ns-version]", capture_output=True, text=True)
    name = done.stdout.strip() or "of unknown version"
    if shutil.which("dpkg-query"):
        query = ["dpkg-query", "-W", "-f", "${Version}", "ns2"]
        package = subprocess.run(query, capture_output=True, text=True).stdout
        name += f" (Debian {package})" if package else ""
    return f"ns-2 {name}"


def tcp(
    recovery: str = "reno", keys: Mapping[str, Any] | None = None, *, window: int = 100
) -> dict[str, Any]:
    """Return the TCP keys with which TCP in aqmlab behaves as TCP in ns-2.

    Parameters
    ----------
    recovery : str
        Method of loss recovery.
    keys : mapping, optional
        Additional keys of TCP, by their paths.
    window : int
        Receive window in segments (`window_`).
    """
    plain = {
        "mss": f"{SEGMENT_BYTES} B",
        "recovery.method": recovery,
        "sack": recovery == "sack",
        "receive_window": f"{window * SEGMENT_BYTES} B",
        "initial_window": "2 packets",
        "cwnd.ssthresh_from": "window",
        "recovery.fast_retransmit": "once-per-window",
        "recovery.exit": "deflate-and-open",
        "delayed_ack": "1 packets",
        "ack.timeout": "100 ms",
        "rto.estimator": "jacobson1988",
        "rto.initial": "3 s",
        "rto.min": "200 ms",
        "rto.granularity": "10 ms",
        "ecn.packets": "all-data",
        "recovery.dsack": False,
    }
    return with_keys({}, plain | dict(keys or {}))


def drop_tail(limit: int, *, of_bytes: bool = False) -> dict[str, Any]:
    """Return a Drop Tail queue whose limit also counts the packet in service.

    Parameters
    ----------
    limit : int
        Limit in packets.
    of_bytes : bool
        True for a limit in bytes: 1500 B per packet of `limit`, minus one byte, because ns-2 drops
        a packet that fills the limit exactly.
    """
    if of_bytes:
        return {"kind": "drop_tail", "limit": f"{limit * 1500 - 1} bytes"}
    return {
        "kind": "drop_tail",
        "limit": f"{limit} packets",
        "limit_counts": "waiting-and-in-service",
    }


def red(limit: int, minth: int, maxth: int, *, of_bytes: bool = False, **keys: Any) -> Any:
    """Return a RED queue with the parameters of ns-2; by default it is not gentle.

    Parameters
    ----------
    limit, minth, maxth : int
        Limit and thresholds in packets of 1500 B.
    of_bytes : bool
        True to measure the queue in bytes and to signal large packets with a higher probability.
    **keys
        Additional keys of RED.
    """
    scale, unit = (1500, "bytes") if of_bytes else (1, "packets")
    return {
        "kind": "red",
        "limit": f"{limit * scale} {unit}",
        "minth": f"{minth * scale} {unit}",
        "maxth": f"{maxth * scale} {unit}",
        "maxp": 0.1,
        "wq": 0.002,
        "gentle": False,
        "spacing": "wait",
        "min_backlog": "0 packets" if of_bytes else "1 packets",
        "idle_packet_size": "1500 B",
        "chance_by": "bytes" if of_bytes else "packet",
        "reference_size": "1500 B",
        "above_maxth": "drop",
        **keys,
    }


FAST: dict[str, Any] = {"rate": 10e6, "access": 100e6, "duration": 60.0, "warmup": 10.0}
FASTER: dict[str, Any] = {
    "rate": 100e6,
    "access": 1e9,
    "duration": 20.0,
    "warmup": 5.0,
    "near": (0.001, 0.01),
    "replications": 20,
}
GENTLE: dict[str, Any] = {"gentle": True}

SETTINGS = (
    # Settings with Drop Tail
    Dumbbell("dt-reno-n1", drop_tail(40), tcp(), flows=1),
    Dumbbell("dt-reno-n2", drop_tail(20), tcp(), flows=2),
    Dumbbell("dt-reno-n5", drop_tail(32), tcp()),
    Dumbbell("dt-reno-n10", drop_tail(64), tcp(), flows=10),
    Dumbbell("dt-reno-n20", drop_tail(64), tcp(), flows=20),
    Dumbbell("dt-tahoe-n5", drop_tail(32), tcp("tahoe")),
    Dumbbell("dt-newreno-n5", drop_tail(32), tcp("newreno")),
    Dumbbell("dt-newreno-n10-10M", drop_tail(100), tcp("newreno"), flows=10, **FAST),
    Dumbbell("dt-sack-n1-10M", drop_tail(50), tcp("sack"), flows=1, **FAST),
    Dumbbell("dt-sack-n5-10M", drop_tail(100), tcp("sack"), **FAST),
    Dumbbell("dt-sack-n10-10M", drop_tail(60), tcp("sack"), flows=10, **FAST),
    Dumbbell("dt-sack-n20-100M", drop_tail(400), tcp("sack", window=1000), flows=20, **FASTER),
    Dumbbell("dt-reno-limited-transmit-n10", drop_tail(20),
             tcp("reno", {"recovery.limited_transmit": True}), flows=10),
    Dumbbell("dt-newreno-delack-n5-10M", drop_tail(100),
             tcp("newreno", {"delayed_ack": "2 packets"}), **FAST),
    Dumbbell("dt-sack-delack-n5-10M", drop_tail(100),
             tcp("sack", {"delayed_ack": "2 packets"}), **FAST),
    Dumbbell("dt-window-10-n5", drop_tail(64), tcp(window=10)),
    Dumbbell("dt-sack-n4-200ms", drop_tail(200), tcp("sack", window=400), flows=4,
             **{**FAST, "delay": 0.08, "duration": 120.0}),
    Dumbbell("dt-sack-n4-5ms", drop_tail(30), tcp("sack"), flows=4,
             **{**FAST, "delay": 0.001, "near": (0.0005, 0.002)}),
    Dumbbell("dt-bytes-n5-cbr", drop_tail(32, of_bytes=True), tcp("newreno"),
             cbr=(Cbr(150e3, 200),)),
    Dumbbell("dt-cbr-overload", drop_tail(50), flows=0, cbr=(Cbr(0.9e6), Cbr(0.8e6))),
    Dumbbell("dt-sack-n4-cbr-30%", drop_tail(64), tcp("sack"), flows=4, cbr=(Cbr(450e3),)),
    Dumbbell("dt-reno-finish-5x1000", drop_tail(32), tcp(), size=1000),
    Dumbbell("dt-newreno-finish-10x500", drop_tail(20), tcp("newreno"), flows=10, size=500),
    Dumbbell("dt-sack-finish-20x300-10M", drop_tail(50), tcp("sack"), flows=20, size=300, **FAST),
    Dumbbell("dt-reno-finish-10x300-rto-1s", drop_tail(10),
             tcp("reno", {"rto.min": "1 s", "rto.granularity": "100 ms"}), flows=10, size=300),
    # Settings with RED that drops packets
    Dumbbell("red-reno-n5", red(64, 5, 15), tcp()),
    Dumbbell("red-gentle-reno-n5", red(64, 5, 15, **GENTLE), tcp()),
    Dumbbell("red-gentle-reno-n20", red(64, 5, 15, **GENTLE), tcp(), flows=20),
    Dumbbell("red-gentle-sack-n10-10M", red(120, 10, 30, maxp=0.02, **GENTLE), tcp("sack"),
             flows=10, **FAST),
    Dumbbell("red-gentle-sack-n20-100M", red(500, 50, 150, **GENTLE), tcp("sack", window=1000),
             flows=20, **FASTER),
    Dumbbell("red-bytes-sack-n5-cbr", red(64, 5, 15, of_bytes=True, **GENTLE), tcp("sack"),
             cbr=(Cbr(150e3, 200),)),
    Dumbbell("red-uniform-reno-n5", red(64, 5, 15, spacing="uniform"), tcp()),
    Dumbbell("red-gentle-cbr-overload", red(64, 5, 15, **GENTLE), flows=0,
             cbr=(Cbr(0.9e6), Cbr(0.75e6))),
    Dumbbell("red-wq-0.02-reno-n10", red(64, 5, 15, wq=0.02), tcp(), flows=10),
    Dumbbell("red-reno-finish-5x1000", red(64, 5, 15), tcp(), size=1000),
    Dumbbell("red-newreno-finish-20x200", red(64, 5, 15), tcp("newreno"), flows=20, size=200),
    # Settings with RED that marks packets
    Dumbbell("ecn-reno-n5", red(64, 5, 15), tcp(), ecn_flows=5),
    Dumbbell("ecn-gentle-reno-n5", red(64, 5, 15, **GENTLE), tcp(), ecn_flows=5),
    Dumbbell("ecn-gentle-sack-n10-10M", red(120, 10, 30, **GENTLE), tcp("sack"), flows=10,
             ecn_flows=10, **FAST),
    Dumbbell("ecn-gentle-newreno-n20", red(64, 5, 15, **GENTLE), tcp("newreno"), flows=20,
             ecn_flows=20),
    Dumbbell("ecn-gentle-sack-n20-100M", red(500, 50, 150, **GENTLE), tcp("sack", window=1000),
             flows=20, ecn_flows=20, **FASTER),
    Dumbbell("ecn-mixed-newreno-n10", red(64, 5, 15, **GENTLE), tcp("newreno"), flows=10,
             ecn_flows=5),
    Dumbbell("ecn-dropping-from-0.05-n10", red(64, 5, 15, mark_below=0.05, **GENTLE), tcp(),
             flows=10, ecn_flows=10),
    Dumbbell("ecn-reno-finish-5x1000", red(64, 5, 15), tcp(), size=1000, ecn_flows=5),
    Dumbbell("ecn-sack-finish-20x300-10M", red(120, 10, 30, **GENTLE), tcp("sack"), flows=20,
             size=300, ecn_flows=20, **FAST),
    Dumbbell("ecn-sack-n4-200ms", red(250, 20, 60, **GENTLE), tcp("sack", window=400), flows=4,
             ecn_flows=4, **{**FAST, "delay": 0.08, "duration": 120.0}),
)  # fmt: skip
"""Settings; a setting's name has the queue, the TCP, the flows and the parameter under test."""

SACK_TIMER = (
    "aqmlab and ns-2 restart the retransmission timer at different segments during SACK recovery: "
    "in the settings of this page, aqmlab restarts the timer only at the first retransmission of a "
    "recovery. In the setting dt-sack-n10-10M, the mean number of timeouts with the same random "
    "values is 74.1 in aqmlab, 57.2 in ns-2, and 50.7 in aqmlab if each retransmission restarts "
    'the timer (`rto.fast_retransmit = "each-restarts"`). In the setting dt-sack-n4-cbr-30%, the '
    "mean number of timeouts with the same random values is 13.1 in aqmlab, 6.4 in ns-2, and 7.2 "
    'in aqmlab with `rto.fast_retransmit = "each-restarts"`.'
)
CAUSES: dict[tuple[str, str], str] = {
    ("dt-sack-n10-10M", "timeouts"): SACK_TIMER,
    ("dt-sack-n4-cbr-30%", "timeouts"): SACK_TIMER,
}
"""Causes of differences beyond the tolerance, by the setting's name and the measure's key."""

AGENTS = {"tahoe": "TCP", "reno": "TCP/Reno", "newreno": "TCP/Newreno", "sack": "TCP/Sack1"}
"""Class of ns-2's sender for each method of loss recovery."""


def arguments(setting: Dumbbell, replication: int) -> dict[str, Any]:
    """Return the arguments of ``ns2.tcl`` for a replication."""
    draws: Draws = setting.draws(replication)
    n, queue, keys = setting.flows, setting.queue, setting.tcp
    values: dict[str, Any] = {
        "seed": replication + 1, "rate": setting.rate, "delay": setting.delay,
        "access": setting.access, "duration": setting.duration if not setting.size else 10_000,
        "warmup": setting.warmup, "size": setting.size,
        "starts": words(draws.starts[:n]), "delays": words(draws.delays[:n]),
        "ecns": words([int(i < setting.ecn_flows) for i in range(n)]),
        "cbr": words(
            f"{{{flow.rate} {flow.packet} {start} {delay}}}" for flow, start, delay
            in zip(setting.cbr, draws.starts[n:], draws.delays[n:], strict=True)
        ),
    }  # fmt: skip
    limit, unit = str(queue["limit"]).split()
    of_bytes = unit == "bytes"
    scale = 1500 if of_bytes else 1
    values |= {"limit": -(-int(limit) // scale), "bytes": int(of_bytes)}
    if queue["kind"] == "red":
        minth, maxth = (int(str(queue[key]).split()[0]) // scale for key in ("minth", "maxth"))
        values |= {
            "queue": "RED", "minth": minth, "maxth": maxth, "maxp": queue["maxp"],
            "wq": queue["wq"], "gentle": int(queue["gentle"]), "ecn": int(setting.ecn_flows > 0),
            "mark_p": queue.get("mark_below", 0), "wait": int(queue["spacing"] == "wait"),
        }  # fmt: skip
    if keys:
        values |= {
            "tcp": AGENTS[keys["recovery"]["method"]], "sack": int(keys["sack"]),
            "window": int(keys["receive_window"].split()[0]) // SEGMENT_BYTES,
            "delack": int(keys["delayed_ack"] == "2 packets"),
            "singledup": int(keys["recovery"].get("limited_transmit", False)),
            "minrto": seconds(keys["rto"]["min"]), "tick": seconds(keys["rto"]["granularity"]),
        }  # fmt: skip
    return values | setting.peer_arguments


def words(values: Iterable[Any]) -> str:
    """Return a Tcl list of values."""
    return " ".join(map(str, values))


def seconds(text: str) -> float:
    """Return the time in s of a text such as "200 ms" or "1 s"."""
    value, unit = text.split()
    return float(value) * {"s": 1.0, "ms": 1e-3}[unit]


def run(setting: Dumbbell, replication: int) -> Numbers:
    """Run a replication in ns-2 and return its measures."""
    values = arguments(setting, replication)
    command = ["ns", str(SCRIPT), *(f"{key}={value}" for key, value in values.items())]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode or not done.stdout:
        raise RuntimeError(f"{setting.name}: ns-2 failed: {done.stderr.strip()[:500]}")
    counts = {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}
    numbers = {"drops": counts["drops"], "marks": counts["marks"]}
    numbers |= {"retransmitted": counts["retransmitted"], "timeouts": counts["timeouts"]}
    if setting.size:
        return numbers | {"finish": counts["finish"]}
    goodput = counts["acked"] * SEGMENT_BYTES * 8e-6 / setting.duration
    received = counts["cbr"] * 8e-6 / setting.duration
    return numbers | {"goodput": goodput, "queue": counts["queue"], "cbr": received}


def rows() -> Iterable[Row]:
    """Run all settings in aqmlab and in ns-2, and yield the rows of the comparison."""
    return compare(SETTINGS, run, CAUSES)
