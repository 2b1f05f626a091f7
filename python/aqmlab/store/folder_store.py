"""Store of runs in a folder, with one SQLite file, and Parquet files for large tables.

The folder of a store has the files `runs.sqlite` and `runs.lock` and the folder `tables/`. Only one
process at a time can write a store. Other processes can read the store at the same time, because
the database has a write-ahead log (`journal_mode=WAL`). The log requires that the folder is on a
local disk. Runs that end within `BATCH_S` are committed in one transaction. Each commit is written
to the disk (`synchronous=FULL`), because with `synchronous=NORMAL` a loss of power would undo the
last commits. The files with the large tables of a run are on the disk before the run is committed.
If the process is killed, each run is therefore either complete in the store or absent.
"""

import os
import re
import shutil
import sqlite3
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Self

from aqmlab.interrupts import uninterrupted
from aqmlab.results import Columns, Packed, Result
from aqmlab.store.database import FILE, SCHEMA, check, connect, open_to_read, with_remedy
from aqmlab.store.differences import Base, restore, shorten
from aqmlab.store.lock import Held, Lock
from aqmlab.store.packing import (
    DAMAGED,
    MOST_BYTES,
    pack,
    read_table,
    sync_folder,
    write_table,
)

LOCK, TABLES, PART = "runs.lock", "tables", ".part"
ADDRESS = "[0-9a-f]" * 16
TABLE = re.compile(rf"{ADDRESS}-\w+\.parquet", re.ASCII)
BATCH_S = 0.05
"""Maximum duration of a transaction, in s."""
NEW_BASE = 4
"""Minimum compression ratio of a run's JSON text, with the current base text as preset dictionary.
If the compression ratio for a run is smaller, the JSON text of this run becomes the base text for
the following runs.
"""
MOST_ASKED = 500
"""Maximum number of runs that one SQL statement looks up by their addresses (hashes)."""


