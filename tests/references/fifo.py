"""FIFO queue and transmitter, with an AQM that decides when a packet arrives."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import nan
from typing import Any

PASS = 0
"""Code of a packet that was sent without a signal."""
MARK = {"full": 1, "early": 2, "threshold": 3}
DROP = {"full": 4, "early": 5, "threshold": 6}
"""Codes that the simulator writes for marks and drops, by the reason of the signal."""
NOT_ECT = 0
SECOND = 10**12
"""Picoseconds per second."""


@dataclass(slots=True, eq=False)
class Packet:
    """Packet of the traffic; two packets with equal fields are not equal."""

    flow: int
    size: int
    ecn: int
    dscp: int
    entered: int = 0
    outcome: int = 0
    done: int = 0
    """Time at which the queue dropped the packet or its transmission ended, in picoseconds."""


Values = dict[str, float]


@dataclass(slots=True)
class Reason:
    """Rule by which a reference dropped or marked a packet, and the variables of the decision."""

    packet: Packet
    rule: str
    values: Values


def buffer_values(waiting: Iterable[Packet], limit: int, unit: str = "packets") -> Values:
    """Return the variables of a buffer in which the packets `waiting` wait."""
    sizes = [p.size for p in waiting]
    return {
        "queue_packets": len(sizes),
        "queue_bytes": sum(sizes),
        "limit_packets": limit if unit == "packets" else nan,
        "limit_bytes": nan if unit == "packets" else limit,
    }


@dataclass(slots=True)
class Queue:
    """State of a queue that an AQM can read."""

    waiting: deque[Packet] = field(default_factory=deque)
    bytes: int = 0
    idle_since: float | None = 0.0

    @property
    def packets(self) -> int:
        """Number of waiting packets."""
        return len(self.waiting)

    def in_units_of(self, unit: str) -> int:
        """Return the number of waiting packets, or of waiting bytes if `unit` is not "packets"."""
        return self.packets if unit == "packets" else self.bytes


class Aqm:
    """Base class of the reference AQMs, whose times are in seconds.

    `arrival` returns "pass" or a pair of an action and its reason. The action "signal" marks a
    packet that supports ECN, and drops a packet without ECN. The action "drop" drops every packet.
    """

    period: float | None = None
    full_rule = "buffer-full"
    """Rule of a drop because the buffer is full."""

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        raise NotImplementedError

    def enqueued(self, now: float, packet: Packet, queue: Queue) -> None:
        """Update the state after the queue stored a packet."""

    def overflow(self, now: float) -> None:
        """Update the state after a full buffer dropped a packet."""

    def departure(self, now: float, packet: Packet, queue: Queue) -> None:
        """Update the state after a packet left the queue for the transmitter."""

    def tick(self, now: float, queue: Queue) -> None:
        """Update the state at the end of a period."""

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values] | None:
        """Return the rule and variables of the decision on the packet that arrived last.

        `reason` is "full" if the full buffer drops the packet. The result is None if the reference
        has no variables.
        """
        return None


class AqmLink:
    """Buffer with a limit, an AQM with ECN, and a transmitter."""

    def __init__(self, aqm: Aqm, rate: int, limit: int, unit: str = "packets") -> None:
        self.aqm, self.rate, self.limit, self.unit = aqm, rate, limit, unit
        self.queue = Queue()
        self.reasons: list[Reason] = []
        """Reasons of the drops and marks, if the AQM has variables."""
        self.free_at = 0
        self.sending = False
        self.next_tick = None if aqm.period is None else round(aqm.period * SECOND)

    def _begin(self, at: int) -> None:
        packet = self.queue.waiting.popleft()
        self.queue.bytes -= packet.size
        self.queue.idle_since = None
        self.sending = True
        self.free_at = at + (packet.size * 8 * SECOND + self.rate // 2) // self.rate
        packet.done = self.free_at
        self.aqm.departure(at / SECOND, packet, self.queue)

    def _catch_up(self, now: int) -> None:
        while True:
            done = self.free_at if self.sending and self.free_at <= now else None
            tick = self.next_tick if self.next_tick is not None and self.next_tick <= now else None
            if done is not None and (tick is None or done <= tick):
                if self.queue.waiting:
                    self._begin(done)
                else:
                    self.sending = False
                    self.queue.idle_since = done / SECOND
            elif tick is not None:
                self.aqm.tick(tick / SECOND, self.queue)
                assert self.aqm.period is not None
                self.next_tick = tick + round(self.aqm.period * SECOND)
            else:
                return

    def arrive(self, now: int, packet: Packet) -> None:
        """Set the outcome of an arriving packet to one of the simulator's codes."""
        packet.done = now
        packet.outcome = self._decide(now, packet)

    def _explain(self, packet: Packet, reason: str) -> None:
        """Record the reason for a drop or a mark of the arriving packet."""
        explained = self.aqm.explain(packet, reason)
        if explained is not None:
            rule, values = explained
            values |= buffer_values(self.queue.waiting, self.limit, self.unit)
            rule = self.aqm.full_rule if reason == "full" else rule
            self.reasons.append(Reason(packet, rule, values))

    def finish(self) -> None:
        """Send all waiting packets."""
        self.next_tick = None
        self._catch_up(1 << 64)

    def _decide(self, now: int, packet: Packet) -> int:
        self._catch_up(now)
        time = now / SECOND
        packet.entered = now
        verdict = self.aqm.arrival(time, packet, self.queue)
        if self.unit == "packets":
            full = self.queue.packets >= self.limit
        else:
            full = self.queue.bytes + packet.size > self.limit
        if full:
            self._explain(packet, "full")
            self.aqm.overflow(time)
            return DROP["full"]
        outcome = PASS
        if verdict != "pass":
            action, reason = verdict
            self._explain(packet, reason)
            if action == "drop" or packet.ecn == NOT_ECT:
                return DROP[reason]
            outcome = MARK[reason]
        self.queue.waiting.append(packet)
        self.queue.bytes += packet.size
        self.aqm.enqueued(time, packet, self.queue)
        if not self.sending:
            self._begin(now)
        return outcome
