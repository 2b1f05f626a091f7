"""`aqmlab traffic`: what a sample of web traffic has, shows and draws."""

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
    {"kind": "geometric", "mean": 3}, "request": {"kind": "uniform", "least": "200 B",
    "most": "400 B"}, "response": {"kind": "lognormal", "mean": "4 kB"}, "parse_time": "30 ms",
    "server_time": {"kind": "exponential", "mean": "20 ms"}, "object_gap": "10 ms",
}  # fmt: skip


def scenario(**changes: Any) -> dict[str, Any]:
    """Return three users over a network that takes next to no time."""
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
def test_a_run_over_a_fast_network_asks_for_the_same(connections: str) -> None:
    told = scenario(connections=connections)
    if connections != "each":
        del told["flows"][0]["traffic"]["object_gap"]
    if connections == "session":
        told["flows"][0]["traffic"]["pages"] = 3
    run = aqmlab.run(told).table("requests")
    (sample,) = traffic.sample(told, 20)
    rows = sample.requests
    assert len(rows) > 100
    for user in range(3):
        ours = rows[rows["user"] == user]
        theirs = run[run["flow"] == f"user-{user}"]
        for column in ("request_bytes", "response_bytes"):
            assert sorted(ours[column]) == sorted(theirs[column])
        for mine, its in (("at_s", "start_s"), ("answered_s", "completed_s")):
            found = np.sort(theirs[its].to_numpy())
            answered = np.isfinite(found)
            assert np.sort(ours[mine].to_numpy())[answered] == pytest.approx(
                found[answered], abs=2e-3
            )


@pytest.mark.parametrize("name", ["user-{i}", "user-{n}"])
def test_users_start_with_the_offsets_of_a_run(name: str) -> None:
    """Offsets of up to a second, over a network that takes next to no time."""
    told = scenario() | {"phase_breaking": {"start": "1 s", "delay": "0 s"}}
    other = told["flows"][0] | {"name": "first-{i}", "traffic": WEB, "start": "2 s"}
    told["flows"] = [other, told["flows"][0] | {"name": name}]
    run = aqmlab.run(told).table("requests")
    _, sample = traffic.sample(told, 20)
    firsts = []
    for user in range(3):
        ours = sample.requests[sample.requests["user"] == user]["at_s"]
        theirs = run[run["flow"] == f"user-{user + 3 * (name == 'user-{n}')}"]["start_s"]
        assert np.sort(ours) == pytest.approx(np.sort(theirs), abs=2e-3)
        firsts.append(ours.min() % 1e-3)
    assert len(set(firsts)) == 3


def test_what_is_drawn_is_what_is_written() -> None:
    """Means within four standard errors, as far as the laws have a variance."""
    (sample,) = traffic.sample(scenario(), 3000, users=20)
    written = traffic.distributions(sample.traffic)
    assert set(sample.drawn) < set(written)
    for key, values in sample.drawn.items():
        error = float(values.std(ddof=1)) / np.sqrt(len(values))
        assert abs(float(values.mean()) - written[key].mean) < 4 * error, key
    assert sample.load_bps == pytest.approx(sample.expected_load_bps, rel=0.02)


def test_the_load_over_time_has_all_bits() -> None:
    """Responses of 1 MB take 8 s at 1 Mbit/s; what ends after the time is cut off."""
    told = scenario(page_gap="40 s", objects=1, response="1 MB", server_time="0 s")
    (sample,) = traffic.sample(told, 100, users=1)
    assert sample.requests["at_s"].to_list() == [40, 80]
    rates = sample.rates_bps(1.0, 1e6, warm_up=0)
    assert rates[39:49] == pytest.approx([0, *[1e6] * 8, 0])
    assert rates.sum() == pytest.approx(16e6)
    with pytest.raises(ValueError, match="more than 10\\^7 intervals"):
        sample.rates_bps(1e-6, 1e6)


def test_power_of_ecn_is_long_range_dependent_as_printed() -> None:
    """Between 0.8 and 0.9 (§4.2); with sizes below 2 MB and exponential times it is not."""
    for preset, low, high in (("power-of-ecn", 0.8, 0.9), ("3gpp-http", 0.4, 0.6)):
        (sample,) = traffic.sample(traffic.of_preset(preset), 3600, users=100)
        rates = sample.rates_bps(0.1, 10e6)
        assert low < aqmlab.statistics.local_whittle(rates).interval.middle < high


