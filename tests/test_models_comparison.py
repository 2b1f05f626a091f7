"""Tests of the comparison of models with runs: selection of models, accuracy, omitted models."""

import json
from typing import Any

import numpy as np
import pytest

import aqmlab
from aqmlab.models.comparison import Comparison, Row, compare, needed
from aqmlab.scenario import normalize

SACK = {"recovery": "sack", "sack": True, "delayed_ack": "1 packets"}


def scenario(
    queue: dict[str, Any], flows: list[dict[str, Any]], tcp: dict[str, Any] | None = None,
    duration: str = "60 s", **network: Any,
) -> dict[str, Any]:  # fmt: skip
    """Return a scenario with a dumbbell; its host links are too fast to affect the traffic."""
    return {
        "duration": duration,
        "phase_breaking": {"start": "1 ms"},
        "network": {
            "kind": "dumbbell", "rate": "10 Mbit/s", "delay": "20 ms", "queue": queue,
            "left_rate": "1 Gbit/s", "left_delay": "1 ms",
            "right_rate": "1 Gbit/s", "right_delay": "1 ms",
        } | network,
        "flows": [{"from": "left-0", "to": "right-0"} | flow for flow in flows],
        "tcp": SACK | (tcp or {}),
    }  # fmt: skip


def compared(settings: dict[str, Any], warm_up: str | None = None) -> Comparison:
    """Run a scenario, record the series that its models need, and compare run and models."""
    whole = json.loads(normalize(settings | {"warm_up": warm_up or "0 s"}))
    whole["record"] |= {"series": needed(whole)} | settings.get("record", {})
    return compare(aqmlab.run(whole))


def rows_of(comparison: Comparison) -> dict[tuple[str, str], Row]:
    return {(row.model, row.quantity): row for row in comparison.rows}


UNLIMITED = {"kind": "drop_tail", "limit": "1000000 packets"}
BULK = [{"name": "b{i}", "count": 10, "traffic": {"kind": "bulk"}}]


def poisson(rate: str, payload: str = "972 B", **more: Any) -> dict[str, Any]:
    return {"traffic": {"kind": "poisson", "rate": rate, "payload": payload} | more}


def test_poisson_datagrams_select_the_model_md1() -> None:
    comparison = compared(scenario(UNLIMITED, [poisson("3 Mbit/s"), poisson("4 Mbit/s")]))
    assert {row.model for row in comparison.rows} == {"M/D/1"}
    wait = rows_of(comparison)["M/D/1", "mean wait"]
    assert wait.predicted == pytest.approx(0.8 * 0.7 / 0.6)
    assert abs(wait.difference) < 0.05
    late = [row for row in comparison.rows if "over" in row.quantity]
    assert len(late) == 2
    assert all(abs(row.difference) < 0.2 for row in late)
    assert comparison.queue is not None


def test_poisson_datagrams_in_a_small_buffer_select_the_model_md1k() -> None:
    for counts, system_size in (("waiting", 6), ("waiting-and-in-service", 5)):
        small = {"kind": "drop_tail", "limit": "5 packets", "limit_counts": counts}
        rows = rows_of(compared(scenario(small, [poisson("8 Mbit/s")])))
        assert f"K = {system_size}" in rows["M/D/1/K", "loss"].assumed
        assert abs(rows["M/D/1/K", "loss"].difference) < 0.1
        assert abs(rows["M/D/1/K", "mean wait"].difference) < 0.02


def test_two_packet_sizes_select_the_model_mg1() -> None:
    comparison = compared(scenario(UNLIMITED, [poisson("4 Mbit/s"), poisson("2 Mbit/s", "100 B")]))
    assert {row.model for row in comparison.rows} == {"M/G/1"}
    assert abs(rows_of(comparison)["M/G/1", "mean wait"].difference) < 0.05
    assert comparison.queue is None


@pytest.mark.parametrize("exponential", [False, True])
def test_a_trace_of_batches_selects_its_model(exponential: bool) -> None:
    rng = np.random.default_rng(2)
    times = np.repeat(np.cumsum(rng.exponential(2.5, 20_000)), rng.integers(1, 3, 20_000))
    sizes = rng.exponential(1000, len(times)) if exponential else np.full(len(times), 999.0)
    trace = [[t / 1000, max(1, int(n))] for t, n in zip(times, sizes, strict=True)]
    flow = {"from": "a", "to": "b", "traffic": {"kind": "replay", "trace": trace, "headers": "1 B"}}
    link = {"from": "a", "to": "b", "rate": "8 Mbit/s", "delay": "0 s", "queue": UNLIMITED}
    comparison = compared(
        {"duration": "60 s", "network": {"kind": "graph", "links": [link]}, "flows": [flow]}
    )
    name = "M[X]/M/1" if exponential else "M[X]/D/1"
    assert {row.model for row in comparison.rows} == {name}
    assert rows_of(comparison)[name, "load"].predicted == pytest.approx(60, rel=0.03)
    assert abs(rows_of(comparison)[name, "mean wait"].difference) < 0.1


