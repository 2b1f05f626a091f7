"""What the papers of queues show as their point: the measurements of examples/statements.

docs/aqm-statements.md has the statements beside the numbers, and says where they do not agree.
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


@cache
def measured(name: str) -> pd.DataFrame:
    """Return what a point measures, a row a run."""
    return STATEMENTS[name].measure(REPLICATIONS)


def means(name: str, value: str) -> dict[Any, float]:
    """Return the mean over replications by case."""
    grouped = measured(name).groupby(list(STATEMENTS[name].by), sort=False)[value].mean()
    return {key: float(mean) for key, mean in grouped.items()}


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_point_has_a_figure(name: str) -> None:
    figure = STATEMENTS[name].draw(measured(name))
    for axes in figure.axes:
        assert axes.get_xlabel()
        assert axes.lines or axes.collections


def test_uniform_spacing_avoids_clusters_and_long_gaps() -> None:
    """Floyd & Jacobson 1993 §7 and its figure: about 100 of 5000 marked, one way in clusters."""
    for (_, spacing), rows in measured("spacing").groupby(["seed", "spacing"]):
        gaps = rows["packet"].diff().dropna()
        assert len(rows) == pytest.approx(100, abs=30)
        if spacing == "uniform":
            # In 1..1/p: the deviation is 1/√12 of that, and half of what geometric gaps have.
            assert gaps.max() <= 100
            assert gaps.std() == pytest.approx(100 / math.sqrt(12), rel=0.2)
        else:
            assert gaps.max() > 150
            assert gaps.std() == pytest.approx(50, rel=0.3)


def test_adaptive_red_holds_its_queue_where_red_wanders() -> None:
    """Floyd, Gummadi & Shenker 2001 §5: the same thresholds, maxp fixed and adapted."""
    queue = means("adaptive-red", "queue")
    fixed = [queue["RED, maxp 0.1", n] for n in (10, 30, 60, 100)]
    held = [queue["Adaptive RED", n] for n in (10, 30, 60, 100)]
    assert max(fixed) > 2 * min(fixed)
    assert max(held) < 1.5 * min(held)
    # From 30 flows on maxp is not at its bound any more, and the queue near 20 ms: 25 packets.
    assert held[1:] == pytest.approx([25] * 3, rel=0.2)


@pytest.mark.parametrize("kind", ["PIE", "PI2", "DualPI2"])
def test_the_target_delay_is_held_whatever_the_load(kind: str) -> None:
    """RFC 8033 §4.2, RFC 9332 §2.4: 15 ms, for 10 to 100 flows."""
    delays = means("target-delay", "delay_ms")
    held = [delays[kind, n] for n in (10, 30, 60, 100)]
    assert held == pytest.approx([15] * 4, rel=0.2)


def test_pi_holds_its_reference_whatever_the_load() -> None:
    """Hollot et al. 2001: 200 packets, from as many flows as the coefficients are for."""
    queue = means("pi", "queue")
    published = [queue["published coefficients (60 flows or more)", n] for n in (30, 60, 100)]
    assert published == pytest.approx([200] * 3, rel=0.03)
    designed = [queue["design rule, 10 flows or more", n] for n in (10, 30, 60, 100)]
    assert designed == pytest.approx([200] * 4, rel=0.12)


def test_rem_holds_its_queue_whatever_the_load() -> None:
    """Athuraliya et al. 2001: 20 packets for 20 to 160 flows, where RED's queue grows with them."""
    queue = means("rem", "queue")
    held = [queue["REM, period 2 ms", n] for n in (20, 60, 100, 160)]
    assert held == pytest.approx([20] * 4, rel=0.25)
    assert max(held) < 1.3 * min(held)
    assert queue["RED 20/80/0.1", 160] > 3 * queue["RED 20/80/0.1", 20]


