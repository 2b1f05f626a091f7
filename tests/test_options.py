"""Tests of the help of every command, and of the options that several commands share."""

import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from aqmlab import studies
from aqmlab._generate import options_page
from aqmlab.command import execute
from aqmlab.command.app import app
from aqmlab.command.help import plain, summary
from aqmlab.command.options import RENAMED, VOCABULARY
from aqmlab.command.vocabulary import commands, options_of

EVERY = dict(commands())
WIDTHS = (60, 80, 120)
TYPES = {
    "--out": Path, "--store": Path, "--plot": Path, "--set": str, "--seed": str, "--engine": str,
    "--replications": str, "--jobs": str, "--warm-up": str, "--force": bool, "--resume": bool,
    "--warnings": bool,
}  # fmt: skip
SLOW = (
    "aqmlab bench", "aqmlab calibrate", "aqmlab doctor --build-kernel", "aqmlab page",
    "aqmlab reproduce", "aqmlab responses",
    "aqmlab script tests/scripts --set", "aqmlab tune-red", "aqmlab traffic",
)  # fmt: skip
"""Beginnings of example commands that are slow or do not end, which the tests only parse."""


def help_of(args: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert execute([*args, "--help"]) == 0
    return capsys.readouterr().out


def flat(text: str) -> str:
    return " ".join(text.split())


def joined(text: str) -> str:
    """Return a text without white space, because the help also breaks lines after hyphens."""
    return "".join(text.split())


@pytest.mark.parametrize("option", VOCABULARY.values(), ids=lambda option: option.name)
def test_an_option_is_the_same_in_every_command(option: Any) -> None:
    owners = {name: options_of(c)[option.name] for name, c in EVERY.items()
              if option.name in options_of(c)}  # fmt: skip
    assert len(owners) > 1, "an option in the shared vocabulary must belong to several commands"
    for name, parameter in owners.items():
        assert parameter.help == option.meaning, name
        assert (parameter.metavar or "") == option.metavar, name
        annotation = str(parameter.type_descriptor.annotation)
        assert TYPES[option.name].__name__ in annotation, name
        assert parameter.show_default == option.default or not option.default, name
        assert isinstance(parameter.show_default, str), f"{name}: the help has no default"
        assert parameter.multiple == (option.name == "--set"), name


def test_no_command_redefines_a_shared_option() -> None:
    for name, command in EVERY.items():
        for option in options_of(command).values():
            for spelling in option.opts:
                if spelling in VOCABULARY:
                    assert option.help == VOCABULARY[spelling].meaning, (name, spelling)


def test_the_table_of_options_is_current() -> None:
    page = Path("docs/reference/options.md").read_text("utf-8")
    assert page == options_page(), "run python -m aqmlab._generate"


@pytest.mark.parametrize("width", WIDTHS)
def test_help_has_whole_sentences_at_any_width(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    text = help_of([], capsys)
    for group in ("Run and compare", "Study", "TCP and traffic", "Model and tune", "Look up",
                  "Develop"):  # fmt: skip
        assert f"\n{group}:\n" in text
    words = flat(text)
    for name, command in EVERY.items():
        sentence = summary(command)
        assert sentence.endswith("."), name
        if " " not in name:
            assert f"{name} {sentence}" in words
    for name, command in EVERY.items():
        text = help_of(name.split(), capsys)
        assert "…" not in text, name
        for option in options_of(command).values():
            assert joined(option.help) in joined(text), (name, option.opts)


def test_the_help_of_an_option_is_a_sentence() -> None:
    for name, command in EVERY.items():
        for parameter in command.params:
            if getattr(parameter, "hidden", False):
                continue
            assert parameter.help, (name, parameter.name)
            assert plain(parameter.help).endswith("."), (name, parameter.help)
            assert parameter.help[0].isupper() or parameter.help[0].islower(), name


@pytest.mark.parametrize("name", EVERY)
def test_every_command_has_two_examples_that_parse(name: str) -> None:
    command = EVERY[name]
    examples = command.epilog.splitlines()
    assert len(examples) == 2
    root = typer.main.get_command(app)
    for example in examples:
        words = words_of(example)
        assert words[0] == "aqmlab"
        assert " ".join(words[1:]).startswith(name)
        count = len(name.split())
        parent = root.make_context("aqmlab", words[1:], resilient_parsing=True)
        context = command.make_context(name, words[1 + count :], parent=parent)
        assert not context.args


def words_of(example: str) -> list[str]:
    """Split a command line into words as a shell does, and omit a redirection of the output."""
    return shlex.split(example.partition(" > ")[0])


def test_the_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All examples of the help run in one folder, so that an example can use earlier output."""
    for folder in ("examples", "tests"):
        (tmp_path / folder).symlink_to(Path(folder).resolve())
    monkeypatch.chdir(tmp_path)
    every = [example for command in EVERY.values() for example in command.epilog.splitlines()]
    executed = [example for example in every if not example.startswith(SLOW)]
    assert len(executed) > len(every) / 2
    first = "aqmlab sweep examples/experiments/queue_size.toml --replications 2"
    for example in sorted(executed, key=lambda example: example != first):
        args = words_of(example)[1:]
        if "results/red_loads" in args:  # a reader of this example has made this run before
            record = "record.series=['delays', 'waits', 'queue']"
            run = ["run", "examples/red_loads.toml", "--set", "duration='10 s'", "--set", record]
            assert execute([*run, "--out", "results/red_loads"]) == 0
        if "results/store" in args:
            run = ["run", "examples/two_flows.toml", "--store", "results/store"]
            assert execute(run) == 0
        assert execute(args) == 0, (example, capsys.readouterr().err)
    assert Path("goodput.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("command", "option"), RENAMED)
def test_an_old_spelling_is_an_error_with_the_new_one(
    command: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, example = RENAMED[command, option]
    value = [] if option == "--reply" else ["x=1"]
    assert execute([*command.split(), option, *value]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"{option} of aqmlab {command} is now {name}; write for example: {example}" in error
    assert option not in options_of(EVERY[command])
    assert name in options_of(EVERY[command])


def test_the_help_of_quick_names_the_studies_without_a_quick_form() -> None:
    text = options_of(EVERY["reproduce"])["--quick"].help
    for name in studies.names():
        study = studies.load(name)
        assert (f"{name} does not support --quick, because" in text) == (study.quick is None)
        decides = study.quick is not None and study.quick.claims
        assert (f"except for the study {name}" in text) == decides
        if study.quick:
            assert study.quick.replications in (2, 3)
            assert study.quick.seconds <= 60
            assert f"{study.quick.seconds} s of processor time" in study.quick.shown
