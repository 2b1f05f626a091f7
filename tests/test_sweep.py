"""Tests of the files, the output and the errors of `aqmlab sweep` and `aqmlab results`."""

import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import aqmlab
from aqmlab import estimates
from aqmlab.command import execute
from aqmlab.command.sweep import write_runs
from aqmlab.estimates import Kind
from aqmlab.experiment import Outcome
from aqmlab.folder import Claim
from aqmlab.measures import MeasuredRun
from aqmlab.statistics import mean_interval
from aqmlab.store import FolderStore, status

EXPERIMENT = """
scenario = "small.json"
title = "An example"
replications = 3
measures = ["goodput_bps", "mark_rate"]

[arms]
without = { "tcp.ecn" = "off" }
with = { "tcp.ecn" = "rfc3168" }

[[factors]]
values = { "network.queue.limit" = ["12 packets", "16 packets"] }

[[factors]]
values = { "network.delay" = ["5 ms", "9 ms"] }
"""


@pytest.fixture
def file(scenario: Path) -> Path:
    """Return the path of an experiment file beside the small scenario."""
    path = scenario.with_name("try.toml")
    path.write_text(EXPERIMENT)
    return path


@pytest.fixture
def folder(file: Path, tmp_path: Path) -> Path:
    """Return the folder of the finished experiment."""
    assert execute(["sweep", str(file), "--out", str(tmp_path / "out")]) == 0
    return tmp_path / "out"


