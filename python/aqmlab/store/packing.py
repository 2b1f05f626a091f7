"""Serialization of a result: words, columns of small tables, and large tables as Parquet.

The words are the manifest, and the names and types of the columns. The words are nearly equal in
the runs of one experiment (:mod:`aqmlab.store.differences`). The columns follow as the bytes that
the simulator returned, without conversion.
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
"""Minimum size of a table with a file of its own. SQLite stores smaller ones faster than files."""

MOST_BYTES = 64 << 20
"""Maximum size in bytes of the words, and of the columns of the small tables.

A few kB of an untrusted file could otherwise fill the memory when they are decompressed.
"""

DECODER = json.JSONDecoder()
"""Decoder of the first of two JSON texts, which returns the end of the first one."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A serialized result.

    Attributes
    ----------
    words : bytes
        Manifest, tables, columns and their types, as JSON.
    columns : bytes
        Columns of the small tables, compressed.
    large : mapping of str to columns
        The large tables.
    """

    words: bytes
    columns: bytes
    large: Mapping[str, Columns]


def pack(result: Result) -> Packed:
    """Serialize a result."""
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
    # The measured times of the machine come last, where a difference compresses best.
    words = f"[{json.dumps(tables, ensure_ascii=False)}, {result.manifest_text}]".encode()
    return Packed(words, shorten(b"".join(parts), b""), large)


def unpack(packed: Packed) -> Result:
    """Return the result that :func:`pack` serialized; its manifest is parsed on access.

    Raises
    ------
    ValueError, zlib.error
        If a part is damaged.
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
        raise ValueError(f"the columns have {len(columns)} bytes, and their types need {at}")
    return Result(words[end + len(", ") : -len("]")], result)


def write_table(path: Path, beside: Path, columns: Columns) -> None:
    """Write a table to a file that is complete or absent, also after a loss of power.

    The name of the file is on the disk only after :func:`sync_folder`.
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
    """Return the columns that :func:`write_table` wrote.

    Raises
    ------
    OSError, ValueError
        If the file does not exist or is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet

    # Arrow reads bytes, because its threads that read a Python file can outlive the interpreter.
    content = pa.BufferReader(path.read_bytes())
    table = pyarrow.parquet.read_table(content, page_checksum_verification=True)
    return {
        name: table[name].to_pylist()
        if pa.types.is_string(table[name].type)
        else table[name].to_numpy()
        for name in table.column_names
    }


def sync_folder(folder: Path) -> None:
    """Write the names of the files in a folder to the disk."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, MemoryError, zlib.error)
"""Exceptions that reading a damaged result can raise."""
