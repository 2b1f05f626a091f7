"""Baseline: one download through Drop Tail, with and without headers on the wire."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab import estimates
from aqmlab.measures import Measure
from aqmlab.report import Entry, Table
from aqmlab.studies.ecn_finite_transfers.replications import need
from aqmlab.studies.ecn_finite_transfers.scenarios import (
    BOTTLENECK_BPS,
    FILE_SEGMENTS,
    Setting,
)
from aqmlab.studies.ecn_finite_transfers.transfers import Transfers
from aqmlab.studies.framework.runs import Need, Runs
from aqmlab.studies.framework.show import entry
from aqmlab.studies.framework.study import Item, Section
from aqmlab.studies.framework.verdicts import Cell, Tolerance

LIMITS = (40, 39, 38, 37, 36)
HEADER_BYTES = 40
QUARTER_SECOND = Tolerance.of("0.25 s", 0.25, single_run=True)
EXACT = Tolerance.of("none", 0.0)
SAME_TIME = Tolerance("0.25 s of 112.5 s", lambda printed: printed * 0.25 / 112.5, single_run=True)


def setting(limit: int = 39, header_bytes: int = 0) -> Setting:
    """Return the setting of one download through Drop Tail."""
    return Setting(1, "DT", limit, header_bytes=header_bytes)


def header_time_s() -> float:
    """Return the time in s by which headers on every segment extend a download on a busy link."""
    return FILE_SEGMENTS * HEADER_BYTES * 8 / BOTTLENECK_BPS


def _needs() -> Iterator[Need]:
    for limit in LIMITS:
        yield need(setting(limit))
    yield need(setting(39, HEADER_BYTES))


QUANTITIES = (
    Measure[Transfers]("download_time", "s", lambda run: run.time_s[0], -1, "Download time (s)"),
    Measure[Transfers]("goodput", "kbit/s", lambda run: run.goodput_kbps[0], 1, "Goodput (kbit/s)"),
    Measure[Transfers]("goodput_efficiency", "%", lambda run: run.efficiency_percent, 1, "G (%)"),
    Measure[Transfers]("dropped_packets", "packets", lambda run: run.dropped.sum(), -1, "Dropped"),
)
PRINTED = (
    (112.5, QUARTER_SECOND),
    (1491.3, SAME_TIME),
    (99.42, SAME_TIME),
    (0.0, EXACT),
)


def _make(runs: Runs) -> Section:
    section = Section(
        text=[
            "The study publishes numbers for a queue limit of 39 packets, the smallest limit "
            "without drops. The runs with smaller limits show the limit below which packets are "
            "dropped. The study did not count packet headers on the wire (published/notes.md). "
            f"If every segment has 40 bytes of headers, the download takes {FILE_SEGMENTS} x 320 "
            f"bit / 1.5 Mbit/s = {header_time_s():.2f} s longer in theory, and the goodput "
            "efficiency G is at most 1460 / 1500 = 97.33 %."
        ]
    )
    columns = [_cells(runs, limit) for limit in LIMITS]
    with_headers = _with_headers(runs)
    section.cells = [cell for column in [*columns, with_headers] for cell in column]
    rows: list[list[str | Entry]] = [
        [quantity.head, *(entry(column[i]) for column in columns)]
        for i, quantity in enumerate(QUANTITIES)
    ]
    head = ["Queue limit", *map(str, LIMITS)]
    section.tables.append(Table("One download, Drop Tail, no headers counted", head, rows))
    section.tables.append(
        Table(
            "One download, limit 39, with 40-byte headers (compared with theory)",
            ["", *(quantity.head for quantity in QUANTITIES)],
            [["Headers counted", *map(entry, with_headers)]],
        )
    )
    return section


def _cells(runs: Runs, limit: int) -> list[Cell]:
    chosen, columns = runs.of(setting(limit)), setting(limit).columns()
    printed = PRINTED if limit == 39 else ((None, None),) * len(PRINTED)
    return [
        Cell.of("baseline", columns, quantity, chosen, *one, fitted=one[1] is not EXACT)
        for quantity, one in zip(QUANTITIES, printed, strict=True)
    ]


def _with_headers(runs: Runs) -> list[Cell]:
    """Return the results of a download with packet headers, each with its theoretical number."""
    without, with_them = runs.of(setting()), runs.of(setting(39, HEADER_BYTES))
    columns = {**setting(39).columns(), "header_bytes": HEADER_BYTES}
    plain_time = estimates.median(run.time_s[0] for run in without).value
    stretch = plain_time / (plain_time + header_time_s())
    cells = []
    for quantity, (_, tolerance) in zip(QUANTITIES, PRINTED, strict=True):
        base = estimates.median(quantity.of(run) for run in without).value
        theory = {
            "download_time": plain_time + header_time_s(),
            "goodput": base * stretch,
            "goodput_efficiency": base * stretch,
            "dropped_packets": 0.0,
        }[quantity.name]
        note = "theory, not published"
        cells.append(
            Cell.of(
                "baseline", columns, quantity, with_them, theory, tolerance, note=note, again=True
            )
        )
    return cells


ITEM = Item("baseline", "Baseline: one download", _needs, _make)
