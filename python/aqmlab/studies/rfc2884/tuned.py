"""Section 4.4: choice of RED's thresholds by the rule of the command `aqmlab tune-red`.

The authors of the memo tuned the thresholds by hand under low, moderate and high congestion, and do
not give the thresholds. This reproduction uses one pair of thresholds for all levels of congestion
and all maximum drop rates. We simulated each pair of thresholds under several loads, and measured
how long the average queue stays between the thresholds. The worst load of a pair of thresholds is
the load at which the average queue stays between the thresholds for the shortest time. We chose the
pair of thresholds whose average queue stays between the thresholds for the longest time at its
worst load on the testbed of Reno. Several pairs are tied with it, and on the testbed of SACK it is
tied with the best pair.

The item `untuned` has the memo's observation that made tuning necessary: with fixed thresholds,
more flows raise the average queue above maxth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from aqmlab import estimates
from aqmlab.experiment.tuning import RATIO, ThresholdPair, best, between, ladder, tied
from aqmlab.figures.tuning import threshold_pairs as drawn
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Figure, Item, Need, Runs, Section
from aqmlab.studies.rfc2884 import bulk
from aqmlab.studies.rfc2884.gains import cell, with_interval
from aqmlab.studies.rfc2884.outcomes import ABOVE, BELOW, WITHIN, Outcome
from aqmlab.studies.rfc2884.scenarios import (
    HIGH,
    LEVELS,
    LIMIT,
    RENO,
    SACK,
    THRESHOLDS,
    TUNING,
    UNTUNED,
    Setting,
)

RATES = (0.02, 0.5)
"""Lowest and highest maximum drop rate of the memo, at which the thresholds are tested."""
TESTBEDS = {RENO: "Reno (Linux 2.0)", SACK: "SACK (Linux 2.2)"}
"""TCP variants of the memo's two testbeds."""
REPLICATIONS = 6
FIRST = ladder(2, LIMIT // RATIO)
LOADS = {
    f"{LEVELS[congesting]}, maxp {maxp:g}": (congesting, maxp)
    for congesting in LEVELS
    for maxp in RATES
}
QUICK_LOADS = [(min(LEVELS), max(RATES)), (max(LEVELS), min(RATES))]


def setting(load: str, minth: float, tcp: str = RENO) -> Setting:
    """Return the setting for a load and a minth; maxth is three times minth."""
    congesting, maxp = LOADS[load]
    return Setting(TUNING, congesting, maxp, tcp, thresholds=(minth, RATIO * minth))


def _needs(minths: list[float], tcp: str) -> Iterator[Need]:
    for minth in minths:
        for load, at in LOADS.items():
            quick = at in QUICK_LOADS and tcp == RENO
            yield Need(setting(load, minth, tcp), at_most=REPLICATIONS, quick=quick)


def _first() -> Iterator[Need]:
    for tcp in TESTBEDS:
        yield from _needs(FIRST, tcp)


def _tried(runs: Runs, minths: list[float], tcp: str) -> list[ThresholdPair]:
    """Return the pairs of thresholds with the given minth values, and their results.

    The results are the shares of time with RED's average below, between and above the thresholds,
    at each load and in each replication.
    """
    trials = []
    for minth in minths:
        shares = {
            load: [run.shares for run in runs.of(setting(load, minth, tcp))]
            for load in LOADS
            if runs.has(setting(load, minth, tcp))
        }
        if shares:
            trials.append(ThresholdPair(minth, RATIO * minth, shares))
    return trials


def trials(runs: Runs, tcp: str = RENO) -> list[ThresholdPair]:
    """Return all tested pairs of thresholds with their results, in ascending order of minth."""
    return _tried(runs, sorted([*FIRST, *_more(runs, tcp)]), tcp)


def _more(runs: Runs, tcp: str) -> list[float]:
    tried = _tried(runs, FIRST, tcp)
    return between(FIRST, best(tried).minth) if tried else []


def _then(runs: Runs) -> Iterator[Need]:
    for tcp in TESTBEDS:
        yield from _needs(_more(runs, tcp), tcp)


def at_level(pairs: list[ThresholdPair], congesting: int) -> list[ThresholdPair]:
    """Return the pairs with only the loads of one level of congestion."""
    loads = [load for load, (n, _) in LOADS.items() if n == congesting]
    return [replace(one, runs={load: one.runs[load] for load in loads}) for one in pairs]


def of_level(runs: Runs, congesting: int) -> ThresholdPair:
    """Return the pair for one level of congestion with Reno: that of the study if it is tied."""
    pairs = at_level(trials(runs), congesting)
    ours = [one for one in tied(pairs) if (one.minth, one.maxth) == THRESHOLDS]
    return ours[0] if ours else best(pairs)


def _ties(runs: Runs) -> Table:
    """Return the best and the tied pairs of each testbed, for all levels and for each level."""
    rows: list[list[str | Entry]] = []
    for tcp, about in TESTBEDS.items():
        every = trials(runs, tcp)
        cases = {"all levels": every}
        cases |= {f"{name} only": at_level(every, n) for n, name in LEVELS.items()}
        for case, pairs in cases.items():
            top = best(pairs)
            listed = ", ".join(f"{one.minth:g} / {one.maxth:g}" for one in tied(pairs))
            rows.append(
                [f"{about}, {case}", f"{top.minth:g} / {top.maxth:g}", f"{100 * top.score:.1f}",
                 listed]
            )  # fmt: skip
    head = ["Testbed and congestion", "Best", "Share of the best (%)", "Tied with the best"]
    return Table("Tied pairs of thresholds (minth / maxth in packets)", head, rows)


def _make(runs: Runs) -> Section:
    every = trials(runs)
    chosen = best(every)
    worst = chosen.shares[chosen.worst]
    ties = tied(every)
    section = Section(
        [
            "The results of the memo depend on the thresholds, because RED drops every packet if "
            "its average is above maxth, and no packet if its average is below minth. Each pair "
            "of thresholds is run under the three levels of congestion, at the lowest and the "
            "highest maximum drop rate, with the two competing flows. In each pair, maxth is "
            f"three times minth. The time shares are means of {REPLICATIONS} replications, "
            "measured after the first 20 s. Pairs of thresholds are compared by their worst "
            "case, as in the command `aqmlab tune-red`. Pairs are tied if their worst cases are "
            "equal when rounded to 1 %, or if the 95 % interval of the difference between the "
            "worst cases contains 0. The best pair has the best worst case, and among equal "
            "pairs the lowest thresholds.",
            f"{len(ties)} pairs are tied, from minth {ties[0].minth:g} to {ties[-1].minth:g} "
            "packets. The runs do not tell them apart, and the best of them is chosen. "
            f"The chosen thresholds are minth {chosen.minth:g} and maxth {chosen.maxth:g} "
            f"packets. The worst case of the chosen thresholds is {chosen.worst}: RED's average "
            f"is below minth for {100 * worst.below:.1f} % of the time, between the thresholds "
            f"for {100 * worst.inside:.1f} %, and above maxth for {100 * worst.above:.1f} %. All "
            f"other items of the study use minth {THRESHOLDS[0]:g} and maxth {THRESHOLDS[1]:g}"
            + (
                ", which are the result of the whole study with more loads and runs."
                if runs.quick
                else ". The tests of the memo with SACK ran on other machines; the second table "
                "has the tied pairs of both testbeds, and those of each level of congestion alone. "
                "The item `readings` has results with thresholds for each level of congestion."
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
    if not runs.quick:
        section.tables.append(_ties(runs))
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
    "tuning", "Section 4.4: choice of RED's thresholds", _first, _make, _then,
)  # fmt: skip

MANY = (*LEVELS, 20)
"""Numbers of congesting flows with thresholds that were not tuned."""


def untuned(congesting: int) -> Setting:
    """Return a setting with the thresholds and the maximum drop rate of the RED paper."""
    return Setting(TUNING, congesting, RATES[0], thresholds=UNTUNED)


COMPARED = 2 * bulk.REPLICATIONS
"""Number of replications with and without tuned thresholds, for the claim about their difference.

With 20 replications the claim was open.
"""
UNTUNED_BULK = replace(bulk.setting(HIGH, RATES[0]), thresholds=UNTUNED)
"""Setting of bulk transfers at high congestion, with thresholds that were not tuned."""


def _untuned_needs() -> Iterator[Need]:
    yield from (Need(untuned(n), at_most=REPLICATIONS, quick=False) for n in MANY)
    for at in (UNTUNED_BULK, bulk.setting(HIGH, RATES[0])):
        yield Need(at, at_most=COMPARED, quick=False)


def above(runs: Runs, congesting: int) -> list[float]:
    """Return the shares of time with RED's average above maxth without tuning, in %."""
    return [ABOVE.scale * ABOVE.of(run) for run in runs.of(untuned(congesting))]


def _untuned_make(runs: Runs) -> Section:
    if not runs.has(UNTUNED_BULK):
        return Section(["The quick form leaves out thresholds that were not tuned."])
    minth, maxth = UNTUNED
    section = Section(
        [
            f"RED has the thresholds of the RED paper, {minth} and {maxth} packets, and its "
            f"maximum drop rate of {RATES[0]:g}. The authors of the memo found that more flows "
            "raise the average queue above maxth most of the time, and that ECN then gains less.",
        ]
    )
    rows: list[list[str | Entry]] = []
    for n in MANY:
        of = estimates.mean(above(runs, n))
        section.cells.append(Cell("untuned", untuned(n).columns(), ABOVE.name, ABOVE.unit, of))
        ran: list[Outcome] = runs.of(untuned(n))
        queue = float(np.mean([run.queue for run in ran]))
        rows.append([str(n), with_interval(of, ".1f", kind=""), f"{queue:.1f}"])
    head = ["Congesting flows", "RED's average above maxth (% of time)", "Mean queue (packets)"]
    section.tables.append(Table("Thresholds that were not tuned", head, rows))
    gains: list[list[str | Entry]] = []
    for about, at in (("Not tuned", UNTUNED_BULK), ("Tuned", bulk.setting(HIGH, RATES[0]))):
        one = cell("untuned", runs, at)
        section.cells.append(one)
        gains.append([about, "{:g} / {:g}".format(*at.pair), with_interval(one.ours, unit=" %")])
    head = ["Thresholds", "minth / maxth", "Relative advantage of ECN"]
    about = f"Gain of ECN in bulk transfers at high congestion and maxp {RATES[0]:g}"
    section.tables.append(Table(about, head, gains))
    return section


WITHOUT = Item(
    "untuned", "Section 4.4: RED without tuned thresholds", _untuned_needs, _untuned_make
)
