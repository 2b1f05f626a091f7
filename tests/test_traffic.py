"""Tests of samples of web traffic, and of the output and the figures of `aqmlab traffic`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aqmlab
from aqmlab import traffic
from aqmlab.command.main import execute
from aqmlab.models.batch_queue import MxM1
from aqmlab.models.bursts import batches, packets_of
from aqmlab.scenario import normalize

WEB = {
    "kind": "web", "page_gap": {"kind": "exponential", "mean": "1 s"}, "objects":
    {"kind": "geometric", "mean": 3}, "request": {"kind": "uniform", "min": "200 B",
    "max": "400 B"}, "response": {"kind": "lognormal", "mean": "4 kB"}, "parse_time": "30 ms",
    "server_time": {"kind": "exponential", "mean": "20 ms"}, "object_gap": "10 ms",
}  # fmt: skip


def scenario(**changes: Any) -> dict[str, Any]:
    """Return a scenario with three web users and a network with negligible delays."""
    links = {"left_rate": "100 Gbit/s", "left_delay": "0 s"}
    links |= {"right_rate": "100 Gbit/s", "right_delay": "0 s"}
    network = {"kind": "dumbbell", "rate": "100 Gbit/s", "delay": "0 s", "queue": "drop_tail"}
    user = {"name": "user-{i}", "count": 3, "from": "left-0", "to": "right-0"}
    return {
        "seed": 7, "duration": "20 s", "network": network | links,
        "phase_breaking": {"start": "0 s", "delay": "0 s"},
        "flows": [user | {"traffic": WEB | changes}], "record": {"series": ["requests"]},
        "tcp": {"initial_window": "1000 packets", "connection": {"nagle": "off"}},
    }  # fmt: skip


@pytest.mark.parametrize(
    "connections", ["each", "persistent", "pipelined", "multiplexed", "session"]
)
def test_a_sample_has_the_requests_of_a_run_over_a_fast_network(connections: str) -> None:
    document = scenario(connections=connections)
    if connections != "each":
        del document["flows"][0]["traffic"]["object_gap"]
    if connections == "session":
        document["flows"][0]["traffic"]["pages"] = 3
    run = aqmlab.run(document).table("requests")
    (sample,) = traffic.sample(document, 20)
    rows = sample.requests
    assert len(rows) > 100
    for user in range(3):
        sampled = rows[rows["user"] == user]
        simulated = run[run["flow"] == f"user-{user}"]
        for column in ("request_bytes", "response_bytes"):
            assert sorted(sampled[column]) == sorted(simulated[column])
        for of_sample, of_run in (("at_s", "start_s"), ("answered_s", "completed_s")):
            times = np.sort(simulated[of_run].to_numpy())
            answered = np.isfinite(times)
            assert np.sort(sampled[of_sample].to_numpy())[answered] == pytest.approx(
                times[answered], abs=2e-3
            )


@pytest.mark.parametrize("name", ["user-{i}", "user-{n}"])
def test_users_start_with_the_offsets_of_a_run(name: str) -> None:
    """Sampled users and the users of a run have the same random start offsets of at most 1 s."""
    document = scenario() | {"phase_breaking": {"start": "1 s", "delay": "0 s"}}
    other = document["flows"][0] | {"name": "first-{i}", "traffic": WEB, "start": "2 s"}
    document["flows"] = [other, document["flows"][0] | {"name": name}]
    run = aqmlab.run(document).table("requests")
    _, sample = traffic.sample(document, 20)
    firsts = []
    for user in range(3):
        sampled = sample.requests[sample.requests["user"] == user]["at_s"]
        simulated = run[run["flow"] == f"user-{user + 3 * (name == 'user-{n}')}"]["start_s"]
        assert np.sort(sampled) == pytest.approx(np.sort(simulated), abs=2e-3)
        firsts.append(sampled.min() % 1e-3)
    assert len(set(firsts)) == 3


def test_sample_means_agree_with_the_specified_distributions() -> None:
    """Sample means are within four standard errors of the specified means (finite variances)."""
    (sample,) = traffic.sample(scenario(), 3000, users=20)
    specified = traffic.distributions(sample.traffic)
    assert set(sample.drawn) < set(specified)
    for key, values in sample.drawn.items():
        error = float(values.std(ddof=1)) / np.sqrt(len(values))
        assert abs(float(values.mean()) - specified[key].mean) < 4 * error, key
    assert sample.load_bps == pytest.approx(sample.expected_load_bps, rel=0.02)


def test_the_load_over_time_has_all_bits() -> None:
    """The load over time has two responses of 1 MB, each of which takes 8 s at 1 Mbit/s."""
    document = scenario(page_gap="40 s", objects=1, response="1 MB", server_time="0 s")
    (sample,) = traffic.sample(document, 100, users=1)
    assert sample.requests["at_s"].to_list() == [40, 80]
    rates = sample.rates_bps(1.0, 1e6, warm_up=0)
    assert rates[39:49] == pytest.approx([0, *[1e6] * 8, 0])
    assert rates.sum() == pytest.approx(16e6)
    with pytest.raises(ValueError, match="more than 10\\^7 intervals"):
        sample.rates_bps(1e-6, 1e6)


def test_power_of_ecn_is_long_range_dependent_as_printed() -> None:
    """The Hurst parameter is 0.8 to 0.9 (§4.2), and near 0.5 for the bounded sizes of 3gpp-http."""
    for preset, low, high in (("power-of-ecn", 0.8, 0.9), ("3gpp-http", 0.4, 0.6)):
        (sample,) = traffic.sample(traffic.of_preset(preset), 3600, users=100)
        rates = sample.rates_bps(0.1, 10e6)
        assert low < aqmlab.statistics.local_whittle(rates).interval.middle < high


def test_the_general_mix_fills_the_queue_as_printed() -> None:
    """At 90 % of 100 Mbit/s, the model's delay is above 5 ms for more than half of the time."""
    late = {}
    for preset in ("power-of-ecn", "general-mix"):
        document = json.loads(normalize(traffic.of_preset(preset)))
        sizes = traffic.distribution("size", document["flows"][0]["traffic"]["response"])
        exceeds = np.concatenate(
            [np.linspace(1, 1e-3, 2000, endpoint=False), np.geomspace(1e-3, 1e-11, 3000)]
        )
        packets = packets_of(sizes.quantile(1 - (exceeds[1:] + exceeds[:-1]) / 2))
        weights: dict[int, float] = {}
        for size, weight in zip(packets.tolist(), -np.diff(exceeds), strict=True):
            weights[size] = weights.get(size, 0.0) + float(weight)
        late[preset] = MxM1(0.9, batches(weights)).exceeds(0.005 * 100e6 / 8 / 1000)
    assert late["general-mix"] > 0.5 > late["power-of-ecn"]


