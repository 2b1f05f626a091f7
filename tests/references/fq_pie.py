"""FQ-PIE: the flow queues of RFC 8290 §4 with PIE of RFC 8033 or of Linux in each queue."""

from collections.abc import Sequence
from typing import Any

from references.disciplines import drop
from references.draws import Draws
from references.fifo import MARK, NOT_ECT, SECOND, Packet, Queue
from references.fq_codel import FlowQueues
from references.pie import Pie
from references.tc_pie import LinuxPie, Vars, period


class Periodic(FlowQueues):
    """Flow queues, each with an AQM that updates its state at the end of each period."""

    queues: list[Queue]

    def tick_before(self, now: int) -> None:
        """Run the updates of all periods that end at or before `now`."""
        raise NotImplementedError

    def departed(self, now: int, q: int, packet: Packet) -> None:
        """Update the AQM of a queue after a packet left the queue."""
        raise NotImplementedError

    def packets_of(self, q: int) -> Sequence[Packet]:
        return self.queues[q].waiting

    def admit(self, q: int, packet: Packet) -> None:
        """Store a packet in the flow queue `q`."""
        self.queues[q].waiting.append(packet)
        self.queues[q].bytes += packet.size
        self.added_to(q)

    def dequeue(self, now: int) -> Packet | None:
        self.tick_before(now - 1)
        return super().dequeue(now)

    def take(self, now: int, q: int) -> Packet | None:
        queue = self.queues[q]
        if not queue.waiting:
            return None
        packet = queue.waiting.popleft()
        queue.bytes -= packet.size
        self.departed(now, q, packet)
        return packet


class FqPie(Periodic):
    """FQ-PIE that updates PIE in empty queues too, at the end of each period."""

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
        super().__init__(draws, flows=flows, quantum=quantum, limit=limit)
        self.pies = [Pie(draws, rate, t_update_ms=t_update_ms, **pie) for _ in range(flows)]
        self.queues = [Queue() for _ in range(flows)]
        self.period = t_update_ms * SECOND // 1000
        self.next_tick = self.period
        self.used: set[int] = set()

    def tick_before(self, now: int) -> None:
        """Run the updates of all periods that end by `now` in queues that have had a packet."""
        while self.next_tick <= now:
            for q in self.used:
                self.pies[q].tick(self.next_tick / SECOND, self.queues[q])
            self.next_tick += self.period

    def enqueue(self, now: int, packet: Packet, idle_since: int | None) -> None:
        self.tick_before(now)
        q = self.queue_of(packet)
        self.used.add(q)
        if sum(self.queues[i].packets for i in (*self.new, *self.old)) >= self.limit:
            self.explain_in(q, packet, "buffer-full", self.pies[q].explain(packet, "full")[1])
            drop(now, packet, "full")
            return
        verdict = self.pies[q].arrival(now / SECOND, packet, self.queues[q])
        if verdict != "pass":
            action, reason = verdict
            self.explain_in(q, packet, *self.pies[q].explain(packet, reason))
            if action == "drop" or packet.ecn == NOT_ECT:
                drop(now, packet, reason)
                return
            packet.outcome = MARK[reason]
        self.admit(q, packet)

    def departed(self, now: int, q: int, packet: Packet) -> None:
        self.pies[q].departure(now / SECOND, packet, self.queues[q])


class LinuxFqPie(Periodic):
    """FQ-PIE of sch_fq_pie.c: struct pie_vars for each queue, and one limit for all queues."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        flows: int = 1024,
        quantum: int = 1514,
        limit: int = 10_240,
        t_update_ms: int = 15,
        hz: int = 1000,
        **pie: Any,
    ) -> None:
        super().__init__(draws, flows=flows, quantum=quantum, limit=limit)
        self.pie = LinuxPie(draws, ecn_prob=pie.pop("ecn_prob", 10), **pie)
        self.vars = [Vars(self.pie.max_burst) for _ in range(flows)]
        self.queues = [Queue() for _ in range(flows)]
        self.period = self.next_tick = period(t_update_ms, hz)
        self.used: set[int] = set()

    def tick_before(self, now: int) -> None:
        """Run the updates of all periods that end by `now` in queues that have had a packet."""
        while self.next_tick <= now:
            for q in self.used:
                self.pie.calculate_probability(self.vars[q], self.queues[q].bytes)
            self.next_tick += self.period

    def enqueue(self, now: int, packet: Packet, idle_since: int | None) -> None:
        self.tick_before(now)
        q = self.queue_of(packet)
        self.used.add(q)
        if sum(self.queues[i].packets for i in (*self.new, *self.old)) >= self.limit:
            self.explain_in(q, packet, "buffer-full", self.pie.explain(self.vars[q], "full")[1])
            self.vars[q].accu_prob = 0
            drop(now, packet, "full")
            return
        verdict = self.pie.arrival(self.vars[q], packet, self.queues[q].bytes)
        if verdict != "pass":
            action, reason = verdict
            self.explain_in(q, packet, *self.pie.explain(self.vars[q], reason))
            if action == "drop":
                drop(now, packet, reason)
                return
            packet.outcome = MARK[reason]
        self.admit(q, packet)

    def departed(self, now: int, q: int, packet: Packet) -> None:
        self.pie.process_dequeue(self.vars[q], now, packet, self.queues[q].bytes)
