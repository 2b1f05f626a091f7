"""Engine in which the TCP of the Linux kernel sends data through a Drop Tail queue in user space.

    sudo .venv/bin/python examples/two_namespaces.py

Sender and receiver are processes in two network namespaces. The script contains a router, which
reads the packets of sender and receiver from two TUN devices. The router computes queue,
transmission and delay of each link of the scenario in virtual time, and forwards each packet at the
computed time. The script needs root, `ip` and /dev/net/tun. A run takes as much real time as its
transfer.
"""

import fcntl
import os
import select
import shutil
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

import aqmlab
from aqmlab.engine import Capabilities, Failed, Filling, Link, Progress
from aqmlab.results import Result
from aqmlab.scenario import seconds

ADDRESSES = "10.77.0.1", "10.77.0.2"
PORT = 5001
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x1, 0x1000  # linux/if_tun.h
SCENARIO: dict[str, Any] = {
    "title": "One download of the Linux kernel",
    "phase_breaking": {"start": "50 ms"},
    "network": {
        "kind": "dumbbell", "rate": "8 Mbit/s", "delay": "10 ms",
        "queue": {"kind": "drop_tail", "limit": "20 packets"},
        "left_rate": "100 Mbit/s", "left_delay": "0.5 ms",
        "right_rate": "100 Mbit/s", "right_delay": "0.5 ms",
    },
    "flows": [{"name": "download", "from": "left-0", "to": "right-0",
               "traffic": {"kind": "bulk", "size": "1 MB"}}],
    "tcp": {"stack": "linux"},
}  # fmt: skip

RECEIVER = """
import socket, sys
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
print("ready", flush=True)
connection, _ = listener.accept()
while connection.recv(1 << 16):
    pass
"""
SENDER = """
import fcntl, socket, struct, sys, termios, time
address, port, control, size, start, end = sys.argv[1:]
size, start, end = int(size), float(start), float(end)
time.sleep(max(0, start - time.monotonic()))
connection = socket.socket()
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
queued = lambda: struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, b"0000"))[0]
connection.settimeout(10)
connection.connect((address, int(port)))
connection.settimeout(0.05)
sent, data, done = 0, bytes(1 << 16), "nan"
while time.monotonic() < end:
    if sent < size:
        try:
            sent += connection.send(data[:size - sent])
        except TimeoutError:
            pass
    elif queued():
        time.sleep(0.0005)
    else:
        done = time.monotonic() - start
        break
info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
print(done, sent - queued(), struct.unpack_from("I", info, 100)[0])  # tcpi_total_retrans
"""


