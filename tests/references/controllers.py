"""AQMs that compute no average queue; each follows its paper or its RFC."""

from math import nan
from typing import Any

from references.draws import Draws
from references.fifo import SECOND, Aqm, Packet, Queue, Values


class Threshold(Aqm):
    """Step marking of RFC 8257 §3.1: mark a packet that arrives at a queue longer than K."""

    def __init__(self, draws: Draws, rate: int, *, k: int, unit: str = "packets") -> None:
        self.k, self.unit = k, unit

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        return ("signal", "threshold") if queue.in_units_of(self.unit) > self.k else "pass"

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        return "above-threshold", {"threshold": self.k}


class Blue(Aqm):
    """BLUE of Feng, Shin, Kandlur & Saha 2002, "The BLUE algorithm"; times in picoseconds.

    The event "link idle" of the paper lasts as long as the link is idle, so pm decreases once per
    freeze time.
    """

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        d1: float = 0.02,
        d2: float = 0.002,
        freeze_time: float = 0.1,
        max_packets: float | None = None,
    ) -> None:
        self.draws, self.d1, self.d2 = draws, d1, d2
        self.freeze_time = round(freeze_time * SECOND)
        self.max_packets = max_packets
        self.pm = 0.0
        self.last_update = 0

    def packet_loss(self, now: int) -> None:
        if (now - self.last_update) > self.freeze_time:
            self.pm = min(self.pm + self.d1, 1)
            self.last_update = now

    def idle(self, since: int, now: int) -> None:
        """Decrease pm once per freeze time from the start of the idle time until now."""
        at = max(since, self.last_update + self.freeze_time)
        while at <= now:
            self.pm = max(self.pm - self.d2, 0)
            self.last_update = at
            at += self.freeze_time

    def overflow(self, now: float) -> None:
        self.packet_loss(round(now * SECOND))

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        if queue.idle_since is not None:
            self.idle(round(queue.idle_since * SECOND), packet.entered)
        if self.max_packets is not None and queue.packets > self.max_packets:
            self.packet_loss(packet.entered)
        self.u = self.draws.uniform()
        return ("signal", "early") if self.u < self.pm else "pass"

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        u = nan if reason == "full" else self.u
        return "random", {"pm": self.pm, "random": u, "last_update_s": self.last_update / SECOND}


class Pi(Aqm):
    """PI of Hollot, Misra, Towsley & Gong 2001, as a difference equation."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        qref: float,
        a: float = 1.822e-5,
        b: float = 1.816e-5,
        period: float = 0.00625,
        packet_bytes: int | None = None,
        designed_for: tuple[float, float] | None = None,
    ) -> None:
        if designed_for is not None:
            # The coefficients are designed for n flows with the round-trip time r. The controller's
            # zero z cancels the pole of TCP, and the loop gain is 1 at the frequency z.
            n, r = designed_for
            c = rate / (8 * 500)
            z = 2 * n / (r**2 * c)
            plant = (c**2 / (2 * n)) / (abs(1j * z + z) * abs(1j * z + 1 / r))
            k = z / abs(1 + 1j) / plant
            a, b = k / z + k * period / 2, k / z - k * period / 2
        self.draws, self.qref, self.a, self.b, self.period = draws, qref, a, b, period
        self.packet_bytes = packet_bytes
        self.p = 0.0
        self.q_old = 0.0

    def tick(self, now: float, queue: Queue) -> None:
        q = queue.bytes / self.packet_bytes if self.packet_bytes else float(queue.packets)
        self.p = self.a * (q - self.qref) - self.b * (self.q_old - self.qref) + self.p
        self.p = max(0.0, min(1.0, self.p))
        self.q_old = q

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        self.u = self.draws.uniform()
        return ("signal", "early") if self.u < self.p else "pass"

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        u = nan if reason == "full" else self.u
        return "random", {"p": self.p, "q_packets": self.q_old, "random": u}


class Rem(Aqm):
    """REM of Athuraliya, Low, Li & Yin 2001, equations (1) and (2)."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        target: float = 20,
        gamma: float = 0.001,
        alpha: float = 0.1,
        phi: float = 1.001,
        period: float = 0.002,
        packet_bytes: int = 1000,
        unit: str = "packets",
    ) -> None:
        self.draws, self.target, self.gamma, self.alpha, self.phi = draws, target, gamma, alpha, phi
        self.period, self.packet_bytes, self.unit = period, packet_bytes, unit
        self.c = rate / (8 * packet_bytes) * period
        self.arrived = 0
        self.price = 0.0

    def tick(self, now: float, queue: Queue) -> None:
        b = queue.packets if self.unit == "packets" else queue.bytes / self.packet_bytes
        x = self.arrived / self.packet_bytes
        self.arrived = 0
        change = self.gamma * (self.alpha * (b - self.target) + x - self.c)
        self.price = max(0.0, self.price + change)

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        self.arrived += packet.size
        self.u = self.draws.uniform()
        return ("signal", "early") if self.u < self.probability() else "pass"

    def probability(self) -> float:
        p: float = 1 - self.phi**-self.price
        return p

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        u = nan if reason == "full" else self.u
        return "random", {"price": self.price, "p": self.probability(), "random": u}


