"""Comparison of pairs of flows in aqmlab with pairs of flows on real L4S hosts (``tests/l4s``)."""

from collections.abc import Iterable

from l4s import compare
from validation.row import Row

NAME = "L4S hosts"
ABOUT = """\
Each setting of the comparison with L4S hosts has two flows that share a bottleneck. Heist and
Morton measured 216 pairs of flows, each pair once, on Linux hosts with the L4S team's kernel of
August 2020 ("L4S Tests", results of 2020-11-11). The value of aqmlab is the mean of three runs,
which differ in their seed and in the start time of the second flow. In scenario s1, with
bottlenecks of 10 and 50 Mbit/s, the throughput is measured in the last minute of three minutes. In
scenario s6, with queues that mark according to RFC 3168, the throughput is measured in 40 s of one
minute. Each pair of flows has two comparisons, one per flow. The tolerance for the throughput of a
flow is the larger of a fixed bound and a relative bound. The fixed bound of the tolerance is
2 Mbit/s, or 1 Mbit/s if the bottleneck has a rate of 10 Mbit/s. The relative bound of the tolerance
is the change of the flow's throughput that changes the ratio of the two flows' throughputs by a
factor of 1.25, if the sum of the throughputs is constant. [`tests/l4s`](../tests/l4s/README.md)
describes the settings and their sources.

The name of a setting consists of the rate and the queue of the bottleneck, and of the congestion
control and the round-trip time (RTT) of each flow.

The 48 pairs of flows with the queue `cnq_codel_af` (CoDel with approximate fairness) are not
compared, because aqmlab does not have this queue.
[pairs.csv](../tests/l4s/measured/pairs.csv) contains the measured throughputs of these pairs."""


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