def missing() -> str | None:
    """Return the requirement that this machine does not meet, or None if the engine can run."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        return "needs root and the command ip"
    try:
        with _namespace("aqmlab-try"), Path("/dev/net/tun").open("r+b", buffering=0):
            return None
    except (OSError, subprocess.CalledProcessError) as e:
        return f"needs network namespaces and /dev/net/tun ({e})"


class Port:
    """Link with a Drop Tail queue, in virtual time."""

    def __init__(self, link: Link) -> None:
        self.link, self.free_s, self.busy_s = link, 0.0, 0.0
        # Per waiting packet: start of its transmission in s, and its size in bytes.
        self.waiting: deque[tuple[float, int]] = deque()
        self.waits: list[float] = []
        self.arrived = self.dropped = self.bytes = 0

    def arrival_s(self, at_s: float, size: int) -> float | None:
        """Return the arrival time of a packet at the far end, or None if the queue drops it."""
        while self.waiting and self.waiting[0][0] <= at_s:
            self.bytes -= self.waiting.popleft()[1]
        self.arrived += 1
        packets, limit_bytes = self.link.limit_packets, self.link.limit_bytes
        is_full = packets is not None and len(self.waiting) >= packets
        is_full |= limit_bytes is not None and self.bytes + size > limit_bytes
        if is_full and self.free_s > at_s:
            self.dropped += 1
            return None
        begin, sending_s = max(at_s, self.free_s), 8 * size / self.link.rate_bps
        self.free_s = begin + sending_s
        self.busy_s += sending_s
        self.bytes += size
        self.waiting.append((begin, size))
        self.waits.append(begin - at_s)
        return self.free_s + self.link.delay_s


class Namespaces:
    """Engine that sends one bulk flow with Linux's TCP between two namespaces."""

    build = f"two namespaces 1, Linux {os.uname().release}"
    capabilities = Capabilities(
        queues=["drop_tail"],
        series=["delays"],
        keys={
            **dict.fromkeys(["duration", "time_limit", "phase_breaking.*", "network.rate"]),
            **dict.fromkeys(["network.delay", "network.queue.limit", "flows.*.start"]),
            **dict.fromkeys(["network.left_*", "network.right_*", "flows.*.traffic.size"]),
            "network.queue.limit_counts": ["waiting"],
            "network.queue.drop_from": ["tail"],
            "network.kind": ["dumbbell"],
            "flows.*.count": [1],
            "flows.*.traffic.kind": ["bulk"],
            "tcp.stack": ["linux"],
            "tcp.congestion.kind": ["reno", "cubic"],
        },
        columns={
            "flows": ["flow", "from", "to", "start_s", "completed_s", "acked_bytes",
                      "goodput_bps", "retransmitted_segments"],
            "links": ["link", "arrived_packets", "dropped_packets", "dropped_full",
                      "dropped_early", "dropped_threshold", "marked_packets", "busy_s",
                      "utilization"],
            "delays": ["link", "packets", "mean_delay_s", "p95_delay_s", "p99_delay_s"],
        },
    )  # fmt: skip

    def run(
        self,
        texts: Sequence[str],
        jobs: int | None = None,  # noqa: ARG002 (one run at a time, because the kernel runs in real time)
        progress: Progress | None = None,
    ) -> Generator[tuple[int, Result | Failed]]:
        """Run scenarios; see :class:`aqmlab.engine.Engine`."""
        for i, text in enumerate(texts):
            filling = Filling(text)
            try:
                yield i, self._run_one(filling)
            except (OSError, subprocess.SubprocessError, ValueError) as error:
                yield i, Failed(error)
            if progress:
                progress(i + 1, len(texts))

    def _run_one(self, filling: Filling) -> Result:
        """Run one scenario."""
        network = filling.network
        if len(network.flows) != 1:
            raise ValueError(f"flows: {len(network.flows)} flows: must be 1; remove the others")
        (flow,) = network.flows
        ports = {link.name: Port(link) for link in network.links}
        ways = [[ports[name] for name in names] for names in (flow.forward, flow.reverse)]
        lasts = seconds(network.scenario["duration"] or network.scenario["time_limit"])
        control = flow.sender["congestion"]["kind"]
        with ExitStack() as stack:
            names = [f"aqmlab-{os.getpid()}-{side}" for side in "ab"]
            taps = [stack.enter_context(_host(name, i)) for i, name in enumerate(names)]
            receiver = stack.enter_context(_python(names[1], RECEIVER, ADDRESSES[1], PORT))
            assert receiver.stdout is not None
            receiver.stdout.readline()
            began = time.monotonic()
            times = began + flow.start_s, began + lasts
            size = flow.size_bytes or sys.maxsize
            arguments = [ADDRESSES[1], PORT, control, size, *times]
            sender = stack.enter_context(_python(names[0], SENDER, *arguments))
            _route(taps, ways, sender, began)
            out, error = sender.communicate()
            end = time.monotonic() - began
        if sender.returncode:
            raise OSError(f"the sender failed: {error.strip()[-200:]}")
        done, acked, retransmitted = out.split()
        counts = int(acked), int(retransmitted)
        return _filled(filling, ports, float(done), *counts, min(end, lasts))


def _route(
    taps: list[int], ways: list[list[Port]], sender: "subprocess.Popen[str]", began: float
) -> None:
    """Forward packets until the sender's process has ended."""
    leaving: list[deque[tuple[float, bytes]]] = [deque(), deque()]
    while sender.poll() is None:
        now = time.monotonic() - began
        for queue, tap in zip(leaving, reversed(taps), strict=True):
            while queue and queue[0][0] <= now:
                with suppress(OSError):
                    os.write(tap, queue.popleft()[1])
        next_s = min((queue[0][0] for queue in leaving if queue), default=now + 0.02)
        ready, _, _ = select.select(taps, [], [], min(0.02, max(0.0, next_s - now)))
        for tap in ready:
            packet, way = os.read(tap, 65536), taps.index(tap)
            at_s: float | None = time.monotonic() - began
            for port in ways[way] if packet[0] >> 4 == 4 else ():
                at_s = None if at_s is None else port.arrival_s(at_s, len(packet))
            if at_s is not None and packet[0] >> 4 == 4:
                leaving[way].append((at_s, packet))


