"""Comparison of the simulator with a real Linux kernel in 18 configurations.

``make validate`` runs the configurations for ``docs/validation.md``. ``measured/`` has the
measurements, and ``README.md`` describes the measured network.
"""

import csv
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import aqmlab
from aqmlab.engine import Engine
from validation.row import Row, Tolerance

HERE = Path(__file__).parent
OFF, WIRE = "off", "wire"
"""Names of two kinds of hosts: without offloads, and with a segmentation offload at the sender."""


@dataclass(frozen=True)
class Numbers:
    """Measures of one run.

    Parameters
    ----------
    goodput_bps : float
        Goodput of all flows. For transfers: received data divided by the time until the receipt of
        the last byte. For flows without an end: received data divided by the duration of the run.
        In fast configurations, data and duration exclude the warm-up.
    queue_ms : float
        Mean queue as a delay in ms (backlog divided by the rate), while all flows are active.
    retransmitted : float
        Number of retransmitted segments.
    timeouts : float
        Number of expirations of the retransmission timer.
    marked : float
        Number of packets that the queue marked.
    """

    goodput_bps: float
    queue_ms: float
    retransmitted: float
    timeouts: float
    marked: float


NAMES = ("goodput_bps", "queue_ms", "retransmitted", "timeouts", "marked")
"""Columns of ``measured/runs.csv`` for the fields of `Numbers`, in the same order."""


@dataclass(frozen=True)
class Setting:
    """Parameters of a configuration that are not in its scenario file.

    Parameters
    ----------
    rate_bps : float
        Rate of the bottleneck in bit/s.
    one_way_s : float
        Delay of the reverse path, which the ACK of the last byte crosses, in s.
    lead_s : float
        Time before the first flow starts, in s.
    warmup_s, duration_s : float
        Times in s since the start of the first flow. The duration is 0 if the flows are transfers
        of a fixed size.
    offsets_s : tuple of float
        Per repetition: time between the starts of two consecutive flows, in s.
    """

    rate_bps: float
    one_way_s: float
    lead_s: float
    warmup_s: float
    duration_s: float
    offsets_s: tuple[float, ...]


def measured(hosts: str = OFF, kernel_hz: int | None = None) -> dict[str, list[Numbers]]:
    """Return the measured runs of the kernel, by the name of the configuration.

    Parameters
    ----------
    hosts : str
        `OFF` or `WIRE`: the kind of hosts.
    kernel_hz : int, optional
        HZ of the kernel, its number of ticks per second. Without this argument, the function
        returns the runs of all kernels.
    """
    rows: dict[str, list[Numbers]] = {}
    with (HERE / "measured" / "runs.csv").open() as file:
        for row in csv.DictReader(file):
            if row["hosts"] == hosts and kernel_hz in (None, int(row["kernel_hz"])):
                numbers = Numbers(*(float(row[name]) for name in NAMES))
                rows.setdefault(row["config"], []).append(numbers)
    return rows


def settings() -> dict[str, Setting]:
    """Return the parameters of each configuration that are not in its scenario file."""
    with (HERE / "measured" / "settings.csv").open() as file:
        return {
            row["config"]: Setting(
                float(row["rate_bps"]),
                float(row["rtt_ms"]) / 2e3,
                float(row["lead_s"]),
                float(row["warmup_s"]),
                float(row["duration_s"]),
                tuple(float(x) / 1e3 for x in row["offsets_ms"].split()),
            )
            for row in csv.DictReader(file)
        }


def run(
    config: str, repetition: int, hosts: str = OFF, kernel_hz: int = 1000,
    engine: Engine | None = None,
) -> Numbers:  # fmt: skip
    """Run one repetition of a configuration and return its measures.

    Parameters
    ----------
    config : str
        Name of a file in ``scenarios/``, without the extension.
    repetition : int
        Number of the repetition, from 0. The number sets the seed, and selects one of the measured
        times between the starts of two flows. If there are more repetitions than measured times,
        later repetitions use the times again, from the first one.
    hosts : str
        `OFF` or `WIRE`: the kind of hosts.
    kernel_hz : int
        HZ of the kernel, its number of ticks per second, for queues with a timer.
    engine : Engine, optional
        Engine that runs the configuration; default: the simulator.
    """
    setting = settings()[config]
    duration = setting.duration_s
    text = (HERE / "scenarios" / f"{config}.toml").read_text("utf-8")
    scenario = tomllib.loads(text.replace("hz = 1000", f"hz = {kernel_hz}"))
    scenario["tcp"] |= HOSTS[hosts]
    starts = len(setting.offsets_s)
    for i, flow in enumerate(scenario["flows"]):
        flow["start"] = (
            f"{1e3 * (setting.lead_s + i * setting.offsets_s[repetition % starts]):g} ms"
        )
    if duration:
        scenario["duration"] = f"{setting.lead_s + duration:g} s"
    result = aqmlab.run(scenario, seed=repetition + 1, engine=engine)
    table = result.flows
    if "window" in scenario["record"]["series"]:
        window = result.series("window")
        acked = window.groupby("time_s")["acked_bytes"].sum()
        acked = acked[acked.index >= setting.lead_s + setting.warmup_s - 1e-9]
        seconds = float(acked.index[-1] - acked.index[0])
        goodput_bps = float(acked.iloc[-1] - acked.iloc[0]) * 8 / seconds
        until = duration
    elif duration:
        goodput = table["received_bytes"] - table["duplicate_bytes"]
        goodput_bps = float(goodput.sum()) * 8 / duration
        until = duration
    else:
        ends = table["completed_s"] - setting.one_way_s - setting.lead_s
        goodput_bps = float(table["acked_bytes"].sum()) * 8 / float(ends.max())
        until = float(ends.min())
    queue = result.series("queue")
    time = queue["time_s"] - setting.lead_s
    active = queue[(time >= setting.warmup_s) & (time <= until)]
    return Numbers(
        goodput_bps=goodput_bps,
        queue_ms=float(active["queue_bytes"].mean()) * 8e3 / setting.rate_bps,
        retransmitted=float(table["retransmitted_segments"].sum()),
        timeouts=float(table["timeouts"].sum()),
        marked=float(table["marked_packets"].sum()),
    )


