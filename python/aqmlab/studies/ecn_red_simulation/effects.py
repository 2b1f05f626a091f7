"""What each factor does to goodput, mean queue and signals, and two of them together."""

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
"""Interactions in a table at most: the largest."""

ABOUT = (
    "Least squares over all runs of a network with the seeds as blocks: a main effect is the "
    "mean at the second level less that at the first, over all other factors alike; an "
    "interaction is how much more a factor does at the second level of the other. Intervals are "
    "95 %; p is corrected for all effects of the measure (false discovery). The arm is a factor "
    "as well: its interactions say where signalling matters.",
    "Effects are means over cases that differ much from each other, so a small effect of the arm "
    "may hide cases where it is large: the item “Why” looks at those.",
)


def _rows(found: list[Effect]) -> list[list[str]]:
    rows = []
    for e in found:
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
            caption = f"{name}: the largest interactions on {what}, of {len(two)} that are found"
            section.tables.append(Table(caption.capitalize(), head, _rows(two[:SHOWN])))
            if measure is SIGNALS:  # CBR packets that are dropped hide all else
                continue
            drawn = interactions(outcome, measure.name)
            caption = (
                f"{name.capitalize()}: mean {NAMES[measure]} over each factor by arm; lines that "
                "are not parallel are an interaction."
            )
            section.figures.append(Figure(f"effects_{network}_{measure.name}", caption, drawn))
    return section


ITEM = Item("effects", "What each factor does", pairs.both, _make)
