"""Schedulers over Drop Tail classes, implemented literally as their papers describe them."""

from collections import deque
from fractions import Fraction
from math import ceil

from references.disciplines import Discipline, drop
from references.draws import MASK, Draws, mix
from references.fifo import SECOND, Packet


class Classes(Discipline):
    """Classes of at most `limit` packets: class i has flow i; the last has all other flows."""

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
        self.enqueued(now, c, packet)

    def enqueued(self, now: int, c: int, packet: Packet) -> None:
        """Update the state after a class stored a packet."""


class Priority(Classes):
    """Nonpreemptive priority scheduler (head of the line, Kleinrock 1976 §3.4)."""

    def __init__(self, draws: Draws, rate: int, *, classes: int, limit: int) -> None:
        super().__init__(classes, limit)

    def dequeue(self, now: int) -> Packet | None:
        return next((queue.popleft() for queue in self.queues if queue), None)


class Drr(Classes):
    """DRR of Shreedhar & Varghese 1996, figure 2, packet by packet."""

    def __init__(self, draws: Draws, rate: int, *, quanta: list[int], limit: int) -> None:
        super().__init__(len(quanta), limit)
        self.quanta = quanta
        self.counters = [0] * len(quanta)
        self.active: list[int] = []
        self.begun = False

    def enqueued(self, now: int, c: int, packet: Packet) -> None:
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
    """Weighted round robin (katevenis1991wrr) with quanta in packets."""

    def allows(self, c: int) -> bool:
        return self.counters[c] > 0

    def price(self, packet: Packet) -> int:
        return 1


class Mdrr(Drr):
    """MDRR of Cisco: a class sends while its counter is above 0; one class may have priority."""

    def __init__(
        self, draws: Draws, rate: int, *, quanta: list[int], limit: int, first: int | None = None
    ) -> None:
        super().__init__(draws, rate, quanta=quanta, limit=limit)
        self.first = first

    def allows(self, c: int) -> bool:
        return self.counters[c] > 0

    def enqueued(self, now: int, c: int, packet: Packet) -> None:
        if c != self.first:
            super().enqueued(now, c, packet)

    def dequeue(self, now: int) -> Packet | None:
        if self.first is not None and self.queues[self.first]:
            return self.queues[self.first].popleft()
        return super().dequeue(now)


class MdrrAlternate(Mdrr):
    """MDRR in alternate mode: the first class sends after each turn of another class."""

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
        nonempty = bool(self.queues[self.first])
        self.turn = self.turn and self.counters[self.first] > 0
        if nonempty and self.turn:
            return self.serve_first()
        packet = Drr.dequeue(self, now)
        if packet is not None:
            if nonempty and not self.begun:  # The turn of the other class is over.
                self.turn = True
                self.counters[self.first] += self.quanta[self.first]
            return packet
        if not nonempty:
            return None
        self.turn = True
        while self.counters[self.first] <= 0:
            self.counters[self.first] += self.quanta[self.first]
        return self.serve_first()


class FairQueueing(Classes):
    """Scheduler that gives each arriving packet a finish tag and sends the smallest tag first."""

    def __init__(self, draws: Draws, rate: int, *, weights: list[float], limit: int) -> None:
        super().__init__(len(weights), limit)
        self.rate = rate
        self.weights = weights
        self.last = [0.0] * len(weights)
        self.tags: list[deque[float]] = [deque() for _ in weights]

    def virtual_time(self, now: int) -> float:
        raise NotImplementedError

    def enqueued(self, now: int, c: int, packet: Packet) -> None:
        v = self.virtual_time(now)
        self.last[c] = max(self.last[c], v) + packet.size / self.weights[c]
        self.tags[c].append(self.last[c])

    def served(self, tag: float) -> None:
        """Update the virtual time when the transmission of a packet with the tag `tag` begins."""

    def dequeue(self, now: int) -> Packet | None:
        heads = [(tags[0], c) for c, tags in enumerate(self.tags) if tags]
        if not heads:
            return None
        tag, c = min(heads)
        self.tags[c].popleft()
        self.served(tag)
        return self.queues[c].popleft()


class Wfq(FairQueueing):
    """WFQ with the virtual time of the fluid system (equations 10, 11 of Parekh & Gallager 1993).

    The fluid system serves a class until the virtual time reaches the last tag of the class.
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
            # Until the first class becomes empty, the virtual time V grows at the link rate divided
            # by the sum of the weights of the nonempty classes.
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
    """SCFQ of Golestani 1994 §III, with the tag of the packet in service as virtual time."""

    v = 0.0

    def virtual_time(self, now: int) -> float:
        return self.v

    def served(self, tag: float) -> None:
        self.v = tag


class Sfq(Discipline):
    """SFQ of McKenney 1990; a full buffer drops the last packet of the longest queue."""

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
            length = max(len(self.queues[q]) for q in self.turns)
            if length <= len(self.queues[own]):
                drop(now, packet, "full")
                return
            longest = [q for q in self.turns if len(self.queues[q]) == length][-1]
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
    """Token bucket that counts exact fractions of bits."""

    def __init__(self, rate: int, depth: int) -> None:
        self.rate, self.depth = Fraction(rate, SECOND), 8 * depth
        self.tokens, self.at = Fraction(self.depth), 0

    def fill(self, now: int) -> None:
        self.tokens = min(self.tokens + self.rate * (now - self.at), Fraction(self.depth))
        self.at = now

    def ready(self, now: int, packet: Packet) -> int:
        """Return the first picosecond at which the bucket has enough tokens for a packet."""
        return now + max(0, ceil((8 * packet.size - self.tokens) / self.rate))


class Tbf(Classes):
    """TBF of tc-tbf(8): a bucket of `burst` bytes, and a bucket of one MTU for the peak rate."""

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
