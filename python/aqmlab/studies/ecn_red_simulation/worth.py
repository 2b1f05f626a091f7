"""What ECN and head marking are worth, and when: the plain answer, from the runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from aqmlab import estimates
from aqmlab.estimates import Estimate, number
from aqmlab.measures import Measure
from aqmlab.report import Entry, Table
from aqmlab.studies.ecn_red_simulation import pairs
from aqmlab.studies.ecn_red_simulation.causes import over
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
    DROPS,
    GOODPUT,
    MEAN_TIME,
    P99_TIME,
    QUEUE,
    SIGNALS,
    THRESHOLD,
    TIMEOUTS,
    Tally,
)
from aqmlab.studies.framework import Item, Runs, Section

Chosen = Callable[[Case], bool]
KINDS: dict[str, Chosen] = {
    "10 kB files": lambda case: not case.bulk and not case.cbr_share,
    "10 kB files, with CBR": lambda case: not case.bulk and case.cbr_share > 0,
    "1 MB files": lambda case: case.bulk and not case.cbr_share,
    "1 MB files, with CBR": lambda case: case.bulk and case.cbr_share > 0,
}
SHORT = {MEAN_TIME, P99_TIME}
"""Only of files of 10 kB: few of the long ones end."""

MEASURES = (GOODPUT, MEAN_TIME, P99_TIME, TIMEOUTS, DROPS, SIGNALS, QUEUE)


def change(
    runs: Runs, network: str, arm: str, measure: Measure[Tally], chosen: Chosen, against: str = OFF
) -> Estimate:
    """Return the mean change over some cases in %, a value a replication, with its 95 % interval."""
    found = [
        (runs.of(Setting(network, case, arm)), runs.of(Setting(network, case, against)))
        for case in pairs.ALL
        if chosen(case) and runs.has(Setting(network, case, arm))
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
    return Entry(f"{middle:+.1f} %", f"{low:+.1f} to {high:+.1f}", kind)


def _table(runs: Runs, network: str, arm: str, against: str) -> Table:
    rows: list[Sequence[str | Entry]] = []
    for kind, chosen in KINDS.items():
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
    for kind, chosen in KINDS.items():
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


def _moved(found: Estimate, what: str) -> str:
    """Say what a change is, or that none shows."""
    low, middle, high = found.interval
    if math.isnan(low):
        return f"{what} {middle:+.1f} %"
    if low <= 0 <= high:
        return f"{what} no change that shows ({low:+.1f} to {high:+.1f} %)"
    return f"{what} {middle:+.1f} % ({low:+.1f} to {high:+.1f})"


def _plainly(runs: Runs, network: str, arm: str, against: str) -> str:
    """Say in a paragraph what an arm is worth to each kind of cases."""
    told = []
    for kind, chosen in KINDS.items():
        measures = (
            [GOODPUT, TIMEOUTS] if kind.startswith("1 MB") else [GOODPUT, MEAN_TIME, TIMEOUTS]
        )
        parts = [
            _moved(change(runs, network, arm, m, chosen, against), m.name.replace("_", " "))
            for m in measures
        ]
        told.append(f"{kind}: {', '.join(parts)}")
    names = f"{pairs.ARM_NAMES[arm]} against {pairs.ARM_NAMES[against]}"
    return f"{pairs.NETWORK_NAMES[network].capitalize()}, {names}. {'; '.join(told)}."


def _where(runs: Runs, network: str) -> str:
    """Say what the goodput of long files depends on: whether the average is held below maxth."""
    told = []
    for maxth in (60, 120):
        for sessions in (6, 12):

            def chosen(case: Case, maxth: int = maxth, sessions: int = sessions) -> bool:
                return case.bulk and case.maxth == maxth and case.sessions == sessions

            share = over(runs, network, ECN, THRESHOLD, chosen) / max(
                over(runs, network, ECN, SIGNALS, chosen), 1
            )
            gain = change(runs, network, ECN, GOODPUT, chosen)
            told.append(
                f"maxth {maxth}, {sessions} sessions: {100 * share:.0f} % of the signals are drops above maxth, "
                f"{_moved(gain, 'goodput')}"
            )
    return f"{pairs.NETWORK_NAMES[network].capitalize()}, 1 MB files with ECN. {'; '.join(told)}."


def _make(runs: Runs) -> Section:
    section = Section(
        [
            "Each change is of the sum over the cases of its kind, replication by replication with the same seeds in both "
            "arms: the mean and its 95 % interval. It is green where it is for the better and its interval holds no 0, red "
            "where it is for the worse. Times of files are from the SYN to the last acknowledgement; of the 1 MB files "
            "too few end in 300 s.",
        ]
    )
    for network in NETWORKS:
        section.text.append(_plainly(runs, network, ECN, OFF))
        section.text.append(_where(runs, network))
        section.text.append(_plainly(runs, network, HEAD, ECN))
        section.tables.append(_table(runs, network, ECN, OFF))
        section.tables.append(_table(runs, network, HEAD, ECN))
        section.tables.append(_levels(runs, network))
    return section


ITEM = Item("worth", "What ECN and head marking are worth, and when", pairs.both, _make)
