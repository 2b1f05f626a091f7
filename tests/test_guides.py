"""docs/how-to/add-a-queue.md is right: its steps, followed in a copy of the sources, work."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

GUIDE = (ROOT / "docs" / "how-to" / "add-a-queue.md").read_text("utf-8")
COPY = ROOT / "target" / "guide"
"""Always the same place, so that little is built again."""


def rows() -> list[tuple[str, str, str]]:
    """Return file, line and added line of each row of the guide's tables."""
    cell = r"`([^`]+)`"
    return re.findall(rf"^ *\| {cell} \| {cell} \| {cell} \|$", GUIDE, flags=re.MULTILINE)


def block(language: str, containing: str) -> str:
    """Return the one block of code in the guide that contains a text, without its indent."""
    blocks = re.findall(rf"^( *)```{language}\n(.*?)^ *```", GUIDE, flags=re.MULTILINE | re.DOTALL)
    (found,) = [(indent, text) for indent, text in blocks if containing in text]
    return re.sub(rf"^{found[0]}", "", found[1], flags=re.MULTILINE)


def follow(copy: Path) -> None:
    """Do what the guide says, where a person would type."""
    (template,) = re.findall(r"^ *(cp crates.*)$", GUIDE, flags=re.MULTILINE)
    subprocess.run(template.split(), check=True, cwd=copy)
    for name, below, added in rows():
        path = copy / name
        lines = path.read_text("utf-8").splitlines()
        assert lines.count(below) == 1, f"{name} has not one line {below!r}"
        lines.insert(lines.index(below) + 1, added)
        path.write_text("\n".join(lines) + "\n", "utf-8")
    reference = block("python", "class MyQueue(Law)")
    (copy / "tests" / "references" / "my_queue.py").write_text(reference, "utf-8")


@pytest.fixture(scope="module")
def followed() -> Path:
    """A copy of the sources in which the guide was followed."""
    if not shutil.which("cargo"):
        pytest.skip("nothing is built without cargo; see https://rustup.rs")
    COPY.mkdir(parents=True, exist_ok=True)
    for name in ("Cargo.toml", "Cargo.lock", "rustfmt.toml"):
        shutil.copy2(ROOT / name, COPY)
    for name in ("crates", "tests"):
        shutil.rmtree(COPY / name, ignore_errors=True)
        shutil.copytree(ROOT / name, COPY / name, ignore=shutil.ignore_patterns("__pycache__"))
    follow(COPY)
    return COPY


def cargo(copy: Path, *args: str) -> str:
    """Run cargo in the copy; it builds there, since cargo tells copies of a workspace not apart."""
    done = subprocess.run(
        ["cargo", args[0], "--locked", *args[1:]], capture_output=True, text=True, cwd=copy,
        env=os.environ | {"CARGO_TARGET_DIR": str(copy / "target")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_python_of_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(block("python", "class Ramp(CustomQueue)"), {"__name__": "guide"})
    assert capsys.readouterr().out == "True\n"


def test_the_template_is_formatted_and_its_tests_pass(followed: Path) -> None:
    told = cargo(followed, "test", "-p", "queues", "--lib", "my_queue")
    assert "3 passed" in told
    rustfmt = ["rustfmt", "--check", "--edition", "2024", "crates/queues/src/my_queue.rs"]
    subprocess.run(rustfmt, check=True, cwd=followed)


@pytest.mark.nightly
def test_the_template_decides_as_its_reference_and_has_no_warning(followed: Path) -> None:
    cargo(followed, "clippy", "-p", "queues", "--all-targets", "--", "-D", "warnings")
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", "."]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "tests/test_queues.py", "-k", "my"],
        capture_output=True, text=True, cwd=followed,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b2 passed", done.stdout), done.stdout
