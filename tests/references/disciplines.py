"""Queue disciplines that store packets, and a transmitter that requests packets from them."""

import math
from collections import deque
from collections.abc import Iterable
from functools import cached_property
from math import nan
from typing import Any

from references.draws import Draws
from references.fifo import (
    DROP,
    MARK,
    NOT_ECT,
    SECOND,
    Aqm,
    Packet,
    Queue,
    Reason,
    Values,
    buffer_values,
)
from references.red import Choice

CE = 3


class Discipline:
    """Queue discipline with the methods `enqueue` and `dequeue`; times in picoseconds."""

    limit: int
    unit = "packets"

    @cached_property
    def reasons(self) -> list[Reason]:
        """Reasons of the drops and marks, in their order."""
        return []

    def waiting_packets(self) -> Iterable[Packet]:
        """Return the packets that the queue stores."""
        raise NotImplementedError

    def explain(self, packet: Packet, rule: str, values: Values) -> None:
        """Record the reason for a drop or a mark, before the decision changes the queue."""
        values = values | buffer_values(self.waiting_packets(), self.limit, self.unit)
        self.reasons.append(Reason(packet, rule, values))

    def enqueue(self, now: int, packet: Packet, idle_since: int | None) -> None:
        raise NotImplementedError

    def dequeue(self, now: int) -> Packet | int | None:
        """Return the next packet, the time at which it may leave, or None for an empty queue."""
        raise NotImplementedError


def drop(now: int, packet: Packet, reason: str) -> None:
    """Set the outcome of a packet to a drop, even if the packet has a mark."""
    packet.outcome, packet.done = DROP[reason], now