class Avq(Aqm):
    """AVQ of Kunniyur & Srikant 2001, with an update at each packet arrival."""

    def __init__(
        self, draws: Draws, rate: int, *, b: int = 100_000, gamma: float = 0.98, alpha: float = 0.15
    ) -> None:
        self.c = rate / 8
        self.buffer, self.gamma, self.alpha = b, gamma, alpha
        self.c_virtual = self.c
        self.vq = 0.0
        self.s = 0.0

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        t, b = now, packet.size
        self.vq = max(self.vq - self.c_virtual * (t - self.s), 0)
        if self.vq + b > self.buffer:
            verdict: Any = ("signal", "early")
        else:
            self.vq = self.vq + b
            verdict = "pass"
        growth = self.alpha * self.gamma * self.c * (t - self.s)
        self.c_virtual = max(min(self.c_virtual + growth, self.c) - self.alpha * b, 0)
        self.s = t
        return verdict

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        return "virtual-overflow", {
            "virtual_queue_bytes": nan if reason == "full" else self.vq,
            "virtual_capacity": self.c_virtual,
        }


class Pi2(Aqm):
    """PI2 on one queue: dualpi2_update() and the Classic dequeue of RFC 9332 Appendix A.1."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        target: float = 0.015,
        alpha: float = 0.16,
        beta: float = 3.2,
        k: float = 2,
        period: float = 0.016,
        min_backlog: int = 0,
    ) -> None:
        self.draws, self.target, self.alpha, self.beta, self.k = draws, target, alpha, beta, k
        self.min_backlog = min_backlog
        self.period = period
        self.p = 0.0
        self.prevq = 0.0

    def tick(self, now: float, queue: Queue) -> None:
        curq = now - queue.waiting[0].entered / 1e12 if queue.waiting else 0.0
        self.p = self.p + self.alpha * (curq - self.target) + self.beta * (curq - self.prevq)
        self.p = max(0.0, min(1.0, self.p))
        self.prevq = curq

    def arrival(self, now: float, packet: Packet, queue: Queue) -> Any:
        if queue.bytes < self.min_backlog:
            return "pass"
        if self.is_scalable(packet):
            self.u, self.chance = self.draws.uniform(), self.k * self.p
        else:
            self.u, self.chance = max(self.draws.uniform(), self.draws.uniform()), self.p
        return ("signal", "early") if self.u < self.chance else "pass"

    def is_scalable(self, packet: Packet) -> bool:
        """Return True for a packet with ECT(1) or CE."""
        return packet.ecn in (1, 3)

    def explain(self, packet: Packet, reason: str) -> tuple[str, Values]:
        p, u = (nan, nan) if reason == "full" else (self.chance, self.u)
        values = {"p_base": self.p, "p": p, "qdelay_s": self.prevq, "random": u}
        return "scalable" if self.is_scalable(packet) else "classic", values
