"""Tests of warnings about valid but probably unintended settings: stderr, manifests, pages."""

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import aqmlab
from aqmlab.command import execute
from aqmlab.comparison.comparison import compare
from aqmlab.experiment import IdenticalReplications
from aqmlab.scenario import as_written

SCENARIO = """
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
def window_limited(tmp_path: Path) -> Path:
    """Return the path of a scenario without randomness, whose flow the receive window limits."""
    path = tmp_path / "window_limited.toml"
    path.write_text('phase_breaking = { start = "0 s", delay = "0 s" }\n' + SCENARIO)
    return path


def test_stderr_and_the_manifest_have_the_warnings_of_a_run(
    window_limited: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert execute(["run", str(window_limited), "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert printed.err.count("warning: connections of load (1 of 1): at the end of the run") == 1
    assert "warning:" not in printed.out
    about = [w["about"] for w in json.loads((out / "manifest.json").read_text())["warnings"]]
    assert about == ["receive-window", "no-congestion"]
    assert len(aqmlab.Result.read(out).warnings) == 2


def test_no_warnings_turns_warnings_off(
    window_limited: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["run", str(window_limited), "--no-warnings"]) == 0
    assert capsys.readouterr().err == ""


def test_a_comparison_prints_warnings_on_stderr_and_on_its_page(
    window_limited: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = [
        "compare",
        "drop_tail",
        "codel",
        "--scenario",
        str(window_limited),
        "--replications",
        "2",
    ]
    for _ in range(2):  # the second time from stored runs
        assert execute([*command, "--resume", "--out", str(out)]) == 0
        printed = capsys.readouterr().err
        assert printed.count("warning: connections of load (1 of 1): at the end of the run") == 1
        assert "all replications of drop_tail, codel give the same results" in printed
    page = (out / "report.html").read_text()
    assert "Warnings" in page
    assert "receive window" in page
    assert len(json.loads((out / "comparison.json").read_text())["warnings"]) == 3


def test_identical_replications_cause_a_warning(window_limited: Path) -> None:
    with pytest.warns(IdenticalReplications, match="all 3 replications have the same results"):
        aqmlab.replicate(window_limited, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        aqmlab.replicate("examples/two_flows.toml", 2)


def test_the_manifest_has_the_resolved_tcp_of_each_flow(tmp_path: Path) -> None:
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
    printed = capsys.readouterr().out
    assert "TCP of download: stack plain, cubic, recovery sack, with SACK, ECN off" in printed


@pytest.mark.parametrize("key", ["tcp.congestion", "flows.0.tcp.congestion"])
def test_a_sweep_over_a_control_or_a_stack_changes_the_keys_that_it_sets(key: str) -> None:
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
def test_settings_that_require_sack_are_refused_without_sack(tcp: dict[str, Any], key: str) -> None:
    scenario = as_written("examples/one_flow.toml")
    scenario["flows"][0]["tcp"] = tcp
    with pytest.raises(
        aqmlab.ScenarioError, match=rf"flows\.0\.tcp\.recovery\.{key}: .* sack = true"
    ):
        aqmlab.run(scenario)


def test_the_effect_of_aqms_on_short_transfers_does_not_depend_on_the_choice_of_tcp() -> None:
    """With each choice of TCP, every AQM shortens the median completion time of short transfers."""
    queues = ["drop_tail", "red:minth=20 packets,maxth=60 packets", "pie", "fq_codel"]
    links = ["left>right", "right>left"]
    for change in (("tcp.sack", "true"), ("tcp.stack", "linux"), ("tcp.congestion", "cubic")):
        overrides = [change, ("duration", "20 s")]
        compared = compare(
            queues, "examples/access.toml", 3, link=links, warm_up="5 s", overrides=overrides
        )
        (median,) = [m.name for m in compared.measures if m.title == "web: time, median"]
        assert all(compared.difference(arm, median).middle < 0 for arm in (1, 2, 3))


def test_warnings_of_many_runs_have_one_line_per_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lists of flows and of measures differ or are long; a line has one example and a number."""
    flow = SCENARIO[SCENARIO.index("[[flows]]") :]
    more = "".join(flow.replace("load", f"more{i}") for i in range(6))
    (tmp_path / "s.toml").write_text(SCENARIO + more)
    window = '"flows.0.tcp.receive_window" = ["8 kB", "1 MB"]'
    experiment = f'scenario = "s.toml"\n[[factors]]\nvalues = {{ {window} }}\n'
    (tmp_path / "e.toml").write_text(experiment)
    out = tmp_path / "out"
    assert (
        execute(["sweep", str(tmp_path / "e.toml"), "--replications", "2", "--out", str(out)]) == 0
    )
    printed = capsys.readouterr().err
    window_limited = [line for line in printed.splitlines() if "the receive window limits" in line]
    assert len(window_limited) == 1
    assert window_limited[0].endswith("(4 of 4 runs have such a warning)")
    (few,) = [line for line in printed.splitlines() if "fewer than 5 replications" in line]
    assert re.search(r": goodput_bps \(2\), jain \(2\), utilization \(2\) and \d+ more$", few)
    assert execute(["results", str(out)]) == 0
    assert capsys.readouterr().err == printed


def test_the_function_run_issues_the_warnings_as_python_warnings(
    window_limited: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with warnings.catch_warnings(record=True, action="always") as issued:
        result = aqmlab.run(window_limited)
    assert [str(w.message) for w in issued] == result.warnings
    assert {w.category for w in issued} == {aqmlab.ScenarioWarning}
    assert {w.filename for w in issued} == {__file__}
    with warnings.catch_warnings(record=True, action="always") as issued:
        assert execute(["run", str(window_limited)]) == 0
    assert not issued, "the command prints the warnings itself"
    assert capsys.readouterr().err.count("warning: ") == len(result.warnings)
