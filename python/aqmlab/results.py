"""What a run leaves: a manifest and tables of columns, in memory and in a folder.

A folder holds ``manifest.json`` (scenario, seed, version, build, events), ``scenario.json`` (which
can be run again) and each table as CSV and as Parquet. It appears whole or not at all: it is
written beside its place under another name, and renamed.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.folder import appearing

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from aqmlab._core import Finished

Columns = Mapping[str, Any]
"""Columns of a table by name: arrays of numpy, or lists of str."""

MADE_BY = "aqmlab run"
NOT_ALWAYS = ("connections", "classes", "conditioners", "impairments", "datagrams")


class Result:
    """A finished run.

    Attributes
    ----------
    manifest : dict
        scenario (with every default filled in), seed, version, build, simulated_s, events,
        tie_share (the share of events that fell on the same instant as the one before), warnings
        (what each is about, and its text), and what setup and running took (wall_s, cpu_s), which
        alone differ when a run is repeated. In a folder it also has ``tcp``.
    """

    def __init__(self, manifest: dict[str, Any], tables: Mapping[str, Columns]) -> None:
        self.manifest = manifest
        self._tables = tables

    @classmethod
    def from_core(cls, core: "Finished") -> "Result":
        """Take the columns over from the simulator."""
        import numpy as np

        def column(c: tuple[str, bytes] | list[str]) -> "np.ndarray | list[str]":
            return c if isinstance(c, list) else np.frombuffer(c[1], dtype=c[0])

        tables = core["tables"].items()
        return cls(
            json.loads(core["manifest"]),
            {name: {k: column(c) for k, c in columns.items()} for name, columns in tables},
        )

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario with every default filled in."""
        scenario: dict[str, Any] = self.manifest["scenario"]
        return scenario

    @cached_property
    def tcp(self) -> list[dict[str, Any]]:
        """The TCP that flows ran with, fully resolved: a table for each group of like flows.

        Each has ``flows`` (their names, with how many they are), ``ecn`` (what the sender asks
        for), and the parameters of the ``sender`` of the data and of its ``receiver``.
        """
        groups: list[dict[str, Any]] = json.loads(_core.tcp(json.dumps(self.scenario)))
        return groups

    @property
    def warnings(self) -> list[str]:
        """What is legal in this run and probably not meant, a sentence each."""
        return [warning["text"] for warning in self.manifest["warnings"]]

    @property
    def tables(self) -> list[str]:
        """Names of the tables: flows, links, those of what there is besides, and the series."""
        return list(self._tables)

    def columns(self, table: str) -> Columns:
        """Return the columns of a table without pandas: read-only arrays, and lists of str.

        Raises
        ------
        KeyError
            If the run has no such table.
        """
        if table not in self._tables:
            have = ", ".join(self._tables)
            raise KeyError(
                f"{table!r} is not in this run, which has {have}; "
                f'ask for a series with [record] series = ["{table}"]'
            )
        return self._tables[table]

    def table(self, name: str) -> "pd.DataFrame":
        """Return a new DataFrame of a table; see docs/reference/results.md for its columns.

        Raises
        ------
        KeyError
            If the run has no such table.
        """
        import pandas as pd

        return pd.DataFrame(dict(self.columns(name)))

    @cached_property
    def flows(self) -> "pd.DataFrame":
        """One row a flow: times, goodput, packets sent, dropped, marked, retransmitted."""
        return self.table("flows")

    @cached_property
    def links(self) -> "pd.DataFrame":
        """One row a link and direction: packets arrived, dropped, marked; utilization."""
        return self.table("links")

    def series(self, name: str) -> "pd.DataFrame":
        """Return a recorded series, e.g. "queue", "drops" or "segments".

        Raises
        ------
        KeyError
            If the scenario did not ask for it.
        """
        return self.table(name)

    def arrow(self, name: str) -> "pa.Table":
        """Return a table for Arrow; a time that never came is null."""
        import pyarrow as pa

        columns = self.columns(name).items()
        return pa.table({k: pa.array(c, from_pandas=True) for k, c in columns})

    def write(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write manifest, scenario and tables to a folder, whole or not at all.

        Parameters
        ----------
        folder : path
            The folder to make.
        force : bool
            Replace what an earlier run left there; default False.

        Returns
        -------
        pathlib.Path
            The folder.

        Raises
        ------
        FileExistsError
            If the folder has content, unless it is that of an earlier run and `force` is set.
        OSError
            If it cannot be written.
        """
        with new_folder(Path(folder), force=force) as place:
            self.write_files(place)
        return Path(folder)

    def write_files(self, folder: Path) -> None:
        """Write manifest, scenario and tables into a folder that is there."""
        import pyarrow.csv
        import pyarrow.parquet

        manifest = {"made_by": MADE_BY} | self.manifest | {"tcp": self.tcp}
        _write_json(folder / "manifest.json", manifest)
        _write_json(folder / "scenario.json", self.scenario)
        for name in self.tables:
            table = self.arrow(name)
            with (folder / f"{name}.csv").open("wb") as file:
                file.write((",".join(table.column_names) + "\n").encode())
                options = pyarrow.csv.WriteOptions(include_header=False)
                pyarrow.csv.write_csv(table, file, options)
                _sync(file)
            with (folder / f"{name}.parquet").open("wb") as file:
                pyarrow.parquet.write_table(table, file)
                _sync(file)

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> "Result":
        """Read back what :meth:`write` wrote.

        Raises
        ------
        OSError
            If the folder or one of its files cannot be read.
        """
        import pyarrow.parquet

        folder = Path(folder)
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        for key in ("made_by", "tcp"):
            manifest.pop(key, None)
        tables = {}
        series = manifest["scenario"]["record"]["series"]
        there = [name for name in NOT_ALWAYS if (folder / f"{name}.parquet").exists()]
        for file in ["flows", "links", *there, *series]:
            table = pyarrow.parquet.read_table(folder / f"{file}.parquet")
            tables[file] = {name: _column(table[name]) for name in table.column_names}
        return cls(manifest, tables)

    def __repr__(self) -> str:
        title = self.scenario["title"] or "untitled"
        simulated = self.manifest["simulated_s"]
        return f"<Result {title!r} seed={self.manifest['seed']} simulated_s={simulated:.6g}>"


@contextmanager
def new_folder(folder: Path, *, force: bool = False) -> Iterator[Path]:
    """Give a folder to write a run to, which takes the place of `folder` when the block ends well.

    Raises
    ------
    FileExistsError
        If `folder` has content, unless it is that of an earlier run and `force` is set.
    OSError
        If it cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; give the name of a folder")
    if folder.exists() and any(folder.iterdir()):
        if not _is_run(folder):
            raise FileExistsError(f"{folder} has content that no run made; give another folder")
        if not force:
            raise FileExistsError(
                f"{folder} holds an earlier run; give another folder, or --force to replace it"
            )
    with appearing(folder) as place:
        yield place


@contextmanager
def new_captures(folder: Path, *, force: bool = False) -> Iterator[Path]:
    """Give a folder to write captures to, which takes the place of `folder` in the end.

    Raises
    ------
    FileExistsError
        If `folder` has content, unless that is captures and `force` is set.
    OSError
        If it cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; give the name of a folder")
    if folder.exists():
        files = list(folder.iterdir())
        if not all(f.suffix == ".pcapng" or f.name == "hosts" for f in files):
            raise FileExistsError(f"{folder} has content that is no capture; give another folder")
        if files and not force:
            raise FileExistsError(
                f"{folder} holds earlier captures; give another folder, or --force to replace them"
            )
    with appearing(folder) as place:
        yield place


def _is_run(folder: Path) -> bool:
    try:
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        return bool(manifest["made_by"] == MADE_BY)
    except (OSError, ValueError, TypeError, KeyError):
        return False


def _write_json(path: Path, value: Any) -> None:
    with path.open("w", encoding="utf-8") as file:
        json.dump(value, file, indent=2, ensure_ascii=False)
        file.write("\n")
        _sync(file)


def _sync(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())


def _column(column: "pa.ChunkedArray") -> "np.ndarray | list[str]":
    import pyarrow as pa

    if pa.types.is_string(column.type):
        texts: list[str] = column.to_pylist()
        return texts
    array: np.ndarray = column.to_numpy()
    return array
