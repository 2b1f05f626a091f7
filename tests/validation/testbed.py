"""Comparison of the simulator with the TCP of a Linux kernel over the same links and queues."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import aqmlab
from aqmlab.engine.testbed import KernelTestbed, image
from aqmlab.results import Result
from validation.row import Row, Tolerance

NAME = "Testbed"
ABOUT = """\
Each setting runs in the simulator and on the testbed `testbed:kernel`, which boots Linux 6.12 in
virtual time. The links and queues are the same code in both cases, so a difference is a difference
of TCP or of the hosts. The stack is `linux`, without offloads. The memory of a received segment is
that of a TUN device (`memory.segment = "linear"`). Run i of the simulator and run i of the testbed
have the same seed, and therefore the same start times and delays."""

BOTTLENECK = "left>right"
MEASURES = {
    "goodput": ("goodput", "Mbit/s", Tolerance(0.02, paired=True)),
    "delay": ("mean queueing delay", "ms", Tolerance(0.05, 0.1, paired=True)),
    "drops": ("drops", "", Tolerance(0.1, 2, paired=True)),
    "marks": ("marks", "", Tolerance(0.1, 2, paired=True)),
    "response": ("mean response time", "ms", Tolerance(0.05, paired=True)),
}
"""Name, unit and tolerance of each measure, by its key."""
Numbers = dict[str, float]


@dataclass(frozen=True)
class Setting:
    """Setting of a comparison.

    Parameters
    ----------
    name : str
        Name of the setting.
    queue : dict
        Queue of the bottleneck, with the keys of a scenario.
    rate : str
        Rate of the bottleneck.
    delay : str
        Propagation delay of the bottleneck in one direction.
    flows : int
        Number of bulk flows.
    tcp : dict
        TCP keys in addition to the stack.
    network : dict
        Other keys of the network.
    others : tuple of dict
        Other `[[flows]]` tables.
    duration, warm_up : str
        Length of the run and of its warm-up.
    runs : int
        Number of seeds.
    causes : dict
        Causes of differences beyond the tolerance, by the key of the measure.
    """

    name: str
    queue: dict[str, Any]
    rate: str = "10 Mbit/s"
    delay: str = "20 ms"
    flows: int = 4
    tcp: dict[str, Any] = field(default_factory=dict)
    network: dict[str, Any] = field(default_factory=dict)
    others: tuple[dict[str, Any], ...] = ()
    duration: str = "30 s"
    warm_up: str = "10 s"
    runs: int = 5
    causes: Mapping[str, str] = field(default_factory=dict)

    def scenario(self, run: int) -> dict[str, Any]:
        """Return the scenario of a run."""
        access = {"left_rate": "10 Gbit/s", "left_delay": "0 s"}
        access |= {"right_rate": "10 Gbit/s", "right_delay": "0 s"}
        bulk = {"name": "bulk-{i}", "count": self.flows, "from": "left-0", "to": "right-0",
                "traffic": {"kind": "bulk"}}  # fmt: skip
        return {
            "title": self.name,
            "seed": run + 1,
            "duration": self.duration,
            "warm_up": self.warm_up,
            "network": {"kind": "dumbbell", "rate": self.rate, "delay": self.delay, **access,
                        "queue": self.queue, **self.network},
            "flows": [bulk] * (self.flows > 0) + list(self.others),
            "tcp": {"stack": "linux", "memory": {"segment": "linear"}, **self.tcp},
            "record": {"series": ["delays"], "links": [BOTTLENECK]},
        }  # fmt: skip

    def numbers(self, result: Result) -> Numbers:
        """Return the measures of a run."""
        links = result.columns("links")
        at = list(links["link"]).index(BOTTLENECK)
        numbers = {
            "goodput": 1e-6 * float(sum(result.columns("flows")["goodput_bps"])),
            "delay": 1e3 * float(result.columns("delays")["mean_delay_s"][0]),
            "drops": float(links["dropped_packets"][at]),
            "marks": float(links["marked_packets"][at]),
        }
        if "exchanges" in result.tables:
            numbers["response"] = 1e3 * float(result.columns("exchanges")["mean_duration_s"][0])
        return numbers


def tail(packets: int) -> dict[str, Any]:
    """Return a Drop Tail queue."""
    return {"kind": "drop_tail", "limit": f"{packets} packets"}


RED = {"kind": "red", "limit": "200 packets", "minth": "15 packets", "maxth": "45 packets"}
ECN = {"ecn": "rfc3168"}
REQUESTS = {
    "name": "requests", "from": "right-0", "to": "left-0",
    "traffic": {"kind": "request_response", "request": "300 B", "response": "60 kB",
                "requests": 3, "think_time": "100 ms"},
    "arrivals": {"interval": "250 ms"},
}  # fmt: skip
CALL = {"name": "call", "from": "left-0", "to": "right-0", "traffic": {"kind": "voip"}}

SETTINGS = (
    Setting("tail_1m_reno1", tail(20), "1 Mbit/s", flows=1, tcp={"congestion": "reno"}),
    Setting("tail_10m_cubic1", tail(100), flows=1),
    Setting("tail_10m_cubic4", tail(100)),
    Setting("tail_10m_reno2", tail(40), flows=2, tcp={"congestion": "reno"}),
    Setting("tail_100m_cubic4", tail(400), "100 Mbit/s", runs=3),
    Setting("tail_100m_cubic100", tail(800), "100 Mbit/s", flows=100, runs=3),
    Setting("tail_1g_cubic8", tail(4000), "1 Gbit/s", "5 ms", flows=8, duration="12 s",
            warm_up="4 s", runs=2),
    Setting("tail_10m_htcp2", tail(100), flows=2, tcp={"congestion": "htcp"}),
    Setting("tail_10m_vegas2", tail(100), flows=2, tcp={"congestion": "vegas"}, runs=20),
    Setting("tail_10m_bbr2", tail(100), flows=2, tcp={"congestion": "bbr"}, runs=10),
    Setting("red_10m_reno8", RED, flows=8, tcp={"congestion": "reno"}),
    Setting("red_ecn_10m_reno8", RED, flows=8,
            tcp={"congestion": "reno"} | ECN, runs=20),
    Setting("codel_10m_cubic4", {"kind": "codel"}, runs=10),
    Setting("codel_ecn_10m_cubic4", {"kind": "codel"}, tcp=ECN, runs=20),
    Setting("fq_codel_10m_cubic8", {"kind": "fq_codel"}, flows=8),
    Setting("pie_10m_cubic8", {"kind": "pie"}, flows=8),
    Setting("pie_ecn_100m_cubic8", {"kind": "pie", "limit": "1000 packets"}, "100 Mbit/s",
            flows=8, tcp=ECN, runs=3),
    Setting("loss_10m_reno2", tail(200), flows=2, tcp={"congestion": "reno"},
            network={"impairments": [{"kind": "loss", "probability": 0.005}]}, runs=20),
    Setting("requests_10m", tail(100), flows=1, others=(REQUESTS,), runs=20),
    Setting("call_pie_10m", {"kind": "pie"}, flows=2, others=(CALL,)),
    Setting("step_100m_dctcp4",
            {"kind": "threshold", "threshold": "20 packets", "limit": "400 packets"},
            "100 Mbit/s", "1 ms", tcp={"congestion": "dctcp"}, runs=3),
)  # fmt: skip


def missing() -> str | None:
    """Return why the testbed cannot run, or None."""
    if image.path().is_file():
        return None
    return f"the kernel of the testbed is not built; run `{image.BUILD_COMMAND}`"


def version() -> str:
    """Return the name of the measured kernel."""
    return f"{image.name()} (User-Mode Linux, virtual time)"


def rows(settings: tuple[Setting, ...] = SETTINGS) -> Iterator[Row]:
    """Run every setting in the simulator and on the testbed, and yield one row per measure."""
    jobs = [(setting, run) for setting in settings for run in range(setting.runs)]
    both: list[dict[str, list[Numbers]]] = []
    for engine in (None, KernelTestbed()):
        runs: dict[int, Numbers] = {}
        scenarios = [setting.scenario(run) for setting, run in jobs]
        for index, result in aqmlab.run_each(scenarios, engine=engine):
            runs[index] = jobs[index][0].numbers(result)
        by_setting: dict[str, list[Numbers]] = {setting.name: [] for setting in settings}
        for index, (setting, _) in enumerate(jobs):
            by_setting[setting.name].append(runs[index])
        both.append(by_setting)
    for setting in settings:
        ours, theirs = (by_setting[setting.name] for by_setting in both)
        for key, (measure, unit, tolerance) in MEASURES.items():
            if key in ours[0] and key in theirs[0]:
                a, b = (tuple(run[key] for run in runs) for runs in (ours, theirs))
                if any(a + b):
                    cause = setting.causes.get(key, "")
                    yield Row(setting.name, measure, unit, a, b, tolerance, cause)
