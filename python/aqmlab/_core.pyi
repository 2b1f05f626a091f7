"""Packet-level simulator, written in Rust (crates/python)."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

Column = tuple[str, bytes] | list[str]
"""Column of numbers as a dtype of numpy and bytes, or column of names as a list."""

Finished = tuple[str, bytes, dict[str, dict[str, Column]]]
"""Result of a run: the attributes of :class:`aqmlab.results.Packed`."""

class ScenarioError(ValueError): ...
class InvariantViolation(RuntimeError): ...

def check(text: str, format: str, overrides: list[tuple[str, str]]) -> str: ...
def check_limits(text: str) -> None: ...
def as_written(text: str, format: str) -> str: ...
def expanded(text: str) -> str: ...
def tcp(text: str) -> str: ...
def crossing(text: str, links: list[str]) -> list[list[list[str]]]: ...
def schema() -> str: ...
def pages() -> str: ...
def columns() -> str: ...
def distribution(
    quantity: str, written: str, probabilities: list[float], largest: list[float]
) -> tuple[float, list[float], list[float]]: ...
def sample(
    text: str, duration_s: float, users: int | None
) -> list[tuple[str, dict[str, Column]]]: ...

FORMAT: int
"""Version of the format of scenarios, experiments, results and stores."""
LARGE_BYTES: int
"""Default of the minimum size in bytes of a large table."""

def version() -> str: ...
def script(
    text: str,
    stack: str,
    changes: str,
    tolerance: str | None,
    preparation: list[tuple[str, str]],
    defines: list[tuple[str, str]],
) -> str: ...

class Batch:
    def __init__(
        self,
        texts: list[str],
        jobs: int,
        captures: Sequence[PathLike[str]] = (),
        aqms: Mapping[str, Callable[[], Any]] = ...,
        limits: str = "{}",
        hosts: str = "simulated",
        qdiscs: Sequence[tuple[str, str]] = (),
    ) -> None: ...
    def next(self, timeout_s: float, large_bytes: int = ...) -> tuple[int, Finished] | None: ...
    def progress(self) -> list[float]: ...
    def wait(self, timeout_s: float) -> bool: ...
    def cancel(self) -> None: ...

class Packet:
    """Packet, as an AQM sees it."""

    @property
    def flow(self) -> int:
        """Number of its connection."""
    @property
    def size(self) -> int:
        """Size on the wire in bytes."""
    @property
    def ecn(self) -> str:
        """ECN field: "not-ect", "ect0", "ect1" or "ce"."""
    @property
    def dscp(self) -> int:
        """DiffServ codepoint."""

class Arrival:
    """State of the queue when a packet arrives."""

    @property
    def now_s(self) -> float:
        """Simulated time in s."""
    @property
    def packets(self) -> int:
        """Number of waiting packets, without the packet in transmission."""
    @property
    def bytes(self) -> int:
        """Size of the waiting packets on the wire, in bytes."""
    @property
    def idle_s(self) -> float | None:
        """Time in s since the transmitter became idle; None while it sends."""
    @property
    def delay_s(self) -> float:
        """Time in s that the packet will wait if it is admitted; infinite below a scheduler."""

class Place:
    """Place of an AQM in the network: its link, its buffer, and its random stream."""

    @property
    def link(self) -> str:
        """Name of the link: from>to."""
    @property
    def rate_bps(self) -> int:
        """Rate of the link in bit/s."""
    @property
    def limit_packets(self) -> int | None:
        """Limit of the buffer in packets; None if the buffer counts bytes."""
    @property
    def limit_bytes(self) -> int | None:
        """Limit of the buffer in bytes; None if the buffer counts packets."""
    def uniform(self) -> float:
        """Return the next number of the queue's random stream, uniform in 0..1."""

class Verdict:
    """Decision of an AQM about a packet."""

PASS: Verdict
"""Verdict that passes the packet."""

def signal(
    why: str = "early", *, rule: str | None = None, source: str = "", **variables: float
) -> Verdict: ...
def drop(
    why: str = "early", *, rule: str | None = None, source: str = "", **variables: float
) -> Verdict: ...
