"""Comparison of pairs of flows over L4S and classic queues with 216 pairs on real hosts.

``measured/pairs.csv`` has the throughputs that were measured on Linux hosts. ``README.md``
describes the hosts and the settings of aqmlab.
"""

import csv
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import aqmlab
from validation.row import Row, Tolerance

HERE = Path(__file__).parent
SEEDS = (1, 2, 3)
"""Seeds of the three simulated runs of each pair of flows."""
LEAD_S = 1.0
"""Time from the beginning of a run to the start of the first flow, in s."""
OFFSETS_MS = (0.0, 1.3, 3.7, 7.0, 11.0)
"""Time in ms between the starts of the first and the second flow, by the seed modulo 5."""
WINDOWS_S = {"s1": (118.0, 178.0), "s6": (18.0, 58.0)}
"""Begin and end of the throughput measurement, in s after the start of the first flow."""
RATIO = 1.25
"""Maximum factor by which the simulated and the measured ratio of two throughputs may differ."""
WITHIN_MBIT = {10: 1.0, 50: 2.0}
"""Maximum difference between a simulated and a measured throughput, by bottleneck rate (Mbit/s)."""
UNKNOWN = "cnq_codel_af"
"""CoDel with approximate fairness, a queue that aqmlab does not have."""

DUALPI2 = {
    "kind": "dualpi2",
    "limit": "10000 packets",
    "min_th": "1 ms",
    "range": "0 s",
    "th_len": "2 packets",
    "sparing": "linux",
    "choice": "random",
    "classic_share": 0.1,
    "mtu": "1514 B",
}
"""Defaults of sch_dualpi2.c in the L4S team's kernel of August 2020."""
CODEL = {"kind": "fq_codel", "mtu": "1514 B"}
PIE = {"kind": "tc_pie", "mtu": "1514 B", "ecn": "mark"}
RED = {"kind": "tc_red", "avpkt": "1000 B", "bandwidth": "50 Mbit/s", "ecn": "mark"}
QUEUES: dict[str, dict[str, Any]] = {
    "dualpi2": DUALPI2,
    "pfifo(200)": {"kind": "drop_tail", "limit": "200 packets"},
    "pfifo(1000)": {"kind": "drop_tail", "limit": "1000 packets"},
    "fq_codel": CODEL,
    "fq_codel(1q)": CODEL | {"flows": 1},
    "fq_codel(1q,1ms/20ms)": CODEL | {"flows": 1, "target": "1 ms", "interval": "20 ms"},
    "pie": PIE | {"limit": "1000 packets", "t_update": "16 ms"},
    "pie(100p/5ms)": PIE | {"limit": "100 packets", "target": "5 ms", "t_update": "32 ms"},
    "red(150000b)": RED | {"limit": "150000 B", "max": "37500 B"},
    "red(400000b)": RED | {"limit": "400000 B", "max": "100000 B"},
}
"""Settings of each queue in aqmlab, by the name of the queue in ``pairs.csv``."""
PRAGUE = {"congestion": {"kind": "prague", "rtt_virtual": "0 s"}}
"""Prague without a virtual round trip: tcp_prague.c of August 2020 has RTT_CONTROL_NONE."""


@dataclass(frozen=True)
class Pair:
    """Measurement of two flows that share a bottleneck.

    Parameters
    ----------
    scenario : str
        Scenario of the published tests, "s1" or "s6".
    rate_mbit : int
        Rate of the bottleneck in Mbit/s.
    qdisc : str
        Queue of the bottleneck.
    flows : tuple of str
        Congestion control of each flow, followed by "-ecn" or "-noecn" in s6.
    rtts_ms : tuple of float
        Round-trip time of each path in ms, without queueing.
    mbit : tuple of float
        Throughput of each flow in Mbit/s.
    """

    scenario: str
    rate_mbit: int
    qdisc: str
    flows: tuple[str, str]
    rtts_ms: tuple[float, float]
    mbit: tuple[float, float]

    @property
    def known(self) -> bool:
        """True if aqmlab has the queue of the pair."""
        return self.qdisc in QUEUES

    @property
    def setting(self) -> str:
        """Name of the pair, unique among the pairs of its scenario."""
        sides = (
            f"{flow} with RTT {rtt:g} ms"
            for flow, rtt in zip(self.flows, self.rtts_ms, strict=True)
        )
        return f"{self.rate_mbit} Mbit/s, {self.qdisc}: {' and '.join(sides)}"


def measured() -> list[Pair]:
    """Return the measured pairs of flows."""
    with (HERE / "measured" / "pairs.csv").open(encoding="utf-8") as file:
        return [
            Pair(
                row["scenario"],
                int(row["rate_mbit"]),
                row["qdisc"],
                (row["first"], row["second"]),
                (float(row["first_rtt_ms"]), float(row["second_rtt_ms"])),
                (float(row["first_mbit"]), float(row["second_mbit"])),
            )
            for row in csv.DictReader(file)
        ]


def tcp(flow: str) -> dict[str, Any]:
    """Return the TCP keys of a flow with a congestion control named as in :class:`Pair`.

    The hosts negotiated Accurate ECN (net.ipv4.tcp_ecn = 3). Linux gathers segments for a
    segmentation offload even if the device has no such offload. At up to 50 Mbit/s, Prague sends
    single segments.
    """
    kind, _, ecn = flow.partition("-")
    if kind == "prague":
        return PRAGUE
    return {
        "congestion": kind,
        "ecn": "off" if ecn == "noecn" else "accurate",
        "offload": "linux",
    }


