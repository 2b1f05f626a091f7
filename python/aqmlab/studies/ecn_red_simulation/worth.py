"""What ECN and head marking are worth, and when: the plain answer, from the runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from aqmlab import estimates
from aqmlab.estimates import Estimate, number
from aqmlab.measures import Measure
from aqmlab.report import Entry, Table
from aqmlab.studies.ecn_red_simulation import pairs
from aqmlab.studies.ecn_red_simulation.causes import mean, over
from aqmlab.studies.ecn_red_simulation.scenarios import (
    ARMS,
    ECN,
    HEAD,
    NETWORKS,
    OFF,
    Case,
    Setting,
)
from aqmlab.studies.ecn_red_simulation.tallies import (
    ABOVE,
    DROPS,
    GOODPUT,
    MEAN_TIME,
    P99_TIME,
    QUEUE,
    SIGNALS,
    TIMEOUTS,
    UTILIZATION,
    Tally,
)
from aqmlab.studies.framework import Item, Runs, Section

SHORT = {MEAN_TIME, P99_TIME}
"""Only of files of 10 kB: few of the long ones end."""

HELD = 1.0
"""Percent of the time with the average above maxth up to which it counts as held below."""

MEASURES = (GOODPUT, MEAN_TIME, P99_TIME, TIMEOUTS, DROPS, SIGNALS, QUEUE)


def change(
    runs: Runs,
    network: str,
    arm: str,
    measure: Measure[Tally],
    chosen: pairs.Chosen,
    against: str = OFF,
) -> Estimate:
    """Return the change of the sum over some cases in %, with its 95 % interval."""
    found = [
        (runs.of(Setting(network, case, arm)), runs.of(Setting(network, case, against)))
        for case in pairs.ALL
        if runs.has(Setting(network, case, arm)) and chosen(case)
    ]
    sums = [
        [sum(measure.of(of[i][r]) for of in found) for r in range(len(found[0][i]))]
        for i in (0, 1)
    ] if found else [[], []]  # fmt: skip
    both = zip(*sums, strict=True)
    return estimates.mean(100 * (a / b - 1) if b else math.nan for a, b in both)


def _entry(found: Estimate, better: int) -> Entry:
    low, middle, high = found.interval
    if math.isnan(middle):
        return Entry("–")
    kind = ""
    if low > 0 or high < 0:
        kind = "good" if middle * better > 0 else "bad" if better else ""
    return Entry(f"{middle:+z.1f} %", f"{low:+z.1f} to {high:+z.1f}", kind)


def _table(runs: Runs, network: str, arm: str, against: str) -> Table:
    rows: list[Sequence[str | Entry]] = []
    for kind, chosen in pairs.KINDS.items():
        row: list[str | Entry] = [kind]
        for measure in MEASURES:
            bulk = kind.startswith("1 MB")
            if bulk and measure in SHORT:
                row.append("–")
            else:
                found = change(runs, network, arm, measure, chosen, against)
                row.append(_entry(found, measure.better))
        rows.append(row)
    head = ["", *(m.name.replace("_", " ") for m in MEASURES)]
    names = f"{pairs.ARM_NAMES[arm]} against {pairs.ARM_NAMES[against]}"
    return Table(f"{pairs.NETWORK_NAMES[network].capitalize()}: {names}", head, rows)


def _levels(runs: Runs, network: str) -> Table:
    rows = []
    for kind, chosen in pairs.KINDS.items():
        for arm in ARMS:
            row = [kind, pairs.ARM_NAMES[arm]]
            for measure in MEASURES:
                bulk = kind.startswith("1 MB")
                unknown = bulk and measure in SHORT
                row.append("–" if unknown else number(over(runs, network, arm, measure, chosen)))
            rows.append(row)
    head = ["", "Arm", *(f"{m.name.replace('_', ' ')} ({m.unit})" for m in MEASURES)]
    name = pairs.NETWORK_NAMES[network]
    return Table(f"{name.capitalize()}: means over the cases", head, rows)


def _told(found: Estimate, more: str, less: str) -> str:
    """Say a change in words: so many % more or less, or that none shows."""
    low, middle, high = found.interval
    if math.isnan(middle):
        return "unknown"
    if low <= 0 <= high:
        return f"no change that shows ({low:+z.1f} to {high:+z.1f} %)"
    return f"{abs(middle):.1f} % {more if middle > 0 else less}"


def _plainly(runs: Runs, network: str) -> list[str]:
    """Say what ECN is worth in a network, when, and what head marking adds."""

    def of(
        measure: Measure[Tally], chosen: pairs.Chosen, arm: str = ECN, against: str = OFF
    ) -> Estimate:
        return change(runs, network, arm, measure, chosen, against)

    def every(_: Case) -> bool:
        return True

    def short(case: Case) -> bool:
        return not case.bulk

    def held(case: Case) -> bool:
        return mean(runs, Setting(network, case, ECN), ABOVE) < HELD

    def lost(case: Case) -> bool:
        return not held(case)

    name = pairs.NETWORK_NAMES[network].capitalize()
    there = [case for case in pairs.ALL if runs.has(Setting(network, case, ECN))]
    full = sum(mean(runs, Setting(network, case, OFF), UTILIZATION) >= 99 for case in there)
    buys = (
        f"{name}, ECN against none, over all {len(there)} cases. Timeouts: "
        f"{_told(of(TIMEOUTS, every), 'more', 'fewer')}. Goodput: "
        f"{_told(of(GOODPUT, every), 'more', 'less')}; the link is busy for 99 % of the time or "
        f"more without ECN in {full} cases, where there is little to win. Files of 10 kB take "
        f"on average {_told(of(MEAN_TIME, short), 'longer', 'less')}; their 99th percentile: "
        f"{_told(of(P99_TIME, short), 'longer', 'less')}. The price: mean queue "
        f"{_told(of(QUEUE, every), 'longer', 'shorter')}, drops and marks "
        f"{_told(of(SIGNALS, every), 'more', 'fewer')}."
    )
    parts = []
    for about, chosen in (("less", held), ("more", lost)):
        count = sum(map(chosen, there))
        if count:
            parts.append(
                f"with {about}, in {count} cases, timeouts: "
                f"{_told(of(TIMEOUTS, chosen), 'more', 'fewer')}, goodput: "
                f"{_told(of(GOODPUT, chosen), 'more', 'less')}"
            )
    when = (
        "When: with ECN too RED drops above maxth, and from a probability of 0.1 on. By cases "
        f"whose average is above it for less or more than {HELD:g} % of the time: "
        f"{'; '.join(parts)}."
    )
    head = ", ".join(
        f"{about} {_told(of(measure, chosen, HEAD, ECN), more, less)}"
        for about, measure, chosen, more, less in (
            ("goodput:", GOODPUT, every, "more", "less"),
            ("timeouts:", TIMEOUTS, every, "more", "fewer"),
            ("time of 10 kB files:", MEAN_TIME, short, "longer", "less"),
            ("mean queue:", QUEUE, every, "longer", "shorter"),
            ("drops and marks:", SIGNALS, every, "more", "fewer"),
        )
    )
    return [buys, when, f"Head marking against plain ECN, over all cases: {head}."]


def _make(runs: Runs) -> Section:
    section = Section(
        [
            "Each change is of the sum over the cases of its kind, replication by replication "
            "with the same seeds in both arms: the mean and its 95 % interval. It is green where "
            "it is for the better and its interval holds no 0, red where it is for the worse. "
            "Times of files are from the SYN to the last acknowledgement; of the 1 MB files too "
            "few end in 300 s.",
        ]
    )
    for network in NETWORKS:
        section.text += _plainly(runs, network)
        section.tables.append(_table(runs, network, ECN, OFF))
        section.tables.append(_table(runs, network, HEAD, ECN))
        section.tables.append(_levels(runs, network))
    return section


ITEM = Item("worth", "What ECN and head marking are worth, and when", pairs.both, _make)
