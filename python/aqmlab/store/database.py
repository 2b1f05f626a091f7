"""The file of a ledger: its form, how it is opened and examined, what is told when it fails."""

import errno
import os
import sqlite3
from pathlib import Path

FILE = "runs.sqlite"
APPLICATION, VERSION = 0x61716D6C, 1
"""What SQLite's header says of the file: whose it is, and which of its forms."""

SCHEMA = f"""
CREATE TABLE campaigns (
    id INTEGER PRIMARY KEY,
    process INTEGER NOT NULL, began REAL NOT NULL,  -- s since 1970
    asked INTEGER NOT NULL, found INTEGER NOT NULL, jobs INTEGER NOT NULL);
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
PRAGMA user_version = {VERSION};
"""


def connect(path: Path, *, to_read: bool = False) -> sqlite3.Connection:
    """Open a ledger; transactions are begun and ended by hand."""
    if not to_read:
        return sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    name = path.absolute().as_uri()
    # In a folder that nobody may write there is no log; then nobody writes, either.
    still = not os.access(path.parent, os.W_OK) and not path.with_name(f"{FILE}-wal").exists()
    how = "mode=ro&immutable=1" if still else "mode=ro"
    return sqlite3.connect(f"{name}?{how}", uri=True, isolation_level=None)


def open_to_read(folder: Path) -> sqlite3.Connection:
    """Open the ledger of a folder to read it, whoever writes.

    Raises
    ------
    OSError
        If there is none.
    """
    path = folder / FILE
    if not path.is_file():
        raise FileNotFoundError(
            f"{folder} has no {FILE}; give the folder of a sweep, a comparison or a store"
        )
    ledger = connect(path, to_read=True)
    try:
        check(ledger, path, whole=False)
    except BaseException:
        ledger.close()
        raise
    return ledger


def check(ledger: sqlite3.Connection, path: Path, *, whole: bool) -> None:
    """Refuse a file that is no ledger, or one of a form that is not known, or damaged.

    Raises
    ------
    OSError
        Says which.
    """
    if ledger.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise FileExistsError(f"{path} is no ledger of aqmlab; give another folder, or move it")
    version = ledger.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        raise OSError(
            f"{path} is a ledger of form {version}, and this aqmlab knows form {VERSION}; "
            "give another folder"
        )
    if whole and ledger.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise _Damaged


class _Damaged(sqlite3.DatabaseError):
    """An examination found something."""

    sqlite_errorname = "SQLITE_CORRUPT"


def told(e: sqlite3.Error | OSError, path: Path) -> OSError:
    """Return what is wrong with a ledger or its folder, and what to do."""
    code, reason = getattr(e, "errno", None), getattr(e, "strerror", None) or str(e)
    if isinstance(e, sqlite3.Error):
        name = getattr(e, "sqlite_errorname", "")
        if not name:
            raise e  # a mistake in how it was asked
        code = errno.ENOSPC if name == "SQLITE_FULL" else None
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            return OSError(
                f"{path} is damaged; move it away and run anew, or save what is whole with "
                f"`sqlite3 {FILE} .recover`; nothing was deleted"
            )
    if code == errno.ENOSPC:
        return OSError(
            f"{path}: the disk is full; make room and run the same again: what is kept stays"
        )
    return OSError(
        f"{path} cannot be written: {reason.lower()}; check its permissions and its disk"
    )
