"""Tests with hostile input: every error is one line without control characters."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import aqmlab
from aqmlab import _core, script
from aqmlab._core import InvariantViolation, ScenarioError
from aqmlab.command import execute
from aqmlab.comparison import compare
from aqmlab.engine import Failed, Simulator
from aqmlab.experiment import Experiment, Outcome, conduct
from aqmlab.results import Result
from aqmlab.scenario import normalize, toml_value
from aqmlab.store import FolderStore

EXAMPLE = str(Path("examples/one_flow.toml").resolve())
LONG = "x" * 5_000_000
ESCAPE = "\x1b[31m"


def in_shell(command: str, where: Path = Path()) -> tuple[int, str, str]:
    """Run a shell command that calls this checkout's `aqmlab`; return code, output and errors."""
    bash = f'aqmlab() {{ "{sys.executable}" -m aqmlab "$@"; }}; {command}'
    before = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(Path("python").resolve()), *([before] if before else [])])
    process = subprocess.run(
        ["bash", "-c", bash], capture_output=True, text=True, cwd=where, timeout=120,
        env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip
    return process.returncode, process.stdout, process.stderr


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("aqmlab schema >&-", "standard output is closed"),
        ("aqmlab schema > /dev/full", "no space left on device"),
        ("aqmlab run '{example}' > /dev/full", "no space left on device"),
        ("aqmlab run /dev/zero", "/dev/zero: is larger than 256 MiB"),
        ("aqmlab run /proc/self/mem", "/proc/self/mem: input/output error; check the path"),
        (
            "yes '[[flows]]' | head -n 2100000 > large.toml; aqmlab run large.toml",
            "large.toml: has about 4200000 values and tables, and the maximum is 4000000; de",
        ),
        (
            "mkfifo pipe; aqmlab run pipe",
            "pipe: the path is a named pipe; give a file, or read the pipe",
        ),
        ("aqmlab run /dev/null", "network: is missing"),
        ("aqmlab run '{example}' --out /dev/null", "/dev/null is a file"),
        ("aqmlab run '{example}' --out /dev/null/x", "cannot write /dev/null/x"),
        ("rmdir $PWD; aqmlab run '{example}' --out x", "the current folder was deleted"),
        ("rmdir $PWD; aqmlab run x.toml", "x.toml: the file does not exist"),
        ("ln -s loop loop; aqmlab run loop", "loop: too many levels of symbolic links"),
        ("ulimit -v 1500000; aqmlab run '{example}' --set flows.0.count=2000000 "
         "--set \"flows.0.name='F{{i}}'\"", "not enough memory for 2000000 flows"),
        ("ulimit -v 1500000; aqmlab run '{example}' --set duration=\"'400 s'\" --set "
         "record.interval=\"'10 us'\" --set record.series=\"['window']\" --set "
         "flows.0.traffic=bulk", "not enough memory for the samples"),
    ],
)  # fmt: skip
def test_the_error_of_a_stream_device_or_folder_is_one_line(
    command: str, message: str, tmp_path: Path
) -> None:
    where = tmp_path / "here"
    where.mkdir()
    code, out, err = in_shell(command.format(example=EXAMPLE), where)
    assert (code, out) == (2, "")
    lines = [line for line in err.splitlines() if not line.startswith("shell-init")]
    assert len(lines) == 1, err
    assert message in lines[0]


def test_an_endless_script_is_refused_by_its_size(tmp_path: Path) -> None:
    code, out, err = in_shell("aqmlab script /dev/zero", tmp_path)
    assert (code, err) == (1, "")
    assert "/dev/zero: cannot be read: the file is larger than 64 MiB" in out


