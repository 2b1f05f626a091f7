"""`aqmlab examples`: the example files of the package, copied into a folder."""

import re
from pathlib import Path
from typing import Annotated

import typer

from aqmlab.command.options import ForceOption
from aqmlab.command.terminal import print_text

EXAMPLES = ("aqmlab examples my-examples", "aqmlab examples my-examples --force")
FILES = Path(__file__).parents[1] / "data" / "examples"
"""Folder of the package with the example files."""


def examples_command(
    folder: Annotated[
        Path,
        typer.Argument(help="Folder to create.", metavar="DIR", show_default="examples"),
    ] = Path("examples"),
    force: ForceOption = False,
) -> None:
    """Write the example scenarios, experiments and Python programs into a folder.

    The first comment of each file describes the file and has a command that uses it.
    """
    import shutil

    from aqmlab.folder import appearing

    with appearing(folder, "aqmlab examples", force=force) as new:
        shutil.copytree(FILES, new, dirs_exist_ok=True)
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".toml", ".py"))
    for path in files:
        print_text(f"{path}: {_title(path)}")
    print_text(f"\n{len(files)} files. Next: aqmlab run {folder / 'two_flows.toml'}")


def _title(path: Path) -> str:
    """Return the first sentence of a file, from its first comment or its docstring."""
    text = path.read_text("utf-8").lstrip('# "')
    paragraph = " ".join(line.strip("# ") for line in text.partition("\n\n")[0].splitlines())
    return re.split(r'(?<=[.?])\s|"""|:? {2,}', paragraph)[0].rstrip(".")
