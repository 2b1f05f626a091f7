"""Tests of the completion of commands and names in a shell."""

import subprocess
import sys

import pytest

from aqmlab import ready, studies
from aqmlab.command import execute


def completed(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    """Return the words that bash offers at the end of a line."""
    monkeypatch.setenv("_AQMLAB_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    with pytest.raises(SystemExit) as ended:
        execute([])
    assert ended.value.code == 0
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("aqmlab comp", ["compare"]),
        ("aqmlab run ds", ["dsl"]),
        ("aqmlab run examples/", []),  # the shell completes files
        ("aqmlab compare fq_", ["fq_codel", "fq_pie"]),
        ("aqmlab compare red codel --scenario rfc7928-r", ["rfc7928-rtt"]),
        ("aqmlab plot queue dsl cab", ["cable"]),
        ("aqmlab reproduce rfc", ["rfc2884"]),
        ("aqmlab explain cel", ["cellular"]),
        ("aqmlab list stu", ["studies"]),
        ("aqmlab model compare wif", ["wifi"]),
        ("aqmlab reproduce --fals", ["--falsify"]),
    ],
)
def test_a_shell_completes(
    line: str,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert completed(line, monkeypatch, capsys) == words


def test_a_shell_lists_all_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert completed("aqmlab run ", monkeypatch, capsys) == ready.names()
    assert completed("aqmlab reproduce ", monkeypatch, capsys) == studies.names()


def test_completion_imports_no_large_library() -> None:
    code = """
import os, sys
from aqmlab.command import execute
os.environ |= {"_AQMLAB_COMPLETE": "complete_bash", "COMP_CWORD": "2"}
for line in ("aqmlab compare code", "aqmlab explain minth", "aqmlab reproduce x"):
    os.environ["COMP_WORDS"] = line
    try:
        execute([])
    except SystemExit:
        pass
print(*{"numpy", "pandas", "pyarrow", "scipy", "matplotlib", "jinja2"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["codel"]


def test_show_completion_prints_the_settings_of_the_shell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("typer.completion._get_shell_name", lambda: "bash")
    with pytest.raises(SystemExit) as ended:
        execute(["--show-completion"])
    assert ended.value.code == 0
    assert "_AQMLAB_COMPLETE=complete_bash" in capsys.readouterr().out
