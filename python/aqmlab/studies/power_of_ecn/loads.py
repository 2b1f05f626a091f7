"""Beyond the paper: loads of 80 to 125 %, to find the load from which schemes differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from aqmlab import estimates
from aqmlab.estimates import Estimate
from aqmlab.figures.style import look, sheet
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Decision, Figure, Item, Need, Published, Runs, Section
from aqmlab.studies.framework.claims import EXACT, estimated
from aqmlab.studies.power_of_ecn.scenarios import Setting
from aqmlab.studies.power_of_ecn.showing import (
    PROFILE,
    THROUGHPUT,
    VISIBLE,
    finish,
    mean,
    values,
    with_interval,
)
from aqmlab.studies.power_of_ecn.words import (
    ECN,
    ECN_PLUS,
    ENDS,
    FIFO,
    OFF,
    PI,
    RED,
    RED_STAR,
)

LOADS = (80, 90, 105, 125)
SECONDS, REPLICATIONS = 60, 3
ARMS = (
    (FIFO, OFF), (RED, OFF), (PI, OFF), (RED_STAR, ECN), (PI, ECN), (RED_STAR, ECN_PLUS),
    (PI, ECN_PLUS),
)  # fmt: skip


def setting(scheme: str, ends: str, load: int) -> Setting:
    """Return a setting whose runs last for `SECONDS` after the warm-up."""
    return Setting(scheme, ends, load, seconds=SECONDS)


def _needs() -> Iterator[Need]:
    for load in LOADS:
        for scheme, ends in ARMS:
            yield Need(setting(scheme, ends, load), at_most=REPLICATIONS, quick=False)


def apart(runs: Runs, load: int) -> list[float]:
    """Return the highest minus the lowest mean profile of all schemes, for each replication.

    The differences are in percentage points.
    """
    # Other items request more replications of some arms.
    by_arm = np.array([values(runs, setting(*arm, load), PROFILE)[:REPLICATIONS] for arm in ARMS])
    return list(by_arm.max(axis=0) - by_arm.min(axis=0))


def matters(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the highest load at which the schemes' mean profiles are equal."""
    by_load = {load: estimates.mean(apart(runs, load)) for load in LOADS}

    def greatest(bound: str) -> float:
        return max((x for x, of in by_load.items() if getattr(of, bound) <= VISIBLE), default=0)

    low, ours, high = map(greatest, ("high", "value", "low"))
    text = "; ".join(f"{load} %: {of}" for load, of in by_load.items())
    evidence = (
        f"Range of the mean profiles of {len(ARMS)} schemes, in percentage points, by load: "
        f"{text}. Rule: our number is the highest tested load at which the range is at most "
        f"{VISIBLE:g} percentage point."
    )
    of_loads = Estimate("load, surely to possibly", ours, low, high, len(by_load))
    return estimated(replace(claim, qualifier="exact"), of_loads, EXACT, evidence)


def _make(runs: Runs) -> Section:
    if not runs.has(setting(*ARMS[0], LOADS[0])):
        return Section(
            [
                "The quick form of the study leaves out the item `loads`, and has only the loads "
                "of the paper."
            ]
        )
    section = Section(
        [f"The runs last for {SECONDS} s after the warm-up, with {REPLICATIONS} replications."]
    )
    figure, axes = sheet(1, 2, (8.4, 4.2))
    rows: list[list[str | Entry]] = []
    for i, (scheme, ends) in enumerate(ARMS):
        name = f"{scheme}, {ENDS[ends]}"
        row: list[str | Entry] = [name]
        for panel, quantity in zip(axes, (PROFILE, THROUGHPUT), strict=True):
            means = [mean(runs, setting(scheme, ends, x), quantity) for x in LOADS]
            colour, marker = look(i)
            ends_of = [[e.value - e.low for e in means], [e.high - e.value for e in means]]
            panel.errorbar(LOADS, [e.value for e in means], ends_of, label=name, color=colour,
                           marker=marker, markersize=4, capsize=2, linewidth=1.1)  # fmt: skip
            for x, e in zip(LOADS, means, strict=True):
                columns = setting(scheme, ends, x).columns()
                section.cells.append(Cell("loads", columns, quantity[0], quantity[1], e))
            if quantity is PROFILE:
                row += [with_interval(e) for e in means]
        rows.append(row)
    for panel, label in zip(
        axes, ("mean response-time profile to 2 s (%)", "throughput (%)"), strict=True
    ):
        panel.set_xlabel("offered load (%)")
        panel.set_ylabel(label)
    axes[1].set_ylim(top=110)
    about = "Mean response-time profile and throughput of each scheme against the offered load."
    section.figures.append(Figure("loads", about, finish(figure, axes[0], 3)))
    head = ["Scheme, ECN mode", *(f"{x} %" for x in LOADS)]
    section.tables.append(Table("Mean response-time profile to 2 s (%)", head, rows))
    return section


ITEM = Item("loads", "Beyond the paper: loads from 80 to 125 %", _needs, _make)
