"""Test of docs/first-answers.md: each command prints the lines that the page quotes."""

import re
import shlex
from pathlib import Path

import pytest

from aqmlab.command import execute
from conftest import ROOT

PAGE = (ROOT / "docs" / "first-answers.md").read_text("utf-8")
ANSWERS = {
    question: (
        commands.replace("\\\n", "").splitlines(),
        " ".join(line.removeprefix("> ") for line in (quoted or table).splitlines()),
    )
    for question, commands, quoted, table in re.findall(
        r"## ([^\n]*)\n\n```sh\n(.*?)```\n\n(?:((?:>[^\n]*\n)+)|```text\n(.*?)```)", PAGE, re.DOTALL
    )
}
"""Commands and quoted lines, by question."""
CHEAP = ("How does my own queue compare?", "What does a queue look like, with Reno beside CUBIC?")


def test_every_question_has_commands_and_an_answer() -> None:
    assert len(ANSWERS) == PAGE.count("\n## ") == 8
    assert ANSWERS.keys() > set(CHEAP)


@pytest.mark.parametrize(
    "question",
    [q if q in CHEAP else pytest.param(q, marks=pytest.mark.nightly) for q in ANSWERS],
)
def test_the_commands_print_the_quoted_lines(
    question: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    commands, quoted = ANSWERS[question]
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for command in commands:
        assert execute(shlex.split(command)[1:]) == 0, capsys.readouterr().err
    printed = " ".join(capsys.readouterr().out.split())
    for sentence in re.split(r"(?<=\.) (?=Compared)", " ".join(quoted.split())):
        assert sentence in printed
