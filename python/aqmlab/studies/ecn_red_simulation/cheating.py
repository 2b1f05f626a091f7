"""Misbehaving endpoints: receivers that hide marks, senders that ignore marks, and the nonce.

Sections II and III of the study describe misbehaving endpoints, but give no results. The item
`cheating` of this reproduction measures the share of the link that misbehaving sessions get.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aqmlab import estimates
from aqmlab.estimates import Estimate
from aqmlab.measures import Measure
from aqmlab.report import Entry, Table
from aqmlab.scenario import with_keys
from aqmlab.studies.ecn_red_simulation import pairs
from aqmlab.studies.ecn_red_simulation.scenarios import BULK_BYTES, ECN, SINGLE, Case, Setting
from aqmlab.studies.ecn_red_simulation.tallies import DROPS, MARKS, TIMEOUTS, Tally
from aqmlab.studies.framework import Cell, Item, Need, Runs, Section

CHEATS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "honest": ({}, {}),
    "receivers hide marks": ({}, {"ecn.misbehaviour": "hide-marks"}),
    "senders ignore ECN-Echo": ({"ecn.misbehaviour": "ignore-ece"}, {}),
    "receivers hide marks, nonce": ({"ecn.mode": "nonce"}, {"ecn.misbehaviour": "hide-marks"}),
    "honest, nonce": ({"ecn": "nonce"}, {}),
}
"""TCP keys of the possibly misbehaving sessions: keys of both endpoints, and of receivers only."""

VICTIMS: dict[str, tuple[int, str]] = {
    "1 MB, ECN": (BULK_BYTES, "rfc3168"),
    "1 MB, no ECN": (BULK_BYTES, "off"),
    "10 kB, ECN": (10_000, "rfc3168"),
    "10 kB, no ECN": (10_000, "off"),
}
"""File size and ECN mode of the sessions whose endpoints respond to marks correctly."""

CASE = Case(10, 10, 120, 0.002, 6, BULK_BYTES, 0.0)
"""Case of every setting in this module.

The case has six sessions per client, and a wide region between the thresholds of RED.
"""

THEIRS = Measure[Tally]("goodput_of_others", "kbit/s", lambda t: t.goodput_bps[0], 1, scale=1e-3)
ITS = Measure[Tally]("goodput_of_suspects", "kbit/s", lambda t: t.goodput_bps[1], scale=1e-3)


@dataclass(frozen=True)
class Beside:
    """Setting with six sessions that follow the protocol, and six sessions that may misbehave."""

    victims: str
    cheats: str

    def columns(self) -> dict[str, Any]:
        """Return the columns of cells.csv that describe the scenario."""
        return {"network": SINGLE, "others": self.victims, "suspects": self.cheats}

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication of this setting."""
        scenario = Setting(SINGLE, CASE, ECN).scenario(replication)
        others, suspects = scenario["flows"]
        size, ecn = VICTIMS[self.victims]
        others |= {"traffic": {"kind": "bulk", "size": f"{size} B"}, "tcp": {"ecn": ecn}}
        sender, receiver = CHEATS[self.cheats]
        suspects |= {"tcp": with_keys({}, sender), "receiver_tcp": with_keys({}, sender | receiver)}
        return scenario | {"title": f"{self.victims} beside {self.cheats}"}


EVERY = [Beside(v, c) for v, c in itertools.product(VICTIMS, CHEATS)]


def _needs() -> Iterator[Need]:
    for setting in EVERY:
        yield Need(setting, at_most=pairs.USUAL, quick=setting.victims == "1 MB, ECN")


def share(runs: Runs, setting: Beside) -> Estimate:
    """Return the suspects' share of all goodput in %: the mean and its 95 % interval."""
    return estimates.mean(100 * t.goodput_bps[1] / sum(t.goodput_bps) for t in runs.of(setting))


def _make(runs: Runs) -> Section:
    rows: list[list[str | Entry]] = []
    section = Section(
        [
            "Six sessions to host ftp3, which follow the protocol, share one congested link with "
            "six 1 MB sessions to host ftp4. The sessions to host ftp4 are called suspects, "
            f"because they may misbehave. The queue is RED with maxth {CASE.maxth}, linterm "
            f"{CASE.linterm} and wq {CASE.wq}, and the link has a delay of {CASE.delay_ms} ms. If "
            "all sessions get a fair share of the link, the suspects get half of the total "
            "goodput.",
            "If the receiver hides marks, or the sender ignores marks, the sender responds only "
            "to drops. The sender's share of the link therefore grows until RED's average is "
            "above maxth, where RED drops packets. A sender with the ECN nonce (RFC 3540) expects "
            "a sum that a receiver can compute only from unmarked packets. A receiver that hides "
            "a mark has to guess the nonce sum, and every second guess is wrong. If the nonce sum "
            "is wrong, the sender reduces cwnd as if the receiver had reported the mark. The "
            "nonce does not protect against a misbehaving sender.",
        ]
    )
    for setting in EVERY:
        if not runs.has(setting):
            continue
        taken = share(runs, setting)
        fair = share(runs, Beside(setting.victims, "honest"))
        kind = ""
        if setting.cheats != "honest":
            kind = "bad" if taken.low > fair.high else "good" if taken.high < fair.high + 5 else ""
        row: list[str | Entry] = [setting.victims, setting.cheats]
        row += [_mean(runs, setting, m) for m in (THEIRS, ITS)]
        row.append(Entry(f"{taken.value:.1f}", f"{taken.low:.1f} to {taken.high:.1f}", kind))
        row += [_mean(runs, setting, m) for m in (DROPS, MARKS, TIMEOUTS)]
        rows.append(row)
        for m in (THEIRS, ITS, DROPS, MARKS, TIMEOUTS):
            section.cells.append(Cell.of("cheating", setting.columns(), m, runs.of(setting)))
    head = [
        "Others", "Suspects", "Goodput of the others (kbit/s)",
        "Goodput of the suspects (kbit/s)",
        "Suspects' share (%)", "Drops", "Marks", "Timeouts",
    ]  # fmt: skip
    section.tables.append(Table("Shares of misbehaving endpoints", head, rows))
    return section


def _mean(runs: Runs, setting: Beside, measure: Measure[Tally]) -> str:
    mean = estimates.mean(measure.scale * measure.of(run) for run in runs.of(setting))
    return f"{mean.value:.1f}" if mean.value < 1000 else f"{mean.value:.0f}"


ITEM = Item(
    "cheating", "Endpoints that hide or ignore marks, and the nonce", _needs, _make, scored=False
)
