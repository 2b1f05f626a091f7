"""Every law decides as its reference does, packet by packet, on the same traffic and draws."""

import json
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from conftest import ROOT
from references.adaptive_red import AdaptiveRed
from references.draws import Draws
from references.fifo import Law, Packet, Shell
from references.red import Red

PROGRAM = ROOT / "target" / "release" / "examples" / "decisions"
RECORD = np.dtype(
    [
        ("time", "<u8"),
        ("flow", "<u4"),
        ("size", "<u2"),
        ("ecn", "u1"),
        ("dscp", "u1"),
        ("code", "u1"),
        ("", "V3"),
        ("after_ns", "<u4"),
    ]
)
Reference = Callable[..., Law]


@dataclass
class Case:
    """A queue of a scenario, and its reference with the same parameters."""

    name: str
    queue: dict[str, Any]
    reference: Reference
    given: dict[str, Any] = field(default_factory=dict)
    rate: int = 10_000_000
    limit: int = 100
    unit: str = "packets"
    expects: str = "EM"
    """What the traffic must bring about: early drops, Marks, Threshold, Full."""


def red(name: str, queue: dict[str, Any], expects: str = "EM", **given: Any) -> Case:
    """Return a case of RED."""
    given = {"minth": 5, "maxth": 15, "maxp": 0.1, "wq": 0.002} | given
    unit = "B" if given.get("unit") == "bytes" else "packets"
    text = {"minth": f"{given['minth']} {unit}", "maxth": f"{given['maxth']} {unit}"}
    text |= {"maxp": given["maxp"], "wq": given["wq"]}
    return Case(f"red {name}", {"kind": "red"} | text | queue, Red, given, expects=expects)


CASES = [
    red("defaults", {}, "EM"),
    red("fast", {"gentle": False}, "EMT", gentle=False, wq=0.05, maxp=0.3),
    red("geometric", {"spacing": "geometric"}, spacing="geometric", wq=0.02),
    red("wait", {"spacing": "wait", "above_maxth": "mark"}, spacing="wait", above="mark", wq=0.02),
    red(
        "bytes",
        {"chance_by": "size", "limit": "30 kB"},
        "EMF",
        unit="bytes", minth=8000, maxth=24000, by_size=1500, wq=0.02,
    ),
    red("least", {"least_backlog": "1 packet"}, least=1, wq=0.1, minth=2, maxth=6),
    Case("adaptive red", {"kind": "adaptive_red"}, AdaptiveRed),
    Case("adaptive red, 1 Mbit/s", {"kind": "adaptive_red"}, AdaptiveRed, rate=1_000_000),
    Case(
        "adaptive red, short interval",
        {"kind": "adaptive_red", "interval": "20 ms", "target_delay": "20 ms"},
        AdaptiveRed,
        {"interval": 0.02, "target_delay": 0.02},
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def program() -> None:
    """Build the program that writes decisions."""
    cargo = ["cargo", "build", "--release", "--locked", "-q", "-p", "queues"]
    subprocess.run([*cargo, "--example", "decisions"], check=True, cwd=ROOT)


def decisions(case: Case, seed: int, arrivals: int) -> np.ndarray:
    """Return the simulator's decisions."""
    limit = case.queue.get("limit", f"{case.limit} packets")
    spec = {
        "queue": case.queue | {"limit": limit},
        "rate": f"{case.rate} bit/s",
        "seed": seed,
        "arrivals": arrivals,
    }
    done = subprocess.run([PROGRAM], input=json.dumps(spec).encode(), capture_output=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr.decode()
    return np.frombuffer(done.stdout, RECORD)


def compare(case: Case, seed: int, arrivals: int) -> None:
    records = decisions(case, seed, arrivals)
    law = case.reference(Draws(seed, "queue"), case.rate, **case.given)
    limit, unit = case.limit, case.unit
    if "limit" in case.queue:
        limit, unit = int(case.queue["limit"].split()[0]) * 1000, "bytes"
    shell = Shell(law, case.rate, limit, unit)
    seen: Counter[int] = Counter()
    fields = [records[name].tolist() for name in ("time", "flow", "size", "ecn", "dscp", "code")]
    for i, (time, flow, size, ecn, dscp, code) in enumerate(zip(*fields, strict=True)):
        expected = shell.arrive(time, Packet(flow, size, ecn, dscp))
        assert code == expected, f"arrival {i} at {time} ps: {code}, the reference says {expected}"
        seen[code] += 1
    happened = {"E": seen[5], "M": seen[2] + seen[3], "T": seen[3] + seen[6], "F": seen[4]}
    least = arrivals / 2000
    assert seen[0] > least, f"hardly anything passes: {seen}"
    for what in case.expects:
        assert happened[what] >= least, f"the traffic hardly tries the law: {seen}"


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_decides_as_its_reference(case: Case) -> None:
    compare(case, seed=1, arrivals=40_000)


@pytest.mark.nightly
@pytest.mark.usefixtures("program")
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_decides_as_its_reference_a_million_times(case: Case) -> None:
    compare(case, seed=2, arrivals=1_000_000)
