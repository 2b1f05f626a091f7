"""FQ-CoDel of RFC 8290 §4, and the flow queues that FQ-CoDel and FQ-PIE share."""

from collections.abc import Iterable, Sequence
from typing import Any

from references.disciplines import Codel, Discipline, drop
from references.draws import MASK, Draws, mix
from references.fifo import Packet, Values


class FlowQueues(Discipline):
    """Flow queues: a hash selects the queue of a flow (§4.1), and new queues send first (§4.2)."""

    def __init__(self, draws: Draws, *, flows: int, quantum: int, limit: int) -> None:
        self.salt = draws.below(1 << 32)
        self.credits = [0] * flows
        self.quantum, self.limit = quantum, limit
        self.new: list[int] = []
        self.old: list[int] = []

    def queue_of(self, packet: Packet) -> int:
        return mix((packet.flow << 32 | self.salt) & MASK) % len(self.credits)

    def packets_of(self, q: int) -> Sequence[Packet]:
        """Return the packets in a queue."""
        raise NotImplementedError

    def waiting_packets(self) -> Iterable[Packet]:
        # A queue that is neither in the list `new` nor in the list `old` is empty.
        return [p for q in (*self.new, *self.old) for p in self.packets_of(q)]

    def explain_in(self, q: int, packet: Packet, rule: str, values: Values) -> None:
        """Record the reason for a drop or a mark of a packet of the queue `q`."""
        sizes = [p.size for p in self.packets_of(q)]
        own = {"flow_queue": q, "flow_queue_packets": len(sizes), "flow_queue_bytes": sum(sizes)}
        self.explain(packet, rule, values | own)

    def added_to(self, q: int) -> None:
        """After an arrival, append a queue to the list `new` if neither list has the queue."""
        if q not in self.new and q not in self.old:
            self.new.append(q)
            self.credits[q] = self.quantum

    def take(self, now: int, q: int) -> Packet | None:
        """Remove and return the next packet of a queue."""
        raise NotImplementedError

    def dequeue(self, now: int) -> Packet | None:
        while True:
            chosen = self.new if self.new else self.old
            if not chosen:
                return None
            q = chosen[0]
            if self.credits[q] <= 0:
                self.credits[q] += self.quantum
                chosen.remove(q)
                self.old.append(q)
                continue
            packet = self.take(now, q)
            if packet is None:
                chosen.remove(q)
                if chosen is self.new:
                    self.old.append(q)
                continue
            self.credits[q] -= packet.size
            return packet


class CodelOfFlow(Codel):
    """CoDel in the queue `q` of FQ-CoDel."""

    def __init__(self, fq: "FqCodel", q: int, *args: Any, **parameters: Any) -> None:
        super().__init__(*args, **parameters)
        self.fq, self.q = fq, q

    def explain(self, packet: Packet, rule: str, values: Values) -> None:
        self.fq.explain_in(self.q, packet, rule, values)


class FqCodel(FlowQueues):
    """Flow queues with CoDel (§4.2); a full buffer drops from the longest queue's head (§4.1)."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        target_us: int = 5_000,
        interval_us: int = 100_000,
        flows: int = 1024,
        quantum: int = 1514,
        limit: int = 10_240,
        own_queue: bool = False,
        ce_threshold_us: int | None = None,
    ) -> None:
        super().__init__(draws, flows=flows, quantum=quantum, limit=limit)
        self.queues = [
            CodelOfFlow(
                self,
                q,
                draws,
                rate,
                target_us=target_us,
                interval_us=interval_us,
                limit=1 << 60,
                ce_threshold_us=ce_threshold_us,
            )
            for q in range(flows)
        ]
        self.own_queue = own_queue

    def packets_of(self, q: int) -> Sequence[Packet]:
        return self.queues[q].queue

    def enqueue(self, now: int, packet: Packet, idle_since: int | None) -> None:
        q = self.queue_of(packet)
        self.queues[q].queue.append(packet)
        self.added_to(q)
        active = [self.queues[i].queue for i in (*self.new, *self.old)]
        if sum(map(len, active)) > self.limit:
            sizes = [sum(p.size for p in q.queue) for q in self.queues]
            q = sizes.index(max(sizes))
            longest = self.queues[q].queue
            for _ in range(max(1, min(64, len(longest) // 2))):
                dropped = longest.popleft()
                self.explain_in(q, dropped, "longest-queue", {})
                drop(now, dropped, "full")

    def take(self, now: int, q: int) -> Packet | None:
        codel = self.queues[q]
        if not self.own_queue:
            active = {*self.new, *self.old}
            codel.sharing = [self.queues[i] for i in active]
        return codel.dequeue(now)
