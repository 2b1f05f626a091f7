"""Test of the guides to extensions: their steps are executed in a copy of the sources."""

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aqmlab.command import execute
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
EXTENDED = ("aqmlab-queues", "aqmlab-tcp", "traffic", "impairments", "lab")
"""Packages that the guides extend."""
COPY = ROOT / "target" / "guide" / os.environ.get("PYTEST_XDIST_WORKER", "alone")
"""Folder of the copy of the sources. Each process of pytest has its own copy, at the same path each
time, so that cargo reuses earlier builds."""


def rows(guide: str) -> list[tuple[str, str, str]]:
    """Return each row of a guide's tables: a file, a line of the file, and the line to add."""
    cell = r"`([^`]+)`"
    return re.findall(rf"^ *\| {cell} \| {cell} \| {cell} \|$", guide, flags=re.MULTILINE)


def block(language: str, containing: str, guide: str = QUEUE) -> str:
    """Return the code block of a guide that contains the text `containing`, without indent."""
    blocks = re.findall(rf"^( *)```{language}\n(.*?)^ *```", guide, flags=re.MULTILINE | re.DOTALL)
    (match,) = [(indent, text) for indent, text in blocks if containing in text]
    return re.sub(rf"^{match[0]}", "", match[1], flags=re.MULTILINE)


def follow(guide: str, copy: Path) -> None:
    """Execute the steps of a guide in a copy of the sources."""
    (template,) = re.findall(r"^ *(cp crates.*)$", guide, flags=re.MULTILINE)
    subprocess.run(template.split(), check=True, cwd=copy)
    add_lines(guide, copy)


def add_lines(guide: str, copy: Path) -> None:
    """Insert the lines that a guide's tables prescribe into the files of a copied source tree."""
    for name, below, added in rows(guide):
        path = copy / name
        lines = path.read_text("utf-8").splitlines()
        assert lines.count(below) == 1, f"{name} must have one line {below!r}"
        lines.insert(lines.index(below) + 1, added)
        path.write_text("\n".join(lines) + "\n", "utf-8")


@pytest.fixture(scope="module")
def extended_sources() -> Path:
    """Return a copy of the source tree to which the steps of all how-to guides were applied."""
    if not shutil.which("cargo"):
        pytest.skip("these tests need cargo; see https://rustup.rs")
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
    """Run cargo in the copy of the sources, with the libraries that the Rust tests have built."""
    process = subprocess.run(
        ["cargo", args[0], "--locked", *args[1:]], capture_output=True, text=True, cwd=copy,
        env=os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target")},
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_the_python_code_of_the_guide_to_queues_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(block("python", "class Ramp(CustomQueue)"), {"__name__": "guide"})
    assert capsys.readouterr().out == "True\n"


def test_the_engine_of_the_guide_computes_the_goodput_of_a_sawtooth(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """At 42 ms and 1.5 Mbit/s, the path has 5.25 packets of 1500 B, each with 1460 B of data."""
    exec(block("python", "class Sawtooth", ENGINE), {"__name__": "guide"})
    shares = [min(1.0, limit / 5.25) for limit in (2, 4, 8)]
    busy = [0.75 * (1 + b) ** 2 / (1 + b + b * b) for b in shares]
    assert capsys.readouterr().out == f"{[round(x * 750 * 1460 / 1500) + 0.0 for x in busy]}\n"


def test_the_study_of_the_guide_runs_and_passes_all_checks(tmp_path: Path) -> None:
    """The study of the guide passes all checks: run, `aqmlab explain`, ruff, import contracts."""
    package = tmp_path / "python" / "aqmlab"
    shutil.copytree(
        ROOT / "python" / "aqmlab", package, ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy2(ROOT / "pyproject.toml", tmp_path)
    assert execute(["new", "study", str(package / "studies" / "my_study")]) == 0
    assert len(list((package / "studies" / "my_study").rglob("*.*"))) == 6
    assert len(rows(STUDY)) == 1
    add_lines(STUDY, tmp_path)

    def run(*command: str) -> str:
        paths = [str(tmp_path / "python"), os.environ.get("PYTHONPATH", "")]
        process = subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        )  # fmt: skip
        assert process.returncode == 0, process.stdout + process.stderr
        return process.stdout

    printed = run("-m", "aqmlab", "reproduce", "my-study", "--replications", "5")
    assert "Claims: 1 of 1 measured claims reproduced" in printed
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


def test_the_templates_are_formatted(extended_sources: Path) -> None:
    files = [
        "crates/queues/src/my_queue.rs",
        "crates/tcp/src/congestion/my_control.rs",
        "crates/traffic/src/my_application.rs",
        "crates/impairments/src/kinds/my_impairment.rs",
        "crates/lab/src/series/my_series.rs",
    ]
    subprocess.run(
        ["rustfmt", "--check", "--edition", "2024", *files], check=True, cwd=extended_sources
    )


def test_a_congestion_control_is_a_file_and_two_lines() -> None:
    """A new congestion control needs its own file and one line in each of two files."""
    lines = [name for name, _, _ in rows(CONTROL)]
    assert lines == ["crates/tcp/src/congestion/mod.rs", "crates/tcp/src/congestion/table.rs"]


def test_an_application_is_a_file_and_two_lines() -> None:
    """A new application needs its own file and two lines in another file."""
    assert [name for name, _, _ in rows(APPLICATION)] == ["crates/traffic/src/lib.rs"] * 2


def test_an_impairment_is_a_file_and_one_line(extended_sources: Path) -> None:
    """A new impairment needs one file and one line; the test `every_kind` includes it."""
    assert [name for name, _, _ in rows(IMPAIRMENT)] == ["crates/impairments/src/kinds.rs"]
    passed = cargo(extended_sources, "test", "-p", "impairments", "--test", "every_kind")
    assert "1 passed" in passed


def test_a_series_is_a_file_and_two_lines() -> None:
    """A new series needs its own file and two lines in another file."""
    assert [name for name, _, _ in rows(SERIES)] == ["crates/lab/src/series/mod.rs"] * 2


@pytest.mark.nightly
def test_the_tests_of_the_templates_pass(extended_sources: Path) -> None:
    packages = [word for name in EXTENDED for word in ("-p", name)]
    printed = cargo(extended_sources, "test", *packages, "--lib", "my_")
    assert [printed.count(passed) for passed in ("3 passed", "2 passed")] == [3, 2], printed


@pytest.mark.nightly
def test_the_tests_of_all_congestion_controls_include_the_new_one(extended_sources: Path) -> None:
    printed = cargo(extended_sources, "test", "-p", "aqmlab-tcp", "--lib", "congestion::table")
    assert "0 failed" in printed


@pytest.mark.nightly
def test_the_queue_of_the_guide_equals_its_reference_and_clippy_has_no_warning(
    extended_sources: Path,
) -> None:
    packages = [word for name in EXTENDED for word in ("-p", name)]
    cargo(extended_sources, "clippy", *packages, "--all-targets", "--", "-D", "warnings")
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", "."]
    files = ["tests/test_queues.py", "tests/test_reasons.py"]
    process = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files, "-k", "my"],
        capture_output=True, text=True, cwd=extended_sources,
    )  # fmt: skip
    assert process.returncode == 0, process.stdout + process.stderr
    assert re.search(r"\b3 passed", process.stdout), process.stdout
