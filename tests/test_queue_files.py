"""Tests of queues written in Python that `aqmlab compare` loads from a file."""

from pathlib import Path

import pytest

from aqmlab.command import execute
from aqmlab.comparison import compare
from aqmlab.comparison.queues import arm
from aqmlab.custom import CustomQueue

FILE = """
from __future__ import annotations
from dataclasses import dataclass
import aqmlab
import helper


class Step(aqmlab.CustomQueue):
    def __init__(self, limit: int = 5) -> None:
        super().__init__()
        self.limit = limit

    def on_arrival(self, packet, at):
        return aqmlab.signal("threshold") if at.packets > self.limit else helper.PASS


@dataclass
class Short(Step):
    limit: int = 2


class Arguments(Step):
    def __init__(self, low, high):
        super().__init__(high)


class Fails(Step):
    def __init__(self):
        self.value = [][1]


class Late(Step):
    def on_arrival(self, packet, at):
        return {}["late"]


class Wrong(Step):
    def on_arrival(self, packet, at):
        return True


class Other:
    pass


number = 3
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of a file with queues, which imports another file of its folder."""
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("folder/helper.py").write_text("from aqmlab import PASS\n")
    path = Path("folder/my_queue.py")
    path.write_text(FILE)
    return path


def test_a_class_of_a_file_is_a_queue_of_a_comparison(file: Path) -> None:
    queue = arm(f"{file}:Step")
    assert isinstance(queue.custom, CustomQueue)
    assert (queue.label, queue.queue) == ("Step", f"{file}:Step")
    named = arm(f"short={file}:Short")
    assert named.label == "short"
    assert vars(named.custom)["limit"] == 2


def test_a_comparison_runs_the_queues_of_a_file(file: Path, scenario: Path) -> None:
    queues = [f"{file}:Step", "threshold:threshold=5 packets", f"{file}:Short"]
    step, rust, short = (runs[0].measures for runs in compare(queues, scenario, 1).runs)
    assert step == pytest.approx(rust, nan_ok=True, rel=0)
    assert step["mean_delay_s"] != short["mean_delay_s"]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (":Arguments", "missing 2 required positional arguments: 'low' and 'high'; give each"),
        (":Fails", "folder/my_queue.py: line 29: IndexError: list index out of range"),
        (":Other", "class 'Other' is not derived from aqmlab.CustomQueue; known: Step, Short,"),
        (":number", "class 'number' is not derived from aqmlab.CustomQueue"),
        (":Absent", "class 'Absent' does not exist; known: Step"),
        (":", "names no class; write FILE:CLASS"),
        ("", "names no class; write FILE:CLASS"),
        (":Late", "folder/my_queue.py: line 34: KeyError: 'late'; in Late on_arrival: simulated"),
        (":Wrong", "TypeError: on_arrival returned True; return PASS, signal(why) or drop(why)"),
    ],
)
def test_a_wrong_class_is_an_error_of_one_line(
    name: str, problem: str, file: Path, scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ["compare", f"{file}{name}", "--scenario", str(scenario), "--replications", "1"]
    assert execute(args) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1
    assert not Path("results/compare/report.html").exists()


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (b"1/0", "queue.py: line 1: ZeroDivisionError: division by zero"),
        (b"\n\ndef (", "queue.py: line 3: invalid syntax; write valid Python"),
        (b"import sys\nsys.exit(3)", "queue.py: line 2: SystemExit: 3"),
        (b"import absent_module", "queue.py: line 1: ModuleNotFoundError: No module named"),
        (b"a\0b", "null bytes"),
        (b"# \xff", "queue.py: "),
        (b"raise KeyError", "queue.py: line 1: KeyError"),
        (b"", "class 'Queue' does not exist; define it in the file"),
        (None, "queue.py: the file does not exist; check the path"),
    ],
)
def test_a_wrong_file_is_an_error_of_one_line(
    source: bytes | None, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "queue.py"
    if source is not None:
        path.write_bytes(source)
    assert execute(["compare", f"{path}:Queue", "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1


def test_a_folder_and_a_queue_of_tc_are_refused(
    tmp_path: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder.py").mkdir()
    assert execute(["compare", "folder.py:Queue"]) == 2
    assert "folder.py: is not a file" in capsys.readouterr().err
    assert execute(["tc", f"{file}:Step"]) == 2
    assert "is written in Python" in capsys.readouterr().err
