"""Section 5.2: bulk transfers of 20 MB by an ECN flow and a non-ECN flow at the same time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aqmlab import estimates
from aqmlab.estimates import number
from aqmlab.figures.style import legend_below, sheet
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Figure, Item, Need, Runs, Section
from aqmlab.studies.rfc2884.gains import absolute, both, cell, curve, entry, gain, with_interval
from aqmlab.studies.rfc2884.outcomes import ABOVE, BELOW, WITHIN, Outcome
from aqmlab.studies.rfc2884.scenarios import (
    BULK,
    HIGH,
    LEVELS,
    LOW,
    MAXP,
    RENO,
    SACK,
    TCPS,
    Setting,
)

REPLICATIONS, LONG, FEWER = 20, 10, 3
"""Numbers of replications of settings with a published number, of settings with a published number
at low congestion (whose runs take longer) or with a claim, and of other settings."""
PRINTED = {
    (RENO, LOW, 0.1): 23.0, (RENO, HIGH, 0.1): 50.0,
    (RENO, HIGH, 0.02): 10.0, (RENO, HIGH, 0.5): 60.0,
    (SACK, LOW, 0.1): 5.0, (SACK, HIGH, 0.1): 15.0,
    (SACK, HIGH, 0.02): 10.0, (SACK, HIGH, 0.5): 40.0,
}  # fmt: skip
"""Published relative advantages in %, by TCP, number of congesting flows and maxp."""


def setting(congesting: int, maxp: float, tcp: str = RENO) -> Setting:
    """Return the setting of bulk transfers for a TCP variant, a load and a maximum drop rate."""
    return Setting(BULK, congesting, maxp, tcp)


def grid(tcp: str) -> list[Setting]:
    """Return the settings of bulk transfers for a TCP variant, with all loads and drop rates."""
    return [setting(congesting, maxp, tcp) for congesting in LEVELS for maxp in MAXP]


STATED = [(congesting, maxp) for tcp, congesting, maxp in PRINTED if tcp == RENO]
"""Numbers of congesting flows and maximum drop rates of the published gains."""


def _needs() -> Iterator[Need]:
    for tcp in TCPS:
        for at in grid(tcp):
            stated = (at.congesting, at.maxp) in STATED
            printed = (tcp, at.congesting, at.maxp) in PRINTED
            many = REPLICATIONS if printed and at.congesting != LOW else LONG
            yield Need(at, at_most=many if stated else FEWER, quick=tcp == RENO and stated)


def _make(runs: Runs) -> Section:
    section = Section(
        [
            "After 20 s, the server sends one file to the client with ECN, and one file to the "
            "client without ECN. The two transfers compete with 2, 5 or 10 congesting flows "
            "without ECN. The relative advantage of ECN is the throughput with ECN minus the "
            "throughput without ECN, in % of the throughput without ECN. The tables have paired "
            f"means with 95 % intervals, over {REPLICATIONS} replications for settings with a "
            f"published number ({LONG} at low congestion), and over {FEWER} replications for other "
            "settings. An entry is green if its interval is above 0, or if the published number is "
            "reproduced. A run "
            "lasts for 1.1 times the transfer time at equal shares of the link. For an "
            "unfinished transfer, the data until the end of the run counts.",
        ]
    )
    for tcp in TCPS:
        there = [at for at in grid(tcp) if runs.has(at)]
        if not there:
            continue
        section.tables += [_relative(runs, section, tcp), _rates(runs, section, tcp)]
    section.figures.append(_figure(runs))
    return section


def _relative(runs: Runs, section: Section, tcp: str) -> Table:
    rows: list[list[str | Entry]] = []
    for congesting, name in LEVELS.items():
        row: list[str | Entry] = [f"{name} ({congesting} flows)"]
        for maxp in MAXP:
            at = setting(congesting, maxp, tcp)
            if not runs.has(at):
                row.append("–")
                continue
            one = cell("bulk", runs, at, PRINTED.get((tcp, congesting, maxp)))
            section.cells.append(one)
            row.append(entry(one))
        if any(isinstance(one, Entry) for one in row):
            rows.append(row)
    head = ["Congestion", *(f"maxp {maxp:g}" for maxp in MAXP)]
    return Table(f"{tcp}: relative advantage of ECN", head, rows)


def _rates(runs: Runs, section: Section, tcp: str) -> Table:
    rows: list[list[str | Entry]] = []
    for at in grid(tcp):
        if not runs.has(at):
            continue
        on, off = (float(np.mean(values)) for values in both(runs, at))
        more = estimates.mean(absolute(runs, at))
        columns = at.columns()
        section.cells += [
            Cell("bulk", columns | {"flow": who}, "throughput", "kbit/s", estimates.mean(values))
            for who, values in zip(("ECN", "non-ECN"), both(runs, at), strict=True)
        ]
        ran: list[Outcome] = runs.of(at)
        region = ", ".join(
            f"{100 * float(np.mean([m.of(run) for run in ran])):.0f}"
            for m in (BELOW, WITHIN, ABOVE)
        )
        rows.append(
            [
                f"{LEVELS[at.congesting]}, maxp {at.maxp:g}", f"{on:.0f}", f"{off:.0f}",
                with_interval(more, kind=""), region,
                f"{float(np.mean([run.queue for run in ran])):.1f}",
            ]
        )  # fmt: skip
    head = ["", "ECN (kbit/s)", "non-ECN (kbit/s)", "Absolute advantage (kbit/s)",
            "RED's average below, in, above the region (% of time)",
            "Mean queue (packets)"]  # fmt: skip
    return Table(
        f"{tcp}: throughputs, and time of RED's average below, in and above the region", head, rows
    )


def _figure(runs: Runs) -> Figure:
    figure, (left, right) = sheet(1, 2, size=(9.5, 4.2), sharey=True)
    for i, tcp in enumerate(TCPS):
        points = [(n, gain(runs, at)) for n in LEVELS if runs.has(at := setting(n, 0.1, tcp))]
        if points:
            curve(left, i, tcp, points)
            right_points = [
                (maxp, gain(runs, at)) for maxp in MAXP if runs.has(at := setting(HIGH, maxp, tcp))
            ]
            curve(right, i, tcp, right_points)
    for axes, over, by in ((left, LEVELS, 0), (right, MAXP, 1)):
        for i, tcp in enumerate((RENO, SACK)):
            where = [(k[1 + by], v) for k, v in PRINTED.items()
                     if k[0] == tcp and (k[2] == 0.1 if by == 0 else k[1] == HIGH)]  # fmt: skip
            style = {"linestyle": "none", "marker": "*x"[i], "markersize": 10, "color": "#555555"}
            axes.plot(*zip(*where, strict=True), label=f"{tcp}, published", **style)
        axes.axhline(0, color="#555555", linewidth=0.8)
        axes.set_xticks(list(over), [f"{x:g}" for x in over])
    left.set_xlabel("congesting flows (maxp 0.1)")
    right.set_xlabel("maxp (10 congesting flows)")
    right.set_xscale("log")
    right.set_xticks(list(MAXP), [f"{x:g}" for x in MAXP])
    right.minorticks_off()
    left.set_ylabel("relative advantage of ECN (%)")
    legend_below(figure, left, 5)
    about = (
        "Relative advantage of ECN for 20 MB transfers, against the number of congesting flows "
        "and against the maximum drop rate: means with 95 % intervals, and published numbers."
    )
    return Figure("bulk", about, figure)


ITEM = Item("bulk", "Section 5.2: bulk transfers", _needs, _make)


def _causes(runs: Runs) -> Section:
    section = Section(
        [
            "The tables show retransmissions in % of the segments with data, and the causes of "
            "retransmissions. The memo attributes a retransmission to a timeout if the "
            "retransmission does not follow a third duplicate ACK. The column “by timeout, as the "
            "memo counts” uses the rule of the memo. The column “timeouts” has the number of "
            "timeouts. The two columns about timeouts differ, because Reno retransmits all data "
            "from the first gap on after a timeout.",
        ]
    )
    for tcp in TCPS:
        rows: list[list[str | Entry]] = []
        for at in grid(tcp):
            if not runs.has(at):
                continue
            ran: list[Outcome] = runs.of(at)
            row: list[str | Entry] = [f"{LEVELS[at.congesting]}, maxp {at.maxp:g}"]
            for which in ("on", "off"):
                flows = [getattr(run, which) for run in ran]
                resent, fast, timeouts, sent = (
                    float(np.mean([getattr(f, k) for f in flows]))
                    for k in ("resent", "fast", "timeouts", "segments")
                )
                shown = (100 * resent / sent, fast, resent - fast, timeouts)
                row += [f"{shown[0]:.2f}", *(number(round(x, 1)) for x in shown[1:])]
                section.cells += [
                    Cell("retransmissions", at.columns() | {"flow": which}, name, "segments",
                         estimates.mean(getattr(f, key) for f in flows))
                    for name, key in (("retransmitted", "resent"), ("fast_retransmits", "fast"),
                                      ("timeouts", "timeouts"))
                ]  # fmt: skip
            rows.append(row)
        if rows:
            parts = [
                "retransmitted (%)",
                "fast retransmits",
                "by timeout, as the memo counts",
                "timeouts",
            ]
            head = ["", *(f"{who}: {part}" for who in ("ECN", "non-ECN") for part in parts)]
            section.tables.append(Table(f"{tcp}: retransmissions of a transfer", head, rows))
    return section


CAUSES = Item("retransmissions", "Section 5.2: retransmissions and their causes", _needs, _causes)