def _filled(
    filling: Filling,
    ports: dict[str, Port],
    done: float,
    acked: int,
    retransmitted: int,
    end: float,
) -> Result:
    """Return the result. `done` is the duration of the transfer in s, or NaN without an end."""
    (flow,), every = filling.network.flows, list(ports.values())
    ran = end - flow.start_s if done != done else done
    filling.fill("flows", {
        "start_s": [flow.start_s], "completed_s": [flow.start_s + done], "acked_bytes": [acked],
        "goodput_bps": [8 * acked / ran], "retransmitted_segments": [retransmitted],
    })  # fmt: skip
    dropped, none = [port.dropped for port in every], [0] * len(every)
    filling.fill("links", {
        "arrived_packets": [port.arrived for port in every], "dropped_packets": dropped,
        "dropped_full": dropped, "dropped_early": none, "dropped_threshold": none,
        "marked_packets": none, "busy_s": [port.busy_s for port in every],
        "utilization": [port.busy_s / end for port in every],
    })  # fmt: skip
    record = filling.network.scenario["record"]
    if "delays" in record["series"]:
        chosen = [ports[name] for name in record["links"] or ports]
        waits = [port.waits or [np.nan] for port in chosen]
        filling.fill("delays", {
            "link": [port.link.name for port in chosen],
            "packets": [len(port.waits) for port in chosen],
            "mean_delay_s": [float(np.mean(wait)) for wait in waits],
            "p95_delay_s": [float(np.quantile(wait, 0.95)) for wait in waits],
            "p99_delay_s": [float(np.quantile(wait, 0.99)) for wait in waits],
        })  # fmt: skip
    return filling.result(end, engine=Namespaces.build)


def _ip(*words: str) -> None:
    """Run the command `ip`."""
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def _python(namespace: str, program: str, *words: Any) -> "Iterator[subprocess.Popen[str]]":
    """Run a Python program in a namespace, and kill it on exit."""
    command = ["ip", "netns", "exec", namespace, sys.executable, "-c", program, *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def _namespace(name: str) -> Iterator[None]:
    """Add a network namespace, and delete it on exit."""
    _ip("netns", "add", name)
    try:
        yield
    finally:
        _ip("netns", "del", name)


@contextmanager
def _host(name: str, side: int) -> Iterator[int]:
    """Create a namespace with the TUN device of a host, and yield the file descriptor."""
    device = f"aqm{os.getpid() % 10**6}{'ab'[side]}"
    tap = os.open("/dev/net/tun", os.O_RDWR)
    try:
        fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TUN | IFF_NO_PI))
        with _namespace(name):
            _ip(
                "link", "set", device, "netns", name
            )  # The file descriptor still belongs to the device.
            _ip("-n", name, "addr", "add", ADDRESSES[side], "peer", ADDRESSES[1 - side],
                "dev", device)  # fmt: skip
            _ip("-n", name, "link", "set", device, "up")
            settings = "echo 1 > tcp_no_metrics_save; echo 0 > tcp_ecn"
            _ip("netns", "exec", name, "sh", "-c", f"cd /proc/sys/net/ipv4; {settings}")
            yield tap
    finally:
        os.close(tap)


def main() -> None:
    """Run the scenario in the kernel and in the simulator, with three limits of the queue."""
    over = {"network.queue.limit": ["5 packets", "20 packets", "80 packets"]}
    for name, engine in (("kernel", Namespaces()), ("simulator", None)):
        swept = aqmlab.sweep(SCENARIO, over, engine=engine)
        print(name, (swept.flows["goodput_bps"] / 1e6).round(2).tolist(), "Mbit/s")


if __name__ == "__main__":
    print(why) if (why := missing()) else main()
