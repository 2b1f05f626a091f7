"""AQMs with state per flow: FRED, SRED and SFB."""

from math import nan
from typing import Any

from references.draws import Draws, mix
from references.fifo import Aqm, Packet, Queue, Values
from references.red import Choice


class Fred(Aqm):
    """FRED by the pseudo-code of Lin & Morris 1997; an idle time reduces the average only once."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        minth: float,
        maxth: float,
        maxp: float = 0.02,
        wq: float = 0.002,
        minq: float = 2,
    ) -> None:
        self.draws = draws
        self.minth, self.maxth, self.maxp, self.wq, self.minq = minth, maxth, maxp, wq, minq
        self.s = 500 * 8 / rate
        self.avg, self.avgcq, self.count, self.nactive = 0.0, 1.0, -1, 0
        self.q_time = 0.0
        self.qlen: dict[int, int] = {}
        self.strike: dict[int, int] = {}

    def calculate(self, now: float, q: int, departed: bool) -> None:
        if q or departed:
            self.avg = (1 - self.wq) * self.avg + self.wq * q
        else:
            m = (now - self.q_time) / self.s
            self.avg = (1 - self.wq) ** m * self.avg
            self.q_time = now
        self.avgcq = self.avg / self.nactive if self.nactive else self.avg
        self.avgcq = max(self.avgcq, 1)
        if q == 0 and departed:
            self.q_time = now

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        i = packet.flow
        if i not in self.qlen:
            self.qlen[i] = 0
            self.strike[i] = 0
        if queue.packets == 0:
            self.calculate(now, 0, departed=False)
        self.found = {"qlen": self.qlen[i], "strike": self.strike[i]}
        maxq = self.minth
        self.rule = ""
        if self.qlen[i] >= maxq:
            self.rule = "qlen-above-maxq"
        elif self.avg >= self.maxth and self.qlen[i] > 2 * self.avgcq:
            self.rule = "qlen-above-share"
        elif self.qlen[i] >= self.avgcq and self.strike[i] > 1:
            self.rule = "strikes"
        if self.rule:
            self.choice = Choice(self.count)
            self.strike[i] += 1
            return ("drop", "early")
        if self.minth <= self.avg < self.maxth:
            self.count += 1
            if self.qlen[i] >= max(self.minq, self.avgcq):
                pb = self.maxp * (self.avg - self.minth) / (self.maxth - self.minth)
                pa = pb / (1 - self.count * pb) if self.count * pb < 1 else 1.0
                u = self.draws.uniform()
                if u < pa:
                    self.rule = "random"
                    self.choice = Choice(self.count, pb, min(pa, 1.0), u)
                    self.count = 0
                    return ("signal", "early")
        elif self.avg < self.minth:
            self.count = -1
        else:
            self.rule, self.choice = "above-maxth", Choice(self.count)
            self.count = 0
            return ("drop", "threshold")
        return "pass"

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        choice = Choice(self.count) if reason == "full" else self.choice
        return self.rule, {"avg": self.avg, "avgcq": self.avgcq} | self.found | vars(choice)

    def enqueued(self, now: float, packet: Packet, queue: Queue) -> None:
        if self.qlen[packet.flow] == 0:
            self.nactive += 1
        self.qlen[packet.flow] += 1
        self.calculate(now, queue.packets - 1, departed=False)

    def departure(self, now: float, packet: Packet, queue: Queue) -> None:
        i = packet.flow
        self.qlen[i] -= 1
        self.calculate(now, queue.packets, departed=True)
        if self.qlen[i] == 0:
            self.nactive -= 1
            del self.qlen[i]
            del self.strike[i]


class Sred(Aqm):
    """SRED of Ott, Lakshman & Wong 1999."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        b: int,
        m: int = 1000,
        p: float = 0.25,
        pmax: float = 0.15,
        full: bool = True,
        unit: str = "packets",
    ) -> None:
        self.draws, self.b, self.m, self.p, self.pmax = draws, b, m, p, pmax
        self.full, self.unit = full, unit
        self.zombies: list[int] = []
        self.estimate = 0.0

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        hit = 0
        if len(self.zombies) < self.m:
            self.zombies.append(packet.flow)
        else:
            chosen = self.draws.below(self.m)
            if self.zombies[chosen] == packet.flow:
                hit = 1
            elif self.draws.uniform() < self.p:
                self.zombies[chosen] = packet.flow
        alpha = self.p / self.m
        self.estimate = (1 - alpha) * self.estimate + alpha * hit
        q = queue.in_units_of(self.unit)
        if self.b / 3 <= q:
            p_sred = self.pmax
        elif self.b / 6 <= q:
            p_sred = self.pmax / 4
        else:
            p_sred = 0.0
        p_zap = p_sred
        if self.estimate > 0:
            p_zap *= min(1, 1 / (256 * self.estimate) ** 2)
            if self.full:
                p_zap *= 1 + hit / self.estimate
        if p_zap > 0 and (u := self.draws.uniform()) < p_zap:
            self.signal = {"p_zap": p_zap, "hit": hit, "random": u}
            return ("signal", "early")
        return "pass"

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        full = dict.fromkeys(["p_zap", "hit", "random"], nan)
        signal = full if reason == "full" else self.signal
        return "random", {"hit_frequency": self.estimate} | signal


