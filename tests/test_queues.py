"""Test that each AQM decides as its reference, given the same traffic and random numbers."""

from collections import Counter

import pytest

from references.arrivals import arrivals_at, assert_alike
from references.cases import Case
from references.cases.disciplines import DISCIPLINES
from references.cases.red import RED_VARIANTS
from references.controllers import Avq, Blue, Pi, Pi2, Rem, Threshold
from references.per_flow import Fred, Sfb, Sred
from references.pie import Pie, PieEnhanced
from references.tc_pie import TcPie
from references.tc_sfb import TcSfb

CASES = [
    Case("fred", {"kind": "fred"}, Fred, {"minth": 25, "maxth": 50}, expects="E"),
    Case(
        "fred, small",
        {"kind": "fred", "minth": "4 packets", "maxth": "10 packets", "maxp": 0.2, "wq": 0.02},
        Fred, {"minth": 4, "maxth": 10, "maxp": 0.2, "wq": 0.02}, expects="EMT",
    ),
    Case("sred", {"kind": "sred"}, Sred, {"b": 100}, flows=1000),
    Case(
        "sred, few flows", {"kind": "sred", "pmax": 1.0}, Sred, {"b": 100, "pmax": 1.0},
        expects="F",
    ),
    Case(
        "sred, simple, in bytes",
        {"kind": "sred", "variant": "simple", "zombies": 50, "pmax": 0.4, "limit": "60 kB"},
        Sred, {"b": 60_000, "m": 50, "pmax": 0.4, "full": False, "unit": "bytes"}, flows=300,
    ),
    Case("sfb", {"kind": "sfb"}, Sfb, {"bin_size": 150 / 23}, expects="T"),
    Case(
        "sfb, fast",
        {
            "kind": "sfb", "levels": 3, "bins": 5, "bin_size": "8 packets", "increment": 0.02,
            "decrement": 0.01, "penalty_rate": 50.0, "penalty_burst": "5 packets",
        },
        Sfb,
        {
            "bin_size": 8, "levels": 3, "bins": 5, "increment": 0.02, "decrement": 0.01,
            "penalty_rate": 50, "penalty_burst": 5,
        },
        expects="EMT",
    ),
    Case(
        "sfb, moving hashes",
        {
            "kind": "sfb", "bins": 5, "bin_size": "6 packets", "increment": 0.05,
            "decrement": 0.001, "rehash": "500 ms", "warmup_after": "50 ms",
        },
        Sfb,
        {
            "bin_size": 6, "bins": 5, "increment": 0.05, "decrement": 0.001,
            "rehash": 0.5, "warmup_after": 0.05,
        },
        expects="EMT",
    ),
    Case("tc sfb", {"kind": "tc_sfb"}, TcSfb, expects="T"),
    Case(
        "tc sfb, fast",
        {
            "kind": "tc_sfb", "target": "4 packets", "max": "12 packets", "increment": 0.02,
            "decrement": 0.005, "penalty_rate": 50.0, "penalty_burst": "5 packets",
            "rehash": "500 ms", "warmup": "200 ms",
        },
        TcSfb,
        {
            "target": 4, "max_packets": 12, "increment": 0.02, "decrement": 0.005,
            "penalty_rate": 50, "penalty_burst": 5, "rehash": 0.5, "warmup": 0.2,
        },
        expects="EMT",
    ),
    Case("threshold", {"kind": "threshold"}, Threshold, {"k": 20}, expects="MT"),
    Case(
        "threshold in bytes", {"kind": "threshold", "threshold": "30 kB"},
        Threshold, {"k": 30_000, "unit": "bytes"}, expects="MT",
    ),
    Case("blue", {"kind": "blue"}, Blue, limit=20, expects="EMF"),
    Case(
        "blue, early",
        {"kind": "blue", "freeze_time": "10 ms", "early_threshold": "15 packets"},
        Blue, {"freeze_time": 0.01, "max_packets": 15}, expects="EM",
    ),
    Case(
        "pi", {"kind": "pi", "qref": "20 packets", "a": 1.822e-3, "b": 1.816e-3},
        Pi, {"qref": 20, "a": 1.822e-3, "b": 1.816e-3},
    ),
    Case(
        "pi in bytes",
        {"kind": "pi", "qref": "10 kB", "period": "2 ms", "a": 0.0005, "b": 0.0004},
        Pi, {"qref": 20, "a": 0.0005, "b": 0.0004, "period": 0.002, "packet_bytes": 500},
    ),
    Case(
        "pi, designed",
        {"kind": "pi", "qref": "20 packets", "max_rtt": "60 ms", "min_flows": 40},
        Pi, {"qref": 20, "designed_for": (40, 0.06)},
    ),
    Case("rem", {"kind": "rem", "gamma": 0.05}, Rem, {"gamma": 0.05}),
    Case(
        "rem in bytes", {"kind": "rem", "target": "5 kB", "gamma": 0.02, "period": "3 ms"},
        Rem, {"target": 5, "gamma": 0.02, "period": 0.003, "unit": "bytes"},
    ),
    Case("avq", {"kind": "avq"}, Avq),
    Case(
        "avq, small", {"kind": "avq", "virtual_buffer": "10 kB", "utilization": 0.8},
        Avq, {"b": 10_000, "gamma": 0.8},
    ),
    Case("pie", {"kind": "pie"}, Pie),
    Case(
        "pie, small target",
        {
            "kind": "pie", "target": "5 ms", "max_burst": "20 ms", "t_update": "5 ms",
            "mark_below": 0.3,
        },
        Pie, {"qdelay_ref": 0.005, "max_burst_ms": 20, "t_update_ms": 5, "max_ecnth": 0.3},
    ),
    Case(
        "pie, derandomized", {"kind": "pie", "tosses": "accumulated", "target": "5 ms"},
        Pie, {"qdelay_ref": 0.005, "derandomized": True},
    ),
    Case("tc pie", {"kind": "tc_pie"}, TcPie, expects="EM"),
    Case(
        "tc pie, small",
        {
            "kind": "tc_pie", "target": "2 ms", "t_update": "4 ms", "alpha": 5, "beta": 32,
            "chance_by": "size", "mtu": "600 B",
        },
        TcPie,
        {
            "target_ms": 2, "t_update_ms": 4, "alpha": 5, "beta": 32, "bytemode": True,
            "mtu": 600, "limit": 30,
        },
        limit=30, expects="EMF",
    ),
    Case(
        "tc pie, by the departure rate",
        {"kind": "tc_pie", "latency": "departure-rate", "target": "5 ms"},
        TcPie, {"dq_rate_estimator": True, "target_ms": 5}, expects="EM",
    ),
    Case(
        "tc pie, long queue",
        {"kind": "tc_pie", "t_update": "15 ms", "hz": 100, "alpha": 0, "beta": 1},
        TcPie, {"hz": 100, "alpha": 0, "beta": 1, "limit": 1000}, rate=1_000_000,
        limit=1000, expects="EM",
    ),
    Case(
        "pie enhanced", {"kind": "pie_enhanced", "limit": "90 kB"},
        PieEnhanced, {"tail_drop": 90_000}, expects="F",
    ),
    Case(
        "pie enhanced, small",
        {
            "kind": "pie_enhanced", "target": "5 ms", "max_burst": "20 ms", "t_update": "5 ms",
            "tail_drop": "40 kB", "mark_below": 0.3,
        },
        PieEnhanced,
        {
            "qdelay_ref": 0.005, "max_burst_ms": 20, "t_update_ms": 5, "max_ecnth": 0.3,
            "tail_drop": 40_000,
        },
    ),
    Case("pi2", {"kind": "pi2"}, Pi2),
    Case(
        "pi2, small target", {"kind": "pi2", "target": "5 ms", "t_update": "4 ms", "coupling": 1.5},
        Pi2, {"target": 0.005, "period": 0.004, "k": 1.5},
    ),
    Case(
        "pi2, minimum backlog", {"kind": "pi2", "target": "5 ms", "min_backlog": "3000 B"},
        Pi2, {"target": 0.005, "min_backlog": 3000},
    ),
    *RED_VARIANTS,
    *DISCIPLINES,
]  # fmt: skip


def compare(case: Case, seed: int, arrivals: int) -> None:
    limit = case.queue.get("limit", f"{case.limit} packets")
    records = arrivals_at(
        case.queue | {"limit": limit},
        rate=case.rate,
        seed=seed,
        arrivals=arrivals,
        flows=case.flows,
    )
    assert_alike(records, case.build(seed))
    codes = Counter(records["code"].tolist())
    events = {"E": codes[5], "M": codes[2] + codes[3], "T": codes[3] + codes[6], "F": codes[4]}
    minimum = 20
    assert codes[0] > minimum, f"few packets pass: {codes}"
    for event in case.expects:
        assert events[event] >= minimum, f"few events of kind {event}: {codes}"


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_an_aqm_equals_its_reference_for_40_000_packets(case: Case) -> None:
    compare(case, seed=1, arrivals=40_000)


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_an_aqm_equals_its_reference_for_a_million_packets(case: Case) -> None:
    compare(case, seed=2, arrivals=1_000_000)