class Transmitter:
    """Transmitter that sends the packets of a queue discipline."""

    def __init__(self, discipline: Discipline, rate: int) -> None:
        self.discipline, self.rate = discipline, rate
        self.free_at = 0
        self.sending = False
        self.next_request: int | None = None

    def _request(self, now: int) -> None:
        packet = self.discipline.dequeue(now)
        self.sending, self.next_request = isinstance(packet, Packet), None
        if isinstance(packet, Packet):
            time = (packet.size * 8 * SECOND + self.rate // 2) // self.rate
            self.free_at = self.next_request = packet.done = now + time
        elif packet is not None:
            self.next_request = packet

    def _catch_up(self, now: int) -> None:
        while self.next_request is not None and self.next_request <= now:
            self._request(self.next_request)

    def arrive(self, now: int, packet: Packet) -> None:
        """Pass an arriving packet to the queue discipline."""
        self._catch_up(now)
        packet.entered = now
        self.discipline.enqueue(now, packet, None if self.sending else self.free_at)
        if not self.sending:
            self._request(now)

    def finish(self) -> None:
        """Send all waiting packets."""
        self._catch_up(1 << 64)


def branch(draws: Draws, name: str) -> Draws:
    """Return the stream of random numbers that the simulator derives for the name `name`."""
    return Draws(draws.key, name)


class Fifo(Discipline):
    """FIFO with an AQM; signals can drop or mark a packet at any position (RFC 2309 §3)."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        drop_from: str = "tail",
        mark_at: str = "tail",
        aqm: type[Any] | None = None,
        settings: dict[str, Any] | None = None,
        limit: int = 20,
        unit: str = "packets",
    ) -> None:
        self.aqm: Aqm | None = aqm(draws, rate, **(settings or {})) if aqm else None
        self.victims = branch(draws, "victims")
        self.drop_from, self.mark_at, self.limit, self.unit = drop_from, mark_at, limit, unit
        self.waiting: list[Packet] = []

    def full(self, packet: Packet) -> bool:
        if self.unit == "packets":
            return len(self.waiting) >= self.limit
        return sum(p.size for p in self.waiting) + packet.size > self.limit

    def waiting_packets(self) -> Iterable[Packet]:
        """Return the packets that the last arriving packet found."""
        return self.found

    def explain_of_aqm(self, packet: Packet, arriving: Packet, reason: str) -> None:
        """Record why `packet` was dropped or marked at the arrival of the packet `arriving`."""
        explained = self.aqm.explain(arriving, reason) if self.aqm else None
        rule, values = explained or ("", {})
        self.explain(packet, "buffer-full" if reason == "full" else rule, values)

    def victim(self) -> Packet:
        if self.drop_from == "front":
            return self.waiting[0]
        if self.drop_from == "random":
            return self.waiting[self.victims.below(len(self.waiting))]
        sizes: dict[int, int] = {}
        for p in self.waiting:
            sizes[p.flow] = sizes.get(p.flow, 0) + p.size
        longest = max(sizes.values())
        return next(p for p in self.waiting if sizes[p.flow] == longest)

    def enqueue(self, now: int, packet: Packet, idle_since: int | None) -> None:
        idle = None if idle_since is None else idle_since / SECOND
        state = Queue(deque(self.waiting), sum(p.size for p in self.waiting), idle)
        verdict = self.aqm.arrival(now / SECOND, packet, state) if self.aqm else "pass"
        self.found = list(self.waiting)
        full = self.full(packet)
        if full and self.drop_from == "tail":
            self.explain_of_aqm(packet, packet, "full")
            drop(now, packet, "full")
        if full and self.aqm:
            self.aqm.overflow(now / SECOND)
        if full and self.drop_from == "tail":
            return
        action, reason = verdict if isinstance(verdict, tuple) else (verdict, "")
        if action == "drop" or (action == "signal" and packet.ecn == NOT_ECT):
            self.explain_of_aqm(packet, packet, reason)
            drop(now, packet, reason)
            return
        while self.full(packet):
            victim = self.victim() if self.waiting else packet
            self.explain_of_aqm(victim, packet, "full")
            drop(now, victim, "full")
            if victim is packet:
                return
            self.waiting.remove(victim)
        if action == "signal":
            marked = packet
            if self.mark_at == "head":
                # Mark the first ECN-capable packet without a mark, or else the arriving packet.
                unmarked = [p for p in self.waiting if p.ecn not in (NOT_ECT, CE)]
                marked = unmarked[0] if unmarked else packet
            self.explain_of_aqm(marked, packet, reason)
            marked.ecn = CE
            marked.outcome = MARK[reason]
        self.waiting.append(packet)

    def dequeue(self, now: int) -> Packet | None:
        return self.waiting.pop(0) if self.waiting else None


class Choke(Discipline):
    """CHOKe of Pan, Prabhakar & Psounis 2000, figure 1."""

    def __init__(
        self, draws: Draws, rate: int, *, minth: float, maxth: float, maxp: float, wq: float
    ) -> None:
        self.draws, self.candidates = draws, branch(draws, "candidates")
        self.minth, self.maxth, self.maxp, self.wq = minth, maxth, maxp, wq
        self.s = 500 * 8 / rate
        self.avg, self.count = 0.0, -1
        self.decayed_to = 0
        self.waiting: list[Packet] = []
        self.limit = 100

    def waiting_packets(self) -> Iterable[Packet]:
        return self.waiting

    def explain_choice(self, packet: Packet, rule: str, choice: Choice) -> None:
        """Record a reason with the variables of RED."""
        self.explain(packet, rule, {"avg": self.avg, "maxp": self.maxp} | vars(choice))

    def enqueue(self, now: int, packet: Packet, idle_since: int | None) -> None:
        if idle_since is not None:
            idle = now - max(idle_since, self.decayed_to)
            self.avg *= (1 - self.wq) ** (idle / SECOND / self.s)
            self.decayed_to = now
        self.avg = (1 - self.wq) * self.avg + self.wq * len(self.waiting)
        if self.avg > self.minth and self.waiting:
            candidate = self.waiting[self.candidates.below(len(self.waiting))]
            if candidate.flow == packet.flow:
                for dropped in (candidate, packet):
                    self.explain_choice(dropped, "same-flow", Choice(self.count))
                self.waiting.remove(candidate)
                drop(now, candidate, "early")
                drop(now, packet, "early")
                return
        chosen, choice = None, Choice()
        if self.avg < self.minth:
            self.count = -1
        elif self.avg >= self.maxth:
            choice = Choice(self.count, 1.0, 1.0)
            self.count = 0
            chosen = "threshold"
        else:
            self.count += 1
            pb = self.maxp * (self.avg - self.minth) / (self.maxth - self.minth)
            pa = pb / (1 - self.count * pb) if self.count * pb < 1 else 1.0
            if pb > 0 and (u := self.draws.uniform()) < pa:
                choice = Choice(self.count, pb, min(pa, 1.0), u)
                self.count = 0
                chosen = "early"
        full = len(self.waiting) >= self.limit
        if full:
            self.explain_choice(packet, "buffer-full", Choice(self.count))
        elif chosen:
            rule = "above-maxth" if chosen == "threshold" else "random"
            self.explain_choice(packet, rule, choice)
        if full:
            drop(now, packet, "full")
        elif chosen == "threshold" or (chosen and packet.ecn == NOT_ECT):
            drop(now, packet, chosen)
        else:
            if chosen:
                packet.outcome = MARK[chosen]
            self.waiting.append(packet)

    def dequeue(self, now: int) -> Packet | None:
        return self.waiting.pop(0) if self.waiting else None


class Codel(Discipline):
    """CoDel of RFC 8289 §5, with the names of the RFC; a time of 0 stands for "not set"."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        target_us: int = 5_000,
        interval_us: int = 100_000,
        maxpacket: int = 1500,
        limit: int = 100,
        ce_threshold_us: int | None = None,
        newton: bool = True,
    ) -> None:
        self.newton, self.rec_inv_sqrt = newton, 0xFFFF
        self.ce_threshold = None if ce_threshold_us is None else ce_threshold_us * 10**6
        self.target, self.interval = target_us * 10**6, interval_us * 10**6
        self.maxpacket, self.limit = maxpacket, limit
        self.queue: deque[Packet] = deque()
        self.sharing: list[Codel] = [self]
        """CoDel queues that send to the same link as this queue (RFC 8289 §4.4)."""
        self.first_above_time = 0
        self.drop_next = 0
        self.count = 0
        self.lastcount = 0
        self.dropping = False

    def waiting_packets(self) -> Iterable[Packet]:
        return self.queue

    def enqueue(self, now: int, packet: Packet, idle_since: int | None) -> None:
        if len(self.queue) >= self.limit:
            self.explain(packet, "buffer-full", {})
            drop(now, packet, "full")
        else:
            self.queue.append(packet)

    def control_law(self, t: int, count: int) -> int:
        if self.newton:
            return t + (self.interval * self.rec_inv_sqrt >> 16)
        return t + int(self.interval / math.sqrt(count))

    def newton_step(self) -> None:
        """Compute x (3 - count x²) / 2 in fixed point with 16 bits (Linux, codel_impl.h)."""
        x = self.rec_inv_sqrt * 2**16
        value = (3 * 2**32 - self.count * (x * x // 2**32)) % 2**64 // 4
        self.rec_inv_sqrt = (value * x % 2**64 // 2**31) // 2**16 % 2**16

    def dodequeue(self, now: int) -> tuple[Packet | None, bool]:
        if not self.queue:
            self.first_above_time = 0
            return None, False
        p = self.queue.popleft()
        ok_to_drop = False
        sojourn_time = now - p.entered
        occupancy = sum(p.size for codel in self.sharing for p in codel.queue)
        if sojourn_time < self.target or occupancy <= self.maxpacket:
            self.first_above_time = 0
        elif self.first_above_time == 0:
            self.first_above_time = now + self.interval
        elif now >= self.first_above_time:
            ok_to_drop = True
        return p, ok_to_drop

    def explain_control(self, now: int, p: Packet, rule: str, count: int) -> None:
        """Record the reason for a signal with the variables of §5.5 and §5.6."""
        self.explain(p, rule, {
            "sojourn_s": (now - p.entered) / SECOND,
            "first_above_s": self.first_above_time / SECOND or nan,
            "drop_next_s": self.drop_next / SECOND,
            "count": count,
            "last_count": self.lastcount,
        })  # fmt: skip

    def signal(self, now: int, p: Packet | None) -> bool:
        """Mark a packet that supports ECN, or else drop it; return True if it was marked."""
        assert p is not None
        # In the dropping state, the count already includes this signal.
        rule = "drop-next" if self.dropping else "enters-dropping"
        self.explain_control(now, p, rule, self.count - self.dropping)
        if p.ecn == NOT_ECT:
            drop(now, p, "early")
            return False
        p.outcome = MARK["early"]
        return True

    def dequeue(self, now: int) -> Packet | None:
        p = self.next_packet(now)
        if p is None or self.ce_threshold is None or p.ecn in (NOT_ECT, CE) or p.outcome:
            return p
        # RFC 8290 §5.2.7 marks ECN-capable packets that have no mark yet.
        if now - p.entered > self.ce_threshold:
            self.explain_control(now, p, "ce-threshold", self.count)
            p.outcome = MARK["threshold"]
        return p

    def next_packet(self, now: int) -> Packet | None:
        p, ok_to_drop = self.dodequeue(now)
        if self.dropping:
            if not ok_to_drop:
                self.dropping = False
            while now >= self.drop_next and self.dropping:
                self.count += 1
                self.newton_step()
                if self.signal(now, p):
                    self.drop_next = self.control_law(self.drop_next, self.count)
                    return p
                p, ok_to_drop = self.dodequeue(now)
                if not ok_to_drop:
                    self.dropping = False
                else:
                    self.drop_next = self.control_law(self.drop_next, self.count)
        elif ok_to_drop:
            if not self.signal(now, p):
                p, ok_to_drop = self.dodequeue(now)
            self.dropping = True
            delta = self.count - self.lastcount
            self.count = 1
            if delta > 1 and now - self.drop_next < 16 * self.interval:
                self.count = delta
                self.newton_step()
            else:
                self.rec_inv_sqrt = 0xFFFF
            self.drop_next = self.control_law(now, self.count)
            self.lastcount = self.count
        return p