def test_a_sweep_writes_its_runs_and_a_summary(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    assert execute(["sweep", str(file), "--out", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "An example" in out
    assert "24 runs: 4 points, 2 arms." in out
    assert (folder / "experiment.toml").read_text() == EXPERIMENT
    runs = pd.read_parquet(folder / "runs.parquet")
    assert len(runs) == 24
    assert list(runs.columns[:5]) == [
        "point", "network.queue.limit", "network.delay", "arm", "seed",
    ]  # fmt: skip
    summary = pd.read_csv(folder / "summary.csv")
    assert len(summary) == 4 * 2 * 2
    marks = summary[(summary["measure"] == "mark_rate") & (summary["arm"] == "with")]
    assert (marks["difference_low"] > 0).all()
    assert (marks["unit"] == "%").all()


def test_results_are_printed_by_factor_and_written(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    capsys.readouterr()
    csv, parquet = tmp_path / "a.csv", tmp_path / "a.parquet"
    options = ["--by", "limit", "--measure", "goodput_bps"]
    files = ["--csv", str(csv), "--parquet", str(parquet)]
    assert execute(["results", str(folder), *options, *files]) == 0
    out = capsys.readouterr().out
    assert "mark_rate" not in out
    assert " delay" not in out
    table = pd.read_csv(csv)
    assert len(table) == 4
    assert (table["n"] == 3).all(), "each mean over points must have one value per seed"
    pd.testing.assert_frame_equal(table, pd.read_parquet(parquet), check_dtype=False)
    runs = pd.read_parquet(folder / "runs.parquet")
    selected = runs[(runs["arm"] == "with") & (runs["network.queue.limit"] == "16 packets")]
    row = table[(table["arm"] == "with") & (table["network.queue.limit"] == "16 packets")]
    assert row["value"].item() == pytest.approx(selected["goodput_bps"].mean() / 1e6)


@pytest.mark.parametrize("kind", ["t", "bca", "median"])
def test_results_have_the_requested_kind_of_interval(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, kind: Kind
) -> None:
    capsys.readouterr()
    csv = tmp_path / "a.csv"
    assert execute(["results", str(folder), "--interval", kind, "--csv", str(csv)]) == 0
    out = capsys.readouterr().out
    assert {"t": "Student's t", "bca": "bootstrap, BCa", "median": "medians of"}[kind] in out
    table, runs = pd.read_csv(csv), pd.read_parquet(folder / "runs.parquet")
    levels = {"arm": "without", "network.queue.limit": "16 packets", "network.delay": "5 ms"}
    row = table[(table["measure"] == "goodput_bps")]
    for column, value in levels.items():
        row, runs = row[row[column] == value], runs[runs[column] == value]
    expected = estimates.mean(runs["goodput_bps"] / 1e6, kind)
    values = row[["value", "low", "high"]].to_numpy()[0]
    np.testing.assert_allclose(values, [expected.value, expected.low, expected.high])
    assert row["statistic"].item() == expected.statistic


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["results", "OUT", "--interval", "z"], ["'z' is not one of 't', 'bca', 'median'"]),
        (["results", "OUT", "--by", "limt"], ["'limt' is not a factor", "network.queue.limit"]),
        (["results", "OUT", "--measure", "x"], ["'x' is not a measure", "goodput_bps"]),
        (["results", "OUT", "--csv", "FILE"], ["exists", "another name"]),
        (["results", "."], ["not the folder of a sweep"]),
        (["sweep", "FILE", "--out", "OUT"], ["has an earlier sweep", "--resume"]),
        (["sweep", "FILE", "--out", "tests"], ["has content that does not belong to a sweep"]),
        (["sweep", "FILE", "--executor", "moon"], ["--executor is 'moon'", "local"]),
        (["sweep", "FILE", "--jobs", "0"], ["--jobs is '0'"]),
        (["sweep", "nowhere.toml"], ["nowhere.toml", "does not exist"]),
    ],
)
def test_the_error_of_invalid_input_is_one_line(
    folder: Path,
    file: Path,
    capsys: pytest.CaptureFixture[str],
    args: list[str],
    expected: list[str],
) -> None:
    capsys.readouterr()
    command = [a.replace("OUT", str(folder)).replace("FILE", str(file)) for a in args]
    assert execute(command) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    for text in expected:
        assert text in err


def test_resume_executes_only_the_missing_runs(
    folder: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep with one more replication executes only the new runs and changes no earlier row."""
    before = Outcome.read(folder).runs
    stored: list[str] = []
    put = FolderStore.put

    def recording_put(self: FolderStore, address: str, *rest: object) -> None:
        stored.append(address)
        put(self, address, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(FolderStore, "put", recording_put)
    file.write_text(EXPERIMENT.replace("replications = 3", "replications = 4"))
    assert execute(["sweep", str(file), "--out", str(folder), "--resume"]) == 0
    assert len(stored) == 8
    after = Outcome.read(folder).runs
    assert len(after) == 32
    same = after[after["seed"] < 10].reset_index(drop=True)
    pd.testing.assert_frame_equal(same, before)
    assert "replications = 4" in (folder / "experiment.toml").read_text()


def test_ctrl_c_preserves_finished_runs_and_partial_results(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(EXPERIMENT.replace("replications = 3", "replications = 1000"))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "aqmlab", "sweep", str(file), "--out", str(out)]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    deadline = time.monotonic() + 60
    while not (out / "runs").is_dir() or status(out / "runs").total < 3:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "--resume uses these runs" in err
    assert "Traceback" not in err
    assert not list(tmp_path.glob(".*.aqmlab"))
    assert f"`aqmlab results {out}` shows them" in err
    partial = Outcome.read(out)
    assert 0 < len(partial.runs) < 8000
    assert execute(["results", str(out)]) == 0
    line = f"Partial results: {len(partial.runs)} of 8000 runs have ended"
    assert line in capsys.readouterr().out
    file.write_text(EXPERIMENT.replace("replications = 3", "replications = 1"))
    assert execute(["sweep", str(file), "--out", str(out), "--resume"]) == 0
    complete = Outcome.read(out)
    assert (len(complete.runs), complete.partial) == (8, "")


def test_results_of_a_running_sweep_are_those_of_its_finished_runs(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aqmlab.experiment.rounds.SAVE_S", 0.0)
    monkeypatch.setattr("aqmlab.experiment.rounds.SAVE_SHARE", 1.0)
    out, seen = tmp_path / "out", []

    def written(claim: Claim, outcome: Outcome) -> None:
        write_runs(claim, outcome)
        seen.append(Outcome.read(out).partial)

    monkeypatch.setattr("aqmlab.command.sweep.write_runs", written)
    assert execute(["sweep", str(file), "--out", str(out)]) == 0
    assert seen[0] == "1 of 24 runs"
    assert Outcome.read(out).requested is None


def test_a_sweep_that_is_refused_at_its_first_run_does_not_block_the_corrected_sweep(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["sweep", str(file), "--out", str(tmp_path / "new" / "out")]
    file.write_text(EXPERIMENT.replace("mark_rate", "flows.goodput_bps"))
    assert execute(command) == 2
    assert "has 2 values in a run" in capsys.readouterr().err
    assert list((tmp_path / "new").iterdir()) == []
    file.write_text(EXPERIMENT)
    assert execute(command) == 0
    (tmp_path / "new" / "out" / "runs.parquet").unlink()
    assert execute(["results", str(tmp_path / "new" / "out")]) == 2
    assert "has no results yet; `aqmlab status" in capsys.readouterr().err


def test_run_with_replications_prints_means_and_intervals(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["run", str(scenario), "--replications", "9"]) == 0
    out, err = capsys.readouterr()
    assert "9 replications, seeds 7 to 15." in out
    (line,) = [line for line in out.splitlines() if line.strip().startswith("goodput_bps ")]
    goodputs = [
        MeasuredRun.of_result(run).goodput(["C0", "C1"]) / 1e6
        for run in aqmlab.replicate(scenario, 9)
    ]
    low, mean, high = mean_interval(goodputs)
    printed, half = re.findall(r"([\d.]+) ±([\d.]+)", line)[0]
    assert float(printed) == pytest.approx(mean, abs=1e-2)
    assert float(half) == pytest.approx((high - low) / 2, rel=0.1)
    assert line.split()[-1] == "9"
    assert "fewer than" not in err
    assert execute(["run", str(scenario), "--replications", "2", "--out", "x"]) == 2
    assert "leave out --out" in capsys.readouterr().err


def test_results_prints_and_writes_effects(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert execute(["results", str(folder), "--effects", "--measure", "mark_rate"]) == 0
    out = capsys.readouterr().out
    assert "limit × arm" in out
    assert "without → with" in out
    assert len(pd.read_csv(folder / "effects.csv")) == 2 * 6
    assert execute(["results", str(folder), "--effects", "--by", "limit"]) == 2


@pytest.mark.parametrize(
    "args",
    [
        ["results", "OUT", "--csv", "FILE.csv"],
        ["results", "OUT", "--parquet", "FILE.parquet"],
        ["results", "OUT", "--netcdf", "FILE.nc"],
        ["plot", "window", "examples/two_flows.toml", "--out", "FILE.png"],
    ],
)
def test_a_file_that_exceeds_a_size_limit_is_not_written(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    args: list[str],
) -> None:
    # Without this setting, the file size limit would also truncate Python's bytecode files.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    target = tmp_path / "target"
    target.mkdir()
    command = [a.replace("OUT", str(folder)).replace("FILE", str(target / "x")) for a in args]
    capsys.readouterr()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (700, before[1]))
    try:
        assert execute(command) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    error = capsys.readouterr().err.splitlines()[-1]
    assert f"cannot write {command[-1]}: file too large; check" in error
    assert list(target.iterdir()) == []
    assert execute(command) == 0


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (("tcp.ecn", "tcp.enc"), "arm without at network.queue.limit = 12 packets"),
        (('"mark_rate"', '"mark_rat"'), "measures.1"),
    ],
)
def test_an_invalid_experiment_creates_no_folder(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    wrong: tuple[str, str], expected: str,
) -> None:  # fmt: skip
    file.write_text(EXPERIMENT.replace(*wrong, 1))
    before = sorted(tmp_path.rglob("*"))
    assert execute(["sweep", str(file), "--out", str(tmp_path / "new" / "out")]) == 2
    assert expected in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


def test_resume_does_not_change_other_files(folder: Path, file: Path) -> None:
    """The folder of a sweep may also contain files of the user, which do not change."""
    (folder / "notes.txt").write_text("foreign")
    (folder / "more").mkdir()
    (folder / "more" / "summary.csv").write_text("also foreign")
    (folder / "summary.csv").unlink()
    assert execute(["sweep", str(file), "--out", str(folder), "--resume"]) == 0
    assert (folder / "summary.csv").exists()
    assert (folder / "notes.txt").read_text() == "foreign"
    assert (folder / "more" / "summary.csv").read_text() == "also foreign"


def test_options_change_an_experiment_for_one_call(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sweep's folder has a copy of the experiment and the options; --force starts a new sweep."""
    out, store = tmp_path / "out", tmp_path / "store"
    sweep = ["sweep", str(file), "--out", str(out), "--store", str(store)]
    changes = ["--set", "flows.0.traffic.size='20 kB'", "--seed", "40", "--replications", "2"]
    assert execute([*sweep, *changes, "--warm-up", "10 ms"]) == 0
    outcome = Outcome.read(out)
    assert sorted(set(outcome.runs["seed"])) == [40, 41]
    assert outcome.warm_up == "10 ms"
    copy = (out / "experiment.toml").read_text()
    first, rest = copy.split("\n", 1)
    assert first == (
        "# Run with the options: --set 'flows.0.traffic.size='\"'\"'20 kB'\"'\"'' --set seed=40 "
        "--replications 2 --warm-up '10 ms'"
    )
    assert rest == EXPERIMENT
    assert not (out / "runs").exists(), "the runs must be in the folder of --store"
    with FolderStore(store, to_read=True) as runs:
        sizes = {run.scenario["flows"][0]["traffic"]["size"] for run in runs}
    assert sizes == {"20000 B"}
    capsys.readouterr()
    assert execute([*sweep, *changes]) == 2
    error = capsys.readouterr().err
    assert "has an earlier sweep" in error
    assert "--resume to continue it, or --force to replace it" in error
    assert execute(["sweep", str(file), "--out", str(out), "--force", "--replications", "1"]) == 0
    assert len(Outcome.read(out).runs) == 8
    assert sorted(set(Outcome.read(out).runs["seed"])) == [7]


def test_a_run_uses_a_store(scenario: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    run = ["run", str(scenario), "--store", str(store), "--jobs", "1"]
    for _ in range(2):
        assert execute([*run, "--out", str(tmp_path / "run"), "--force"]) == 0
    assert (status(store).stored, status(store).finished) == (1, 0)
    more = ["--replications", "2", "--warm-up", "20 ms", "--no-warnings"]
    assert execute([*run, *more]) == 0
    with FolderStore(store, to_read=True) as runs:
        assert len(list(runs)) >= 2


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["--warm-up", "1000 s"], "warm_up"),
        (
            ["--store", "s", "--pcap", "p", "--pcap-on", "left-0"],
            "--store and --pcap exclude each other",
        ),
    ],
)
def test_incompatible_options_of_a_run_are_refused(
    args: list[str], error: str, scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["run", str(scenario), *args]) == 2
    assert error in capsys.readouterr().err