def test_the_command_prints_a_preset(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["traffic", "surge", "--users", "2", "--duration", "60 s"]) == 0
    printed = capsys.readouterr().out
    for part in ("121.1 kB", "2 users, 60 s:", "increase --duration"):
        assert part in printed
    assert execute(["traffic", "surge", "--users", "2", "--duration", "60 s"]) == 0
    assert capsys.readouterr().out == printed
    changes = ["--set", "flows.0.traffic.response=5 kB", "--seed", "3"]
    assert execute(["traffic", "surge", "--users", "2", "--duration", "60 s", *changes]) == 0
    assert "5 kB │     5 kB" in capsys.readouterr().out


def test_the_command_writes_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["traffic", "power-of-ecn", "--users", "30", "--duration", "600 s", "--out"]
    assert execute([*arguments, str(tmp_path / "new")]) == 0
    assert "Hurst parameter by local Whittle" in capsys.readouterr().out
    names = {f"{name}.{suffix}" for name in ("sizes", "load", "hurst") for suffix in ("png", "svg")}
    assert names <= {file.name for file in (tmp_path / "new").iterdir()}
    assert execute([*arguments, str(tmp_path / "new")]) == 2


def test_the_command_prints_the_distributions_of_any_traffic(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert execute(["traffic", "examples/web.toml"]) == 0
    printed = capsys.readouterr().out
    for part in ("web (bulk)", "12 kB", "chat (messages)"):
        assert part in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["srge"], "'srge' is neither a scenario nor a preset; the presets are power-of-ecn"),
        (["surge", "--rate", "9 Mb/s"], "--rate is '9 Mb/s'; it must be a rate above 0"),
        (["surge", "--duration", "9"], "--duration is '9'; it must be a time above 0"),
        (["surge", "--interval", "0 s"], "--interval is '0 s'; it must be"),
        (["surge", "--users", "0"], "--users is '0'; it must be a whole number"),
        (["examples/web.toml", "--out", "x"], "has no web traffic"),
        (["surge", "--set", "flows.0.traffic.objects=0"], "must be at least 1"),
    ],
)
def test_invalid_input_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["traffic", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_325_emulated_browsers_of_tpc_w_offer_15_mbit_s() -> None:
    """325 emulated browsers have a load of 15 Mbit/s, which docs/how-to states for TPC-W."""
    (sample,) = traffic.sample(traffic.of_preset("tpc-w"), 400, 325)
    assert sample.expected_load_bps == pytest.approx(15e6, rel=0.005)
    assert sample.load_bps == pytest.approx(15e6, rel=0.03)
    rows = sample.requests
    assert (rows.groupby(["user", "connection"])["page"].nunique() == 1).all()
    first = ~rows.duplicated(["user", "page"])
    server_times = rows["answered_s"] - rows["at_s"]
    assert server_times[first].mean() == pytest.approx(0.05, rel=0.03)
    assert (server_times[~first] == 0).all()
    assert sample.drawn["page_gap"].max() <= 70
