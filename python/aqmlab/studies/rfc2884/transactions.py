"""Section 5.3: consecutive transactions of an ECN client and of a non-ECN client."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from aqmlab import estimates
from aqmlab.figures.style import legend_below, sheet
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Figure, Item, Need, Runs, Section
from aqmlab.studies.rfc2884.gains import both, cell, curve, entry, gain
from aqmlab.studies.rfc2884.outcomes import Outcome
from aqmlab.studies.rfc2884.scenarios import (
    AS_READ,
    HIGH,
    KB,
    LEVELS,
    MAXP,
    MODERATE,
    NEWRENO,
    RENO,
    SACK,
    SIZES_KB,
    SYN_ACK,
    TCPS,
    TRANSACTIONS,
    Reading,
    Setting,
)

SMALL = SIZES_KB[0]
RECOVERIES = ("fast", "timeouts", "client_timeouts")
FEWER = 6
"""Number of replications of settings without a published number."""
PRINTED = {
    (RENO, MODERATE, 0.1): 42.0, (RENO, HIGH, 0.1): 62.0,
    (RENO, HIGH, 0.02): 20.0, (RENO, HIGH, 0.5): 140.0,
    (SACK, MODERATE, 0.1): 47.0, (SACK, HIGH, 0.1): 80.0,
    (SACK, HIGH, 0.02): 15.0, (SACK, HIGH, 0.5): 120.0,
}  # fmt: skip
"""Published relative gains of 5 KB transactions in %.

