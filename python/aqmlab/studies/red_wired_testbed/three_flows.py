"""Tables 5-1 to 5-6 and 8-1 to 8-7: three TCP flows through Tail Drop and RED."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice

import numpy as np

from aqmlab.estimates import Estimate
from aqmlab.estimates import number as written
from aqmlab.measures import Measure
from aqmlab.report import Entry, Table
from aqmlab.statistics import proportion_interval
from aqmlab.studies.framework import Cell, Item, Need, Runs, Section, Tolerance, entry
from aqmlab.studies.framework.resampling import resampled
from aqmlab.studies.red_wired_testbed.beside import at_most
from aqmlab.studies.red_wired_testbed.outcomes import (
    COLUMNS,
    FASTEST,
    PLACES,
    SLOWEST,
    THIRD,
    Outcome,
    measure,
)
from aqmlab.studies.red_wired_testbed.printed import (
    HEADS,
    STATISTICS,
    TIME,
    Row,
    cell,
    doubtful,
    number,
    rows,
    table,
    tolerance,
)
from aqmlab.studies.red_wired_testbed.scenarios import EXPERIMENT, RED, TAIL_DROP, USUAL, Red, Three

OF = {FASTEST: "the fastest flow", SLOWEST: "the slowest flow", THIRD: "the third flow"}
NAMED = {TAIL_DROP: "Tail Drop", RED: "RED"}
QUARTILES = Tolerance.of("inside the published quartiles", 0)
PRINTED_STARTS_S = (0.0, 2.0, 5.5)
"""Start times with published replications, which are also the start times of the quick form."""


def setting(row: Row) -> Three:
    """Return the setting of a row of a published table."""
    return Three(row["discipline"], float(row["third_flow_start_s"]))


def values(runs: Runs, at: Three, place: str, column: str) -> list[float]:
    """Return our numbers for a column of the published tables, one number per replication."""
    ours: list[float] = runs.values(at, measure(place, column).of).tolist()
    return ours


def _table_needs(*files: str) -> Iterator[Need]:
    for file in files:
        for row in rows(file):
            at = setting(row)
            yield Need(at, at_most=at_most(at), quick=at.start_s in PRINTED_STARTS_S)


def _rows_of(runs: Runs, file: str, place: str) -> list[Row]:
    return [r for r in rows(file) if r["flow"] == place and runs.has(setting(r))]


def _elapsed(item: str, runs: Runs, row: Row) -> list[Cell]:
    """Return the cells of one row of Table 5-1 or 5-4."""
    place, at = row["flow"], setting(row)
    elapsed = values(runs, at, place, "elapsed_time_s")
    columns = at.columns() | {"flow": place}
    cells = [
        cell(
            item, columns, "elapsed", "s", s, elapsed, number(row, f"elapsed_{s}_s"),
            tolerance(place, "elapsed", s), doubtful(row, s, place), fitted=place == SLOWEST,
        )
        for s in STATISTICS
    ]  # fmt: skip
    cells.append(
        cell(
            item, columns, "throughput", "byte/s", "mean",
            values(runs, at, place, "throughput_bytes_per_s"),
            number(row, "throughput_mean_bytes_per_s"), tolerance(place, "throughput", "mean"),
            doubtful(row, "mean", place), fitted=place == SLOWEST,
        )
    )  # fmt: skip
    odd = [run.exception for run in runs.of(at)]
    count, printed = sum(odd), number(row, "exceptions_count")
    low, _, high = (EXPERIMENT * bound for bound in proportion_interval(count, len(odd)))
    share = EXPERIMENT * count / len(odd)
    ours = Estimate("of 20 replications, 95 % confidence", share, low, high, len(odd))
    rule = Tolerance.of("2 of 20", 2)
    cells.append(
        Cell(item, columns, "exceptions", "replications", ours, printed, rule, again=place != THIRD)
    )
    return cells + _without_exceptions(item, columns, runs, row, odd)


def _without_exceptions(
    item: str, columns: dict[str, object], runs: Runs, row: Row, odd: list[bool]
) -> list[Cell]:
    """Return the cells of Table 5-1 for statistics over the replications without an exception."""
    if "elapsed_excl_median_s" not in row:
        return []
    place, at = row["flow"], setting(row)
    rest = [
        value
        for value, out in zip(values(runs, at, place, "elapsed_time_s"), odd, strict=True)
        if not out
    ]
    return [
        cell(
            item, columns, "elapsed_without_exceptions", "s", s, rest,
            number(row, f"elapsed_excl_{s}_s"), tolerance(place, "elapsed", s),
            again=row["exceptions_count"] == "0", fitted=place == SLOWEST,
        )
        for s in ("min", "max", "median")
    ]  # fmt: skip


def _inside(item: str, runs: Runs, row: Row) -> Cell:
    """Return a cell that is 1 if the third flow's median is within the published quartiles."""
    at = setting(row)
    middle = float(np.median(values(runs, at, THIRD, "elapsed_time_s")))
    low, high = float(row["elapsed_p25_s"]), float(row["elapsed_p75_s"])
    met = float(low <= middle <= high)
    ours = Estimate("1 if it is", met, met, met, len(runs.of(at)))
    columns = at.columns() | {"flow": THIRD}
    return Cell(item, columns, "median_in_printed_quartiles", "1", ours, 1, QUARTILES, again=True)


