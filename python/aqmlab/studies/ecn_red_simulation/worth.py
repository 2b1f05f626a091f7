"""Gains and costs of ECN and of head marking, and the conditions for gains."""

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
"""Measures that exist only for 10 kB files, because too few 1 MB files end within a run."""

HELD = 1.0
"""Maximum share of time in % with RED's average above maxth that counts as “below maxth”."""

MEASURES = (GOODPUT, MEAN_TIME, P99_TIME, TIMEOUTS, DROPS, SIGNALS, QUEUE)


def change(
    runs: Runs,
    network: str,
    arm: str,
    measure: Measure[Tally],
    chosen: pairs.Chosen,
    against: str = OFF,
) -> Estimate:
    """Return the change in % of a measure's sum over the chosen cases, with its 95 % interval.

    A sum has one value for each replication that all settings have.
    """
    results = [
        (runs.of(Setting(network, case, arm)), runs.of(Setting(network, case, against)))
        for case in pairs.ALL
        if runs.has(Setting(network, case, arm)) and chosen(case)
    ]
    shared = min((len(ran) for pair in results for ran in pair), default=0)
    sums = [[sum(measure.of(of[i][r]) for of in results) for r in range(shared)] for i in (0, 1)]
    both = zip(*sums, strict=True)
    return estimates.mean(100 * (a / b - 1) if b else math.nan for a, b in both)


def _entry(of: Estimate, better: int) -> Entry:
    low, middle, high = of.interval
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
                of = change(runs, network, arm, measure, chosen, against)
                row.append(_entry(of, measure.better))
        rows.append(row)
    head = ["", *(m.name.replace("_", " ") for m in MEASURES)]
    names = f"{pairs.ARM_NAMES[arm]} compared with {pairs.ARM_NAMES[against]}"
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
    return Table(f"{name.capitalize()}: means over the cases of each group", head, rows)


def _in_words(of: Estimate, more: str, less: str) -> str:
    """Return a change as text: the percentage, or "no significant change"."""
    low, middle, high = of.interval
    if math.isnan(middle):
        return "unknown"
    if low <= 0 <= high:
        return f"no significant change ({low:+z.1f} to {high:+z.1f} %)"
    return f"{abs(middle):.1f} % {more if middle > 0 else less}"


def _plainly(runs: Runs, network: str) -> list[str]:
    """Return paragraphs about the gain from ECN, its conditions, and the effect of head marking."""

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
        f"{name}, ECN compared with no ECN, over all {len(there)} cases. Timeouts: "
        f"{_in_words(of(TIMEOUTS, every), 'more', 'fewer')}. Goodput: "
        f"{_in_words(of(GOODPUT, every), 'more', 'less')}. In {full} cases the link is busy for "
        "at least 99 % of the time without ECN, so goodput can hardly grow. Mean time of 10 kB "
        f"files: {_in_words(of(MEAN_TIME, short), 'longer', 'less')}. 99th percentile of the time "
        f"of 10 kB files: {_in_words(of(P99_TIME, short), 'longer', 'less')}. Price of ECN: mean "
        f"queue {_in_words(of(QUEUE, every), 'longer', 'shorter')}, drops and marks "
        f"{_in_words(of(SIGNALS, every), 'more', 'fewer')}."
    )
    parts = []
    for about, chosen in (("less", held), ("more", lost)):
        count = sum(map(chosen, there))
        if count:
            parts.append(
                f"{about} ({count} cases): timeouts "
                f"{_in_words(of(TIMEOUTS, chosen), 'more', 'fewer')}, goodput "
                f"{_in_words(of(GOODPUT, chosen), 'more', 'less')}"
            )
    when = (
        "Condition for a gain: RED marks packets instead of dropping them, which it does below "
        "maxth at probabilities below 0.1. Cases in which RED's average is above maxth for less, "
        f"or for more, than {HELD:g} % of the time: {'; '.join(parts)}."
    )
    head = ", ".join(
        f"{about} {_in_words(of(measure, chosen, HEAD, ECN), more, less)}"
        for about, measure, chosen, more, less in (
            ("goodput:", GOODPUT, every, "more", "less"),
            ("timeouts:", TIMEOUTS, every, "more", "fewer"),
            ("time of 10 kB files:", MEAN_TIME, short, "longer", "less"),
            ("mean queue:", QUEUE, every, "longer", "shorter"),
            ("drops and marks:", SIGNALS, every, "more", "fewer"),
        )
    )
    return [buys, when, f"Head marking compared with plain ECN, over all cases: {head}."]


def _make(runs: Runs) -> Section:
    section = Section(
        [
            "For each group of cases, the tables show the change in % of a measure's sum over the "
            "cases: the mean of the replications and its 95 % interval. In a replication, both "
            "arms have the same seed. Green entries are significant improvements, and red entries "
            "are significant deteriorations. The time of a file is the time from its SYN to its "
            "last acknowledgement. The tables give no times of 1 MB files, because too few 1 MB "
            "files end within 300 s.",
        ]
    )
    for network in NETWORKS:
        section.text += _plainly(runs, network)
        section.tables.append(_table(runs, network, ECN, OFF))
        section.tables.append(_table(runs, network, HEAD, ECN))
        section.tables.append(_levels(runs, network))
    return section


ITEM = Item("worth", "Gains from ECN and head marking", pairs.both, _make)
