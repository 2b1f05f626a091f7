"""Tables I to IV of the study: two downloads, with one column per queue limit.

A table has the published rows, and a row for the goodput efficiency G. The published goodputs
determine G: twice the lower goodput divided by 1500 kbit/s (`published/notes.md`). As in the study,
our completion times are rounded up to multiples of 0.5 s.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from aqmlab.measures import Measure
from aqmlab.report import Entry, Table
from aqmlab.statistics import jain
from aqmlab.studies.ecn_finite_transfers.frozen import FITTED_TABLES
from aqmlab.studies.ecn_finite_transfers.replications import need
from aqmlab.studies.ecn_finite_transfers.scenarios import (
    BOTTLENECK_BPS,
    FILE_BYTES,
    FILE_SEGMENTS,
    MAXP,
    SAMPLING_S,
    Setting,
)
from aqmlab.studies.ecn_finite_transfers.transfers import Floats, Transfers
from aqmlab.studies.framework.runs import Need, Runs
from aqmlab.studies.framework.show import entry
from aqmlab.studies.framework.study import Item, Section
from aqmlab.studies.framework.verdicts import Cell, Tolerance

PUBLISHED = Path(__file__).parent / "published"
Row = dict[str, str]

KBIT = FILE_BYTES * 8 / 1000
"""One download in kbit."""


ROUNDING_KBPS = 0.05
"""Rounding error of the published goodputs in kbit/s, which have one decimal."""


def step(goodput_kbps: float) -> float:
    """Return the change of a goodput in kbit/s if its download ends one sampling step earlier."""
    return KBIT / (KBIT / goodput_kbps - SAMPLING_S) - goodput_kbps + ROUNDING_KBPS


def _percent(goodput_kbps: float) -> float:
    """Return the goodput efficiency of two downloads in %, given the lower goodput."""
    return 2 * 100 * goodput_kbps / (BOTTLENECK_BPS / 1000)


def _step_percent(efficiency_percent: float) -> float:
    return _percent(step(efficiency_percent / _percent(1.0)))


ONE_STEP = "0.5 s of completion time, plus the rounding error of the published goodput"
DROPPED = Tolerance.larger_of(3, 0.06, "packets", single_run=True)
SENT = Tolerance(
    "3 packets, or 6 % of the packets beyond the payload if that is more",
    lambda sent: max(3, 0.06 * (sent - 2 * FILE_SEGMENTS)),
    single_run=True,
)
GOODPUT = Tolerance(ONE_STEP, step, single_run=True)
JAIN = Tolerance.of("0.001", 0.001, single_run=True)
EFFICIENCY = Tolerance(ONE_STEP, _step_percent, single_run=True)


@dataclass(frozen=True)
class Quantity:
    """A row of the published tables: its measure, its published value and its tolerance."""

    measure: Measure[Transfers]
    printed: Callable[[Row], float]
    tolerance: Tolerance
    derived: bool = False


def _goodputs(run: Transfers) -> Floats:
    """Return the goodputs in kbit/s, from download times rounded up to multiples of 0.5 s."""
    return KBIT / run.sampled_time_s


def _printed(column: str) -> Callable[[Row], float]:
    return lambda row: float(row[column])


def _goodput_of(client: int) -> Quantity:
    measure = Measure[Transfers](
        f"goodput{client}", "kbit/s", lambda run: _goodputs(run)[client], 1,
        f"Goodput of C{client} (kbit/s)",
    )  # fmt: skip
    return Quantity(measure, _printed(f"goodput{client}_kbps"), GOODPUT)


QUANTITIES = (
    Quantity(Measure("sent_packets", "packets", lambda run: run.sent.sum(), -1, "Sent"),
             _printed("sent_packets"), SENT),
    Quantity(Measure("dropped_packets", "packets", lambda run: run.dropped.sum(), -1, "Dropped"),
             _printed("dropped_packets"), DROPPED),
    _goodput_of(0),
    _goodput_of(1),
    Quantity(Measure("jain_index", "1", lambda run: jain(_goodputs(run)), 1, "Fairness index"),
             _printed("jain_index"), JAIN),
    Quantity(Measure("goodput_efficiency", "%", lambda run: _percent(_goodputs(run).min()), 1,
                     "G (%), from the goodputs"),
             lambda row: _percent(min(float(row["goodput0_kbps"]), float(row["goodput1_kbps"]))),
             EFFICIENCY, derived=True),
)  # fmt: skip


def published(file: str) -> list[Row]:
    """Return the columns of a published table, one dict per column."""
    with (PUBLISHED / file).open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def letter(row: Row) -> str:
    """Return "C" for conservative RED or "A" for aggressive RED, by maxp of a published column."""
    return next(name for name, maxp in MAXP.items() if maxp == float(row["maxp"]))


def table_item(
    name: str, title: str, file: str, text: list[str], setting: Callable[[Row], Setting]
) -> Item:
    """Return the item that reproduces one table; `setting` returns the setting of a column."""

    def needs() -> Iterator[Need]:
        yield from (need(setting(row)) for row in published(file))

    def make(runs: Runs) -> Section:
        columns = [(row, _column(name, runs, setting(row), row)) for row in published(file)]
        blocks = dict.fromkeys(row["maxp"] for row, _ in columns)
        tables = [
            _table(title, maxp, [c for c in columns if c[0]["maxp"] == maxp]) for maxp in blocks
        ]
        return Section(text, [cell for _, cells in columns for cell in cells], tables)

    return Item(name, title, needs, make)


def _column(item: str, runs: Runs, setting: Setting, row: Row) -> list[Cell]:
    """Return the cells of one column of a published table."""
    return [
        Cell.of(
            item, setting.columns(), quantity.measure, runs.of(setting),
            quantity.printed(row), quantity.tolerance, note=row["doubt"], again=quantity.derived,
            fitted=item in FITTED_TABLES,
        )
        for quantity in QUANTITIES
    ]  # fmt: skip


def _table(title: str, maxp: str, columns: list[tuple[Row, list[Cell]]]) -> Table:
    """Return one block of a table, with the rows and columns of the published table."""
    caption = f"{title}, maxp = {100 * float(maxp):g} %" if maxp else title
    head = ["Queue limit (minth)"]
    for row, _ in columns:
        minth = f" ({row['minth_packets']})" if row["minth_packets"] else ""
        head.append(row["queue_limit_packets"] + minth)
    rows: list[list[str | Entry]] = [
        [quantity.measure.head, *(entry(cells[i]) for _, cells in columns)]
        for i, quantity in enumerate(QUANTITIES)
    ]
    return Table(caption, head, rows)
