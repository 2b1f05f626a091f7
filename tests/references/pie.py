"""PIE of RFC 8033, line by line: Appendix A with the marking of section 5.1, and Appendix B."""

from math import isnan, nan
from typing import Any

from references.draws import Draws
from references.fifo import Aqm, Packet, Queue, Values

MILLISECOND = 1_000_000
"""Nanoseconds per millisecond; in whole nanoseconds, burst_allowance_ can reach exactly 0."""


class Pie(Aqm):
    """PIE with the names of Appendix A; delays are in seconds and burst_allowance_ in ns."""

    alpha = 1 / 8
    beta = 1 + 1 / 4

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        qdelay_ref: float = 0.015,
        max_burst_ms: int = 150,
        t_update_ms: int = 15,
        mean_pktsize: int = 1024,
        max_ecnth: float = 0.1,
        derandomized: bool = False,
    ) -> None:
        self.draws, self.qdelay_ref, self.mean_pktsize = draws, qdelay_ref, mean_pktsize
        self.max_burst, self.t_update = max_burst_ms * MILLISECOND, t_update_ms * MILLISECOND
        self.max_ecnth, self.derandomized = max_ecnth, derandomized
        self.accu_prob = 0.0
        self.drawn = (nan, nan)
        """Accumulated probability and random number of the last drop; NaN if not computed."""
        self.period = t_update_ms / 1000
        self.burst_allowance = 0
        self.drop_prob = 0.0
        self.qdelay_old = 0.0
        self.current_qdelay = 0.0

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        if (
            self.drop_prob == 0
            and self.current_qdelay < self.qdelay_ref / 2
            and self.qdelay_old < self.qdelay_ref / 2
        ):
            self.burst_allowance = self.max_burst
        if self.burst_allowance == 0 and self.drop_early(queue) == "drop":
            self.accu_prob = 0
            return ("signal" if self.drop_prob < self.max_ecnth else "drop", "early")
        return "pass"

    def overflow(self, now: float) -> None:
        self.accu_prob = 0

    def drop_early(self, queue: Queue) -> str:
        if (self.qdelay_old < self.qdelay_ref / 2 and self.drop_prob < 0.2) or (
            queue.bytes <= 2 * self.mean_pktsize
        ):
            return "enque"
        if self.derandomized:
            return self.drop_by_accumulated_probability()
        u = self.draws.uniform()
        self.drawn = nan, u
        return "drop" if u < self.drop_prob else "enque"

    def drop_by_accumulated_probability(self) -> str:
        """Return the decision of the last lines of drop_early() in Appendix B (§5.4)."""
        if self.drop_prob == 0:
            self.accu_prob = 0
        self.accu_prob += self.drop_prob
        if self.accu_prob < 0.85:
            return "enque"
        self.drawn = self.accu_prob, nan
        if self.accu_prob >= 8.5:
            return "drop"
        u = self.draws.uniform()
        self.drawn = self.accu_prob, u
        if u < self.drop_prob:
            self.accu_prob = 0
            return "drop"
        return "enque"

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        accu_prob, u = self.drawn
        if reason == "full":
            accu_prob, u = self.accu_prob if self.derandomized else nan, nan
        return "accumulated" if isnan(u) else "random", {
            "qdelay_s": self.current_qdelay,
            "qdelay_old_s": self.qdelay_old,
            "drop_prob": self.drop_prob,
            "burst_allowance_s": self.burst_allowance / MILLISECOND / 1000,
            "accu_prob": accu_prob,
            "random": u,
        }

    def departure(self, now: float, packet: Packet, queue: Queue) -> None:
        """Sample the queueing delay, which is 0 for an empty queue (§4.2, "not congested")."""
        delay = (round(now * 1e12) - packet.entered) / 1e12
        self.current_qdelay = delay if queue.waiting else 0.0

    def change(self) -> float:
        """Return the auto-tuned change of drop_prob, which Appendices A and B define equally."""
        p = self.alpha * (self.current_qdelay - self.qdelay_ref) + self.beta * (
            self.current_qdelay - self.qdelay_old
        )
        if self.drop_prob < 0.000001:
            p /= 2048
        elif self.drop_prob < 0.00001:
            p /= 512
        elif self.drop_prob < 0.0001:
            p /= 128
        elif self.drop_prob < 0.001:
            p /= 32
        elif self.drop_prob < 0.01:
            p /= 8
        elif self.drop_prob < 0.1:
            p /= 2
        return p

    def tick(self, now: float, queue: Queue) -> None:
        self.drop_prob += self.change()
        if self.current_qdelay == 0 and self.qdelay_old == 0:
            self.drop_prob *= 0.98
        self.drop_prob = max(self.drop_prob, 0.0)
        self.drop_prob = min(self.drop_prob, 1.0)
        self.qdelay_old = self.current_qdelay
        self.burst_allowance = max(0, self.burst_allowance - self.t_update)


