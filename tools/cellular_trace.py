#!/usr/bin/env python3
"""Write the synthetic trace of the ready scenario `cellular` into its file.

The trace is a sample of the link model of Sprout (`winstein2013sprout`, §3.1). Packets of 1500 B
leave the link as a Poisson process. The rate of this process is a Brownian motion with a
noise power of 200 packets per second per square root of a second, between 0 and 1000 packets per
second. A rate of 0 is an outage, which ends with a rate of 1 per second. The model has ticks of
20 ms.

The script uses only sums, products and `random.random`, so every machine writes the same trace. A
step of the Brownian motion is therefore plus or minus one standard deviation, and the Poisson
process has at most one packet per 0.1 ms.

Usage: tools/cellular_trace.py [--check]
"""

import random
import re
import sys
from pathlib import Path

FILE = Path(__file__).parent.parent / "python/aqmlab/data/scenarios/cellular.toml"
SEED = 21
"""Seed whose trace has high rates and two pauses of up to one second."""
LENGTH_MS, TICK_MS, SLOT_MS = 10_000, 20, 0.1
FIRST, HIGHEST = 500.0, 1000.0
"""Rate at the beginning and maximum rate, in packets per second."""
NOISE, ESCAPE = 200.0, 1.0
"""Noise power of the Brownian motion, and rate at which an outage ends, per second."""
LIST = re.compile(r"opportunities = \[\n.*?^\]", re.S | re.M)


def trace(seed: int = SEED) -> list[int]:
    """Return the times in ms at which the link sends a packet; the last time is `LENGTH_MS`."""
    draws = random.Random(seed)
    rate, times = FIRST, []
    for tick in range(0, LENGTH_MS, TICK_MS):
        for slot in range(round(TICK_MS / SLOT_MS)):
            if draws.random() < rate * SLOT_MS / 1000:
                times.append(tick + int(slot * SLOT_MS))
        seconds = TICK_MS / 1000
        if rate > 0 or draws.random() < ESCAPE * seconds:
            step = NOISE * seconds**0.5
            rate = min(HIGHEST, max(0.0, rate + (step if draws.random() < 0.5 else -step)))
    return [*times, LENGTH_MS]


def lines(times: list[int]) -> str:
    """Return the times as a list in TOML, with 16 times per line."""
    rows = (times[i : i + 16] for i in range(0, len(times), 16))
    body = "\n".join(f"    {', '.join(map(str, row))}," for row in rows)
    return f"opportunities = [\n{body}\n]"


def main() -> None:
    """Write the trace; with --check, exit with 1 if the file has another trace."""
    old = FILE.read_text("utf-8")
    new = LIST.sub(lines(trace()), old)
    if "--check" in sys.argv[1:]:
        sys.exit(f"{FILE}: run tools/cellular_trace.py" if new != old else 0)
    FILE.write_text(new, "utf-8")


if __name__ == "__main__":
    main()
