"""Finished runs in a folder: each is a file that appears whole or not at all.

A file has the manifest and the columns of a run, and the build of the engine that ran it. It is
taken only if these say that its name is theirs.
"""

import base64
import json
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.results import Columns, Result
from aqmlab.store.address import address as address_of

if TYPE_CHECKING:
    from aqmlab._core import Column


class Folder:
    """A folder of runs; made when the first is kept.

    Parameters
    ----------
    folder : path
        The folder.
    parts : pathlib.Path, optional
        Where files are written, on the same disk, before they come from there whole; default: the
        folder itself.

    Attributes
    ----------
    finished : int
        Runs that were kept or found.

    Examples
    --------
    >>> import aqmlab, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Folder(folder)
    ...     first = aqmlab.replicate("examples/two_flows.toml", 2, store=store)
    ...     again = aqmlab.replicate("examples/two_flows.toml", 3, store=store)  # one is run
    >>> store.finished  # two were kept, two found, one kept
    5
    """

    def __init__(self, folder: str | PathLike[str], parts: Path | None = None) -> None:
        self.folder = Path(folder)
        self._parts = parts or self.folder
        self.finished = 0

    def _path(self, address: str) -> Path:
        return self.folder / f"{address}.json"

    def get(self, address: str) -> Result | None:
        """Return a run if it is there and whole."""
        try:
            kept = json.loads(self._path(address).read_text("utf-8"))
            if address_of(json.dumps(kept["manifest"]["scenario"]), kept["build"]) != address:
                return None
            tables = {name: _columns(table) for name, table in kept["tables"].items()}
            manifest = json.dumps(kept["manifest"], ensure_ascii=False)
            result = Result.from_core({"manifest": manifest, "tables": tables})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        self.finished += 1
        return result

    def put(self, address: str, build: str, result: Result) -> None:
        """Write a run, whole or not at all.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        tables = {name: _told(result.columns(name)) for name in result.tables}
        kept = {"build": build, "manifest": result.manifest, "tables": tables}
        beside = self._parts / f"{address}.part"
        try:
            beside.write_text(json.dumps(kept) + "\n", "utf-8")
            beside.replace(self._path(address))
        finally:
            beside.unlink(missing_ok=True)
        self.finished += 1

    def missing(self, addresses: Iterable[str]) -> set[str]:
        """Return those of some addresses that nothing is kept under."""
        return {address for address in addresses if not self._path(address).exists()}

    def __iter__(self) -> Iterator[Result]:
        """Give every run that is kept and whole."""
        found = (self.get(path.stem) for path in sorted(self.folder.glob("*.json")))
        return (run for run in found if run is not None)


def _told(columns: Columns) -> dict[str, Any]:
    """Return columns as JSON has them: names as they are, numbers as their type and their bytes."""
    return {
        name: column
        if isinstance(column, list)
        else {"dtype": column.dtype.str, "bytes": base64.b64encode(column.tobytes()).decode()}
        for name, column in columns.items()
    }


def _columns(told: dict[str, Any]) -> "dict[str, Column]":
    """Return what :func:`_told` was given, as the simulator has it."""
    return {
        name: column
        if isinstance(column, list)
        else (column["dtype"], base64.b64decode(column["bytes"], validate=True))
        for name, column in told.items()
    }
