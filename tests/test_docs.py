"""The code of the pages runs, and gives the output that they show."""

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
def two(tmp_path: Path) -> Path:
    """The scenario of the tutorial."""
    path = tmp_path / "two.toml"
    path.write_text(blocks(TUTORIAL, "toml")[0], "utf-8")
    return path


def test_the_tutorial_shows_the_output_of_its_scenario(
    two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["run", str(two)]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.strip().splitlines()]
    assert "\n".join(lines) == blocks(TUTORIAL, "text")[0].strip(), "copy the output to the page"


def test_the_python_of_the_tutorial_runs(
    two: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(two.parent)
    for block in blocks(TUTORIAL, "python"):
        exec(block, {})
    told = capsys.readouterr().out
    assert told == blocks(TUTORIAL, "text")[1], "copy the output to the page"
    for low, high in re.findall(r"([\d.]+) to ([\d.]+)", told):
        assert float(high) > float(low) + 1, "the example shows how far runs differ"


def test_the_python_of_the_pages_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for block in blocks(Path("docs/statistics.md").read_text("utf-8"), "python"):
        exec(block, {})
    assert capsys.readouterr().out.count("Interval(") == 4


def test_the_python_of_comparing_queues_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for block in blocks(Path("docs/how-to/compare-queues.md").read_text("utf-8"), "python"):
        exec(block, {})
    assert capsys.readouterr().out.startswith("Interval(low=-0.0")


def test_the_python_of_keeping_runs_runs(
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


def test_missing_tools_are_named_with_how_to_get_them() -> None:
    done = subprocess.run(
        ["/bin/sh", "tools/require", "python9"], env={"PATH": "/usr/bin:/bin"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Python 3.11 or later" in done.stderr
    assert "https://www.python.org/downloads/" in done.stderr


def test_a_wheel_names_the_component_that_it_lacks(tmp_path: Path) -> None:
    rustc = tmp_path / "rustc"
    rustc.write_text("#!/bin/sh\necho /nowhere/lib\n")
    rustc.chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", "tools/wheel"], env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.endswith("run 'rustup component add llvm-tools'\n")


def test_what_a_wheel_is_trained_with_runs() -> None:
    subprocess.run([sys.executable, "tools/train.py", _core.__file__], check=True)


def test_links_between_pages_lead_somewhere() -> None:
    for page in [Path("README.md"), Path("CONTRIBUTING.md"), *Path("docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), (page, target)