If the memo does not name the settings at the ends of a range, we assume 5 and 10 flows, and maximum
drop rates of 0.02 and 0.5.
"""
RATES = {0.02: 0.8, 0.5: 2.2}
"""Published transactions per second at high congestion, probably those of the ECN client."""


def setting(congesting: int, maxp: float, tcp: str = RENO, kb: int = SMALL) -> Setting:
    """Return the setting of transactions for a TCP variant, a load, a drop rate and a size."""
    return Setting(TRANSACTIONS, congesting, maxp, tcp, KB * kb)


def grid(tcp: str) -> list[Setting]:
    """Return the settings of small transactions for a TCP variant, all loads and drop rates."""
    return [setting(congesting, maxp, tcp) for congesting in LEVELS for maxp in MAXP]


CLAIMED = [
    *(setting(congesting, 0.1) for congesting in LEVELS),
    *(setting(*key[1:], NEWRENO) for key in PRINTED if key[0] == RENO),
]
"""Settings about which the memo makes a statement in words."""
SIDE_BY_SIDE = 20
"""Number of replications of settings with a published number, with ECN-capable SYN-ACKs."""
CAPTION = "Published gains of ECN, without and with ECN-capable SYN-ACKs"
"""Caption of the table that has both interpretations of the SYN-ACK side by side."""


def by_size(tcp: str) -> list[Setting]:
    """Return the settings with all transaction sizes and all loads, with maxp 0.1."""
    return [setting(congesting, 0.1, tcp, kb) for congesting in LEVELS for kb in SIZES_KB]


def marked(at: Setting) -> Setting:
    """Return a setting with ECN-capable SYN-ACKs."""
    return replace(at, reading=SYN_ACK)


def _needs() -> Iterator[Need]:
    for tcp in TCPS:
        for at in grid(tcp):
            printed = (tcp, at.congesting, at.maxp) in PRINTED
            every = printed or at in CLAIMED
            yield Need(at, at_most=None if every else FEWER, quick=tcp == RENO and printed)
            yield Need(marked(at), at_most=SIDE_BY_SIDE if printed else FEWER, quick=False)
        for at in by_size(tcp):
            most = at.congesting == HIGH and at.size == KB * SIZES_KB[-1] and tcp == RENO
            yield Need(at, at_most=None if most else FEWER, quick=most)
            yield Need(marked(at), at_most=SIDE_BY_SIDE if most else FEWER, quick=False)


def published(at: Setting) -> float | None:
    """Return the published gain in % of a setting, or None."""
    small = at.size == KB * SMALL
    return PRINTED.get((at.tcp, at.congesting, at.maxp)) if small else None


def _row(runs: Runs, section: Section, many: list[Setting]) -> list[str | Entry]:
    row: list[str | Entry] = []
    for at in many:
        if not runs.has(at):
            row.append("–")
            continue
        counted = at.reading != SYN_ACK
        one = cell("transactions", runs, at, published(at), again=not counted)
        if one not in section.cells:  # both tables have this size
            section.cells.append(one)
        row.append(entry(one))
    return row


def _side_by_side(runs: Runs) -> Table:
    """Return the published gains beside our gains with both interpretations of the SYN-ACK."""
    rows: list[list[str | Entry]] = []
    for (tcp, congesting, maxp), printed in PRINTED.items():
        at = setting(congesting, maxp, tcp)
        case = f"{tcp}, {SMALL} KB, {LEVELS[congesting]} congestion, maxp {maxp:g}"
        ours = (entry(cell("", runs, one, printed)) for one in (at, marked(at)))
        rows.append([case, f"{printed:g} %", *(replace(one, sub=_interval(one)) for one in ours)])
    for tcp in TCPS:
        for kb in SIZES_KB:
            at = setting(HIGH, 0.1, tcp, kb)
            if published(at) is None:
                case = f"{tcp}, {kb} KB, {LEVELS[HIGH]} congestion, maxp 0.1"
                rows.append([case, "–", *(entry(cell("", runs, one)) for one in (at, marked(at)))])
    head = ["Transactions", "Published", "SYN-ACK not ECN-capable", "SYN-ACK ECN-capable"]
    return Table(CAPTION, head, rows)


def _interval(one: Entry) -> str:
    """Return the interval of an entry without the published number, which has its own column."""
    return one.sub.splitlines()[-1]


def _make(runs: Runs) -> Section:
    section = Section(
        [
            "A client with ECN and a client without ECN make transactions for three minutes, "
            "beginning after 20 s. In each transaction the client opens a connection, sends a "
            "request of 1 KB, and receives the response. After the connection is closed, the next "
            "transaction begins at once. The gain is the transaction rate of the client with ECN "
            "minus the rate of the client without ECN, in % of the rate without ECN. The tables "
            "have paired means of the replications with 95 % intervals. An entry is green if its "
            "interval is above 0, or if the published number is reproduced.",
            "The memo says that all packets other than pure ACKs are ECN-capable, and also that a "
            "sender sets ECT from the end of the negotiation on, as in RFC 2481. The SYN-ACK is "
            "not a pure ACK, but it is part of the negotiation. The score counts SYN-ACKs that are "
            "not ECN-capable; the tables have both interpretations.",
        ]
    )
    if not runs.quick:
        section.tables.append(_side_by_side(runs))
    for tcp in TCPS:
        for reading, about in SYN_ACKS.items():
            _gains(runs, section, tcp, reading, about)
    section.figures.append(_figure(runs))
    return section


SYN_ACKS = {AS_READ: "", SYN_ACK: ", ECN-capable SYN-ACKs"}
"""Interpretations of the SYN-ACK, and their part of a table's caption."""


def _gains(runs: Runs, section: Section, tcp: str, reading: Reading, about: str) -> None:
    """Add the tables of a TCP variant under one interpretation of the SYN-ACK, if they were run."""

    def at(congesting: int, maxp: float, kb: int = SMALL) -> Setting:
        return replace(setting(congesting, maxp, tcp, kb), reading=reading)

    rows = [
        [f"{name} ({n} flows)", *_row(runs, section, [at(n, p) for p in MAXP])]
        for n, name in LEVELS.items()
    ]
    rows = [row for row in rows if any(isinstance(one, Entry) for one in row)]
    if not rows:
        return
    head = ["Congestion", *(f"maxp {maxp:g}" for maxp in MAXP)]
    caption = f"{tcp}: gain of ECN, transactions of {SMALL} KB{about}"
    section.tables.append(Table(caption, head, rows))
    rows = [
        [f"{name} ({n} flows)", *_row(runs, section, [at(n, 0.1, kb) for kb in SIZES_KB])]
        for n, name in LEVELS.items()
    ]
    rows = [row for row in rows if any(isinstance(one, Entry) for one in row)]
    head = ["Congestion", *(f"{kb} KB" for kb in SIZES_KB)]
    caption = f"{tcp}: gain of ECN by size of the response, maxp 0.1{about}"
    section.tables.append(Table(caption, head, rows))
    section.tables.append(_rates(runs, section, tcp, reading, about))


