"""Reference implementation of COBALT, with the names of the variables in Linux."""

import math
from collections import deque
from collections.abc import Iterable
from math import nan

from references.disciplines import Discipline, drop
from references.draws import Draws
from references.fifo import MARK, NOT_ECT, SECOND, Packet, Values


class Cobalt(Discipline):
    """COBALT with times in picoseconds; `schedule` is the time since the next signal was due."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        target_us: int = 5_000,
        interval_us: int = 100_000,
        p_inc: float = 2**-8,
        p_dec: float = 2**-12,
        mtu: int = 1514,
        limit: int = 100,
        rec_inv_sqrt: int = 1,
    ) -> None:
        self.draws, self.limit = draws, limit
        self.target, self.interval = target_us * 10**6, interval_us * 10**6
        self.p_inc, self.p_dec = p_inc, p_dec
        self.mtu_time = (mtu * 8 * SECOND + rate // 2) // rate
        self.queue: deque[Packet] = deque()
        self.count = 0
        self.rec_inv_sqrt = rec_inv_sqrt
        """Factor of the interval: 1, or 0 before the first computation of 1/sqrt(count) in CAKE."""
        self.dropping = False
        self.drop_next = 0
        self.p_drop = 0.0
        self.blue_timer = 0

    def control(self, t: int) -> int:
        return t + self.rec_inv_sqrt * int(self.interval / math.sqrt(self.count or 1))

    def waiting_packets(self) -> Iterable[Packet]:
        return self.queue

    def variables(self, now: int, packet: Packet) -> Values:
        """Return the variables of a decision on a packet, before they change."""
        return {
            "sojourn_s": (now - packet.entered) / SECOND,
            "count": self.count,
            "drop_next_s": self.drop_next / SECOND,
            "p_drop": self.p_drop,
            "random": nan,
        }

    def enqueue(self, now: int, packet: Packet, idle_since: int | None) -> None:
        while len(self.queue) >= self.limit:
            head = self.queue[0]
            self.explain(head, "buffer-full", self.variables(now, head))
            self.queue_full(now)
            drop(now, self.queue.popleft(), "full")
        self.queue.append(packet)

    def queue_full(self, now: int) -> None:
        if now - self.blue_timer > self.target:
            self.p_drop = min(1.0, self.p_drop + self.p_inc)
            self.blue_timer = now
        self.dropping = True
        self.drop_next = now
        if self.count == 0:
            self.count = 1

    def queue_empty(self, now: int) -> None:
        if self.p_drop > 0 and now - self.blue_timer > self.target:
            self.p_drop = max(0.0, self.p_drop - self.p_dec)
            self.blue_timer = now
        self.dropping = False
        if self.count > 0 and now - self.drop_next >= 0:
            self.count, self.rec_inv_sqrt = self.count - 1, 1
            self.drop_next = self.control(self.drop_next)

    def should_drop(self, now: int, packet: Packet) -> bool:
        self.rule, self.before = "codel", self.variables(now, packet)
        sojourn = now - packet.entered
        schedule = now - self.drop_next
        over_target = sojourn > self.target and sojourn > 4 * self.mtu_time
        next_due = self.count > 0 and schedule >= 0
        dropped = False
        if over_target:
            if not self.dropping:
                self.dropping = True
                self.drop_next = self.control(now)
            if self.count == 0:
                self.count = 1
        elif self.dropping:
            self.dropping = False
        if next_due and self.dropping:
            if packet.ecn == NOT_ECT:
                dropped = True
            else:
                self.explain(packet, "codel", self.before)
                packet.outcome = MARK["early"]
            self.count, self.rec_inv_sqrt = self.count + 1, 1
            self.drop_next = self.control(self.drop_next)
            schedule = now - self.drop_next
        else:
            while next_due:
                self.count, self.rec_inv_sqrt = self.count - 1, 1
                self.drop_next = self.control(self.drop_next)
                schedule = now - self.drop_next
                next_due = self.count > 0 and schedule >= 0
        if not dropped and self.p_drop > 0:
            self.rule, self.before["random"] = "blue", self.draws.uniform()
            dropped = self.before["random"] < self.p_drop
        if self.count == 0:
            self.drop_next = now + self.interval
        elif schedule > 0 and not dropped:
            self.drop_next = now
        return dropped

    def dequeue(self, now: int) -> Packet | None:
        while self.queue:
            packet = self.queue.popleft()
            if not self.should_drop(now, packet) or not self.queue:
                return packet
            self.explain(packet, self.rule, self.before)
            drop(now, packet, "early")
        self.queue_empty(now)
        return None
