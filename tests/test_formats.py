"""The version of the format in scenarios, experiments and results (docs/stability.md)."""

import json
from pathlib import Path
from typing import Any

import pytest

import aqmlab
from aqmlab.experiment import Experiment, conduct
from aqmlab.experiment.outcome import Outcome


def test_a_scenario_without_a_format_has_format_1(small: dict[str, Any]) -> None:
    assert aqmlab.run(small).scenario["format"] == 1


def test_a_scenario_of_a_later_format_is_refused_before_its_unknown_keys(
    small: dict[str, Any],
) -> None:
    with pytest.raises(aqmlab.ScenarioError, match="format: 2 must be at most 1") as refused:
        aqmlab.run(small | {"format": 2, "later": True})
    assert "install a later version of aqmlab" in str(refused.value)


def test_an_experiment_of_a_later_format_is_refused(small: dict[str, Any]) -> None:
    with pytest.raises(aqmlab.ScenarioError, match="format is 2; it must be 1"):
        Experiment.from_dict({"format": 2, "scenario": small, "later": True})
    assert Experiment.from_dict({"format": 1, "scenario": small}).points == [{}]


def test_a_result_of_another_format_is_refused(small: dict[str, Any], tmp_path: Path) -> None:
    folder = aqmlab.run(small).write(tmp_path / "run")
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert manifest["format"] == 1
    (folder / "manifest.json").write_text(json.dumps(manifest | {"format": 2}), "utf-8")
    with pytest.raises(OSError, match="format: 2 must be 1"):
        aqmlab.Result.read(folder)


def test_the_runs_of_a_sweep_of_another_format_are_refused(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = conduct(Experiment.from_dict({"scenario": small}))
    monkeypatch.setattr("aqmlab.experiment.outcome.FORMAT", 2)
    outcome.write(tmp_path / "runs.parquet")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="its format is 2, and this version reads 1"):
        Outcome.read(tmp_path)
