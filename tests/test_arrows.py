"""Tests that imports between the parts of the package obey the contracts in pyproject.toml."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

PACKAGE = ROOT / "python" / "aqmlab"
LINT = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the imports of the package in a folder by the contracts of the project."""
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = [str(folder / "python"), *filter(None, inherited)]
    return subprocess.run(
        [sys.executable, "-c", LINT], capture_output=True, text=True, cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    )  # fmt: skip


def test_each_part_imports_only_the_parts_that_its_contract_allows() -> None:
    process = lint(ROOT)
    assert process.returncode == 0, process.stdout + process.stderr
    assert "2 kept, 0 broken" in process.stdout


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("engine/simulator.py", "from aqmlab.store import FolderStore"),
        ("store/folder_store.py", "from aqmlab.experiment import run"),
        ("measures/measured_run.py", "from aqmlab.comparison import compare"),
        ("comparison/show.py", "from aqmlab import studies"),
        ("models/bursts.py", "from aqmlab.experiment import run"),
        ("report.py", "def f(): from aqmlab.comparison.show import show"),
        ("studies/framework/study.py", "from aqmlab.studies import ecn_finite_transfers"),
        ("studies/another/__init__.py", "from aqmlab.studies.ecn_finite_transfers import epochs"),
        ("new_room.py", ""),
    ],
)
def test_the_contracts_report_a_forbidden_import(file: str, line: str, tmp_path: Path) -> None:
    shutil.copy2(ROOT / "pyproject.toml", tmp_path)
    ignored = shutil.ignore_patterns("__pycache__", "_core*")
    shutil.copytree(PACKAGE, tmp_path / "python" / "aqmlab", ignore=ignored)
    path = tmp_path / "python" / "aqmlab" / file
    path.parent.mkdir(exist_ok=True)
    path.write_text((path.read_text("utf-8") if path.exists() else "") + f"\n{line}\n", "utf-8")
    process = lint(tmp_path)
    assert process.returncode != 0, process.stdout
    assert file.removesuffix(".py").removesuffix("/__init__").replace("/", ".") in process.stdout


def test_no_part_imports_from_the_package_itself() -> None:
    """The import contracts cannot detect `from aqmlab import run`, which imports every part."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "aqmlab":
                for name in (alias.name for alias in node.names):
                    is_part = (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").exists()
                    of_command = "command" in path.parts and name == "__version__"
                    assert is_part or name == "_core" or of_command, f"{path}: {name}"
