"""Comparison of pairs of flows in aqmlab with pairs of flows on real L4S hosts (``tests/l4s``)."""

from collections.abc import Iterable

from l4s import compare
from validation.row import Row

NAME = "L4S hosts"
ABOUT = """\
Two flows share a bottleneck. P. Heist and J. Morton measured 216 such pairs of flows once each on
Linux hosts with the L4S team's kernel of August 2020 ("L4S Tests", results of 2020-11-11). The
value of aqmlab is the mean of three runs, which differ in their seed and in the start of the second
flow. The throughput covers the last minute of three minutes at 10 and 50 Mbit/s (scenario s1), or
40 s of one minute for the queues of RFC 3168 (scenario s6). A pair has two comparisons, one per
flow. The tolerance is the larger of two bounds: 2 Mbit/s (1 Mbit/s at 10 Mbit/s), and the change of
the flow's throughput if the ratio of the two flows changes by a factor of 1.25.
[`tests/l4s`](../tests/l4s/README.md) describes the settings and their sources.

The name of a setting has the rate and the queue of the bottleneck, and the congestion control and
the round-trip time of each flow.

The 48 pairs with `cnq_codel_af`, CoDel with approximate fairness, are not compared because aqmlab
does not have this queue. [pairs.csv](../tests/l4s/measured/pairs.csv) has their throughputs."""


def missing() -> str | None:
    """Return None, because the comparison needs only aqmlab and the data in tests/l4s."""
    return None


def version() -> str:
    """Return the version of the measured kernel."""
    return "Linux of the L4S team, b256daedc767 of August 2020 (measured by Heist and Morton)"


def rows() -> Iterable[Row]:
    """Run every pair of flows whose queue aqmlab has, and yield one row per flow."""
    pairs = [pair for pair in compare.measured() if pair.known]
    for pair, ours in zip(pairs, compare.simulated(pairs), strict=True):
        yield from compare.rows(pair, ours)
