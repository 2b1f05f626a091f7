"""Result of a run: a manifest and tables, in memory or in a folder.

The folder of a run has ``manifest.json`` with information about the run, ``scenario.json`` with the
scenario, and each table as a CSV file and as a Parquet file. The folder is written atomically
(:mod:`aqmlab.folder`).
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import _core, representation
from aqmlab._core import FORMAT
from aqmlab.folder import appearing

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from aqmlab.figures.of_result import Plots

Columns = Mapping[str, Any]
"""Columns of a table by name; a column is a numpy array or a list of str."""
Plain = Mapping[str, tuple[str, bytes] | list[str]]
"""Columns in the form of the simulator: a numpy type such as ``<f8`` with bytes, or a list of
str."""

MANIFEST = "manifest.json"
MADE_BY = "aqmlab run"
CAPTURES = "aqmlab run --pcap"
SHOWN = (
    ("flow", "flow", str),
    ("goodput_bps", "goodput (Mbit/s)", lambda x: f"{1e-6 * x:.3g}"),
    ("completed_s", "completed (s)", lambda x: "–" if x != x else f"{x:.4g}"),
    ("retransmitted_segments", "retransmitted segments", str),
    ("dropped_packets", "dropped packets", str),
    ("marked_packets", "marked packets", str),
)
"""Columns of the table of flows in a notebook: name, heading and format."""
NOT_ALWAYS = (
    *("replies", "exchanges", "connections"),
    *("classes", "conditioners", "impairments", "datagrams"),
)


LARGE_BYTES = _core.LARGE_BYTES
"""Minimum size in bytes of a large table. Smaller tables are faster in SQLite than in a file."""
DECODER = json.JSONDecoder()
"""Decoder that can parse one JSON text followed by another one."""
TIMES = ',"setup":'
"""Text of a simulator's manifest before the durations. A JSON string cannot contain this text."""


@dataclass(frozen=True, slots=True)
class Packed:
    """Serialized result of a run, as the simulator returns it.

    Attributes
    ----------
    words : str
        JSON list of two tables, without spaces at its ends and with ", " between the tables. The
        first table has an entry for each table of the result: the number of rows, and the columns
        by name. A column is the numpy type of its numbers, or a list of str. The entry of a large
        table is null. The second table is the manifest of the run.
    columns : bytes
        Numbers of the small tables, column by column.
    large : mapping of str to columns
        Large tables by name.
    """

    words: str
    columns: bytes
    large: "Mapping[str, Columns | Plain]"

    def unpacked(self) -> "tuple[str, dict[str, Columns | Plain]]":
        """Return the manifest as JSON text, and the tables.

        Raises
        ------
        ValueError, KeyError, TypeError, AttributeError
            If the serialized result is damaged.
        """
        descriptions, end = DECODER.raw_decode(self.words, 1)
        tables: dict[str, Columns | Plain] = {}
        at = 0
        for name, description in descriptions.items():
            if description is None:
                tables[name] = self.large[name]
                continue
            small: dict[str, Any] = {}
            length, types = description
            for key, column in types.items():
                if isinstance(column, list):
                    small[key] = column
                else:
                    till = at + length * item_bytes(column)
                    small[key] = column, self.columns[at:till]
                    at = till
            tables[name] = small
        if at != len(self.columns):
            raise ValueError(
                f"the columns have {len(self.columns)} bytes, but according to their types they "
                f"need {at}"
            )
        return self.words[end + len(", ") : -len("]")], tables


class NotMeasuredError(KeyError, ValueError):
    """Raised by access to a table or a column that a run does not have.

    Measures, experiments, comparisons and reports catch the error and show "not measured".
    """

    def __str__(self) -> str:
        return str(self.args[0])


class Present(dict[str, Any]):
    """Columns of a table as a dict in which a missing column raises :class:`NotMeasuredError`."""

    def __init__(self, table: str, columns: Columns) -> None:
        super().__init__(columns)
        self._table = table

    def __missing__(self, name: str) -> Any:
        raise NotMeasuredError(
            f"{self._table}.{name} is not measured, because the engine did not fill this column"
        )


