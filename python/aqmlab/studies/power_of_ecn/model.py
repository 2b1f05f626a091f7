"""Section 5.2.2, figures 7 to 9: the model of the queue beside the simulation of a FIFO queue."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from aqmlab import estimates
from aqmlab.estimates import Estimate, number
from aqmlab.figures.models import figure_7, figure_8, figure_9
from aqmlab.models.batch_queue import Batches, MxD1
from aqmlab.models.bursts import batches
from aqmlab.models.power_of_ecn import CAPACITIES, LOAD, late_by_load, mean_by_flow_size
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Figure, Item, Need, Runs, Section
from aqmlab.studies.framework.runs import Record
from aqmlab.studies.power_of_ecn.outcomes import Outcome
from aqmlab.studies.power_of_ecn.scenarios import Setting, sizes
from aqmlab.studies.power_of_ecn.showing import told
from aqmlab.studies.power_of_ecn.words import FIFO, GENERAL, LIGHT, OFF, WEB

SEGMENT = 1460
POINTS = 10_000
"""Quantiles that stand for a part of a mix."""
LOADS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)
FLOW_SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 25, 30, 40, 50, 70, 100)
SIMULATED = {WEB: (80, LIGHT), GENERAL: (LIGHT,)}
SECONDS, REPLICATIONS = 60, 3
"""As many as the paper's three seeds."""
WAITS = Record(frozenset({"waits"}))


@cache
def flow_sizes(mix: str) -> dict[int, float]:
    """Return P(an object has so many packets), by quantiles of both parts of a mix."""
    from scipy.stats import norm

    small, large = (part["of"] for part in sizes(mix)["parts"])
    u = (np.arange(POINTS) + 0.5) / POINTS
    law = norm(np.log(float(small["mean"].split()[0])) - small["sigma"] ** 2 / 2, small["sigma"])
    low, high = law.cdf(np.log([float(small[k].split()[0]) for k in ("least", "most")]))
    body = np.exp(law.ppf(low + u * (high - low)))
    first, a = float(large["least"].split()[0]), large["shape"]
    tail = first * (1 - u * (1 - (first / 1e9) ** a)) ** (-1 / a)
    found: dict[int, float] = {}
    for part, weight in ((body, 0.85), (tail, 0.15)):
        for packets in np.ceil(part / SEGMENT).astype(int).tolist():
            found[packets] = found.get(packets, 0.0) + weight / POINTS
    return found


@cache
def bursts(mix: str) -> Batches:
    """Return what objects of a mix bring to the queue."""
    return batches(flow_sizes(mix))


def mean_packets(mix: str) -> float:
    """Return the mean size of an object, in packets."""
    return sum(n * p for n, p in flow_sizes(mix).items())


def late(mix: str, load: float, bps: float) -> float:
    """Return the model's probability of a queueing delay above 5 ms, in %."""
    return 100 * float(late_by_load(bursts(mix), [load], bps)[0])


def setting(mix: str, load: int) -> Setting:
    """Return a FIFO queue under a load."""
    return Setting(FIFO, OFF, load, mix, seconds=SECONDS)


def _needs() -> Iterator[Need]:
    for mix, loads in SIMULATED.items():
        for load in loads:
            at = setting(mix, load)
            yield Need(at, at_most=REPLICATIONS, record=WAITS, quick=False)


def simulated(runs: Runs, mix: str) -> list[tuple[float, Estimate]]:
    """Return the load that the link carried, and the share of packets that waited above 5 ms."""
    found = []
    for at in (setting(mix, load) for load in SIMULATED[mix]):
        if runs.has(at):
            ran: list[Outcome] = runs.of(at)
            x = float(np.mean([run.throughput for run in ran]))
            found.append((x, estimates.mean(run.late for run in ran)))
    return found


def _make(runs: Runs) -> Section:
    at_7 = float(mean_by_flow_size([7])[0])
    section = Section(
        [
            "M[X]/M/1 with the bursts of slow start up to the advertised windows, of our mixes. "
            f"Equation (1) gives {number(at_7)} packets for flows of 7 at load {LOAD:g}, where the "
            "text reads 5 from its figure (aqmlab model figure-7 lists the readings that give 5). "
            "Points: a FIFO queue under the same mix, by packets, warm-up included; the model's "
            "probability is that of an instant.",
        ]
    )
    exact = mean_by_flow_size(FLOW_SIZES)
    constant = mean_by_flow_size(FLOW_SIZES, kind=MxD1)
    curves = {
        "M[X]/M/1": (FLOW_SIZES, list(map(float, exact))),
        "M[X]/D/1": (FLOW_SIZES, list(map(float, constant))),
    }
    section.figures.append(
        Figure("figure-7", f"Figure 7: the mean queue at load {LOAD:g}.", figure_7(curves))
    )
    for mix, n, draw in ((WEB, 8, figure_8), (GENERAL, 9, figure_9)):
        rows: list[list[str | Entry]] = []
        by_load = {}
        for bps in CAPACITIES:
            chances = [late(mix, load, bps) for load in LOADS]
            by_load[f"{bps / 1e6:g} Mbit/s"] = (LOADS, [c / 100 for c in chances])
            rows.append([f"{bps / 1e6:g} Mbit/s", *(f"{c:.2f}" for c in chances)])
        seen = simulated(runs, mix)
        points = {}
        if seen:
            ends = zip(*(e.interval for _, e in seen), strict=True)
            low, middle, high = ([v / 100 for v in part] for part in ends)
            points["100 Mbit/s"] = ([x for x, _ in seen], middle, low, high)
        for (x, of), load in zip(seen, SIMULATED[mix], strict=False):
            model = late(mix, x, CAPACITIES[0])
            columns = setting(mix, load).columns()
            section.cells.append(Cell("model", columns, "waits_above_5_ms", "%", of))
            row: list[str | Entry] = [f"FIFO, 100 Mbit/s, {100 * x:.1f} %", told(of)]
            rows.append([*row, f"model {model:.2f}", *[""] * (len(LOADS) - 2)])
        caption = f"Figure {n}: P(queueing delay > 5 ms) over the load, {mix} mix."
        section.figures.append(Figure(f"figure-{n}", caption, draw(by_load, points)))
        head = ["Link", *(f"{load:g}" for load in LOADS)]
        section.tables.append(Table(f"P(queueing delay > 5 ms) in %, {mix} mix", head, rows))
    return section


ITEM = Item("model", "Figures 7 to 9: the model of the queue", _needs, _make)
