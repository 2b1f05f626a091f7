"""Literal implementations of HTB and CBQ: which classes may send at a time, and their rank.

If several classes of equal rank may send, these implementations use the order of the simulator.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from references.draws import Draws
from references.fifo import SECOND, Packet
from references.schedulers import Classes

MINUTE = 60 * SECOND


@dataclass
class HtbClass:
    """Class of HTB; a token is 10^-12 bit, so that 1 bit/s adds one token per picosecond."""

    parent: int | None
    rate: int
    ceil: int
    burst: int = 1600
    cburst: int = 1600
    prio: int = 0
    level: int = 0

    def __post_init__(self) -> None:
        self.cmode = "green"
        self.tokens, self.ctokens = 8 * SECOND * self.burst, 8 * SECOND * self.cburst
        self.at = 0

    def debts(self, now: int) -> tuple[int, int]:
        """Return the missing tokens of the rate and of the ceil; surplus tokens are negative."""
        span = min(now - self.at, MINUTE)
        return -(self.tokens + span * self.rate), -(self.ctokens + span * self.ceil)

    def change_mode(self, now: int, hysteresis: bool) -> None:
        """Update the mode from the tokens, as htb_class_mode() of sch_htb.c does."""
        debt, cdebt = self.debts(now)
        lowater = self.cburst if hysteresis and self.cmode != "red" else 0
        hiwater = self.burst if hysteresis and self.cmode == "green" else 0
        if cdebt > 8 * SECOND * lowater:
            self.cmode = "red"
        else:
            self.cmode = "yellow" if debt > 8 * SECOND * hiwater else "green"

    def changes(self, now: int) -> list[int]:
        """Return the times at which new tokens may change the mode of the class."""
        waits = zip(self.debts(now), (self.rate, self.ceil), strict=True)
        return [now - (-debt // rate) for debt, rate in waits if debt > 0]

    def charge(self, now: int, size: int, lends: bool) -> None:
        span, price = min(now - self.at, MINUTE), 8 * SECOND * size
        self.tokens += span * self.rate
        if lends:
            self.tokens = min(self.tokens, 8 * SECOND * self.burst) - price
            self.tokens = max(self.tokens, 1 - MINUTE * self.rate)
        ctokens = min(self.ctokens + span * self.ceil, 8 * SECOND * self.cburst) - price
        self.ctokens = max(ctokens, 1 - MINUTE * self.ceil)
        self.at = now


class Tree(Classes):
    """Tree of classes, whose leaves store the packets."""

    def __init__(self, parents: list[int | None], turns: Iterable[int], limit: int) -> None:
        self.parents = parents
        self.leaves = [n for n in range(len(parents)) if n not in parents]
        super().__init__(len(self.leaves), limit)
        self.turns: Iterator[int] = iter(turns)

    def path(self, leaf: int) -> list[int]:
        """Return a leaf and all its ancestors."""
        above = self.parents[leaf]
        return [leaf, *([] if above is None else self.path(above))]

    def waiting(self) -> list[int]:
        return [n for c, n in enumerate(self.leaves) if self.queues[c]]

    def next_of(self, equals: list[int]) -> tuple[int, Packet]:
        """Remove the simulator's next packet; the class of this packet must be in `equals`."""
        c = next(self.turns)
        assert self.leaves[c] in equals, (
            f"the simulator sends class {self.leaves[c]}, but only {equals} may send"
        )
        return self.leaves[c], self.queues[c].popleft()


