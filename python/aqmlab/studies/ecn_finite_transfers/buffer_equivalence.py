"""Buffer equivalence: aggressive ECN with half the buffer of Drop Tail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from aqmlab import estimates
from aqmlab.estimates import Estimate
from aqmlab.report import Entry, Table
from aqmlab.studies.ecn_finite_transfers import efficiency
from aqmlab.studies.ecn_finite_transfers.printed_tables import DROPPED
from aqmlab.studies.ecn_finite_transfers.replications import need
from aqmlab.studies.ecn_finite_transfers.scenarios import Setting
from aqmlab.studies.framework.runs import Need, Runs
from aqmlab.studies.framework.show import plain
from aqmlab.studies.framework.study import Item, Section
from aqmlab.studies.framework.verdicts import Cell

SAME_EFFICIENCY = 1.0
"""Maximum difference in G, in percentage points, of two settings with equal efficiency."""


@dataclass(frozen=True)
class Pair:
    """Two settings to compare: Drop Tail, and aggressive ECN with half the limit of Drop Tail."""

    tail: Setting
    ecn: Setting
    tail_efficiency: Estimate
    ecn_efficiency: Estimate
    tail_dropped: Estimate
    ecn_dropped: Estimate

    @property
    def equal_or_better(self) -> bool:
        """True if ECN is as efficient as Drop Tail, and drops no more, within the tolerances."""
        dropped = self.tail_dropped.value
        return (
            self.ecn_efficiency.value >= self.tail_efficiency.value - SAME_EFFICIENCY
            and self.ecn_dropped.value <= dropped + DROPPED.width(dropped)
        )


def pair(runs: Runs, n: int, tail_limit: int, ecn_limit: int) -> Pair:
    """Return the numbers of Drop Tail and of aggressive ECN, each with its own queue limit."""
    tail, ecn = Setting(n, "DT", tail_limit), Setting(n, "ECN-A", ecn_limit)
    numbers = [
        efficiency.spread(runs, setting, quantity)
        for quantity in (efficiency.percent, efficiency.dropped)
        for setting in (tail, ecn)
    ]
    return Pair(tail, ecn, *numbers)


def halves(runs: Runs) -> list[Pair]:
    """Return the pairs of all Drop Tail limits for which ECN was run with half the limit."""
    return [
        pair(runs, n, limit, limit // 2)
        for n in (2, 5, 10)
        for limit in reversed(efficiency.limits_of(n))
        if limit // 2 in efficiency.limits_of(n)
    ]


def _needs() -> Iterator[Need]:
    for n in (2, 5, 10):
        for setting in efficiency.grid(n):
            if setting.scheme in ("DT", "ECN-A"):
                yield need(setting)


def _make(runs: Runs) -> Section:
    section = Section(
        text=[
            "ECN counts as equal or better than Drop Tail on two conditions. The goodput "
            "efficiency G with ECN is at most one percentage point lower than with Drop Tail. The "
            "number of drops with ECN exceeds that of Drop Tail by at most 3 packets, or by at "
            "most 6 % if that is more. The table compares medians."
        ]
    )
    rows: list[list[str | Entry]] = []
    for p in halves(runs):
        good = p.equal_or_better
        verdict = Entry("yes" if good else "no", kind="good" if good else "bad")
        rows.append(
            [
                f"{p.tail.n} clients, {p.tail.limit} against {p.ecn.limit}",
                *map(plain, (p.tail_efficiency, p.ecn_efficiency)),
                *map(plain, (p.tail_dropped, p.ecn_dropped)),
                verdict,
            ]
        )
        section.cells.append(
            Cell(
                "buffer-equivalence",
                p.ecn.columns(),
                "half_the_buffer_is_enough",
                "boolean",
                estimates.median([float(good)] * p.ecn_dropped.n),
            )
        )
    head = [
        "Drop Tail against ECN",
        "G, Drop Tail (%)",
        "G, ECN (%)",
        "Dropped, Drop Tail",
        "Dropped, ECN",
        "Equal or better",
    ]
    section.tables.append(Table("Aggressive ECN with half the buffer", head, rows))
    return section


ITEM = Item("buffer-equivalence", "Buffer equivalence: ECN with half the buffer", _needs, _make)
