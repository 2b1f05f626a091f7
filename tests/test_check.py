"""Test of the choice of test files that `tools/check.py` makes for a change."""

import importlib.util
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def check() -> ModuleType:
    """Return the script `tools/check.py` as a module."""
    spec = importlib.util.spec_from_file_location("check", "tools/check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("file", "test"),
    [
        ("python/aqmlab/command/tune_red.py", "tests/test_tune_red.py"),
        ("python/aqmlab/experiment/tuning.py", "tests/test_tune_red.py"),
        ("python/aqmlab/experiment/rounds.py", "tests/test_experiment_files.py"),
        ("python/aqmlab/folder.py", "tests/test_folders.py"),
        ("python/aqmlab/studies/rfc2884/tuned.py", "tests/studies/test_rfc2884.py"),
        ("python/aqmlab/studies/rfc2884/published/claims.csv", "tests/studies/test_rfc2884.py"),
        ("docs/how-to/packet-scripts.md", "tests/test_script.py"),
        ("examples/two_flows.toml", "tests/test_cli.py"),
        ("tests/test_hurst.py", "tests/test_hurst.py"),
    ],
)
def test_a_changed_file_selects_its_tests(file: str, test: str, check: ModuleType) -> None:
    assert test in check.chosen_tests([file])[1]


def test_a_change_with_few_dependents_selects_few_tests(check: ModuleType) -> None:
    modules, tests = check.chosen_tests(["python/aqmlab/figures/tuning.py"])
    assert modules == []
    assert len(tests) <= 4
    assert check.chosen_tests(["python/aqmlab/estimates.py"])[0] == ["python/aqmlab/estimates.py"]


def test_dependents_of_a_crate_are_found(check: ModuleType) -> None:
    changed, dependents = check.changed_crates(["crates/wire/src/lib.rs"])
    assert changed == ["wire"]
    assert {"lab", "aqmlab-python"} <= set(dependents)
    assert "aqmlab-queues" not in dependents
    assert check.changed_crates(["README.md"]) == ([], [])


def test_a_step_that_fails_or_lasts_too_long_is_reported(
    check: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = check.Steps(1.5)
    lane = [("good", ["true"]), ("bad", ["sh", "-c", "echo why; exit 3"]), ("long", ["sleep", "9"])]
    steps.run(lane, check.deque([("late", ["true"])]))
    assert (steps.failed, steps.unchecked) == (["bad"], ["long", "late"])
    out = capsys.readouterr().out
    assert "FAILED  bad" in out
    assert "why" in out
    assert "ok      good" in out
