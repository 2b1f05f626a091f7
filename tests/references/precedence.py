"""RIO of Clark & Fang 1998 for any number of classes.

The parameter `averaged` selects the packets that each class counts in its average queue length.
"""

from dataclasses import dataclass
from typing import Any

from references.draws import Draws
from references.fifo import Aqm, Packet, Queue, Values
from references.red import Choice


@dataclass
class Class:
    """Parameters and state of RED for one class of packets."""

    dscp: list[int]
    minth: float
    maxth: float
    maxp: float
    avg: float = 0.0
    count: int = -1


class Precedence(Aqm):
    """RED with classes in order of precedence; the last class has all remaining codepoints."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        classes: list[tuple[list[int], float, float, float]],
        averaged: str,
        wq: float = 0.002,
        unit: str = "packets",
        min_backlog: int = 0,
    ) -> None:
        self.draws, self.averaged, self.wq, self.unit = draws, averaged, wq, unit
        self.min_backlog = min_backlog
        self.classes = [Class(*c) for c in classes]
        self.s = 500 * 8 / rate
        self.decayed_to = 0.0
        self.choice = Choice()

    def class_of(self, packet: Packet) -> int:
        for i, c in enumerate(self.classes):
            if packet.dscp in c.dscp:
                return i
        return len(self.classes) - 1

    def waiting(self, queue: Queue, counted: range) -> int:
        """Return the number of waiting packets or bytes of the classes `counted`."""
        mine = [p for p in queue.waiting if self.class_of(p) in counted]
        return len(mine) if self.unit == "packets" else sum(p.size for p in mine)

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        if queue.idle_since is not None:
            m = (now - max(queue.idle_since, self.decayed_to)) / self.s
            self.decayed_to = now
            for c in self.classes:
                c.avg *= (1 - self.wq) ** m
        mine = self.class_of(packet)
        n = len(self.classes)
        for i, c in enumerate(self.classes):
            if self.averaged == "all":
                q = self.waiting(queue, range(n))
            elif self.averaged == "own" and i == mine:
                q = self.waiting(queue, range(i, i + 1))
            elif self.averaged == "own-and-better" and i >= mine:
                q = self.waiting(queue, range(i + 1))
            else:
                continue
            c.avg = (1 - self.wq) * c.avg + self.wq * q
        c = self.classes[mine]
        if c.avg < c.minth or (self.min_backlog and queue.packets <= self.min_backlog):
            c.count = -1
            return "pass"
        if c.avg >= c.maxth:
            self.choice = Choice(c.count, 1.0, 1.0)
            c.count = 0
            return ("drop", "threshold")
        c.count += 1
        pb = c.maxp * (c.avg - c.minth) / (c.maxth - c.minth)
        if pb == 0:
            return "pass"
        pa = pb / (1 - c.count * pb) if c.count * pb < 1 else 1.0
        u = self.draws.uniform()
        if u < pa:
            self.choice = Choice(c.count, pb, min(pa, 1.0), u)
            c.count = 0
            return ("signal", "early")
        return "pass"

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        """Return rule and variables; the average and the count are those of the packet's class."""
        i = self.class_of(packet)
        rule, choice = self.choice.explain(reason, self.classes[i].count)
        return rule, {"precedence": i, "avg": self.classes[i].avg} | choice

    def overflow(self, now: float) -> None:
        for c in self.classes:
            c.count = 0
