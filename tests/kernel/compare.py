"""The simulator beside the real kernel: eight configurations, each number with its difference.

``python tests/kernel/compare.py`` runs them and writes the tables of ``docs/validation.md``. What
was measured is in ``measured/``; ``README.md`` tells how and with what.
"""

import csv
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import aqmlab

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "validation.md"
ONE_WAY_S = 0.02
"""Delay of the way back, after which a sender knows that its last byte was received."""
LEAD_S = 1.0
"""The queue is there for so long before the first flow."""
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


def measured(kernel_hz: int | None = None) -> dict[str, list[Numbers]]:
    """Return what the kernel did in each configuration: ten runs, of which five with each HZ.

    Parameters
    ----------
    kernel_hz : int, optional
        Ticks per second of the kernel whose runs are returned; default: both.
    """
    rows: dict[str, list[Numbers]] = {}
    with (HERE / "measured" / "runs.csv").open() as file:
        for row in csv.DictReader(file):
            if kernel_hz not in (None, int(row["kernel_hz"])):
                continue
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


def simulated(config: str, repetition: int, kernel_hz: int = 1000) -> Numbers:
    """Run a repetition, 0 to 4, of a configuration.

    Parameters
    ----------
    config : str
        Name of a file in ``scenarios/``.
    repetition : int
        Decides the offsets between starts, and the seed.
    kernel_hz : int
        Ticks per second of the kernel, for the queues that have a timer.
    """
    rate, warmup, duration = settings()[config]
    text = (HERE / "scenarios" / f"{config}.toml").read_text("utf-8")
    scenario = tomllib.loads(text.replace("hz = 1000", f"hz = {kernel_hz}"))
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


LABELS = {
    "goodput_bps": "goodput, Mbit/s",
    "queue_ms": "mean queue, ms",
    "retransmitted": "segments sent again",
    "timeouts": "timeouts",
    "marked": "packets marked",
}


@dataclass(frozen=True)
class Row:
    """A number of a configuration, ours and theirs.

    Parameters
    ----------
    config, name : str
        What it is of, and which of :class:`Numbers`.
    ours, theirs : tuple of float
        One a run.
    """

    config: str
    name: str
    ours: tuple[float, ...]
    theirs: tuple[float, ...]

    @property
    def difference(self) -> float:
        """Ours over theirs, of the means, less one; 0 where neither has any."""
        a, b = mean(self.ours), mean(self.theirs)
        return a / b - 1 if b else (0.0 if a == 0 else float("inf"))

    @property
    def holds(self) -> bool:
        """Whether it is as near as it should be.

        Goodput within 2 %, the mean queue within 5 %; segments sent again and marks within 10 % or
        in the range of the kernel's own runs, and timeouts in that range.
        """
        inside = min(self.theirs) <= mean(self.ours) <= max(self.theirs)
        near = {"goodput_bps": 0.02, "queue_ms": 0.05, "timeouts": 0.0}.get(self.name, 0.1)
        own = self.name not in ("goodput_bps", "queue_ms")
        return abs(self.difference) <= near or (own and inside)

    def cells(self) -> list[str]:
        """Return the row as text."""
        scale, digits = (1e6, 3) if self.name == "goodput_bps" else (1, 1)
        number = [f"{x / scale:.{digits}f}" for x in (mean(self.ours), mean(self.theirs))]
        low, high = (f"{x / scale:.{digits}f}" for x in (min(self.theirs), max(self.theirs)))
        difference = f"{self.difference:+.1%}" if mean(self.theirs) else ""
        bound = "yes" if self.holds else "no"
        return [self.config, LABELS[self.name], *number, f"{low} to {high}", difference, bound]


def compare(config: str, repetitions: int = 5) -> list[Row]:
    """Run a configuration and return its rows; marks only where there are any."""
    ours = [simulated(config, r) for r in range(repetitions)]
    theirs = measured()[config]
    rows = [
        Row(config, n, tuple(getattr(x, n) for x in ours), tuple(getattr(x, n) for x in theirs))
        for n in NAMES
    ]
    return [row for row in rows if row.name != "marked" or any(row.ours + row.theirs)]


HEADER = ["configuration", "", "aqmlab", "Linux", "Linux, least to most", "difference", "holds"]
BEGIN, END = "<!-- tests/kernel/compare.py writes from here -->", "<!-- to here -->"


def page(rows: Iterable[Row]) -> str:
    """Return the tables of the page: of each number, how many hold, then all of them."""
    rows = list(rows)
    lines = ["| | hold | of |", "| --- | ---: | ---: |"]
    for name, label in LABELS.items():
        of_name = [row for row in rows if row.name == name]
        lines.append(f"| {label} | {sum(row.holds for row in of_name)} | {len(of_name)} |")
    lines += ["", "| " + " | ".join(HEADER) + " |", "| --- | --- " + "| ---: " * 4 + "| --- |"]
    lines += ["| " + " | ".join(row.cells()) + " |" for row in rows]
    return "\n".join(lines)


def main() -> None:
    """Compare every configuration, print the rows, and write the page."""
    rows = []
    for config in measured():
        rows += compare(config)
        for row in rows[-5:]:
            if row.config == config:
                print("  ".join(f"{cell:>20}" for cell in row.cells()))
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{page(rows)}\n\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
