"""Tests of the central claims of papers on queues, with the measurements of examples/statements.

docs/aqm-statements.md lists the claims with the measured values, and also the claims that the
measurements contradict.
"""

import itertools
import math
from functools import cache
from typing import Any

import pandas as pd
import pytest

import aqmlab
from statements import STATEMENTS, idle
from statements.common import downloads, scenario, waiting

REPLICATIONS = 2
SLOW = ("pi", "rem", "sfb")
"""Statements whose measurements take most of the time; `make nightly` tests them."""


@cache
def measured(name: str) -> pd.DataFrame:
    """Return the measurements for the statement `name` of an AQM paper, one row per run."""
    return STATEMENTS[name].measure(REPLICATIONS)


def means(name: str, value: str) -> dict[Any, float]:
    """Return the mean of the column `value` over the replications, by case."""
    grouped = measured(name).groupby(list(STATEMENTS[name].by), sort=False)[value].mean()
    return {key: float(mean) for key, mean in grouped.items()}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.nightly] * (name in SLOW)) for name in STATEMENTS],
)
def test_every_point_has_a_figure(name: str) -> None:
    figure = STATEMENTS[name].draw(measured(name))
    for axes in figure.axes:
        assert axes.get_xlabel()
        assert axes.lines or axes.collections


def test_uniform_spacing_avoids_clusters_and_long_gaps() -> None:
    """Floyd & Jacobson 1993 §7: RED marks 100 of 5000 packets; geometric spacing has clusters."""
    for (_, spacing), rows in measured("spacing").groupby(["seed", "spacing"]):
        gaps = rows["packet"].diff().dropna()
        assert len(rows) == pytest.approx(100, abs=30)
        if spacing == "uniform":
            # The gaps are uniform from 1 to 1/p, so their standard deviation is 1/p divided by √12.
            assert gaps.max() <= 100
            assert gaps.std() == pytest.approx(100 / math.sqrt(12), rel=0.2)
        else:
            assert gaps.max() > 150
            assert gaps.std() == pytest.approx(50, rel=0.3)


def test_the_queue_of_adaptive_red_depends_less_on_the_load_than_that_of_red() -> None:
    """Floyd, Gummadi & Shenker 2001 §5 compare a fixed and an adapted maxp."""
    queue = means("adaptive-red", "queue")
    fixed = [queue["RED, maxp 0.1", n] for n in (10, 30, 60, 100)]
    adaptive = [queue["Adaptive RED", n] for n in (10, 30, 60, 100)]
    assert max(fixed) > 2 * min(fixed)
    assert max(adaptive) < 1.5 * min(adaptive)
    # With 30 or more flows, maxp is between its bounds, and the queue is near 20 ms (25 packets).
    assert adaptive[1:] == pytest.approx([25] * 3, rel=0.2)


@pytest.mark.parametrize("kind", ["PIE", "PI2", "DualPI2"])
def test_the_delay_is_at_its_target_at_every_load(kind: str) -> None:
    """With 10 to 100 flows the mean delay is near its target, 15 ms (RFC 8033 §4.2, RFC 9332)."""
    delays = means("target-delay", "delay_ms")
    of_kind = [delays[kind, n] for n in (10, 30, 60, 100)]
    assert of_kind == pytest.approx([15] * 4, rel=0.2)


@pytest.mark.nightly
def test_the_queue_of_pi_is_at_its_reference_at_every_load() -> None:
    """hollot2001pi: with at least as many flows as designed for, the mean queue is 200 packets."""
    queue = means("pi", "queue")
    published = [queue["published coefficients (60 flows or more)", n] for n in (30, 60, 100)]
    assert published == pytest.approx([200] * 3, rel=0.03)
    designed = [queue["design rule, 10 flows or more", n] for n in (10, 30, 60, 100)]
    assert designed == pytest.approx([200] * 4, rel=0.12)


@pytest.mark.nightly
def test_the_queue_of_rem_is_at_its_target_at_every_load() -> None:
    """With 20 to 160 flows REM's mean queue is 20 packets; RED's queue grows with the flows."""
    queue = means("rem", "queue")
    of_rem = [queue["REM, period 2 ms", n] for n in (20, 60, 100, 160)]
    assert of_rem == pytest.approx([20] * 4, rel=0.25)
    assert max(of_rem) < 1.3 * min(of_rem)
    assert queue["RED 20/80/0.1", 160] > 3 * queue["RED 20/80/0.1", 20]


