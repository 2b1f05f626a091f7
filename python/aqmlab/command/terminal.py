"""What a command tells: on standard output what was asked for, on stderr what went wrong."""

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
    """Ctrl-C or another signal to end, with what is left."""


@contextmanager
def resumable(kept: "FolderStore") -> Iterator[None]:
    """Tell of an interruption that the runs are kept, if any are."""
    try:
        yield
    except KeyboardInterrupt:
        if not kept.finished:
            raise
        told = f"{kept.finished} finished runs are in {kept.folder} and will be used"
        raise Interrupted(told) from None


def console() -> "Console":
    """Return what tables are printed on."""
    from rich.console import Console

    # A file or a pipe has no width that a table should be cut to.
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=160)


def say(text: str) -> None:
    """Print a text, its control characters spelled out."""
    typer.echo("\n".join(map(visible, text.split("\n"))))


def warn(texts: list[str]) -> None:
    """Tell on stderr what is legal and probably not meant."""
    with suppress(OSError):
        for text in texts:
            typer.echo(f"warning: {visible(text)}", err=True)


def complain(message: str, code: int) -> int:
    """Tell in one line on stderr what is wrong; return the exit code."""
    told = visible(shortened(" ".join(message.split())))
    with suppress(OSError):
        typer.echo(f"aqmlab: error: {told}", err=True)
    return code


def os_error(e: OSError) -> str:
    """Return what the system refused, and what to do."""
    if e.filename is None and e.errno == errno.ENOENT:
        return "the current folder is gone; change to one that is there"
    if e.filename is None and e.errno in (errno.ENOSPC, errno.EIO, errno.EBADF):
        return f"what is printed cannot be written: {(e.strerror or '').lower()}"
    if e.filename is None or e.strerror is None:
        return str(e)
    if isinstance(e, FileNotFoundError):
        return f"{e.filename}: there is no such file; check the path"
    if isinstance(e, IsADirectoryError):
        return f"{e.filename}: is a folder; give the path of a scenario file"
    return f"{e.filename}: {e.strerror.lower()}; check the path and its permissions"