class FolderStore:
    """Store of runs in a folder. The folder is created on first use.

    Only one process at a time can write the store, until it closes the store. Other processes can
    read the store at the same time.

    Parameters
    ----------
    folder : path
        Folder of the store.
    to_read : bool
        True to open an existing store only for reading; default False.

    Attributes
    ----------
    folder : pathlib.Path
        Folder of the store.
    finished : int
        Number of runs that this object has stored or returned.

    Examples
    --------
    >>> import aqmlab, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with FolderStore(folder.name) as store:
    ...     first = aqmlab.replicate("examples/two_flows.toml", 2, store=store)
    ...     again = aqmlab.replicate("examples/two_flows.toml", 3, store=store)  # one new run
    >>> store.finished  # two stored, two returned, one stored
    5
    >>> folder.cleanup()
    """

    _shut: Callable[[], object]

    def __init__(self, folder: str | PathLike[str], *, to_read: bool = False) -> None:
        self.folder, self._to_read = Path(folder), to_read
        self.finished = 0
        self._opened: sqlite3.Connection | None = None
        self._base: tuple[int, Base] | None = None
        self._bases: dict[int, bytes] = {}
        self._campaign: int | None = None
        self._began = 0.0  # start of the transaction
        self._renamed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Commit the pending runs and close the store; the next use opens the store again.

        Raises
        ------
        OSError
            If the runs cannot be written.
        """
        if self._opened is not None:
            try:
                self.settle()
            finally:
                with uninterrupted():  # a closed database that stays `_opened` would be used again
                    self._shut()
                    self._opened, self._base, self._bases, self._campaign = None, None, {}, None

    def get(self, address: str) -> Result | None:
        """Return the result of a run; None if the store does not have the run, or it is damaged."""
        with self._connection() as database:
            row = database.execute(
                "SELECT address, base, words, columns FROM runs JOIN results USING (id) "
                "WHERE address = ?",
                [address],
            ).fetchone()
        result = self._result(*row) if row else None
        self.finished += result is not None
        return result

    def put(self, address: str, build: str, result: Result) -> None:
        """Store the result of a run, either completely or not at all.

        Raises
        ------
        OSError
            If the run cannot be written.
        """
        packed = pack(result)
        with self._writing() as database:
            for name, columns in packed.large.items():
                place = self._table(address, name)
                place.parent.mkdir(exist_ok=True)
                write_table(place, place.with_suffix(PART), columns)
                self._renamed = True
            base, words = self._compressed(database, packed.words.encode())
            run = self._insert(database, address, build, result.wall_s, None)
            database.execute(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)",
                [run, base, words, shorten(packed.columns, b"")],
            )
            self.finished += 1  # before a signal that arrived meanwhile ends the `with` block

    def fail(self, address: str, build: str, error: Exception) -> None:
        """Record the error of a failed run. The next campaign that needs the run executes it again.

        Raises
        ------
        OSError
            If the error cannot be written.
        """
        with self._writing() as database:
            self._insert(database, address, build, None, f"{type(error).__name__}: {error}")

    def missing(self, addresses: Iterable[str]) -> set[str]:
        """Return those of the given addresses that have no result in the store."""
        wanted = list(addresses)
        left = set(wanted)
        with self._connection() as database:
            for at in range(0, len(wanted), MOST_ASKED):
                some = wanted[at : at + MOST_ASKED]
                marks = ", ".join("?" * len(some))
                left.difference_update(
                    address
                    for (address,) in database.execute(
                        f"SELECT address FROM runs WHERE error IS NULL AND address IN ({marks})",
                        some,
                    )
                )
        return left

    def copy(self, folder: Path) -> None:
        """Copy the store to another folder, which must not contain a store.

        Raises
        ------
        OSError
            If the copy cannot be written.
        """
        self.settle()
        (folder / TABLES).mkdir(parents=True)
        for table in (self.folder / TABLES).glob(f"{ADDRESS}-*.parquet"):
            try:
                (folder / TABLES / table.name).hardlink_to(table)
            except OSError:  # another disk, or a file system without hard links
                shutil.copy2(table, folder / TABLES)
        with self._connection() as database, closing(connect(folder / FILE)) as other:
            database.backup(other)

    def __iter__(self) -> Iterator[Result]:
        """Yield the result of each undamaged run in the store, in the order of the addresses."""
        with self._connection() as database:
            every = database.execute(
                "SELECT address FROM runs WHERE error IS NULL ORDER BY address"
            ).fetchall()
        for (address,) in every:
            result = self.get(address)
            if result is not None:
                yield result

    def begin(self, requested: int, stored: int, jobs: int) -> None:
        """Record the start of a campaign, for the report of the progress.

        Parameters
        ----------
        requested : int
            Number of distinct runs that the campaign needs.
        stored : int
            Number of these runs that the store already has.
        jobs : int
            Maximum number of runs that execute at the same time.

        Raises
        ------
        OSError
            If the store cannot be written, or another process is writing it.
        """
        with self._writing() as database:
            self._campaign = database.execute(
                "INSERT INTO campaigns (process, began, asked, found, jobs) "  # prose: columns
                "VALUES (?, ?, ?, ?, ?)",
                [os.getpid(), time.time(), requested, stored, jobs],
            ).lastrowid
        self.settle()

    def settle(self) -> None:
        """Commit the pending runs, so that they are on the disk.

        Raises
        ------
        OSError
            If the runs cannot be written.
        """
        if self._opened is None or not self._opened.in_transaction:
            return
        with self._connection() as database, uninterrupted():
            try:
                if self._renamed:
                    sync_folder(self.folder / TABLES)
                database.execute("COMMIT")
            except BaseException:
                self._undo(database)
                raise
            self._renamed = False

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the database inside a transaction, which is committed after `BATCH_S`."""
        with self._connection() as database, uninterrupted():
            if not database.in_transaction:
                self._began = time.monotonic()
                database.execute("BEGIN IMMEDIATE")
            database.execute("SAVEPOINT run")
            try:
                yield database
                database.execute("RELEASE run")
            except BaseException:
                if database.in_transaction:  # the earlier runs of the transaction remain
                    self._base = None
                    database.execute("ROLLBACK TO run")
                    database.execute("RELEASE run")
                else:
                    self._undo(database)
                raise
        if time.monotonic() - self._began >= BATCH_S:
            self.settle()

    def _undo(self, database: sqlite3.Connection) -> None:
        """Roll the transaction back, and reset the state that belongs to it."""
        self._base, self._renamed = None, False
        if database.in_transaction:
            with suppress(sqlite3.Error):
                database.execute("ROLLBACK")

    def _insert(
        self,
        database: sqlite3.Connection,
        address: str,
        build: str,
        took_s: float | None,
        error: str | None,
    ) -> int:
        """Insert a run, or replace the run with the same address; return the row id of the run."""
        (run,) = database.execute(
            "INSERT INTO runs (address, build, campaign, ended, took_s, error) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (address) DO UPDATE SET (build, campaign, "
            "ended, took_s, error) = (excluded.build, excluded.campaign, excluded.ended, "
            "excluded.took_s, excluded.error) RETURNING id",
            [address, build[:16], self._campaign, time.time(), took_s, error],
        ).fetchone()
        return int(run)

    def _compressed(self, database: sqlite3.Connection, words: bytes) -> tuple[int, bytes]:
        """Return the row id of a base text, and `words` compressed with this base text."""
        if self._base is None:
            last = database.execute("SELECT max(id) FROM bases").fetchone()[0]
            with suppress(*DAMAGED):
                self._base = None if last is None else (last, Base(self._words(database, last)))
        if self._base is not None:
            short = self._base[1].shorten(words)
            if NEW_BASE * len(short) <= len(words):
                return self._base[0], short
        added = database.execute("INSERT INTO bases (words) VALUES (?)", [shorten(words, b"")])
        assert added.lastrowid is not None
        self._base = added.lastrowid, Base(words)
        return added.lastrowid, self._base[1].shorten(words)

    def _words(self, database: sqlite3.Connection, base: int) -> bytes:
        row = database.execute("SELECT words FROM bases WHERE id = ?", [base]).fetchone()
        return restore(row[0], b"", MOST_BYTES)

    def _result(self, address: str, base: int, words: bytes, columns: bytes) -> Result | None:
        """Return the result of a run from its row; None if a part of it is missing or damaged."""
        try:
            if base not in self._bases:
                with self._connection() as database:
                    self._bases = {base: self._words(database, base)}  # most runs share one base
            whole = restore(words, self._bases[base], MOST_BYTES).decode()
            numbers = restore(columns, b"", MOST_BYTES)
            result = Result.of_packed(Packed(whole, numbers, _TablesOnDisk(self, address)))
            result.read_all()  # detects damage here instead of at the first access
            return result
        except DAMAGED:
            return None

    def _table(self, address: str, name: str) -> Path:
        """Return the path of the file with a large table of a run.

        Raises
        ------
        ValueError
            If the path could be outside the folder. The address and the name may come from an
            untrusted file.
        """
        file = f"{address}-{name}.parquet"
        if not TABLE.fullmatch(file):
            raise ValueError(f"{file!r} is not a valid name for a table of a run")
        return self.folder / TABLES / file

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Yield the open database; replace each error of the database by one line with a remedy."""
        path = self.folder / FILE
        try:
            if self._opened is None:
                self._open()
            assert self._opened is not None
            yield self._opened
        except Held as e:
            raise FileExistsError(
                f"{self.folder} is being written by {e}; wait until this process ends, or give "
                "another folder"
            ) from None
        except sqlite3.Error as e:
            raise with_remedy(e, path) from e
        except OSError as e:
            raise e if e.errno is None else with_remedy(e, self.folder) from e

    def _open(self) -> None:
        """Lock the store and open its database; check it if the last process was killed."""
        if self._to_read:
            self._opened = open_to_read(self.folder)
            self._shut = weakref.finalize(self, self._opened.close)
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = Lock(self.folder / LOCK)
        database: sqlite3.Connection | None = None
        try:
            database = connect(self.folder / FILE)
            if database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                database.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")
            check(database, self.folder / FILE, whole=not lock.clean)
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            for part in (self.folder / TABLES).glob(f"{ADDRESS}-*{PART}"):
                part.unlink()
        except BaseException:
            if database is not None:
                database.close()
            lock.abandon()
            raise
        self._opened = database
        self._shut = weakref.finalize(self, _shut, database, lock)


class _TablesOnDisk(dict[str, Columns]):
    """Large tables of a run by name; each table is read from its file on access."""

    def __init__(self, store: FolderStore, address: str) -> None:
        super().__init__()
        self._store, self._address = store, address

    def __missing__(self, name: str) -> Columns:
        return read_table(self._store._table(self._address, name))


def _shut(database: sqlite3.Connection, lock: Lock) -> None:
    """Close the database and release the lock of the store."""
    database.close()
    lock.release()
