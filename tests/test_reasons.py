"""Test that queues explain their drops and marks by the rules and variables of their references."""

import json
import subprocess
from math import isnan
from typing import Any

import pytest

from conftest import ROOT
from references.arrivals import arrivals_at
from references.cases import Case
from references.disciplines import Transmitter
from references.fifo import Packet, Values
from references.program import program
from test_queues import CASES

ARRIVALS = 10_000


def explanations(case: Case, seed: int = 1) -> list[dict[str, Any]]:
    """Return the explanation of each drop and mark of a queue, in the order of the decisions."""
    limit = case.queue.get("limit", f"{case.limit} packets")
    spec = {
        "queue": case.queue | {"limit": limit}, "rate": f"{case.rate} bit/s", "seed": seed,
        "arrivals": ARRIVALS, "flows": case.flows, "explain": True,
    }  # fmt: skip
    done = subprocess.run(
        [program("decisions")], input=json.dumps(spec), capture_output=True, text=True, cwd=ROOT,
        check=True,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def arrivals(case: Case, seed: int = 1) -> list[tuple[int, Packet]]:
    """Return the arriving packets of a case, each with its time."""
    limit = case.queue.get("limit", f"{case.limit} packets")
    records = arrivals_at(
        case.queue | {"limit": limit},
        rate=case.rate,
        seed=seed,
        arrivals=ARRIVALS,
        flows=case.flows,
    )
    columns = [records[name].tolist() for name in ("time", "flow", "size", "ecn", "dscp")]
    return [(row[0], Packet(*row[1:])) for row in zip(*columns, strict=True)]


def assert_equal(explained: Values, expected: Values, where: str) -> None:
    assert explained.keys() == expected.keys(), where
    for name, value in expected.items():
        ours = explained[name]
        if ours is None:
            assert isnan(value), (where, name, ours, value)
        else:
            assert ours == pytest.approx(value, rel=1e-9, abs=1e-12), (where, name, ours, value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_reason_of_each_drop_and_mark_equals_that_of_the_reference(case: Case) -> None:
    link: Any = case.build(1)
    packets = arrivals(case)
    for time, packet in packets:
        link.arrive(time, packet)
    link.finish()
    number = {id(packet): i for i, (_, packet) in enumerate(packets)}
    recorded = link.discipline.reasons if isinstance(link, Transmitter) else link.reasons
    assert len(recorded) >= 5
    for i, (row, reason) in enumerate(zip(explanations(case), recorded, strict=True)):
        where = f"row {i}: {row['rule']}"
        assert (row["packet"], row["rule"]) == (number[id(reason.packet)], reason.rule), where
        assert_equal(row["values"], reason.values, where)
