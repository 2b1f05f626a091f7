"""Atomic writing of output folders, without overwriting files of other programs.

A process that writes a folder NAME creates the folder `.NAME.aqmlab` in the same parent folder.
Until the process ends, it holds a lock on the file `lock` in `.NAME.aqmlab`. The process writes the
new content into `.NAME.aqmlab`. At the end, the new content replaces NAME in one step. If the
process is killed, the next process that writes NAME deletes the temporary files
(:meth:`Claim._settle`).

The file `.aqmlab` in each output folder lists the files of the folder. A folder is replaced only if
all its files are in this list.
"""

import atexit
import errno
import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from aqmlab.interrupts import uninterrupted
from aqmlab.renaming import exchange

LIST = ".aqmlab"
FINISHED_RUN = re.compile(
    r"runs/(runs\.lock|runs\.sqlite(-wal|-shm)?|tables(/([0-9a-f]{16}-\w+\.(parquet|part))?)?)?"
)
"""Pattern of the files in a store of runs. An output folder's list of files omits the store."""

MAKERS = {
    "aqmlab run": ("run", "an earlier run"),
    "aqmlab run --pcap": ("capture", "earlier captures"),
    "aqmlab compare": ("comparison", "an earlier comparison"),
    "aqmlab sweep": ("sweep", "an earlier sweep"),
    "aqmlab tune-red": ("tuning", "an earlier tuning"),
    "aqmlab traffic": ("sample", "an earlier sample"),
    "aqmlab calibrate": ("calibration", "an earlier calibration"),
    "aqmlab examples": ("copy of the examples", "an earlier copy of the examples"),
    "aqmlab reproduce": ("reproduction", "an earlier reproduction"),
}
"""Noun for the result of each command that writes a folder, and noun for an earlier result."""
CONTINUED = {"aqmlab compare", "aqmlab sweep"}
"""Commands that have the option --resume."""
GROWN = {
    "aqmlab compare": FINISHED_RUN,
    "aqmlab sweep": re.compile(
        rf"(runs\.parquet|(summary|effects)\.csv|figures/([\w-]+\.(png|svg|pdf))?|{FINISHED_RUN.pattern})"
    ),
}
"""Patterns of files that a command writes during its runs and omits from the list of files."""
OURS = {LOCK := "lock", NEW := "new", PARTS := "parts", WHOLE := "whole", OLD := "old"}
TRIES = 10
PATIENCE_S = 0.02

written: list[Path] = []
"""Output folders that this process has completed."""
_claims: "list[Claim]" = []


@contextmanager
def appearing(final: Path, made_by: str, *, force: bool = True) -> Iterator[Path]:
    """Yield a new folder that replaces `final` at the end of a `with` block.

    After an exception or an interruption in the block, the new folder is deleted and `final` stays
    unchanged.

    Parameters
    ----------
    final : pathlib.Path
        Folder to create or to replace.
    made_by : str
        Name of the command that writes the folder, a key of `MAKERS`. Only folders that the same
        command wrote are replaced.
    force : bool
        True to replace a folder that an earlier call of the command wrote.

    Yields
    ------
    pathlib.Path
        An empty folder.

    Raises
    ------
    FileExistsError
        If `final` has content that must not be replaced, at the beginning or at the end of the
        block, or if another process is writing `final`.
    OSError
        If `final` cannot be written. The message names `final`, not the temporary folder.
    """
    with Claim(final, made_by, force=force) as claim:
        yield claim.new
        claim.appear()