@pytest.mark.parametrize("period_ms", [2, 10])
@pytest.mark.parametrize("flows", [60, 160])
def test_rem_compensates_for_idle_time(period_ms: int, flows: int) -> None:
    """While the price of REM is above 0, equation (1) gives alpha (b - b*) = c - x on average.

    The error of the mean queue length b is the change of REM's price in the measured time, divided
    by gamma alpha and by the number of periods.
    """
    queue = {"kind": "rem", "limit": "120 packets", "period": f"{period_ms} ms"}
    first, whole = (
        aqmlab.run(
            scenario(
                queue, [downloads(flows)], rate="64 Mbit/s", rtt_ms=80, mss=960,
                ecn="rfc3168", duration_s=duration, series=["queue"],
            ),
            seed=1,
        )
        for duration in (75, 375)
    )  # fmt: skip
    a, b = (result.links.set_index("link").loc["left>right"] for result in (first, whole))
    idle = 8000 * (1 - (b["busy_s"] - a["busy_s"]) / 300)
    lost = (b["dropped_packets"] - a["dropped_packets"]) / 300
    expected = 20 + (idle - lost) * period_ms / 1000 / 0.1
    assert waiting(whole, 75, 1000).mean() == pytest.approx(expected, abs=1)


def test_fred_limits_an_unresponsive_flow() -> None:
    """Lin & Morris 1997: FRED limits a CBR flow, which gets nearly the whole link with RED."""
    rate = means("unresponsive", "delivered")
    assert rate["RED", 12] > 9
    assert rate["FRED", 12] < 2.5
    assert rate["FRED", 12] < 1.2 * rate["FRED", 4]


@pytest.mark.parametrize(
    ("queue", "share"), [("FQ-CoDel", 0.4), ("FQ-PIE", 0.4), ("RED-PD, R 100 ms", 0.5)]
)
def test_fair_queueing_and_red_pd_limit_an_unresponsive_flow(queue: str, share: float) -> None:
    """FQ-CoDel isolates flows (RFC 8290 §6), and RED-PD limits a flow to the rate of a TCP."""
    rate = means("unresponsive", "delivered")
    assert rate[queue, 1] > 0.95
    assert rate[queue, 12] < share * rate["RED", 12]


@pytest.mark.nightly
def test_sfb_limits_an_unresponsive_flow() -> None:
    """Feng and others 2002, §V: SFB limits a flow of 45 Mbit/s among 400 downloads."""
    rate = means("sfb", "delivered")
    assert rate["RED", 45] > 30
    assert rate["SFB", 45] < 2
    assert rate["SFB", 10] < 2
    assert rate["FRED", 45] < 2


def test_choke_bounds_the_share_of_an_unresponsive_flow() -> None:
    """Tang, Wang & Low 2004: a CBR flow's share is at most 1/(1 + e), and falls at high rates."""
    share = means("choke", "share")
    assert max(s for (queue, _), s in share.items() if queue == "CHOKe") < 1 / (1 + math.e)
    assert share["CHOKe", 1] > 0.9 / (1 + math.e)
    assert share["CHOKe", 10] < 0.05
    # Pan, Prabhakar & Psounis 2000 §III: the CBR flow's share is about a quarter with CHOKe, and
    # nearly 1 with RED.
    assert share["CHOKe", 2] == pytest.approx(0.25, abs=0.03)
    assert share["RED", 2] > 0.9


def test_blue_needs_a_smaller_buffer_than_red() -> None:
    """Feng and others 2002, §IV: BLUE has fewer losses and a higher utilization than RED."""
    lost, busy = means("blue", "lost"), means("blue", "utilization")
    for buffer in (25, 50, 100, 200, 400):
        assert lost["BLUE", buffer] < 0.8 * lost["RED", buffer]
        assert busy["BLUE", buffer] > busy["RED", buffer] + 10
    assert busy["BLUE", 25] > 85


def test_codel_drops_by_the_square_root_of_its_count() -> None:
    """RFC 8289 §5.3: interval (1 + 1/√2 + … + 1/√n) is the time of drop n after the first drop."""
    table = measured("codel")
    late = table["dropped_s"] - table["formula_s"]
    transmission = 1000 * 8 / 10e6
    assert len(table) > 5000
    assert (late >= -1e-9).all()
    assert (late <= transmission + 1e-9).all()


