"""Tests of the command `aqmlab`: its output, its files and its one-line errors."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from aqmlab import ScenarioError, manual
from aqmlab.command import execute
from aqmlab.explain import CATEGORIES
from aqmlab.manual import schema
from aqmlab.scenario import normalize
from conftest import repeatable

EXAMPLE = "examples/two_flows.toml"
STUDY = "ecn-finite-transfers"
UNUSED = ["--out", "results/unused"]
"""Option for an output folder without earlier output, so that no command refuses to run."""
HEAVY = {"numpy", "pandas", "pyarrow", "scipy", "matplotlib", "jinja2"}


def line(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the text on stderr; assert that it is one line and that stdout is empty."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1, err
    assert "Traceback" not in err
    assert err.startswith("aqmlab: error: ")
    return err


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("network.queue.minht='5 packets'", ["network.queue.minht", "minth"]),
        ("sead=4", ["sead", "seed"]),
        ("network.rate=1500000", ["network.rate", "1500000", "unit", "1.5 Mbit/s"]),
        ("network.delay='20'", ["network.delay", "20", "unit"]),
        ("network.queue.minth='12 packets'", ["network.queue.minth", "12 packets", "maxth"]),
        ("network.delay='-1 ms'", ["network.delay", "-1 ms", "0 s"]),
        ("network.queue.maxp=1.5", ["network.queue.maxp", "1.5", "0", "1"]),
        ("network.queue.kind=rde", ["network.queue.kind", "rde", "red"]),
        ("network.kind=star", ["network.kind", "star", "dumbbell"]),
        ("flows.0.to=right-9", ["flows.0.to", "right-9", "right-0"]),
        ("flows.0.count=3", ["flows.0.to", "right-2"]),
        ("flows.3.to=right-0", ["flows.3"]),
        ("flows=[]", ["flows", "at least one"]),
        ("tcp.ecn=maybe", ["tcp.ecn", "maybe", "rfc3168"]),
        ("record.series=['queues']", ["record.series.0", "queues", "queue"]),
        ("record.links=['a>b']", ["record.links", "a>b"]),
        ("duration='0 s'", ["duration", "0 s", "above 0 s"]),
        ("seed=-1", ["seed", "-1"]),
    ],
)
def test_an_error_of_a_value_names_the_field_and_the_bound(
    change: str, expected: list[str], scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["run", str(scenario), "--set", change]) == 2
    message = line(capsys)
    for word in [str(scenario), *expected]:
        assert word in message


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["run", "no/such.toml"], ["no/such.toml", "does not exist"]),
        (["run", "tests"], ["tests", "is a folder"]),
        (["run", sys.executable], ["is not UTF-8 text"]),
        (["run", "README.md"], ["README.md", "not valid TOML"]),
        (["run", EXAMPLE, "--set", "nonsense"], ["--set is 'nonsense'", "KEY=VALUE"]),
        (["run", EXAMPLE, "--set", "=5"], ["KEY=VALUE"]),
        (["run", EXAMPLE, "--set", "network..x=5"], ["network..x"]),
        (["run", EXAMPLE, "--seed", "one"], ["seed", "one", "whole number"]),
        (["run", EXAMPLE, "--out", "tests"], ["tests", "another folder"]),
        (["run", EXAMPLE, "--out", "README.md"], ["README.md is a file"]),
        (["run", EXAMPLE, "--out", "README.md/x"], ["cannot write", "README.md/x"]),
        (["run", EXAMPLE, "--out", "/"], ["/ cannot be replaced", "folder inside it"]),
        (["run", EXAMPLE, "--set", "record.traced=['x']"], [EXAMPLE, "record.traced.0", '"x"']),
        (["run", EXAMPLE, "--set", "flows.9.to=x"], ["flows.9", "the list has 1 element"]),
        (["run"], ["FILE"]),
        (["run", EXAMPLE, "--fast"], ["--fast"]),
        (["fly"], ["fly"]),
        (["list", "birds"], ["birds", "queues"]),
        (["explain", "rad"], ["rad", "red"]),
        (["explain", "red.minht"], ["red has no key 'minht'", "minth"]),
        (["explain", "Red"], ["'Red'", "did you mean red"]),
        (
            ["plot", "rtt", EXAMPLE, "--from", "noon"],
            ["--from is 'noon'", "time with its unit", "'1.2 s'"],
        ),
        (
            ["plot", "rtt", EXAMPLE, "--to", "nan"],
            ["--to is 'nan'", "time with its unit", "'2.5 s'"],
        ),
        (
            ["plot", "rtt", "docs"],
            ["docs is not the folder of a run", "manifest.json", "aqmlab run --out"],
        ),
        (["plot", "rtt", EXAMPLE, "--flow", "0", "--flow", "1"], ["--flow is given 2 times"]),
        (["plot", "rain", EXAMPLE], ["'window', 'rtt', 'queue'. See"]),
        (
            ["compare", "red", "--replications", "9" * 20],
            ["--replications is '999", "at most 999999"],
        ),
        (
            ["compare", "drr", *UNUSED],
            [
                "drr: network.queue.classes: is missing; this required key gives the list of "
                "classes, each a drr_class"
            ],
        ),
        (
            ["compare", "a=red", "a=codel", *UNUSED],
            ["'a' belongs to several queues", "a different name"],
        ),
        (["reproduce", "nothing"], ["nothing", "ecn-finite-transfers"]),
        (["reproduce", "ecn-finite-transfers", "table-2"], ["--only"]),
        (["reproduce", STUDY, "--only", "table-9", *UNUSED], ["table-9", "table-2"]),
        (
            ["reproduce", "ecn-finite-transfers", "--replications", "0"],
            ["--replications is '0'", "1"],
        ),
        (["reproduce", STUDY, "--quick", *UNUSED], ["--quick", "no quick form", "--only"]),
        (["reproduce", "ecn-finite-transfers", "--jobs", "two"], ["--jobs is 'two'", "at least 1"]),
        (["reproduce", "ecn-finite-transfers", "--out", "tests"], ["tests"]),
    ],
)
def test_an_error_of_the_command_is_one_line_with_the_remedy(
    args: list[str], expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(args) == 2
    message = line(capsys)
    for word in expected:
        assert word in message


@pytest.mark.parametrize(
    ("record", "alone", "flow", "expected"),
    [
        ({}, False, "user-0", "the flow 'user-0', because this flow opens several connections, "
                              "and the series has only flows with one connection; give --flow one "
                              "of C0, C1"),
        ({}, True, "user-0", "the series has only flows with one connection; add a flow with one "
                             "connection to the scenario, such as bulk traffic without arrivals"),
        ({"traced": ["C1"]}, False, "C0", "record.traced names other flows; give --flow one of C1"),
        ({}, False, "none", "'none' is not a flow of this run; the flows are C0, C1, user-0"),
    ],
)  # fmt: skip
def test_a_plot_of_a_flow_without_records_is_refused_with_the_reason(
    record: dict[str, Any], alone: bool, flow: str, expected: str, small: dict[str, Any],
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    web = {"kind": "web", "preset": "power-of-ecn", "sessions": 1, "pages": 1}
    user = {"name": "user-0", "from": "left-0", "to": "right-0", "traffic": web}
    small["flows"] = [*([] if alone else small["flows"]), user]
    small["record"] = record
    path = tmp_path / "web.json"
    path.write_text(json.dumps(small))
    out = ["--out", str(tmp_path / "x.png")]
    assert execute(["plot", "sequence", str(path), "--flow", flow, *out]) == 2
    assert expected in line(capsys)


def test_list_without_argument_prints_the_categories(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["list"]) == 0
    listed = [row.split()[0] for row in capsys.readouterr().out.splitlines()]
    assert set(CATEGORIES) <= set(listed)
    assert {page.category for page in manual.pages().values()} <= set(CATEGORIES)


@pytest.mark.parametrize("deep", [12, 1000])
def test_the_error_of_too_deeply_nested_queues_is_one_line(
    deep: int, small: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small["network"]["queue"] = "QUEUE"
    queue = '"drop_tail"'
    for _ in range(deep):
        queue = f'{{"kind": "priority", "classes": [{{"queue": {queue}}}]}}'
    path = tmp_path / "deep.json"
    path.write_text(json.dumps(small).replace('"QUEUE"', queue))
    assert execute(["run", str(path)]) == 2
    expected = "more than 12 deep" if deep == 12 else "recursion limit"
    assert expected in line(capsys)


def test_a_too_deeply_nested_dict_is_refused() -> None:
    queue: Any = "drop_tail"
    for _ in range(1000):
        queue = {"kind": "priority", "classes": [{"queue": queue}]}
    with pytest.raises(ScenarioError, match="too deep"):
        normalize({"network": {"kind": "dumbbell", "queue": queue}})


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_the_error_of_an_unwritable_folder_is_one_line(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    assert execute(["run", str(scenario), "--out", str(closed / "run")]) == 2
    assert "permission denied" in line(capsys)


def test_run_prints_a_summary(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["run", str(scenario), "--seed", "9"]) == 0
    out = capsys.readouterr().out
    for word in ["Two short downloads", "C0", "C1", "kbit/s", "left>right", "seed 9", "total"]:
        assert word in out
    assert "right>left" not in out


def test_the_summary_has_at_most_20_flows(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change = ["--set", "flows.0.count=30", "--set", "network.right_hosts=30"]
    assert execute(["run", str(scenario), *change]) == 0
    assert "... 10 more" in capsys.readouterr().out


def test_run_replaces_an_earlier_run_only_with_force(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    command = ["run", str(scenario), "--out", str(out)]
    assert execute(command) == 0
    capsys.readouterr()
    assert execute(command) == 2
    assert "--force" in line(capsys)
    assert execute([*command, "--force", "--seed", "11"]) == 0
    assert json.loads((out / "manifest.json").read_text())["seed"] == 11
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run", "small.json"]


def test_force_does_not_replace_a_folder_with_other_content(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "foreign"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    assert execute(["run", str(scenario), "--out", str(out), "--force"]) == 2
    assert "content that does not belong to a run" in line(capsys)
    assert (out / "thesis.txt").exists()


def test_the_written_scenario_repeats_the_run(scenario: Path, tmp_path: Path) -> None:
    assert execute(["run", str(scenario), "--out", str(tmp_path / "a"), "--seed", "3"]) == 0
    written = str(tmp_path / "a" / "scenario.json")
    assert execute(["run", written, "--out", str(tmp_path / "b")]) == 0
    for file in (tmp_path / "a").iterdir():
        assert repeatable(file) == repeatable(tmp_path / "b" / file.name), file.name


def test_set_accepts_a_kind_without_quotes(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["run", str(scenario), "--set", "network.queue=drop_tail"]) == 0
    assert "left>right" in capsys.readouterr().out


@pytest.mark.parametrize(
    "category",
    ["queues", "diffserv", "tcp", "traffic", "distributions", "network", "scenario", "studies"],
)
def test_list_prints_each_category(category: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["list", category]) == 0
    words = {"queues": "red", "diffserv": "srtcm", "tcp": "cubic", "traffic": "bulk",
             "distributions": "pareto", "network": "graph", "scenario": "flow",
             "studies": "ecn-finite-transfers"}  # fmt: skip
    assert words[category] in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", ["red", "tcp", "minth", "red.minth", "wait", "bulk", "flow", "srtcm", "match"]
)
def test_explain_prints_defaults_in_lines_of_at_most_100_characters(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["explain", name]) == 0
    out = capsys.readouterr().out
    assert "Default: " in out
    assert max(map(len, out.splitlines())) <= 100


def test_explain_prints_a_study(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["explain", "ecn-finite-transfers"]) == 0
    assert "ECN" in capsys.readouterr().out


def test_the_command_prints_the_schema_and_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema()
    assert execute(["--version"]) == 0
    assert capsys.readouterr().out.startswith("aqmlab 0.")


def test_help_and_listing_commands_do_not_import_heavy_packages() -> None:
    program = (
        "import sys\n"
        "from aqmlab.command import execute\n"
        "for args in ['--help'], ['run', '--help'], ['--version'], ['list', 'queues'],"
        " ['list', 'studies'], ['explain', 'red'], ['schema'], ['run', 'no/such.toml']:\n"
        "    execute(args)\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)\n"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert process.stderr.splitlines()[-1] == "[]"


def test_the_package_imports_its_parts_on_first_use() -> None:
    program = (
        "import sys, aqmlab\n"
        "print([m for m in sys.modules if m.startswith('aqmlab.')])\n"
        "print(aqmlab.run, aqmlab.Red, aqmlab.experiment.conduct, aqmlab.statistics.jain)\n"
        "print(set(aqmlab.__all__) <= set(dir(aqmlab)), hasattr(aqmlab, 'nothing'))\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    first, *_, last = process.stdout.splitlines()
    assert first == "['aqmlab.interrupts', 'aqmlab._core']"
    assert last == "True False"


def test_a_closed_pipe_is_not_an_error() -> None:
    command = f"{sys.executable} -m aqmlab schema | head -n 1"
    process = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (process.stdout, process.stderr) == ("{\n", "")


def test_ctrl_c_ends_a_run_without_files(scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "folder" / "run"
    endless = ["--set", "duration='3000000 s'", "--set", "flows.0.traffic='bulk'"]
    quiet = ["--set", "record.series=[]"]
    command = [sys.executable, "-m", "aqmlab", "run", str(scenario), "--out", str(out)]
    running = subprocess.Popen(
        [*command, *endless, *quiet], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not (out.parent.is_dir() and any(out.parent.iterdir())):
        assert running.poll() is None
        time.sleep(0.02)
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    stdout, stderr = running.communicate(timeout=5)
    assert running.returncode == 130
    assert stderr == "aqmlab: error: interrupted; nothing was written\n"
    assert stdout == ""
    assert list(out.parent.iterdir()) == []


def test_a_defect_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(name: str) -> str:
        raise ZeroDivisionError(name)

    monkeypatch.setattr("aqmlab.explain.explanation", broken)
    assert execute(["explain", "red"]) == 1
    assert "a defect of aqmlab" in line(capsys)


def test_an_error_after_a_signal_is_reported_as_an_interruption(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A library that is interrupted while it is imported raises ImportError."""

    def fails(_: list[str]) -> None:
        raise ImportError("initialization failed")

    monkeypatch.setattr(sys.modules["aqmlab.command.main"], "_run", fails)
    assert execute(["list"]) == 1
    assert "a defect of aqmlab" in line(capsys)
    monkeypatch.setattr("aqmlab.interrupts.received", signal.SIGINT)
    assert execute(["list"]) == 130
    assert "interrupted" in line(capsys)


@pytest.mark.parametrize("wrapper", [SystemError, RuntimeError])
def test_an_interruption_wrapped_by_c_code_is_reported_as_an_interruption(
    wrapper: type[Exception], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error caused by a KeyboardInterrupt is an interruption; every other error is a defect."""

    def ends(_: list[str]) -> None:
        raise wrapper("returned a result with an exception set") from KeyboardInterrupt()

    def fails(_: list[str]) -> None:
        raise wrapper("a bug")

    main = sys.modules["aqmlab.command.main"]
    monkeypatch.setattr(main, "_run", ends)
    assert execute(["list"]) == 130
    monkeypatch.setattr(main, "_run", fails)
    assert execute(["list"]) == 1
    assert "a defect of aqmlab" in capsys.readouterr().err
