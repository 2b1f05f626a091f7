"""Output of the commands: results on standard output, warnings and errors on stderr."""

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import typer

from aqmlab.words import shortened, visible

if TYPE_CHECKING:
    from rich.console import Console

    from aqmlab.store import FolderStore


class Interrupted(Exception):  # noqa: N818
    """An interruption by Ctrl-C or another signal; the message names the files that remain."""


@contextmanager
def resumable(runs: "FolderStore", option: str = "") -> Iterator[None]:
    """Report, on an interruption, the finished runs that the next call will use.

    Parameters
    ----------
    runs : FolderStore
        The store of the finished runs.
    option : str
        The option that the next call needs to use them; "" for none.
    """
    try:
        yield
    except KeyboardInterrupt:
        if not runs.finished:
            raise
        use = f"{option} uses them" if option else "the next call uses them"
        raise Interrupted(f"{runs.finished} finished runs are in {runs.folder}; {use}") from None


def console() -> "Console":
    """Return the console that tables are printed on."""
    from rich.console import Console

    # A file or a pipe has no width, so a table is printed in full.
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=160)


def say(text: str) -> None:
    """Print a text, with its control characters spelled out."""
    typer.echo("\n".join(map(visible, text.split("\n"))))


def warn(texts: list[str]) -> None:
    """Print warnings on stderr, one line each."""
    with suppress(OSError):
        for text in texts:
            typer.echo(f"warning: {visible(text)}", err=True)


def complain(message: str, code: int) -> int:
    """Print an error on stderr, in one line; return the exit code."""
    line = visible(shortened(" ".join(message.split())))
    with suppress(OSError):
        typer.echo(f"aqmlab: error: {line}", err=True)
    return code


def os_error(e: OSError) -> str:
    """Return the error message for a refusal of the operating system, with its remedy."""
    if e.filename is None and e.errno == errno.ENOENT:
        return "the current folder does not exist any more; change to another one"
    if e.filename is None and e.errno in (errno.ENOSPC, errno.EIO, errno.EBADF):
        return f"standard output cannot be written: {(e.strerror or '').lower()}"
    if e.filename is None or e.strerror is None:
        return str(e)
    if isinstance(e, FileNotFoundError):
        return f"{e.filename}: there is no such file; check the path"
    if isinstance(e, IsADirectoryError):
        return f"{e.filename}: is a folder; give the path of a scenario file"
    return f"{e.filename}: {e.strerror.lower()}; check the path and its permissions"
