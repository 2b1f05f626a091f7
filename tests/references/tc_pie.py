"""PIE with the integer arithmetic and the names of Linux 6.12 (sch_pie.c, pie.h)."""

from math import isnan, nan
from typing import Any

from references.draws import MASK, Draws
from references.fifo import NOT_ECT, SECOND, Aqm, Packet, Queue, Values

MAX_PROB = MASK >> 8
NS_PER_TICK = 64
TICKS_PER_SECOND = 10**9 // NS_PER_TICK
QUEUE_THRESHOLD = 16_384
U32 = (1 << 32) - 1


def ticks(ps: int) -> int:
    """Convert a time in picoseconds to whole ticks, after rounding the time down to nanoseconds."""
    return ps // 1000 // NS_PER_TICK


def period(t_update_ms: int, hz: int) -> int:
    """Return the time in picoseconds between two updates, which depends on the timers of Linux.

    usecs_to_jiffies() rounds the period up. calc_index() of timer.c puts the timer into the slot of
    the timer wheel after the set time.
    """
    n, slot = -(-t_update_ms * hz // 1000), 1
    while n > 63 * slot:
        slot *= 8
    return (n // slot + 1) * slot * SECOND // hz


def signed(x: int) -> int:
    """Return the lowest 64 bits of a number as a signed number."""
    x &= MASK
    return x - (1 << 64) if x >> 63 else x


class Vars:
    """State of PIE for one queue (struct pie_vars); None stands for Linux's invalid values."""

    def __init__(self, max_burst: int) -> None:
        self.qdelay = self.qdelay_old = self.prob = 0
        self.max_burst = max_burst
        self.init()

    def init(self) -> None:
        """Reset the state, as pie_vars_init() does."""
        self.burst_time = self.max_burst
        self.dq_tstamp: int | None = None
        self.accu_prob = 0
        self.dq_count: int | None = None
        self.avg_dq_rate = 0


class LinuxPie:
    """PIE of Linux: the three functions of pie.h, which update the state of a queue."""

    def __init__(
        self,
        draws: Draws,
        *,
        target_ms: int = 15,
        max_burst_ms: int = 150,
        alpha: int = 2,
        beta: int = 20,
        bytemode: bool = False,
        dq_rate_estimator: bool = False,
        mtu: int = 1500,
        ecn_prob: int | None = None,
    ) -> None:
        self.draws = draws
        self.target = ticks(target_ms * SECOND // 1000)
        self.max_burst = ticks(max_burst_ms * SECOND // 1000)
        self.alpha, self.beta = alpha, beta
        self.bytemode, self.dq_rate_estimator, self.mtu = bytemode, dq_rate_estimator, mtu
        self.drawn = (nan, nan)
        """Accumulated probability and random number of the last drop; NaN if not computed."""
        self.ecn_max = MAX_PROB // 10 if ecn_prob is None else MAX_PROB // 100 * ecn_prob

    def drop_early(self, v: Vars, backlog: int, packet_size: int) -> bool:
        if v.burst_time > 0:
            return False
        if v.qdelay < self.target // 2 and v.prob < MAX_PROB // 5:
            return False
        if backlog < 2 * self.mtu:
            return False
        local_prob = v.prob
        if self.bytemode and packet_size <= self.mtu:
            local_prob = packet_size * (local_prob // self.mtu)
        v.accu_prob = 0 if local_prob == 0 else (v.accu_prob + local_prob) & MASK
        if v.accu_prob < MAX_PROB // 100 * 85:
            return False
        self.drawn = v.accu_prob, nan
        if v.accu_prob >= MAX_PROB // 2 * 17:
            return True
        rnd = self.draws.below(1 << 56)
        self.drawn = v.accu_prob, rnd
        if rnd < local_prob:
            v.accu_prob = 0
            return True
        return False

    def arrival(self, v: Vars, packet: Packet, backlog: int) -> Any:
        """Return the verdict on a packet that arrives at a queue that is not full."""
        if not self.drop_early(v, backlog, packet.size):
            return "pass"
        if v.prob <= self.ecn_max and packet.ecn != NOT_ECT:
            return ("signal", "early")
        v.accu_prob = 0
        return ("drop", "early")

    def explain(self, v: Vars, reason: str) -> tuple[str, Values]:
        """Return rule and variables of the decision on the packet that arrived last."""
        accu_prob, rnd = (v.accu_prob, nan) if reason == "full" else self.drawn
        return "accumulated" if isnan(rnd) else "random", {
            "qdelay_s": v.qdelay / TICKS_PER_SECOND,
            "qdelay_old_s": v.qdelay_old / TICKS_PER_SECOND,
            "drop_prob": v.prob / MAX_PROB,
            "burst_allowance_s": v.burst_time / TICKS_PER_SECOND,
            "accu_prob": accu_prob / MAX_PROB,
            "random": rnd / MAX_PROB,
        }

    def process_dequeue(self, v: Vars, now: int, packet: Packet, backlog: int) -> None:
        t = ticks(now)
        dtime = 0
        if not self.dq_rate_estimator:
            v.qdelay = t - ticks(packet.entered) if backlog else 0
            if v.dq_tstamp is not None:
                dtime = (t - v.dq_tstamp) & U32
            v.dq_tstamp = t
            v.burst_time = max(0, v.burst_time - dtime)
            return
        if backlog >= QUEUE_THRESHOLD and v.dq_count is None:
            v.dq_tstamp, v.dq_count = t, 0
        if v.dq_count is None:
            return
        v.dq_count += packet.size
        if v.dq_count < QUEUE_THRESHOLD:
            return
        assert v.dq_tstamp is not None
        dtime = (t - v.dq_tstamp) & U32
        if dtime == 0:
            return
        count = (v.dq_count << 8 & U32) // dtime
        if v.avg_dq_rate == 0:
            v.avg_dq_rate = count
        else:
            v.avg_dq_rate = v.avg_dq_rate - (v.avg_dq_rate >> 3) + (count >> 3)
        if backlog < QUEUE_THRESHOLD:
            v.dq_count = None
        else:
            v.dq_tstamp, v.dq_count = t, 0
        v.burst_time = max(0, v.burst_time - dtime)

    def calculate_probability(self, v: Vars, backlog: int) -> None:
        if self.dq_rate_estimator:
            qdelay_old = v.qdelay
            v.qdelay_old = v.qdelay
            qdelay = (backlog << 8 & U32) // v.avg_dq_rate if v.avg_dq_rate > 0 else 0
        else:
            qdelay, qdelay_old = v.qdelay, v.qdelay_old
        update_prob = not (qdelay == 0 and backlog != 0)
        alpha = self.alpha * (MAX_PROB // TICKS_PER_SECOND) >> 4
        beta = self.beta * (MAX_PROB // TICKS_PER_SECOND) >> 4
        if v.prob < MAX_PROB // 10:
            alpha >>= 1
            beta >>= 1
            power = 100
            while v.prob < MAX_PROB // power and power <= 1_000_000:
                alpha >>= 2
                beta >>= 2
                power *= 10
        delta = signed(alpha * (qdelay - self.target) + beta * (qdelay - qdelay_old))
        oldprob = v.prob
        if delta > MAX_PROB // 50 and v.prob >= MAX_PROB // 10:
            delta = MAX_PROB // 100 * 2
        if qdelay > ticks(SECOND // 4):
            delta += MAX_PROB // 50
        v.prob = (v.prob + delta) & MASK
        if delta > 0:
            if v.prob < oldprob:
                v.prob = MAX_PROB
                update_prob = False
        elif v.prob > oldprob:
            v.prob = 0
        if qdelay == 0 and qdelay_old == 0 and update_prob:
            v.prob -= v.prob // 64
        v.qdelay = qdelay
        low = v.qdelay < self.target // 2 and v.qdelay_old < self.target // 2
        if low and v.prob == 0 and (not self.dq_rate_estimator or v.avg_dq_rate > 0):
            v.init()
        if not self.dq_rate_estimator:
            v.qdelay_old = qdelay


class TcPie(Aqm):
    """PIE of Linux on one queue, which the kernel created long before the first arrival."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        limit: int = 100,
        t_update_ms: int = 15,
        hz: int = 1000,
        **pie: Any,
    ) -> None:
        self.pie = LinuxPie(draws, **pie)
        self.vars = Vars(self.pie.max_burst)
        self.limit = limit
        self.period = period(t_update_ms, hz) / SECOND

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        if queue.packets >= self.limit:
            return "pass"  # The full queue drops the packet.
        return self.pie.arrival(self.vars, packet, queue.bytes)

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        return self.pie.explain(self.vars, reason)

    def overflow(self, now: float) -> None:
        self.vars.accu_prob = 0

    def departure(self, now: float, packet: Packet, queue: Queue) -> None:
        self.pie.process_dequeue(self.vars, round(now * SECOND), packet, queue.bytes)

    def tick(self, now: float, queue: Queue) -> None:
        self.pie.calculate_probability(self.vars, queue.bytes)
