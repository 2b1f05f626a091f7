"""Section 5.2.2: the paper's queueing model M[X]/M/1 and simulations (figures 7 to 9)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from aqmlab import estimates
from aqmlab.estimates import Estimate
from aqmlab.figures import models as drawn
from aqmlab.measures import MeasuredRun
from aqmlab.models.batch_queue import Batches
from aqmlab.models.bursts import ADVERTISED, DELAYED_ACKS, STATED, batches, packets_of
from aqmlab.models.figure_7 import readings
from aqmlab.models.power_of_ecn import CAPACITIES, LOAD, TARGET_S, late_by_load, mean_by_flow_size
from aqmlab.report import Entry, Table
from aqmlab.results import Result
from aqmlab.studies.framework import Cell, Figure, Item, Need, Runs, Section
from aqmlab.studies.power_of_ecn.mixes import sizes
from aqmlab.studies.power_of_ecn.scenarios import (
    BOTTLENECK,
    RATE_BPS,
    TCP,
    Setting,
    scenario,
)
from aqmlab.studies.power_of_ecn.words import FIFO, GENERAL, OFF, WEB
from aqmlab.traffic import distribution

MSS, WIRE = 1460, 1500
"""Bytes of data in a simulated packet, and bytes of the whole packet on the wire."""
FLOWS = (1, 2, 4, 7, 10, 14, 20, 30, 45, 70, 100)
"""Flow sizes of figure 7, in packets."""
OF_TEXT = 7
"""Flow size in packets for which the text of section 5.2.2 gives the mean queue."""
LOADS = (80, 90, 98)
"""Nominal loads of the simulations for figures 8 and 9, in %."""
SECONDS, REPLICATIONS = 60, 3
LIMIT = "100000 packets"
"""Limit of a FIFO queue that is large enough to avoid drops, as in the model."""


@dataclass(frozen=True)
class Waited:
    """Reduced result of a run: histogram of waits at the bottleneck, and the link's busy time."""

    waits: tuple[float, ...]
    packets: tuple[float, ...]
    busy_s: float
    seconds: float


def reduce(result: Result) -> Waited:
    """Reduce the result of a run to the waits at the bottleneck and the busy time of the link."""
    table, links = result.columns("waits"), result.columns("links")
    at = list(links["link"]).index(BOTTLENECK)
    busy, counted_s = float(links["busy_s"][at]), MeasuredRun(result, []).seconds
    waits = tuple(float(wait) for wait in table["wait_s"])
    return Waited(waits, tuple(float(n) for n in table["packets"]), busy, counted_s)


def _recorded() -> dict[str, Any]:
    return {"series": ["waits"], "links": [BOTTLENECK], "flows": "table"}


@dataclass(frozen=True)
class Alike:
    """Setting with flows of equal size through a FIFO queue; flows start as a Poisson process."""

    packets: int
    delayed_acks: bool = False

    def columns(self) -> dict[str, Any]:
        """Return the columns of cells.csv that describe the scenario."""
        return {"flow_packets": self.packets, "delayed_acks": int(self.delayed_acks)}

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication, with load 0.8 and one flow table per window."""
        flow_bits = 8 * (WIRE * self.packets + 2 * (WIRE - MSS))  # SYN and FIN too
        users = 105
        interval_s = users / (LOAD * RATE_BPS / flow_bits)
        bulk = {"kind": "bulk", "size": f"{MSS * self.packets} B"}
        base = scenario(Setting(FIFO, OFF, 90), replication, 20)
        flows = [
            {
                "name": f"{window // 1024}-{{i}}", "count": round(share * users),
                "from": "left-{i%20}", "to": "right-{i%35}", "traffic": bulk,
                "arrivals": {"interval": f"{interval_s:.9f} s"},
                "tcp": {"receive_window": f"{window} B"},
            }
            for window, share in ADVERTISED.items()
        ]  # fmt: skip
        ack = {"delayed_ack": "2 segments" if self.delayed_acks else "1 segment"}
        network = base["network"] | {"queue": {"kind": "drop_tail", "limit": LIMIT}}
        return base | {
            "title": f"Flows of {self.packets} packets", "duration": "30 s", "warm_up": "0 s",
            "flows": flows, "network": network, "tcp": TCP | ack, "phase_breaking": {},
            "record": _recorded(),
        }  # fmt: skip


@dataclass(frozen=True)
class Mixed:
    """Setting with web traffic of one mix through a FIFO queue, on a link of a given rate."""

    mix: str
    load: int
    rate_bps: int = RATE_BPS

    def columns(self) -> dict[str, Any]:
        """Return the columns of cells.csv that describe the scenario."""
        return {"mix": self.mix, "load": self.load, "rate_bps": self.rate_bps}

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication, with users in proportion to the link rate."""
        at = Setting(FIFO, OFF, self.load, self.mix, seconds=SECONDS)
        users = round(at.users[replication] * self.rate_bps / RATE_BPS)
        base = scenario(at, replication, users)
        network = base["network"] | {"queue": {"kind": "drop_tail", "limit": LIMIT}}
        return base | {
            "network": network | {"rate": f"{self.rate_bps} bit/s"},
            "record": _recorded(),
        }


