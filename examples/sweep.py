"""Parameter sweep in Python: utilization of a link by one download, by queue and limit.

    .venv/bin/python examples/sweep.py [FOLDER]

The sweep runs Drop Tail and RED with limits from 2 to 64 packets, three replications of each.
With FOLDER, the script writes the numbers to sweep.csv and a plot to sweep.svg.
"""

import sys
from pathlib import Path

import aqmlab

LIMITS = [2, 4, 8, 16, 32, 64]
BASE = aqmlab.Scenario(
    title="How large a queue?",
    network=aqmlab.Dumbbell(
        rate="1.5 Mbit/s",
        delay="50 ms",
        queue=aqmlab.DropTail(),  # the sweep changes it
        left_rate="10 Mbit/s",
        left_delay="0.5 ms",
        right_rate="10 Mbit/s",
        right_delay="0.5 ms",
    ),
    flows=[aqmlab.Flow(from_="left-0", to="right-0", traffic=aqmlab.Bulk(size="3 MiB"))],
)


def main() -> None:
    """Run the sweep, print the median utilizations, and write them into FOLDER if it is given."""
    swept = aqmlab.sweep(
        BASE,
        {
            "network.queue.kind": ["drop_tail", "red"],
            "network.queue.limit": [f"{limit} packets" for limit in LIMITS],
        },
        replications=3,
    )
    links = swept.links[swept.links["link"] == "left>right"]
    busy = links.groupby(["network.queue.limit", "network.queue.kind"], sort=False)["utilization"]
    table = busy.median().unstack()
    print("Share of the time in which the bottleneck transmits, median of three runs:")
    print(table.round(3).to_string())
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        table.to_csv(folder / "sweep.csv")
        axes = table.set_axis(LIMITS).plot(logx=True, xlabel="limit (packets)", ylabel="busy share")
        axes.figure.savefig(folder / "sweep.svg")


if __name__ == "__main__":
    main()
