"""Laws that tell flows apart: FRED, SRED, SFB."""

from typing import Any

from references.draws import Draws, mix
from references.fifo import Law, Packet, Queue


class Fred(Law):
    """Lin & Morris 1997: the pseudo-code; an idle time counts once."""

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
        maxq = self.minth
        if (
            self.qlen[i] >= maxq
            or (self.avg >= self.maxth and self.qlen[i] > 2 * self.avgcq)
            or (self.qlen[i] >= self.avgcq and self.strike[i] > 1)
        ):
            self.strike[i] += 1
            return ("drop", "early")
        if self.minth <= self.avg < self.maxth:
            self.count += 1
            if self.qlen[i] >= max(self.minq, self.avgcq):
                pb = self.maxp * (self.avg - self.minth) / (self.maxth - self.minth)
                pa = pb / (1 - self.count * pb) if self.count * pb < 1 else 1.0
                if self.draws.uniform() < pa:
                    self.count = 0
                    return ("signal", "early")
        elif self.avg < self.minth:
            self.count = -1
        else:
            self.count = 0
            return ("drop", "threshold")
        return "pass"

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


class Sred(Law):
    """Ott, Lakshman & Wong 1999."""

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
        if p_zap > 0 and self.draws.uniform() < p_zap:
            return ("signal", "early")
        return "pass"


class Sfb(Law):
    """Feng, Shin, Kandlur & Saha 2002, "SFB algorithm", with a token bucket for ratelimit()."""

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
    ) -> None:
        self.draws, self.bin_size, self.bins = draws, bin_size, bins
        self.increment, self.decrement = increment, decrement
        self.salts = [draws.below(1 << 32) for _ in range(levels)]
        self.qlen = [[0] * bins for _ in range(levels)]
        self.pm = [[0.0] * bins for _ in range(levels)]
        self.penalty_rate, self.burst = penalty_rate, penalty_burst
        self.tokens, self.filled = float(penalty_burst), 0.0

    def hashes(self, flow: int) -> list[int]:
        return [mix(flow << 32 | salt) % self.bins for salt in self.salts]

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        h = self.hashes(packet.flow)
        drop = False
        for i, hi in enumerate(h):
            if self.qlen[i][hi] > self.bin_size:
                self.pm[i][hi] = min(self.pm[i][hi] + self.increment, 1)
                drop = True
            elif self.qlen[i][hi] == 0:
                self.pm[i][hi] = max(self.pm[i][hi] - self.decrement, 0)
        if drop:
            return ("drop", "threshold")
        p_min = min(self.pm[i][hi] for i, hi in enumerate(h))
        if p_min == 1:
            return self.ratelimit(now)
        return ("signal", "early") if self.draws.uniform() < p_min else "pass"

    def ratelimit(self, now: float) -> Any:
        self.tokens = min(self.tokens + self.penalty_rate * (now - self.filled), self.burst)
        self.filled = now
        if self.tokens >= 1:
            self.tokens -= 1
            return "pass"
        return ("drop", "early")

    def enqueued(self, now: float, packet: Packet, queue: Queue) -> None:
        for i, hi in enumerate(self.hashes(packet.flow)):
            self.qlen[i][hi] += 1

    def departure(self, now: float, packet: Packet, queue: Queue) -> None:
        for i, hi in enumerate(self.hashes(packet.flow)):
            self.qlen[i][hi] -= 1
