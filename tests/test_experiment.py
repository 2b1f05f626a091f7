"""Tests of runs, replications and sweeps with the Python interface."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

import aqmlab
from aqmlab.scenario import normalize, plain, toml_value


def test_a_dict_a_file_and_a_typed_scenario_are_equivalent(
    small: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "small.json"
    path.write_text(json.dumps(small))
    typed = aqmlab.Scenario(
        title="Two short downloads",
        seed=7,
        phase_breaking=aqmlab.PhaseBreaking(start="1 ms"),
        network=aqmlab.Dumbbell(
            rate="1.5 Mbit/s",
            delay="20 ms",
            queue=aqmlab.Red(limit="16 packets", minth="4 packets", maxth="12 packets", wq=0.02),
            left_rate="10 Mbit/s",
            left_delay="0.5 ms",
            right_hosts=2,
            right_rate="10 Mbit/s",
            right_delay="0.5 ms",
        ),
        flows=[
            aqmlab.Flow(
                name="C{i}",
                count=2,
                from_="left-0",
                to="right-{i}",
                traffic=aqmlab.Bulk(size="300 kB"),
            )
        ],
        tcp=aqmlab.Tcp(ecn="rfc3168", receive_window="64 KiB"),
        record=aqmlab.Record(interval="50 ms", series=["queue", "window", "drops", "marks"]),
    )
    assert normalize(small) == normalize(path) == normalize(str(path)) == normalize(typed)
    assert normalize(aqmlab.Scenario.load(path)) == normalize(small)


def test_a_scenario_may_be_toml_text() -> None:
    text = Path("examples/parking_lot.toml").read_text()
    scenario = aqmlab.Scenario.from_toml(text)
    assert scenario.title == "A parking lot of three bottlenecks"
    assert normalize(scenario) == normalize("examples/parking_lot.toml")
    with pytest.raises(aqmlab.ScenarioError, match="not valid TOML"):
        aqmlab.Scenario.from_toml("title =")


@pytest.mark.parametrize("wrong", [{"x": object()}, {"seed": float("nan")}, 5, ["a"], {}])
def test_an_object_that_is_not_a_scenario_is_refused(wrong: Any) -> None:
    with pytest.raises(aqmlab.ScenarioError):
        aqmlab.run(wrong)


def test_values_are_written_in_toml() -> None:
    assert toml_value(aqmlab.DropTail(limit="5 packets")) == (
        '{"kind" = "drop_tail", "limit" = "5 packets"}'
    )
    assert toml_value([1, 2.5, True, 'a"b\\c\nd']) == '[1, 2.5, true, "a\\"b\\\\c\\nd"]'
    with pytest.raises(aqmlab.ScenarioError):
        toml_value(None)


def test_the_seed_argument_replaces_the_seed_of_the_scenario(small: dict[str, Any]) -> None:
    result = aqmlab.run(small, seed=12)
    assert result.manifest["seed"] == result.scenario["seed"] == 12
    assert aqmlab.run(small).manifest["seed"] == 7


def test_results_have_the_order_of_their_scenarios(small: dict[str, Any]) -> None:
    sizes = [900, 30, 500, 10, 200]
    scenarios = [
        small | {"flows": [small["flows"][0] | {"traffic": {"kind": "bulk", "size": f"{s} kB"}}]}
        for s in sizes
    ]
    progress: list[tuple[float, int]] = []
    results = aqmlab.run_many(scenarios, jobs=2, progress=lambda *at: progress.append(at))
    assert [r.flows["acked_bytes"].sum() for r in results] == [2000 * s for s in sizes]
    assert progress[-1] == (5.0, 5)
    assert aqmlab.run_many([]) == []


def test_an_invalid_scenario_among_many_is_refused_before_any_run(small: dict[str, Any]) -> None:
    with pytest.raises(aqmlab.ScenarioError, match="sead"):
        aqmlab.run_many([small, small | {"sead": 1}])
    with pytest.raises(ValueError, match="jobs is 0"):
        aqmlab.run_many([small], jobs=0)


def test_a_run_that_exceeds_its_time_limit_is_an_error(small: dict[str, Any]) -> None:
    with pytest.raises(aqmlab.ScenarioError, match="time_limit"):
        aqmlab.run(small | {"time_limit": "1 s"})


def test_ctrl_c_stops_all_parallel_runs_immediately(small: dict[str, Any]) -> None:
    endless = small | {"duration": "3000000 s", "record": {}}
    endless["flows"] = [small["flows"][0] | {"traffic": "bulk"}]

    def interrupt(_done: float, _total: int) -> None:
        raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        aqmlab.run_many([endless | {"seed": i} for i in range(4)], progress=interrupt)
    assert time.monotonic() - began < 2


def test_replications_differ_only_in_their_seed(small: dict[str, Any]) -> None:
    results = aqmlab.replicate(small, 3, jobs=2)
    assert [r.manifest["seed"] for r in results] == [7, 8, 9]
    assert len({r.flows["completed_s"].max() for r in results}) == 3
    scenarios = [r.scenario | {"seed": 0} for r in results]
    assert scenarios[0] == scenarios[1] == scenarios[2]
    with pytest.raises(ValueError, match="replications is 0"):
        aqmlab.replicate(small, 0)


def test_a_sweep_has_every_combination_with_the_same_seeds(small: dict[str, Any]) -> None:
    red = aqmlab.Red(limit="8 packets", minth="2 packets", maxth="6 packets", wq=0.02)
    over: dict[str, list[Any]] = {
        "network.queue": [aqmlab.DropTail(limit="8 packets"), red],
        "tcp.ecn": ["off", "rfc3168"],
    }
    swept = aqmlab.sweep(small, over, replications=2)
    assert [p["seed"] for p in swept.points] == [7, 8] * 4
    assert [p["tcp.ecn"] for p in swept.points] == ["off", "off", "rfc3168", "rfc3168"] * 2
    assert [json.loads(p["network.queue"])["kind"] for p in swept.points] == (
        ["drop_tail"] * 4 + ["red"] * 4
    )
    flows = swept.flows
    assert list(flows.columns[:4]) == ["network.queue", "tcp.ecn", "seed", "flow"]
    assert len(flows) == 8 * 2
    assert plain(red) == json.loads(flows["network.queue"].iloc[-1])
    marking = flows["network.queue"].str.contains("red") & (flows["tcp.ecn"] == "rfc3168")
    assert flows["marked_packets"][marking].sum() > 0
    assert flows["marked_packets"][~marking].sum() == 0
    assert set(swept.links["link"]) >= {"left>right", "right>left"}


def test_a_sweep_with_an_invalid_value_is_refused(small: dict[str, Any]) -> None:
    with pytest.raises(aqmlab.ScenarioError, match=r"network\.queue\.limit"):
        aqmlab.sweep(small, {"network.queue.limit": [64]})
