"""Every law decides as its reference does, packet by packet, on the same traffic and draws."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from references.adaptive_red import AdaptiveRed
from references.arrivals import arrivals_at, assert_alike
from references.cobalt import Cobalt
from references.controllers import Avq, Blue, Pi, Pi2, Rem, Threshold
from references.draws import Draws
from references.dualpi2 import DualPi2
from references.fifo import Law, Shell
from references.fq_codel import FqCodel
from references.fq_pie import FqPie, LinuxFqPie
from references.kept import Choke, Codel, Kept, Transmitter
from references.per_flow import Fred, Sfb, Sred
from references.pie import Pie, PieEnhanced
from references.precedence import Precedence
from references.red import Red
from references.red_pd import RedPd
from references.red_variants import NonlinearRed, SelfConfiguringRed
from references.tc_pie import TcPie
from references.tc_red import TcRed
from references.tc_sfb import TcSfb

Reference = Callable[..., Any]
Link = Shell | Transmitter


@dataclass
class Case:
    """A queue of a scenario, and its reference with the same parameters."""

    name: str
    queue: dict[str, Any]
    reference: Reference
    given: dict[str, Any] = field(default_factory=dict)
    rate: int = 10_000_000
    limit: int = 100
    flows: int = 10
    expects: str = "EM"
    """What the traffic must bring about: early drops, Marks, Threshold, Full."""

    def build(self, seed: int) -> Link:
        """Return a link with the reference."""
        limit, unit = self.limit, "packets"
        if "limit" in self.queue:
            limit, unit = int(self.queue["limit"].split()[0]) * 1000, "bytes"
        law = self.reference(Draws(seed, "queue"), self.rate, **self.given)
        if isinstance(law, Law):
            return Shell(law, self.rate, limit, unit)
        return Transmitter(law, self.rate)


def red(name: str, queue: dict[str, Any], expects: str = "EM", **given: Any) -> Case:
    """Return a case of RED."""
    given = {"minth": 5, "maxth": 15, "maxp": 0.1, "wq": 0.002} | given
    unit = "B" if given.get("unit") == "bytes" else "packets"
    text = {"minth": f"{given['minth']} {unit}", "maxth": f"{given['maxth']} {unit}"}
    text |= {"maxp": given["maxp"], "wq": given["wq"]}
    return Case(f"red {name}", {"kind": "red"} | text | queue, Red, given, expects=expects)


RED = {"minth": 5, "maxth": 15, "maxp": 0.1, "wq": 0.002}
SOON = {"minth": "3 packets", "maxth": "9 packets", "maxp": 0.2, "wq": 0.05}
SOON_GIVEN = {"minth": 3, "maxth": 9, "maxp": 0.2, "wq": 0.05}
STUDY_C: dict[str, float] = {"qmin": 5_000, "qmax": 15_000, "avpkt": 1500, "burst": 5}
STUDY_C |= {"probability": 0.02, "bandwidth": 100_000}
CASES = [
    Case(
        "tc red, study C",
        {
            "kind": "tc_red", "min": "5 kB", "max": "15 kB", "avpkt": "1500 B",
            "burst": "5 packets", "bandwidth": "100 kbit/s", "limit": "20 kB",
            "arithmetic": "linux-2.4",
        },
        TcRed, STUDY_C | {"old": True}, rate=100_000, expects="EMTF",
    ),
    Case(
        "tc red of 2.4",
        {
            "kind": "tc_red", "max": "60 kB", "probability": 0.1, "limit": "100 kB",
            "arithmetic": "linux-2.4",
        },
        TcRed,
        {
            "qmin": 20_000, "qmax": 60_000, "avpkt": 1000, "burst": 33,
            "probability": 0.1, "bandwidth": 10_000_000, "old": True,
        },
        expects="EMT",
    ),
    Case(
        "tc red, short queue",
        {
            "kind": "tc_red", "min": "3 kB", "max": "9 kB", "avpkt": "500 B", "burst": "8 packets",
            "probability": 0.3, "bandwidth": "10 Mbit/s", "limit": "12 kB",
        },
        TcRed,
        {
            "qmin": 3_000, "qmax": 9_000, "avpkt": 500, "burst": 8, "probability": 0.3,
            "bandwidth": 10_000_000,
        },
        expects="EMTF",
    ),
    Case(
        "tc red",
        {"kind": "tc_red", "max": "60 kB", "probability": 0.1, "limit": "100 kB"},
        TcRed,
        {
            "qmin": 20_000, "qmax": 60_000, "avpkt": 1000, "burst": 33,
            "probability": 0.1, "bandwidth": 10_000_000,
        },
        expects="EMT",
    ),
    Case(
        "self-configuring red",
        {"kind": "self_configuring_red"},
        SelfConfiguringRed, RED | {"gentle": False},
    ),
    Case(
        "self-configuring red, soon",
        {"kind": "self_configuring_red"} | SOON,
        SelfConfiguringRed, SOON_GIVEN | {"gentle": False}, expects="EMT",
    ),
    Case(
        "self-configuring red, least backlog",
        {"kind": "self_configuring_red", "least_backlog": "2 packets"} | SOON,
        SelfConfiguringRed, SOON_GIVEN | {"gentle": False, "least": 2}, expects="EMT",
    ),
    Case(
        "nonlinear red, least backlog",
        {"kind": "nonlinear_red", "least_backlog": "2 packets"} | SOON, NonlinearRed,
        SOON_GIVEN | {"least": 2}, expects="EMT",
    ),
    Case("nonlinear red", {"kind": "nonlinear_red"}, NonlinearRed, RED | {"maxp": 0.15}),
    Case(
        "nonlinear red, soon", {"kind": "nonlinear_red"} | SOON, NonlinearRed, SOON_GIVEN,
        expects="EMT",
    ),
    Case(
        "rio", {"kind": "rio"}, Precedence,
        {
            "averaged": "own-and-better",
            "classes": [([10, 18, 26, 34], 40, 70, 0.02), ([], 10, 30, 0.2)],
        },
    ),
    Case(
        "rio, decoupled",
        {
            "kind": "rio", "coupling": "decoupled", "wq": 0.05, "in_dscp": [12],
            "least_backlog": "1 packet",
            "in_minth": "4 packets", "in_maxth": "8 packets", "in_maxp": 0.1,
            "out_minth": "3 packets", "out_maxth": "12 packets",
        },
        Precedence,
        {
            "averaged": "own", "classes": [([12], 4, 8, 0.1), ([], 3, 12, 0.2)], "wq": 0.05,
            "least": 1,
        },
        expects="EMT",
    ),
    Case(
        "wred",
        {
            "kind": "wred", "wq": 0.02, "least_backlog": "3 packets",
            "precedences": [
                {"dscp": [10], "minth": "12 packets", "maxth": "20 packets", "maxp": 0.05},
                {"dscp": [12], "minth": "8 packets", "maxth": "20 packets"},
                {"dscp": [14, 0], "minth": "4 packets", "maxth": "20 packets"},
            ],
        },
        Precedence,
        {
            "averaged": "all", "wq": 0.02, "least": 3,
            "classes": [([10], 12, 20, 0.05), ([12], 8, 20, 0.1), ([14, 0], 4, 20, 0.1)],
        },
        expects="EMT",
    ),
    Case(
        "gred in bytes",
        {
            "kind": "wred", "averaged": "own-and-better", "wq": 0.02,
            "precedences": [
                {"dscp": [10], "minth": "5 kB", "maxth": "20 kB", "maxp": 0.2},
                {"dscp": [12], "minth": "4 kB", "maxth": "20 kB"},
                {"minth": "3 kB", "maxth": "12 kB"},
            ],
        },
        Precedence,
        {
            "averaged": "own-and-better", "wq": 0.02, "unit": "bytes",
            "classes": [
                ([10], 5_000, 20_000, 0.2), ([12], 4_000, 20_000, 0.1), ([], 3_000, 12_000, 0.1),
            ],
        },
        expects="EMT",
    ),
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
            "target": 4, "most": 12, "increment": 0.02, "decrement": 0.005, "penalty_rate": 50,
            "penalty_burst": 5, "rehash": 0.5, "warmup": 0.2,
        },
        expects="EMT",
    ),
    Case("red-pd", {"kind": "red_pd"}, RedPd, flows=20),
    Case(
        "red-pd, soon",
        {
            "kind": "red_pd", "target_rtt": "10 ms", "lists": 4, "regular": 2, "gentle": False,
            "least_backlog": "2 packets",
        } | SOON,
        RedPd, {"target_rtt": 0.01, "m": 4, "k": 2, "gentle": False, "least": 2} | SOON_GIVEN,
        flows=20,
        limit=12, expects="EMTF",
    ),
    Case(
        "drop front", {"kind": "drop_tail", "drop_from": "front"}, Kept,
        {"drop_from": "front"}, limit=20, expects="F",
    ),
    Case(
        "drop front in bytes", {"kind": "drop_tail", "drop_from": "front", "limit": "20 kB"}, Kept,
        {"drop_from": "front", "limit": 20_000, "unit": "bytes"}, expects="F",
    ),
    Case(
        "random drop", {"kind": "drop_tail", "drop_from": "random"}, Kept,
        {"drop_from": "random"}, limit=20, expects="F",
    ),
    Case(
        "longest flow", {"kind": "drop_tail", "drop_from": "longest-flow"}, Kept,
        {"drop_from": "longest-flow"}, limit=20, expects="F",
    ),
    Case(
        "red, random drop",
        {"kind": "red", "drop_from": "random", "mark_at": "head", "gentle": False} | SOON, Kept,
        {
            "drop_from": "random", "mark_at": "head",
            "law": Red, "settings": SOON_GIVEN | {"gentle": False}, "limit": 10,
        },
        limit=10, expects="EMTF",
    ),
    Case(
        "head marking", {"kind": "threshold", "mark_at": "head", "threshold": "10 packets"}, Kept,
        {"mark_at": "head", "law": Threshold, "settings": {"k": 10}, "limit": 100}, expects="MT",
    ),
    Case("choke", {"kind": "choke"}, Choke, RED, expects="EMT"),
    Case("choke, soon", {"kind": "choke"} | SOON, Choke, SOON_GIVEN, expects="EMT"),
    Case("codel", {"kind": "codel"}, Codel, expects="EMF"),
    Case(
        "codel, short",
        {"kind": "codel", "target": "1 ms", "interval": "10 ms", "mtu": "500 B", "root": "exact"},
        Codel,
        {"target_us": 1000, "interval_us": 10_000, "maxpacket": 500, "newton": False},
        expects="EMF",
    ),
    Case(
        "codel, with a threshold", {"kind": "codel", "ce_threshold": "3 ms"}, Codel,
        {"ce_threshold_us": 3000}, expects="EMTF",
    ),
    Case(
        "fq_codel, with a threshold",
        {"kind": "fq_codel", "ce_threshold": "1 ms", "flows": 16}, FqCodel,
        {"ce_threshold_us": 1000, "flows": 16}, expects="EMT",
    ),
    Case("cobalt", {"kind": "cobalt"}, Cobalt, expects="EMF"),
    Case(
        "cobalt, short",
        {
            "kind": "cobalt", "target": "1 ms", "interval": "10 ms", "mtu": "100 B",
            "increment": 0.02, "decrement": 0.01,
        },
        Cobalt,
        {
            "target_us": 1000, "interval_us": 10_000, "mtu": 100, "p_inc": 0.02, "p_dec": 0.01,
            "limit": 30,
        },
        limit=30, expects="EMF",
    ),
    Case(
        "cobalt, as CAKE begins",
        {"kind": "cobalt", "first_signal": "next-packet"}, Cobalt, {"rec_inv_sqrt": 0},
        expects="EMF",
    ),
    Case("fq_pie", {"kind": "fq_pie"}, FqPie, flows=40),
    Case(
        "fq_pie, small",
        {
            "kind": "fq_pie", "target": "2 ms", "t_update": "3 ms", "max_burst": "9 ms",
            "flows": 4, "quantum": "300 B", "packet_limit": "40 packets", "mark_below": 0.5,
        },
        FqPie,
        {
            "qdelay_ref": 0.002, "t_update_ms": 3, "max_burst_ms": 9, "flows": 4, "quantum": 300,
            "limit": 40, "max_ecnth": 0.5,
        },
        expects="EMF",
    ),
    Case("fq_codel", {"kind": "fq_codel"}, FqCodel, flows=40),
    Case(
        "fq_codel, small",
        {
            "kind": "fq_codel", "target": "1 ms", "interval": "10 ms", "flows": 4,
            "quantum": "300 B", "packet_limit": "30 packets",
        },
        FqCodel,
        {"target_us": 1000, "interval_us": 10_000, "flows": 4, "quantum": 300, "limit": 30},
        expects="EMF",
    ),
    Case(
        "fq_codel, each queue for itself",
        {
            "kind": "fq_codel", "target": "1 ms", "interval": "10 ms", "flows": 8,
            "occupancy": "own-queue",
        },
        FqCodel, {"target_us": 1000, "interval_us": 10_000, "flows": 8, "alone": True},
        expects="EM",
    ),
    Case("dualpi2", {"kind": "dualpi2"}, DualPi2, expects="EMF"),
    Case(
        "dualpi2, small, a step, in bytes",
        {
            "kind": "dualpi2", "limit": "60 kB", "target": "5 ms", "t_update": "4 ms",
            "alpha": 0.5, "coupling": 1.5, "min_th": "1 ms", "range": "0 s", "th_len": "2 packets",
            "classic_share": 0.25, "mtu": "1000 B",
        },
        DualPi2,
        {
            "limit": 60_000, "unit": "bytes", "target": 0.005, "t_update_us": 4000, "alpha": 0.5,
            "k": 1.5, "min_th_us": 1000, "range_us": 0, "th_len": 2, "share": 0.25, "mtu": 1000,
        },
        expects="EMF",
    ),
    Case(
        "dualpi2, its own limit", {"kind": "dualpi2", "limit": "250 ms"}, DualPi2,
        {"limit": 312_500, "unit": "bytes"}, expects="EM",
    ),
    Case(
        "dualpi2, sparing as Linux",
        {"kind": "dualpi2", "sparing": "linux", "th_len": "2 packets", "target": "5 ms"},
        DualPi2, {"linux": True, "th_len": 2, "target": 0.005}, expects="EM",
    ),
    Case(
        "dualpi2, time-shifted",
        {"kind": "dualpi2", "scheduler": "ts-fifo", "time_shift": "8 ms"},
        DualPi2, {"tshift_us": 8000}, expects="EMF",
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
        Blue, {"freeze_time": 0.01, "most": 15}, expects="EM",
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
        {"kind": "tc_pie", "t_update": "20 ms", "alpha": 0, "beta": 1},
        TcPie, {"t_update_ms": 20, "alpha": 0, "beta": 1, "limit": 1000}, rate=1_000_000,
        limit=1000, expects="EM",
    ),
    Case(
        "fq_pie by linux's rules", {"kind": "fq_pie", "rules": "linux"}, LinuxFqPie, flows=40,
        expects="E",
    ),
    Case(
        "fq_pie by linux's rules, small",
        {
            "kind": "fq_pie", "rules": "linux", "target": "2 ms", "t_update": "3 ms",
            "max_burst": "9 ms", "flows": 4, "quantum": "300 B", "packet_limit": "40 packets",
            "mark_below": 0.5, "mean_packet_size": "200 B",
        },
        LinuxFqPie,
        {
            "target_ms": 2, "t_update_ms": 3, "max_burst_ms": 9, "flows": 4, "quantum": 300,
            "limit": 40, "ecn_prob": 50, "mtu": 200,
        },
        expects="EMF",
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
        "pi2, least backlog", {"kind": "pi2", "target": "5 ms", "least_backlog": "3000 B"},
        Pi2, {"target": 0.005, "least": 3000},
    ),
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
        {
            "kind": "adaptive_red", "interval": "20 ms", "target_delay": "20 ms",
            "least_backlog": "0 packets",
        },
        AdaptiveRed,
        {"interval": 0.02, "target_delay": 0.02, "least": 0},
    ),
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
    seen = Counter(records["code"].tolist())
    happened = {"E": seen[5], "M": seen[2] + seen[3], "T": seen[3] + seen[6], "F": seen[4]}
    least = 20
    assert seen[0] > least, f"hardly anything passes: {seen}"
    for what in case.expects:
        assert happened[what] >= least, f"the traffic hardly tries the law: {seen}"


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_decides_as_its_reference(case: Case) -> None:
    compare(case, seed=1, arrivals=40_000)


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_decides_as_its_reference_a_million_times(case: Case) -> None:
    compare(case, seed=2, arrivals=1_000_000)