def test_the_general_mix_fills_the_queue_as_printed() -> None:
    """At 90 % of 100 Mbit/s the model's delay exceeds 5 ms more than half of the time (§5.3.1)."""
    late = {}
    for preset in ("power-of-ecn", "general-mix"):
        told = json.loads(normalize(traffic.of_preset(preset)))
        law = traffic.distribution("size", told["flows"][0]["traffic"]["response"])
        exceeds = np.concatenate(
            [np.linspace(1, 1e-3, 2000, endpoint=False), np.geomspace(1e-3, 1e-11, 3000)]
        )
        packets = packets_of(law.quantile(1 - (exceeds[1:] + exceeds[:-1]) / 2))
        weights: dict[int, float] = {}
        for size, weight in zip(packets.tolist(), -np.diff(exceeds), strict=True):
            weights[size] = weights.get(size, 0.0) + float(weight)
        late[preset] = MxM1(0.9, batches(weights)).exceeds(0.005 * 100e6 / 8 / 1000)
    assert late["general-mix"] > 0.5 > late["power-of-ecn"]


def test_a_preset_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["traffic", "surge", "--users", "2", "--duration", "60 s"]) == 0
    shown = capsys.readouterr().out
    for part in ("121.1 kB", "2 users, 60 s:", "increase --duration"):
        assert part in shown
    assert execute(["traffic", "surge", "--users", "2", "--duration", "60 s"]) == 0
    assert capsys.readouterr().out == shown
    changed = ["--set", "flows.0.traffic.response=5 kB", "--seed", "3"]
    assert execute(["traffic", "surge", "--users", "2", "--duration", "60 s", *changed]) == 0
    assert "5 kB │     5 kB" in capsys.readouterr().out


def test_figures_are_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["traffic", "power-of-ecn", "--users", "30", "--duration", "600 s", "--out"]
    assert execute([*arguments, str(tmp_path / "new")]) == 0
    assert "Hurst parameter by local Whittle" in capsys.readouterr().out
    names = {f"{name}.{suffix}" for name in ("sizes", "load", "hurst") for suffix in ("png", "svg")}
    assert names <= {file.name for file in (tmp_path / "new").iterdir()}
    assert execute([*arguments, str(tmp_path / "new")]) == 2


def test_traffic_of_any_kind_has_its_distributions(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["traffic", "examples/web.toml"]) == 0
    shown = capsys.readouterr().out
    for part in ("web (bulk)", "12 kB", "chat (messages)"):
        assert part in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["srge"], "'srge' must be the path of a scenario, or one of the presets power-of-ecn"),
        (["surge", "--rate", "9 Mb/s"], "--rate '9 Mb/s' must be a rate above 0"),
        (["surge", "--duration", "9"], "--duration '9' must be a time above 0"),
        (["surge", "--interval", "0 s"], "--interval '0 s' must be"),
        (["surge", "--users", "0"], "--users '0' must be a whole number"),
        (["examples/web.toml", "--out", "x"], "has no web traffic"),
        (["surge", "--set", "flows.0.traffic.objects=0"], "must be at least 1"),
    ],
)
def test_what_is_wrong_is_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["traffic", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_emulated_browsers_of_tpc_w_offer_what_the_guide_says() -> None:
    """325 of them take 15 Mbit/s; they wait for their pages, whose HTML the server makes."""
    (sample,) = traffic.sample(traffic.of_preset("tpc-w"), 400, 325)
    assert sample.expected_load_bps == pytest.approx(15e6, rel=0.005)
    assert sample.load_bps == pytest.approx(15e6, rel=0.03)
    rows = sample.requests
    assert (rows.groupby(["user", "connection"])["page"].nunique() == 1).all()
    first = ~rows.duplicated(["user", "page"])
    made = rows["answered_s"] - rows["at_s"]
    assert made[first].mean() == pytest.approx(0.05, rel=0.03)
    assert (made[~first] == 0).all()
    assert sample.drawn["page_gap"].max() <= 70