@pytest.mark.parametrize(
    "change",
    [{"title": LONG}, {LONG: 1}, {"network": {"kind": LONG}}, {"network": LONG}, {"seed": LONG}],
)
def test_the_error_of_a_long_name_is_shorter_than_2200_characters(
    change: dict[str, Any],
    small: dict[str, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "long.json"
    path.write_text(json.dumps(small | change))
    (tmp_path / "long.toml").write_text(LONG)
    (tmp_path / "long.pkt").write_text(LONG)
    for file in ("long.json", "long.toml"):
        assert execute(["run", str(tmp_path / file)]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert len(err) < 2200
    for args in (["run", LONG], ["run", EXAMPLE, "--out", LONG], ["explain", LONG], [LONG]):
        assert execute(args) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert len(err) < 2200


@pytest.mark.parametrize("name", [ESCAPE, "a\u202eb", "two\nlines", "\x00", "\x9b31m"])
def test_the_output_has_no_control_characters(
    name: str, small: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for change in ({"title": name}, {"flows": [small["flows"][0] | {"name": name}]}):
        with pytest.raises(ScenarioError, match="has control characters in it"):
            aqmlab.run(small | change)
    file = tmp_path / "script.pkt"
    file.write_text(f"0 {name} = 3\n")
    for args in (
        ["run", f"{name}.toml"], [name], ["explain", name], ["list", name], ["script", str(file)],
        ["run", EXAMPLE, "--set", f"{name}=3"], ["run", EXAMPLE, "--set", f"title='{name}'"],
        ["run", EXAMPLE, "--out", f"{file}/{name}"], ["compare", name], ["reproduce", name],
    ):  # fmt: skip
        assert execute(args) > 0
        captured = capsys.readouterr()
        printed = (captured.out + captured.err).replace("\n", "")
        assert printed
        assert not any(c < " " or "\x7f" <= c <= "\x9f" or c == "\u202e" for c in printed), args


@pytest.mark.parametrize("name", ["=1+1", "+A1", "-2", "@SUM(A1)"])
def test_names_that_begin_like_a_formula_are_refused(name: str, small: dict[str, Any]) -> None:
    flow = small["flows"][0]
    link = {"from": name, "to": "b", "rate": "1 Mbit/s", "delay": "1 ms"}
    graph = {"network": {"kind": "graph", "links": [link]}}
    for change in ({"flows": [flow | {"name": name}]}, {"flows": [flow | {"from": name}]}, graph):
        with pytest.raises(ScenarioError, match="begins like a formula"):
            aqmlab.run(small | change)


def test_captures_do_not_overwrite_files(small: dict[str, Any], tmp_path: Path) -> None:
    small["record"]["pcap"] = {"on": ["left-0"]}
    for name in ("hosts", "left-0.pcapng"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_text("foreign")
        with pytest.raises(OSError, match="exists"):
            aqmlab.run(small, pcap=folder)
        assert (folder / name).read_text() == "foreign"


def test_a_defect_of_a_run_is_raised_after_the_others_have_ended(
    small: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = _core.Batch

    class Broken:
        """Batch of the simulator whose second run fails with a defect."""

        def __init__(self, *args: Any) -> None:
            self._batch = real(*args)

        def next(self, *args: Any) -> Any:
            finished = self._batch.next(*args)
            if finished and (finished[0] == 1 or len(self.progress()) == 1):
                defect = InvariantViolation("it panicked (scenario 'Two', seed 8)")
                defect.run = finished[0]  # type: ignore[attr-defined]
                raise defect
            return finished

        def __getattr__(self, name: str) -> Any:
            return getattr(self._batch, name)

    monkeypatch.setattr("aqmlab._core.Batch", Broken)
    finished_runs: list[int] = []
    several = [small | {"seed": seed} for seed in range(4)]
    with pytest.raises(InvariantViolation, match="seed 8"):
        finished_runs.extend(i for i, _ in aqmlab.run_each(several, jobs=1))
    assert finished_runs == [0, 2, 3]
    assert execute(["run", EXAMPLE]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "please report it: it panicked (scenario 'Two', seed 8)" in err
    assert EXAMPLE in err


def test_a_run_that_exceeds_its_time_limit_fails_without_affecting_the_others(
    small: dict[str, Any],
) -> None:
    """If one run fails, the outcomes have the error of this run and the results of the others."""
    endless = small | {"time_limit": "1 s"}
    texts = [normalize(scenario) for scenario in (small, endless, small | {"seed": 3})]
    outcomes = dict(Simulator().run(texts, jobs=1))
    failed = outcomes[1]
    assert isinstance(failed, Failed)
    assert "raise time_limit" in str(failed.error)
    assert all(isinstance(outcomes[i], Result) for i in (0, 2))


def test_a_defect_in_a_script_is_reported_and_the_others_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = _core.script

    def broken(text: str, *rest: Any) -> str:
        if "broken" in text:
            raise InvariantViolation("the script panicked at x.rs:1: no")
        return real(text, *rest)

    monkeypatch.setattr(_core, "script", broken)
    for name in ("a", "broken", "c"):
        text = f"// {name}\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n"
        (tmp_path / f"{name}.pkt").write_text(text)
    assert execute(["script", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "broken.pkt: a defect of aqmlab, please report it: the script panicked" in out
    assert "3 scripts: 2 passed, 1 failed" in out
    assert script.FAILED in [o.verdict for o in script.run_files(tmp_path.glob("broken.pkt"))]


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        (5, "5 is not a scenario; give a path"),
        (None, "None is not a scenario"),
        ({"title": b"x"}, "title: b'x' is not a scenario value"),
        ({"flows": [{"count": float("nan")}]}, "flows.0.count: nan is not a finite number"),
        ({"flows": [{"name": {"a", "b"}}]}, "flows.0.name: {"),
    ],
)
def test_the_error_of_an_invalid_scenario_object_names_its_place(
    scenario: Any, message: str
) -> None:
    with pytest.raises(ScenarioError) as refused:
        aqmlab.run(scenario)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("over", "message"),
    [
        (["seed"], "over = \\['seed'\\] is not a dict"),
        ({"network.queue.limit": "8 packets"}, "network.queue.limit: '8 packets' is not a list"),
        ({"seed": 5}, "seed: 5 is not a list"),
        ({"seed": []}, "seed: the list is empty"),
    ],
)
def test_the_error_of_an_invalid_sweep_names_the_argument(over: Any, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        aqmlab.sweep(EXAMPLE, over)


def test_the_error_of_an_invalid_argument_names_the_argument(small: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError, match="scenarios is not a list; put the scenario in"):
        aqmlab.run_many(EXAMPLE)
    with pytest.raises(
        ValueError, match=r"replications is 1000000000000000000; it must be at most 999999"
    ):
        aqmlab.replicate(EXAMPLE, 10**18)
    with pytest.raises(
        ValueError, match=r"replications of all values is 1200000; it must be at most"
    ):
        aqmlab.sweep(EXAMPLE, {"tcp.ecn": ["off", "rfc3168"]}, replications=600_000)
    with pytest.raises(ValueError, match=r"replications is 1\.5; it must be a whole number"):
        aqmlab.replicate(small, 1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="jobs is '2'; it must be a whole number"):
        aqmlab.run_many([small], jobs="2")  # type: ignore[arg-type]
    with pytest.raises(ScenarioError, match="is not a dict; give a dict of links"):
        aqmlab.run(small, queues=["red"])  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError, match="the folder for captures does not exist"):
        aqmlab.run(small, pcap="no/such/folder")
    for queues, message in [
        ("red", "is not a list; write the queues"),
        (None, "is not a list; write the queues"),
        ([5], "5 is not a queue"),
        ([{"limit": "5 packets"}], "it has no kind"),
    ]:
        with pytest.raises(ValueError, match=message):
            compare(queues, small)  # type: ignore[arg-type]


def test_a_scheduler_can_be_compared(small: dict[str, Any]) -> None:
    comparison = compare(["drop_tail", "drr:classes=[{}]"], small, 1)
    assert [arm.label for arm in comparison.arms] == ["drop_tail", "drr:classes=[{}]"]
    with pytest.raises(KeyError, match="'speed' is not a measure; choose from "):
        comparison.interval(0, "speed")


def test_the_error_of_a_plot_in_a_missing_folder_names_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["plot", "window", EXAMPLE, "--out", str(tmp_path / "no" / "x.png")]) == 2
    error = capsys.readouterr().err
    assert "does not exist; create it" in error
    assert ".part" not in error


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arms": {"=1+1": {}}}, 'arms: "=1+1" begins like a formula'),
        ({"arms": {f"a{ESCAPE}red": {}}}, r'arms: "a\u001b[31mred" has control characters;'),
        ({"arms": {"a\u202eb": {}}}, r'arms: "a\u202eb" has control characters;'),
        ({"factors": [{"values": {"title": ["=cmd()"]}}]}, 'factors: title: "=cmd()" begins like'),
        ({"factors": [{"values": {"title": ["a", "b\nc"]}}]}, r'factors: title: "b\nc" has'),
        ({"factors": [{"kind": "list", "rows": [{"@SUM(A1)": 1}]}]}, 'factors: "@SUM(A1)" begins'),
        ({"factors": [{"kind": "random", "n": 1, "values": {"title": {"choice": ["+1"]}}}]}, "+1"),
        ({"title": ESCAPE}, r'title: "\u001b[31m" contains control characters; remove them'),
        ({"measures": [f"flows.goodput_bps[{ESCAPE}*].sum"]}, "measures: "),
    ],
)  # fmt: skip
def test_an_experiment_with_hostile_texts_is_refused(
    change: dict[str, Any],
    message: str,
    small: dict[str, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(ScenarioError, match="begins like a formula"):
        aqmlab.sweep(small, {"title": ["=cmd()"]})
    with pytest.raises(ScenarioError) as refused:
        Experiment.from_dict({"scenario": small} | change)
    assert message in str(refused.value)
    assert str(refused.value).isprintable()
    file = tmp_path / "try.toml"
    lines = [
        f"{key} = {toml_value(value)}" for key, value in ({"scenario": small} | change).items()
    ]
    file.write_text("\n".join(lines))
    assert execute(["sweep", str(file), "--out", str(tmp_path / "out")]) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert (out, err.count("\n")) == ("", 1)
    assert not (tmp_path / "out").exists()


def test_results_with_hostile_texts_are_shown_escaped_or_refused(
    small: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folders contain results with texts that `aqmlab sweep` would refuse."""
    read = Experiment.from_dict({
        "scenario": small, "measures": ["goodput_bps"], "replications": 2,
        "arms": {"off": {"tcp.ecn": "off"}, "on": {}},
        "factors": [{"values": {"title": ["one", "two"]}}],
    })  # fmt: skip
    whole = conduct(read)
    for number, change in enumerate([
        {"arms": ["off", "=1+1"], "runs": whole.runs.replace({"arm": {"on": "=1+1"}})},
        {"runs": whole.runs.replace({"title": {"one": "=cmd()"}})},
        {"runs": whole.runs.replace({"title": {"one": ESCAPE}})},
        {"title": ESCAPE, "warm_up": ESCAPE, "runs": whole.runs.assign(failed=ESCAPE)},
    ]):  # fmt: skip
        folder = tmp_path / str(number)
        folder.mkdir()
        replace(whole, **change).write(folder / "runs.parquet")
        code = execute(["results", str(folder), "--csv", str(folder / "all.csv")])
        out, err = capsys.readouterr()
        assert ESCAPE not in out + err
        if code == 0:
            assert r"\x1b[31m" in out
            assert ESCAPE not in (folder / "all.csv").read_text()
        else:
            assert "runs.parquet is not a valid table of runs: the " in err
            assert err.endswith("; repeat the sweep with --force\n")
            if number == 1:
                assert (
                    "the value of the factor title '=cmd()' begins like a formula (=, +, -, @), "
                    "which a spreadsheet would compute; re"
                ) in err
        assert (code == 0) == ("title" in change)


def test_every_command_accepts_a_folder_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    where = tmp_path / os.fsdecode(b"caf\xe9")
    where.mkdir()
    (where / "x.toml").write_text(Path("examples/two_flows.toml").read_text())
    (where / "e.toml").write_text('scenario = "x.toml"\nmeasures = ["jain"]\n')
    commands = [
        "run {0}/x.toml --out {0}/run", "plot window {0}/x.toml --out {0}/w.png",
        "compare codel --scenario {0}/x.toml --replications 1 --out {0}/compare",
        "sweep {0}/e.toml --out {0}/sweep", "sweep {0}/e.toml --out {0}/sweep --resume",
        "results {0}/sweep --csv {0}/a.csv --parquet {0}/a.parquet --netcdf {0}/a.nc",
        "status {0}/sweep",
    ]  # fmt: skip
    for command in commands:
        assert execute([part.format(where) for part in command.split()]) == 0, command
    assert Outcome.read(where / "sweep").runs["jain"].notna().all()
    stored = Result.read(where / "run")
    assert stored.flows.equals(aqmlab.run(where / "x.toml").flows)
    with FolderStore(where / "store") as store:
        first = aqmlab.replicate(where / "x.toml", 1, store=store)
        second = aqmlab.replicate(where / "x.toml", 1, store=store)
    assert second[0].flows.equals(first[0].flows)


@pytest.mark.parametrize("name", [ESCAPE, "a\u202eb", "a\nb"])
def test_a_name_with_control_characters_in_a_comparison_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ["compare", f"{name}=red", "codel", "--out", str(tmp_path / "out")]
    assert execute(args) == 2
    out, err = capsys.readouterr()
    assert name not in out + err.removesuffix("\n")
    assert "has control characters; remove them" in err
    assert not (tmp_path / "out").exists()
    with pytest.raises(ValueError, match="has control characters; remove them"):
        compare({name: "red"}, EXAMPLE, 1)


@pytest.mark.parametrize("seed", [2**63, 2**64 - 1, 2**64])
def test_a_seed_has_the_same_maximum_in_every_form_of_input(
    seed: int, small: dict[str, Any], tmp_path: Path
) -> None:
    message = f"{seed} must be at most 9223372036854775807"
    with pytest.raises(ScenarioError, match=message):
        aqmlab.run(EXAMPLE, seed)
    path = tmp_path / "x.json"
    path.write_text(json.dumps(small | {"seed": seed}))
    with pytest.raises(ScenarioError, match=message):
        aqmlab.run(path)
    with pytest.raises(ScenarioError, match=f"{seed} must be from .* to 9223372036854775807"):
        aqmlab.run(small | {"seed": seed})
    with pytest.raises(ScenarioError, match="an integer of 4001 bits must be from"):
        aqmlab.run(small | {"seed": 2**4000})
    path = tmp_path / "x.toml"
    path.write_text(f"seed = {seed}")
    with pytest.raises(ScenarioError, match=r"column 8: an integer must be from .*807"):
        aqmlab.run(path)
    assert aqmlab.run(small, 2**63 - 1).manifest["seed"] == 2**63 - 1
