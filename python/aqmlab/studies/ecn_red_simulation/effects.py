"""Main effects and interactions of the factors, on goodput, mean queue and signals."""

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
"""Maximum number of interactions that a table shows."""

ABOUT = (
    f"The effects are estimated by least squares over {pairs.USUAL} replications of each setting "
    "of a network, with the seeds as blocks. The main effect of a factor is the mean at its "
    "second level minus the mean at its first level, over all levels of the other factors. An "
    "interaction is the difference of one factor's effect between the two levels of another "
    "factor. Effects have 95 % intervals, and the p-values are corrected for the number of "
    "effects (false-discovery rate). The arm (no ECN, ECN or head marking) is a factor too. An "
    "interaction of the arm with a factor shows that the effect of ECN depends on this factor.",
    "An effect is a mean over very different cases. A small mean effect of ECN may therefore hide "
    "single cases with a large effect. The item “Causes of gains and losses” lists the cases with "
    "the largest effects.",
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
        outcome = pairs.outcome(runs, network, at_most=pairs.USUAL)
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
            caption = f"{name}: the largest of {len(two)} significant interactions on {what}"
            section.tables.append(Table(caption.capitalize(), head, _rows(two[:SHOWN])))
            if measure is SIGNALS:  # dropped CBR packets dominate the signals
                continue
            drawn = interactions(outcome, measure.name)
            caption = (
                f"{name.capitalize()}: mean {NAMES[measure]} at the two levels of each factor, "
                "one line per arm. Lines that are not parallel show an interaction of the factor "
                "with the arm."
            )
            section.figures.append(Figure(f"effects_{network}_{measure.name}", caption, drawn))
    return section


ITEM = Item("effects", "Effects of each factor", pairs.both, _make)
