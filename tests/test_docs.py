"""Test that the code of examples in the documentation runs and prints the output on the page."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from aqmlab import _core
from aqmlab.command import execute

TUTORIAL = Path("docs/tutorial/first-scenario.md").read_text("utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


@pytest.fixture
def tutorial_scenario(tmp_path: Path) -> Path:
    """Return the path of a file with the scenario of the tutorial."""
    path = tmp_path / "two.toml"
    path.write_text(blocks(TUTORIAL, "toml")[0], "utf-8")
    return path


def test_the_tutorial_shows_the_output_of_its_scenario(
    tutorial_scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["run", str(tutorial_scenario)]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.strip().splitlines()]
    assert "\n".join(lines) == blocks(TUTORIAL, "text")[0].strip(), "copy the output to the page"


def test_the_python_code_of_the_tutorial_runs(
    tutorial_scenario: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tutorial_scenario.parent)
    for block in blocks(TUTORIAL, "python"):
        exec(block, {})
    printed = capsys.readouterr().out
    assert printed == blocks(TUTORIAL, "text")[1], "copy the output to the page"
    for low, high in re.findall(r"([\d.]+) to ([\d.]+)", printed):
        assert float(high) > float(low) + 1, "each interval must be wider than 1"


def test_the_python_code_about_statistics_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for block in blocks(Path("docs/statistics.md").read_text("utf-8"), "python"):
        exec(block, {})
    assert capsys.readouterr().out.count("Interval(") == 4


def test_the_python_code_about_comparing_queues_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for block in blocks(Path("docs/how-to/compare-queues.md").read_text("utf-8"), "python"):
        exec(block, {})
    assert capsys.readouterr().out.startswith("Interval(low=-0.0")


def test_the_python_code_about_stores_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    examples = Path("examples").resolve()
    monkeypatch.chdir(tmp_path)
    Path("examples").symlink_to(examples)
    guide = (examples.parent / "docs" / "how-to" / "keep-runs.md").read_text("utf-8")
    for block in blocks(guide, "python"):
        exec(block, {})
    assert capsys.readouterr().out == "9 runs are finished, new or from the store\n6\n"
    assert execute(["status", "results/runs"]) == 0


def test_the_error_of_a_missing_tool_names_its_source() -> None:
    process = subprocess.run(
        ["/bin/sh", "tools/require", "python9"], env={"PATH": "/usr/bin:/bin"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert process.returncode == 1
    assert "Python 3.11 or later" in process.stderr
    assert "https://www.python.org/downloads/" in process.stderr


def test_the_error_of_a_wheel_build_names_the_missing_component(tmp_path: Path) -> None:
    rustc = tmp_path / "rustc"
    rustc.write_text("#!/bin/sh\necho /nowhere/lib\n")
    rustc.chmod(0o755)
    process = subprocess.run(
        ["/bin/sh", "tools/wheel", "aarch64"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "VIRTUAL_ENV": str(tmp_path)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert process.returncode == 1
    assert process.stderr.endswith("run 'rustup target add aarch64-unknown-linux-gnu'\n")


def test_the_training_program_of_a_wheel_runs() -> None:
    subprocess.run([sys.executable, "tools/train.py", _core.__file__], check=True)


def test_links_between_pages_have_existing_targets() -> None:
    for page in [Path("README.md"), Path("CONTRIBUTING.md"), *Path("docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), (page, target)
