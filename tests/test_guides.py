"""The guides that add something are right: their steps, followed in a copy of the sources, work."""

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

QUEUE, CONTROL, APPLICATION, IMPAIRMENT, SERIES, STUDY, ENGINE = (
    (ROOT / "docs" / "how-to" / f"add-{name}.md").read_text("utf-8")
    for name in (
        "a-queue",
        "a-congestion-control",
        "an-application",
        "an-impairment",
        "a-series",
        "a-study",
        "an-engine",
    )
)
COPY = ROOT / "target" / "guide"
"""Always the same place, so that little is built again."""
QUICK = {"CARGO_PROFILE_DEV_OPT_LEVEL": "0", "CARGO_PROFILE_DEV_DEBUG": "0"}
"""These tests are few, and it is building them that takes long."""


def rows(guide: str) -> list[tuple[str, str, str]]:
    """Return file, line and added line of each row of a guide's tables."""
    cell = r"`([^`]+)`"
    return re.findall(rf"^ *\| {cell} \| {cell} \| {cell} \|$", guide, flags=re.MULTILINE)


def block(language: str, containing: str, guide: str = QUEUE) -> str:
    """Return the block of code in a guide that contains a text, without its indent."""
    blocks = re.findall(rf"^( *)```{language}\n(.*?)^ *```", guide, flags=re.MULTILINE | re.DOTALL)
    (found,) = [(indent, text) for indent, text in blocks if containing in text]
    return re.sub(rf"^{found[0]}", "", found[1], flags=re.MULTILINE)


def follow(guide: str, copy: Path) -> None:
    """Do what a guide says, where a person would type."""
    (template,) = re.findall(r"^ *(cp crates.*)$", guide, flags=re.MULTILINE)
    subprocess.run(template.split(), check=True, cwd=copy)
    add_lines(guide, copy)


def add_lines(guide: str, copy: Path) -> None:
    """Add the lines of a guide's tables."""
    for name, below, added in rows(guide):
        path = copy / name
        lines = path.read_text("utf-8").splitlines()
        assert lines.count(below) == 1, f"{name} has not one line {below!r}"
        lines.insert(lines.index(below) + 1, added)
        path.write_text("\n".join(lines) + "\n", "utf-8")


@pytest.fixture(scope="module")
def followed() -> Path:
    """A copy of the sources in which the guides were followed."""
    if not shutil.which("cargo"):
        pytest.skip("nothing is built without cargo; see https://rustup.rs")
    COPY.mkdir(parents=True, exist_ok=True)
    for name in ("Cargo.toml", "Cargo.lock", "rustfmt.toml"):
        shutil.copy2(ROOT / name, COPY)
    for name in ("benches", "crates", "tests"):
        shutil.rmtree(COPY / name, ignore_errors=True)
        shutil.copytree(ROOT / name, COPY / name, ignore=shutil.ignore_patterns("__pycache__"))
    follow(QUEUE, COPY)
    follow(CONTROL, COPY)
    follow(APPLICATION, COPY)
    follow(IMPAIRMENT, COPY)
    follow(SERIES, COPY)
    reference = block("python", "class MyQueue(Aqm)")
    (COPY / "tests" / "references" / "my_queue.py").write_text(reference, "utf-8")
    return COPY