def _elapsed_item(name: str, title: str, file: str) -> Item:
    def make(runs: Runs) -> Section:
        section = Section()
        for place in PLACES:
            lines = [
                (f"{setting(row).start_s:g} s", _elapsed(name, runs, row))
                for row in _rows_of(runs, file, place)
            ]
            head = [
                "Start of the third flow",
                *(HEADS[s] for s in STATISTICS),
                "Byte/s",
                "Exceptions",
            ]
            if any(len(cells) > len(head) for _, cells in lines):
                head += ["Min'", "Max'", "Median'"]
            section.tables.append(
                table(
                    f"Elapsed time of {OF[place]} (s); columns marked ' leave out exceptions",
                    head,
                    lines,
                )
            )
            section.cells += [cell for _, cells in lines for cell in cells]
        inside = [_inside(name, runs, row) for row in _rows_of(runs, file, THIRD)]
        section.cells += inside
        met = sum(c.ours.value for c in inside)
        section.text.append(
            "Our median of the third flow's elapsed time is inside the published quartiles in "
            f"{met:.0f} of {len(inside)} scenarios. The thesis calls a replication an exception "
            "if the third flow takes longer than the faster long flow. The published numbers of "
            "cells marked † are probably wrong, because the thesis took one value from the wrong "
            "cell (published/notes.md)."
        )
        return section

    return Item(name, title, lambda: _table_needs(file), make)


def _statistics_item(name: str, title: str, file: str) -> Item:
    """Return the item of a table with seven statistics of seven quantities, such as Table 5-2."""

    def make(runs: Runs) -> Section:
        section = Section()
        for place in PLACES:
            printed = _rows_of(runs, file, place)
            lines = []
            settings = {setting(row) for row in printed}
            ours = {
                (at, column): values(runs, at, place, column)
                for at in settings
                for column in COLUMNS
            }
            for row in printed:
                at, s = setting(row), row["statistic"]
                cells = [
                    cell(
                        name, at.columns() | {"flow": place}, column, COLUMNS[column][1], s,
                        ours[at, column], number(row, column),
                        tolerance(place, column, s), doubtful(row, s, place),
                        again=column == "elapsed_time_s",
                        fitted=place == SLOWEST and "retx" not in column and "ack" not in column,
                    )
                    for column in COLUMNS
                ]  # fmt: skip
                lines.append((HEADS[s], cells))
                section.cells += cells
            head = ["", *(COLUMNS[column][2] for column in COLUMNS)]
            section.tables.append(table(OF[place].capitalize(), head, lines))
        section.text.append(
            "The data transmit time is the time from the first to the last segment with data, as "
            "the program tcptrace computes it. At the end of a long flow, the last segments wait "
            "for about a second in the queue. The elapsed time includes the wait of the last "
            "segments in the queue, and the data transmit time does not."
        )
        return section

    return Item(name, title, lambda: _table_needs(file), make)


