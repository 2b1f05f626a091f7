"""Table 1 of the paper: throughput with ECN and ECN+, and the throughputs in its text."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab import estimates
from aqmlab.estimates import number
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Item, Need, Runs, Section, Tolerance
from aqmlab.studies.framework.show import KINDS
from aqmlab.studies.power_of_ecn.profiles import LOADS, needs, reference
from aqmlab.studies.power_of_ecn.scenarios import Setting
from aqmlab.studies.power_of_ecn.showing import THROUGHPUT, gain, mean, values, with_interval
from aqmlab.studies.power_of_ecn.words import (
    ECN,
    ECN_PLUS,
    ENDS,
    LIGHT,
    OFF,
    PERSISTENT,
    PI,
    SCHEMES,
)

PRINTED = {
    (PI, OFF, LIGHT): 86.09,
    (PI, OFF, PERSISTENT): 99.89,
    (PI, ECN, LIGHT): 86.37,
    (PI, ECN, PERSISTENT): 99.76,
    (PI, ECN_PLUS, LIGHT): 86.56,
    (PI, ECN_PLUS, PERSISTENT): 99.89,
}
"""Throughputs in %. The text of section 5.2 has those without ECN; other cells are lost."""
RULE = Tolerance.of("3 % of the link", 3)


def cell(item: str, runs: Runs, at: Setting, printed: float | None = None) -> Cell:
    """Return our throughput beside the published one."""
    ours = mean(runs, at, THROUGHPUT)
    return Cell(item, at.columns(), "throughput", "%", ours, printed, RULE if printed else None)


def shown(one: Cell) -> Entry:
    """Return our throughput, its interval and the published one, coloured by the verdict."""
    of = with_interval(one.ours)
    printed = "" if one.published is None else f"printed {number(one.published)}"
    return Entry(of.text, "\n".join(filter(None, [printed, of.sub])), KINDS.get(one.verdict, ""))


def _needs() -> Iterator[Need]:
    for scheme in SCHEMES:
        yield from needs(scheme)


def relative(runs: Runs, scheme: str, load: int) -> list[float]:
    """Return the excess throughput of ECN+ over ECN in % of ECN's, one per replication."""
    less = Setting(scheme, ECN, load)
    more = gain(runs, Setting(scheme, ECN_PLUS, load), less, THROUGHPUT)
    return [100 * g / t for g, t in zip(more, values(runs, less, THROUGHPUT), strict=False)]


def _make(runs: Runs) -> Section:
    section = Section(
        [
            "Throughput of the bottleneck after the warm-up, in % of 100 Mbit/s: means over the "
            "replications with their 95 % intervals. The last column is the excess of ECN+ over "
            "ECN, in % of the latter, paired by replication. Only the cells of PI are legible in "
            "the printed table; two more numbers, 78.28 and 76.62, have unknown places.",
        ]
    )
    rows: list[list[str | Entry]] = []
    for load in LOADS:
        free = cell("table-1", runs, reference(load))
        section.cells.append(free)
        rows.append([f"{load} %, uncongested", shown(free), "", "", ""])
        for scheme in SCHEMES:
            row_cells = [
                cell("table-1", runs, Setting(scheme, e, load), PRINTED.get((scheme, e, load)))
                for e in ENDS
            ]
            section.cells += row_cells
            more = with_interval(estimates.mean(relative(runs, scheme, load)))
            rows.append([f"{load} %, {scheme}", *map(shown, row_cells), more])
    head = ["Load, scheme", *ENDS.values(), "ECN+ over ECN (%)"]
    section.tables.append(Table("Throughput (% of 100 Mbit/s)", head, rows))
    return section


ITEM = Item("table-1", "Table 1: throughput", _needs, _make)