MIXED = [
    Mixed(mix, load, int(rate)) for mix in (WEB, GENERAL) for rate in CAPACITIES for load in LOADS
    if (load == 90 or mix == WEB) and (load < 98 or rate < 200e6)
]  # fmt: skip


@cache
def of_mix(mix: str, packet: int) -> Batches:
    """Return the distribution of burst sizes for a mix, with packets of `packet` bytes of data."""
    above = np.concatenate([[1.0], np.geomspace(1, 1e-10, 20_000)[1:], [0.0]])
    middle = 1 - (above[:-1] + above[1:]) / 2
    quantiles = distribution("size", sizes(mix)).quantile(middle)
    weights: dict[int, float] = {}
    for size, weight in zip(packets_of(quantiles, packet).tolist(), -np.diff(above), strict=True):
        weights[size] = weights.get(size, 0.0) + float(weight)
    return batches(weights, packet=packet)


def late(runs: Runs, at: Mixed) -> list[tuple[float, float]]:
    """Return the measured load and the probability of a wait above 5 ms, for each replication."""
    pairs = []
    for run in runs.of(at):
        packets = np.array(run.packets)
        late_packets = packets[np.array(run.waits) > TARGET_S].sum()
        pairs.append((run.busy_s / run.seconds, float(late_packets / packets.sum())))
    return pairs


def mean_in_system(runs: Runs, at: Alike) -> list[float]:
    """Return the mean number of packets in the system for each replication, by Little's law."""
    means = []
    for run in runs.of(at):
        packets, waits = np.array(run.packets), np.array(run.waits)
        means.append(float((packets @ waits + run.busy_s) / run.seconds))
    return means


def _needs() -> Iterator[Need]:
    for packets in FLOWS:
        for delayed in (False, True):
            alike = Alike(packets, delayed)
            yield Need(alike, at_most=REPLICATIONS, quick=packets == OF_TEXT)
    for at in MIXED:
        yield Need(at, at_most=REPLICATIONS, quick=False)


Points = tuple[list[float], list[float], list[float], list[float]]
"""Points of a figure: x values, means, lower bounds and upper bounds of the intervals."""


def _figure_7(runs: Runs, section: Section) -> Figure:
    fine = np.unique(np.geomspace(1, 100, 80).round().astype(int)).tolist()
    curves: dict[str, tuple[list[float], list[float]]] = {}
    points: dict[str, Points] = {}
    for name, ramp, delayed in (
        ("one ACK per segment", STATED, False), ("delayed ACKs", DELAYED_ACKS, True),
    ):  # fmt: skip
        curves[name] = fine, mean_by_flow_size(fine, ramp=ramp, packet=MSS).tolist()
        means = [estimates.mean(mean_in_system(runs, Alike(n, delayed))) for n in FLOWS]
        points[name] = _points(list(FLOWS), means)
        for n, e in zip(FLOWS, means, strict=True):
            columns = Alike(n, delayed).columns()
            section.cells.append(Cell("model", columns, "mean_queue", "packets", e))
    about = (
        "Figure 7: mean number of packets in the system against the flow size, at load 0.8. All "
        "flows of a run have the same size. Curves show the model of the paper, and points show "
        "simulated TCP flows through a FIFO queue (with 95 % intervals), with one ACK per segment "
        "and with delayed ACKs."
    )
    return Figure("figure-7", about, drawn.figure_7(curves, points))