class PieEnhanced(Pie):
    """PIE of Appendix B, which turns PIE off only when a packet arrives at an idle link."""

    dq_threshold = 2**14

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        tail_drop: int,
        **pie: Any,
    ) -> None:
        super().__init__(draws, rate, **pie)
        self.tail_drop = tail_drop
        self.derandomized = True
        self.active = False
        self.last_timestamp = 0.0
        self.in_measurement = False
        self.dq_count = 0
        self.avg_dq_time = 0.0
        self.measurement_start = 0.0
        self.link_was_idle = True

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        verdict: Any = "pass"
        self.link_was_idle = queue.idle_since is not None
        self.full_rule = "buffer-full"
        if queue.bytes + packet.size > self.tail_drop:
            self.full_rule = "tail-drop"
            verdict = ("drop", "full")
            self.accu_prob = 0
        elif self.active and self.drop_early(queue) == "drop" and self.burst_allowance == 0:
            verdict = ("signal" if self.drop_prob < self.max_ecnth else "drop", "early")
            self.accu_prob = 0
        dropped = verdict != "pass" and (verdict[0] == "drop" or packet.ecn == 0)
        if dropped:
            self.turn_on_or_off(now, queue)
        return verdict

    def enqueued(self, now: float, packet: Packet, queue: Queue) -> None:
        self.turn_on_or_off(now, queue)

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        rule, values = super().explain(packet, reason)
        return rule, values | {"avg_dq_time_s": self.avg_dq_time, "active": float(self.active)}

    def turn_on_or_off(self, now: float, queue: Queue) -> None:
        if not self.active and queue.bytes >= self.tail_drop // 3:
            self.active = True
            self.qdelay_old = 0
            self.drop_prob = 0
            self.in_measurement = True
            self.dq_count = 0
            self.avg_dq_time = 0
            self.last_timestamp = now
            self.burst_allowance = self.max_burst
            self.accu_prob = 0
            self.measurement_start = now
        calm = self.drop_prob == 0 and self.qdelay_old == 0 and self.current_qdelay == 0
        if calm and self.link_was_idle:
            self.active = False
            self.in_measurement = False

    def drop_early(self, queue: Queue) -> str:
        if (self.qdelay_old < self.qdelay_ref / 2 and self.drop_prob < 0.2) or (
            queue.bytes <= 2 * self.mean_pktsize
        ):
            return "enque"
        return self.drop_by_accumulated_probability()

    def tick(self, now: float, queue: Queue) -> None:
        elapsed = round((now - self.last_timestamp) * 1e9)
        if not (elapsed >= self.t_update and self.active):
            return
        self.current_qdelay = queue.bytes * self.avg_dq_time / self.dq_threshold
        p = self.change()
        if self.drop_prob >= 0.1 and p > 0.02:
            p = 0.02
        self.drop_prob += p
        if self.current_qdelay < self.qdelay_ref / 2 and self.qdelay_old < self.qdelay_ref / 2:
            self.drop_prob *= 0.98
        self.drop_prob = max(self.drop_prob, 0.0)
        self.drop_prob = min(self.drop_prob, 1.0)
        self.qdelay_old = self.current_qdelay
        self.last_timestamp = now
        self.burst_allowance = max(0, self.burst_allowance - self.t_update)

    def departure(self, now: float, packet: Packet, queue: Queue) -> None:
        if self.in_measurement:
            self.dq_count = packet.size + self.dq_count
            if self.dq_count >= self.dq_threshold:
                dq_time = now - self.measurement_start
                if self.avg_dq_time == 0:
                    self.avg_dq_time = dq_time
                else:
                    weight = self.dq_threshold / 2**16
                    self.avg_dq_time = dq_time * weight + self.avg_dq_time * (1 - weight)
                self.in_measurement = False
        if queue.bytes >= self.dq_threshold and not self.in_measurement:
            self.in_measurement = True
            self.measurement_start = now
            self.dq_count = 0
