"""Tables 5-7 and 8-8 to 8-10: a TCP flow and a CBR flow in one class of HTB or in two classes."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab import estimates
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Item, Need, Runs, Section, Tolerance
from aqmlab.studies.framework.show import plain
from aqmlab.studies.red_wired_testbed.outcomes import (
    CBR_SHARE,
    ELAPSED,
    RECEIVED,
    RESENT,
    TCP_SHARE,
    THROUGHPUT,
)
from aqmlab.studies.red_wired_testbed.printed import (
    HEADS,
    SPREAD,
    STATISTICS,
    TIME,
    Row,
    cell,
    doubtful,
    number,
    rows,
    table,
)
from aqmlab.studies.red_wired_testbed.scenarios import (
    ALONE,
    BRIEF,
    CASES,
    DISCIPLINES,
    EXPERIMENT,
    LONG,
    MANY,
    MEDIUM,
    NEAR,
    ONE_CLASS,
    SHORT,
    TWO_CLASS,
    USUAL,
    Beside,
    Three,
    Workload,
)

NAMED = {
    (ONE_CLASS, "tail_drop"): "Tail Drop",
    (ONE_CLASS, "red"): "RED",
    (TWO_CLASS, "tail_drop"): "Tail Drop + DS",
    (TWO_CLASS, "red"): "RED + DS",
    (ALONE, "tail_drop"): "Only TCP (Tail Drop)",
    (ALONE, "red"): "Only TCP (RED)",
}
"""Names of the configurations in the thesis; DS means that the CBR flow has its own class."""
FILES = {"1": "table8_8.csv", "2": "table8_9.csv", "3": "table8_10.csv"}
FIVE = Tolerance.larger_of(0, 0.05)
UTILIZATION = Tolerance.of("0.02", 0.02)
QUICK_START_S = 0.0


def at_most(at: Three | Beside) -> int:
    """Return the number of replications of a setting.

    Replications of long transfers beside CBR traffic differ little from each other, and take
    longer.
    """
    if isinstance(at, Beside):
        return USUAL if at.case is SHORT else 2 * EXPERIMENT
    return MANY if at in NEAR else USUAL


def setting(row: Row) -> Beside:
    """Return the setting of a row of a published table."""
    case = next(case for case in CASES if case.name == row["test_case"])
    return Beside(case, row["discipline"], row["htb_config"], float(row["cbr_start_s"]))


def _needs(file: str) -> Iterator[Need]:
    for at in map(setting, rows(file)):
        yield Need(at, at_most=at_most(at), quick=at.start_s == QUICK_START_S)


def chosen_by(row: Row) -> bool:
    """Return True if the times in a table row were used to choose the link rate."""
    return row["htb_config"] == TWO_CLASS and row["test_case"] != SHORT.name


def _line(item: str, runs: Runs, row: Row) -> list[Cell]:
    at = setting(row)
    columns = at.columns()
    elapsed = [ELAPSED.of(run) for run in runs.of(at)]
    rules = {"stdev": SPREAD, "median": FIVE}
    cells = [
        cell(
            item, columns, "elapsed", "s", s, elapsed, number(row, f"elapsed_{s}_s"),
            rules.get(s, TIME), doubtful(row, s) if s == "mean" else "",
            fitted=chosen_by(row),
        )
        for s in STATISTICS
    ]  # fmt: skip
    throughput = [THROUGHPUT.of(run) for run in runs.of(at)]
    received = [RECEIVED.of(run) for run in runs.of(at)]
    cells.append(
        cell(
            item, columns, "throughput", "byte/s", "mean", throughput,
            number(row, "throughput_mean_bytes_per_s"), TIME, doubtful(row, "mean"),
            fitted=chosen_by(row),
        )
    )  # fmt: skip
    cells.append(
        cell(
            item, columns, "cbr_received", "packets", "median", received,
            number(row, "udp_received_median_packets"), FIVE,
            again=row["htb_config"] == TWO_CLASS,
        )
    )  # fmt: skip
    return cells


def _case(case: Workload, table_name: str) -> Item:
    name = f"table-{table_name}"
    file = FILES[case.name]

    def make(runs: Runs) -> Section:
        section = Section()
        lines = []
        for row in rows(file):
            at = setting(row)
            if runs.has(at):
                cells = _line(name, runs, row)
                lines.append((f"{at.start_s:g} s, {NAMED[at.classes, at.discipline]}", cells))
                section.cells += cells
        head = ["Start of CBR, configuration", *(f"{HEADS[s]} (s)" for s in STATISTICS)]
        head += ["Byte/s", "CBR packets received"]
        section.tables.append(
            table(
                f"Elapsed time of TCP, with a CBR flow of {case.cbr_packets} packets", head, lines
            )
        )
        return section

    title = f"Table {table_name}: test case {case.name}, TCP and CBR traffic"
    return Item(name, title, lambda: _needs(file), make)


def _utilization(runs: Runs) -> Section:
    section, lines = Section(), []
    for row in rows("table5_7.csv"):
        at = Beside(LONG, row["discipline"], ONE_CLASS, float(row["cbr_start_s"]))
        share = TCP_SHARE if row["flow"] == "tcp" else CBR_SHARE
        shares = [share.of(run) for run in runs.of(at)]
        cells = [
            cell(
                "table-5-7", at.columns() | {"flow": row["flow"]}, "utilization", "1", s, shares,
                number(row, f"utilization_{s}"), UTILIZATION,
                doubtful(row, s) if s == "mean" else "",
            )
            for s in STATISTICS
            if s != "stdev"
        ]  # fmt: skip
        lines.append((f"{row['flow'].upper()}, {NAMED[ONE_CLASS, row['discipline']]}", cells))
        section.cells += cells
    head = ["Flow", *(HEADS[s] for s in STATISTICS if s != "stdev")]
    section.tables.append(
        table("Share of TCP's user data, and of CBR packets, in 140 kbit/s", head, lines)
    )
    return section


def more(case: Workload) -> Iterator[Beside]:
    """Yield the settings that the thesis shows only in figures: TCP alone, and the medium case."""
    for discipline in DISCIPLINES:
        yield Beside(case, discipline, ALONE)
        if case is MEDIUM:
            for start_s in case.starts_s:
                yield Beside(case, discipline, ONE_CLASS, start_s)
                yield Beside(case, discipline, TWO_CLASS, start_s)


def _drawn(runs: Runs) -> Section:
    """Return the section with the medians of the settings that the thesis shows only in figures."""
    head = ["Test case, start of CBR", "Configuration", ELAPSED.head, RESENT.head, RECEIVED.head]
    lines: list[list[str | Entry]] = []
    cells = []
    for case in (LONG, SHORT, MEDIUM):
        for at in filter(runs.has, more(case)):
            medians = []
            for m in (ELAPSED, RESENT, RECEIVED):
                if at.classes == ALONE and m is RECEIVED:
                    medians.append(Entry("–"))
                    continue
                median = Cell.of("drawn", at.columns(), m, runs.of(at))
                cells.append(median)
                medians.append(plain(estimates.median(m.of(run) for run in runs.of(at))))
            when = "" if at.classes == ALONE else f", {at.start_s:g} s"
            lines.append([f"{case.name}{when}", NAMED[at.classes, at.discipline], *medians])
    text = (
        "If TCP is alone, the rate of the link is lower by the rate of the CBR flow. The thesis "
        "shows the results of these settings only as curves, so this table has no published "
        "numbers. Some claims give numbers that are read off the curves of the thesis."
    )
    return Section(
        [text], cells, [Table("Medians and the central 95 % of the replications", head, lines)]
    )


TABLE_5_7 = Item(
    "table-5-7", "Table 5-7: utilization, test case 1",
    lambda: (Need(at := Beside(LONG, d, ONE_CLASS), at_most=at_most(at)) for d in DISCIPLINES),
    _utilization,
)  # fmt: skip
DRAWN = Item(
    "drawn", "TCP alone, and the medium test case",
    lambda: (
        Need(at, at_most=at_most(at), quick=at.classes == ALONE)
        for case in (LONG, SHORT, MEDIUM)
        for at in more(case)
    ),
    _drawn,
)  # fmt: skip
ITEMS = (TABLE_5_7, DRAWN)
APPENDIX = (_case(LONG, "8-8"), _case(SHORT, "8-9"), _case(BRIEF, "8-10"))
