"""Causes of goodput gains and losses with ECN: RED's average, drops above maxth, timeouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from aqmlab.figures.style import legend_below, look, sheet
from aqmlab.measures import Measure
from aqmlab.report import Table
from aqmlab.studies.ecn_red_simulation import pairs
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
    BELOW,
    DROPS,
    DUPLICATES,
    GOODPUT,
    MARKS,
    QUEUE,
    THRESHOLD,
    TIMEOUTS,
    UTILIZATION,
    WITHIN,
    Tally,
)
from aqmlab.studies.framework import Cell, Figure, Item, Runs, Section

SHOWN = (BELOW, WITHIN, ABOVE, QUEUE, DROPS, THRESHOLD, MARKS, TIMEOUTS, UTILIZATION, DUPLICATES)
EXTREMES = 8


@dataclass(frozen=True)
class Group:
    """Cases with equal file size, number of sessions and maxth, with or without CBR traffic."""

    bulk: bool
    cbr: bool
    sessions: int
    maxth: int

    @classmethod
    def of(cls, case: Case) -> Group:
        """Return the group of a case: its file size, number of sessions, maxth and CBR traffic."""
        return cls(case.bulk, case.cbr_share > 0, case.sessions, case.maxth)

    def __str__(self) -> str:
        files, cbr = "1 MB" if self.bulk else "10 kB", "CBR" if self.cbr else "no CBR"
        return f"{files}, {cbr}, {self.sessions} sessions, maxth {self.maxth}"


def mean(runs: Runs, setting: Setting, measure: Measure[Tally]) -> float:
    """Return the mean of a measure over the replications of a setting, in the measure's unit."""
    return measure.scale * float(np.mean([measure.of(run) for run in runs.of(setting)]))


def over(
    runs: Runs, network: str, arm: str, measure: Measure[Tally], chosen: pairs.Chosen
) -> float:
    """Return the mean of a measure over the chosen cases, in its unit; NaN if no case is chosen."""
    settings = (Setting(network, case, arm) for case in pairs.ALL if chosen(case))
    values = [mean(runs, setting, measure) for setting in settings if runs.has(setting)]
    return float(np.mean(values)) if values else float("nan")


def _groups(runs: Runs, network: str) -> Table:
    gains = {
        arm: {g.case: g.percent.middle for g in pairs.gains(runs, network, GOODPUT, arm)}
        for arm in (ECN, HEAD)
    }
    rows = []
    for group in dict.fromkeys(map(Group.of, gains[ECN])):
        for arm in ARMS:
            change = "" if arm == OFF else f"{_mean_of(gains[arm], group):+z.2f} %"

            def chosen(case: Case, group: Group = group) -> bool:
                return Group.of(case) == group

            seen = [over(runs, network, arm, m, chosen) for m in SHOWN]
            rows.append([str(group), pairs.ARM_NAMES[arm], change, *map(_short, seen)])
    head = ["Cases", "Arm", "Goodput", *(f"{m.name.replace('_', ' ')} ({m.unit})" for m in SHOWN)]
    name = pairs.NETWORK_NAMES[network]
    return Table(f"{name.capitalize()}: means over all values of delay, linterm and wq", head, rows)


def _mean_of(gains: dict[Case, float], group: Group) -> float:
    return float(np.mean([gain for case, gain in gains.items() if Group.of(case) == group]))


def _short(value: float) -> str:
    return f"{value:.1f}" if abs(value) < 1000 else f"{value:.0f}"


