"""A result as bytes: what it is in words, its small columns, its large tables as Parquet.

In words are the manifest and the names and types of columns, which runs of one experiment have
nearly in common (:mod:`aqmlab.store.differences`). What follows is the columns one after the other,
as the simulator gave them, so that a result costs what its columns cost.
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
"""Tables from here on are files of their own: SQLite handles smaller ones faster than files."""

MOST_BYTES = 64 << 20
"""Maximum size of words, or of the columns of small tables, in bytes: a few kB of an untrusted file
may inflate to more than the memory."""

DECODER = json.JSONDecoder()
"""Reads the first of two texts in JSON, and says where it ends."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A result in parts.

    Attributes
    ----------
    words : bytes
        Manifest, tables, columns and their types, as JSON.
    columns : bytes
        The columns of small tables, compressed.
    large : mapping of str to columns
        The other tables.
    """

    words: bytes
    columns: bytes
    large: Mapping[str, Columns]


def pack(result: Result) -> Packed:
    """Return a result in parts."""
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
        said = {key: c if isinstance(c, list) else c[0] for key, c in columns.items()}
        tables[name] = (length, said)
        parts += [c[1] for c in columns.values() if not isinstance(c, list)]
    # What the machine's speed says comes last, where a difference costs least.
    words = f"[{json.dumps(tables, ensure_ascii=False)}, {result.manifest_text}]".encode()
    return Packed(words, shorten(b"".join(parts), b""), large)


def unpack(packed: Packed) -> Result:
    """Return the result that :func:`pack` was given; its manifest is read when it is asked for.

    Raises
    ------
    ValueError, zlib.error
        If a part is damaged.
    """
    words = packed.words.decode()
    tables, end = DECODER.raw_decode(words, 1)
    columns, at = restore(packed.columns, b"", MOST_BYTES), 0
    found: dict[str, Columns | Plain] = {}
    for name, table in tables.items():
        if table is None:
            found[name] = packed.large[name]
            continue
        taken: dict[str, Any] = {}
        length, said = table
        for key, column in said.items():
            if isinstance(column, list):
                taken[key] = column
            else:
                till = at + length * item_bytes(column)
                taken[key] = column, columns[at:till]
                at = till
        found[name] = taken
    if at != len(columns):
        raise ValueError(f"the columns have {len(columns)} bytes of {at}")
    return Result(words[end + len(", ") : -len("]")], found)


def write_table(path: Path, beside: Path, columns: Columns) -> None:
    """Write a table to a file that is there whole or not at all, after a loss of power too.

    Its name is sure once its folder is written to the disk (:func:`sync_folder`).
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
        If the file is not there, or damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet

    # Bytes and no file of Python: threads of Arrow that read one can outlive the interpreter.
    content = pa.BufferReader(path.read_bytes())
    table = pyarrow.parquet.read_table(content, page_checksum_verification=True)
    return {
        name: table[name].to_pylist()
        if pa.types.is_string(table[name].type)
        else table[name].to_numpy()
        for name in table.column_names
    }


def sync_folder(folder: Path) -> None:
    """Make sure of the names in a folder."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, MemoryError, zlib.error)
"""What reading a result that is not whole raises."""
