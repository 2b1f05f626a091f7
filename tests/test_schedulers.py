"""Test that each scheduler sends and drops packets in the same order as its reference."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from references.arrivals import arrivals_at, assert_alike
from references.disciplines import Transmitter
from references.draws import Draws
from references.fifo import DROP
from references.schedulers import Drr, Mdrr, MdrrAlternate, Priority, Scfq, Sfq, Tbf, Wfq, Wrr
from references.trees import Cbq, CbqClass, Htb, HtbClass, Tree

RATE = 10_000_000
LIMIT = 30


def classes(*parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """Return classes with short queues: class i has flow i, and the last class has other flows."""
    queue = {"kind": "drop_tail", "limit": f"{LIMIT} packets"}
    tables = [{"match": {"flows": str(i)}, "queue": queue} | p for i, p in enumerate(parameters)]
    del tables[-1]["match"]
    return tables


@dataclass
class Case:
    """Scheduler of a scenario, and a reference scheduler with the same parameters."""

    name: str
    queue: dict[str, Any]
    reference: type[Any]
    parameters: dict[str, Any] = field(default_factory=dict)


QUANTA = [1500, 500, 4000, 2000]
PACKETS = [1, 5, 2]
WEIGHTS = [1.0, 0.3, 5.0, 2.5]
MDRR = [1500, 1500 + 512, 1500 + 4 * 512]
CASES = [
    Case(
        "priority", {"kind": "priority", "classes": classes({}, {}, {}, {})}, Priority,
        {"classes": 4},
    ),
    Case(
        "drr", {"kind": "drr", "classes": classes(*({"quantum": f"{q} B"} for q in QUANTA))}, Drr,
        {"quanta": QUANTA},
    ),
    Case(
        "wrr", {"kind": "wrr", "classes": classes(*({"packets": n} for n in PACKETS))}, Wrr,
        {"quanta": PACKETS},
    ),
    Case(
        "mdrr", {"kind": "mdrr", "classes": classes(*({"weight": w} for w in (1, 2, 5)))}, Mdrr,
        {"quanta": MDRR},
    ),
    Case(
        "mdrr, strict",
        {"kind": "mdrr", "classes": classes({}, {"weight": 2, "service": "strict"}, {"weight": 5})},
        Mdrr, {"quanta": MDRR, "first": 1},
    ),
    Case(
        "mdrr, alternate",
        {
            "kind": "mdrr",
            "classes": classes({}, {"weight": 2, "service": "alternate"}, {"weight": 5}),
        },
        MdrrAlternate, {"quanta": MDRR, "first": 1},
    ),
    Case(
        "wfq", {"kind": "wfq", "classes": classes(*({"weight": w} for w in WEIGHTS))}, Wfq,
        {"weights": WEIGHTS},
    ),
    Case(
        "scfq", {"kind": "scfq", "classes": classes(*({"weight": w} for w in WEIGHTS))}, Scfq,
        {"weights": WEIGHTS},
    ),
    Case(
        "sfq", {"kind": "sfq", "queues": 16, "limit": f"{LIMIT} packets"}, Sfq, {"queues": 16},
    ),
    Case(
        "sfq, bytes, perturbed",
        {
            "kind": "sfq", "queues": 6, "limit": f"{LIMIT} packets", "quantum": "700 B",
            "perturb": "200 ms",
        },
        Sfq, {"queues": 6, "quantum": 700, "perturb": 200 * 10**9},
    ),
    Case(
        "tbf",
        {
            "kind": "tbf", "rate": "7 Mbit/s", "burst": "4000 B",
            "queue": {"kind": "drop_tail", "limit": f"{LIMIT} packets"},
        },
        Tbf, {"tokens": 7_000_000, "burst": 4000},
    ),
    Case(
        "tbf, with a peak rate",
        {
            "kind": "tbf", "rate": "3333333 bit/s", "burst": "20 kB", "peak_rate": "8 Mbit/s",
            "mtu": "1400 B", "queue": {"kind": "drop_tail", "limit": f"{LIMIT} packets"},
        },
        Tbf, {"tokens": 3_333_333, "burst": 20_000, "peak": 8_000_000, "mtu": 1400},
    ),
]  # fmt: skip


@dataclass
class TreeCase:
    """Scheduler with nested classes, and a reference scheduler with the same parameters."""

    name: str
    nodes: Sequence[HtbClass | CbqClass]
    ewma: int = 4
    hysteresis: bool = False

    @property
    def queue(self) -> dict[str, Any]:
        """Keys of the scheduler in a scenario."""
        parents = {node.parent for node in self.nodes}
        leaves = iter(classes(*[{} for n in range(len(self.nodes)) if n not in parents]))
        tables = []
        for n, node in enumerate(self.nodes):
            table: dict[str, Any] = {"name": str(n), "rate": f"{node.rate} bit/s"}
            table |= {} if node.parent is None else {"parent": str(node.parent)}
            if isinstance(node, HtbClass):
                table |= {"ceil": f"{node.ceil} bit/s", "prio": node.prio}
                table |= {"burst": f"{node.burst} B", "cburst": f"{node.cburst} B"}
            else:
                table |= {"borrow": "bounded" if node.bounded else "ancestors"}
                table |= {"lend": "isolated" if node.isolated else "others"}
                table |= {"priority": node.priority}
            tables.append(table if n in parents else table | next(leaves))
        if isinstance(self.nodes[0], HtbClass):
            return {"kind": "htb", "hysteresis": self.hysteresis, "classes": tables}
        return {"kind": "cbq", "ewma": self.ewma, "classes": tables}

    def reference(self, draws: Draws, rate: int, *, turns: list[int], limit: int) -> Tree:
        """Return the reference implementation of HTB or CBQ.

        `turns` is the order in which the simulator served classes of equal rank.
        """
        nodes: Any = copy.deepcopy(self.nodes)
        if isinstance(nodes[0], HtbClass):
            return Htb(
                draws, rate, nodes=nodes, turns=turns, limit=limit, hysteresis=self.hysteresis
            )
        return Cbq(draws, rate, nodes=nodes, turns=turns, limit=limit, ewma=self.ewma)


M = 1_000_000
TREES = [
    TreeCase("htb, one level", [
        HtbClass(None, 9 * M, 9 * M),
        HtbClass(0, 3 * M, 9 * M), HtbClass(0, 1 * M, 6 * M, prio=1), HtbClass(0, 2 * M, 4 * M),
    ]),
    TreeCase("htb, customers", [
        HtbClass(None, 8 * M, 8 * M, 4000, 4000),
        HtbClass(0, 4 * M, 6 * M, 20_000), HtbClass(1, 3 * M, 8 * M, 20_000),
        HtbClass(1, 1 * M, 2 * M, 20_000, 1600, prio=2), HtbClass(0, 2 * M, 8 * M, prio=1),
        HtbClass(0, 1 * M, 3 * M),
    ]),
    TreeCase("htb, deep, without a root", [
        HtbClass(None, 5 * M, 5 * M), HtbClass(0, 2 * M, 5 * M), HtbClass(1, 777_777, 3 * M, 300),
        HtbClass(2, 333_333, 2 * M), HtbClass(2, 100_000, 5 * M, prio=7), HtbClass(0, 1 * M, 4 * M),
        HtbClass(None, 2 * M, 3 * M),
    ]),
    TreeCase("htb, hysteresis", [
        HtbClass(None, 8 * M, 9 * M, 4000, 6000),
        HtbClass(0, 4 * M, 6 * M, 20_000), HtbClass(1, 3 * M, 8 * M, 2000),
        HtbClass(1, 1 * M, 2 * M, 9000, 1600, prio=2), HtbClass(0, 2 * M, 8 * M, prio=1),
        HtbClass(0, 1 * M, 3 * M, 1600, 5000),
    ], hysteresis=True),
    TreeCase("cbq, one level", [
        CbqClass(None, 10 * M),
        CbqClass(0, 3 * M), CbqClass(0, 1 * M, priority=1, bounded=True), CbqClass(0, 4 * M),
    ]),
    TreeCase("cbq, agencies", [
        CbqClass(None, 8 * M),
        CbqClass(0, 4 * M), CbqClass(1, 3 * M), CbqClass(1, 1 * M, priority=2),
        CbqClass(0, 3 * M, isolated=True), CbqClass(4, 2 * M, bounded=True),
        CbqClass(4, 1 * M, priority=1), CbqClass(0, 1 * M, bounded=True, isolated=True),
    ]),
    TreeCase("cbq, a long memory", [
        CbqClass(None, 9 * M),
        CbqClass(0, 5 * M), CbqClass(1, 3 * M), CbqClass(1, 2 * M),
        CbqClass(0, 4 * M, bounded=True),
    ], ewma=9),
]  # fmt: skip


def compare(case: Case | TreeCase, seed: int, arrivals: int) -> None:
    records = arrivals_at(case.queue, rate=RATE, seed=seed, arrivals=arrivals)
    draws = Draws(seed, "queue")
    if isinstance(case, TreeCase):
        leaves = len(case.nodes) - len({node.parent for node in case.nodes} - {None})
        sent = records[records["code"] == 0]
        turns = np.minimum(sent["flow"][np.argsort(sent["done"])], leaves - 1).tolist()
        link = Transmitter(case.reference(draws, RATE, turns=turns, limit=LIMIT), RATE)
    else:
        link = Transmitter(case.reference(draws, RATE, limit=LIMIT, **case.parameters), RATE)
    assert_alike(records, link)
    sent = records[records["code"] == 0]
    assert len(records) - len(sent) > 100, "few packets are dropped"
    overtaken = np.count_nonzero(np.diff(sent["done"].astype(np.int64)) < 0)
    assert overtaken > 1000 or case.name.startswith("tbf"), "few packets overtake others"
    assert set(records["code"].tolist()) == {0, DROP["full"]}


@pytest.mark.parametrize("case", [*CASES, *TREES], ids=lambda c: c.name)
def test_a_scheduler_equals_its_reference_for_40_000_packets(case: Case | TreeCase) -> None:
    compare(case, seed=1, arrivals=40_000)


@pytest.mark.nightly
@pytest.mark.parametrize("case", [*CASES, *TREES], ids=lambda c: c.name)
def test_a_scheduler_equals_its_reference_for_a_million_packets(case: Case | TreeCase) -> None:
    compare(case, seed=2, arrivals=1_000_000)
