"""Schedulers, slow and literal: classes with Drop Tail, and who is next."""

from collections import deque
from fractions import Fraction
from math import ceil

from references.draws import MASK, Draws, mix
from references.fifo import SECOND, Packet
from references.kept import Discipline, drop


class Classes(Discipline):
    """Class i takes what flow i sends, the last one the rest; each has room for `limit` packets."""

    def __init__(self, classes: int, limit: int) -> None:
        self.queues: list[deque[Packet]] = [deque() for _ in range(classes)]
        self.limit = limit

    def class_of(self, packet: Packet) -> int:
        return min(packet.flow, len(self.queues) - 1)

    def enqueue(self, now: int, packet: Packet, idle_since: int | None) -> None:
        c = self.class_of(packet)
        if len(self.queues[c]) >= self.limit:
            drop(now, packet, "full")
            return
        self.queues[c].append(packet)
        self.came(now, c, packet)

    def came(self, now: int, c: int, packet: Packet) -> None:
        """After a packet was let into a class."""


class Priority(Classes):
    """Kleinrock 1976 §3.4: head of the line."""

    def __init__(self, draws: Draws, rate: int, *, classes: int, limit: int) -> None:
        super().__init__(classes, limit)

    def dequeue(self, now: int) -> Packet | None:
        return next((queue.popleft() for queue in self.queues if queue), None)


class Drr(Classes):
    """Shreedhar & Varghese 1996, figure 2, a packet at a time."""

    def __init__(self, draws: Draws, rate: int, *, quanta: list[int], limit: int) -> None:
        super().__init__(len(quanta), limit)
        self.quanta = quanta
        self.counters = [0] * len(quanta)
        self.active: list[int] = []
        self.begun = False

    def came(self, now: int, c: int, packet: Packet) -> None:
        if c not in self.active:
            self.active.append(c)

    def allows(self, c: int) -> bool:
        return self.queues[c][0].size <= self.counters[c]

    def price(self, packet: Packet) -> int:
        return packet.size

    def dequeue(self, now: int) -> Packet | None:
        while self.active:
            c = self.active[0]
            if not self.begun:
                self.counters[c] += self.quanta[c]
                self.begun = True
            sent = self.queues[c].popleft() if self.allows(c) else None
            if sent is not None:
                self.counters[c] -= self.price(sent)
            if not self.queues[c]:
                self.counters[c] = min(self.counters[c], 0)
                self.active.pop(0)
                self.begun = False
            elif not self.allows(c):
                self.active.append(self.active.pop(0))
                self.begun = False
            if sent is not None:
                return sent
        return None


class Wrr(Drr):
    """Katevenis et al. 1991: turns in packets."""

    def allows(self, c: int) -> bool:
        return self.counters[c] > 0

    def price(self, packet: Packet) -> int:
        return 1


class Mdrr(Drr):
    """Cisco's: a turn lasts while the counter is above zero; one class may go before all others."""

    def __init__(
        self, draws: Draws, rate: int, *, quanta: list[int], limit: int, first: int | None = None
    ) -> None:
        super().__init__(draws, rate, quanta=quanta, limit=limit)
        self.first = first

    def allows(self, c: int) -> bool:
        return self.counters[c] > 0

    def came(self, now: int, c: int, packet: Packet) -> None:
        if c != self.first:
            super().came(now, c, packet)

    def dequeue(self, now: int) -> Packet | None:
        if self.first is not None and self.queues[self.first]:
            return self.queues[self.first].popleft()
        return super().dequeue(now)


class MdrrAlternate(Mdrr):
    """The first class has a turn of its own after each turn of another, by its own counter."""

    turn = False

    def serve_first(self) -> Packet:
        assert self.first is not None
        packet = self.queues[self.first].popleft()
        self.counters[self.first] -= packet.size
        if not self.queues[self.first]:
            self.turn = False
            self.counters[self.first] = min(self.counters[self.first], 0)
        return packet

    def dequeue(self, now: int) -> Packet | None:
        assert self.first is not None
        waits = bool(self.queues[self.first])
        self.turn = self.turn and self.counters[self.first] > 0
        if waits and self.turn:
            return self.serve_first()
        packet = Drr.dequeue(self, now)
        if packet is not None:
            if waits and not self.begun:  # the turn of the other is over
                self.turn = True
                self.counters[self.first] += self.quanta[self.first]
            return packet
        if not waits:
            return None
        self.turn = True
        while self.counters[self.first] <= 0:
            self.counters[self.first] += self.quanta[self.first]
        return self.serve_first()


class FairQueueing(Classes):
    """Each packet gets a finishing tag when it comes; the smallest is sent first."""

    def __init__(self, draws: Draws, rate: int, *, weights: list[float], limit: int) -> None:
        super().__init__(len(weights), limit)
        self.rate = rate
        self.weights = weights
        self.last = [0.0] * len(weights)
        self.tags: list[deque[float]] = [deque() for _ in weights]

    def virtual_time(self, now: int) -> float:
        raise NotImplementedError

    def came(self, now: int, c: int, packet: Packet) -> None:
        v = self.virtual_time(now)
        self.last[c] = max(self.last[c], v) + packet.size / self.weights[c]
        self.tags[c].append(self.last[c])

    def served(self, tag: float) -> None:
        """When a packet with this tag goes into service."""

    def dequeue(self, now: int) -> Packet | None:
        heads = [(tags[0], c) for c, tags in enumerate(self.tags) if tags]
        if not heads:
            return None
        tag, c = min(heads)
        self.tags[c].popleft()
        self.served(tag)
        return self.queues[c].popleft()