@contextmanager
def appearing_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path whose file is renamed to `path` at the end of a `with` block.

    After an exception in the block, the temporary file is deleted and `path` stays unchanged.

    Parameters
    ----------
    path : str or pathlib.Path
        File to create or to replace.

    Yields
    ------
    pathlib.Path
        Temporary path in the folder of `path`, with the suffixes of `path`.

    Raises
    ------
    OSError
        If `path` cannot be written. The message names `path`, the reason and the remedy.
    """
    path = Path(path)
    part = path.with_name(f".part-{path.name}")
    try:
        yield part
        with uninterrupted():
            part.replace(path)
    except OSError as e:
        raise type(e)(f"cannot write {path}: {_reason(e, path.parent)}") from e
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _reason(error: OSError, folder: Path) -> str:
    """Return the reason of a failed write into a folder, with the remedy."""
    if isinstance(error, FileNotFoundError) and not folder.is_dir():
        return f"the folder {folder} does not exist; create it"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full; free some space and repeat the command"
    return f"{(error.strerror or str(error)).lower()}; check the path and its permissions"


class Claim:
    """Exclusive right of this process to write a folder.

    Attributes
    ----------
    final : pathlib.Path
        Folder that the claim is for.
    new, parts : pathlib.Path
        Temporary folders in the parent of `final`: the new content of `final`, and files that will
        be moved into `final`.
    adds : bool
        True if the command only adds files to the folder. The folder may then contain files of
        other programs.
    """

    def __init__(
        self, final: Path, made_by: str, *, force: bool = True, adds: bool = False
    ) -> None:
        self.named, self.made_by, self.force, self.adds = final, made_by, force, adds
        try:
            self.final = final.resolve()
        except RuntimeError:  # a loop of symbolic links; Python 3.13 raises OSError
            raise OSError(f"cannot write {final}: its symbolic links form a loop") from None
        self._beside = self.final.parent / f".{self.final.name}.aqmlab"
        self.new, self.parts = self._beside / NEW, self._beside / PARTS
        self._lock: int | None = None
        self._process = os.getpid()

    def __enter__(self) -> Self:
        self._refuse(
            earlier=False
        )  # Another process may be writing what looks like earlier output.
        try:
            with uninterrupted():
                _claims.append(self)
                self.final.parent.mkdir(parents=True, exist_ok=True)
                self._take()
                _sweep(self.final.parent)
                self._settle()
            self._refuse()
            self.new.mkdir()
            self.parts.mkdir()
        except BaseException as e:
            self.__exit__(type(e), e, e.__traceback__)
            raise
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self.release()
        if isinstance(error, OSError) and self._is_ours(error):
            raise type(error)(f"cannot write {self.final}: {self._reason(error)}") from error

    def appear(self) -> None:
        """Replace the output folder by its new content in one step."""
        self.adds = False
        self._refuse()
        _write_list(self.new, self.made_by)
        with uninterrupted():
            whole = self._beside / WHOLE
            self.new.rename(whole)
            self._swap(whole)
            written.append(self.final)

    def withdraw(self) -> None:
        """Remove the output folder that :meth:`appear` created.

        If the folder contains files of other programs, it is renamed instead of deleted.
        """
        with uninterrupted():
            self.final.rename(self._beside / WHOLE)  # `release` deletes it
            written.remove(self.final)

    def release(self) -> None:
        """Release the claim and delete the temporary folders."""
        with uninterrupted():
            if self not in _claims or self._process != os.getpid():
                return
            if self._lock is not None:
                with suppress(OSError):  # the next use deletes the rest
                    self._settle()
                    (self._beside / LOCK).unlink()
                    self._beside.rmdir()
                os.close(self._lock)
                self._lock = None
            _claims.remove(self)

    def _reason(self, error: OSError) -> str:
        """Return the reason for which the output folder could not be written, with the remedy."""
        file = next((f for f in self.final.parents if f.exists() and not f.is_dir()), None)
        if file:
            return f"{file} is a file; give the path of a folder"
        return _reason(error, self.final.parent)

    def _is_ours(self, error: OSError) -> bool:
        """Return True if an error concerns the output folder or one of its temporary folders."""
        if error.errno is None:
            return False
        about = Path(str(error.filename or self.final))
        return about.is_relative_to(self._beside) or self.final.is_relative_to(about)

    def _refuse(self, *, earlier: bool = True) -> None:
        """Raise FileExistsError if the claimed folder must not be replaced.

        If `earlier` is False, output of an earlier call of the command is not an error.
        """
        folder = self.named
        if self.final == Path(self.final.anchor):
            raise FileExistsError(
                f"{folder} cannot be replaced; give the path of a folder inside it"
            )
        if not folder.is_dir():
            if folder.exists():
                raise NotADirectoryError(f"{folder} is a file; give the path of a folder")
            return
        if os.path.ismount(folder):
            raise FileExistsError(
                f"{folder} cannot be replaced; give the path of a folder inside it"
            )
        maker = _maker(folder)
        foreign = None if self.adds else _foreign(folder, maker)
        if foreign is None and maker not in (None, self.made_by):
            foreign = f"the folder is a result of {maker}"
        if foreign is not None:
            raise self._refusal(foreign)
        if earlier and maker and not self.force:
            resume = ", --resume to continue it" if self.made_by in CONTINUED else ""
            raise FileExistsError(
                f"{folder} has {MAKERS[self.made_by][1]}; give another folder{resume}, or "
                "--force to replace it"
            )

    def _refusal(self, foreign: str) -> FileExistsError:
        return FileExistsError(
            f"{self.named} has content that does not belong to a {MAKERS[self.made_by][0]}: "
            f"{foreign}; give another folder, or move this content away"
        )

    def _take(self) -> None:
        """Lock the claimed folder; raise FileExistsError if another process holds the lock."""
        for _ in range(TRIES):
            with suppress(FileExistsError):
                self._beside.mkdir()
            with suppress(FileNotFoundError):  # the previous holder has deleted the folder
                if not OURS.issuperset(path.name for path in self._beside.iterdir()):
                    raise FileExistsError(
                        f"{self._beside} has files that aqmlab did not write; move it away"
                    )
                self._lock = _locked(self._beside / LOCK)
            if self._lock is not None:
                return
            time.sleep(PATIENCE_S)
        raise FileExistsError(
            f"{self.named} is being written by another process; wait until this process ends, or "
            "give another folder"
        )

    def _swap(self, whole: Path) -> None:
        """Exchange the output folder and the folder `whole`, which has the new content."""
        try:
            whole.rename(self.final)  # works if the folder is absent or empty
        except OSError as e:
            if e.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        else:
            return
        if exchange(whole, self.final):
            old = whole
        else:  # _settle undoes a process's end between the two steps
            old = self._beside / OLD
            self.final.rename(old)
            whole.rename(self.final)
        foreign = _foreign(old, _maker(old))
        if foreign is not None:  # a file was added since the last check
            self.final.rename(self.new)
            old.rename(self.final)
            raise self._refusal(foreign)

    def _settle(self) -> None:
        """Delete temporary folders of this process, or of an earlier process that was killed."""
        old = self._beside / OLD
        if old.exists():
            if self.final.exists():
                _discard(old, self.final)
            else:
                old.rename(self.final)
        _discard(self._beside / WHOLE, self.final)
        for folder in (self.new, self.parts):
            shutil.rmtree(folder, ignore_errors=True)


@atexit.register
def release_all() -> None:
    """Unlock all output folders of this process and delete their unfinished new content."""
    for claim in list(_claims):
        claim.release()


def _locked(path: Path) -> int | None:
    """Create and lock a file; return None if another process has locked or deleted the file."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), path.stat()):
            return lock
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(lock)
        raise
    os.close(lock)
    return None


