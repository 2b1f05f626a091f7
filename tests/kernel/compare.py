"""The simulator beside the real kernel: 18 configurations, each number with its difference.

``make validate`` runs them for ``docs/validation.md``. ``measured/`` holds what was measured;
``README.md`` describes how and with what.
"""

import csv
import tomllib
from dataclasses import dataclass
from pathlib import Path

import aqmlab
from validation.row import Row, Tolerance

HERE = Path(__file__).parent
OFF, WIRE = "off", "wire"
"""Hosts without offloads, and hosts whose sender makes super-packets that leave it as packets."""


@dataclass(frozen=True)
class Numbers:
    """Numbers of a run that are compared.

    Parameters
    ----------
    goodput_bps : float
        All bytes over the time until the last of them was received; for flows without end, all
        bytes of the run, or of the time after the warm-up if the links are fast, over that time.
    queue_ms : float
        Mean backlog over the rate of the bottleneck, while all flows are active.
    retransmitted : float
        Retransmitted segments.
    timeouts : float
        Expirations of the retransmission timer.
    marked : float
        Packets that the queue marked.
    """

    goodput_bps: float
    queue_ms: float
    retransmitted: float
    timeouts: float
    marked: float


NAMES = ("goodput_bps", "queue_ms", "retransmitted", "timeouts", "marked")


@dataclass(frozen=True)
class Setting:
    """Setting of a configuration that its scenario leaves open.

    Parameters
    ----------
    rate_bps : float
        Rate of the bottleneck.
    one_way_s : float
        Delay of the way back, after which a sender knows that its last byte was received.
    lead_s : float
        Time before the first flow starts.
    warmup_s, duration_s : float
        Times since the first flow started; no duration if the flows end.
    offsets_s : tuple of float
        Time between the starts of flows in each repetition.
    """

    rate_bps: float
    one_way_s: float
    lead_s: float
    warmup_s: float
    duration_s: float
    offsets_s: tuple[float, ...]


def measured(hosts: str = OFF, kernel_hz: int | None = None) -> dict[str, list[Numbers]]:
    """Return the kernel's runs of each configuration that was measured with these hosts.

    Parameters
    ----------
    hosts : str
        One of `OFF` and `WIRE`.
    kernel_hz : int, optional
        Ticks per second of the kernel whose runs are returned; default: every kernel.
    """
    rows: dict[str, list[Numbers]] = {}
    with (HERE / "measured" / "runs.csv").open() as file:
        for row in csv.DictReader(file):
            if row["hosts"] == hosts and kernel_hz in (None, int(row["kernel_hz"])):
                numbers = Numbers(*(float(row[name]) for name in NAMES))
                rows.setdefault(row["config"], []).append(numbers)
    return rows


def settings() -> dict[str, Setting]:
    """Return the setting of each configuration."""
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


def simulated(config: str, repetition: int, hosts: str = OFF, kernel_hz: int = 1000) -> Numbers:
    """Run a repetition, from 0, of a configuration.

    Parameters
    ----------
    config : str
        Name of a file in ``scenarios/``.
    repetition : int
        Decides the seed, and the offsets between starts, which repeat after the measured ones.
    hosts : str
        One of `OFF` and `WIRE`.
    kernel_hz : int
        Ticks per second of the kernel, for the queues that have a timer.
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
    run = aqmlab.run(scenario, seed=repetition + 1)
    table = run.flows
    if "window" in scenario["record"]["series"]:
        window = run.series("window")
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
    queue = run.series("queue")
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
"""Parameters of each kind of hosts."""

MEASURES = {
    "goodput_bps": ("goodput", "Mbit/s", Tolerance(0.02, interval=False)),
    "queue_ms": ("mean queue", "ms", Tolerance(0.05, interval=False)),
    "retransmitted": ("retransmitted segments", "", Tolerance(0.1, interval=False, in_range=True)),
    "timeouts": ("timeouts", "", Tolerance(interval=False, in_range=True)),
    "marked": ("marked packets", "", Tolerance(0.1, interval=False, in_range=True)),
}
"""Name, unit and tolerance of each of :class:`Numbers`."""

RANDOM_LOSS = (
    "The losses are random and limit the flow. The kernel's ten runs lost 0.523 % of their "
    "segments where 0.5 % was set; at the same number of losses the goodputs differ by less than "
    "1 %."
)
NO_LOCK_IN = (
    "One of the kernel's ten runs has no lock-in and 484 retransmissions; ours all have it. The "
    "mean of the kernel's other nine is 1,692, and ours is 5 % more."
)
CAUSES = {
    ("loss0.5_reno", "goodput_bps"): RANDOM_LOSS,
    ("red_ecn1_n5", "retransmitted"): NO_LOCK_IN,
    ("100m_40ms_pfifohalf_bbr_n2", "queue_ms"): "",
    ("1g_10ms_pfifohalf_cubic_n1, wire", "retransmitted"): "",
    ("1g_10ms_red_cubic_n2, wire", "goodput_bps"): "",
    ("1g_10ms_red_cubic_n2, wire", "queue_ms"): "",
}
"""Causes of the misses, by setting and number; empty while open."""


def compare(config: str, hosts: str = OFF) -> list[Row]:
    """Run a configuration as often as the kernel and return its rows.

    Marks have a row only where one side has any.
    """
    theirs = measured(hosts)[config]
    ours = [simulated(config, r, hosts) for r in range(len(theirs))]
    setting = config if hosts == OFF else f"{config}, {hosts}"
    rows = []
    for name, (measure, unit, tolerance) in MEASURES.items():
        scale = 1e-6 if name == "goodput_bps" else 1.0
        of_ours, of_theirs = (
            tuple(scale * getattr(run, name) for run in runs) for runs in (ours, theirs)
        )
        if name == "marked" and not any(of_ours + of_theirs):
            continue
        cause = CAUSES.get((setting, name), "")
        rows.append(Row(setting, measure, unit, of_ours, of_theirs, tolerance, cause))
    return rows
