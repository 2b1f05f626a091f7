"""RED with the integer arithmetic of Linux: of today's kernels and tc, and of Linux 2.4."""

import math
from math import nan
from typing import Any

from references.draws import Draws
from references.fifo import Aqm, Packet, Queue, Values

TICKS_PER_SECOND = 15_625_000
"""Ticks of 64 ns per second, the unit in which tc computes transmission times."""


class TcRed(Aqm):
    """RED of Linux with the parameters of tc-red(8); qave is the average in bytes times 2^Wlog."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        qmin: int,
        qmax: int,
        avpkt: int,
        burst: int,
        probability: float,
        bandwidth: int,
        old: bool = False,
    ) -> None:
        self.draws, self.old = draws, old
        wlog = 1
        while burst + 1 - qmin / avpkt > (1 - (1 - 2.0**-wlog) ** burst) / 2.0**-wlog:
            wlog += 1
        self.wlog = wlog
        plog = 0
        while probability / (qmax - qmin) * 2**plog <= 1.0:
            plog += 1
        self.rmask: int = 2**plog - 1
        max_p = int(probability * 2**32)
        self.max_p_delta = max(max_p // (qmax - qmin), 1)
        seconds = avpkt * 8 / bandwidth
        xmit_time = seconds * 1e6 if old else math.ceil(seconds * TICKS_PER_SECOND)
        rate_of_decay = -math.log(1 - 2.0**-wlog) / xmit_time
        self.cell_log = 0
        while 31 / rate_of_decay / 2**self.cell_log >= 512:
            self.cell_log += 1
        middle = [int((i * 2**self.cell_log) * rate_of_decay) for i in range(1, 255)]
        self.stab = [0] + [31 if shift > 31 else shift for shift in middle] + [31]
        self.qth_min, self.qth_max = qmin * 2**wlog, qmax * 2**wlog
        self.qave, self.count, self.qr = 0, -1, 0
        self.idle_from = 0
        self.chosen: Values = {}
        """Count, reach and random number of the last signal."""

    def random(self) -> int:
        bits: int = self.draws.below(2**32)
        return bits & self.rmask if self.old else bits // self.max_p_delta

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        if queue.idle_since is not None:
            # The link requests a packet after every arrival. If the queue is empty, its idle time
            # begins with this request.
            idle_from = max(round(queue.idle_since * 1e12), self.idle_from)
            self.idle_from = round(now * 1e12)
            us_idle = (self.idle_from - idle_from) // 10**6
            us_idle = us_idle if us_idle < 255 * 2**self.cell_log else 255 * 2**self.cell_log
            shift = self.stab[us_idle // 2**self.cell_log]
            if shift:
                self.qave //= 2**shift
            else:
                us_idle = self.qave * us_idle // 2**self.cell_log
                if us_idle < self.qave // 2:
                    self.qave -= us_idle
                else:
                    self.qave = self.qave // 2 + (1 if self.old else 0)
        else:
            self.qave += queue.bytes - self.qave // 2**self.wlog
        if self.qave < self.qth_min:
            self.count = -1
            return "pass"
        if self.qave >= self.qth_max:
            self.chosen = {"count": self.count, "reach": nan, "q_r": nan}
            self.count = -1
            return ("signal", "threshold")
        self.count += 1
        if self.count:
            reach = (self.qave - self.qth_min) // 2**self.wlog * self.count
            if reach < self.qr:
                return "pass"
            self.chosen = {"count": self.count, "reach": reach, "q_r": self.qr}
            self.count = 0
            self.qr = self.random()
            return ("signal", "early")
        self.qr = self.random()
        return "pass"

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        full = {"count": self.count, "reach": nan, "q_r": nan}
        chosen = full if reason == "full" else self.chosen
        rule = "above-max" if reason == "threshold" else "random"
        return rule, {"avg": self.qave / 2**self.wlog} | chosen