def _best(runs: Runs, at: Three) -> Outcome:
    """Return the replication of our first experiment with the fastest third flow."""
    best: Outcome = max(runs.of(at)[:EXPERIMENT], key=lambda run: run.at(THIRD).throughput)
    return best


def _of_best(at: Three, read: Measure[Outcome], runs: Runs) -> float:
    return read.of(_best(runs, at))


def _best_item(name: str, title: str, file: str) -> Item:
    """Return the item that reproduces Table 5-3 or Table 5-5.

    The tables show the replication with the highest throughput of the third flow.
    """

    def make(runs: Runs) -> Section:
        lines = []
        for row in rows(file):
            at, place = setting(row), row["flow"]
            cells = []
            for column in COLUMNS:
                if column not in row:
                    continue
                read = measure(place, column)
                ours = resampled(runs, partial(_of_best, at, read))
                cells.append(
                    Cell(
                        name, at.columns() | {"flow": place}, column, COLUMNS[column][1], ours,
                        number(row, column), tolerance(place, column, "max"), row["doubt"],
                    )
                )  # fmt: skip
            lines.append((place, cells))
        head = ["", *(COLUMNS[c][2] for c in COLUMNS if c in rows(file)[0])]
        cells = [c for _, row in lines for c in row]
        return Section(
            [
                "The table compares two replications: our replication and the published "
                "replication with the highest throughput of the third flow."
            ],
            cells,
            [table(title, head, lines)],
        )

    def needs() -> Iterator[Need]:
        yield from (Need(at := setting(row), at_most=at_most(at)) for row in rows(file))

    return Item(name, title, needs, make)


def _replications_item(name: str, title: str, file: str) -> Item:
    """Return the item that reproduces a published table of all replications.

    The item also compares the distributions of our numbers with those of the published numbers.
    """

    def make(runs: Runs) -> Section:
        at = setting(rows(file)[0])
        section = Section(
            [
                "A published replication does not correspond to one of our replications, so the "
                "tables compare distributions. The KS distance (Kolmogorov–Smirnov) is the "
                "maximum distance of two distribution functions, and has a p-value. The "
                "Wasserstein distance is the mean shift of the values that turns one "
                "distribution into the other. The p-value assumes independent replications. The "
                "published replications are not independent, because the times of some "
                "replications are equal when rounded to 0.1 s."
            ]
        )
        section.tables.append(_distances(runs, at, file))
        head = ["Replication", "Flow", *(COLUMNS[c][2] for c in COLUMNS)]
        lines: list[list[str | Entry]] = [
            [str(r + 1), place, *(written(measure(place, c).of(run)) for c in COLUMNS)]
            for r, run in islice(runs.by_replication(at), USUAL)
            for place in PLACES
        ]
        section.tables.append(
            Table(f"Our first {min(len(runs.of(at)), USUAL)} replications", head, lines)
        )
        return section

    return Item(name, title, lambda: _table_needs(file), make)


