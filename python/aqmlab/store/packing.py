"""Serialization of the result of a run: words, columns of small tables, and large tables.

The words are a JSON text with the manifest of the run, and with the names and types of the columns.
The JSON texts of all runs of an experiment are nearly equal and therefore compress well
(:mod:`aqmlab.store.differences`). The columns of small tables are the bytes that the simulator
returned, without conversion. Each large table becomes a Parquet file.
"""

import json
import os
import zlib
from pathlib import Path
from typing import Any

from aqmlab import results
from aqmlab.results import Columns, Packed, Plain, Result, arrays

MOST_BYTES = 64 << 20
"""Maximum decompressed size in bytes of the words, and of the columns of the small tables. Without
a maximum, a few kB of an untrusted file could fill the memory.
"""


def pack(result: Result) -> Packed:
    """Serialize the result of a run."""
    if result.packed is not None:
        return result.packed
    tables: dict[str, Any] = {}
    parts: list[bytes] = []
    large: dict[str, Columns] = {}
    for name in result.tables:
        length, width = result.shape(name)
        if 8 * length * width >= results.LARGE_BYTES:
            large[name] = result.columns(name)
            tables[name] = None
            continue
        columns = result.plain(name)
        types = {key: c if isinstance(c, list) else c[0] for key, c in columns.items()}
        tables[name] = (length, types)
        parts += [c[1] for c in columns.values() if not isinstance(c, list)]
    # The measured durations are at the end of the manifest, because two texts compress best if they
    # differ only at the end.
    words = f"[{json.dumps(tables, ensure_ascii=False)}, {result.manifest_text}]"
    return Packed(words, b"".join(parts), large)


def write_table(path: Path, beside: Path, columns: Columns | Plain) -> None:
    """Write a table to a file, so that the file is complete or absent even after a loss of power.

    A later call of :func:`sync_folder` is needed to write the name of the file to the disk.
    """
    import pyarrow as pa
    import pyarrow.parquet

    table = pa.table(
        {
            name: pa.array(column, pa.string() if isinstance(column, list) else None)
            for name, column in arrays(columns).items()
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