class Wfq(FairQueueing):
    """Parekh & Gallager 1993 §III, eq. 10 and 11: virtual time is that of the fluid system.

    It is busy with a class until virtual time reaches the class's last tag.
    """

    v = 0.0
    at = 0

    def virtual_time(self, now: int) -> float:
        left = (now - self.at) * 1e-12
        self.at = now
        while left > 0:
            busy = [c for c, last in enumerate(self.last) if last > self.v]
            if not busy:
                break
            # dV/dt = rate / sum of the weights, until the first of them is done.
            weights = sum(self.weights[c] for c in busy)
            first = min(self.last[c] for c in busy)
            takes = (first - self.v) * weights / (self.rate / 8)
            if takes > left:
                self.v += left * (self.rate / 8) / weights
                break
            self.v = first
            left -= takes
        return self.v


class Scfq(FairQueueing):
    """Golestani 1994 §III: virtual time is the tag of the packet in service."""

    v = 0.0

    def virtual_time(self, now: int) -> float:
        return self.v

    def served(self, tag: float) -> None:
        self.v = tag


class Sfq(Discipline):
    """McKenney 1990: flows hashed to queues in turn; the longest loses its last packet."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        queues: int,
        limit: int,
        quantum: int | None = None,
        perturb: int | None = None,
    ) -> None:
        self.draws, self.limit, self.quantum, self.perturb = draws, limit, quantum, perturb
        self.salt = draws.below(1 << 32)
        self.perturbed = 0
        self.queues: list[list[Packet]] = [[] for _ in range(queues)]
        self.turns: list[int] = []
        self.allotted = [0] * queues

    def queue_of(self, packet: Packet) -> int:
        return mix((packet.flow << 32 | self.salt) & MASK) % len(self.queues)

    def put(self, packet: Packet) -> None:
        q = self.queue_of(packet)
        if not self.queues[q]:
            self.turns.append(q)
            self.allotted[q] = self.quantum or 0
        self.queues[q].append(packet)

    def change_hash(self, now: int) -> None:
        if self.perturb is None or now - self.perturbed < self.perturb:
            return
        self.perturbed += (now - self.perturbed) // self.perturb * self.perturb
        self.salt = self.draws.below(1 << 32)
        packets = [packet for q in self.turns for packet in self.queues[q]]
        for q in self.turns:
            self.queues[q] = []
        self.turns = []
        for packet in packets:
            self.put(packet)

    def enqueue(self, now: int, packet: Packet, idle_since: int | None) -> None:
        self.change_hash(now)
        own = self.queue_of(packet)
        while sum(map(len, self.queues)) >= self.limit:
            most = max(len(self.queues[q]) for q in self.turns)
            if most <= len(self.queues[own]):
                drop(now, packet, "full")
                return
            longest = [q for q in self.turns if len(self.queues[q]) == most][-1]
            drop(now, self.queues[longest].pop(), "full")
            if not self.queues[longest]:
                self.turns.remove(longest)
        self.put(packet)

    def dequeue(self, now: int) -> Packet | None:
        self.change_hash(now)
        while self.turns:
            q = self.turns[0]
            if self.quantum is not None and self.allotted[q] <= 0:
                self.allotted[q] += self.quantum
                self.turns.append(self.turns.pop(0))
                continue
            packet = self.queues[q].pop(0)
            self.allotted[q] -= packet.size
            if not self.queues[q]:
                self.turns.pop(0)
            elif self.quantum is None:
                self.turns.append(self.turns.pop(0))
            return packet
        return None


class Bucket:
    """Tokens in bits, exactly."""

    def __init__(self, rate: int, depth: int) -> None:
        self.rate, self.depth = Fraction(rate, SECOND), 8 * depth
        self.tokens, self.at = Fraction(self.depth), 0

    def fill(self, now: int) -> None:
        self.tokens = min(self.tokens + self.rate * (now - self.at), Fraction(self.depth))
        self.at = now

    def ready(self, now: int, packet: Packet) -> int:
        """Return the first picosecond at which there are tokens for a packet."""
        return now + max(0, ceil((8 * packet.size - self.tokens) / self.rate))


class Tbf(Classes):
    """tc-tbf(8): a bucket of `burst` bytes at the rate, and one of an MTU at the peak rate."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        limit: int,
        tokens: int,
        burst: int,
        peak: int | None = None,
        mtu: int = 1500,
    ) -> None:
        super().__init__(1, limit)
        self.largest = burst if peak is None else min(burst, mtu)
        self.buckets = [Bucket(tokens, burst)] + ([] if peak is None else [Bucket(peak, mtu)])

    def enqueue(self, now: int, packet: Packet, idle_since: int | None) -> None:
        if packet.size > self.largest:
            drop(now, packet, "full")
        else:
            super().enqueue(now, packet, idle_since)

    def dequeue(self, now: int) -> Packet | int | None:
        if not self.queues[0]:
            return None
        packet = self.queues[0][0]
        for bucket in self.buckets:
            bucket.fill(now)
        ready = max(bucket.ready(now, packet) for bucket in self.buckets)
        if ready > now:
            return ready
        for bucket in self.buckets:
            bucket.tokens -= 8 * packet.size
        return self.queues[0].popleft()