def _distances(runs: Runs, at: Three, file: str) -> Table:
    """Return the distances between the distributions of our and of the published replications."""
    from scipy.stats import ks_2samp, wasserstein_distance

    lines: list[list[str | Entry]] = []
    for place in PLACES:
        for column in COLUMNS:
            ours = values(runs, at, place, column)
            theirs = [float(row[column]) for row in rows(file) if row["flow"] == place]
            test = ks_2samp(ours, theirs)
            apart = wasserstein_distance(ours, theirs)
            lines.append(
                [
                    f"{place}: {COLUMNS[column][2]}",
                    written(float(np.median(ours))), written(float(np.median(theirs))),
                    f"{test.statistic:.2f}", f"{test.pvalue:.2g}", written(float(apart)),
                ]
            )  # fmt: skip
    head = [
        "Quantity",
        "Our median",
        "Published median",
        "KS distance",
        "p-value",
        "Wasserstein distance",
    ]
    return Table("Distributions of our replications and of the published replications", head, lines)


def _reds() -> Iterator[tuple[Row, Three]]:
    for row in rows("table5_6.csv"):
        red = Red(
            int(row["minth_bytes"]), int(row["maxth_bytes"]), int(row["burst_packets"]),
            int(row["avpkt_bytes"]), int(row["buffer_bytes"]), float(row["maxp"]),
        )  # fmt: skip
        yield row, Three(RED, float(row["third_flow_start_s"]), red)


def _parameters(runs: Runs) -> Section:
    lines: dict[str, list[Cell]] = {}
    names = []
    for row, at in _reds():
        if not runs.has(at):
            continue
        median = cell(
            "table-5-6", at.columns() | {"flow": THIRD}, "elapsed", "s", "median",
            values(runs, at, THIRD, "elapsed_time_s"), number(row, "elapsed_median_s"), TIME,
            again=at.red == Red(),
        )  # fmt: skip
        lines.setdefault(f"{at.start_s:g} s", []).append(median)
        names.append(f"{at.red.min} / {at.red.max} / {at.red.burst}")
    table_rows: list[list[str | Entry]] = [[k, *map(entry, cells)] for k, cells in lines.items()]
    head = ["Start of the third flow", *dict.fromkeys(names)]
    cells = [c for row in lines.values() for c in row]
    return Section(
        [
            "The heads of the columns are minth and maxth in bytes, and burst in packets. In the "
            "first column of times, RED has the parameters that the thesis chose."
        ],
        cells,
        [Table("Median elapsed time of the third flow (s)", head, table_rows)],
    )


TABLE_5_1 = _elapsed_item("table-5-1", "Table 5-1: three flows, Tail Drop", "table5_1.csv")
TABLE_5_4 = _elapsed_item("table-5-4", "Table 5-4: three flows, RED", "table5_4.csv")
ITEMS = (
    TABLE_5_1,
    _statistics_item("table-5-2", "Table 5-2: three flows, Tail Drop, start 0 s", "table5_2.csv"),
    _best_item("table-5-3", "Table 5-3: the fastest third flow, Tail Drop", "table5_3.csv"),
    TABLE_5_4,
    _best_item("table-5-5", "Table 5-5: the fastest third flow, RED", "table5_5.csv"),
    Item(
        "table-5-6", "Table 5-6: three flows, other parameters of RED",
        lambda: (Need(at, at_most=at_most(at), quick=False) for _, at in _reds()), _parameters,
    ),
)  # fmt: skip
APPENDIX = (
    _replications_item("table-8-1", "Table 8-1: replications, Tail Drop, 0 s", "table8_1.csv"),
    _replications_item("table-8-2", "Table 8-2: replications, Tail Drop, 2 s", "table8_2.csv"),
    _statistics_item("table-8-3", "Table 8-3: three flows, Tail Drop, start 2 s", "table8_3.csv"),
    _statistics_item("table-8-4", "Table 8-4: three flows, RED, start 2 s", "table8_4.csv"),
    _replications_item("table-8-5", "Table 8-5: replications, Tail Drop, 5.5 s", "table8_5.csv"),
    _statistics_item("table-8-6", "Table 8-6: three flows, Tail Drop, start 5.5 s", "table8_6.csv"),
    _statistics_item("table-8-7", "Table 8-7: three flows, RED, start 5.5 s", "table8_7.csv"),
)
