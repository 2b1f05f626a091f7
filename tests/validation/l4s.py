"""Pairs of flows beside real L4S hosts (``tests/l4s``)."""

from collections.abc import Iterable

from l4s import compare
from validation.row import Row

NAME = "L4S hosts"
ABOUT = """\
Two flows share a bottleneck: 216 pairs that P. Heist and J. Morton measured on Linux hosts with
the L4S team's kernel of August 2020 ("L4S Tests", results of 2020-11-11), each once. Ours is the
mean of three runs that differ in their seed and in when the second flow starts. Throughput is that
of the last minute of three (s1, 10 and 50 Mbit/s) or of 40 s of one minute (s6, queues of
RFC 3168). A pair has two rows, one per flow. A row holds if the means differ by at most 2 Mbit/s
(1 Mbit/s at 10 Mbit/s), or by at most what this flow gains or loses if the ratio of both changes by
a factor of 1.25. [`tests/l4s`](../tests/l4s/README.md) describes the settings and their sources.

The 48 pairs with `cnq_codel_af`, CoDel with approximate fairness, are not compared because aqmlab
does not have this queue. Their numbers are in [pairs.csv](../tests/l4s/measured/pairs.csv)."""


def missing() -> str | None:
    """Return None: the measurements are in the repository."""
    return None


def version() -> str:
    """Return the kernel that was measured."""
    return "Linux of the L4S team, b256daedc767 of August 2020 (measured by Heist and Morton)"


def rows() -> Iterable[Row]:
    """Run every pair whose queue aqmlab has and yield its two rows."""
    pairs = [pair for pair in compare.measured() if pair.known]
    for pair, ours in zip(pairs, compare.simulated(pairs), strict=True):
        yield from compare.rows(pair, ours)
