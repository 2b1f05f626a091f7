"""Causes of the gain or loss of goodput by ECN: RED's average, drops above maxth, timeouts."""

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
    """Cases with the same file size, number of sessions and maxth, with or without CBR traffic."""

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
    """Return the mean of a measure over the replications, in its unit."""
    return measure.scale * float(np.mean([measure.of(run) for run in runs.of(setting)]))


def over(
    runs: Runs, network: str, arm: str, measure: Measure[Tally], chosen: pairs.Chosen
) -> float:
    """Return the mean of a measure over the chosen cases, in its unit; NaN for an empty choice."""
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
    return Table(f"{name.capitalize()}: means over delay, linterm and wq", head, rows)


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
        "Case", "Goodput with ECN", "95 %", "Average above maxth (% of time)", "Drops",
        "of these above maxth", "Timeouts", "Utilization (%)", "Marks",
    ]  # fmt: skip
    name = pairs.NETWORK_NAMES[network]
    caption = f"{name.capitalize()}: the {most} largest gains and the {most} largest losses"
    return Table(f"{caption}; without ECN → with it; * finding", head, rows)


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
    axes[0].set_xlabel("drops above maxth with ECN, per 100 s")
    axes[1].set_xlabel("timeouts that ECN avoids in 300 s")
    axes[0].set_ylabel("change of goodput with ECN (%)")
    for at in axes:
        at.axhline(0, color="#888888", lw=1, ls="--")
    legend_below(figure, axes[0], 4)
    name = pairs.NETWORK_NAMES[network]
    caption = (
        f"{name.capitalize()}: one dot per pair. Left: drops above maxth, which occur with "
        "ECN too. Right: timeouts that ECN avoids."
    )
    return Figure(f"causes_{network}", caption, figure)


def _correlations(runs: Runs, network: str) -> str:
    """Return the rank correlations (Spearman) of the gain with its possible causes."""
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
        f"{pairs.NETWORK_NAMES[network].capitalize()}: rank correlation of the change of goodput "
        f"over {len(ecn)} pairs with the avoided timeouts {spared}, with the drops above maxth "
        f"under ECN {forced}, with the rise of the observed link's utilization {filled}."
    )


def _room(runs: Runs, network: str) -> str:
    """Return a sentence on what bounds the gain: the link's idle time, and the duplicate data."""
    settings = [Setting(network, case, arm) for case in pairs.ALL for arm in (OFF, ECN)]
    there = [setting for setting in settings if runs.has(setting)]
    idle = [100 - mean(runs, setting, UTILIZATION) for setting in there]
    twice = [mean(runs, setting, DUPLICATES) for setting in there]
    return (
        f"{pairs.NETWORK_NAMES[network].capitalize()}: bounds of a change of goodput. The observed "
        f"link is idle for {np.median(idle):.2f} % of the time in the median case, and for at "
        f"most {max(idle):.1f} %. Duplicates are {np.median(twice):.2f} % of the arriving data "
        f"in the median case, and at most {max(twice):.1f} %."
    )


def _make(runs: Runs) -> Section:
    section = Section(
        [
            "The runs sample RED's average at the observed queue every 250 ms. Below minth RED "
            "passes every packet. Between minth and maxth an ECN-capable packet is marked while "
            "RED's probability is below 0.1; with linterm 5 the probability exceeds 0.1 in the "
            "upper half of the region, and RED drops the packet. Above maxth RED drops every "
            "packet, with ECN too. RED drops CBR packets, SYNs and pure ACKs where it would mark "
            "others, because they are not ECN-capable.",
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


ITEM = Item("causes", "Causes of gains and losses", pairs.both, _make)
