"""DualPI2 of RFC 9332 Appendix A, figures 3, 5, 7 and 8, with the names of the RFC."""

from collections.abc import Iterable
from math import nan

from references.disciplines import Discipline, drop
from references.draws import Draws
from references.fifo import MARK, SECOND, Packet


class Side(list[Packet]):
    """Queue L or queue C of DualPI2, with the variable q.count of the function recur()."""

    likely = 0.0
    """Variable q.count of recur(); Python's lists already have a method `count`."""

    def time(self, now: int) -> float:
        return (now - self[0].entered) / SECOND if self else 0.0

    def byt(self) -> int:
        return sum(p.size for p in self)


class DualPi2(Discipline):
    """DualPI2 with the queues L and C; the weighted round robin gives queue C the share `share`.

    If `linux` is true, a nearly empty queue sends packets without a signal, as Appendices A.1 and
    A.2 of RFC 9332 describe for Linux.
    """

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        k: float = 2.0,
        target: float = 0.015,
        t_update_us: int = 16_000,
        alpha: float = 0.16,
        beta: float = 3.2,
        min_th_us: int = 800,
        range_us: int = 400,
        th_len: int = 1,
        share: float = 1 / 16,
        mtu: int = 1500,
        limit: int = 100,
        unit: str = "packets",
        linux: bool = False,
        tshift_us: int | None = None,
    ) -> None:
        self.k, self.target, self.alpha, self.beta = k, target, alpha, beta
        self.t_update = t_update_us * 10**6
        self.min_th, self.range = min_th_us * 10**6, range_us * 10**6
        self.th_len, self.share, self.mtu = th_len, share, mtu
        self.limit, self.unit = limit, unit
        self.linux = linux
        self.tshift = None if tshift_us is None else tshift_us / 1e6
        self.may_step: set[int] = set()
        """Ids of the packets that arrived when queue L, including the packet, exceeded Th_len."""
        self.p_cmax = min(1 / k**2, 1)
        self.p = self.p_cl = self.p_c = self.prevq = self.credit = 0.0
        self.lq, self.cq = Side(), Side()
        self.next = self.t_update

    def run_updates(self, now: int) -> None:
        while self.next <= now:
            self.dualpi2_update(self.next)
            self.next += self.t_update

    def dualpi2_update(self, now: int) -> None:
        curq = max(self.cq.time(now), self.lq.time(now))
        step = self.alpha * (curq - self.target) + self.beta * (curq - self.prevq)
        self.p = max(0.0, min(1.0, self.p + step))
        self.p_cl = min(1.0, self.p * self.k)
        self.p_c = self.p * self.p
        self.prevq = curq

    def enqueue(self, now: int, packet: Packet, idle_since: int | None) -> None:
        self.run_updates(now)
        if self.unit == "bytes":
            full = self.lq.byt() + self.cq.byt() + self.mtu > self.limit
        else:
            full = len(self.lq) + len(self.cq) >= self.limit
        if full:
            self.explain(packet, "buffer-full", {})
            drop(now, packet, "full")
        elif packet.ecn % 2 == 1:
            if len(self.lq) + 1 > self.th_len:
                self.may_step.add(id(packet))
            self.lq.append(packet)
        else:
            self.cq.append(packet)

    def laqm(self, qdelay: int) -> float:
        if qdelay >= self.min_th + self.range:
            return 1
        if qdelay > self.min_th:
            return (qdelay - self.min_th) / self.range
        return 0

    def waiting_packets(self) -> Iterable[Packet]:
        return [*self.lq, *self.cq]

    def recur(self, q: Side, likelihood: float, now: int, pkt: Packet, rule: str) -> bool:
        """Return True if the packet is signalled, and record the reason."""
        q.likely += likelihood
        if q.likely <= 1:
            return False
        self.explain(pkt, rule, {
            "l4s": float(q is self.lq), "sojourn_s": (now - pkt.entered) / SECOND, "p": likelihood,
            "p_base": self.p, "qdelay_s": self.prevq, "recur_count": q.likely, "random": nan,
        })  # fmt: skip
        q.likely -= 1
        return True

    def scheduler(self, now: int) -> Side:
        if not (self.lq and self.cq):
            return self.lq or self.cq
        if self.tshift is not None:
            l_first = self.lq.time(now) + self.tshift >= self.cq.time(now)
            return self.lq if l_first else self.cq
        return self.cq if self.credit > 0 else self.lq

    def charge(self, sent: Side, size: int) -> None:
        """Update the scheduler's credit after a transmission while both queues have packets."""
        if sent is self.cq:
            self.credit -= (1 - self.share) * size
        else:
            self.credit += self.share * size

    def native(self, now: int, pkt: Packet) -> float:
        above = id(pkt) in self.may_step if self.linux else len(self.lq) > self.th_len
        return self.laqm(now - pkt.entered) if above else 0

    def dequeue(self, now: int) -> Packet | None:
        self.run_updates(now)
        lq, cq = self.lq, self.cq
        while lq or cq:
            contended = bool(lq and cq)
            side = self.scheduler(now)
            pkt = side.pop(0)
            spared = self.linux and lq.byt() + cq.byt() < 2 * self.mtu
            if side is lq:
                if spared:
                    if self.recur(lq, self.native(now, pkt), now, pkt, "native-l4s"):
                        pkt.outcome = MARK["early"]
                elif self.p_cl < 1:
                    native = self.native(now, pkt)
                    rule = "native-l4s" if native >= self.p_cl else "coupled-l4s"
                    if self.recur(lq, max(native, self.p_cl), now, pkt, rule):
                        pkt.outcome = MARK["early"]
                else:
                    if self.recur(lq, self.p_c, now, pkt, "overload-l4s"):
                        drop(now, pkt, "early")
                        continue
                    if self.recur(lq, self.p_cl, now, pkt, "coupled-l4s"):
                        pkt.outcome = MARK["early"]
            elif not spared:
                overload = pkt.ecn != 0 and self.p_c >= self.p_cmax
                rule = "overload-classic" if overload else "classic"
                if self.recur(cq, self.p_c, now, pkt, rule):
                    if pkt.ecn == 0 or overload:
                        drop(now, pkt, "early")
                        continue
                    pkt.outcome = MARK["early"]
            if contended:
                self.charge(side, pkt.size)
            return pkt
        self.credit = 0.0
        return None
