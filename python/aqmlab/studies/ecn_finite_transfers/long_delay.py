"""Ten clients with a bottleneck delay of 100 ms instead of 20 ms (figures 14, 15, 4 and 16)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from aqmlab.estimates import number
from aqmlab.report import Entry, Table
from aqmlab.studies.ecn_finite_transfers import efficiency
from aqmlab.studies.ecn_finite_transfers.replications import need
from aqmlab.studies.ecn_finite_transfers.scenarios import SCHEMES, Setting
from aqmlab.studies.ecn_finite_transfers.transfers import Transfers
from aqmlab.studies.framework.runs import Need, Runs
from aqmlab.studies.framework.show import interval
from aqmlab.studies.framework.study import Item, Section

DELAYS_MS = (20, 100)


def _needs() -> Iterator[Need]:
    for delay_ms in DELAYS_MS:
        yield from map(need, efficiency.grid(10, delay_ms))


def _table(caption: str, runs: Runs, quantity: Callable[[Transfers], float]) -> Table:
    limits = tuple(reversed(efficiency.limits_of(10)))
    rows: list[list[str | Entry]] = []
    for scheme in SCHEMES:
        for delay_ms in DELAYS_MS:
            spreads = [
                efficiency.spread(runs, Setting(10, scheme, q, delay_ms=delay_ms), quantity)
                for q in limits
            ]
            entries = [Entry(number(s.value), interval(s)) for s in spreads]
            rows.append([f"{scheme}, {delay_ms} ms", *entries])
    return Table(caption, ["Queue limit", *map(str, limits)], rows)


def _make(runs: Runs) -> Section:
    tables = [
        _table("Dropped packets, ten clients", runs, efficiency.dropped),
        _table("G (%), ten clients", runs, efficiency.percent),
    ]
    return Section([], efficiency.cells("long-delay", runs, efficiency.grid(10, 100)), tables)


ITEM = Item(
    "long-delay", "Longer delay: bottleneck delay of 100 ms compared with 20 ms", _needs, _make
)
