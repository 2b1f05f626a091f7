"""RED-PD (Mahajan, Floyd & Wetherall 2001): lists of drops and a drop probability per flow."""

import math
from math import nan
from typing import Any

from references.disciplines import branch
from references.draws import Draws
from references.fifo import Aqm, Packet, Queue, Values
from references.red import Red


class RedPd(Aqm):
    """RED-PD with times in picoseconds, so that its intervals end as in the simulator."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        target_rtt: float = 0.04,
        m: int = 5,
        k: int = 3,
        **red: Any,
    ) -> None:
        self.red = Red(draws, rate, **({"minth": 5, "maxth": 15, "maxp": 0.1, "wq": 0.002} | red))
        self.draws = branch(draws, "preferential")
        self.r = round(target_rtt * 1e12)
        self.m, self.k = m, k
        self.end = 10 * self.r
        self.lengths = [10 * self.r]
        self.history: list[dict[int, int]] = []
        self.drops: dict[int, int] = {}
        self.hit: set[int] = set()
        self.arrived = 0
        self.average: float | None = None
        self.p: dict[int, float] = {}
        self.since: dict[int, int] = {}
        self.changed: dict[int, int] = {}
        self.latest: tuple[int, int] | None = None
        self.in_front: Values = {}
        """Variables of the monitored flow whose packet arrived last."""
        self.preferred = False

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        while self.end <= packet.entered:
            self.detect()
        self.latest, self.preferred = None, False
        flow = packet.flow
        since = self.since.get(flow, 0)
        self.in_front = {"p_flow": self.p.get(flow, 0), "flow_count": since, "flow_random": nan}
        if flow in self.p:
            expected = since * self.p[flow]
            spaced = self.p[flow] / (1 - expected) if expected < 1 else 1.0
            u = self.draws.uniform()
            if u < spaced and self.red.avg >= self.red.minth and queue.packets > 1:
                self.since[flow] = 0
                self.hit.add(flow)
                self.in_front["flow_random"], self.preferred = u, True
                return ("drop", "early")
            self.since[flow] = since + 1
        self.arrived += packet.size
        verdict = self.red.arrival(now, packet, queue)
        if verdict == "pass":
            self.latest = (flow, packet.size)
        else:
            self.dropped(flow, packet.size)
        return verdict

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        """Return rule and variables; RED has not decided on a packet dropped in front of it."""
        if reason == "full":
            self.in_front["flow_random"] = nan
        preferred = self.preferred and reason == "early"
        rule, red = self.red.explain(packet, "full" if preferred else reason)
        return "monitored-flow" if preferred else rule, self.in_front | red

    def overflow(self, now: float) -> None:
        self.red.overflow(now)
        if self.latest is not None:
            self.dropped(*self.latest)

    def dropped(self, flow: int, size: int) -> None:
        self.drops[flow] = self.drops.get(flow, 0) + size
        self.hit.add(flow)

    def detect(self) -> None:
        present = sum(self.drops.values()) / self.arrived if self.arrived else 0.0
        self.average = present if self.average is None else 0.5 * present + 0.5 * self.average
        self.history = [*self.history, self.drops][-self.m :]
        if present > 0.001:
            self.raise_probabilities(min(present, self.average))
        self.lower_probabilities()
        self.drops, self.hit, self.arrived = {}, set(), 0
        length = 10 * self.r
        if self.average > 0:
            wanted = int(self.k / self.m * self.r / math.sqrt(1.5 * self.average))
            length = max(2 * self.r, min(wanted, 10 * self.r))
        self.lengths.append(length)
        self.end += length

    def since_change(self, flow: int) -> int:
        return self.end - self.changed.get(flow, 0)

    def raise_probabilities(self, rate: float) -> None:
        regular = {}
        for flow in set().union(*self.history):
            lists = [drops for drops in self.history if flow in drops]
            if len(lists) >= self.k:
                regular[flow] = sum(drops[flow] for drops in lists)
        if not regular:
            return
        mean = sum(regular.values()) / len(regular)
        settled = max(10 * self.r, sum(self.lengths[-4:]))
        for flow, dropped in regular.items():
            if self.since_change(flow) < settled or flow not in self.hit:
                continue
            step = rate * dropped / mean
            if flow not in self.p:
                self.p[flow] = min(step, 2 * rate, 0.5)
            else:
                raised = self.p[flow] + min(step, self.p[flow])
                self.p[flow] = raised if raised <= 1 else 0.5 + self.p[flow] / 2
            self.changed[flow] = self.end

    def lower_probabilities(self) -> None:
        settled = max(10 * self.r, sum(self.lengths[-3:]))
        for flow in list(self.p):
            if any(flow in drops for drops in self.history) or self.since_change(flow) < settled:
                continue
            self.changed[flow] = self.end
            if self.p[flow] <= 0.005:
                del self.p[flow]
            else:
                self.p[flow] -= min(0.05, self.p[flow] / 2)
