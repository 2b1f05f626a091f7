"""Figure 10: response times of both kinds of clients, by the share of clients with ECN."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aqmlab import estimates
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Figure, Item, Need, Runs, Section
from aqmlab.studies.power_of_ecn.outcomes import Outcome, Responses
from aqmlab.studies.power_of_ecn.readings import SECONDS, WAITING
from aqmlab.studies.power_of_ecn.scenarios import PAGE_GAP, REPLICATIONS, Setting, scenario
from aqmlab.studies.power_of_ecn.showing import (
    THROUGHPUT,
    curve,
    finish,
    over,
    panels,
    with_interval,
)
from aqmlab.studies.power_of_ecn.words import DEPLOYED, ECN_PLUS, RED

SHARES = (1, 10, 19)
"""Numbers of clients with ECN out of 20 clients, which are 5, 50 and 95 %."""
KINDS = {"ecn": "clients with ECN", "plain": "clients without ECN"}
BUSY_USERS, BUSY_GAP = 1000, "0.5 s"
"""Number of users of the closed loop, and their mean time from the end of a page to the next."""


@dataclass(frozen=True)
class Closed:
    """Setting of a closed loop: users who wait for their pages, and then for `BUSY_GAP` on average.

    Parameters
    ----------
    share : int
        Number of clients with ECN, out of 20.
    """

    share: int

    def columns(self) -> dict[str, Any]:
        """Return the columns of cells.csv that describe the scenario."""
        return {"scheme": RED, "users": BUSY_USERS, "ecn_clients": 5 * self.share}

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication of this setting."""
        at = Setting(RED, ECN_PLUS, DEPLOYED, share=self.share, seconds=SECONDS, reading=WAITING)
        base = scenario(at, replication, BUSY_USERS)
        gap = {"page_gap": PAGE_GAP | {"mean": BUSY_GAP}}
        flows = [flow | {"traffic": flow["traffic"] | gap} for flow in base["flows"]]
        return base | {"title": f"Closed loop, {5 * self.share} % have ECN", "flows": flows}


def setting(share: int) -> Setting:
    """Return a setting in which `share` of 20 clients have ECN, and all servers have ECN+."""
    return Setting(RED, ECN_PLUS, DEPLOYED, share=share)


LOOPS: Mapping[str, Mapping[int, Setting | Closed]] = {
    "open loop": {share: setting(share) for share in SHARES},
    "users wait for their pages": {
        share: Setting(RED, ECN_PLUS, DEPLOYED, share=share, seconds=SECONDS, reading=WAITING)
        for share in SHARES
    },
    f"users wait for their pages, and for only {BUSY_GAP}": {
        share: Closed(share) for share in SHARES
    },
}
"""Settings by share of clients with ECN; the first loop is the one that the score counts."""
OPEN, *_, CLOSED = LOOPS


def of_kind(runs: Runs, at: Setting | Closed, kind: str) -> list[Responses]:
    """Return the response times of one kind of clients, one histogram per replication."""
    ran: list[Outcome] = runs.of(at)
    return [run.kinds[kind] for run in ran]


def changes(runs: Runs, loop: str) -> list[float]:
    """Return the change of the profile of clients without ECN, for each replication.

    The change is the mean profile at 95 % deployment minus that at 5 % deployment, in percentage
    points.
    """
    first, last = (
        [100 * r.profile() for r in of_kind(runs, LOOPS[loop][share], "plain")]
        for share in (SHARES[0], SHARES[-1])
    )
    return [b - a for a, b in zip(first, last, strict=True)]


def _needs() -> Iterator[Need]:
    for loop, settings in LOOPS.items():
        for at in settings.values():
            yield Need(at, at_most=REPLICATIONS, quick=loop == OPEN)


def _make(runs: Runs) -> Section:
    section = Section(
        [
            f"All servers have ECN+, and the load is {DEPLOYED} %. In the runs, 5, 50 or 95 % of "
            "the clients have ECN. All runs of a replication have the same requests by the same "
            "clients.",
        ]
    )
    figure, axes = panels(list(KINDS.values()))
    for panel, kind in zip(axes, KINDS, strict=True):
        for i, (share, at) in enumerate(LOOPS[OPEN].items()):
            curve(panel, i, f"{5 * share} % have ECN", of_kind(runs, at, kind))
    caption = (
        f"Figure 10: response times during the deployment of ECN, with {RED} at {DEPLOYED} % load."
    )
    section.figures.append(Figure("figure-10", caption, finish(figure, axes[0])))
    head = [
        "Users, share of clients with ECN",
        *(f"{name}: {column}" for name in KINDS.values()
          for column in ("within 0.5 s (%)", "mean of the profile (%)")),
        "Throughput (%)",
    ]  # fmt: skip
    rows = [
        _row(runs, section, loop, at)
        for loop, settings in LOOPS.items() for at in settings.values() if runs.has(at)
    ]  # fmt: skip
    section.tables.append(Table("Incremental deployment", head, rows))
    if runs.has(LOOPS[CLOSED][SHARES[0]]):
        parts = [
            f"{loop}: {estimates.mean(changes(runs, loop))} percentage points" for loop in LOOPS
        ]
        section.text.append(
            "In the closed loops, users wait for a page before their time to the next page begins. "
            f"The last loop has {BUSY_USERS} users with a mean time of {BUSY_GAP} between pages, "
            "so the number of requests depends on the response times. Change of the mean profile "
            "of clients without ECN from 5 to 95 % deployment, in percentage points (PE-049): "
            f"{'; '.join(parts)}. By the paper, these clients become slower."
        )
    return section


def _row(runs: Runs, section: Section, loop: str, at: Setting | Closed) -> list[str | Entry]:
    """Return a table row with the response times of both kinds of clients."""
    row: list[str | Entry] = [f"{loop}, {5 * at.share} %"]
    for kind, name in KINDS.items():
        responses = of_kind(runs, at, kind)
        columns = at.columns() | {"clients": name, "users": loop}
        for quantity, values in (
            ("response_within_0.5_s", [100 * r.within(0.5) for r in responses]),
            ("mean_cdf_to_2_s", [100 * r.profile() for r in responses]),
        ):
            of = estimates.share(values)
            section.cells.append(Cell("figure-10", columns, quantity, "%", of))
            row.append(with_interval(of))
    of = over(THROUGHPUT, runs.of(at))
    columns = at.columns() | {"users": loop}
    section.cells.append(Cell("figure-10", columns, THROUGHPUT[0], THROUGHPUT[1], of))
    return [*row, with_interval(of)]


ITEM = Item("figure-10", "Figure 10: incremental deployment", _needs, _make)
