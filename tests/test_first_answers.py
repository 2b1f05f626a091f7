"""Test of docs/first-answers.md: each command prints the lines that the page quotes."""

import re
import shlex
from pathlib import Path

import pytest

from aqmlab.command import execute
from conftest import ROOT

PAGE = (ROOT / "docs" / "first-answers.md").read_text("utf-8")
ANSWERS = [
    (commands.splitlines(), " ".join(line.removeprefix("> ") for line in quoted.splitlines()))
    for commands, quoted in re.findall(
        r"```sh\n(.*?)```\n((?:\n>[^\n]*(?:\n>[^\n]*)*)?)", PAGE, re.DOTALL
    )
]


def test_every_question_has_commands_and_most_have_an_answer() -> None:
    assert len(ANSWERS) == PAGE.count("\n## ") == 7
    assert [bool(quoted.strip()) for _, quoted in ANSWERS] == [True] * 6 + [False]


@pytest.mark.parametrize(
    "number",
    [n if n == 4 else pytest.param(n, marks=pytest.mark.nightly) for n in range(7)],
)
def test_the_commands_print_the_quoted_lines(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands, quoted = ANSWERS[number]
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for command in commands:
        assert execute(shlex.split(command)[1:]) == 0, capsys.readouterr().err
    printed = " ".join(capsys.readouterr().out.split())
    for sentence in re.split(r"(?<=\.) (?=Compared)", " ".join(quoted.split())):
        assert sentence in printed
