"""Tests of `aqmlab new`: each new file does what its comments promise."""

import runpy
from dataclasses import replace
from pathlib import Path

import pytest

import aqmlab
from aqmlab.command import execute
from aqmlab.comparison import compare
from aqmlab.experiment import Experiment, conduct
from aqmlab.scenario import changed


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_scenario_runs_and_names_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["new", "scenario", "my.toml"]) == 0
    assert capsys.readouterr().out == "Written to my.toml\nNext: aqmlab run my.toml\n"
    assert "#     aqmlab run my.toml\n" in Path("my.toml").read_text("utf-8")
    result = aqmlab.run(changed("my.toml", [("duration", "10 s")]))
    assert result.warnings == []
    assert set(result.flows["flow"]) == {"download-0", "download-1", "short"}
    commented = [
        line.removeprefix("# ")
        for line in Path("my.toml").read_text("utf-8").splitlines()
        if line.startswith(("# reverse", "# impair", "# congestion", "# ecn", "# [rec", "# series"))
    ]
    assert len(commented) == 6
    text = Path("my.toml").read_text("utf-8")
    for line in commented:
        text = text.replace(f"# {line}", line)
    Path("all.toml").write_text(text.replace("30 s", "2 s"), "utf-8")
    assert aqmlab.run("all.toml").series("window").shape[0] > 0


def test_the_experiment_sweeps(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["new", "experiment"]) == 0
    assert capsys.readouterr().out.endswith("Next: aqmlab sweep experiment.toml\n")
    assert "aqmlab results results/experiment --by limit" in Path("experiment.toml").read_text()
    experiment = Experiment.read("experiment.toml")
    short = replace(experiment, scenario=changed("dsl", [("duration", "2 s")]))
    outcome = conduct(short)
    assert len(outcome.runs) == 2 * 2 * 4
    assert (outcome.runs["failed"] == "").all()


def test_the_queue_can_be_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["new", "queue"]) == 0
    assert capsys.readouterr().out.endswith("Next: python my_queue.py\n")
    queue = runpy.run_path("my_queue.py")["MyQueue"]
    short = [("duration", "3 s")]
    compared = compare(["drop_tail", queue(5, 30, limit="64 packets")], "rfc7928", 1,
                       overrides=short)  # fmt: skip
    assert compared.difference(1, "mean_delay_s").middle < 0


def test_a_study_has_the_name_of_its_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["new", "study", "my_wait"]) == 0
    assert "Then: aqmlab reproduce my-wait\n" in capsys.readouterr().out
    files = [path for path in Path("my_wait").rglob("*") if path.is_file()]
    assert len(files) == 6
    texts = [path.read_text("utf-8") for path in files]
    assert not any("my_study" in text or "my-study" in text for text in texts)
    assert any('name="my-wait"' in text for text in texts)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["scenario", "there.toml"], "there.toml exists; choose another name, or remove it"),
        (["study", "there.toml"], "there.toml: the name of a study is a Python module"),
        (["study", "there"], "there exists; choose another name"),
        (["queue", "loop.py"], "loop.py exists"),
        (["scenario", "a.json"], "a.json: the name of the file must end in .toml"),
        (["queue", ""], "must end in .py"),
        (["experiment", "no/e.toml"], "no: the folder does not exist; create it first"),
        (["study", "../a-b"], "choose a name such as my_study"),
        (["scenary"], "scenary"),
    ],
)
def test_wrong_arguments_are_an_error_in_one_line(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("there.toml").write_text("mine")
    Path("there").mkdir()
    Path("loop.py").symlink_to("loop.py")
    assert execute(["new", *arguments]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1
    assert Path("there.toml").read_text() == "mine"


def test_a_hostile_name_stays_outside_the_file() -> None:
    for name in ('a"""\nimport os.py', "b\nseed = x.toml"):
        assert execute(["new", "queue" if name.endswith(".py") else "scenario", name]) == 0
    assert "FILE" in Path('a"""\nimport os.py').read_text("utf-8")
    aqmlab.run("b\nseed = x.toml", limits={"events": 10**6})
