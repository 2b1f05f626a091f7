"""A lock that one process can hold, and that the system releases when the process ends.

While a process holds the lock, the file has its process id. If the lock is free but the file has an
id, the last holder did not end cleanly.
"""

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

TRIES = 10
PATIENCE_S = 0.02
"""Time between two attempts, in s. `holder` takes the lock only for an instant."""


class Held(FileExistsError):  # noqa: N818
    """Raised if another process holds the lock."""


class Lock:
    """A lock that this process holds.

    Parameters
    ----------
    path : pathlib.Path
        The file; created if it does not exist.

    Attributes
    ----------
    clean : bool
        True if the last holder released the lock.

    Raises
    ------
    Held
        If another process, or another object of this process, holds the lock. The error names the
        process.
    FileExistsError
        If the file is not a lock of aqmlab.
    OSError
        If the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            last = _named(self._file)
            if last and not last.isdecimal():
                raise FileExistsError(f"{path} is not a lock of aqmlab; move it away")
            if not _taken(self._file, TRIES):
                raise Held(f"process {_named(self._file) or 'unknown'}")
            self.clean = not _named(self._file)
            os.truncate(self._file, 0)
            os.pwrite(self._file, str(os.getpid()).encode(), 0)
        except BaseException:
            os.close(self._file)
            raise

    def release(self) -> None:
        """Release the lock and mark it as cleanly released."""
        with suppress(OSError):
            os.truncate(self._file, 0)
        self.abandon()

    def abandon(self) -> None:
        """Release the lock without the mark of a clean end."""
        os.close(self._file)


def holder(path: Path) -> str | None:
    """Return the id of the process that holds a lock; None if it is free."""
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
