"""What is legal and probably not meant is told once: on stderr, in manifests, on pages."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import aqmlab
from aqmlab.command import execute
from aqmlab.compare.comparison import compare
from aqmlab.experiment import IdenticalReplications
from aqmlab.scenario import as_written

HELD = """
duration = "3 s"
[network]
kind = "dumbbell"
rate = "10 Mbit/s"
delay = "10 ms"
left_rate = "1 Gbit/s"
left_delay = "0 s"
right_rate = "1 Gbit/s"
right_delay = "0 s"
queue = "drop_tail"
[[flows]]
name = "load"
from = "left-0"
to = "right-0"
traffic = "bulk"
tcp = { receive_window = "8 kB" }
"""


@pytest.fixture
def held(tmp_path: Path) -> Path:
    """A scenario with a receive window that limits, where nothing is by chance."""
    path = tmp_path / "held.toml"
    path.write_text('phase_breaking = { start = "0 s", delay = "0 s" }\n' + HELD)
    return path


def test_a_run_tells_them_on_stderr_and_in_its_manifest(
    held: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert execute(["run", str(held), "--out", str(out)]) == 0
    told = capsys.readouterr()
    assert told.err.count("warning: connections of load (1 of 1) ended with a cwnd") == 1
    assert "warning" not in told.out
    about = [w["about"] for w in json.loads((out / "manifest.json").read_text())["warnings"]]
    assert about == ["receive-window", "no-congestion"]
    assert len(aqmlab.Result.read(out).warnings) == 2


def test_they_can_be_silenced(held: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["run", str(held), "--no-warnings"]) == 0
    assert capsys.readouterr().err == ""


def test_a_comparison_tells_them_on_stderr_and_on_its_page(
    held: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["compare", "drop_tail", "codel", "--scenario", str(held), "--replications", "2"]
    for _ in range(2):  # the second time from what is kept
        assert execute([*command, "--resume", "--out", str(out)]) == 0
        told = capsys.readouterr().err
        assert told.count("warning: connections of load (1 of 1) ended with a cwnd") == 1
        assert "every replication of drop_tail, codel measured the same" in told
    page = (out / "report.html").read_text()
    assert "Warnings" in page
    assert "receive window" in page
    assert len(json.loads((out / "comparison.json").read_text())["warnings"]) == 3


def test_replications_that_are_all_the_same_are_told(held: Path) -> None:
    with pytest.warns(IdenticalReplications, match="all 3 replications are the same"):
        aqmlab.replicate(held, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        aqmlab.replicate("examples/two_flows.toml", 2)


def test_the_manifest_has_the_tcp_of_each_group_resolved(tmp_path: Path) -> None:
    flow = {"from": "left-0", "to": "right-0", "traffic": {"kind": "bulk", "size": "50 kB"}}
    scenario: dict[str, Any] = as_written("examples/two_flows.toml")
    scenario["flows"] = [
        flow | {"name": "cubic-{i}", "count": 2, "tcp": {"congestion": "cubic"}},
        flow | {"name": "reno"},
        flow | {"name": "linux", "tcp": {"stack": "linux"}},
    ]
    folder = aqmlab.run(scenario).write(tmp_path / "out")
    cubic, reno, linux = json.loads((folder / "manifest.json").read_text())["tcp"]
    assert (cubic["flows"], reno["flows"]) == (["cubic-{i} (2)"], ["reno"])
    methods = [g["sender"]["recovery"]["method"] for g in (cubic, reno, linux)]
    assert methods == ["sack", "reno", "sack"]
    assert (cubic["sender"]["recovery"]["rack"], linux["ecn"]) == (True, "passive")
    assert reno["sender"]["rto"]["min"] == "1 s"


def test_a_run_prints_the_tcp_of_its_flows(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["run", "examples/one_flow.toml", "--set", "tcp.congestion=cubic"]) == 0
    told = capsys.readouterr().out
    assert "TCP of download: stack plain, cubic, recovery sack, with SACK, ECN off" in told


@pytest.mark.parametrize("key", ["tcp.congestion", "flows.0.tcp.congestion"])
def test_what_a_control_brings_follows_a_sweep(key: str) -> None:
    swept = aqmlab.sweep("examples/one_flow.toml", {key: ["reno", "cubic"]})
    recovery = [result.tcp[0]["sender"]["recovery"]["method"] for result in swept.results]
    assert recovery == ["reno", "sack"]
    swept = aqmlab.sweep(
        aqmlab.Scenario.load("examples/one_flow.toml"), {"tcp.stack": ["rfc", "linux"]}
    )
    controls = [result.tcp[0]["sender"]["congestion"]["kind"] for result in swept.results]
    assert controls == ["reno", "cubic"]


@pytest.mark.parametrize(
    ("tcp", "key"),
    [
        ({"recovery": "sack", "sack": False}, "method"),
        ({"recovery": {"rack": True}}, "rack"),
        ({"recovery": {"tail_loss_probe": True}}, "tail_loss_probe"),
        ({"recovery": {"reduction": "prr"}}, "reduction"),
    ],
)
def test_what_needs_sack_is_refused_without(tcp: dict[str, Any], key: str) -> None:
    scenario = as_written("examples/one_flow.toml")
    scenario["flows"][0]["tcp"] = tcp
    with pytest.raises(
        aqmlab.ScenarioError, match=rf"flows\.0\.tcp\.recovery\.{key}: .* sack = true"
    ):
        aqmlab.run(scenario)


def test_the_answer_does_not_hang_on_how_tcp_was_chosen() -> None:
    """Whether an AQM helps short transfers: docs/how-to/choose-tcp.md."""
    queues = ["drop_tail", "red:minth=20 packets,maxth=60 packets", "pie", "fq_codel"]
    links = ["left>right", "right>left"]
    for change in (("tcp.sack", "true"), ("tcp.stack", "linux"), ("tcp.congestion", "cubic")):
        overrides = [change, ("duration", "20 s")]
        compared = compare(
            queues, "examples/access.toml", 3, link=links, warm_up="5 s", overrides=overrides
        )
        (median,) = [m.name for m in compared.measures if m.title == "web: time, median"]
        assert all(compared.difference(arm, median).middle < 0 for arm in (1, 2, 3))
