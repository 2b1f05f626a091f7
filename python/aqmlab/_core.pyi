"""The simulator, written in Rust (crates/python)."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, TypedDict

Column = tuple[str, bytes] | list[str]
"""A dtype of numpy and the bytes of a column of numbers, or a column of names."""

class Finished(TypedDict):
    """A finished run: its manifest as JSON, and its tables by name."""

    manifest: str
    tables: dict[str, dict[str, Column]]

class ScenarioError(ValueError): ...
class InvariantViolation(RuntimeError): ...

def check(text: str, format: str, overrides: list[tuple[str, str]]) -> str: ...
def check_limits(text: str) -> None: ...
def said(text: str, format: str) -> str: ...
def expanded(text: str) -> str: ...
def tcp(text: str) -> str: ...
def crossing(text: str, links: list[str]) -> list[list[list[str]]]: ...
def schema() -> str: ...
def pages() -> str: ...
def columns() -> str: ...
def distribution(
    what: str, written: str, probabilities: list[float], largest: list[float]
) -> tuple[float, list[float], list[float]]: ...
def sample(
    text: str, duration_s: float, users: int | None
) -> list[tuple[str, dict[str, Column]]]: ...
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
        laws: Mapping[str, Callable[[], Any]] = ...,
        limits: str = "{}",
    ) -> None: ...
    def next(self, timeout_s: float) -> tuple[int, Finished] | None: ...
    def progress(self) -> list[float]: ...
    def wait(self, timeout_s: float) -> bool: ...
    def cancel(self) -> None: ...

class Packet:
    """A packet, as the law of a queue sees it."""

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
    """The queue as an arriving packet finds it."""

    @property
    def now_s(self) -> float:
        """Simulated time in s."""
    @property
    def packets(self) -> int:
        """Waiting packets, the one in service not included."""
    @property
    def bytes(self) -> int:
        """Their size on the wire."""
    @property
    def idle_s(self) -> float | None:
        """How long the transmitter has been idle, in s; None: it is sending."""
    @property
    def delay_s(self) -> float:
        """How long the packet will wait if it is admitted, in s."""

class Place:
    """Where a law is set up: its link, and its randomness."""

    @property
    def link(self) -> str:
        """Name of the link: from>to."""
    @property
    def rate_bps(self) -> int:
        """Its rate in bit/s."""
    @property
    def limit_packets(self) -> int | None:
        """Limit of the buffer in packets; None: it counts bytes."""
    @property
    def limit_bytes(self) -> int | None:
        """Limit of the buffer in bytes; None: it counts packets."""
    def uniform(self) -> float:
        """Return the next number of the queue's random stream, uniform in 0..1."""

class Verdict:
    """What a law says of a packet."""

PASS: Verdict

def signal(why: str = "early") -> Verdict: ...
def drop(why: str = "early") -> Verdict: ...
