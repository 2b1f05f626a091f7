"""A lock that one process has at a time, and that a dead process no longer has.

The file says whose it is as long as somebody has it. Whoever finds it free and yet with a name in
it knows that the last one did not come to its end.
"""

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

TRIES = 10
PATIENCE_S = 0.02
"""Whoever only looks whether a lock is taken holds it for an instant."""


class Held(FileExistsError):  # noqa: N818
    """Another process has the lock."""


class Lock:
    """A lock that this process has.

    Parameters
    ----------
    path : pathlib.Path
        The file; made if it is not there.

    Attributes
    ----------
    clean : bool
        Whether whoever had it last gave it back.

    Raises
    ------
    Held
        If another process, or another object of this one, has it; says which process.
    FileExistsError
        If the file is somebody else's.
    OSError
        If the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            last = _named(self._file)
            if last and not last.isdecimal():
                raise FileExistsError(f"{path} is in the way and not ours; move it")
            if not _taken(self._file, TRIES):
                raise Held(f"process {_named(self._file) or 'unknown'}")
            self.clean = not _named(self._file)
            os.truncate(self._file, 0)
            os.pwrite(self._file, str(os.getpid()).encode(), 0)
        except BaseException:
            os.close(self._file)
            raise

    def release(self) -> None:
        """Give it back."""
        with suppress(OSError):
            os.truncate(self._file, 0)
        self.abandon()

    def abandon(self) -> None:
        """Leave it as one who did not come to the end."""
        os.close(self._file)


def holder(path: Path) -> str | None:
    """Return the number of the process that has a lock; None: nobody has it."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        return None if _taken(file, 1) else _named(file) or "unknown"
    finally:
        os.close(file)


def _taken(file: int, tries: int) -> bool:
    for left in reversed(range(tries)):
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if left:
            time.sleep(PATIENCE_S)
    return False


def _named(file: int) -> str:
    return os.pread(file, 20, 0).decode("ascii", "replace")
