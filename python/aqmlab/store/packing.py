"""Serialization of the result of a run: words, columns of small tables, and large tables.

The words are a JSON text with the manifest of the run, and with the names and types of the columns.
The JSON texts of all runs of an experiment are nearly equal and therefore compress well
(:mod:`aqmlab.store.differences`). The columns of small tables are the bytes that the simulator
returned, without conversion. Each large table becomes a Parquet file.
"""

import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.results import Columns, Plain, Result, item_bytes
from aqmlab.store.differences import restore, shorten

LARGE_BYTES = 256 << 10
"""Minimum size in bytes of a large table. Smaller tables are faster in SQLite than in a file."""

MOST_BYTES = 64 << 20
"""Maximum decompressed size in bytes of the words, and of the columns of the small tables. Without
a maximum, a few kB of an untrusted file could fill the memory.
"""

DECODER = json.JSONDecoder()
"""Decoder that can parse one JSON text followed by another one."""


@dataclass(frozen=True, slots=True)
class Packed:
    """Serialized result of a run.

    Attributes
    ----------
    words : bytes
        Manifest of the run, and names and types of the columns of each table, as JSON.
    columns : bytes
        Compressed columns of the small tables.
    large : mapping of str to columns
        Large tables by name.
    """

    words: bytes
    columns: bytes
    large: Mapping[str, Columns]


def pack(result: Result) -> Packed:
    """Serialize the result of a run."""
    tables: dict[str, Any] = {}
    parts: list[bytes] = []
    large: dict[str, Columns] = {}
    for name in result.tables:
        length, width = result.shape(name)
        if 8 * length * width >= LARGE_BYTES:
            large[name] = result.columns(name)
            tables[name] = None
            continue
        columns = result.plain(name)
        types = {key: c if isinstance(c, list) else c[0] for key, c in columns.items()}
        tables[name] = (length, types)
        parts += [c[1] for c in columns.values() if not isinstance(c, list)]
    # The measured durations are at the end of the manifest, because two texts compress best if they
    # differ only at the end.
    words = f"[{json.dumps(tables, ensure_ascii=False)}, {result.manifest_text}]".encode()
    return Packed(words, shorten(b"".join(parts), b""), large)


def unpack(packed: Packed) -> Result:
    """Return the result that :func:`pack` serialized. The manifest is parsed on first access.

    Raises
    ------
    ValueError, zlib.error
        If a part of the serialized result is damaged.
    """
    words = packed.words.decode()
    tables, end = DECODER.raw_decode(words, 1)
    columns, at = restore(packed.columns, b"", MOST_BYTES), 0
    result: dict[str, Columns | Plain] = {}
    for name, table in tables.items():
        if table is None:
            result[name] = packed.large[name]
            continue
        small: dict[str, Any] = {}
        length, types = table
        for key, column in types.items():
            if isinstance(column, list):
                small[key] = column
            else:
                till = at + length * item_bytes(column)
                small[key] = column, columns[at:till]
                at = till
        result[name] = small
    if at != len(columns):
        raise ValueError(
            f"the columns have {len(columns)} bytes, but according to their types they need {at}"
        )
    return Result(words[end + len(", ") : -len("]")], result)


def write_table(path: Path, beside: Path, columns: Columns) -> None:
    """Write a table to a file, so that the file is complete or absent even after a loss of power.

    A later call of :func:`sync_folder` is needed to write the name of the file to the disk.
    """
    import pyarrow as pa
    import pyarrow.parquet

    table = pa.table(
        {
            name: pa.array(column, pa.string() if isinstance(column, list) else None)
            for name, column in columns.items()
        }
    )
    try:
        with beside.open("wb") as file:
            pyarrow.parquet.write_table(table, file, compression="zstd", write_page_checksum=True)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def read_table(path: Path) -> Columns:
    """Read the columns of a table from a file that :func:`write_table` wrote.

    Raises
    ------
    OSError, ValueError
        If the file does not exist, or if it is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet

    # The file is read into memory first, because the threads of Arrow may still use a Python file
    # object after the interpreter has ended.
    content = pa.BufferReader(path.read_bytes())
    table = pyarrow.parquet.read_table(content, page_checksum_verification=True)
    return {
        name: table[name].to_pylist()
        if pa.types.is_string(table[name].type)
        else table[name].to_numpy()
        for name in table.column_names
    }


def sync_folder(folder: Path) -> None:
    """Write the directory entries of a folder, such as names of new files, to the disk."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, MemoryError, zlib.error)
"""Exceptions that can be raised by reading a damaged result."""