class Htb(Tree):
    """HTB of Devera 2002 (user guide, "HTB theory"), with the accounting of sch_htb.c."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        nodes: list[HtbClass],
        turns: Iterable[int],
        limit: int,
        hysteresis: bool = False,
    ) -> None:
        super().__init__([node.parent for node in nodes], turns, limit)
        self.nodes, self.hysteresis = nodes, hysteresis
        for n, node in enumerate(nodes):
            node.level = 0 if n in self.leaves else 8 - len(self.path(n))

    def lender(self, leaf: int) -> int | None:
        """Return the class whose tokens a leaf uses: the leaf or its first green ancestor."""
        for n in self.path(leaf):
            mode = self.nodes[n].cmode
            if mode != "yellow":
                return n if mode == "green" else None
        return None

    def dequeue(self, now: int) -> Packet | int | None:
        waiting = self.waiting()
        offers = []
        for node in self.nodes:
            node.change_mode(now, self.hysteresis)
        for leaf in waiting:
            lender = self.lender(leaf)
            if lender is not None:
                offers.append((self.nodes[lender].level, self.nodes[leaf].prio, leaf))
        if not offers:
            paths = {n for leaf in waiting for n in self.path(leaf)}
            return min((t for n in paths for t in self.nodes[n].changes(now)), default=None)
        first = min(offers)[:2]
        leaf, packet = self.next_of([leaf for *rank, leaf in offers if tuple(rank) == first])
        for n in self.path(leaf):
            self.nodes[n].charge(now, packet.size, self.nodes[n].level >= first[0])
            self.nodes[n].change_mode(now, self.hysteresis)
        return packet


@dataclass
class CbqClass:
    """Class of CBQ and its estimator; avgidle is in picoseconds, scaled by 2^ewma."""

    parent: int | None
    rate: int
    priority: int = 0
    bounded: bool = False
    isolated: bool = False
    level: int = 1
    ewma: int = 4
    maxidle: int = 0

    def __post_init__(self) -> None:
        self.last: tuple[int, int] | None = None
        self.undertime = 0

    def prepare(self, link: int, lent: int, ewma: int, burst: int = 16, packet: int = 1000) -> None:
        """Set maxidle by Floyd's formula t (1/p - 1) (1 - g^n) / g^n."""
        self.rate, self.ewma = lent, ewma
        t, scale = float((packet * 8 * SECOND + link // 2) // link), float(1 << ewma)
        gn = 1.0
        for _ in range(burst):
            gn *= (scale - 1.0) / scale
        share = min(lent / link, 1.0)
        self.maxidle = int(scale * t * (1.0 / share - 1.0) * (1.0 - gn) / gn)
        self.avgidle = self.maxidle

    def sent(self, now: int, size: int) -> None:
        """Update the estimator after a transmission (Floyd & Van Jacobson 1995, appendix A)."""
        takes = (size * 8 * SECOND + self.rate // 2) // self.rate
        if self.last is not None:
            idle = now - self.last[0] - self.last[1]
            self.avgidle += idle - (self.avgidle >> self.ewma)
            self.avgidle = min(self.avgidle, self.maxidle)
        self.last = now, takes
        self.undertime = now
        if self.avgidle <= 0:
            self.undertime += takes - self.avgidle + (self.avgidle >> self.ewma)


class Cbq(Tree):
    """CBQ by the formal link-sharing guidelines of Floyd & Van Jacobson 1995 §4."""

    def __init__(
        self,
        draws: Draws,
        rate: int,
        *,
        nodes: list[CbqClass],
        turns: Iterable[int],
        limit: int,
        ewma: int = 4,
    ) -> None:
        super().__init__([node.parent for node in nodes], turns, limit)
        self.nodes = nodes
        rates = [node.rate for node in nodes]
        for n, node in reversed(list(enumerate(nodes))):
            within = [m for m, other in enumerate(nodes) if other.parent == n]
            node.level = 1 + max((nodes[m].level for m in within), default=0)
            lent = rates[n] - sum(rates[m] for m in within if nodes[m].isolated)
            node.prepare(rate, lent, ewma)

    def may_send(self, now: int, leaf: int, unsatisfied: int) -> bool:
        """Return True if a class may send by the link-sharing guidelines of §4.

        A class below its limit may send. A class at or above its limit may send if an ancestor is
        below its limit and no class on a lower level than the ancestor is unsatisfied.
        """
        for n in self.path(leaf):
            if self.nodes[n].undertime <= now:
                return n == leaf or unsatisfied >= self.nodes[n].level
            if self.nodes[n].bounded:
                return False
        return False

    def dequeue(self, now: int) -> Packet | int | None:
        waiting = self.waiting()
        paths = [self.nodes[n] for leaf in waiting for n in self.path(leaf)]
        unsatisfied = min((n.level for n in paths if n.undertime <= now), default=1 << 32)
        may = [leaf for leaf in waiting if self.may_send(now, leaf, unsatisfied)]
        if not may:
            return min((n.undertime for n in paths if n.undertime > now), default=None)
        first = min(self.nodes[leaf].priority for leaf in may)
        leaf, packet = self.next_of([n for n in may if self.nodes[n].priority == first])
        borrowed = self.nodes[leaf].undertime > now
        for n in self.path(leaf):
            self.nodes[n].sent(now, packet.size)
            if self.nodes[n].isolated and not borrowed:
                break
        return packet