def scenario(pair: Pair, seed: int) -> dict[str, Any]:
    """Return the scenario that simulates the flows of a pair with the given seed."""
    left = [
        {
            "from": f"left-{i}",
            "to": "router",
            "rate": "100 Gbit/s",
            "delay": f"{rtt / 2:g} ms",
        }
        for i, rtt in enumerate(pair.rtts_ms)
    ]
    htb = {
        "kind": "htb",
        "classes": [
            {
                "rate": f"{pair.rate_mbit} Mbit/s",
                "burst": "1600 B",
                "cburst": "1600 B",
                "queue": QUEUES[pair.qdisc],
            }
        ],
    }
    right = {
        "from": "router",
        "to": "right",
        "rate": "100 Gbit/s",
        "delay": "0 s",
        "queue": htb,
    }
    starts = (LEAD_S, LEAD_S + OFFSETS_MS[seed % 5] / 1e3)
    return {
        "seed": seed,
        "duration": f"{LEAD_S + WINDOWS_S[pair.scenario][1]:g} s",
        "phase_breaking": {"start": "0 s", "delay": "0 s"},
        "network": {"kind": "graph", "links": [*left, right]},
        "flows": [
            {
                "name": str(i + 1),
                "from": f"left-{i}",
                "to": "right",
                "start": f"{starts[i]:.4f} s",
                "traffic": "bulk",
                "tcp": tcp(flow),
            }
            for i, flow in enumerate(pair.flows)
        ],
        "tcp": {"stack": "linux", "wire": {"data_header": "54 B", "control_header": "54 B"}},
        "record": {"series": ["delivery_rate"], "interval": "50 ms"},
    }


def throughputs(pair: Pair, run: aqmlab.Result) -> tuple[float, float]:
    """Return the throughputs of both flows of a run in Mbit/s, defined as in the published tables.

    A throughput is the mean delivery rate over the time of the measurement. A delivery rate is data
    divided by the longer of two intervals, the interval of sending and the interval of
    acknowledgement. The mean is therefore up to 6 % smaller than the acknowledged data per second.
    """
    begin, end = (LEAD_S + time for time in WINDOWS_S[pair.scenario])
    series = run.series("delivery_rate")
    series = series[(series["time_s"] > begin) & (series["time_s"] < end)]
    rates = series.groupby("flow", observed=True)["delivery_rate_bps"].mean() / 1e6
    return float(rates["1"]), float(rates["2"])


def simulated(pairs: list[Pair], seeds: tuple[int, ...] = SEEDS) -> list[list[tuple[float, float]]]:
    """Return the throughputs of the two flows of each pair in Mbit/s, for each seed."""
    jobs = [(pair, seed) for pair in pairs for seed in seeds]
    ours: list[list[tuple[float, float]]] = [[(0.0, 0.0)] * len(seeds) for _ in pairs]
    for index, run in aqmlab.run_each(scenario(*job) for job in jobs):
        pair, seed = divmod(index, len(seeds))
        ours[pair][seed] = throughputs(pairs[pair], run)
    return ours


def agrees(pair: Pair, ours: list[tuple[float, float]]) -> bool:
    """Return True if the means of the simulated throughputs agree with the measured pair."""
    means = [mean(side) for side in zip(*ours, strict=True)]
    within = WITHIN_MBIT[pair.rate_mbit]
    if all(abs(a - b) <= within for a, b in zip(means, pair.mbit, strict=True)):
        return True
    ratio: float = (means[0] / means[1]) / (pair.mbit[0] / pair.mbit[1])
    return 1 / RATIO <= ratio <= RATIO


def bound(pair: Pair, flow: int, ours: float) -> float:
    """Return by how much the simulated and the measured throughput of a flow may differ, in Mbit/s.

    Parameters
    ----------
    pair : Pair
        Measured pair.
    flow : int
        0 for the first flow, 1 for the second.
    ours : float
        Simulated throughput of this flow. The bound on the ratio of the throughputs allows
        different amounts above and below the measured throughput; `ours` selects one of the two
        amounts.
    """
    mine, other = pair.mbit[flow], pair.mbit[1 - flow]
    ratio = mine / other * (RATIO if ours > mine else 1 / RATIO)
    by_ratio = abs((mine + other) * ratio / (1 + ratio) - mine)
    return max(WITHIN_MBIT[pair.rate_mbit], by_ratio)


def rows(pair: Pair, ours: list[tuple[float, float]]) -> list[Row]:
    """Return the two rows of a pair of flows, one for the throughput of each flow."""
    result = []
    for i, measure in enumerate(("throughput of the first flow", "throughput of the second flow")):
        values = tuple(one[i] for one in ours)
        tolerance = Tolerance(absolute=bound(pair, i, mean(values)), interval=False)
        cause = CAUSES.get((pair.scenario, pair.setting), "")
        result.append(
            Row(pair.setting, measure, "Mbit/s", values, (pair.mbit[i],), tolerance, cause)
        )
    return result


CAUSES: dict[tuple[str, str], str] = {}
"""Cause of each difference beyond the tolerance, by scenario and setting.

A difference that is not in this table has no known cause.
"""
