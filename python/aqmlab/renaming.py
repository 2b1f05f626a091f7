"""Atomic exchange of two folders, on operating systems that support this operation."""

import ctypes
import sys
from functools import cache
from pathlib import Path
from typing import Any

AT_FDCWD = -100 if sys.platform == "linux" else -2
EXCHANGE = 2
"""RENAME_EXCHANGE of Linux (include/uapi/linux/fs.h), RENAME_SWAP of macOS (sys/stdio.h)."""


@cache
def _rename() -> Any:
    """Return renameat2 of Linux or renameatx_np of macOS; None if the system has neither."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        rename = library.renameat2 if sys.platform == "linux" else library.renameatx_np
    except (OSError, AttributeError, TypeError):
        return None
    rename.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    rename.restype = ctypes.c_int
    return rename


def exchange(one: Path, other: Path) -> bool:
    """Exchange two paths atomically; return False if the system does not support this."""
    rename = _rename()
    if rename is None:
        return False
    paths = (str(path).encode("utf-8", "surrogateescape") for path in (one, other))
    return bool(rename(AT_FDCWD, next(paths), AT_FDCWD, next(paths), EXCHANGE) == 0)
