"""How far the runs of a folder are, read while they go on."""

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from aqmlab.store.database import FILE, open_to_read, told
from aqmlab.store.ledger import LOCK
from aqmlab.store.lock import holder

RECENT_S = 60.0
"""The rate is that of the last minute."""
ERRORS = 3


@dataclass(frozen=True)
class Status:
    """How far the runs of a ledger are.

    Attributes
    ----------
    process : str, optional
        The process that is running them; None: nobody is.
    kept : int
        Finished runs, whoever asked for them.
    asked, found, finished, failed : int
        Of the last campaign: distinct runs that were asked for, and those of them that were kept
        before, have been finished, and have failed.
    jobs : int
        Runs at a time.
    rate : float
        Runs a second that ended in the last minute, or since it began.
    errors : list of (str, str)
        Address and error of the last runs that failed.
    """

    process: str | None
    kept: int
    asked: int
    found: int
    finished: int
    failed: int
    jobs: int
    rate: float
    errors: list[tuple[str, str]]

    @property
    def left(self) -> int:
        """Runs that have not ended."""
        return max(0, self.asked - self.found - self.finished - self.failed)

    @property
    def running(self) -> int:
        """Runs in flight."""
        return min(self.jobs, self.left) if self.process else 0

    @property
    def left_s(self) -> float | None:
        """Time until all have ended, at this rate; None: nobody runs them, or none has ended."""
        return self.left / self.rate if self.process and self.rate else None


def status(folder: str | PathLike[str]) -> Status:
    """Return how far the runs of a folder are; changes nothing.

    Raises
    ------
    OSError
        If there is no ledger, or it is damaged.
    """
    folder = Path(folder)
    try:
        with closing(open_to_read(folder)) as ledger:
            return _read(ledger, holder(folder / LOCK))
    except sqlite3.Error as e:
        raise told(e, folder / FILE) from e


def _read(ledger: sqlite3.Connection, process: str | None) -> Status:
    ledger.execute("BEGIN")  # what is read is of one instant
    last = ledger.execute(
        "SELECT id, began, asked, found, jobs FROM campaigns ORDER BY id DESC LIMIT 1"
    ).fetchone()
    campaign, began, asked, found, jobs = last or (None, 0.0, 0, 0, 0)
    now = time.time()
    since = max(began, now - RECENT_S)
    kept, finished, failed, recent = ledger.execute(
        "SELECT count(*) FILTER (WHERE error IS NULL), "
        "count(*) FILTER (WHERE campaign = ?1 AND error IS NULL), "
        "count(*) FILTER (WHERE campaign = ?1 AND error IS NOT NULL), "
        "count(*) FILTER (WHERE campaign = ?1 AND ended >= ?2) FROM runs",
        [campaign, since],
    ).fetchone()
    errors = ledger.execute(
        "SELECT address, error FROM runs WHERE error IS NOT NULL ORDER BY ended DESC LIMIT ?",
        [ERRORS],
    ).fetchall()
    rate = recent / max(now - since, 0.1) if process else 0.0
    return Status(process, kept, asked, found, finished, failed, jobs, rate, errors)
