"""Section 5.1: fairness with ECN or non-ECN background flows, and marks against drops."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from aqmlab import estimates
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Item, Need, Runs, Section, Tolerance
from aqmlab.studies.framework.show import KINDS
from aqmlab.studies.rfc2884.gains import with_interval
from aqmlab.studies.rfc2884.outcomes import JAIN, Outcome
from aqmlab.studies.rfc2884.scenarios import FAIRNESS, HIGH, LOW, MAXP, Setting

PUBLISHED = Path(__file__).parent / "published"
BACKGROUNDS = {"ecn": "all", "non_ecn": "none"}
NAMES = {"all": "ECN", "none": "non-ECN"}
RATES = MAXP[:4]
"""Maximum drop rates of the published table."""
TIMES = 10
"""Replications of each test in the memo."""
INDEX = Tolerance.of("0.01", 0.01)
EQUAL_LEVELS = (LOW, HIGH)
ALIKE = Tolerance.of("10 %", 0.1)


@cache
def printed() -> dict[tuple[str, float], float]:
    """Return the published fairness indices by kind of background flows and maximum drop rate."""
    with (PUBLISHED / "fairness.csv").open(encoding="utf-8", newline="") as file:
        return {
            (BACKGROUNDS[row["background_flows"]], float(row["maxp"])): float(row["jain_index"])
            for row in csv.DictReader(file)
        }


def setting(background: str, maxp: float) -> Setting:
    """Return the setting of a cell of the table: two background and two competing flows."""
    return Setting(FAIRNESS, LOW, maxp, ecn_of_congesting=background)


def _needs() -> Iterator[Need]:
    for background, maxp in printed():
        yield Need(setting(background, maxp), at_most=TIMES, quick=maxp in (RATES[0], RATES[-1]))


def index(runs: Runs, background: str, maxp: float) -> Cell:
    """Return a cell of the table: the mean of the replications and its interval."""
    at = setting(background, maxp)
    ours = estimates.mean(JAIN.of(run) for run in runs.of(at))
    where = printed()[background, maxp]
    return Cell("fairness", at.columns(), JAIN.name, JAIN.unit, ours, where, INDEX)


def _entry(cell: Cell) -> Entry:
    """Return our fairness index with its interval, and the published index."""
    return with_interval(
        cell.ours, ".4f", printed=f"printed {cell.published:.4f}", kind=KINDS[cell.verdict]
    )


def _make(runs: Runs) -> Section:
    rows: list[list[str | Entry]] = []
    section = Section(
        [
            "Two flows in the background from the beginning, an ECN flow and a non-ECN flow from "
            "20 s on; Jain's index of the throughputs of all four from 20 s to 200 s. The "
            "table has the mean and its 95 % interval over the memo's number of replications. The "
            "memo concludes that the kind of background does not bias the results. The last "
            "column has our difference between the two kinds.",
        ]
    )
    for maxp in RATES:
        if not runs.has(setting("all", maxp)):
            continue
        cells = [index(runs, background, maxp) for background in NAMES]
        section.cells += cells
        with_ecn, without = ([JAIN.of(run) for run in runs.of(setting(b, maxp))] for b in NAMES)
        apart = with_interval(estimates.difference(with_ecn, without), "+.4f", kind="")
        rows.append([f"{maxp:g}", *map(_entry, cells), apart])
    head = ["Maximum drop rate", "Background with ECN", "Background without", "Difference"]
    section.tables.append(Table("Fairness index", head, rows))
    return section


ITEM = Item("fairness", "Section 5.1: fairness index", _needs, _make)


def equal(congesting: int, maxp: float) -> Setting:
    """Return the setting with equal numbers of ECN flows and non-ECN flows."""
    return Setting(FAIRNESS, congesting, maxp, ecn_of_congesting="half")


def _equal_needs() -> Iterator[Need]:
    for congesting in EQUAL_LEVELS:
        for maxp in MAXP:
            even = congesting % 2 == 0
            assert even, "half of them have ECN"
            yield Need(equal(congesting, maxp), at_most=TIMES // 2, quick=maxp == 0.1)


def ratios(runs: Runs) -> dict[tuple[int, float], list[float]]:
    """Return drops of the non-ECN flows over marks of the ECN flows, one per replication."""
    ratios_of = {}
    for congesting in EQUAL_LEVELS:
        for maxp in MAXP:
            at = equal(congesting, maxp)
            if runs.has(at):
                there: list[Outcome] = runs.of(at)
                ratios_of[congesting, maxp] = [run.drops / run.marks for run in there]
    return ratios_of


def chances(runs: Runs) -> float:
    """Return the maximum distance from 1 of the ratio of signal chances, over all settings."""
    distances = []
    for congesting in EQUAL_LEVELS:
        for maxp in MAXP:
            at = equal(congesting, maxp)
            if runs.has(at):
                ran: list[Outcome] = runs.of(at)
                distances.append(abs(_chance(ran) - 1))
    return max(distances)


def _chance(ran: list[Outcome]) -> float:
    """Return the signal probability of a non-ECN flow's packet over that of an ECN flow's."""
    dropped = sum(run.drops for run in ran) / sum(run.other_packets for run in ran)
    chosen = sum(run.marks + run.ecn_drops for run in ran) / sum(run.ecn_packets for run in ran)
    return dropped / chosen


def _equal_make(runs: Runs) -> Section:
    section = Section(
        [
            "As many flows with ECN as without: half of those in the background, and one of the "
            "two that compete. The memo found as many drops of the one kind as marks of the other, "
            "and concludes that RED is fair. The last column measures fairness itself: the chance "
            "that RED drops a packet of a non-ECN flow, over the chance that it marks or drops "
            "one of an ECN flow. Drops above maxth count too.",
        ]
    )
    rows: list[list[str | Entry]] = []
    for (congesting, maxp), values in ratios(runs).items():
        at = equal(congesting, maxp)
        runs_of: list[Outcome] = runs.of(at)
        one = Cell("marks-and-drops", at.columns(), "drops_over_marks", "1",
                    estimates.mean(values), 1.0, ALIKE, again=True)  # fmt: skip
        section.cells.append(one)
        ratio = with_interval(one.ours, ".3f", kind=KINDS[one.verdict])
        marks, drops = (
            float(np.mean([getattr(r, k) for r in runs_of])) for k in ("marks", "drops")
        )
        case = f"{congesting + 2} flows, maxp {maxp:g}"
        chance = f"{_chance(runs_of):.3f}"
        rows.append([case, f"{drops:.0f}", f"{marks:.0f}", ratio, chance])
    head = [
        "",
        "Drops of non-ECN flows",
        "Marks of ECN flows",
        "Ratio",
        "Chances of a packet",
    ]
    section.tables.append(Table("Marks and drops, means of the replications", head, rows))
    return section


EQUAL = Item("marks-and-drops", "Section 5.1: marks against drops", _equal_needs, _equal_make)
