"""The ledger of a folder of runs: one SQLite file, and the large tables beside it as Parquet.

A folder has `runs.sqlite`, `runs.lock` and `tables/`. One process writes; any number read
meanwhile, since the ledger has a write-ahead log (`journal_mode=WAL`; so the folder has to be on a
disk of this machine). Runs that end within `BATCH_S` are written together, and each commit is
brought to the disk (`synchronous=FULL`): with NORMAL a loss of power would undo the last commits.
What was committed is never run again. A large table is in its place, on the disk, before the run
that has it is committed, so that whoever ends at any instant leaves a run that is whole or not
there.
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
from aqmlab.results import Columns, Result
from aqmlab.store.database import FILE, SCHEMA, check, connect, open_to_read, told
from aqmlab.store.differences import restore, shorten
from aqmlab.store.lock import Held, Lock
from aqmlab.store.packing import (
    DAMAGED,
    MOST_BYTES,
    Packed,
    pack,
    read_table,
    sync_folder,
    unpack,
    write_table,
)

LOCK, TABLES, PART = "runs.lock", "tables", ".part"
ADDRESS = "[0-9a-f]" * 16
TABLE = re.compile(rf"{ADDRESS}-\w+\.parquet", re.ASCII)
BATCH_S = 0.05
NEW_BASE = 4
"""A run whose words are not this many times shorter by those of another becomes one for others."""
MOST_ASKED = 500
"""Values that one statement asks for."""


class Ledger:
    """A folder of runs; made when it is first looked into.

    One process has it at a time, until it is closed; others may read it meanwhile.

    Parameters
    ----------
    folder : path
        The folder.
    to_read : bool
        Only read what is there; default False.

    Attributes
    ----------
    folder : pathlib.Path
        The folder.
    finished : int
        Runs that were kept or found.

    Examples
    --------
    >>> import aqmlab, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Ledger(folder.name) as store:
    ...     first = aqmlab.replicate("examples/two_flows.toml", 2, store=store)
    ...     again = aqmlab.replicate("examples/two_flows.toml", 3, store=store)  # one is run
    >>> store.finished  # two were kept, two found, one kept
    5
    >>> folder.cleanup()
    """

    _shut: Callable[[], object]

    def __init__(self, folder: str | PathLike[str], *, to_read: bool = False) -> None:
        self.folder, self._to_read = Path(folder), to_read
        self.finished = 0
        self._opened: sqlite3.Connection | None = None
        self._base: tuple[int, bytes] | None = None
        self._bases: dict[int, bytes] = {}
        self._campaign: int | None = None
        self._began = 0.0  # the transaction
        self._renamed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what is left, and leave the folder to others; the next use opens it again.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        if self._opened is not None:
            try:
                self.settle()
            finally:
                self._shut()
                self._opened, self._base, self._bases, self._campaign = None, None, {}, None

    def get(self, address: str) -> Result | None:
        """Return a run; None if it is not there, or not whole."""
        with self._telling() as ledger:
            row = ledger.execute(
                "SELECT address, base, words, columns FROM runs JOIN results USING (id) "
                "WHERE address = ?",
                [address],
            ).fetchone()
        result = self._result(*row) if row else None
        self.finished += result is not None
        return result

    def put(self, address: str, build: str, result: Result) -> None:
        """Keep a run, whole or not at all.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        packed = pack(result)
        with self._writing() as ledger:
            for name, columns in packed.large.items():
                place = self._table(address, name)
                place.parent.mkdir(exist_ok=True)
                write_table(place, place.with_suffix(PART), columns)
                self._renamed = True
            base, words = self._shortened(ledger, packed.words)
            took = sum(result.manifest.get(of, {}).get("wall_s", 0) for of in ("setup", "running"))
            run = self._entered(ledger, address, build, took, None)
            ledger.execute(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)",
                [run, base, words, packed.columns],
            )
        self.finished += 1

    def fail(self, address: str, build: str, error: Exception) -> None:
        """Take down why a run has no result; it stays missing, and so is tried again.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        with self._writing() as ledger:
            self._entered(ledger, address, build, None, f"{type(error).__name__}: {error}")

    def missing(self, addresses: Iterable[str]) -> set[str]:
        """Return those of some addresses that no result is kept under."""
        wanted = list(addresses)
        left = set(wanted)
        with self._telling() as ledger:
            for at in range(0, len(wanted), MOST_ASKED):
                some = wanted[at : at + MOST_ASKED]
                marks = ", ".join("?" * len(some))
                left.difference_update(
                    address
                    for (address,) in ledger.execute(
                        f"SELECT address FROM runs WHERE error IS NULL AND address IN ({marks})",
                        some,
                    )
                )
        return left

    def copy(self, folder: Path) -> None:
        """Write everything that is kept to a folder that has no ledger, whole or not at all.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        self.settle()
        (folder / TABLES).mkdir(parents=True)
        for table in (self.folder / TABLES).glob(f"{ADDRESS}-*.parquet"):
            try:
                (folder / TABLES / table.name).hardlink_to(table)
            except OSError:  # another disk, or one without links
                shutil.copy2(table, folder / TABLES)
        with self._telling() as ledger, closing(connect(folder / FILE)) as other:
            ledger.backup(other)

    def __iter__(self) -> Iterator[Result]:
        """Give every run that is kept and whole, in the order of their addresses."""
        with self._telling() as ledger:
            every = ledger.execute(
                "SELECT address FROM runs WHERE error IS NULL ORDER BY address"
            ).fetchall()
        for (address,) in every:
            result = self.get(address)
            if result is not None:
                yield result

    def begin(self, asked: int, found: int, jobs: int) -> None:
        """Take down that so many runs were asked for, and how many of them are kept already.

        Raises
        ------
        OSError
            If it cannot be written, or another process is writing.
        """
        with self._writing() as ledger:
            self._campaign = ledger.execute(
                "INSERT INTO campaigns (process, began, asked, found, jobs) VALUES (?, ?, ?, ?, ?)",
                [os.getpid(), time.time(), asked, found, jobs],
            ).lastrowid
        self.settle()

    def settle(self) -> None:
        """Bring what was given to this ledger to the disk.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        if self._opened is None or not self._opened.in_transaction:
            return
        with self._telling() as ledger, uninterrupted():
            try:
                if self._renamed:
                    sync_folder(self.folder / TABLES)
                ledger.execute("COMMIT")
            except BaseException:
                self._undo(ledger)
                raise
            self._renamed = False

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Give the ledger in a transaction, which ends when it has lasted long enough."""
        with self._telling() as ledger, uninterrupted():
            if not ledger.in_transaction:
                self._began = time.monotonic()
                ledger.execute("BEGIN IMMEDIATE")
            ledger.execute("SAVEPOINT run")
            try:
                yield ledger
                ledger.execute("RELEASE run")
            except BaseException:
                if ledger.in_transaction:  # the runs before are kept
                    self._base = None
                    ledger.execute("ROLLBACK TO run")
                    ledger.execute("RELEASE run")
                else:
                    self._undo(ledger)
                raise
        if time.monotonic() - self._began >= BATCH_S:
            self.settle()

    def _undo(self, ledger: sqlite3.Connection) -> None:
        """Forget what could not be written."""
        self._base, self._renamed = None, False
        if ledger.in_transaction:
            with suppress(sqlite3.Error):
                ledger.execute("ROLLBACK")

    def _entered(
        self,
        ledger: sqlite3.Connection,
        address: str,
        build: str,
        took_s: float | None,
        error: str | None,
    ) -> int:
        """Enter a run, in the place of an earlier one of the same address; return its number."""
        (run,) = ledger.execute(
            "INSERT INTO runs (address, build, campaign, ended, took_s, error) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (address) DO UPDATE SET (build, campaign, "
            "ended, took_s, error) = (excluded.build, excluded.campaign, excluded.ended, "
            "excluded.took_s, excluded.error) RETURNING id",
            [address, build[:16], self._campaign, time.time(), took_s, error],
        ).fetchone()
        return int(run)

    def _shortened(self, ledger: sqlite3.Connection, words: bytes) -> tuple[int, bytes]:
        """Return words as those of an earlier run and what is different; which run that is."""
        if self._base is None:
            last = ledger.execute("SELECT max(id) FROM bases").fetchone()[0]
            with suppress(*DAMAGED):
                self._base = None if last is None else (last, self._words(ledger, last))
        if self._base is not None:
            short = shorten(words, self._base[1])
            if NEW_BASE * len(short) <= len(words):
                return self._base[0], short
        added = ledger.execute("INSERT INTO bases (words) VALUES (?)", [shorten(words, b"")])
        assert added.lastrowid is not None
        self._base = added.lastrowid, words
        return added.lastrowid, shorten(words, words)

    def _words(self, ledger: sqlite3.Connection, base: int) -> bytes:
        row = ledger.execute("SELECT words FROM bases WHERE id = ?", [base]).fetchone()
        return restore(row[0], b"", MOST_BYTES)

    def _result(self, address: str, base: int, words: bytes, columns: bytes) -> Result | None:
        """Return a run from its row; None: a part is not there, or damaged."""
        try:
            if base not in self._bases:
                with self._telling() as ledger:
                    self._bases = {base: self._words(ledger, base)}  # neighbours mostly share it
            told = restore(words, self._bases[base], MOST_BYTES)
            large = _Beside(self, address)
            found = unpack(Packed(told, columns, large))
            found.read_all()  # what is damaged shows here, and not when it is asked for
            return found
        except DAMAGED:
            return None

    def _table(self, address: str, name: str) -> Path:
        """Return the place of a large table.

        Raises
        ------
        ValueError
            If address or name could lead out of the folder; their source may be untrusted.
        """
        file = f"{address}-{name}.parquet"
        if not TABLE.fullmatch(file):
            raise ValueError(f"{file!r} does not name a table of a run")
        return self.folder / TABLES / file

    @contextmanager
    def _telling(self) -> Iterator[sqlite3.Connection]:
        """Give the ledger, and tell what goes wrong with it in one line."""
        path = self.folder / FILE
        try:
            if self._opened is None:
                self._open()
            assert self._opened is not None
            yield self._opened
        except Held as e:
            raise FileExistsError(
                f"{self.folder} is being written by {e}; wait for it, or give another folder"
            ) from None
        except sqlite3.Error as e:
            raise told(e, path) from e
        except OSError as e:
            raise e if e.errno is None else told(e, self.folder) from e

    def _open(self) -> None:
        """Take the lock and open the file, which is examined if the last one did not close it."""
        if self._to_read:
            self._opened = open_to_read(self.folder)
            self._shut = weakref.finalize(self, self._opened.close)
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = Lock(self.folder / LOCK)
        ledger: sqlite3.Connection | None = None
        try:
            ledger = connect(self.folder / FILE)
            if ledger.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                ledger.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")
            check(ledger, self.folder / FILE, whole=not lock.clean)
            ledger.execute("PRAGMA journal_mode = WAL")
            ledger.execute("PRAGMA synchronous = FULL")
            for part in (self.folder / TABLES).glob(f"{ADDRESS}-*{PART}"):
                part.unlink()
        except BaseException:
            if ledger is not None:
                ledger.close()
            lock.abandon()
            raise
        self._opened = ledger
        self._shut = weakref.finalize(self, _shut, ledger, lock)


class _Beside(dict[str, Columns]):
    """The large tables of a run, read when they are taken."""

    def __init__(self, ledger: Ledger, address: str) -> None:
        super().__init__()
        self._ledger, self._address = ledger, address

    def __missing__(self, name: str) -> Columns:
        return read_table(self._ledger._table(self._address, name))


def _shut(ledger: sqlite3.Connection, lock: Lock) -> None:
    """Close a ledger and give its lock back, unless it cannot be said to be whole."""
    ledger.close()
    lock.release()
