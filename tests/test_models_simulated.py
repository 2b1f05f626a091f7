"""Comparison of M[X]/M/1 and M[X]/D/1 with simulated Poisson batches of datagrams on one link.

The mean packet size is 4000 B, so that rounding to whole bytes is negligible. Lindley's recursion
gives the wait of each packet of a trace, and the simulated waits must equal these waits up to
rounding. The nightly test compares the recursion with the closed form, over at least 10^7 packets
for an error below 1 %.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import aqmlab
from aqmlab.models.batch_queue import Batches, BatchQueue, MxD1, MxM1
from aqmlab.models.bursts import Ramp, batches
from aqmlab.statistics import mean_interval

FLOW_OF_7 = Batches.of({1: 1, 2: 1, 4: 1})
SERVICE_S, MEAN_BYTES, RATE = 1e-3, 4000, "32 Mbit/s"
LOADS = pytest.mark.parametrize("load", [0.5, 0.8, 0.95])
Array = NDArray[np.float64]


def traces(queue: BatchQueue, packets: int, seed: int) -> Iterator[tuple[Array, Array]]:
    """Yield a trace in pieces: the arrival times (s) and the sizes (B) of batches of packets."""
    rng = np.random.default_rng(seed)
    number, begin = int(packets / queue.batches.mean), 0.0
    while True:
        sizes = rng.choice(len(queue.batches.pmf), number, p=queue.batches.pmf)
        gaps = rng.exponential(queue.batches.mean / queue.load * SERVICE_S, number)
        times = begin + np.cumsum(gaps)
        begin = times[-1]
        packets_now = int(sizes.sum())
        lengths = (
            rng.exponential(MEAN_BYTES, packets_now)
            if queue.VARIATION
            else np.full(packets_now, MEAN_BYTES)
        )
        yield np.repeat(times, sizes), np.clip(np.rint(lengths), 2, 60_000)


def waits(times: Array, sizes: Array, work_before: float, before: float) -> tuple[Array, float]:
    """Return the wait of each packet and the work at the last arrival, in s (Lindley's recursion).

    `work_before` is the unfinished work in s at the time `before`.
    """
    work = work_before + np.concatenate([[0], np.cumsum(sizes) * (SERVICE_S / MEAN_BYTES)])
    ahead = work[:-1] - (times - before)
    times_waited = ahead - np.minimum(np.minimum.accumulate(ahead), 0)
    return times_waited, float(times_waited[-1] + sizes[-1] * SERVICE_S / MEAN_BYTES)


def run(times: Array, sizes: Array) -> aqmlab.Result:
    """Return the result of a run in which the packets of a trace cross one link."""
    trace = [[t, int(n) - 1] for t, n in zip(times.tolist(), sizes.tolist(), strict=True)]
    scenario: dict[str, Any] = {
        "duration": f"{round(times[-1]) + 60} s",
        "phase_breaking": {"start": "0 s", "delay": "0 s"},
        "network": {"kind": "graph", "links": [
            {"from": "a", "to": "b", "rate": RATE, "delay": "0 s", "directions": "one",
             "queue": {"kind": "drop_tail", "limit": "1000000000 packets"}}]},
        "flows": [{"from": "a", "to": "b", "traffic":
                   {"kind": "replay", "trace": trace, "headers": "1 B"}}],
        "record": {"series": ["waits", "delays", "queue"], "interval": "5 ms"},
    }  # fmt: skip
    return aqmlab.run(scenario)


@pytest.mark.parametrize("kind", [MxM1, MxD1])
@LOADS
def test_runs_agree_with_the_closed_form_within_their_interval(
    kind: type[BatchQueue], load: float
) -> None:
    queue = kind(load, FLOW_OF_7, SERVICE_S)
    long, many = 2 * queue.mean_wait, 2 * queue.mean_system
    means, numbers, late, shares = [], [], [], []
    for seed in range(6):
        times, sizes = next(traces(queue, 15_000, seed))
        result = run(times, sizes)
        expected, _ = waits(times, sizes, 0.0, 0.0)
        (mean,) = result.columns("delays")["mean_delay_s"]
        assert mean == pytest.approx(expected.mean(), rel=1e-8), (
            "the simulated waits differ from Lindley's recursion"
        )
        means.append(float(mean))
        series = result.columns("queue")
        busy = np.asarray(series["time_s"]) < times[-1]
        in_system = np.asarray(series["queue_packets"]) + np.asarray(series["transmitting"])
        numbers.append(float(in_system[busy].mean()))
        table = result.columns("waits")
        above = np.asarray(table["wait_s"]) > long
        count = np.asarray(table["packets"])
        late.append(float(count[above].sum() / count.sum()))
        shares.append(float(np.mean(in_system[busy] > many)))
    for values, upper, *lower in (
        (means, queue.mean_wait),
        (numbers, queue.mean_system),
        (
            late,
            queue.wait_exceeds(long * 0.992),
            queue.wait_exceeds(long * 1.008),
        ),  # the width of a histogram bin
        (shares, queue.exceeds(many)),
    ):
        low, _, high = mean_interval(values, confidence=0.999)
        assert low <= upper
        assert high >= min([upper, *lower])
    near = {0.5: 0.03, 0.8: 0.1, 0.95: 0.3}[load]
    assert np.mean(means) == pytest.approx(queue.mean_wait, rel=near)


def short_flows(per_ack: int, seed: int) -> tuple[float, float]:
    """Return the load of a link with flows of 7 packets, and its mean queue in data packets."""
    hosts, packets, mss, load, bps = 60, 7, 960, 0.8, 100e6
    interval = round(1e9 * hosts * packets * (mss + 40) * 8 / (load * bps))
    scenario: dict[str, Any] = {
        "seed": seed,
        "duration": "20 s",
        "phase_breaking": {"start": "1 ms"},
        "network": {"kind": "dumbbell", "rate": "100 Mbit/s", "delay": "1 ms",
                    "queue": {"kind": "drop_tail", "limit": "100000 packets"},
                    "left_rate": "1 Gbit/s", "left_delay": "1 ms",
                    "right_hosts": hosts, "right_rate": "1 Gbit/s",
                    "right_delay": {"first": "3 ms", "last": "73 ms"}},
        "flows": [{"name": "f{i}", "count": hosts, "from": "left-0", "to": "right-{i}",
                   "arrivals": {"interval": f"{interval} ns"},
                   "traffic": {"kind": "bulk", "size": f"{packets * mss} B"}}],
        "tcp": {"mss": f"{mss} B", "initial_window": "2 packets", "sack": True,
                "recovery": "sack", "delayed_ack": f"{per_ack} packets"},
        "record": {"series": ["queue"], "interval": "1 ms", "links": ["left>right"],
                   "flows": "table"},
    }  # fmt: skip
    result = aqmlab.run(scenario)
    series, links = result.columns("queue"), result.columns("links")
    settled = np.asarray(series["time_s"]) > 2
    waiting = np.asarray(series["queue_bytes"])[settled].mean() / (mss + 40)
    return float(links["utilization"][links["link"].index("left>right")]), float(waiting)


@pytest.mark.parametrize(("per_ack", "growth"), [(1, 2.0), (2, 1.5)])
def test_tcp_sends_the_batches_of_the_model(per_ack: int, growth: float) -> None:
    """Flows of 7 packets in slow start send batches as in M[X]/D/1 (power of ECN, figure 7).

    The text of the paper has a mean queue of 5 packets. A simulation with delayed ACKs has 4.6
    waiting packets and 0.8 packets in service. A simulation without delayed ACKs has 5.6 waiting
    packets and 0.8 packets in service.
    """
    flows = np.array([short_flows(per_ack, seed) for seed in range(1, 5)])
    load, waiting = flows.mean(axis=0)
    model = MxD1(load, batches([7], ramp=Ramp(2, growth=growth), windows={65536: 1}))
    assert waiting == pytest.approx(model.mean_queue, rel=0.06)
    assert round(waiting + load) == (5 if per_ack == 2 else 6)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", [MxM1, MxD1])
@LOADS
def test_the_mean_wait_is_within_one_percent(kind: type[BatchQueue], load: float) -> None:
    """Simulated waits equal the recursion, whose mean over many packets agrees with the formula."""
    queue = kind(load, FLOW_OF_7, SERVICE_S)
    long = 2 * queue.mean_wait
    pieces = traces(queue, 1_000_000, seed=1)
    work, before, sums, late, count = 0.0, 0.0, 0.0, 0.0, 0
    for piece in range({0.5: 20, 0.8: 100, 0.95: 1000}[load]):
        times, sizes = next(pieces)
        waited, work = waits(times, sizes, work, before)
        if piece == 0:
            (mean,) = run(times, sizes).columns("delays")["mean_delay_s"]
            assert mean == pytest.approx(waited.mean(), rel=1e-8)
        before = float(times[-1])
        sums, late, count = sums + waited.sum(), late + (waited > long).sum(), count + len(waited)
    assert sums / count == pytest.approx(queue.mean_wait, rel=0.01)
    assert late / count == pytest.approx(queue.wait_exceeds(long), rel=0.01)