def _extremes(runs: Runs, network: str) -> Table:
    ordered = sorted(pairs.gains(runs, network, GOODPUT), key=lambda g: -g.percent.middle)
    most = min(EXTREMES, len(ordered) // 2)
    rows = []
    for g in [*ordered[:most], *ordered[-most:]]:
        case, (low, middle, high) = g.case, g.percent
        ecn = Setting(network, case, ECN)
        off = ecn.under(OFF)
        change = f"{middle:+z.2f} %" + "*" * g.significant
        seen = [
            f"{_short(mean(runs, off, m))} → {_short(mean(runs, ecn, m))}"
            for m in (ABOVE, DROPS, THRESHOLD, TIMEOUTS, UTILIZATION)
        ]
        marks = _short(mean(runs, ecn, MARKS))
        rows.append([str(case), change, f"{low:+z.2f} to {high:+z.2f}", *seen, marks])
    head = [
        "Case", "Goodput with ECN", "95 %", "RED's average above maxth (% of time)", "Drops",
        "Drops above maxth", "Timeouts", "Utilization (%)", "Marks",
    ]  # fmt: skip
    name = pairs.NETWORK_NAMES[network]
    caption = f"{name.capitalize()}: the {most} largest gains and the {most} largest losses"
    return Table(f"{caption}; values without ECN → with ECN; * significant change", head, rows)


def _drawn(runs: Runs, network: str) -> Figure:
    figure, axes = sheet(1, 2, (10.0, 4.2), sharey=True)
    for i, (label, chosen) in enumerate(pairs.KINDS.items()):
        some = [g for g in pairs.gains(runs, network, GOODPUT) if chosen(g.case)]
        ecn = [Setting(network, g.case, ECN) for g in some]
        gained = [g.percent.middle for g in some]
        forced = [mean(runs, s, THRESHOLD) / 3 for s in ecn]
        spared = [mean(runs, s.under(OFF), TIMEOUTS) - mean(runs, s, TIMEOUTS) for s in ecn]
        colour, marker = look(i)
        for at, x in zip(axes, (forced, spared), strict=True):
            at.plot(x, gained, marker, color=colour, label=label, markersize=4, alpha=0.8)
    axes[0].set_xscale("symlog", linthresh=10)
    axes[0].set_xlabel("drops above maxth per 100 s, with ECN")
    axes[1].set_xlabel("timeouts that ECN avoids in 300 s")
    axes[0].set_ylabel("change of goodput with ECN (%)")
    for at in axes:
        at.axhline(0, color="#888888", lw=1, ls="--")
    low, high = axes[0].get_ylim()
    axes[0].set_ylim(min(low, -2), max(high, 2))  # smaller changes are noise
    legend_below(figure, axes[0], 4)
    name = pairs.NETWORK_NAMES[network]
    caption = (
        f"{name.capitalize()}: change of goodput with ECN, one dot per pair of runs. The left "
        "panel plots the change against the drops above maxth with ECN, the right panel against "
        "the timeouts that ECN avoids."
    )
    return Figure(f"causes_{network}", caption, figure)


def _correlations(runs: Runs, network: str) -> str:
    """Return Spearman's rank correlations of the goodput gain with its possible causes, as text."""
    from scipy.stats import spearmanr

    gained = pairs.gains(runs, network, GOODPUT)
    ecn = [Setting(network, g.case, ECN) for g in gained]
    percent = [g.percent.middle for g in gained]

    def by(value: Callable[[Setting], float]) -> str:
        return f"{spearmanr(percent, [value(s) for s in ecn]).statistic:+z.2f}"

    spared = by(lambda s: mean(runs, s.under(OFF), TIMEOUTS) - mean(runs, s, TIMEOUTS))
    forced = by(lambda s: mean(runs, s, THRESHOLD))
    filled = by(lambda s: mean(runs, s, UTILIZATION) - mean(runs, s.under(OFF), UTILIZATION))
    return (
        f"{pairs.NETWORK_NAMES[network].capitalize()}: Spearman's rank correlation of the change "
        f"of goodput by ECN with three possible causes, over {len(ecn)} pairs. Timeouts that ECN "
        f"avoids: {spared}. Drops above maxth with ECN: {forced}. Increase of the observed link's "
        f"utilization: {filled}."
    )


def _room(runs: Runs, network: str) -> str:
    """Return the upper bounds of the goodput gain, idle time and duplicate data, as text."""
    settings = [Setting(network, case, arm) for case in pairs.ALL for arm in (OFF, ECN)]
    there = [setting for setting in settings if runs.has(setting)]
    idle = [100 - mean(runs, setting, UTILIZATION) for setting in there]
    twice = [mean(runs, setting, DUPLICATES) for setting in there]
    return (
        f"{pairs.NETWORK_NAMES[network].capitalize()}: idle time and duplicate data limit the "
        f"goodput that ECN can gain. The observed link is idle for {np.median(idle):.2f} % of the "
        f"time in the median case, and for at most {max(idle):.1f} % of the time in any case. "
        f"Duplicates are {np.median(twice):.2f} % of the arriving data in the median case, and at "
        f"most {max(twice):.1f} % in any case."
    )


def _make(runs: Runs) -> Section:
    section = Section(
        [
            "The runs sample RED's average at the observed queue every 250 ms. Below minth RED "
            "passes every packet. Between minth and maxth RED marks the chosen ECN-capable "
            "packets if its probability is below 0.1, and drops them if the probability is "
            "higher. With linterm 5 the probability exceeds 0.1 in the upper half of the region "
            "between minth and maxth. Above maxth RED drops every packet, even if the packet is "
            "ECN-capable. CBR packets, SYNs and pure ACKs are not ECN-capable, so RED always "
            "drops them instead of marking them.",
        ]
    )
    for network in NETWORKS:
        section.text += [_room(runs, network), _correlations(runs, network)]
        section.tables += [_groups(runs, network), _extremes(runs, network)]
        section.figures.append(_drawn(runs, network))
        section.cells += list(_cells(runs, network))
    return section


def _cells(runs: Runs, network: str) -> Iterator[Cell]:
    for need in pairs.needs(network):
        if runs.has(setting := need.setting):
            for measure in SHOWN:
                yield Cell.of("causes", setting.columns(), measure, runs.of(setting))


ITEM = Item("causes", "Causes of goodput gains and losses with ECN", pairs.both, _make)
