"""Main effects of each factor on goodput, mean queue and signals, and their interactions."""

from __future__ import annotations

from aqmlab.estimates import number
from aqmlab.figures.experiment import interactions
from aqmlab.report import Table
from aqmlab.statistics import Effect
from aqmlab.studies.ecn_red_simulation import pairs
from aqmlab.studies.ecn_red_simulation.ratios import NAMES
from aqmlab.studies.ecn_red_simulation.scenarios import NETWORKS
from aqmlab.studies.ecn_red_simulation.tallies import SIGNALS, THREE
from aqmlab.studies.framework import Figure, Item, Runs, Section

SHOWN = 12
"""Maximum number of interactions in a table."""

ABOUT = (
    "Least squares over all runs of a network with the seeds as blocks. A main effect is the mean "
    "at the second level minus that at the first, over all other factors. An interaction is the "
    "difference of a factor's effect between the two levels of another factor. Intervals are 95 %, "
    "and p is corrected for all effects of the measure (false discovery). The arm is a factor too: "
    "its interactions show where signalling matters.",
    "Effects are means over very different cases. A small effect of the arm may therefore hide "
    "cases with a large one; the item “Causes of gains and losses” has these.",
)


def _rows(effects: list[Effect]) -> list[list[str]]:
    rows = []
    for e in effects:
        low, middle, high = e.interval
        change = ", ".join(f"{a} → {b}" for a, b in e.levels)
        interval = f"{number(low)} to {number(high)}"
        p = "< 0.001" if e.p_discovery < 0.001 else f"{e.p_discovery:.3f}"
        rows.append([" × ".join(e.factors), change, f"{middle:+.4g}", interval, p])
    return rows


def _make(runs: Runs) -> Section:
    section = Section([*ABOUT])
    for network in NETWORKS:
        outcome = pairs.outcome(runs, network)
        name = pairs.NETWORK_NAMES[network]
        for measure in THREE:
            every = outcome.effects(measure.name).effects
            main = [e for e in every if len(e.factors) == 1]
            two = [e for e in every if len(e.factors) == 2 and e.p_discovery < 0.05]
            two.sort(key=lambda e: -abs(e.interval.middle))
            head = ["Factors", "Change", "Effect", "95 %", "p"]
            what = f"{NAMES[measure]} ({measure.unit})"
            section.tables.append(
                Table(f"{name}: main effects on {what}".capitalize(), head, _rows(main))
            )
            caption = f"{name}: the largest interactions on {what}, of {len(two)} findings"
            section.tables.append(Table(caption.capitalize(), head, _rows(two[:SHOWN])))
            if measure is SIGNALS:  # dropped CBR packets dominate the signals
                continue
            drawn = interactions(outcome, measure.name)
            caption = (
                f"{name.capitalize()}: mean {NAMES[measure]} over each factor by arm; lines that "
                "are not parallel are an interaction."
            )
            section.figures.append(Figure(f"effects_{network}_{measure.name}", caption, drawn))
    return section


ITEM = Item("effects", "Effects of each factor", pairs.both, _make)