def test_reno_with_random_loss_agrees_with_the_square_root_law_and_pftk() -> None:
    lossy: dict[str, Any] = {
        "impairments": [{"kind": "loss", "probability": 0.005}],
        "rate": "1 Gbit/s",
    }
    flows = [{"name": "b{i}", "count": 5, "traffic": {"kind": "bulk"}}]
    comparison = compared(scenario(UNLIMITED, flows, **lossy))
    rows = rows_of(comparison)
    for model in ("square-root law", "PFTK", "PFTK, simplified"):
        assert abs(rows[model, "goodput of a flow"].difference) < 0.25, model
    cubic = scenario(UNLIMITED, flows, {"congestion": {"kind": "cubic"}}, **lossy)
    comparison = compared(cubic)
    assert [row.model for row in comparison.rows] == ["CUBIC"]
    assert (
        abs(comparison.rows[0].difference) < 0.3
    )  # losses are random here, and equally spaced in the model
    comparison = compared(scenario(UNLIMITED, flows, {"congestion": {"kind": "vegas"}}, **lossy))
    assert comparison.rows == []
    assert any(
        "none of the models predicts the rate of vegas at a drop_tail queue" in why
        for why in comparison.left_out
    )


def test_without_signals_the_receive_window_limits_the_goodput() -> None:
    one = [{"name": "b", "traffic": {"kind": "bulk"}}]
    settings = scenario(UNLIMITED, one, {"receive_window": "29200 B"})
    (row,) = compared(settings).rows
    assert row.model == "receive window"
    assert abs(row.difference) < 0.03


@pytest.mark.parametrize(
    ("queue", "near"),
    [
        ({"kind": "red", "minth": "20 packets", "maxth": "100 packets"}, 0.15),
        (
            {
                "kind": "pi",
                "qref": "40 packets",
                "max_rtt": "100 ms",
                "min_flows": 8,
                "mean_packet_size": "1500 B",
            },
            0.15,
        ),
        ({"kind": "pie", "target": "30 ms"}, 0.15),
        ({"kind": "pi2", "target": "30 ms"}, 0.15),
    ],
    ids=lambda x: x["kind"] if isinstance(x, dict) else "",
)
def test_aqms_maintain_the_equilibrium_queue_of_the_fluid_model(
    queue: dict[str, Any], near: float
) -> None:
    settings = scenario({"limit": "1000 packets"} | queue, BULK, {"ecn": "rfc3168"})
    comparison = compared(settings)
    rows = rows_of(comparison)
    name = f"fluid, {queue['kind']}"
    assert abs(rows[name, "queue"].difference) < near
    assert (
        abs(rows[name, "signals"].difference) < 0.45
    )  # the fluid model has no slow start and no timeouts
    assert rows[name, "gain margin"].predicted > 1
    assert np.isnan(rows[name, "gain margin"].difference)
    assert comparison.loop is not None
    assert comparison.loop.is_stable
    assert not any(row.model == "PFTK" for row in comparison.rows), "marks do not cause timeouts"


def test_dctcp_at_a_threshold_has_the_predicted_queue() -> None:
    flows = [{"name": "b{i}", "count": 2, "traffic": {"kind": "bulk"}}]
    tcp = {"ecn": "dctcp", "congestion": {"kind": "dctcp", "g": 1 / 64}}
    queue = {"kind": "threshold", "limit": "1000 packets", "threshold": "40 packets"}
    settings = scenario(queue, flows, tcp, "8 s", rate="100 Mbit/s", delay="4 ms")
    rows = rows_of(compared(settings | {"record": {"interval": "0.2 ms"}}))
    for quantity in ("maximum queue", "minimum queue"):
        row = rows["DCTCP", quantity]
        assert row.predicted == pytest.approx(row.measured, abs=3)
    assert abs(rows["DCTCP", "share of marks α"].difference) < 0.25


@pytest.mark.parametrize(
    ("configuration", "reason"),
    [
        (scenario({"kind": "codel"}, BULK, duration="2 s"), "the fluid model needs red, pi"),
        (scenario(UNLIMITED, [poisson("12 Mbit/s")], duration="2 s"),
         "the load of left>right is 1.2"),
        (scenario({"kind": "drop_tail", "limit": "3 packets"},
                  [poisson("5 Mbit/s"), poisson("4 Mbit/s", "100 B")], duration="2 s"),
         "the model of different packet sizes assumes"),
        (scenario(UNLIMITED, [poisson("1 Mbit/s"), *BULK], duration="2 s"), "bulk crosses"),
        (scenario({"kind": "codel"}, [poisson("1 Mbit/s")], duration="2 s"),
         "need a queue of kind drop_tail, not codel"),
        (scenario({"kind": "red"}, BULK, {"congestion": {"kind": "cubic"}}, duration="9 s"),
         "the congestion control Reno, not cubic"),
        (scenario(UNLIMITED, [poisson("1 Mbit/s", lasts="1 s")], duration="2 s"),
         "does not send during the whole run"),
        (scenario(UNLIMITED, [{"traffic": {"kind": "bulk", "size": "1 MB"}}], duration="2 s"),
         "the models of TCP rates need transfers of unlimited size"),
        (scenario(UNLIMITED, [poisson("1 Mbit/s")], duration="2 s",
                  rate_changes=[{"at": "1 s", "rate": "5 Mbit/s"}]),
         "the rate of left>right changes"),
    ],
)  # fmt: skip
def test_a_model_that_does_not_apply_is_listed_with_its_reason(
    configuration: dict[str, Any], reason: str
) -> None:
    assert any(reason in why for why in compared(configuration).left_out)


