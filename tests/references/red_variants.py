"""Variants of RED that compute the probability differently; each follows its paper."""

from typing import Any

from references.fifo import Packet, Queue, Values
from references.red import Red


class SelfConfiguringRed(Red):
    """RED of Feng, Kandlur, Saha & Shin 1999, which adapts maxp at each arrival."""

    alpha = 3
    beta = 2
    status = "between"

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        self.average(now, queue)
        if self.minth < self.avg < self.maxth:
            self.status = "between"
        if self.avg < self.minth and self.status != "below":
            self.status = "below"
            self.maxp = self.maxp / self.alpha
        if self.avg > self.maxth and self.status != "above":
            self.status = "above"
            self.maxp = min(self.maxp * self.beta, 1.0)
        return self.decide(packet, queue)


class NonlinearRed(Red):
    """Nonlinear RED of Zhou, Yeung & Li 2006, equation (2)."""

    def initial_probability(self) -> float:
        if self.avg < self.maxth:
            return self.maxp * ((self.avg - self.minth) / (self.maxth - self.minth)) ** 2
        return 1.0

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        rule, values = super().explain(packet, reason)
        del values["maxp"]  # maxp is a constant.
        return rule, values