def _sweep(parent: Path) -> None:
    """Delete the temporary folders that killed processes have left in a parent folder."""
    for beside in parent.glob(".*.aqmlab"):
        final = beside.with_name(beside.name.removeprefix(".").removesuffix(".aqmlab"))
        if not final.name or beside.is_symlink():
            continue
        with suppress(OSError):
            names = {path.name for path in beside.iterdir()}
            claim = Claim(final, "aqmlab run")
            if not names:  # if its owner is about to create the lock, the owner tries again
                beside.rmdir()
            elif names <= OURS and claim._beside == beside:
                claim._lock = _locked(beside / LOCK)
                _claims.append(claim)
                claim.release()


def _listed(folder: Path) -> list[str]:
    """Return the lines of the list of files in a folder; empty if the folder lacks the list."""
    try:
        path = folder / LIST
        return [] if path.is_symlink() else path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def is_of(folder: Path, made_by: str) -> bool:
    """Return True if the command `made_by` wrote the folder."""
    return _listed(folder)[:1] == [made_by]


def _maker(folder: Path) -> str | None:
    """Return the command that wrote a folder; None if no command of aqmlab wrote it."""
    head = _listed(folder)[:1]
    if head and head[0] in MAKERS:
        return head[0]
    # If a comparison is killed before it writes the list of files, the folder has only a store.
    names = [str(path.relative_to(folder)) for path in folder.glob("runs/*")]
    finished = names and all(FINISHED_RUN.fullmatch(name) for name in names)
    return "aqmlab compare" if finished and not head else None


def _foreign(folder: Path, maker: str | None) -> str | None:
    """Return the name of the first file in a folder that is not in the list of files, or None."""
    ours = {LIST, *_listed(folder)[1:]} if maker else set()
    for name in _names(folder):
        grown = maker in GROWN and GROWN[maker].fullmatch(name)
        if name not in ours and not grown:
            return name
    return None


def _names(folder: Path, prefix: str = "") -> Iterator[str]:
    """Yield the sorted names of all files and folders in a folder; names of folders end in /."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        name = prefix + entry.name
        if entry.is_dir(follow_symlinks=False):
            yield name + "/"
            yield from _names(Path(entry.path), name + "/")
        elif entry.is_file(follow_symlinks=False):
            yield name
        else:
            yield name + ", which is not a regular file"


def _write_list(folder: Path, made_by: str) -> None:
    text = "\n".join([made_by, *_names(folder)]) + "\n"
    with (folder / LIST).open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _discard(folder: Path, final: Path) -> None:
    """Delete a folder if all its files are listed; otherwise rename it to `final`.kept-N."""
    if not folder.is_dir():
        return
    foreign = _foreign(folder, _maker(folder))
    if foreign is None:
        # The list of files is deleted last. If this process is killed before the deletion of the
        # list, the next process that writes the folder can delete the remaining files.
        for name in sorted((name for name in _names(folder) if name != LIST), reverse=True):
            (folder / name).rmdir() if name.endswith("/") else (folder / name).unlink()
        (folder / LIST).unlink(missing_ok=True)
        folder.rmdir()
        return
    names = (final.with_name(f"{final.name}.kept-{n}") for n in range(1, 1000))
    folder.rename(next(path for path in names if not os.path.lexists(path)))