class Sfb(Aqm):
    """SFB of Feng, Shin, Kandlur & Saha 2002, with a token bucket for ratelimit().

    SFB has two sets of bins, as tc-sfb(8) describes. One set of bins manages the queue
    while the other set warms up.
    """

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        bin_size: float,
        levels: int = 2,
        bins: int = 23,
        increment: float = 0.0005,
        decrement: float = 0.00005,
        penalty_rate: float = 10,
        penalty_burst: float = 20,
        rehash: float = 600,
        warmup_after: float = 60,
    ) -> None:
        self.draws, self.bin_size, self.bins, self.levels = draws, bin_size, bins, levels
        self.increment, self.decrement = increment, decrement
        self.salts, self.pm = self.fresh(), self.zeros()
        self.next_salts, self.next_pm = self.fresh(), self.zeros()
        self.penalty_rate, self.burst = penalty_rate, penalty_burst
        self.tokens, self.filled = float(penalty_burst), 0.0
        self.rehash, self.warmup_after, self.changes = rehash, warmup_after, 0

    def fresh(self) -> list[int]:
        return [self.draws.below(1 << 32) for _ in range(self.levels)]

    def zeros(self) -> list[list[float]]:
        return [[0.0] * self.bins for _ in range(self.levels)]

    def update(
        self, salts: list[int], pm: list[list[float]], packet: Packet, queue: Queue
    ) -> tuple[float, bool]:
        """Update the bins of a packet; return their minimum pm, and True if a bin is too full."""
        full, p_min = False, 1.0
        for salt, row in zip(salts, pm, strict=True):
            h = mix(packet.flow << 32 | salt) % self.bins
            qlen = sum(mix(p.flow << 32 | salt) % self.bins == h for p in queue.waiting)
            if qlen > self.bin_size:
                row[h] = min(row[h] + self.increment, 1)
                full = True
            elif qlen == 0:
                row[h] = max(row[h] - self.decrement, 0)
            p_min = min(p_min, row[h])
        return p_min, full

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        while (self.changes + 1) * self.rehash <= now:
            self.changes += 1
            self.salts, self.pm = self.next_salts, self.next_pm
            self.next_salts, self.next_pm = self.fresh(), self.zeros()
        p_min, full = self.update(self.salts, self.pm, packet, queue)
        self.p_min, self.rule, self.u = p_min, "bin-full", nan
        if p_min == 1 and now - self.changes * self.rehash >= self.warmup_after:
            self.update(self.next_salts, self.next_pm, packet, queue)
        if full:
            return ("drop", "threshold")
        if p_min == 1:
            self.rule = "penalty-rate"
            return self.ratelimit(now)
        self.rule, self.u = "random", self.draws.uniform()
        return ("signal", "early") if self.u < p_min else "pass"

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        u = nan if reason == "full" else self.u
        return self.rule, {"p_min": self.p_min, "tokens": self.tokens, "random": u}

    def ratelimit(self, now: float) -> Any:
        self.tokens = min(self.tokens + self.penalty_rate * (now - self.filled), self.burst)
        self.filled = now
        if self.tokens >= 1:
            self.tokens -= 1
            return "pass"
        return ("drop", "early")