def _points(x: Sequence[float], of: Sequence[Estimate]) -> Points:
    low, middle, high = zip(*(e.interval for e in of), strict=True)
    return list(x), list(middle), list(low), list(high)


def _by_load(runs: Runs, section: Section, mix: str, rows: list[list[str | Entry]]) -> Figure:
    loads = np.linspace(0.5, 0.98, 25).tolist()
    curves: dict[str, tuple[list[float], list[float]]] = {}
    points: dict[str, Points] = {}
    for rate in CAPACITIES:
        name = f"{rate / 1e6:g} Mbit/s"
        curves[name] = loads, _model(mix, loads, rate)
        measured: list[float] = []
        shares: list[Estimate] = []
        for at in (one for one in MIXED if one.mix == mix and one.rate_bps == rate):
            pairs = late(runs, at)
            e, load = estimates.mean(p for _, p in pairs), float(np.mean([x for x, _ in pairs]))
            measured.append(load)
            shares.append(e)
            section.cells.append(Cell("model", at.columns(), "late_share", "1", e))
            low, middle, high = (100 * part for part in e.interval)
            (model,) = _model(mix, [min(load, 0.999)], rate)
            rows.append(
                [f"{mix} mix, {name}, {at.load} %", f"{100 * load:.1f}", f"{100 * model:.1f}",
                 f"{middle:.1f} [{low:.1f} to {high:.1f}]"]
            )  # fmt: skip
        points[name] = _points(measured, shares)
    number, draw = (8, drawn.figure_8) if mix == WEB else (9, drawn.figure_9)
    about = (
        f"Figure {number}: probability that a packet waits for more than 5 ms, against the load "
        f"of the link, {mix} mix. Curves show the model, and points show a simulated FIFO queue "
        "(with 95 % intervals)."
    )
    return Figure(f"figure-{number}", about, draw(curves, points))


def _model(mix: str, loads: list[float], rate: float) -> list[float]:
    shares: list[float] = late_by_load(of_mix(mix, MSS), loads, rate, packet=WIRE).tolist()
    return shares


def _make(runs: Runs) -> Section:
    if not runs.has(Alike(FLOWS[0])):
        return Section(
            [
                "The quick form decides the claims about the queueing model, and leaves out the "
                "figures."
            ]
        )
    section = Section(
        [
            "The model of the paper is the queue M[X]/M/1: batches of packets arrive as a "
            "Poisson process, and the packets are served one by one. A batch is a burst that a "
            "flow sends in one round trip of slow start, at most the advertised window. The "
            f"simulations have a FIFO queue that never drops, and last for {SECONDS} s after the "
            f"warm-up, with {REPLICATIONS} replications.",
        ]
    )
    section.figures.append(_figure_7(runs, section))
    rows: list[list[str | Entry]] = []
    section.figures += [_by_load(runs, section, mix, rows) for mix in (WEB, GENERAL)]
    head = [
        "Link and nominal load",
        "Load measured (%)",
        "Model: waits > 5 ms (%)",
        "Simulated (%)",
    ]
    section.tables.append(Table("Packets that wait for more than 5 ms", head, rows))
    near = [
        [", ".join(one.departures) or "as stated", f"{one.packets:.2f}"]
        for one in readings() if not one.departures or one.meets
    ]  # fmt: skip
    title = (
        "Mean queue of equation (1) for flows of 7.22 packets: as stated, and with changes that "
        "give the 5 packets of the text"
    )
    section.tables.append(
        Table(title, ["Changes of the stated model", "Mean queue (packets)"], near[:12])
    )
    return section


ITEM = Item("model", "Section 5.2.2: the queueing model (figures 7 to 9)", _needs, _make)
