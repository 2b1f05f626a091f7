"""Output of the commands: results on standard output, warnings and errors on stderr."""

import errno
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import typer

from aqmlab.words import shortened, visible

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from aqmlab.store import FolderStore


class Interrupted(Exception):  # noqa: N818
    """Interruption by Ctrl-C or another signal; the message states how many runs are stored."""


@contextmanager
def resumable(runs: "FolderStore", option: str = "", sweep: "Path | None" = None) -> Iterator[None]:
    """Report the number of stored runs if a signal interrupts the `with` block.

    Parameters
    ----------
    runs : FolderStore
        Store of the finished runs.
    option : str
        Option with which the next call of the command reuses the stored runs; "" if the next call
        reuses them without an option.
    sweep : pathlib.Path, optional
        Output folder whose partial results `aqmlab results` shows.
    """
    try:
        yield
    except KeyboardInterrupt:
        if not runs.finished:
            raise
        use = (
            f"{option} uses these runs"
            if option
            else "the next call of the command uses these runs"
        )
        show = f"; `aqmlab results {sweep}` shows them" if sweep else ""
        message = f"{runs.finished} finished runs are in {runs.folder}; {use}{show}"
        raise Interrupted(message) from None


def console() -> "Console":
    """Return the console that prints tables."""
    from rich.console import Console

    # A file or a pipe has no width, so tables that are written there are 160 columns wide.
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=160)


def print_text(text: str) -> None:
    """Print a text, with control characters as escape sequences."""
    typer.echo("\n".join(map(visible, text.split("\n"))))


def print_warnings(texts: list[str]) -> None:
    """Print warnings on stderr, one line each."""
    with suppress(OSError):
        for text in texts:
            typer.echo(f"warning: {visible(text)}", err=True)


def print_error(message: str, code: int, quotation: Sequence[str] = ()) -> int:
    """Print an error on stderr in one line, and return the exit code.

    `quotation` is the wrong line of the input and the line of its carets, which follow the error.
    """
    line = visible(shortened(" ".join(message.split())))
    with suppress(OSError):
        typer.echo(f"aqmlab: error: {line}", err=True)
        for quoted in quotation:
            typer.echo(f"    {quoted}", err=True)
    return code


def os_error(e: OSError) -> str:
    """Return the message for an operating system error, including a remedy."""
    if e.filename is None and e.errno == errno.ENOENT:
        return "the current folder was deleted; change to another folder"
    if e.filename is None and e.errno in (errno.ENOSPC, errno.EIO, errno.EBADF):
        return f"standard output cannot be written: {(e.strerror or '').lower()}"
    if e.filename is None or e.strerror is None:
        return str(e)
    if isinstance(e, FileNotFoundError):
        return f"{e.filename}: the file does not exist; check the path"
    if isinstance(e, IsADirectoryError):
        return f"{e.filename}: is a folder; give the path of a file"
    return f"{e.filename}: {e.strerror.lower()}; check the path and its permissions"
