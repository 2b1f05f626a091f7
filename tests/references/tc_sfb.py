"""SFB of Linux (sch_sfb.c), whose bins count the waiting packets."""

from math import nan
from typing import Any

from references.draws import Draws, mix
from references.fifo import SECOND, Aqm, Packet, Queue, Values

ONE = 0xFFFF


class TcSfb(Aqm):
    """SFB by sfb_enqueue() with the defaults of tc; `places` lists the bins of each packet."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        target: int = 20,
        max_packets: int = 25,
        increment: float = 0.0005,
        decrement: float = 0.00005,
        penalty_rate: int = 10,
        penalty_burst: int = 20,
        rehash: float = 600,
        warmup: float = 60,
    ) -> None:
        self.draws, self.target, self.max_packets = draws, target, max_packets
        self.up, self.down = max(round(increment * ONE), 1), max(round(decrement * ONE), 1)
        self.salts = [draws.below(1 << 32) for _ in range(2)]
        self.p_mark: list[dict[tuple[int, int], int]] = [{}, {}]
        self.qlen: list[dict[tuple[int, int], int]] = [{}, {}]
        self.places: dict[int, list[Any]] = {}
        self.penalty_rate, self.burst = penalty_rate, penalty_burst
        self.tokens_avail, self.token_time = penalty_burst, 0
        self.rehash, self.warmup = rehash, warmup
        self.slot, self.rehash_time, self.double_buffering = 0, 0.0, False

    def bins(self, slot: int, flow: int) -> list[tuple[int, int]]:
        h = mix(flow << 32 | self.salts[slot]) & 0xFFFFFFFF
        return [(level, h >> 4 * level & 15) for level in range(8)]

    def enqueued(self, now: float, packet: Packet, queue: Queue) -> None:
        self.increment_qlen(packet, 1)

    def departure(self, now: float, packet: Packet, queue: Queue) -> None:
        self.increment_qlen(packet, -1)

    def increment_qlen(self, packet: Packet, change: int) -> None:
        for qlen, places in zip(self.qlen, self.places[id(packet)], strict=True):
            for place in places or []:
                qlen[place] = qlen.get(place, 0) + change

    def update(self, slot: int, packet: Packet) -> tuple[int, int]:
        """Update the bins of a packet; return the bins' minimum probability and minimum length."""
        p_mark, minqlen, p_min = self.p_mark[slot], 0xFFFF, ONE
        for place in self.bins(slot, packet.flow):
            qlen, p = self.qlen[slot].get(place, 0), p_mark.get(place, 0)
            if qlen == 0:
                p = max(p - self.down, 0)
            elif qlen >= self.target:
                p = min(p + self.up, ONE)
            p_mark[place] = p
            minqlen, p_min = min(minqlen, qlen), min(p_min, p)
        return p_min, minqlen

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        if now - self.rehash_time > self.rehash:
            self.salts[self.slot] = self.draws.below(1 << 32)
            self.slot ^= 1
            self.double_buffering, self.rehash_time = False, now
        elif now - self.rehash_time > self.rehash - self.warmup:
            self.double_buffering = True
        slot = self.slot
        places: list[Any] = [None, None]
        places[slot] = self.bins(slot, packet.flow)
        self.places[id(packet)] = places
        p_min, minqlen = self.update(slot, packet)
        self.least, self.rule, self.r = (p_min, minqlen), "bins-full", nan
        if minqlen >= self.max_packets:
            return ("drop", "threshold")
        if p_min >= ONE:
            self.rule = "penalty-rate"
            if self.double_buffering:
                places[slot ^ 1] = self.bins(slot ^ 1, packet.flow)
                self.update(slot ^ 1, packet)
            return ("drop", "early") if self.rate_limit(now) else "pass"
        r = self.draws.below(1 << 16)
        if r >= p_min:
            return "pass"
        self.rule, self.r = "random", r / ONE
        if p_min > ONE // 2 and r < (p_min - ONE // 2) * 2:
            self.rule = "random-drop"
            return ("drop", "early")
        return ("signal", "early")

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        p_min, minqlen = self.least
        return self.rule, {
            "p_min": p_min / ONE,
            "qlen": minqlen,
            "tokens": self.tokens_avail,
            "random": nan if reason == "full" else self.r,
        }

    def rate_limit(self, now: float) -> bool:
        if self.penalty_rate == 0 or self.burst == 0:
            return True
        if self.tokens_avail < 1:
            jiffies = round(now * SECOND) // (SECOND // 1000)
            age = min(10_000, jiffies - self.token_time)
            self.tokens_avail = min(age * self.penalty_rate // 1000, self.burst)
            self.token_time = jiffies
            if self.tokens_avail < 1:
                return True
        self.tokens_avail -= 1
        return False
