"""Adaptive RED: figure 1 of Floyd, Gummadi & Shenker 2001, and the settings of its section 5."""

import math
from typing import Any

from references.draws import Draws
from references.fifo import Queue
from references.red import Red


class AdaptiveRed(Red):
    """RED whose maxp follows the average."""

    period = 0.5

    def __init__(
        self, draws: Draws, rate: int, *, target_delay: float = 0.005, **given: Any
    ) -> None:
        c = rate / (8 * 500)
        size = 500 if given.get("unit") == "bytes" else 1
        minth = given.pop("minth", max(5, target_delay * c / 2) * size)
        settings = {
            "minth": minth,
            "maxth": 3 * minth,
            "maxp": 0.1,
            "wq": 1 - math.exp(-1 / c),
            "gentle": True,
            "least": 1,
        }
        self.period = given.pop("interval", 0.5)
        super().__init__(draws, rate, **(settings | given))

    def tick(self, now: float, queue: Queue) -> None:
        """Every interval seconds; an idle queue has the average of that instant."""
        self.decay(now, queue.idle_since)
        low = self.minth + 0.4 * (self.maxth - self.minth)
        high = self.minth + 0.6 * (self.maxth - self.minth)
        if self.avg > high and self.maxp <= 0.5:
            alpha = min(0.01, self.maxp / 4)
            self.maxp = self.maxp + alpha
        elif self.avg < low and self.maxp >= 0.01:
            beta = 0.9
            self.maxp = self.maxp * beta
