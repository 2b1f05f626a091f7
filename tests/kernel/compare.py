"""The simulator beside the real kernel: eight configurations, each number with its difference.

``make validate`` runs them for ``docs/validation.md``. ``measured/`` holds what was measured;
``README.md`` describes how and with what.
"""

import csv
import tomllib
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import aqmlab
from validation.row import Row, Tolerance

HERE = Path(__file__).parent
ONE_WAY_S = 0.02
"""Delay of the way back, after which a sender knows that its last byte was received."""
LEAD_S = 1.0
"""The queue was there for so long before the first flow; PIE's first period takes half a second."""
OFFSETS_S = (0.0, 0.001, 0.003, 0.007, 0.013)
"""Between the starts of flows, in each repetition."""


@dataclass(frozen=True)
class Numbers:
    """What is compared of a run.

    Parameters
    ----------
    goodput_bps : float
        All bytes over the time until the last of them was received.
    queue_ms : float
        Mean of what waits, at the rate of the bottleneck, while all flows are active.
    retransmitted : float
        Segments sent again.
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


def measured() -> dict[str, list[Numbers]]:
    """Return what the kernel did: ten runs of each configuration, five a kernel."""
    rows: dict[str, list[Numbers]] = {}
    with (HERE / "measured" / "runs.csv").open() as file:
        for row in csv.DictReader(file):
            numbers = Numbers(*(float(row[name]) for name in NAMES))
            rows.setdefault(row["config"], []).append(numbers)
    return rows


def settings() -> dict[str, tuple[float, float, float]]:
    """Return the rate in bit/s, the warm-up and the duration in s of each configuration."""
    with (HERE / "measured" / "settings.csv").open() as file:
        return {
            row["config"]: (
                float(row["rate_bps"]),
                float(row["warmup_s"]),
                float(row["duration_s"]),
            )
            for row in csv.DictReader(file)
        }


def simulated(config: str, repetition: int) -> Numbers:
    """Run a repetition, 0 to 4, of a configuration.

    Parameters
    ----------
    config : str
        Name of a file in ``scenarios/``.
    repetition : int
        Decides the offsets between starts, and the seed.
    """
    rate, warmup, duration = settings()[config]
    scenario = tomllib.loads((HERE / "scenarios" / f"{config}.toml").read_text("utf-8"))
    for i, flow in enumerate(scenario["flows"]):
        flow["start"] = f"{1e3 * (LEAD_S + i * OFFSETS_S[repetition]):g} ms"
    if duration:
        scenario["duration"] = f"{LEAD_S + duration:g} s"
    run = aqmlab.run(scenario, seed=repetition + 1)
    table = run.flows
    if duration:
        goodput = table["received_bytes"] - table["duplicate_bytes"]
        goodput_bps = float(goodput.sum()) * 8 / duration
        until = duration
    else:
        ends = table["completed_s"] - ONE_WAY_S - LEAD_S
        goodput_bps = float(table["acked_bytes"].sum()) * 8 / float(ends.max())
        until = float(ends.min())
    queue = run.series("queue")
    time = queue["time_s"] - LEAD_S
    active = queue[(time >= warmup) & (time <= until)]
    return Numbers(
        goodput_bps=goodput_bps,
        queue_ms=float(active["queue_bytes"].mean()) * 8e3 / rate,
        retransmitted=float(table["retransmitted_segments"].sum()),
        timeouts=float(table["timeouts"].sum()),
        marked=float(table["marked_packets"].sum()),
    )


MEASURES = {
    "goodput_bps": ("goodput", "Mbit/s", Tolerance(0.02, interval=False)),
    "queue_ms": ("mean queue", "ms", Tolerance(0.05, interval=False)),
    "retransmitted": ("retransmitted segments", "", Tolerance(0.1, interval=False, in_range=True)),
    "timeouts": ("timeouts", "", Tolerance(interval=False, in_range=True)),
    "marked": ("marked packets", "", Tolerance(0.1, interval=False, in_range=True)),
}
"""Name, unit and tolerance of each of :class:`Numbers`."""

RANDOM_LOSS = (
    "The losses are random and limit the flow. The kernel's ten runs lost 0.523 % of the packets, "
    "five of ours 0.47 %; at the same number of losses the goodputs differ by less than 1 %."
)
CAUSES = {
    ("loss0.5_reno", "goodput_bps"): RANDOM_LOSS,
    ("loss0.5_reno", "queue_ms"): RANDOM_LOSS,
}
"""Causes of the misses, by configuration and number."""


def compare(config: str, repetitions: int = 5) -> list[Row]:
    """Run a configuration and return its rows; marks only where one side has any."""
    ours = [simulated(config, r) for r in range(repetitions)]
    theirs = measured()[config]
    rows = []
    for name, (measure, unit, tolerance) in MEASURES.items():
        scale = 1e-6 if name == "goodput_bps" else 1.0
        of_ours, of_theirs = (
            tuple(scale * getattr(run, name) for run in runs) for runs in (ours, theirs)
        )
        if name == "marked" and not any(of_ours + of_theirs):
            continue
        cause = CAUSES.get((config, name), "")
        rows.append(Row(config, measure, unit, of_ours, of_theirs, tolerance, cause))
    return rows