def cargo(copy: Path, *args: str) -> str:
    """Run cargo in the copy; it builds there, since cargo tells copies of a workspace not apart."""
    done = subprocess.run(
        ["cargo", args[0], "--locked", *args[1:]], capture_output=True, text=True, cwd=copy,
        env=os.environ | {"CARGO_TARGET_DIR": str(copy / "target")} | QUICK,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_python_of_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(block("python", "class Ramp(CustomQueue)"), {"__name__": "guide"})
    assert capsys.readouterr().out == "True\n"


def test_the_engine_of_the_guide_computes_the_sawtooth(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A path of 42 ms at 1.5 Mbit/s holds 5.25 packets; 1460 of 1500 bytes are data."""
    exec(block("python", "class Sawtooth", ENGINE), {"__name__": "guide"})
    shares = [min(1.0, limit / 5.25) for limit in (2, 4, 8)]
    busy = [0.75 * (1 + b) ** 2 / (1 + b + b * b) for b in shares]
    assert capsys.readouterr().out == f"{[round(x * 750 * 1460 / 1500) + 0.0 for x in busy]}\n"


def test_a_study_is_a_folder_and_a_line(tmp_path: Path) -> None:
    """Its numbers are reproduced, it is explained, and every contract and check still holds."""
    package = tmp_path / "python" / "aqmlab"
    shutil.copytree(
        ROOT / "python" / "aqmlab", package, ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy2(ROOT / "pyproject.toml", tmp_path)
    named = r"\*\*`([\w./]+)`\*\*.*?^ *```\w+\n( *)(.*?)^ *```"
    files = re.findall(named, STUDY, flags=re.MULTILINE | re.DOTALL)
    assert len(files) == 6
    for name, indent, text in files:
        path = package / "studies" / "my_study" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(f"\n{indent}", "\n"), "utf-8")
    assert len(rows(STUDY)) == 1
    add_lines(STUDY, tmp_path)

    def run(*command: str) -> str:
        paths = [str(tmp_path / "python"), os.environ.get("PYTHONPATH", "")]
        done = subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    told = run("-m", "aqmlab", "reproduce", "my-study", "--replications", "5")
    assert "Claims: 1 of 1 measured claims reproduced" in told
    with (tmp_path / "results" / "my-study" / "cells.csv").open(encoding="utf-8") as file:
        cells = list(csv.DictReader(file))
    assert [cell["verdict"] for cell in cells] == ["reproduced"] * 2
    assert run("-m", "aqmlab", "explain", "my-study").startswith("# The wait in an M/D/1 queue")
    run("-m", "ruff", "check", "python/aqmlab/studies")
    run("-m", "ruff", "format", "--check", "python/aqmlab/studies")
    lint = (
        "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    )
    run("-c", lint)


def test_the_templates_are_formatted_and_their_tests_pass(followed: Path) -> None:
    packages = [
        word for name in ("queues", "tcp", "traffic", "impairments", "lab") for word in ("-p", name)
    ]
    told = cargo(followed, "test", *packages, "--lib", "my_")
    assert [told.count(passed) for passed in ("3 passed", "2 passed")] == [3, 2], told
    files = [
        "crates/queues/src/my_queue.rs",
        "crates/tcp/src/congestion/my_control.rs",
        "crates/traffic/src/my_application.rs",
        "crates/impairments/src/kinds/my_impairment.rs",
        "crates/lab/src/series/my_series.rs",
    ]
    subprocess.run(["rustfmt", "--check", "--edition", "2024", *files], check=True, cwd=followed)


def test_a_congestion_control_is_in_one_table(followed: Path) -> None:
    """A control is a file and two lines; the tests of the table are its tests too."""
    lines = [name for name, _, _ in rows(CONTROL)]
    assert lines == ["crates/tcp/src/congestion/mod.rs", "crates/tcp/src/congestion/table.rs"]
    told = cargo(followed, "test", "-p", "tcp", "--lib", "congestion::table")
    assert "0 failed" in told


def test_an_application_is_in_one_table() -> None:
    """An application is a file and two lines."""
    assert [name for name, _, _ in rows(APPLICATION)] == ["crates/traffic/src/lib.rs"] * 2


def test_an_impairment_is_in_one_table(followed: Path) -> None:
    """An impairment is a file and a line; the test of every kind tries it."""
    assert [name for name, _, _ in rows(IMPAIRMENT)] == ["crates/impairments/src/kinds.rs"]
    passed = cargo(followed, "test", "-p", "impairments", "--test", "every_kind")
    assert "1 passed" in passed


def test_a_series_is_in_one_table() -> None:
    """A series is a file and two lines."""
    assert [name for name, _, _ in rows(SERIES)] == ["crates/lab/src/series/mod.rs"] * 2


@pytest.mark.nightly
def test_the_queue_decides_as_its_reference_and_no_template_has_a_warning(followed: Path) -> None:
    packages = ["-p", "queues", "-p", "tcp", "-p", "traffic", "-p", "impairments", "-p", "lab"]
    cargo(followed, "clippy", *packages, "--all-targets", "--", "-D", "warnings")
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", "."]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "tests/test_queues.py", "-k", "my"],
        capture_output=True, text=True, cwd=followed,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b2 passed", done.stdout), done.stdout
