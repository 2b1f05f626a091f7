"""Dumbbell of bulk and CBR flows for the comparisons with ns-2 and ns-3."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from os import cpu_count
from random import Random
from typing import Any

import aqmlab
from aqmlab.results import Result
from validation.row import Row, Tolerance

SEGMENT_BYTES = 1460
FAR_S = 0.001
"""Propagation delay of the link from the right router to each receiver, in s."""
BOTTLENECK = "L>R"
"""Name of the bottleneck link in aqmlab."""
Numbers = dict[str, float]
"""Measured values of one run, by the keys of `MEASURES`."""

MEASURES = {
    "finish": ("time of the last completion", "s", Tolerance(0.03, paired=True)),
    "goodput": ("goodput", "Mbit/s", Tolerance(0.02, paired=True)),
    "queue": ("mean queue", "packets", Tolerance(0.05, 0.5, paired=True)),
    "drops": ("drops", "", Tolerance(0.1, 2, paired=True)),
    "marks": ("marks", "", Tolerance(0.1, 2, paired=True)),
    "retransmitted": ("retransmitted segments", "", Tolerance(0.1, 2, paired=True)),
    "timeouts": ("timeouts", "", Tolerance(0.2, 2, paired=True)),
    "cbr": ("received CBR traffic", "Mbit/s", Tolerance(0.02, paired=True)),
}
"""Name, unit and tolerance of each measure, by its key."""


@dataclass(frozen=True)
class Cbr:
    """Flow of constant bit rate.

    Parameters
    ----------
    rate : float
        Rate on the wire in bit/s.
    packet : int
        Size of a packet on the wire in bytes.
    """

    rate: float
    packet: int = 1000


@dataclass(frozen=True)
class Draws:
    """Random start times and delays of a replication, which both simulators use.

    Parameters
    ----------
    starts, delays : list of float
        Start of each flow and delay of each sender's link, in s. In each list, the values of the
        TCP flows precede the values of the CBR flows.
    """

    starts: list[float]
    delays: list[float]


@dataclass(frozen=True)
class Dumbbell:
    """Setting of a comparison between two simulators.

    Parameters
    ----------
    name : str
        Name of the setting.
    queue : dict
        Queue of the bottleneck, with the keys of a scenario.
    tcp : dict
        TCP of all flows, with the keys of a scenario. The first `ecn_flows` flows also use ECN.
    flows : int
        Number of TCP flows.
    rate, access : float
        Rates of the bottleneck and of the other links in bit/s.
    delay : float
        Propagation delay of the bottleneck in s.
    near : tuple of float
        Minimum and maximum of the delays of the senders' links, in s. The delays are uniformly
        distributed.
    size : int
        Number of segments of each transfer, or 0 if each flow sends data until the end of the run.
    duration, warmup : float
        Length of the run and of its warm-up, in s. The mean queue is measured after the warm-up.
    ecn_flows : int
        Number of TCP flows with ECN.
    cbr : tuple of Cbr
        The CBR flows.
    replications : int
        Number of runs with different seeds, in aqmlab and in the peer.
    peer_arguments : dict
        Arguments for the peer's script that cannot be computed from the other fields.
    """

    name: str
    queue: dict[str, Any]
    tcp: dict[str, Any] = field(default_factory=dict)
    flows: int = 5
    rate: float = 1.5e6
    access: float = 10e6
    delay: float = 0.02
    near: tuple[float, float] = (0.001, 0.02)
    size: int = 0
    duration: float = 100.0
    warmup: float = 20.0
    ecn_flows: int = 0
    cbr: tuple[Cbr, ...] = ()
    replications: int = 40
    peer_arguments: dict[str, Any] = field(default_factory=dict)

    def draws(self, replication: int) -> Draws:
        """Return the random starts and delays of a replication, in whole microseconds."""
        rng = Random(f"{self.name}/{replication}")
        count = self.flows + len(self.cbr)
        return Draws(
            [round(rng.uniform(0.1, 1.1), 6) for _ in range(count)],
            [round(rng.uniform(*self.near), 6) for _ in range(count)],
        )

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of a replication for aqmlab."""
        draws = self.draws(replication)
        ample = {"kind": "drop_tail", "limit": "100000 packets"}
        access = {"rate": f"{self.access} bit/s", "queue": ample, "reverse": {"queue": ample}}
        links: list[dict[str, Any]] = [
            {"from": "L", "to": "R", "rate": f"{self.rate} bit/s", "delay": f"{self.delay} s",
             "queue": self.queue, "reverse": {"queue": ample}}
        ]  # fmt: skip
        for i, delay in enumerate(draws.delays):
            links.append({"from": f"s{i}", "to": "L", "delay": f"{delay} s", **access})
            links.append({"from": "R", "to": f"d{i}", "delay": f"{FAR_S} s", **access})
        bulk: dict[str, Any] = {"kind": "bulk"}
        if self.size:
            bulk["size"] = f"{self.size * SEGMENT_BYTES} B"
        traffic = [bulk] * self.flows + [
            {"kind": "cbr", "rate": f"{c.rate} bit/s", "payload": f"{c.packet - 28} B",
             "headers": "28 B"}
            for c in self.cbr
        ]  # fmt: skip
        flows: list[dict[str, Any]] = []
        for i, (start, kind) in enumerate(zip(draws.starts, traffic, strict=True)):
            flow = {"name": f"f{i}", "from": f"s{i}", "to": f"d{i}", "start": f"{start} s"}
            tcp = {"tcp": {"ecn": "rfc3168"}} if i < self.ecn_flows else {}
            flows.append({**flow, "traffic": kind, **tcp})
        return {
            "title": self.name,
            "seed": replication + 1,
            **({"time_limit": "10000 s"} if self.size else {"duration": f"{self.duration} s"}),
            "phase_breaking": {"start": "0 s", "delay": "0 s"},
            "network": {"kind": "graph", "links": links},
            "flows": flows,
            "tcp": self.tcp,
            "record": {"series": ["queue"], "interval": "10 ms", "links": [BOTTLENECK]},
        }

    def numbers(self, result: Result) -> Numbers:
        """Return the measures of a run of aqmlab."""
        links = result.links.set_index("link").loc[BOTTLENECK]
        numbers = {"drops": float(links["dropped_packets"])}
        if self.ecn_flows:
            numbers["marks"] = float(links["marked_packets"])
        if self.flows:
            flows = result.flows
            numbers["retransmitted"] = float(flows["retransmitted_segments"].sum())
            numbers["timeouts"] = float(flows["timeouts"].sum())
            if self.size:
                return numbers | {"finish": float(flows["completed_s"].max())}
            numbers["goodput"] = float(flows["acked_bytes"].sum()) * 8e-6 / self.duration
        if self.cbr:
            received = float(result.table("datagrams")["received_bytes"].sum())
            wire = received * self.cbr[0].packet / (self.cbr[0].packet - 28)
            numbers["cbr"] = wire * 8e-6 / self.duration
        queue = result.series("queue")
        late = queue[queue["time_s"] >= self.warmup]
        numbers["queue"] = float(late["queue_packets"].mean())
        return numbers


