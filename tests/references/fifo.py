"""A queue before a transmitter, event by event, around a law that decides on arrival."""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

PASS = 0
MARK = {"full": 1, "early": 2, "threshold": 3}
DROP = {"full": 4, "early": 5, "threshold": 6}
NOT_ECT = 0
SECOND = 10**12


@dataclass(slots=True, eq=False)
class Packet:
    """A packet as the traffic made it; two that are alike are still two."""

    flow: int
    size: int
    ecn: int
    dscp: int
    entered: int = 0
    outcome: int = 0
    done: int = 0
    """When it was dropped, or sent."""


@dataclass(slots=True)
class Queue:
    """What a law can see of its queue."""

    waiting: deque[Packet] = field(default_factory=deque)
    bytes: int = 0
    idle_since: float | None = 0.0

    @property
    def packets(self) -> int:
        """How many packets wait."""
        return len(self.waiting)

    def in_units_of(self, unit: str) -> int:
        """Return the waiting packets, or their bytes."""
        return self.packets if unit == "packets" else self.bytes


class Law:
    """A law; all times are in seconds.

    `arrival` returns "pass", or a pair: "signal" (mark it, or drop what cannot be marked) or
    "drop", and the reason.
    """

    period: float | None = None

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        raise NotImplementedError

    def enqueued(self, now: float, packet: Packet, queue: Queue) -> None:
        """After a packet was let in."""

    def overflow(self, now: float) -> None:
        """After a packet was dropped because the buffer is full."""

    def departure(self, now: float, packet: Packet, queue: Queue) -> None:
        """After a packet left the queue for the transmitter."""

    def tick(self, now: float, queue: Queue) -> None:
        """At the end of every period."""


class Shell:
    """The transmitter, the buffer and its limit, and ECN."""

    def __init__(self, law: Law, rate: int, limit: int, unit: str = "packets") -> None:
        self.law, self.rate, self.limit, self.unit = law, rate, limit, unit
        self.queue = Queue()
        self.free_at = 0
        self.sending = False
        self.next_tick = None if law.period is None else round(law.period * SECOND)

    def _begin(self, at: int) -> None:
        packet = self.queue.waiting.popleft()
        self.queue.bytes -= packet.size
        self.queue.idle_since = None
        self.sending = True
        self.free_at = at + (packet.size * 8 * SECOND + self.rate // 2) // self.rate
        packet.done = self.free_at
        self.law.departure(at / SECOND, packet, self.queue)

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
                self.law.tick(tick / SECOND, self.queue)
                assert self.law.period is not None
                self.next_tick = tick + round(self.law.period * SECOND)
            else:
                return

    def arrive(self, now: int, packet: Packet) -> None:
        """Decide what becomes of a packet, in the simulator's numbers."""
        packet.done = now
        packet.outcome = self._decide(now, packet)

    def finish(self) -> None:
        """Send what waits."""
        self.next_tick = None
        self._catch_up(1 << 64)

    def _decide(self, now: int, packet: Packet) -> int:
        self._catch_up(now)
        time = now / SECOND
        packet.entered = now
        verdict = self.law.arrival(time, packet, self.queue)
        if self.unit == "packets":
            full = self.queue.packets >= self.limit
        else:
            full = self.queue.bytes + packet.size > self.limit
        if full:
            self.law.overflow(time)
            return DROP["full"]
        outcome = PASS
        if verdict != "pass":
            what, why = verdict
            if what == "drop" or packet.ecn == NOT_ECT:
                return DROP[why]
            outcome = MARK[why]
        self.queue.waiting.append(packet)
        self.queue.bytes += packet.size
        self.law.enqueued(time, packet, self.queue)
        if not self.sending:
            self._begin(now)
        return outcome
