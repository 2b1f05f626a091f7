"""Figures 4 and 6: sorted ratios ECN / (ECN + non-ECN) of the 128 pairs of runs."""

from __future__ import annotations

from functools import partial

from aqmlab.estimates import number
from aqmlab.experiment import Outcome
from aqmlab.figures.experiment import draw_ratios
from aqmlab.figures.style import legend_below, sheet
from aqmlab.report import Table
from aqmlab.studies.ecn_red_simulation import pairs
from aqmlab.studies.ecn_red_simulation.scenarios import ECN, HEAD, MULTIPLE, NETWORKS, OFF, SINGLE
from aqmlab.studies.ecn_red_simulation.tallies import GOODPUT, QUEUE, SIGNALS, THREE
from aqmlab.studies.framework import Cell, Figure, Item, Runs, Section

NAMES = {SIGNALS: "drops and marks", GOODPUT: "goodput", QUEUE: "mean queue"}


def draw(outcome: Outcome, arm: str, name: str, caption: str) -> Figure:
    """Plot the ratios of three measures as in the study, and the goodput ratio on a finer scale."""
    first, other = outcome.arms[0], pairs.ARM_NAMES[arm]
    figure, (whole, detail) = sheet(1, 2, (10.0, 4.4), width_ratios=(3, 2))
    for i, measure in enumerate(THREE):
        draw_ratios(whole, outcome, measure.name, other, i, NAMES[measure])
    draw_ratios(detail, outcome, GOODPUT.name, other, 1, NAMES[GOODPUT])
    middles = [r.middle for m in THREE for r in outcome.ratios(m.name, other)]
    whole.set_ylim(max(0, min(middles) - 0.05), min(1, max(middles) + 0.05))
    whole.set_ylabel(f"{other} / ({first} + {other})")
    detail.set_title("goodput only; dotted lines: ±3 %", fontsize=9)
    for percent in (-3, 3):
        detail.axhline(share(percent), color="#888888", lw=1, ls=":")
    for axes in (whole, detail):
        axes.set_xlabel("pairs, each curve sorted")
        axes.xaxis.get_major_locator().set_params(integer=True)
    legend_below(figure, whole)
    return Figure(name, caption, figure)


def share(percent: float) -> float:
    """Return the ratio ECN / (ECN + non-ECN) if ECN increases a value by `percent` %."""
    more = 1 + percent / 100
    return more / (1 + more)


def counted(runs: Runs, network: str, arm: str, against: str = OFF) -> Table:
    """Return a table of how many pairs increase, decrease, and change significantly."""
    rows = []
    for measure in THREE:
        changes = pairs.gains(runs, network, measure, arm, against)
        more = [g for g in changes if g.difference.value > 0]
        less = [g for g in changes if g.difference.value < 0]
        large = sum(abs(g.percent.middle) > 3 for g in changes)
        middle = sorted(g.percent.middle for g in changes)[len(changes) // 2]
        sure = [str(sum(g.significant for g in side)) for side in (more, less)]
        counts = [str(len(more)), sure[0], str(len(less)), sure[1], str(large)]
        rows.append([NAMES[measure], *counts, f"{middle:+z.2f} %"])
    names = f"{pairs.ARM_NAMES[arm]} compared with {pairs.ARM_NAMES[against]}"
    head = ["", "More", "findings", "Less", "findings", "Change by more than 3 %", "Median"]
    about = f"{pairs.NETWORK_NAMES[network]}: {names}, {len(changes)} pairs"
    return Table(about[0].upper() + about[1:], head, rows)


ABOUT_COUNTS = (
    "The table counts the pairs by their mean difference. In each replication, both runs of a "
    "pair have the same seed. A finding is a pair with a significant difference by a paired t "
    "test, at a false-discovery rate of 5 % over all pairs (Benjamini and Hochberg). With few "
    "replications, a difference is a finding only if it is much larger than the spread of the "
    "replications."
)


def _figure(network: str, arm: str, number_: str, runs: Runs) -> Section:
    outcome = pairs.outcome(runs, network, (OFF, arm))
    points = outcome.runs["point"].nunique()
    caption = (
        f"{number_}: {pairs.NETWORK_NAMES[network]}, {points} pairs. The pairs of each curve are "
        "sorted by their ratio. Lines show the mean ratio of the replications, and bands the 95 % "
        "interval of the mean. A ratio of 0.5 means that the value is equal with and without ECN. "
        "A ratio of 0.524 means that the value is 10 % higher with ECN."
    )
    name = number_.lower().replace(" ", "_")
    cells = [
        Cell.of(number_.lower().replace(" ", "-"), setting.columns(), measure, runs.of(setting))
        for need in pairs.needs(network, (OFF, arm))
        if runs.has(setting := need.setting)
        for measure in THREE
    ]
    drawn = draw(outcome, arm, name, caption)
    return Section([ABOUT_COUNTS], cells, [counted(runs, network, arm)], [drawn])


def _head(runs: Runs) -> Section:
    section = Section([ABOUT_COUNTS])
    for network in NETWORKS:
        outcome = pairs.outcome(runs, network, (OFF, HEAD))
        caption = (
            f"Head marking, {pairs.NETWORK_NAMES[network]}, plotted as figures 4 and 6. Lines "
            "show the mean ratio of the replications, and bands the 95 % interval of the mean."
        )
        section.figures.append(draw(outcome, HEAD, f"head_marking_{network}", caption))
        section.tables.append(counted(runs, network, HEAD))
        section.tables.append(counted(runs, network, HEAD, ECN))
        section.cells += [
            Cell.of("head-marking", setting.columns(), measure, runs.of(setting))
            for need in pairs.needs(network, (HEAD,))
            if runs.has(setting := need.setting)
            for measure in THREE
        ]
        depth = {arm: losses(runs, network, arm) for arm in (ECN, HEAD)}
        listed = "; ".join(
            f"{pairs.ARM_NAMES[arm]}: {count} pairs, {number(mean)} % on average, at worst "
            f"{number(worst)} %"
            for arm, (count, mean, worst) in depth.items()
        )
        section.text.append(
            f"{pairs.NETWORK_NAMES[network].capitalize()}: number of pairs with less goodput than "
            f"without ECN, and their loss of goodput. {listed}."
        )
    return section


def losses(runs: Runs, network: str, arm: str) -> tuple[int, float, float]:
    """Return the number of pairs with a loss of goodput, and their mean and largest loss in %."""
    less = [g.percent.middle for g in pairs.gains(runs, network, GOODPUT, arm)]
    less = [percent for percent in less if percent < 0]
    return len(less), -sum(less) / max(len(less), 1), -min(less, default=0.0)


FIGURE_4 = Item(
    "figure-4",
    "Figure 4: one congested link, ECN compared with no ECN",
    partial(pairs.needs, SINGLE, (OFF, ECN)),
    partial(_figure, SINGLE, ECN, "Figure 4"),
)
FIGURE_6 = Item(
    "figure-6",
    "Figure 6: three congested links, ECN compared with no ECN",
    partial(pairs.needs, MULTIPLE, (OFF, ECN)),
    partial(_figure, MULTIPLE, ECN, "Figure 6"),
)
HEAD_MARKING = Item("head-marking", "Head marking, plotted as figures 4 and 6", pairs.both, _head)
