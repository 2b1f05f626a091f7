"""Progress of a campaign of runs, read from its store during the runs."""

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from aqmlab.store.database import FILE, open_to_read, with_remedy
from aqmlab.store.folder_store import LOCK
from aqmlab.store.lock import holder

RECENT_S = 60.0
"""Length in s of the recent time over which the rate of runs is measured."""
ERRORS = 3
"""Maximum number of reported errors."""


@dataclass(frozen=True)
class Status:
    """Progress of the last campaign of runs in a store.

    Attributes
    ----------
    process : str, optional
        Id of the process that is executing runs; None if no process is.
    total : int
        Number of finished runs in the store, including earlier campaigns.
    requested, stored, finished, failed : int
        Number of distinct runs that the last campaign needs, and how many of these were in the
        store before, have finished, and have failed.
    jobs : int
        Maximum number of runs that execute at the same time.
    rate : float
        Number of runs per second that ended in the last minute, or since the start of the campaign
        if this is later.
    errors : list of (str, str)
        Address and error message of the most recent failed runs.
    """

    process: str | None
    total: int
    requested: int
    stored: int
    finished: int
    failed: int
    jobs: int
    rate: float
    errors: list[tuple[str, str]]

    @property
    def left(self) -> int:
        """Number of runs of the campaign that have not ended."""
        return max(0, self.requested - self.stored - self.finished - self.failed)

    @property
    def running(self) -> int:
        """Number of runs that are executing now."""
        return min(self.jobs, self.left) if self.process else 0

    @property
    def left_s(self) -> float | None:
        """Estimated time in s until all runs have ended; None if the rate of runs is unknown."""
        return self.left / self.rate if self.process and self.rate else None


def status(folder: str | PathLike[str]) -> Status:
    """Return the progress of the last campaign in a store, without writing to the store.

    Raises
    ------
    OSError
        If the folder has no store, or the store is damaged.
    """
    folder = Path(folder)
    try:
        with closing(open_to_read(folder)) as database:
            return _read(database, holder(folder / LOCK))
    except sqlite3.Error as e:
        raise with_remedy(e, folder / FILE) from e


def _read(database: sqlite3.Connection, process: str | None) -> Status:
    database.execute("BEGIN")  # all statements read the same state
    last = database.execute(
        "SELECT id, began, asked, found, jobs FROM campaigns "  # prose: columns
        "ORDER BY id DESC LIMIT 1"
    ).fetchone()
    campaign, began, requested, stored, jobs = last or (None, 0.0, 0, 0, 0)
    now = time.time()
    since = max(began, now - RECENT_S)
    total, finished, failed, recent = database.execute(
        "SELECT count(*) FILTER (WHERE error IS NULL), "
        "count(*) FILTER (WHERE campaign = ?1 AND error IS NULL), "
        "count(*) FILTER (WHERE campaign = ?1 AND error IS NOT NULL), "
        "count(*) FILTER (WHERE campaign = ?1 AND ended >= ?2) FROM runs",
        [campaign, since],
    ).fetchone()
    errors = database.execute(
        "SELECT address, error FROM runs WHERE error IS NOT NULL ORDER BY ended DESC LIMIT ?",
        [ERRORS],
    ).fetchall()
    rate = recent / max(now - since, 0.1) if process else 0.0
    return Status(process, total, requested, stored, finished, failed, jobs, rate, errors)
