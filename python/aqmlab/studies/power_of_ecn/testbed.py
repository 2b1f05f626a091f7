"""Section 7: testbed in which clients wait for their pages (figures 11 and 12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from aqmlab.figures.style import sheet
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Figure, Item, Need, Runs, Section, Tolerance
from aqmlab.studies.power_of_ecn.mixes import sizes
from aqmlab.studies.power_of_ecn.outcomes import Outcome
from aqmlab.studies.power_of_ecn.scenarios import (
    BOTTLENECK,
    CLIENTS,
    RATE_BPS,
    REPLICATIONS,
    WARM_UP_S,
    queue,
)
from aqmlab.studies.power_of_ecn.showing import (
    MEAN,
    PROFILE,
    SYN_ACK_LOSS,
    UNFINISHED,
    Quantity,
    curve,
    finish,
    over,
    panels,
    tail,
    with_interval,
)
from aqmlab.studies.power_of_ecn.table_1 import shown
from aqmlab.studies.power_of_ecn.users import BROWSERS
from aqmlab.studies.power_of_ecn.words import ECN, ECN_PLUS, ENDS, OFF, RED_STAR, UNCONGESTED, WEB

CONGESTED_BPS = 10_000_000
OFFERED_BPS = 15_000_000
"""Throughput of the browsers over the uncongested network (section 7)."""
THINK_S = 7
"""Mean time between pages in TPC-W, in s."""
LASTS_S = 300
FEW = 3

LINUX_2_4: dict[str, Any] = {
    "mss": "1448 B",
    "timestamps": True,
    "sack": True,
    "recovery": "fack",
    "initial_window": "2 segments",
    "rto": {"initial": "3 s", "min": "200 ms", "max": "120 s", "granularity": "10 ms"},
    "cwnd": {"ssthresh_from": "cwnd"},
    "ack": {"timeout": "40 ms"},
    "receive_window": "64 KiB",
    "ecn": {"min_window": "2 packets"},
}


@dataclass(frozen=True)
class Testbed:
    """Setting of the testbed: a link of 10 Mbit/s with RED*, or of 100 Mbit/s without congestion.

    Parameters
    ----------
    scheme, ends : str
        Queue and ECN mode, as in :class:`aqmlab.studies.power_of_ecn.scenarios.Setting`.
    think_s : float
        Mean think time between pages, in s.
    gap_from : str
        Event that starts the think time: the "end" or the "start" of a page.
    unit : str
        Unit in which RED* counts: "packet", or "bytes" as in Linux 2.4.
    """

    scheme: str
    ends: str
    think_s: float = THINK_S
    gap_from: str = "end"
    unit: str = "packet"

    def columns(self) -> dict[str, Any]:
        """Return the columns of cells.csv that describe the scenario."""
        ends = ENDS[self.ends]
        return {"scheme": self.scheme, "ends": ends, "think_s": self.think_s,
                "think_time_from": self.gap_from, "red_counts": self.unit}  # fmt: skip

    def scenario(self, replication: int, browsers: int | None = None) -> dict[str, Any]:
        """Return the scenario of one replication of this setting.

        The number of browsers is that of `users.py`, unless `browsers` is another number.
        """
        free = self.scheme == UNCONGESTED
        counts = {} if self.unit == "packet" else {"chance_by": self.unit}
        traffic = {
            "kind": "web",
            "page_gap": {"kind": "exponential", "mean": f"{self.think_s:g} s"},
            "page_gap_from": self.gap_from,
            "objects": {"kind": "geometric", "mean": 4},
            "request": "350 B",
            "response": sizes(WEB),
            "connections": "persistent",
        }
        return {
            "title": f"Testbed, {self.scheme}, {ENDS[self.ends]}",
            "seed": replication + 1,
            "duration": f"{WARM_UP_S + LASTS_S} s",
            "warm_up": f"{WARM_UP_S} s",
            "phase_breaking": {"start": f"{self.think_s:g} s"},
            "network": {
                "kind": "dumbbell",
                "rate": f"{RATE_BPS if free else CONGESTED_BPS} bit/s",
                "delay": "1 ms",
                "queue": queue(self.scheme) | counts,
                "left_hosts": 4,
                "left_rate": "100 Mbit/s",
                "left_delay": "0.5 ms",
                "right_hosts": CLIENTS,
                "right_rate": "100 Mbit/s",
                "right_delay": {"first": "3.5 ms", "last": "73.5 ms"},
            },
            "flows": [
                {
                    "name": "browser-{i}",
                    "count": BROWSERS[replication] if browsers is None else browsers,
                    "from": f"right-{{i%{CLIENTS}}}",
                    "to": "left-{i%4}",
                    "traffic": traffic,
                    "tcp": {"ecn": self.ends},
                }
            ],
            "tcp": LINUX_2_4,
            "record": {
                "series": ["requests", "drops"],
                "links": [BOTTLENECK],
                "flows": "table",
            },
        }


FREE = Testbed(UNCONGESTED, OFF)
CASES = {
    "uncongested network": FREE,
    "RED*, no ECN": Testbed(RED_STAR, OFF),
    "RED*, with ECN": Testbed(RED_STAR, ECN),
    "RED*, with ECN+": Testbed(RED_STAR, ECN_PLUS),
}
OPEN = {name: replace(at, gap_from="start") for name, at in CASES.items() if at is not FREE}
"""Cases in which pages do not wait for earlier pages, so the load stays at 150 % of the link."""
IN_BYTES = {name: replace(at, unit="bytes") for name, at in CASES.items() if at is not FREE}
"""Cases in which RED* counts bytes, as the RED of Linux 2.4 does."""
PRINTED = {OFF: (44, 26), ECN: (56, 4.5), ECN_PLUS: (99, 0.5)}
"""Published throughput in % of the link, and published mean response time in s."""
SHARE_RULE = Tolerance.of("5 % of the link rate", 5)
TIME_RULE = Tolerance.larger_of(0, 0.25)


def share(run: Outcome) -> float:
    """Return the throughput in % of 10 Mbit/s."""
    return 100 * run.throughput * RATE_BPS / CONGESTED_BPS


THROUGHPUT: Quantity = ("throughput", "% of 10 Mbit/s", share)
SERVED: Quantity = ("responses", "1/s", lambda run: run.served / LASTS_S)


def _needs() -> Iterator[Need]:
    yield from (Need(at, at_most=REPLICATIONS) for at in CASES.values())
    for at in (*OPEN.values(), *IN_BYTES.values()):
        yield Need(at, at_most=FEW, quick=False)


def _make(runs: Runs) -> Section:
    section = Section(
        [
            "Emulated browsers wait for some time (think time) between pages, and use one "
            "persistent connection per page. The first row shows the throughput of the browsers "
            "over a link of 100 Mbit/s, in % of 10 Mbit/s. In each replication, the number of "
            "browsers is calibrated so that the throughput over the link of 100 Mbit/s is "
            f"{OFFERED_BPS / 1e6:g} Mbit/s, as in the paper. The numbers of browsers are "
            f"{', '.join(map(str, BROWSERS))}.",
        ]
    )
    figure, (profile,) = panels(["Figure 11"])
    figure.set_size_inches(6, 4.2)
    drawing, axes = sheet(size=(6, 4.2))
    for i, (name, at) in enumerate(CASES.items()):
        responses = [run.all for run in runs.of(at)]
        curve(profile, i, name, responses, dashed=at is FREE)
        tail(axes, i, name, responses)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(0.02, 200)
    axes.set_ylim(1e-5, 1.2)
    axes.set_xlabel("response time (s)")
    axes.set_ylabel("share of slower responses")
    section.figures = [
        Figure("figure-11", "Figure 11: distribution of response times.",
               finish(figure, profile, 2)),
        Figure("figure-12", "Figure 12: complement of the distribution of response times, on "
               "logarithmic axes.",
               finish(drawing, axes, 2)),
    ]  # fmt: skip
    head = ["", "Throughput (% of 10 Mbit/s)", "Mean response time (s)", "Mean of the profile (%)",
            "SYN-ACKs dropped (%)", "Responses per s", "Unfinished requests (%)"]  # fmt: skip
    section.tables.append(Table("The testbed", head, _rows(runs, section, CASES)))
    if runs.has(OPEN["RED*, no ECN"]):
        section.text.append(
            "In the second table, we interpret the paper's “mean time between the openings of two "
            "successive connections” as an arrival process that does not wait for pages, so the "
            "overload persists. For a request that is unfinished at the end of the run, the time "
            "since the request counts as its response time."
        )
        section.tables.append(Table("Pages at fixed times", head, _rows(runs, section, OPEN)))
        in_bytes = _rows(runs, section, IN_BYTES)
        section.tables.append(Table("RED* that counts bytes (Linux 2.4)", head, in_bytes))
    return section


def _rows(runs: Runs, section: Section, cases: Mapping[str, Testbed]) -> list[list[str | Entry]]:
    """Return one table row per case, with published numbers, and add the cells to the section."""
    rows: list[list[str | Entry]] = []
    for name, at in cases.items():
        there = at is not FREE and at in CASES.values()
        printed = PRINTED[at.ends] if there else (None, None)
        row: list[str | Entry] = [name]
        for quantity, number, rule in (
            (THROUGHPUT, printed[0], SHARE_RULE), (MEAN, printed[1], TIME_RULE),
            (PROFILE, None, None), (SYN_ACK_LOSS, None, None), (SERVED, None, None),
            (UNFINISHED, None, None),
        ):  # fmt: skip
            ours = over(quantity, runs.of(at))
            one = Cell("testbed", at.columns(), quantity[0], quantity[1], ours, number,
                       rule if number else None)  # fmt: skip
            section.cells.append(one)
            row.append(shown(one) if number else with_interval(ours))
        rows.append(row)
    return rows


ITEM = Item("testbed", "Section 7: the testbed (figures 11 and 12)", _needs, _make)
