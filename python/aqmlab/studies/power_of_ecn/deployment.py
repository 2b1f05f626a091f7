"""Figure 10: response times of both kinds of clients, by the share of clients with ECN."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab import estimates
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Figure, Item, Need, Runs, Section
from aqmlab.studies.power_of_ecn.outcomes import Outcome, Responses
from aqmlab.studies.power_of_ecn.scenarios import Setting
from aqmlab.studies.power_of_ecn.showing import curve, finish, panels, with_interval
from aqmlab.studies.power_of_ecn.words import DEPLOYED, ECN_PLUS, RED

SHARES = (1, 10, 19)
"""Numbers of clients with ECN out of 20 clients, which are 5, 50 and 95 %."""
KINDS = {"ecn": "clients with ECN", "plain": "clients without ECN"}
SCHEMES = (RED,)


def setting(scheme: str, share: int) -> Setting:
    """Return a setting in which `share` of 20 clients have ECN, and all servers have ECN+."""
    return Setting(scheme, ECN_PLUS, DEPLOYED, share=share)


def of_kind(runs: Runs, at: Setting, kind: str) -> list[Responses]:
    """Return the response times of one kind of clients, one histogram per replication."""
    ran: list[Outcome] = runs.of(at)
    return [run.kinds[kind] for run in ran]


def _needs() -> Iterator[Need]:
    for scheme in SCHEMES:
        for share in SHARES:
            yield Need(setting(scheme, share))


def _make(runs: Runs) -> Section:
    section = Section(
        [
            f"All servers have ECN+, and the load is {DEPLOYED} %. In the runs, 5, 50 or 95 % of "
            "the clients have ECN. All runs of a replication have the same requests by the same "
            "clients.",
        ]
    )
    rows: list[list[str | Entry]] = []
    for scheme in SCHEMES:
        if not runs.has(setting(scheme, SHARES[0])):
            continue
        figure, axes = panels(list(KINDS.values()))
        for panel, (kind, name) in zip(axes, KINDS.items(), strict=True):
            for i, share in enumerate(SHARES):
                at = setting(scheme, share)
                responses = of_kind(runs, at, kind)
                curve(panel, i, f"{5 * share} % have ECN", responses)
                within, profile = (
                    estimates.mean(100 * read(r) for r in responses)
                    for read in (lambda r: r.within(0.5), Responses.profile)
                )
                columns = at.columns() | {"clients": name}
                section.cells += [
                    Cell("figure-10", columns, "response_within_0.5_s", "%", within),
                    Cell("figure-10", columns, "mean_cdf_to_2_s", "%", profile),
                ]
                rows.append(
                    [
                        f"{scheme}, {5 * share} %: {name}",
                        with_interval(within),
                        with_interval(profile),
                    ]
                )
        caption = (
            f"Figure 10: response times during the deployment of ECN, with {scheme} at {DEPLOYED} "
            "% load."
        )
        name = "figure-10" if scheme == RED else "figure-10-red-star"
        section.figures.append(Figure(name, caption, finish(figure, axes[0])))
    head = [
        "Scheme, share of clients with ECN: kind of client",
        "Within 0.5 s (%)",
        "Mean of the profile (%)",
    ]
    section.tables.append(Table("Incremental deployment", head, rows))
    return section


ITEM = Item("figure-10", "Figure 10: incremental deployment", _needs, _make)
