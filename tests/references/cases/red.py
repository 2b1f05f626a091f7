"""Cases of the comparison with references, for RED and its variants."""

from typing import Any

from references.adaptive_red import AdaptiveRed
from references.cases import LOW_KEYS, LOW_SETTINGS, RED, Case
from references.precedence import Precedence
from references.red import Red
from references.red_pd import RedPd
from references.red_variants import NonlinearRed, SelfConfiguringRed
from references.tc_red import TcRed


def red(name: str, queue: dict[str, Any], expects: str = "EM", **parameters: Any) -> Case:
    """Return a case of RED; `parameters` override the default parameters of the reference."""
    parameters = RED | parameters
    unit = "B" if parameters.get("unit") == "bytes" else "packets"
    text = {"minth": f"{parameters['minth']} {unit}", "maxth": f"{parameters['maxth']} {unit}"}
    text |= {"maxp": parameters["maxp"], "wq": parameters["wq"]}
    return Case(f"red {name}", {"kind": "red"} | text | queue, Red, parameters, expects=expects)


STUDY_C: dict[str, float] = {"qmin": 5_000, "qmax": 15_000, "avpkt": 1500, "burst": 5}
STUDY_C |= {"probability": 0.02, "bandwidth": 100_000}
"""Parameters of Linux's RED for a bottleneck of 100 kbit/s, in the case "tc red, study C"."""
RED_VARIANTS = [
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
        "tc red, linux 2.4",
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
        "self-configuring red, low thresholds",
        {"kind": "self_configuring_red"} | LOW_KEYS,
        SelfConfiguringRed, LOW_SETTINGS | {"gentle": False}, expects="EMT",
    ),
    Case(
        "self-configuring red, minimum backlog",
        {"kind": "self_configuring_red", "min_backlog": "2 packets"} | LOW_KEYS,
        SelfConfiguringRed, LOW_SETTINGS | {"gentle": False, "min_backlog": 2}, expects="EMT",
    ),
    Case(
        "nonlinear red, minimum backlog",
        {"kind": "nonlinear_red", "min_backlog": "2 packets"} | LOW_KEYS, NonlinearRed,
        LOW_SETTINGS | {"min_backlog": 2}, expects="EMT",
    ),
    Case("nonlinear red", {"kind": "nonlinear_red"}, NonlinearRed, RED | {"maxp": 0.15}),
    Case(
        "nonlinear red, low thresholds", {"kind": "nonlinear_red"} | LOW_KEYS, NonlinearRed,
        LOW_SETTINGS, expects="EMT",
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
            "min_backlog": "1 packet",
            "in_minth": "4 packets", "in_maxth": "8 packets", "in_maxp": 0.1,
            "out_minth": "3 packets", "out_maxth": "12 packets",
        },
        Precedence,
        {
            "averaged": "own", "classes": [([12], 4, 8, 0.1), ([], 3, 12, 0.2)], "wq": 0.05,
            "min_backlog": 1,
        },
        expects="EMT",
    ),
    Case(
        "wred",
        {
            "kind": "wred", "wq": 0.02, "min_backlog": "3 packets",
            "precedences": [
                {"dscp": [10], "minth": "12 packets", "maxth": "20 packets", "maxp": 0.05},
                {"dscp": [12], "minth": "8 packets", "maxth": "20 packets"},
                {"dscp": [14, 0], "minth": "4 packets", "maxth": "20 packets"},
            ],
        },
        Precedence,
        {
            "averaged": "all", "wq": 0.02, "min_backlog": 3,
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
    Case("red-pd", {"kind": "red_pd"}, RedPd, flows=20),
    Case(
        "red-pd, low thresholds",
        {
            "kind": "red_pd", "target_rtt": "10 ms", "lists": 4, "regular": 2, "gentle": False,
            "min_backlog": "2 packets",
        } | LOW_KEYS,
        RedPd,
        {"target_rtt": 0.01, "m": 4, "k": 2, "gentle": False, "min_backlog": 2} | LOW_SETTINGS,
        flows=20,
        limit=12, expects="EMTF",
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
    red(
        "ns-2's bytes",
        {"chance_by": "bytes", "reference_size": "700 B", "limit": "30 kB"},
        "EMF",
        unit="bytes", minth=8000, maxth=24000, by_bytes=700, wq=0.02,
    ),
    red(
        "ns-2's bytes, wait, in packets",
        {"chance_by": "bytes", "spacing": "wait", "gentle": False},
        "EMT",
        gentle=False, spacing="wait", by_bytes=1500, wq=0.02, maxp=0.3,
    ),
    red("least", {"min_backlog": "1 packet"}, min_backlog=1, wq=0.1, minth=2, maxth=6),
    Case("adaptive red", {"kind": "adaptive_red"}, AdaptiveRed),
    Case("adaptive red, 1 Mbit/s", {"kind": "adaptive_red"}, AdaptiveRed, rate=1_000_000),
    Case(
        "adaptive red, short interval",
        {
            "kind": "adaptive_red", "interval": "20 ms", "target_delay": "20 ms",
            "min_backlog": "0 packets",
        },
        AdaptiveRed,
        {"interval": 0.02, "target_delay": 0.02, "min_backlog": 0},
    ),
    Case(
        "adaptive red, ns-2's bytes", {"kind": "adaptive_red", "chance_by": "bytes"}, AdaptiveRed,
        {"unit": "bytes", "by_bytes": 500},
    ),
]  # fmt: skip
