"""Adaptive RED: figure 1 and section 5 of Floyd, Gummadi & Shenker 2001."""

import math
from typing import Any

from references.draws import Draws
from references.fifo import Queue
from references.red import Red


class AdaptiveRed(Red):
    """RED that adapts its parameter maxp to the average queue."""

    period = 0.5

    def __init__(
        self, draws: Draws, rate: int, *, target_delay: float = 0.005, **parameters: Any
    ) -> None:
        c = rate / (8 * 500)
        size = 500 if parameters.get("unit") == "bytes" else 1
        minth = parameters.pop("minth", max(5, target_delay * c / 2) * size)
        settings = {
            "minth": minth,
            "maxth": 3 * minth,
            "maxp": 0.1,
            "wq": 1 - math.exp(-1 / c),
            "gentle": True,
            "min_backlog": 1,
        }
        self.period = parameters.pop("interval", 0.5)
        super().__init__(draws, rate, **(settings | parameters))

    def tick(self, now: float, queue: Queue) -> None:
        """At the end of an interval, decay the average if the queue is idle, then adapt maxp."""
        self.decay(now, queue.idle_since)
        low = self.minth + 0.4 * (self.maxth - self.minth)
        high = self.minth + 0.6 * (self.maxth - self.minth)
        if self.avg > high and self.maxp <= 0.5:
            alpha = min(0.01, self.maxp / 4)
            self.maxp = self.maxp + alpha
        elif self.avg < low and self.maxp >= 0.01:
            beta = 0.9
            self.maxp = self.maxp * beta
