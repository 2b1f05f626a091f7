"""Figures 2 to 5 and Table 1 with lognormal object sizes, and with senders that ignore marks.

The paper gives two numbers about its object sizes, and several distributions have both. This item
also shows which property of the object sizes decides whether ECN is worse than no ECN with RED*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aqmlab import estimates
from aqmlab.estimates import Estimate
from aqmlab.figures.style import look, sheet
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Figure, Item, Need, Runs, Section
from aqmlab.studies.power_of_ecn.mixes import BLENDS, CAPPED, SIGMA, SIGMAS, share_below
from aqmlab.studies.power_of_ecn.outcomes import LARGE, SMALL
from aqmlab.studies.power_of_ecn.profiles import LOADS
from aqmlab.studies.power_of_ecn.readings import IGNORING, SECONDS
from aqmlab.studies.power_of_ecn.scenarios import AS_READ, LASTS_S, REPLICATIONS, Reading, Setting
from aqmlab.studies.power_of_ecn.showing import (
    SYN_ACK_LOSS,
    THROUGHPUT,
    WITHIN,
    Quantity,
    finish,
    gain,
    mean,
    relative_gain,
    with_interval,
)
from aqmlab.studies.power_of_ecn.table_1 import PRINTED as THROUGHPUTS
from aqmlab.studies.power_of_ecn.table_1 import RULE, shown
from aqmlab.studies.power_of_ecn.words import (
    ECN,
    ENDS,
    LIGHT,
    LOGNORMAL,
    OFF,
    PERSISTENT,
    RED_STAR,
    SCHEMES,
    WEB,
)

CASES: dict[tuple[str, Reading], str] = {
    (WEB, AS_READ): "Pareto tail",
    (WEB, IGNORING): "Pareto tail, senders ignore marks",
    (LOGNORMAL, AS_READ): "lognormal",
    (LOGNORMAL, IGNORING): "lognormal, senders ignore marks",
}
"""Object sizes and senders of the tables; the first case is the one that the score counts."""
PRINTED = {(RED_STAR, OFF, LIGHT): 75.0, (RED_STAR, ECN, LIGHT): 30.0}
"""Published shares of responses within 0.5 s, in % (section 4.3.1)."""
GAINS = {(RED_STAR, LIGHT): 6, (RED_STAR, PERSISTENT): 20}
"""Published throughput gains of ECN+ over ECN, in % (section 4.4)."""
FAMILIES: dict[str, tuple[str, ...]] = {
    "Pareto tail, mixed with lognormal sizes": (WEB, *BLENDS, LOGNORMAL),
    "lognormal, other values of sigma": tuple(SIGMAS),
    "Pareto tail up to 1 MB": (CAPPED,),
}
"""Object sizes of the figure, in families of distributions that differ in one number."""


def setting(scheme: str, ends: str, load: int, mix: str, reading: Reading) -> Setting:
    """Return the setting of a case; the case that the score counts has its own long runs."""
    at = Setting(scheme, ends, load, mix, seconds=SECONDS, reading=reading)
    return replace(at, seconds=LASTS_S) if (mix, reading) == (WEB, AS_READ) else at


def _by_sizes(ends: str, mix: str) -> Setting:
    return Setting(RED_STAR, ends, PERSISTENT, mix, seconds=SECONDS)


def _needs() -> Iterator[Need]:
    for mix, reading in CASES:
        for load in LOADS:
            for scheme in SCHEMES:
                for ends in ENDS:
                    at = setting(scheme, ends, load, mix, reading)
                    yield Need(at, at_most=REPLICATIONS, quick=False)
    for mixes in FAMILIES.values():
        for mix in mixes:
            for ends in (OFF, ECN):
                yield Need(_by_sizes(ends, mix), at_most=REPLICATIONS, quick=False)


def _shown(
    runs: Runs, section: Section, at: Setting, quantity: Quantity, printed: float | None
) -> Entry:
    """Return a table entry with our mean and the published number, and add it to the cells."""
    ours = mean(runs, at, quantity)
    rule = None if printed is None else RULE
    one = Cell("sizes", at.columns(), quantity[0], quantity[1], ours, printed, rule)
    section.cells.append(one)
    return shown(one)


def _difference(section: Section, at: Setting, name: str, unit: str, of: Estimate) -> Entry:
    """Return a table entry with a difference, green above 0 and red below 0."""
    section.cells.append(Cell("sizes", at.columns(), name, unit, of))
    return with_interval(of, kind="good" if of.low > 0 else "bad" if of.high < 0 else "")


def _table(runs: Runs, section: Section, load: int) -> Table:
    rows: list[list[str | Entry]] = []
    for scheme in SCHEMES:
        for (mix, reading), name in CASES.items():
            none, ecn, plus = every = [setting(scheme, ends, load, mix, reading) for ends in ENDS]
            row: list[str | Entry] = [f"{scheme}: {name}"]
            for quantity, printed in ((WITHIN, PRINTED), (THROUGHPUT, THROUGHPUTS)):
                row += [
                    _shown(runs, section, at, quantity, printed.get((scheme, at.ends, load)))
                    for at in every
                ]
            harm = estimates.mean(gain(runs, ecn, none, WITHIN))
            of_plus = estimates.mean(relative_gain(runs, plus, ecn, THROUGHPUT))
            more = _difference(section, ecn, "ecn_plus_over_ecn_throughput", "%", of_plus)
            if (scheme, load) in GAINS:
                more = Entry(more.text, f"published {GAINS[scheme, load]}\n{more.sub}", more.kind)
            unit = "percentage points"
            row.insert(4, _difference(section, ecn, "ecn_minus_none_within_0.5_s", unit, harm))
            rows.append([*row, more])
    head = [
        "Scheme: object sizes",
        *(f"Within 0.5 s, {name} (%)" for name in ENDS.values()),
        "ECN minus no ECN (points)",
        *(f"Throughput, {name} (%)" for name in ENDS.values()),
        "ECN+ over ECN (%)",
    ]
    return Table(f"Object sizes and senders, {load} % load", head, rows)


def _figure(runs: Runs, section: Section) -> tuple[Figure, Table]:
    """Plot the gain of ECN against the share of bytes in objects of at most `LARGE` bytes."""
    drawing, axes = sheet(size=(6.4, 4.4))
    rows: list[list[str | Entry]] = []
    for i, (family, mixes) in enumerate(FAMILIES.items()):
        shares = [share_below(mix, LARGE) for mix in mixes]
        gains = [
            estimates.mean(gain(runs, _by_sizes(ECN, mix), _by_sizes(OFF, mix), WITHIN))
            for mix in mixes
        ]
        bars = [[of.value - of.low for of in gains], [of.high - of.value for of in gains]]
        colour, marker = look(i)
        axes.errorbar(shares, [of.value for of in gains], bars, label=family, color=colour,
                      marker=marker, markersize=5, capsize=3, linewidth=1.1,
                      linestyle="-" if len(mixes) > 2 else "none")  # fmt: skip
        for mix, share, of in zip(mixes, shares, gains, strict=True):
            at = _by_sizes(ECN, mix)
            entry = _difference(section, at, "ecn_minus_none_by_sizes", "percentage points", of)
            lost = with_interval(mean(runs, at, SYN_ACK_LOSS))
            small = f"{share_below(mix, SMALL):.0f}"
            rows.append([mix, small, f"{share:.0f}", entry, lost])
    axes.axhline(0, color="0.6", linewidth=0.8, zorder=0)
    axes.set_xlabel(f"bytes in objects of at most {LARGE // 1000} kB (%)")
    axes.set_ylabel("ECN minus no ECN (points)")
    caption = (
        f"Responses within 0.5 s with RED* at {PERSISTENT} % load: ECN minus no ECN, in percentage "
        f"points with 95 % intervals, against the share of bytes in objects of at most "
        f"{LARGE // 1000} kB."
    )
    head = [
        "Object sizes",
        *(f"Bytes in objects of at most {limit // 1000} kB (%)" for limit in (SMALL, LARGE)),
        "Within 0.5 s: ECN minus no ECN (points)",
        "SYN-ACKs dropped with ECN (%)",
    ]
    about = f"RED* at {PERSISTENT} % load, by the distribution of object sizes"
    return Figure("sizes", caption, finish(drawing, axes, 1)), Table(about, head, rows)


def _make(runs: Runs) -> Section:
    if not runs.has(_by_sizes(OFF, LOGNORMAL)):
        return Section(["The quick form leaves out other object sizes."])
    section = Section(
        [
            "Two distributions have both published numbers of the object sizes (a mean of 7.2 kB, "
            "and 80 % of the bytes in the largest 15 % of the objects): a distribution with a "
            f"Pareto tail up to 1 GB, and a lognormal distribution with a sigma of {SIGMA}. The "
            "score counts the Pareto tail, because section 4.2 of the paper names a heavy-tailed "
            "distribution with objects of gigabytes. The lognormal distribution has no such "
            "objects.",
            "Senders that ignore marks negotiate ECN and send ECN-capable packets, but do not "
            "reduce cwnd after a mark. The paper does not describe such senders.",
            f"The runs have as many replications as figures 2 to 5, of {LASTS_S} s for the Pareto "
            f"tail with senders that respond to marks, and of {SECONDS} s for the other rows. The "
            "numbers of users are calibrated for each distribution. Differences are paired by "
            "replication, and are green if the interval is above 0, and red if it is below 0.",
        ]
    )
    section.tables = [_table(runs, section, load) for load in LOADS]
    figure, table = _figure(runs, section)
    section.figures.append(figure)
    section.tables.append(table)
    return section


ITEM = Item("sizes", "Object sizes, and senders that ignore marks", _needs, _make, scored=False)