class Result:
    """Result of a finished run.

    Attributes
    ----------
    manifest : dict
        Information about the run. ``scenario`` is the scenario with all default values.
        ``tie_share`` is the share of events at the same time as the preceding event. ``warnings``
        has the key and the text of each warning. ``setup`` and ``running`` are durations, each with
        ``wall_s`` and ``cpu_s``; only these durations differ if the run is repeated. The other keys
        are ``seed``, ``version``, ``build``, ``simulated_s`` and ``events``. In a folder, the
        manifest also has ``tcp`` and ``tables``. If another engine than the simulator executed the
        run, the manifest has ``measured`` (columns by table) instead of ``events`` and
        ``tie_share``.
    """

    def __init__(
        self, manifest: dict[str, Any] | str, tables: Mapping[str, Columns | Plain]
    ) -> None:
        self._content: Packed | tuple[dict[str, Any] | str, dict[str, Columns | Plain]]
        self._content = manifest, dict(tables)

    @classmethod
    def of_packed(cls, packed: Packed) -> "Result":
        """Return a serialized result, which is unpacked on first access."""
        result = cls.__new__(cls)
        result._content = packed
        return result

    @property
    def packed(self) -> Packed | None:
        """Serialized result; None if the result is unpacked."""
        return self._content if isinstance(self._content, Packed) else None

    def _unpacked(self) -> tuple[dict[str, Any] | str, dict[str, Columns | Plain]]:
        """Return the manifest and the tables; unpack the result on first access."""
        if isinstance(self._content, Packed):
            self._content = self._content.unpacked()
        return self._content

    @property
    def _manifest(self) -> dict[str, Any] | str:
        return self._unpacked()[0]

    @property
    def _tables(self) -> dict[str, Columns | Plain]:
        return self._unpacked()[1]

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """Manifest of the run as a dict, parsed on first access."""
        stored = self._manifest
        manifest: dict[str, Any] = json.loads(stored) if isinstance(stored, str) else stored
        return manifest

    @property
    def manifest_text(self) -> str:
        """Manifest of the run as JSON text."""
        stored = self._manifest
        return stored if isinstance(stored, str) else json.dumps(stored, ensure_ascii=False)

    @property
    def wall_s(self) -> float:
        """Duration of the run in s, with its setup, without parsing the whole manifest."""
        words = self.packed.words if self.packed else ""
        at = words.rfind(TIMES)
        durations = self.manifest if at < 0 else json.loads(f"{{{words[at + 1 : -1]}")
        return float(sum(durations.get(of, {}).get("wall_s", 0) for of in ("setup", "running")))

    @property
    def scenario(self) -> dict[str, Any]:
        """Scenario of the run with all default values."""
        scenario: dict[str, Any] = self.manifest["scenario"]
        return scenario

    @cached_property
    def tcp(self) -> list[dict[str, Any]]:
        """Effective TCP settings, with one table per group of flows with equal settings.

        ``flows`` has the names and the number of the flows in a group, and ``ecn`` the mode of ECN
        that the sender requests. ``sender`` and ``receiver`` have the TCP parameters of the two
        endpoints.
        """
        groups: list[dict[str, Any]] = json.loads(_core.tcp(json.dumps(self.scenario)))
        return groups

    @property
    def warnings(self) -> list[str]:
        """Warnings about settings that are valid but probably unintended, one sentence each."""
        return [warning["text"] for warning in self.manifest.get("warnings", [])]

    @property
    def tables(self) -> list[str]:
        """Names of the tables of the run: flows, links, optional tables, and recorded series."""
        return list(self._tables)

    def columns(self, table: str) -> Columns:
        """Return the columns of a table as read-only numpy arrays and lists of str, without pandas.

        Raises
        ------
        NotMeasuredError
            If the run does not have the table. Later access to a missing column raises the same
            error.
        """
        columns = self._table(table)
        if not isinstance(columns, Present):
            columns = self._tables[table] = Present(table, arrays(columns))
        return columns

    def _table(self, table: str) -> Columns | Plain:
        if table not in self._tables:
            have = ", ".join(self._tables)
            raise NotMeasuredError(
                f"{table!r} is not a table of this run, which has {have}; to record a series, "
                f'write [record] series = ["{table.removeprefix("reply_")}"] in the scenario'
            )
        return self._tables[table]

    def measures(self, table: str) -> bool:
        """Return True if the engine measures the quantities of a table; the table may be empty."""
        return table in self._tables or table in self.manifest.get("measured", (table,))

    def shape(self, table: str) -> tuple[int, int]:
        """Return the numbers of rows and columns of a table; for errors see :meth:`columns`."""
        columns = self._table(table)
        first = next(iter(columns.values()), [])
        plain = isinstance(first, tuple)
        return len(first[1]) // item_bytes(first[0]) if plain else len(first), len(columns)

    def plain(self, table: str) -> Plain:
        """Return a table in the simulator's form; see :meth:`columns` for the errors."""
        columns = self._table(table)
        if all(isinstance(column, tuple | list) for column in columns.values()):
            return columns
        return {name: _plain(column) for name, column in columns.items()}

    def read_all(self) -> None:
        """Parse the manifest and all columns at once, instead of on first access.

        Raises
        ------
        ValueError, TypeError
            If the manifest or a column is invalid.
        """
        if not isinstance(self.manifest, dict):
            raise ValueError("the manifest is not a table")
        for table in self._tables:
            lengths = {len(column) for column in self.columns(table).values()}
            if len(lengths) > 1:
                raise ValueError(f"columns of {table} have {' and '.join(map(str, lengths))} rows")

    def table(self, name: str) -> "pd.DataFrame":
        """Return a table as a new DataFrame; docs/results.md describes the columns.

        Raises
        ------
        KeyError
            If the run does not have the table.
        """
        import pandas as pd

        return pd.DataFrame(dict(self.columns(name)))

    @cached_property
    def flows(self) -> "pd.DataFrame":
        """Table with one row per flow: times, goodput, and counts of packets."""
        return self.table("flows")

    @cached_property
    def links(self) -> "pd.DataFrame":
        """Table with one row per direction of a link: counts of packets, and utilization."""
        return self.table("links")

    def series(self, name: str) -> "pd.DataFrame":
        """Return a recorded series, for example "queue", "drops" or "segments".

        Raises
        ------
        KeyError
            If the run did not record the series.
        """
        return self.table(name)

    def arrow(self, name: str) -> "pa.Table":
        """Return a table as an Arrow table; a time that is NaN becomes null."""
        import pyarrow as pa

        columns = self.columns(name).items()
        return pa.table({k: pa.array(c, from_pandas=True) for k, c in columns})

    def write(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the manifest, the scenario and all tables to a folder, atomically.

        Parameters
        ----------
        folder : path
            The folder to create.
        force : bool
            True to replace the folder of an earlier run; default False.

        Returns
        -------
        pathlib.Path
            The folder.

        Raises
        ------
        FileExistsError
            If the folder has content, unless this content is an earlier run and `force` is True.
        OSError
            If the folder cannot be written.
        """
        with appearing(Path(folder), MADE_BY, force=force) as place:
            self.write_files(place)
        return Path(folder)

    def write_files(self, folder: Path) -> None:
        """Write manifest, scenario and tables into an existing folder."""
        import pyarrow.csv
        import pyarrow.parquet

        manifest = {"made_by": MADE_BY, "format": FORMAT} | self.manifest
        manifest |= {"tcp": self.tcp, "tables": self.tables}
        _write_json(folder / MANIFEST, manifest)
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
        """Read the result of a run from a folder that :meth:`write` wrote.

        Raises
        ------
        OSError
            If the folder or one of its files cannot be read.
        """
        import pyarrow.parquet

        folder = Path(folder)
        if folder.is_dir() and not (folder / MANIFEST).exists():
            raise FileNotFoundError(
                f"{folder} is not the folder of a run, because it has no {MANIFEST}; give a folder "
                "that "
                "aqmlab run --out wrote"
            )
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        if manifest.get("format", FORMAT) != FORMAT:
            raise OSError(
                f"{folder / MANIFEST}: format: {manifest['format']!r} must be {FORMAT}, the format "
                "of this version of aqmlab; read the folder with the version that wrote it"
            )
        for key in ("made_by", "format", "tcp"):
            manifest.pop(key, None)
        tables = {}
        for file in manifest.pop("tables"):
            if not re.fullmatch(r"\w+", file):
                raise ValueError(f"{folder / MANIFEST}: {file!r} is not the name of a table")
            # The file is read into memory first, because the threads of Arrow may still use a
            # Python file object after the interpreter has ended.
            content = pyarrow.BufferReader((folder / f"{file}.parquet").read_bytes())
            table = pyarrow.parquet.read_table(content)
            tables[file] = {name: _column(table[name]) for name in table.column_names}
        return cls(manifest, tables)

    def __repr__(self) -> str:
        title = self.scenario["title"] or "untitled"
        simulated = self.manifest["simulated_s"]
        return f"<Result {title!r} seed={self.manifest['seed']} simulated_s={simulated:.6g}>"

    @property
    def origin(self) -> str:
        """Title of the scenario, seed, and version of aqmlab, for the metadata of figures."""
        version = self.manifest.get("version")
        aqmlab = f"; aqmlab {version}" if version else ""
        return f"{self.scenario['title'] or 'Untitled'}; seed {self.manifest['seed']}{aqmlab}"

    @property
    def plot(self) -> "Plots":
        """Figures of the run: ``plot.queue()``, ``.window()``, ``.sequence()`` and ``.rtt()``."""
        # The module of the figures imports this module.
        plots: Plots = import_module("aqmlab.figures.of_result").Plots(self)
        return plots

    def _repr_html_(self) -> str:
        manifest = self.manifest
        version = f", aqmlab {manifest['version']}" if "version" in manifest else ""
        lines = [f"{manifest['simulated_s']:.6g} s simulated, seed {manifest['seed']}{version}"]
        flows = self.columns("flows") if "flows" in self.tables else {}
        shown = [shape for shape in SHOWN if shape[0] in flows]
        columns = [[text(value) for value in flows[name]] for name, _, text in shown]
        rows = [list(row) for row in zip(*columns, strict=True)]
        queue = "queue" in self.tables and self.shape("queue")[0] > 1
        return representation.card(
            self.scenario["title"] or "Untitled scenario", lines, warnings=self.warnings,
            head=[head for _, head, _ in shown], rows=rows,
            pictures=[self.plot.small_queue()] if queue else [],
        )  # fmt: skip


def busiest_link(result: Result, among: Iterable[str] | None = None) -> str:
    """Return the link that transmitted packets for the longest time; "" without links.

    Parameters
    ----------
    result : Result
        Result of a run.
    among : iterable of str, optional
        Names of the considered links; default: all links of the run.

    Examples
    --------
    >>> import aqmlab
    >>> busiest_link(aqmlab.run("examples/one_flow.toml"))
    'left>right'
    """
    links = result.columns("links") if "links" in result.tables else {}
    busy = dict(zip(links.get("link", ()), map(float, links.get("busy_s", ())), strict=False))
    chosen = links.get("link", ()) if among is None else among
    return max(chosen, key=lambda link: busy.get(link, 0.0), default="")


@contextmanager
def new_folders(
    out: Path | None, pcap: Path | None, *, force: bool = False
) -> Iterator[tuple[Path | None, Path | None]]:
    """Yield new folders for a run and its packet captures, which replace `out` and `pcap`.

    The new folders replace the old ones at the end of the `with` block. The folder of the captures
    may be inside the folder of the run, or the same folder.

    Raises
    ------
    FileExistsError
        If a folder has content, unless this content is an earlier run and `force` is True.
    ValueError
        If the folder of the run is inside the folder of its captures.
    OSError
        If a folder cannot be written.
    """
    inside = _inside(pcap, out)
    if inside is None and _inside(out, pcap) is not None:
        raise ValueError(
            f"--out {out} is inside --pcap {pcap}; put the captures inside the run instead: --pcap "
            f"{out}/captures"
        )
    with ExitStack() as stack:
        run = out and stack.enter_context(appearing(out, MADE_BY, force=force))
        if run and inside is not None:
            (run / inside).mkdir(parents=True, exist_ok=True)
            yield run, run / inside
            return
        yield run, pcap and stack.enter_context(appearing(pcap, CAPTURES, force=force))


@cache
def item_bytes(dtype: str) -> int:
    """Return the size in bytes of one number of a numpy type.

    Examples
    --------
    >>> item_bytes("<f8"), item_bytes("|b1")
    (8, 1)
    """
    return int(dtype[2:])


def _plain(column: Any) -> Any:
    return column if isinstance(column, list | tuple) else (column.dtype.str, column.tobytes())


def arrays(columns: Columns | Plain) -> Columns:
    """Return numpy arrays that share memory with the columns from the simulator."""
    if not any(isinstance(column, tuple) for column in columns.values()):
        return columns
    import numpy as np

    arrays: Columns = {
        name: np.frombuffer(column[1], column[0]) if isinstance(column, tuple) else column
        for name, column in columns.items()
    }
    return arrays


def _inside(one: Path | None, other: Path | None) -> Path | None:
    """Return the path of a folder relative to another folder; None if it is not inside."""
    if one is None or other is None:
        return None
    inner, outer = (Path(os.path.realpath(folder)) for folder in (one, other))
    return inner.relative_to(outer) if inner.is_relative_to(outer) else None


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
