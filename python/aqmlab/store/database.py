"""SQLite file of a store of runs: schema, functions that open and check it, and error messages."""

import errno
import os
import sqlite3
from pathlib import Path

from aqmlab._core import FORMAT

FILE = "runs.sqlite"
APPLICATION = 0x61716D6C
"""Application id in the SQLite file of a store. The file's user version is the store's format."""

SCHEMA = f"""
CREATE TABLE campaigns (
    id INTEGER PRIMARY KEY,
    process INTEGER NOT NULL, began REAL NOT NULL,  -- s since 1970
    -- distinct runs requested; stored before; simultaneous runs
    asked INTEGER NOT NULL,  -- prose: a column of existing files
    found INTEGER NOT NULL, jobs INTEGER NOT NULL);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    address TEXT NOT NULL UNIQUE, build TEXT NOT NULL, campaign INTEGER,
    ended REAL NOT NULL,  -- s since 1970
    took_s REAL,  -- setup and running
    error TEXT);  -- NULL: it has a result
CREATE TABLE bases (id INTEGER PRIMARY KEY, words BLOB NOT NULL);
CREATE TABLE results (
    id INTEGER PRIMARY KEY REFERENCES runs, base INTEGER NOT NULL REFERENCES bases,
    words BLOB NOT NULL, columns BLOB NOT NULL);
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
"""


def connect(path: Path, *, to_read: bool = False) -> sqlite3.Connection:
    """Open the database of a store, without automatic transactions."""
    if not to_read:
        return sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    name = path.absolute().as_uri()
    # Without write permission for the folder, SQLite cannot create its log. The database in a
    # folder without write permission is opened as immutable, because no process can write the
    # database.
    still = not os.access(path.parent, os.W_OK) and not path.with_name(f"{FILE}-wal").exists()
    how = "mode=ro&immutable=1" if still else "mode=ro"
    return sqlite3.connect(f"{name}?{how}", uri=True, isolation_level=None)


def open_to_read(folder: Path) -> sqlite3.Connection:
    """Open the database of a store for reading, even while another process writes it.

    Raises
    ------
    OSError
        If the folder is not a store.
    """
    path = folder / FILE
    if not path.is_file():
        raise FileNotFoundError(
            f"{folder} has no {FILE}; give the folder of a sweep, a comparison or a store"
        )
    database = connect(path, to_read=True)
    try:
        check(database, path, whole=False)
    except BaseException:
        database.close()
        raise
    return database


def check(database: sqlite3.Connection, path: Path, *, whole: bool) -> None:
    """Raise OSError unless a file is a store of the supported version.

    If `whole` is True, the whole content of the file is checked for damage.

    Raises
    ------
    OSError
        The message states the cause.
    """
    if database.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise FileExistsError(
            f"{path} is not a store of aqmlab; give another folder, or move the file"
        )
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version != FORMAT:
        raise OSError(
            f"{path} is a store of format {version}, but this version of aqmlab reads format "
            f"{FORMAT}; give another folder"
        )
    if whole and database.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise _Damaged


class _Damaged(sqlite3.DatabaseError):
    """Raised if SQLite's quick check reports damage."""

    sqlite_errorname = "SQLITE_CORRUPT"


def with_remedy(e: sqlite3.Error | OSError, path: Path) -> OSError:
    """Convert an error of a store to an OSError whose message states the cause and the remedy."""
    code, reason = getattr(e, "errno", None), getattr(e, "strerror", None) or str(e)
    if isinstance(e, sqlite3.Error):
        name = getattr(e, "sqlite_errorname", "")
        if not name:
            raise e  # a defect of the caller's statement
        code = errno.ENOSPC if name == "SQLITE_FULL" else None
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            return OSError(
                f"{path} is damaged; move the file away and repeat the command, or save the "
                "undamaged part with "
                f"`sqlite3 {FILE} .recover`; aqmlab deleted nothing"
            )
    if code == errno.ENOSPC:
        return OSError(
            f"{path}: the disk is full; free some space and repeat the command, which reuses the "
            "stored runs"
        )
    return OSError(
        f"{path} cannot be written: {reason.lower()}; check the permissions of the file, and the "
        "disk"
    )