def _rates(runs: Runs, section: Section, tcp: str, reading: Reading, about: str) -> Table:
    """Return a table of transaction rates, and of recoveries per 100 transactions."""
    rows: list[list[str | Entry]] = []
    settings = dict.fromkeys([*grid(tcp), *by_size(tcp)])
    for at in (replace(one, reading=reading) for one in settings):
        if not runs.has(at):
            continue
        ran: list[Outcome] = runs.of(at)
        row: list[str | Entry] = [f"{at.size // KB} KB, {LEVELS[at.congesting]}, maxp {at.maxp:g}"]
        for which, values in zip(("on", "off"), both(runs, at), strict=True):
            flows = [getattr(run, which) for run in ran]
            section.cells.append(
                Cell("transactions", at.columns() | {"flow": which}, "transaction_rate", "1/s",
                     estimates.mean(values))
            )  # fmt: skip
            done = sum(f.transactions for f in flows)
            counts = (sum(getattr(f, key) for f in flows) for key in RECOVERIES)
            recoveries = " / ".join(f"{100 * count / done:.1f}" for count in counts)
            row += [f"{np.mean(values):.2f}", recoveries]
        rows.append(row)
    what = (
        "per 100 transactions: fast retransmits / timeouts of the server / timeouts of the client"
    )
    head = ["", "ECN: per second", f"ECN, {what}", "non-ECN: per second", f"non-ECN, {what}"]
    caption = f"{tcp}: transactions per second, fast retransmits and timeouts{about}"
    return Table(caption, head, rows)


def _figure(runs: Runs) -> Figure:
    figure, panels = sheet(1, 3, size=(11, 4.2), sharey=True)
    loads, rates, sizes = panels
    for i, tcp in enumerate(TCPS):
        for axes, over in (
            (loads, {n: setting(n, 0.1, tcp) for n in LEVELS}),
            (rates, {p: setting(HIGH, p, tcp) for p in MAXP}),
            (sizes, {kb: setting(HIGH, 0.1, tcp, kb) for kb in SIZES_KB}),
        ):
            points = [(x, gain(runs, at)) for x, at in over.items() if runs.has(at)]
            if points:
                curve(axes, i, tcp, points)
    for i, tcp in enumerate((RENO, SACK)):
        style = {"linestyle": "none", "marker": "*x"[i], "markersize": 10, "color": "#555555"}
        for axes, by in ((loads, 1), (rates, 2)):
            where = [(k[by], v) for k, v in PRINTED.items()
                     if k[0] == tcp and (k[2] == 0.1 if by == 1 else k[1] == HIGH)]  # fmt: skip
            axes.plot(
                [x for x, _ in where], [v for _, v in where], label=f"{tcp}, published", **style
            )
    for axes, ticks, about in (
        (loads, LEVELS, "congesting flows (5 KB, maxp 0.1)"),
        (rates, MAXP, "maxp (5 KB, 10 flows)"),
        (sizes, SIZES_KB, "size (KB; 10 flows, maxp 0.1)"),
    ):
        axes.set_xlabel(about)
        axes.axhline(0, color="#555555", linewidth=0.8)
        if axes is rates:
            axes.set_xscale("log")
            axes.minorticks_off()
        axes.set_xticks(list(ticks), [f"{x:g}" for x in ticks])
    loads.set_ylabel("gain of ECN (%)")
    legend_below(figure, loads, 5)
    about = (
        "Gain of ECN in transactions per second. The three panels show the gain against the "
        "number of congesting flows, against the maximum drop rate, and against the size of a "
        "response. The figure shows our means with 95 % intervals, and the published numbers."
    )
    return Figure("transactions", about, figure)


ITEM = Item("transactions", "Section 5.3: transactions", _needs, _make)
