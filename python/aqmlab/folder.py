"""Folders that appear whole or not at all."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def appearing(final: Path) -> Iterator[Path]:
    """Give a folder to write that takes the place of `final` when the block ends well.

    If the block fails, or is interrupted, it vanishes, and `final` is as before.

    Parameters
    ----------
    final : pathlib.Path
        The folder to make, or to replace.

    Yields
    ------
    pathlib.Path
        An empty folder beside `final`.

    Raises
    ------
    OSError
        If `final` cannot be written; names `final`, not the folder beside it.
    """
    final = final.resolve()
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{final.name}-", dir=final.parent))
    except OSError as e:
        raise type(e)(f"cannot write {final}: {_reason(e)}") from e
    try:
        new = beside / "new"
        new.mkdir()
        yield new
        _swap(new, final, beside / "old")
    except OSError as e:
        raise type(e)(f"cannot write {final}: {_reason(e)}") from e
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _swap(new: Path, final: Path, old: Path) -> None:
    if not final.exists():
        new.rename(final)
        return
    final.rename(old)
    try:
        new.rename(final)
    except OSError:
        old.rename(final)
        raise


def _reason(e: OSError) -> str:
    return (e.strerror or str(e)).lower()
