"""Tests of `tools/prose`, which checks the project's texts; one test checks all files."""

import importlib.util
import subprocess
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
loader = SourceFileLoader("prose", str(ROOT / "tools/prose"))
spec = importlib.util.spec_from_loader("prose", loader)
assert spec
prose = importlib.util.module_from_spec(spec)
loader.exec_module(prose)


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.rs", "/// Whether the timer is on.\nstruct A;", [1]),
        ("a.rs", "/// True while the timer is on,\n/// as the sender was told.", [2]),
        ("a.rs", '// nobody reads this\nfail("https://x y", "there is no room");', [2]),
        ("a.rs", 'fail("a \'b", r#"so "many" things"#, \'"\', "so many things");', [1]),
        ("a.rs", '#[cfg(test)]\nfail("so many things");', []),
        ("a.rs", "/// " + "word " * 20, [1]),
        ("a.py", '"""What it is."""', [1]),
        ("a.py", '"""A module."""\nhelp = "Runs, so many of them"', [2]),
        ("a.py", '"""A module."""\nhelp = "It was told."  # prose: a quotation', []),
        ("a.py", '"""A module."""\ntold = 1  # asked', []),
        ("a.md", "It is no queue.\nIt is no longer a queue.", [1]),
        ("a.md", "```\nasked\n```\n`told` | whoever", [4]),
        ("a.md", "| " + "word " * 20 + "|\n[a](" + "b" * 99 + " )", []),
    ],
)
def test_the_check_reports_each_habit_on_its_line(
    tmp_path: Path, name: str, text: str, lines: list[int]
) -> None:
    """The check reports a word or a long line only in text for readers, not in code."""
    path = tmp_path / name
    path.write_text(text)
    assert [line for line, _ in prose.findings(path)] == lines


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the check needs a git checkout")
def test_the_project_passes_the_check() -> None:
    """Every file of the project passes `tools/prose`, and every file in tools/prose.toml exists."""
    run = subprocess.run([ROOT / "tools/prose"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
    settings = prose.tomllib.loads((ROOT / "tools/prose.toml").read_text("utf-8"))
    assert [p for p in settings["never"] if not (ROOT / p).exists()] == []
