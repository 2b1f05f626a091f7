"""FQ-PIE: RFC 8290 §4 with RFC 8033's Appendix A in each queue, period by period."""

from typing import Any

from references.draws import MASK, Draws, mix
from references.fifo import MARK, NOT_ECT, SECOND, Packet, Queue
from references.kept import Discipline, drop
from references.pie import Pie


class FqPie(Discipline):
    """Every queue's PIE is run at the end of every period, whether it has packets or not."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        flows: int = 1024,
        quantum: int = 1514,
        limit: int = 10_240,
        t_update_ms: int = 15,
        **pie: Any,
    ) -> None:
        self.salt = draws.below(1 << 32)
        self.pies = [Pie(draws, rate, t_update_ms=t_update_ms, **pie) for _ in range(flows)]
        self.queues = [Queue() for _ in range(flows)]
        self.credits = [0] * flows
        self.quantum, self.limit = quantum, limit
        self.new: list[int] = []
        self.old: list[int] = []
        self.period = t_update_ms * SECOND // 1000
        self.next_tick = self.period
        self.used: set[int] = set()

    def tick_before(self, now: int) -> None:
        """Run the ends of periods up to `now`; an unused queue has nothing to change."""
        while self.next_tick <= now:
            for q in self.used:
                self.pies[q].tick(self.next_tick / SECOND, self.queues[q])
            self.next_tick += self.period

    def enqueue(self, now: int, packet: Packet, idle_since: int | None) -> None:
        self.tick_before(now)
        if sum(self.queues[q].packets for q in (*self.new, *self.old)) >= self.limit:
            drop(now, packet, "full")
            return
        q = mix((packet.flow << 32 | self.salt) & MASK) % len(self.queues)
        self.used.add(q)
        verdict = self.pies[q].arrival(now / SECOND, packet, self.queues[q])
        if verdict != "pass":
            what, why = verdict
            if what == "drop" or packet.ecn == NOT_ECT:
                drop(now, packet, why)
                return
            packet.outcome = MARK[why]
        self.queues[q].waiting.append(packet)
        self.queues[q].bytes += packet.size
        if q not in self.new and q not in self.old:
            self.new.append(q)
            self.credits[q] = self.quantum

    def dequeue(self, now: int) -> Packet | None:
        self.tick_before(now - 1)
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
            queue = self.queues[q]
            if not queue.waiting:
                chosen.remove(q)
                if chosen is self.new:
                    self.old.append(q)
                continue
            packet = queue.waiting.popleft()
            queue.bytes -= packet.size
            self.credits[q] -= packet.size
            if queue.waiting:
                self.pies[q].departure(now / SECOND, packet, queue)
            else:
                self.pies[q].current_qdelay = 0.0
            return packet