@pytest.mark.parametrize("period_ms", [2, 10])
@pytest.mark.parametrize("flows", [60, 160])
def test_rem_makes_up_for_idle_time(period_ms: int, flows: int) -> None:
    """Equation (1) summed: where the price stays above 0, alpha (b - b*) = c - x on average.

    Up to the price at the end less that at the beginning, over gamma alpha times the periods.
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


def test_fred_holds_down_an_unresponsive_flow() -> None:
    """Lin & Morris 1997: however much it sends; RED lets it take nearly everything."""
    got = means("unresponsive", "delivered")
    assert got["RED", 12] > 9
    assert got["FRED", 12] < 2.5
    assert got["FRED", 12] < 1.2 * got["FRED", 4]


@pytest.mark.parametrize(
    ("queue", "share"), [("FQ-CoDel", 0.4), ("FQ-PIE", 0.4), ("RED-PD, R 100 ms", 0.5)]
)
def test_others_hold_it_down_too(queue: str, share: float) -> None:
    """RFC 8290 §6: flows are isolated. Mahajan, Floyd & Wetherall 2001: held to a TCP of that R."""
    got = means("unresponsive", "delivered")
    assert got[queue, 1] > 0.95
    assert got[queue, 12] < share * got["RED", 12]


def test_sfb_holds_down_an_unresponsive_flow() -> None:
    """Feng et al. 2002 §V: one that floods 45 Mbit/s beside 400 downloads."""
    got = means("sfb", "delivered")
    assert got["RED", 45] > 30
    assert got["SFB", 45] < 2
    assert got["SFB", 10] < 2
    assert got["FRED", 45] < 2


def test_choke_bounds_the_share_of_an_unresponsive_flow() -> None:
    """Tang, Wang & Low 2004: at most 1/(1 + e), and less the more it sends beyond."""
    share = means("choke", "share")
    assert max(s for (queue, _), s in share.items() if queue == "CHOKe") < 1 / (1 + math.e)
    assert share["CHOKe", 1] > 0.9 / (1 + math.e)
    assert share["CHOKe", 10] < 0.05
    # Pan, Prabhakar & Psounis 2000 §III: about a quarter where RED gives it nearly all.
    assert share["CHOKe", 2] == pytest.approx(0.25, abs=0.03)
    assert share["RED", 2] > 0.9


def test_blue_needs_a_small_buffer_only() -> None:
    """Feng et al. 2002 §IV: fewer losses and a busier link than RED, with any buffer."""
    lost, busy = means("blue", "lost"), means("blue", "utilization")
    for buffer in (25, 50, 100, 200, 400):
        assert lost["BLUE", buffer] < 0.8 * lost["RED", buffer]
        assert busy["BLUE", buffer] > busy["RED", buffer] + 10
    assert busy["BLUE", 25] > 85


def test_codel_drops_by_the_square_root_of_its_count() -> None:
    """RFC 8289 §3.1, §5.3: the n-th drop comes interval (1 + 1/√2 + … + 1/√n) after the first."""
    table = measured("codel")
    late = table["dropped_s"] - table["formula_s"]
    transmission = 1000 * 8 / 10e6
    assert len(table) > 5000
    assert (late >= -1e-9).all()
    assert (late <= transmission + 1e-9).all()


def test_a_sparse_flow_does_not_wait_for_the_others() -> None:
    """RFC 8290 §4.2, §6: short transfers beside ten downloads; two round trips, hardly more."""
    median = measured("sparse").groupby("queue of")["waited_ms"].median()
    for queue in ("FQ-CoDel", "FQ-PIE"):
        assert 0 < median[queue] < 4
        assert median["CoDel"] > 2 * median[queue]
        assert median["PIE"] > 2 * median[queue]
        assert median["Drop Tail"] > 100 * median[queue]


def test_dualpi2_keeps_the_delay_of_l_low_and_the_link_full() -> None:
    """RFC 9332 §2.4, RFC 9330 §1: below a millisecond on average, C at its target, like shares."""
    for mix in ("5 + 5", "10 + 10", "2 + 8", "8 + 2"):
        assert means("dualpi2", "L_ms")[mix] < 1
        assert means("dualpi2", "L99_ms")[mix] < 2.5
        assert means("dualpi2", "C_ms")[mix] == pytest.approx(15, rel=0.1)
        assert means("dualpi2", "utilization")[mix] > 97
        assert 0.5 < means("dualpi2", "ratio")[mix] < 2


def test_rio_protects_what_is_in_profile() -> None:
    """Clark & Fang 1998 §IV: no In packet is lost however many are Out; RED loses both alike."""
    inside, outside = means("rio", "in_lost"), means("rio", "out_lost")
    for out in (1, 2, 4, 8, 16, 32):
        assert inside["RIO", out] == 0
        assert outside["RIO", out] > 1
        assert inside["RED", out] == pytest.approx(outside["RED", out], rel=0.2)


PIES = ("PIE", "PIE, enhanced", "PIE, Linux", "FQ-PIE", "FQ-PIE, Linux")
REDS = ("RED", "Adaptive RED", "self-configuring RED", "nonlinear RED", "WRED", "RIO", "RED-PD")


def burst(queue: str) -> dict[float, float]:
    """Return what is dropped of a burst of 60 packets, by the idle seconds before it."""
    return {idle: n for (name, idle), n in means("idle", "dropped").items() if name == queue}


@pytest.mark.parametrize("queue", idle.QUEUES)
def test_no_queue_winds_up_while_it_is_idle(queue: str) -> None:
    """The longer it was idle, the less is dropped; after 20 s no more than without any load."""
    dropped = burst(queue)
    for before, after in itertools.pairwise(idle.IDLE_S):
        assert dropped[after] <= dropped[before] + 1
    assert dropped[20] <= dropped[idle.NEVER] + 1


@pytest.mark.parametrize("queue", [*PIES, "CoDel", "FQ-CoDel", "Drop Tail"])
def test_a_burst_after_a_fifth_of_a_second_meets_no_drops(queue: str) -> None:
    """RFC 8033 §4.1: a delay of 0 and p below 20 %. RFC 8289 §3.1: less than an interval."""
    assert [n for seconds, n in burst(queue).items() if seconds >= 0.2] == [0] * 6


@pytest.mark.parametrize("queue", [*REDS, "CHOKe"])
def test_a_second_is_enough_for_the_average(queue: str) -> None:
    """Floyd & Jacobson 1993 §4: 2500 small packets a second; 60 do not bring it back."""
    assert [n for seconds, n in burst(queue).items() if seconds >= 1] == [0] * 5


def test_the_probability_of_pi2_goes_down_by_alpha_times_the_target() -> None:
    """RFC 9332 Appendix A.1: 0.16 Hz · 15 ms in every 16 ms, from √(0.1/1.1) on; squared."""
    dropped = burst("PI2")
    for seconds in (0.05, 0.2, 1):
        p = math.sqrt(0.1 / 1.1) - 0.15 * seconds
        assert dropped[seconds] == pytest.approx(idle.BURST * p**2, abs=4)
    assert dropped[5] == dropped[20] == 0


def test_the_probability_of_blue_goes_down_once_a_freeze_time() -> None:
    """Feng et al. 2002: d2 = 0.002 every 100 ms that the link is idle."""
    dropped = burst("BLUE")
    pm = dropped[0.05] / idle.BURST
    assert pm > 0.05
    for seconds in idle.IDLE_S:
        expected = idle.BURST * max(0.0, pm - 0.02 * seconds)
        assert dropped[seconds] == pytest.approx(expected, abs=3)