def simulated(settings: Sequence[Dumbbell]) -> dict[str, list[Numbers]]:
    """Run every replication of every setting in aqmlab, in parallel on all cores."""
    jobs = [(setting, i) for setting in settings for i in range(setting.replications)]
    runs: dict[int, Numbers] = {}
    for index, result in aqmlab.run_each(setting.scenario(i) for setting, i in jobs):
        runs[index] = jobs[index][0].numbers(result)
    by_setting: dict[str, list[Numbers]] = {setting.name: [] for setting in settings}
    for index, (setting, _) in enumerate(jobs):
        by_setting[setting.name].append(runs[index])
    return by_setting


def compare(
    settings: Sequence[Dumbbell],
    theirs: Callable[[Dumbbell, int], Numbers],
    causes: dict[tuple[str, str], str],
) -> Iterator[Row]:
    """Run every setting in aqmlab and in the peer, and yield a row for each setting and measure.

    Parameters
    ----------
    settings : sequence of Dumbbell
        The settings.
    theirs : callable
        Function that runs a replication in the peer and returns its measures.
    causes : dict
        Causes of differences beyond the tolerance, by the setting's name and the measure's key.
    """
    ours = simulated(settings)
    with ThreadPoolExecutor(cpu_count()) as pool:
        for setting in settings:
            runs = list(pool.map(theirs, [setting] * setting.replications,
                                 range(setting.replications)))  # fmt: skip
            yield from rows_of(setting, ours[setting.name], runs, causes)


def rows_of(
    setting: Dumbbell,
    ours: Sequence[Numbers],
    theirs: Sequence[Numbers],
    causes: dict[tuple[str, str], str],
) -> Iterable[Row]:
    """Yield the rows of a setting; a count of 0 on both sides has no row, except for drops."""
    for key, (measure, unit, tolerance) in MEASURES.items():
        if key not in ours[0] or key not in theirs[0]:
            continue
        a, b = (tuple(run[key] for run in runs) for runs in (ours, theirs))
        if any(a + b) or key == "drops":
            cause = causes.get((setting.name, key), "")
            yield Row(setting.name, measure, unit, a, b, tolerance, cause)