HOSTS: dict[str, dict[str, str]] = {OFF: {"offload": "none"}, WIRE: {"offload": "linux"}}
"""TCP keys of a scenario, by the kind of hosts (`OFF` or `WIRE`)."""

MEASURES = {
    "goodput_bps": ("goodput", "Mbit/s", Tolerance(0.02, interval=False)),
    "queue_ms": ("mean queue", "ms", Tolerance(0.05, interval=False)),
    "retransmitted": ("retransmitted segments", "", Tolerance(0.1, interval=False, in_range=True)),
    "timeouts": ("timeouts", "", Tolerance(interval=False, in_range=True)),
    "marked": ("marked packets", "", Tolerance(0.1, interval=False, in_range=True)),
}
"""Name, unit and tolerance of each measure of :class:`Numbers`."""

RANDOM_LOSS = (
    "The goodput of the flow is limited by random losses, and the numbers of random losses differ: "
    "in the kernel's ten runs, 0.523 % of the segments were lost instead of the configured 0.5 %. "
    "With the same number of losses, the goodputs of the kernel and of aqmlab differ by less than "
    "1 %."
)
NO_LOCK_IN = (
    "In one of the kernel's ten runs, no "
    "[ECN lock-in](how-to/choose-tcp.md#ecn-lock-in-a-linux-flow-fills-a-red-queue-for-seconds) "
    "occurs and only 484 segments are retransmitted. In all runs of aqmlab an ECN lock-in occurs. "
    "In the kernel's other nine runs the mean is 1,692 retransmitted segments, and the mean in "
    "aqmlab is 5 % larger."
)
CAUSES = {
    ("loss0.5_reno", "goodput_bps"): RANDOM_LOSS,
    ("red_ecn1_n5", "retransmitted"): NO_LOCK_IN,
    ("100m_40ms_pfifohalf_bbr_n2", "queue_ms"): "",
    ("1g_10ms_pfifohalf_cubic_n1, wire", "retransmitted"): "",
    ("1g_10ms_red_cubic_n2, wire", "goodput_bps"): "",
    ("1g_10ms_red_cubic_n2, wire", "queue_ms"): "",
}
"""Cause of each difference beyond the tolerance, by setting and measure; "" if it is unknown."""


def compare(config: str, hosts: str = OFF) -> list[Row]:
    """Simulate each measured run of a configuration, and return the rows of the comparison."""
    theirs = measured(hosts)[config]
    ours = [run(config, r, hosts) for r in range(len(theirs))]
    return rows(config, hosts, ours, theirs, CAUSES)


def rows(
    config: str, hosts: str, ours: list[Numbers], theirs: list[Numbers],
    causes: Mapping[tuple[str, str], str],
) -> list[Row]:  # fmt: skip
    """Return the rows of the comparison of a configuration.

    `causes` has the causes of differences, by setting and measure. The number of marked packets has
    a row only if a packet was marked.
    """
    setting = config if hosts == OFF else f"{config}, {hosts}"
    compared = []
    for name, (measure, unit, tolerance) in MEASURES.items():
        scale = 1e-6 if name == "goodput_bps" else 1.0
        ours_scaled, theirs_scaled = (
            tuple(scale * getattr(run, name) for run in runs) for runs in (ours, theirs)
        )
        if name == "marked" and not any(ours_scaled + theirs_scaled):
            continue
        cause = causes.get((setting, name), "")
        compared.append(Row(setting, measure, unit, ours_scaled, theirs_scaled, tolerance, cause))
    return compared
