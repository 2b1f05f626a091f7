"""Section 5.1: fairness with background flows of both kinds, and marks compared with drops."""

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
"""Maximum drop rates of the published fairness table."""
TIMES = 10
"""Number of replications of each fairness test in the memo."""
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
    """Return the setting of a table cell, with two background flows and two competing flows."""
    return Setting(FAIRNESS, LOW, maxp, ecn_of_congesting=background)


def _needs() -> Iterator[Need]:
    for background, maxp in printed():
        yield Need(setting(background, maxp), at_most=TIMES, quick=maxp in (RATES[0], RATES[-1]))


def index(runs: Runs, background: str, maxp: float) -> Cell:
    """Return a cell of the fairness table: the mean of the replications and its interval."""
    at = setting(background, maxp)
    ours = estimates.mean(JAIN.of(run) for run in runs.of(at))
    where = printed()[background, maxp]
    return Cell("fairness", at.columns(), JAIN.name, JAIN.unit, ours, where, INDEX)


def _entry(cell: Cell) -> Entry:
    """Return our fairness index with its interval, and the published index."""
    return with_interval(
        cell.ours, ".4f", printed=f"published {cell.published:.4f}", kind=KINDS[cell.verdict]
    )


def _make(runs: Runs) -> Section:
    rows: list[list[str | Entry]] = []
    section = Section(
        [
            "Two background flows start at the beginning of a run. An ECN flow and a non-ECN flow "
            "start after 20 s. The fairness index is Jain's index of the throughputs of the four "
            "flows from 20 s to 200 s. The table has the mean index of ten replications, as in "
            "the memo, and its 95 % interval. The memo concludes that the kind of background "
            "flows (ECN or non-ECN) does not bias the results. The last column has the difference "
            "of our index between the two kinds of background flows.",
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
    """Return a setting with as many ECN flows as non-ECN flows."""
    return Setting(FAIRNESS, congesting, maxp, ecn_of_congesting="half")


def _equal_needs() -> Iterator[Need]:
    for congesting in EQUAL_LEVELS:
        for maxp in MAXP:
            even = congesting % 2 == 0
            assert even, "half of the congesting flows have ECN, so their number is even"
            yield Need(equal(congesting, maxp), at_most=TIMES, quick=maxp == 0.1)


def ratios(runs: Runs) -> dict[tuple[int, float], list[float]]:
    """Return the ratios of the non-ECN flows' drops to the ECN flows' marks, by replication."""
    ratios_of = {}
    for congesting in EQUAL_LEVELS:
        for maxp in MAXP:
            at = equal(congesting, maxp)
            if runs.has(at):
                there: list[Outcome] = runs.of(at)
                ratios_of[congesting, maxp] = [run.drops / run.marks for run in there]
    return ratios_of


def chances(runs: Runs) -> float:
    """Return the maximum of `abs(ratio - 1)` over all settings.

    The ratio of a setting is the signal probability of non-ECN packets divided by the signal
    probability of ECN packets.
    """
    distances = []
    for congesting in EQUAL_LEVELS:
        for maxp in MAXP:
            at = equal(congesting, maxp)
            if runs.has(at):
                ran: list[Outcome] = runs.of(at)
                distances.append(abs(_chance(ran) - 1))
    return max(distances)


def _chance(ran: list[Outcome]) -> float:
    """Return the ratio of the signal probabilities of non-ECN packets and ECN packets."""
    dropped = sum(run.drops for run in ran) / sum(run.other_packets for run in ran)
    chosen = sum(run.marks + run.ecn_drops for run in ran) / sum(run.ecn_packets for run in ran)
    return dropped / chosen


def _equal_make(runs: Runs) -> Section:
    section = Section(
        [
            "Half of the flows use ECN: half of the background flows, and one of the two "
            "competing flows. The authors of the memo found as many drops of non-ECN flows as "
            "marks of ECN flows, and conclude that RED is fair. The last column measures the "
            "fairness of RED directly: the probability that RED drops a packet of a non-ECN flow, "
            "divided by the probability that RED marks or drops a packet of an ECN flow. Drops "
            "above maxth are included.",
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
        "Ratio of signal probabilities",
    ]
    section.tables.append(Table("Marks and drops: means of the replications", head, rows))
    return section


EQUAL = Item("marks-and-drops", "Section 5.1: marks compared with drops", _equal_needs, _equal_make)