def test_a_sparse_flow_does_not_wait_for_other_flows() -> None:
    """With FQ-CoDel (RFC 8290 §6), short transfers among ten downloads wait less than 4 ms."""
    median = measured("sparse").groupby("queue of")["waited_ms"].median()
    for queue in ("FQ-CoDel", "FQ-PIE"):
        assert 0 < median[queue] < 4
        assert median["CoDel"] > 2 * median[queue]
        assert median["PIE"] > 2 * median[queue]
        assert median["Drop Tail"] > 100 * median[queue]


def test_dualpi2_has_a_low_delay_for_l_and_a_full_link() -> None:
    """RFC 9332 §2.4: the mean delay of queue L is below 1 ms, and of queue C near its target."""
    for mix in ("5 + 5", "10 + 10", "2 + 8", "8 + 2"):
        assert means("dualpi2", "L_ms")[mix] < 1
        assert means("dualpi2", "L99_ms")[mix] < 2.5
        assert means("dualpi2", "C_ms")[mix] == pytest.approx(15, rel=0.1)
        assert means("dualpi2", "utilization")[mix] > 97
        assert 0.5 < means("dualpi2", "ratio")[mix] < 2


def test_rio_drops_no_packet_within_the_profile() -> None:
    """RIO (Clark & Fang 1998) drops only out-of-profile packets; RED also drops other packets."""
    inside, outside = means("rio", "in_lost"), means("rio", "out_lost")
    for out in (1, 2, 4, 8, 16, 32):
        assert inside["RIO", out] == 0
        assert outside["RIO", out] > 1
        assert inside["RED", out] == pytest.approx(outside["RED", out], rel=0.2)


PIES = ("PIE", "PIE, enhanced", "PIE, Linux", "FQ-PIE", "FQ-PIE, Linux")
REDS = ("RED", "Adaptive RED", "self-configuring RED", "nonlinear RED", "WRED", "RIO", "RED-PD")


def burst(queue: str) -> dict[float, float]:
    """Return the drops in a burst of 60 packets, by the idle time before the burst in s."""
    return {idle: n for (name, idle), n in means("idle", "dropped").items() if name == queue}


@pytest.mark.parametrize("queue", idle.QUEUES)
def test_a_longer_idle_time_never_increases_the_drops_of_a_burst(queue: str) -> None:
    """A queue that was idle for 20 s after a load drops no more of a burst than an unused queue."""
    dropped = burst(queue)
    for before, after in itertools.pairwise(idle.IDLE_S):
        assert dropped[after] <= dropped[before] + 1
    assert dropped[20] <= dropped[idle.NEVER] + 1


@pytest.mark.parametrize("queue", [*PIES, "CoDel", "FQ-CoDel", "Drop Tail"])
def test_a_burst_after_200_ms_of_idle_time_has_no_drops(queue: str) -> None:
    """RFC 8033 §4.1: PIE drops no packet while its delay estimate is 0 and p is below 20 %."""
    assert [n for seconds, n in burst(queue).items() if seconds >= 0.2] == [0] * 6


@pytest.mark.parametrize("queue", [*REDS, "CHOKe"])
def test_averaging_queues_drop_no_packet_of_a_burst_after_one_idle_second(queue: str) -> None:
    """RED's average decays as if 2500 small packets arrived per second (Floyd & Jacobson 1993)."""
    assert [n for seconds, n in burst(queue).items() if seconds >= 1] == [0] * 5


def test_the_probability_of_pi2_decreases_by_alpha_times_the_target_per_period() -> None:
    """In an idle queue √p falls from √(0.1/1.1) by 0.16 Hz · 15 ms per 16 ms (RFC 9332 A.1)."""
    dropped = burst("PI2")
    for seconds in (0.05, 0.2, 1):
        p = math.sqrt(0.1 / 1.1) - 0.15 * seconds
        assert dropped[seconds] == pytest.approx(idle.BURST * p**2, abs=4)
    assert dropped[5] == dropped[20] == 0


def test_the_probability_of_blue_decreases_once_per_freeze_time() -> None:
    """Feng and others 2002: BLUE's probability decreases by d2 = 0.002 per 100 ms of idle time."""
    dropped = burst("BLUE")
    pm = dropped[0.05] / idle.BURST
    assert pm > 0.05
    for seconds in idle.IDLE_S:
        expected = idle.BURST * max(0.0, pm - 0.02 * seconds)
        assert dropped[seconds] == pytest.approx(expected, abs=3)