def test_a_comparison_without_a_needed_series_names_the_series() -> None:
    comparison = compare(aqmlab.run(scenario(UNLIMITED, BULK, duration="2 s")))
    assert any('the series "rtt"; add it' in why for why in comparison.left_out)
    assert comparison.rows == []


def test_responses_arrive_as_bursts_of_slow_start() -> None:
    """A model with constant service times predicts the waits better than an exponential model."""
    flow = {"name": "f{i}", "count": 60, "from": "right-{i}", "to": "left-0",
            "arrivals": {"interval": "42 ms"},
            "traffic": {"kind": "request_response", "request": "100 B", "response": "6720 B",
                        "requests": 1}}  # fmt: skip
    settings = scenario(
        UNLIMITED, [flow], {"mss": "960 B", "initial_window": "2 packets"}, "20 s",
        rate="100 Mbit/s", delay="1 ms", right_hosts=60,
        right_delay={"first": "3 ms", "last": "73 ms"}, reverse={"queue": UNLIMITED},
    )  # fmt: skip
    comparison = compared(settings)
    assert comparison.link == "left>right"
    rows = rows_of(comparison)
    assert "growth 2; mean burst of a packet 3" in rows["M[X]/D/1", "mean wait"].assumed
    constant, exponential = (rows[f"M[X]/{s}/1", "mean wait"].difference for s in "DM")
    assert abs(constant) < 0.15
    assert constant < exponential < 0.5
    assert comparison.queue is not None
    late = rows_of(compared(settings, "10 s"))["M[X]/D/1", "mean wait"]
    number = [
        int(row.assumed.split("; ")[1].split()[0]) for row in (rows["M[X]/D/1", "mean wait"], late)
    ]
    assert number[1] == pytest.approx(number[0] / 2, rel=0.02)
    assert late.measured != rows["M[X]/D/1", "mean wait"].measured
    few = compared(settings | {"duration": "50 ms"})
    assert few.rows == []
    assert few.left_out


def test_a_warm_up_is_excluded_from_the_measurements() -> None:
    """In the warm-up, slow start determines the queue, because RED's average is still low."""
    red = {"kind": "red", "minth": "20 packets", "maxth": "100 packets", "wq": 0.0002}
    settings = scenario(red | {"limit": "1000 packets"}, BULK, {"ecn": "rfc3168"}, duration="40 s")
    whole, late, first = (
        compared(settings),
        compared(settings, "10 s"),
        compared(settings | {"duration": "10 s"}),
    )
    assert (whole.begin_s, late.begin_s) == (0, 10)
    queue, goodput = ("fluid, red", "queue"), ("square-root law", "goodput of a flow")
    for row in (queue, goodput):
        assert abs(rows_of(whole)[row].difference) > 0.3
        assert abs(rows_of(late)[row].difference) < 0.2
    # The warm-up and the rest of the run together have as many packets as the whole run.
    packets = [
        float(comparison.waits[1].sum()) for comparison in (whole, first, late) if comparison.waits
    ]
    assert packets[0] == packets[1] + packets[2]
    measured = [rows_of(comparison)[goodput].measured for comparison in (whole, first, late)]
    assert 40 * measured[0] == pytest.approx(10 * measured[1] + 30 * measured[2], rel=0.01)
    waits = [
        rows_of(comparison)[queue].measured * n
        for comparison, n in zip((whole, first, late), packets, strict=True)
    ]
    assert waits[0] == pytest.approx(waits[1] + waits[2])


def test_a_long_warm_up_leaves_too_few_measurements() -> None:
    """No packet arrives in the last 0.1 ms, and the queue has no sample in the last 10 ms."""
    step = {"kind": "threshold", "threshold": "20 packets", "limit": "1000 packets"}
    settings = scenario(step, BULK, {"congestion": "dctcp", "ecn": "accurate"}, duration="2 s")
    nothing = compared(settings, "1999.9 ms")
    assert nothing.left_out == ["no packet crosses left>right after 1.9999 s"]
    little = compared(settings | {"record": {"interval": "300 ms"}}, "1990 ms")
    assert "b{i}: the run has no sample of the queue after 1.99 s" in little.left_out
