"""Section 5: a threshold with ECN+ compared with PI without ECN, in both mixes (figure 6)."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab import estimates
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Figure, Item, Need, Runs, Section
from aqmlab.studies.power_of_ecn.profiles import LOADS
from aqmlab.studies.power_of_ecn.scenarios import Setting, at_most
from aqmlab.studies.power_of_ecn.showing import (
    PROFILE,
    SYN_ACK_LOSS,
    WITHIN,
    cells,
    curve,
    finish,
    gain,
    panels,
    with_interval,
)
from aqmlab.studies.power_of_ecn.table_1 import cell, shown
from aqmlab.studies.power_of_ecn.words import (
    ECN_PLUS,
    ENDS,
    GENERAL,
    LIGHT,
    OFF,
    PERSISTENT,
    PI,
    THRESHOLD,
    UNCONGESTED,
    WEB,
)

PRINTED = {
    (THRESHOLD, LIGHT, WEB): 85.05,
    (PI, LIGHT, WEB): 86.09,
    (THRESHOLD, PERSISTENT, WEB): 97.37,
    (PI, PERSISTENT, WEB): 99.89,
    (THRESHOLD, LIGHT, GENERAL): 76.81,
    (PI, LIGHT, GENERAL): 80.92,
    (THRESHOLD, PERSISTENT, GENERAL): 88.43,
    (PI, PERSISTENT, GENERAL): 96.48,
}
"""Published throughputs in % (sections 5.2.1, 5.2.3, 5.3.1, 5.3.2)."""
CASES = tuple((mix, load) for mix in (WEB, GENERAL) for load in LOADS)


def pair(mix: str, load: int) -> tuple[Setting, Setting]:
    """Return two settings to compare: the threshold with ECN+, and PI without ECN."""
    return Setting(THRESHOLD, ECN_PLUS, load, mix), Setting(PI, OFF, load, mix)


def _needs() -> Iterator[Need]:
    for mix, load in CASES:
        for at in (*pair(mix, load), Setting(UNCONGESTED, OFF, load, mix)):
            yield Need(at, at_most=at_most(at))


def _make(runs: Runs) -> Section:
    section = Section(
        [
            "The item compares two schemes: a queue that marks every packet above a threshold of "
            "62 kB, with ECN+, and PI without ECN, which drops packets. The comparison tests if "
            "the kind of signal (mark or drop) is more important than the AQM. Entries without "
            "colour have no published number.",
        ]
    )
    cases = [case for case in CASES if runs.has(pair(*case)[0])]
    figure, axes = panels([f"{mix} mix, {load} % load" for mix, load in cases])
    rows: list[list[str | Entry]] = []
    for panel, (mix, load) in zip(axes, cases, strict=True):
        free = Setting(UNCONGESTED, OFF, load, mix)
        curve(panel, 6, "uncongested", [r.all for r in runs.of(free)], dashed=True)
        for i, at in enumerate(pair(mix, load)):
            label = f"{at.scheme}, {ENDS[at.ends]}"
            curve(panel, i, label, [run.all for run in runs.of(at)])
            one = cell("figure-6", runs, at, PRINTED[at.scheme, load, mix])
            more = cells("figure-6", runs, at, (WITHIN, PROFILE, SYN_ACK_LOSS))
            section.cells += [one, *more]
            rows.append(
                [f"{mix}, {load} %: {label}", shown(one), *(with_interval(c.ours) for c in more)]
            )
        free_cells = cells("figure-6", runs, free, (WITHIN, PROFILE, SYN_ACK_LOSS))
        free_one = cell("figure-6", runs, free)
        section.cells += [free_one, *free_cells]
        rows.append([f"{mix}, {load} %: uncongested", shown(free_one),
                     *(with_interval(c.ours) for c in free_cells)])  # fmt: skip
        of = estimates.mean(gain(runs, *pair(mix, load), PROFILE))
        section.text.append(
            f"{mix} mix, {load} % load: the mean response-time profile with the threshold minus "
            f"the mean profile with PI is {of} percentage points."
        )
    caption = (
        "Figure 6 (and further cases that the paper does not show): distribution of response "
        "times with a threshold and ECN+, and with PI and no ECN."
    )
    section.figures.append(Figure("figure-6", caption, finish(figure, axes[0])))
    head = ["Mix, load, scheme", "Throughput (%)", "Within 0.5 s (%)", "Mean of the profile (%)",
            "SYN-ACKs dropped (%)"]  # fmt: skip
    section.tables.append(Table("Threshold with ECN+ compared with PI without ECN", head, rows))
    return section


ITEM = Item(
    "figure-6", "Figure 6: a threshold with ECN+ compared with PI without ECN", _needs, _make
)
