"""Tests that compare pairs of flows with real L4S hosts (``tests/l4s``)."""

from collections import Counter
from dataclasses import replace

import pytest

import aqmlab
from l4s import compare
from l4s.compare import Pair
from validation import l4s
from validation.row import HOLDS, MISSES

PAIR = Pair("s1", 50, "dualpi2", ("cubic", "prague"), (10.0, 10.0), (10.0, 40.0))


def test_the_table_has_all_216_measured_pairs() -> None:
    pairs = compare.measured()
    assert len(pairs) == len({(pair.scenario, pair.setting) for pair in pairs}) == 216
    assert Counter(pair.known for pair in pairs) == {True: 168, False: 48}
    assert {pair.qdisc for pair in pairs if not pair.known} == {compare.UNKNOWN}
    assert {pair.qdisc for pair in pairs} == {*compare.QUEUES, compare.UNKNOWN}
    assert compare.UNKNOWN in l4s.ABOUT


@pytest.mark.parametrize(
    ("ours", "agrees"),
    [
        ((12.0, 38.0), True),  # Both throughputs differ by 2 Mbit/s.
        ((12.1, 37.9), False),  # The ratio of the flows is 0.319 instead of 0.25.
        ((8.1, 39.8), True),
        ((7.9, 42.1), False),
        ((8.5, 41.5), True),  # The ratio of the flows is 0.205 instead of 0.25.
    ],
)
def test_a_pair_agrees_by_throughputs_or_by_their_ratio(
    ours: tuple[float, float], agrees: bool
) -> None:
    assert compare.agrees(PAIR, [ours]) is agrees
    verdicts = {row.verdict for row in compare.rows(PAIR, [ours])}
    assert verdicts == ({HOLDS} if agrees else {MISSES})


def test_the_verdict_uses_the_mean_of_the_runs() -> None:
    runs = [(7.0, 43.0), (13.0, 37.0)]
    assert compare.agrees(PAIR, runs)
    first, second = compare.rows(PAIR, runs)
    assert (first.ours, first.theirs) == ((7.0, 13.0), (10.0,))
    assert (second.ours, second.theirs) == ((43.0, 37.0), (40.0,))
    slow = replace(PAIR, rate_mbit=10, mbit=(2.0, 8.0))
    assert compare.agrees(slow, [(2.9, 7.1)])
    assert not compare.agrees(slow, [(3.1, 6.9)])


def test_pairs_of_each_kind_of_queue_agree() -> None:
    """Three pairs of flows agree clearly; ``make validate PEERS=l4s`` compares all pairs."""
    some = {
        "10 Mbit/s, dualpi2: cubic with RTT 10 ms and prague with RTT 10 ms",
        "10 Mbit/s, fq_codel: cubic with RTT 160 ms and prague with RTT 10 ms",
        "10 Mbit/s, pfifo(200): cubic with RTT 80 ms and prague with RTT 20 ms",
    }
    pairs = [pair for pair in compare.measured() if pair.setting in some]
    assert len(pairs) == 3
    for pair, ours in zip(pairs, compare.simulated(pairs, (1,)), strict=True):
        assert compare.agrees(pair, ours), (pair.setting, ours)


def test_the_step_of_linux_6_17_starves_prague_at_10_mbit() -> None:
    """At 10 Mbit/s a packet's transmission takes 1.2 ms, more than the marking step of 1 ms."""
    setting = "10 Mbit/s, dualpi2: prague with RTT 80 ms and cubic with RTT 20 ms"
    (pair,) = (pair for pair in compare.measured() if pair.setting == setting)
    rates = {}
    for th_len in (0, 2):
        run = compare.scenario(pair, 1)
        htb = run["network"]["links"][-1]["queue"]
        htb["classes"][0]["queue"] = compare.DUALPI2 | {"th_len": f"{th_len} packets"}
        rates[th_len] = compare.throughputs(pair, aqmlab.run(run))[0]
    assert rates[0] < 0.5
    assert 2.6 < rates[2] < 4.6, "the real hosts had 3.64 Mbit/s"
