"""Section 4.4: thresholds that keep the average queue in RED's region, as `aqmlab tune-red` does.

The authors tuned the thresholds by hand under low, moderate and high congestion; the memo does not
give the thresholds. Our study uses one pair of thresholds for all levels and all maximum drop
rates. In its worst case, this pair keeps the average queue in the region for a longer time than any
other pair.
"""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.experiment.tuning import RATIO, Shares, ThresholdPair, best, between, ladder
from aqmlab.figures.tuning import threshold_pairs as drawn
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Figure, Item, Need, Runs, Section
from aqmlab.studies.rfc2884.outcomes import ABOVE, BELOW, WITHIN
from aqmlab.studies.rfc2884.scenarios import LEVELS, LIMIT, THRESHOLDS, TUNING, Setting

RATES = (0.02, 0.5)
"""Maximum drop rates under which thresholds are tuned: the ends of the range."""
REPLICATIONS = 5
FIRST = ladder(2, LIMIT // RATIO)
LOADS = {
    f"{LEVELS[congesting]}, maxp {maxp:g}": (congesting, maxp)
    for congesting in LEVELS
    for maxp in RATES
}
QUICK_LOADS = [(min(LEVELS), max(RATES)), (max(LEVELS), min(RATES))]


def setting(load: str, minth: float) -> Setting:
    """Return the setting of a pair of thresholds under a load."""
    congesting, maxp = LOADS[load]
    return Setting(TUNING, congesting, maxp, thresholds=(minth, RATIO * minth))


def _needs(minths: list[float]) -> Iterator[Need]:
    for minth in minths:
        for load, at in LOADS.items():
            quick = at in QUICK_LOADS
            yield Need(setting(load, minth), at_most=REPLICATIONS, quick=quick)


def _tried(runs: Runs, minths: list[float]) -> list[ThresholdPair]:
    """Return the trials of the given minth values, under the loads that were run."""
    trials = []
    for minth in minths:
        shares = {
            load: Shares.mean(run.shares for run in runs.of(setting(load, minth)))
            for load in LOADS
            if runs.has(setting(load, minth))
        }
        if shares:
            trials.append(ThresholdPair(minth, RATIO * minth, shares))
    return trials


def trials(runs: Runs) -> list[ThresholdPair]:
    """Return all trials in ascending order of minth."""
    return _tried(runs, sorted([*FIRST, *_more(runs)]))


def _more(runs: Runs) -> list[float]:
    return between(FIRST, best(_tried(runs, FIRST)).minth)


def _then(runs: Runs) -> Iterator[Need]:
    yield from _needs(_more(runs))


def _make(runs: Runs) -> Section:
    every = trials(runs)
    chosen = best(every)
    worst = chosen.shares[chosen.worst]
    section = Section(
        [
            "The memo's results depend on this step: with its average above maxth RED drops every "
            "packet, and below minth it drops none. Each pair of thresholds (maxth is three times "
            "minth) is run under the three levels of congestion, at the lowest and the highest "
            f"maximum drop rate, with the two competing flows; {REPLICATIONS} replications, from "
            "20 s on. Pairs are compared by their worst case, and the lowest of equal pairs (to a "
            "whole percent) is chosen. This is the rule of `aqmlab tune-red`.",
            f"Result: minth {chosen.minth:g} and maxth {chosen.maxth:g} packets. The worst case is "
            f"{chosen.worst}: {100 * worst.below:.1f} % below, {100 * worst.inside:.1f} % between, "
            f"{100 * worst.above:.1f} % above. All other experiments have minth "
            f"{THRESHOLDS[0]:g} and maxth {THRESHOLDS[1]:g}"
            + (", the result of the whole study with more loads and runs." if runs.quick else "."),
        ]
    )
    head = ["minth / maxth", *chosen.shares]
    rows: list[list[str | Entry]] = []
    for one in every:
        kind = "good" if one is chosen else ""
        row: list[str | Entry] = [Entry(f"{one.minth:g} / {one.maxth:g}", kind=kind)]
        for share in one.shares.values():
            rest = f"{100 * share.below:.1f} below, {100 * share.above:.1f} above"
            row.append(Entry(f"{100 * share.inside:.1f}", rest))
        rows.append(row)
        for load in one.shares:
            at = setting(load, one.minth)
            section.cells += [
                Cell.of("tuning", at.columns(), measure, runs.of(at))
                for measure in (BELOW, WITHIN, ABOVE)
            ]
    section.tables.append(Table("Time with the average between minth and maxth (%)", head, rows))
    section.figures.append(
        Figure(
            "tuning",
            "Share of time with the average queue between the thresholds, over minth, under each "
            "level of congestion and maximum drop rate. The dashed line is the choice.",
            drawn(every, chosen, "packets"),
        )
    )
    return section


ITEM = Item(
    "tuning", "Section 4.4: thresholds that keep RED in its region",
    lambda: _needs(FIRST), _make, _then,
)  # fmt: skip
