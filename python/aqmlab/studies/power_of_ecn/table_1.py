"""Table 1 of the paper: throughputs with ECN and ECN+, and throughputs in the paper's text."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab import estimates
from aqmlab.estimates import number
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Item, Need, Runs, Section, Tolerance
from aqmlab.studies.framework.show import KINDS
from aqmlab.studies.power_of_ecn.profiles import LOADS, needs, reference
from aqmlab.studies.power_of_ecn.scenarios import Setting
from aqmlab.studies.power_of_ecn.showing import THROUGHPUT, mean, relative_gain, with_interval
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
"""Published throughputs in %; the throughputs without ECN are from the text of section 5.2."""
RULE = Tolerance.of("3 % of the link rate", 3)


def cell(item: str, runs: Runs, at: Setting, printed: float | None = None) -> Cell:
    """Return our throughput as a cell, with the published throughput."""
    ours = mean(runs, at, THROUGHPUT)
    return Cell(item, at.columns(), "throughput", "%", ours, printed, RULE if printed else None)


def shown(one: Cell) -> Entry:
    """Return a table entry: our throughput, its interval, and the published throughput."""
    of = with_interval(one.ours)
    printed = "" if one.published is None else f"published {number(one.published)}"
    return Entry(of.text, "\n".join(filter(None, [printed, of.sub])), KINDS.get(one.verdict, ""))


def _needs() -> Iterator[Need]:
    for scheme in SCHEMES:
        yield from needs(scheme)


def relative(runs: Runs, scheme: str, load: int) -> list[float]:
    """Return the throughput gain of ECN+ over ECN in %, for each replication."""
    plus, ecn = (Setting(scheme, ends, load) for ends in (ECN_PLUS, ECN))
    return relative_gain(runs, plus, ecn, THROUGHPUT)


def _make(runs: Runs) -> Section:
    section = Section(
        [
            "The table shows the throughput of the bottleneck after the warm-up, in % of 100 "
            "Mbit/s: means of the replications with their 95 % intervals. The last column has the "
            "throughput gain of ECN+ over ECN in %, paired by replication. In our copy of the "
            "paper, only the cells of PI are legible. Two more numbers, 78.28 and 76.62, are "
            "legible, but their cells are unknown.",
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
    head = ["Load, scheme", *ENDS.values(), "Gain of ECN+ over ECN (%)"]
    section.tables.append(Table("Throughput (% of 100 Mbit/s)", head, rows))
    return section


ITEM = Item("table-1", "Table 1: throughput", _needs, _make)
