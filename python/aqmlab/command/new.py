"""`aqmlab new`: a commented start of a scenario, an experiment, a queue or a study."""

import re
import shlex
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from aqmlab.command.terminal import print_text

EXAMPLES = ("aqmlab new scenario my_scenario.toml", "aqmlab new queue")
TEMPLATES = Path(__file__).parents[1] / "data" / "templates"
"""Folder of the package with the templates. The template of a study is the guide to studies."""
STUDY_FILE = re.compile(r"\*\*`([\w./]+)`\*\*.*?^ *```\w+\n( *)(.*?)^ *```", re.M | re.S)
"""Name, indent and text of a file in the guide to studies."""
STUDY_NAME = re.compile(r"[a-z][a-z0-9_]*")
PLAIN_PATH = re.compile(r"[\w./-]+")
"""Pattern of a path that a template can contain in a comment without quotes."""


class Kind(StrEnum):
    """Kinds of files that the command writes."""

    SCENARIO = "scenario"
    EXPERIMENT = "experiment"
    QUEUE = "queue"
    STUDY = "study"


def new_command(
    kind: Annotated[Kind, typer.Argument(help="Kind of the file to write.", show_choices=True)],
    path: Annotated[
        Path | None,
        typer.Argument(
            help="File to create, or folder to create for a study.",
            metavar="FILE",
            show_default="scenario.toml, experiment.toml, my_queue.py or my_study",
        ),
    ] = None,
) -> None:
    """Write a commented start of a scenario, an experiment, a queue in Python, or a study.

    The command refuses to overwrite a file. It prints the command that uses the new file.
    """
    for line in MAKERS[kind](path):
        print_text(line)


def _scenario(path: Path | None) -> list[str]:
    """Write a scenario, and return the text to print."""
    return _write(path or Path("scenario.toml"), "scenario.toml", "aqmlab run")


def _experiment(path: Path | None) -> list[str]:
    """Write an experiment, and return the text to print."""
    return _write(path or Path("experiment.toml"), "experiment.toml", "aqmlab sweep")


def _queue(path: Path | None) -> list[str]:
    """Write a queue in Python, and return the text to print."""
    return _write(path or Path("my_queue.py"), "queue.py", "python")


def _study(path: Path | None) -> list[str]:
    """Write the folder of a study, and return the text to print.

    Raises
    ------
    ValueError
        If the folder exists, or if its name cannot be the name of a Python module.
    OSError
        If the folder cannot be written.
    """
    folder = path or Path("my_study")
    name = folder.name
    if not STUDY_NAME.fullmatch(name):
        raise ValueError(
            f"{folder}: the name of a study is a Python module, with lower-case letters, digits "
            "and underscores; choose a name such as my_study"
        )
    _check_absent(folder)
    hyphenated = name.replace("_", "-")
    guide = (TEMPLATES / "study.md").read_text("utf-8")
    folder.mkdir()
    for file, indent, text in STUDY_FILE.findall(guide):
        text = text.replace(f"\n{indent}", "\n").replace("my_study", name)
        target = folder / file
        target.parent.mkdir(exist_ok=True)
        target.write_text(text.replace("my-study", hyphenated), "utf-8")
    return [
        f"Written to {folder}",
        "Next: the folder belongs into python/aqmlab/studies of a checkout. Add the line "
        f'"{hyphenated}": "TITLE", to _TITLES in python/aqmlab/studies/__init__.py.',
        f"Then: aqmlab reproduce {hyphenated}",
    ]


def _write(path: Path, template: str, program: str) -> list[str]:
    """Write a template to a new file, and return the text to print.

    Raises
    ------
    ValueError
        If the file exists, or if it has another suffix than the template.
    OSError
        If the file cannot be written.
    """
    suffix = Path(template).suffix
    if path.suffix != suffix:
        raise ValueError(
            f"{path}: the name of the file must end in {suffix}; choose a name such as {template}"
        )
    _check_absent(path)
    text = (TEMPLATES / template).read_text("utf-8")
    if PLAIN_PATH.fullmatch(str(path)):
        text = text.replace("FILE", str(path)).replace("NAME", path.stem)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
    return [f"Written to {path}", f"Next: {program} {shlex.quote(str(path))}"]


def _check_absent(path: Path) -> None:
    """Raise ValueError if a path exists, or if its parent folder does not exist."""
    if path.exists() or path.is_symlink():
        raise ValueError(f"{path} exists; choose another name, or remove it")
    if not path.parent.is_dir():
        raise ValueError(f"{path.parent}: the folder does not exist; create it first")


MAKERS: dict[Kind, Callable[[Path | None], list[str]]] = {
    Kind.SCENARIO: _scenario,
    Kind.EXPERIMENT: _experiment,
    Kind.QUEUE: _queue,
    Kind.STUDY: _study,
}
"""Function that writes each kind of file."""
