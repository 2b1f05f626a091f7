"""RED of Floyd & Jacobson 1993, figure 2, gentle RED of Floyd 2000, and two modes of ns-2.

The byte mode of ns-2.35 (`modify_p` of red.cc) counts the bytes since the last signal, including
the arriving packet, and divides this number by the mean packet size as an integer. If the
probability after spacing is below 1, ns-2 multiplies the probability by the packet size and divides
the product by the mean packet size. ns-2 always passes the first packet that arrives after the
average has reached minth. ns-2 also passes a packet that arrives at an empty queue, because ns-2
drops or marks packets only if more than one byte is waiting.

A queue remains empty if RED drops a packet that arrives at the empty queue. The drop at an empty
queue sets q_time to the time of the drop, because the average already reflects the idle time before
the drop. Each idle time therefore reduces the average only once (ns-2, Linux).
"""

from dataclasses import dataclass
from math import nan
from typing import Any

from references.draws import Draws
from references.fifo import Aqm, Packet, Queue, Values


@dataclass
class Choice:
    """Variables of the last signal of RED (figure 2); NaN if RED did not compute a variable."""

    count: float = nan
    p_b: float = nan
    p_a: float = nan
    random: float = nan

    def explain(self, reason: str, count: int) -> tuple[str, Values]:
        """Return rule and variables; only the present count is known if the buffer was full."""
        choice = Choice(count) if reason == "full" else self
        return "above-maxth" if reason == "threshold" else "random", dict(vars(choice))


class Red(Aqm):
    """RED with the names of the variables in figure 2."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        minth: float,
        maxth: float,
        maxp: float,
        wq: float,
        unit: str = "packets",
        gentle: bool = True,
        spacing: str = "uniform",
        above: str = "drop",
        by_size: int | None = None,
        by_bytes: int | None = None,
        s_bytes: int = 500,
        min_backlog: int = 0,
    ) -> None:
        self.draws = draws
        self.minth, self.maxth, self.maxp, self.wq = minth, maxth, maxp, wq
        self.unit, self.gentle, self.spacing, self.above = unit, gentle, spacing, above
        self.by_size, self.by_bytes, self.min_backlog = by_size, by_bytes, min_backlog
        self.s = s_bytes * 8 / rate
        self.avg = 0.0
        self.count = -1
        self.count_bytes = 0
        self.decayed_to = 0.0
        self.choice = Choice()

    def decay(self, now: float, idle_since: float | None) -> None:
        """Reduce the average as if small packets had arrived since the last decay."""
        if idle_since is not None:
            q_time = max(idle_since, self.decayed_to)
            self.avg = (1 - self.wq) ** ((now - q_time) / self.s) * self.avg
            self.decayed_to = now

    def average(self, now: float, queue: Queue) -> None:
        """Compute the new average queue size avg."""
        self.decay(now, queue.idle_since)
        self.avg = (1 - self.wq) * self.avg + self.wq * queue.in_units_of(self.unit)

    def initial_probability(self) -> float:
        """Return the probability pb for an average of at least minth."""
        if self.avg < self.maxth:
            return self.maxp * (self.avg - self.minth) / (self.maxth - self.minth)
        if self.gentle:
            return (1 - self.maxp) * (self.avg - self.maxth) / self.maxth + self.maxp
        return 1.0

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        self.average(now, queue)
        return self.decide(packet, queue)

    def decide(self, packet: Packet, queue: Queue) -> Any:
        """Return the verdict on an arriving packet at the present average queue size."""
        exempts = self.min_backlog or self.by_bytes is not None
        if self.avg < self.minth or (exempts and queue.packets <= self.min_backlog):
            self.count, self.count_bytes = -1, 0
            return "pass"
        pb = self.initial_probability()
        if pb >= 1:
            self.choice = Choice(self.counted(), 1.0, 1.0)
            self.count = self.count_bytes = 0
            return ("drop" if self.above == "drop" else "signal", "threshold")
        self.count += 1
        self.count_bytes += packet.size
        if self.by_bytes is not None and self.count == 0:  # ns-2 has edv_.old == 0 here.
            return "pass"
        if self.by_size is not None:
            pb = pb * packet.size / self.by_size
        if pb <= 0:
            return "pass"
        n = self.count if self.by_bytes is None else self.count_bytes // self.by_bytes
        if self.spacing == "geometric":
            pa = pb
        elif self.spacing == "uniform":
            pa = pb / (1 - n * pb) if n * pb < 1 else 1.0
        else:
            pa = 0.0 if n * pb < 1 else pb / (2 - n * pb) if n * pb < 2 else 1.0
        if self.by_bytes is not None and pa < 1:
            pa = pa * (packet.size / self.by_bytes)
        u = self.draws.uniform()
        if u < pa:
            self.choice = Choice(self.counted(), pb, min(pa, 1.0), u)
            self.count = self.count_bytes = 0
            return ("signal", "early")
        return "pass"

    def counted(self) -> int:
        """Return the count of packets, or of bytes in the byte mode of ns-2."""
        return self.count if self.by_bytes is None or self.count < 0 else self.count_bytes

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        rule, choice = self.choice.explain(reason, self.counted())
        return rule, {"avg": self.avg, "maxp": self.maxp} | choice

    def overflow(self, now: float) -> None:
        self.count = self.count_bytes = 0
