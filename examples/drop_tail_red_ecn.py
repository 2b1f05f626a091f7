"""Comparison of Drop Tail, RED, and RED with ECN in one network, with ten replications each.

    .venv/bin/python examples/drop_tail_red_ecn.py

Two downloads share the bottleneck of two_flows.toml. The replications of the three arms have the
same seeds and therefore the same random start times, so that runs can be compared in pairs.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aqmlab
from aqmlab.statistics import central, paired_difference

SHARED = Path(__file__).with_name("two_flows.toml")
RED = aqmlab.Red(limit="64 packets", minth="20 packets", maxth="60 packets", gentle=False)
ARMS: dict[str, dict[str, list[Any]]] = {
    "Drop Tail": {"network.queue": [aqmlab.DropTail(limit="64 packets")]},
    "RED": {"network.queue": [RED]},
    "RED with ECN": {"network.queue": [RED], "tcp.ecn": ["rfc3168"]},
}
REPLICATIONS = 10


def main() -> None:
    """Run the three arms and print one line per arm."""
    dropped = {}
    print(f"{'median (central 95 %)':24}{'dropped packets':>16}{'last download ends, s':>29}")
    for name, arm in ARMS.items():
        runs = aqmlab.sweep(SHARED, arm, replications=REPLICATIONS).results
        dropped[name] = [run.flows["dropped_packets"].sum() for run in runs]
        ends = [run.flows["completed_s"].max() for run in runs]
        print(f"{name:14}{spread(dropped[name]):>26}{spread(ends):>29}")
    low, mean, high = paired_difference(dropped["Drop Tail"], dropped["RED with ECN"])
    print(
        f"Drop Tail drops {mean:.1f} packets more than RED with ECN; "
        f"95 % confidence {low:.1f} to {high:.1f}."
    )


def spread(values: Sequence[float]) -> str:
    """Format the median and the central 95 % range of a list of values."""
    low, middle, high = central(values)
    return f"{middle:.1f} ({low:.1f} to {high:.1f})"


if __name__ == "__main__":
    main()
