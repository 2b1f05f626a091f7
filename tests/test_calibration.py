"""Tests of the calibration of a number of users for a load, and of the replay of their requests."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aqmlab
from aqmlab._core import ScenarioError
from aqmlab.command.main import execute
from aqmlab.experiment.calibration import LoadTarget, calibrate, frozen, write_list
from aqmlab.scenario import changed

WEB: dict[str, Any] = {
    "duration": "30 s",
    "network": {
        "kind": "dumbbell", "rate": "5 Mbit/s", "delay": "1 ms", "left_rate": "1 Gbit/s",
        "left_delay": "1 ms", "right_rate": "1 Gbit/s", "right_hosts": 10,
        "right_delay": {"first": "3 ms", "last": "73 ms"},
        "queue": {"kind": "drop_tail", "limit": "40 packets"},
    },
    "flows": [
        {
            "name": f"{name}-{{i}}", "count": count, "from": "right-{i%10}", "to": "left-0",
            "traffic": {
                "kind": "web", "page_gap": {"kind": "exponential", "mean": "3 s"}, "objects": 2,
                "request": "300 B", "response": {"kind": "pareto", "mean": "7.2 kB", "shape": 1.5},
                "connections": connections,
            },
        }
        for name, count, connections in [("a", 20, "each"), ("b", 10, "persistent")]
    ],
}  # fmt: skip
WIDE = [("network.rate", "'1 Gbit/s'"), ("network.queue.limit", "'10000 packets'")]
LINK = "left>right"


def rows(file: Path) -> list[list[str]]:
    return list(csv.reader(file.read_text().splitlines()))


def test_calibration_reaches_the_load_and_every_replay_has_the_same_requests(
    tmp_path: Path,
) -> None:
    requests_of_load = [LoadTarget(WEB, bps, tmp_path / f"{bps:g}") for bps in (2e6, 4e6)]
    low, high = calibrate(
        requests_of_load, link=LINK, uncongested=WIDE, warm_up="5 s", tolerance=0.01
    )
    for calibrated, bps in ((low, 2e6), (high, 4e6)):
        assert abs(calibrated.load_bps / bps - 1) < 0.01
        assert {i: len({row[0] for row in rows(file)[1:]}) <= calibrated.users[i]
                for i, file in calibrated.lists.items()} == {0: True, 1: True}  # fmt: skip
    # The requests of the lower load are the first requests of the higher load.
    few, many = (rows(calibrated.lists[0]) for calibrated in (low, high))
    assert few == many[: len(few)]
    requests = [row for file in high.lists.values() for row in rows(file)[1:]]
    replay = frozen(WEB, high.lists, high.users) | {"record": {"series": ["requests"]}}
    start_times = []
    for queue in ("{ kind = 'drop_tail', limit = '9 packets' }", "{ kind = 'codel' }"):
        result = aqmlab.run(changed(replay, [("network.queue", queue)]))
        table = result.table("requests")
        assert Counter(table.response_bytes) <= Counter(int(row[4]) for row in requests)
        single = table[table.flow.astype(str).str.startswith("a")]
        start_times.append(sorted(single.start_s))
    assert (
        start_times[0] == start_times[1] == sorted(float(row[2]) for row in rows(high.lists[0])[1:])
    )


def test_a_replay_includes_the_settings_of_a_preset(tmp_path: Path) -> None:
    """A replay has the server times of PackMime, and a key beside `preset` overrides the preset."""
    lists = {i: tmp_path / f"{i}.csv" for i in range(2)}
    presets = ({"preset": "packmime"}, {"preset": "3gpp-http", "connections": "pipelined"})
    flows = [
        flow | {"traffic": {"kind": "web"} | preset}
        for flow, preset in zip(WEB["flows"], presets, strict=True)
    ]
    replay = frozen(WEB | {"flows": flows}, lists, {0: 1, 1: 1})
    one, other = (flow["traffic"] for flow in replay["flows"])
    assert one["server_time"]["kind"] == "empirical"
    assert (one["order"], other["order"]) == ("in-turn", "pipelined")
    assert "server_time" not in other


def test_a_replay_refuses_a_list_that_has_changed(tmp_path: Path) -> None:
    (calibrated,) = calibrate(
        [LoadTarget(WEB, 2e6, tmp_path)], link=LINK, uncongested=WIDE, tolerance=0.02
    )
    text = aqmlab.scenario.normalize(frozen(WEB, calibrated.lists, calibrated.users))
    calibrated.lists[0].write_text(calibrated.lists[0].read_text() + "\n")
    with pytest.raises(
        ScenarioError, match=r"flows\.0\.traffic\.list\.sha256: .* the file has changed"
    ):
        aqmlab.run(json.loads(text))


def test_calibration_refuses_loads_and_scenarios_that_it_cannot_calibrate(tmp_path: Path) -> None:
    def seek(scenario: dict[str, Any], load_bps: float, **how: Any) -> None:
        calibrate([LoadTarget(scenario, load_bps, tmp_path)], link=LINK, uncongested=WIDE, **how)

    bulk = WEB | {"flows": [{"from": "left-0", "to": "right-0", "traffic": {"kind": "bulk"}}]}
    with pytest.raises(ScenarioError, match="flows: no table has traffic of kind"):
        seek(bulk, 1e6)
    with pytest.raises(ScenarioError, match="the scenario has no duration"):
        seek({k: v for k, v in WEB.items() if k != "duration"}, 1e6)
    with pytest.raises(ValueError, match=r"load is 0 bit/s; it must be above 0"):
        seek(WEB, 0)
    with pytest.raises(
        ValueError, match=r"the load 0\.0001 Mbit/s on left>right was not reached within 0\.3 %"
    ):
        seek(WEB, 100.0)
    mixed = changed(WEB, [("flows.0.traffic.connections", "'multiplexed'")])
    with pytest.raises(
        ScenarioError, match=r'flows\.0\.traffic\.connections: "multiplexed" cannot'
    ):
        seek(mixed, 1e6)
    with pytest.raises(ScenarioError, match="left>there"):
        calibrate([LoadTarget(WEB, 1e6, tmp_path)], link="left>there", uncongested=WIDE)


def test_lists_have_connections_in_the_order_of_their_opening(tmp_path: Path) -> None:
    requests = {
        "user": [5, 5, 4, 5], "connection": [7, 2, 9, 2], "start_s": [1.0, 2.5, 0.5, 2.0],
        "request_bytes": [1, 3, 4, 2], "response_bytes": [10, 30, 40, 20],
    }  # fmt: skip
    write_list(
        {key: np.array(values) for key, values in requests.items()}, 4, tmp_path / "list.csv"
    )
    assert rows(tmp_path / "list.csv")[1:] == [
        ["0", "0", "0.5", "4", "40"],
        ["1", "0", "1", "1", "10"],
        ["1", "1", "2", "2", "20"],
        ["1", "1", "2.5", "3", "30"],
    ]


def test_the_command_writes_scenarios_that_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.json").write_text(json.dumps(WEB))
    command = ["calibrate", "small.json", "--load", "2 Mbit/s", "--tolerance", "1"]
    assert execute([*command, "--replications", "2"]) == 0
    assert "measured" in capsys.readouterr().out
    for seed in (1, 2):
        result = aqmlab.run(f"results/small-calibrated/2Mbitps-{seed}/small.toml")
        assert result.scenario["seed"] == seed
        assert result.table("exchanges").requests.sum() > 50
    assert execute(command) == 2
    assert "--force" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--load", "2"],
            "--load is '2'; it must be a rate above 0 with its unit, for example '10 Mbit/s'",
        ),
        (["--load", "-2 Mbit/s"], "must be a rate above 0"),
        (["--load", "2 Mbit/s", "--warm-up", "x"], 'warm_up: "x" is not a time'),
        (
            ["--load", "2 Mbit/s", "--uncongested", "x"],
            "--uncongested is 'x'; it must be KEY=VALUE",
        ),
        (["--load", "2 Mbit/s", "--link", "a>b"], "a>b"),
    ],
)
def test_wrong_options_are_refused_with_the_reason(
    options: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.json").write_text(json.dumps(WEB))
    assert execute(["calibrate", "small.json", *options]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "results" / "small-calibrated").exists()
