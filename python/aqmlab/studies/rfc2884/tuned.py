"""Section 4.4: choice of RED's thresholds by the rule of the command `aqmlab tune-red`.

The authors of the memo tuned the thresholds by hand under low, moderate and high congestion, and do
not give the thresholds. This reproduction uses one pair of thresholds for all levels of congestion
and all maximum drop rates. We simulated each pair of thresholds under several loads, and measured
how long the average queue stays between the thresholds. The worst load of a pair of thresholds is
the load at which the average queue stays between the thresholds for the shortest time. We chose the
pair of thresholds whose average queue stays between the thresholds for the longest time at its
worst load.
"""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.experiment.tuning import RATIO, ThresholdPair, best, between, ladder
from aqmlab.figures.tuning import threshold_pairs as drawn
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Figure, Item, Need, Runs, Section
from aqmlab.studies.rfc2884.outcomes import ABOVE, BELOW, WITHIN
from aqmlab.studies.rfc2884.scenarios import LEVELS, LIMIT, THRESHOLDS, TUNING, Setting

RATES = (0.02, 0.5)
"""Lowest and highest maximum drop rate of the memo, at which the thresholds are tested."""
REPLICATIONS = 5
FIRST = ladder(2, LIMIT // RATIO)
LOADS = {
    f"{LEVELS[congesting]}, maxp {maxp:g}": (congesting, maxp)
    for congesting in LEVELS
    for maxp in RATES
}
QUICK_LOADS = [(min(LEVELS), max(RATES)), (max(LEVELS), min(RATES))]


def setting(load: str, minth: float) -> Setting:
    """Return the setting for a load and a minth; maxth is three times minth."""
    congesting, maxp = LOADS[load]
    return Setting(TUNING, congesting, maxp, thresholds=(minth, RATIO * minth))


def _needs(minths: list[float]) -> Iterator[Need]:
    for minth in minths:
        for load, at in LOADS.items():
            quick = at in QUICK_LOADS
            yield Need(setting(load, minth), at_most=REPLICATIONS, quick=quick)


def _tried(runs: Runs, minths: list[float]) -> list[ThresholdPair]:
    """Return the pairs of thresholds with the given minth values, and their results.

    The results are the shares of time with RED's average below, between and above the thresholds,
    at each load.
    """
    trials = []
    for minth in minths:
        shares = {
            load: [run.shares for run in runs.of(setting(load, minth))]
            for load in LOADS
            if runs.has(setting(load, minth))
        }
        if shares:
            trials.append(ThresholdPair(minth, RATIO * minth, shares))
    return trials


def trials(runs: Runs) -> list[ThresholdPair]:
    """Return all tested pairs of thresholds with their results, in ascending order of minth."""
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
            "The results of the memo depend on the thresholds, because RED drops every packet if "
            "its average is above maxth, and no packet if its average is below minth. Each pair "
            "of thresholds is run under the three levels of congestion, at the lowest and the "
            "highest maximum drop rate, with the two competing flows. In each pair, maxth is "
            f"three times minth. The time shares are means of {REPLICATIONS} replications, "
            "measured after the first 20 s. Pairs of thresholds are compared by their worst "
            "case. If the worst cases of several pairs are equal when rounded to 1 %, we choose "
            "the pair with the lowest thresholds. The command `aqmlab tune-red` also compares "
            "pairs of thresholds by their worst case, and prefers the lowest thresholds among "
            "equal pairs.",
            f"The chosen thresholds are minth {chosen.minth:g} and maxth {chosen.maxth:g} "
            f"packets. The worst case of the chosen thresholds is {chosen.worst}: RED's average "
            f"is below minth for {100 * worst.below:.1f} % of the time, between the thresholds "
            f"for {100 * worst.inside:.1f} %, and above maxth for {100 * worst.above:.1f} %. All "
            f"other items of the study use minth {THRESHOLDS[0]:g} and maxth {THRESHOLDS[1]:g}"
            + (
                ", which are the result of the whole study with more loads and runs."
                if runs.quick
                else "."
            ),
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
    section.tables.append(
        Table("Share of time with RED's average between minth and maxth (%)", head, rows)
    )
    section.figures.append(
        Figure(
            "tuning",
            "Share of time with RED's average between the thresholds, against minth, for each "
            "level of congestion and maximum drop rate. The dashed line shows the chosen minth.",
            drawn(every, chosen, "packets"),
        )
    )
    return section


ITEM = Item(
    "tuning", "Section 4.4: choice of RED's thresholds",
    lambda: _needs(FIRST), _make, _then,
)  # fmt: skip
