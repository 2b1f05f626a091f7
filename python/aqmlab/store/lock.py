"""Lock on a file, which at most one process can hold.

When the process ends, the operating system releases the lock. While a process holds the lock, the
file contains the process id. If the lock is free but the file contains a process id, this process
was killed while it held the lock.
"""

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

TRIES = 10
PATIENCE_S = 0.02
"""Time in s between two attempts to lock the file. Attempts are repeated because `holder` locks the
file for an instant."""


class Held(FileExistsError):  # noqa: N818
    """Raised if another process holds the lock on the file."""


class Lock:
    """Lock on a file that this process holds.

    Parameters
    ----------
    path : pathlib.Path
        File of the lock. The file is created if it does not exist.

    Attributes
    ----------
    clean : bool
        True if the last process that held the lock has released it; False if it was killed.

    Raises
    ------
    Held
        If another process, or another object in this process, holds the lock. The message names the
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
        """Release the lock, and remove the process id from the file."""
        with suppress(OSError):
            os.truncate(self._file, 0)
        self.abandon()

    def abandon(self) -> None:
        """Release the lock, but leave the process id in the file, like a process that is killed."""
        os.close(self._file)


def holder(path: Path) -> str | None:
    """Return the id of the process that holds a lock; None if no process holds it."""
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
