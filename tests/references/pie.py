"""PIE: Appendix A of RFC 8033, line by line, with the marking of its section 5.1."""

from typing import Any

from references.draws import Draws
from references.fifo import Law, Packet, Queue

MILLISECOND = 1_000_000
"""In nanoseconds: what is counted down must reach zero exactly."""


class Pie(Law):
    """The variables have the names of the appendix; delays in seconds, burst_allowance_ in ns."""

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
    ) -> None:
        self.draws, self.qdelay_ref, self.mean_pktsize = draws, qdelay_ref, mean_pktsize
        self.max_burst, self.t_update = max_burst_ms * MILLISECOND, t_update_ms * MILLISECOND
        self.max_ecnth = max_ecnth
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
            return ("signal" if self.drop_prob < self.max_ecnth else "drop", "early")
        return "pass"

    def drop_early(self, queue: Queue) -> str:
        if (self.qdelay_old < self.qdelay_ref / 2 and self.drop_prob < 0.2) or (
            queue.bytes <= 2 * self.mean_pktsize
        ):
            return "enque"
        u = self.draws.uniform()
        return "drop" if u < self.drop_prob else "enque"

    def departure(self, now: float, packet: Packet, queue: Queue) -> None:
        self.current_qdelay = (round(now * 1e12) - packet.entered) / 1e12

    def tick(self, now: float, queue: Queue) -> None:
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
        self.drop_prob += p
        if self.current_qdelay == 0 and self.qdelay_old == 0:
            self.drop_prob *= 0.98
        self.drop_prob = max(self.drop_prob, 0.0)
        self.drop_prob = min(self.drop_prob, 1.0)
        self.qdelay_old = self.current_qdelay
        self.burst_allowance = max(0, self.burst_allowance - self.t_update)
