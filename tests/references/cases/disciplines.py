"""Cases of queue disciplines that can drop or mark a packet after they stored it."""

from references.cases import LOW_KEYS, LOW_SETTINGS, RED, Case
from references.cobalt import Cobalt
from references.controllers import Threshold
from references.disciplines import Choke, Codel, Fifo
from references.dualpi2 import DualPi2
from references.fq_codel import FqCodel
from references.fq_pie import FqPie, LinuxFqPie
from references.red import Red

DISCIPLINES = [
    Case(
        "drop front", {"kind": "drop_tail", "drop_from": "front"}, Fifo,
        {"drop_from": "front"}, limit=20, expects="F",
    ),
    Case(
        "drop front in bytes", {"kind": "drop_tail", "drop_from": "front", "limit": "20 kB"}, Fifo,
        {"drop_from": "front", "limit": 20_000, "unit": "bytes"}, expects="F",
    ),
    Case(
        "random drop", {"kind": "drop_tail", "drop_from": "random"}, Fifo,
        {"drop_from": "random"}, limit=20, expects="F",
    ),
    Case(
        "longest flow", {"kind": "drop_tail", "drop_from": "longest-flow"}, Fifo,
        {"drop_from": "longest-flow"}, limit=20, expects="F",
    ),
    Case(
        "red, random drop",
        {"kind": "red", "drop_from": "random", "mark_at": "head", "gentle": False} | LOW_KEYS, Fifo,
        {
            "drop_from": "random", "mark_at": "head",
            "aqm": Red, "settings": LOW_SETTINGS | {"gentle": False}, "limit": 10,
        },
        limit=10, expects="EMTF",
    ),
    Case(
        "head marking", {"kind": "threshold", "mark_at": "head", "threshold": "10 packets"}, Fifo,
        {"mark_at": "head", "aqm": Threshold, "settings": {"k": 10}, "limit": 100}, expects="MT",
    ),
    Case("choke", {"kind": "choke"}, Choke, RED, expects="EMT"),
    Case("choke, low thresholds", {"kind": "choke"} | LOW_KEYS, Choke, LOW_SETTINGS, expects="EMT"),
    Case("codel", {"kind": "codel"}, Codel, expects="EMF"),
    Case(
        "codel, short",
        {"kind": "codel", "target": "1 ms", "interval": "10 ms", "mtu": "500 B", "root": "exact"},
        Codel,
        {"target_us": 1000, "interval_us": 10_000, "maxpacket": 500, "newton": False},
        expects="EMF",
    ),
    Case(
        "codel, CE threshold", {"kind": "codel", "ce_threshold": "3 ms"}, Codel,
        {"ce_threshold_us": 3000}, expects="EMTF",
    ),
    Case(
        "fq_codel, CE threshold",
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
        "cobalt, initial state of CAKE",
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
        "fq_codel, occupancy of each queue",
        {
            "kind": "fq_codel", "target": "1 ms", "interval": "10 ms", "flows": 8,
            "occupancy": "own-queue",
        },
        FqCodel, {"target_us": 1000, "interval_us": 10_000, "flows": 8, "own_queue": True},
        expects="EM",
    ),
    Case("dualpi2", {"kind": "dualpi2"}, DualPi2, expects="EMF"),
    Case(
        "dualpi2, small, step, in bytes",
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
        "dualpi2, limit in ms", {"kind": "dualpi2", "limit": "250 ms"}, DualPi2,
        {"limit": 312_500, "unit": "bytes"}, expects="EM",
    ),
    Case(
        "dualpi2, sparing of linux",
        {"kind": "dualpi2", "sparing": "linux", "th_len": "2 packets", "target": "5 ms"},
        DualPi2, {"linux": True, "th_len": 2, "target": 0.005}, expects="EM",
    ),
    Case(
        "dualpi2, time-shifted",
        {"kind": "dualpi2", "scheduler": "ts-fifo", "time_shift": "8 ms"},
        DualPi2, {"tshift_us": 8000}, expects="EMF",
    ),
    Case(
        "fq_pie, rules of linux", {"kind": "fq_pie", "rules": "linux"}, LinuxFqPie, flows=40,
        expects="E",
    ),
    Case(
        "fq_pie, rules of linux, small",
        {
            "kind": "fq_pie", "rules": "linux", "target": "2 ms", "t_update": "3 ms",
            "max_burst": "9 ms", "flows": 4, "quantum": "300 B", "packet_limit": "40 packets",
            "mark_below": 0.5, "mean_packet_size": "200 B",
            "hz": 250,
        },
        LinuxFqPie,
        {
            "target_ms": 2, "t_update_ms": 3, "max_burst_ms": 9, "flows": 4, "quantum": 300,
            "limit": 40, "ecn_prob": 50, "mtu": 200, "hz": 250,
        },
        expects="EMF",
    ),
]  # fmt: skip
