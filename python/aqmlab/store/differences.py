"""Compression of similar texts, each of which is stored as its difference from a base text.

The compression method Deflate (RFC 1951) replaces repetitions of parts of the preceding 32 KiB. The
base text is the preset dictionary of Deflate, so Deflate also replaces parts that occur in the base
text. If the base text is the scenario of a similar run, Deflate compresses a scenario with all
default values to about fifty bytes.
"""

import zlib
from typing import Any

LEVEL = 1
"""Compression level: the fastest, because higher levels hardly reduce the size of similar texts."""


WINDOW_BITS = 10, 15
"""Minimum and maximum base-2 logarithm of the window of Deflate in bytes."""
MATCH_BYTES = 262
"""Number of bytes of the window that Deflate does not use for repetitions."""


class Base:
    """Base text of similar texts.

    The base text is read once by a compressor. Each text is compressed by a copy of this
    compressor. The window of the compressor is not larger than the base text requires, because the
    time to copy a compressor is proportional to its window.

    Attributes
    ----------
    text : bytes
        The base text.
    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._compressor = _compressor(len(text), text)

    def __reduce__(self) -> tuple[Any, ...]:
        return Base, (self.text,)

    def shorten(self, text: bytes) -> bytes:
        """Compress a text as its difference from the base text."""
        deflate = self._compressor.copy()
        return deflate.compress(text) + deflate.flush()


def _compressor(reach: int, base: bytes) -> "zlib._Compress":
    """Return a compressor that finds repetitions at distances of up to `reach` bytes."""
    least, most = WINDOW_BITS
    bits = min(max((reach + MATCH_BYTES).bit_length(), least), most)
    if not base:
        return zlib.compressobj(LEVEL, wbits=bits, memLevel=bits - 7)
    return zlib.compressobj(LEVEL, wbits=bits, memLevel=bits - 7, zdict=base)


def shorten(text: bytes, base: bytes) -> bytes:
    """Compress a text as its difference from a base text.

    Examples
    --------
    >>> base = bytes(range(200))
    >>> len(shorten(base + b"x", base)) < 20
    True
    >>> restore(shorten(base + b"x", base), base) == base + b"x"
    True
    """
    deflate = _compressor(len(base or text), base)
    return deflate.compress(text) + deflate.flush()


def restore(short: bytes, base: bytes, most: int = 0) -> bytes:
    """Decompress a text that :func:`shorten` compressed.

    Parameters
    ----------
    short, base : bytes
        Return value of :func:`shorten`, and the base text that was passed to it.
    most : int
        Maximum number of bytes of the decompressed text; 0 means no maximum.

    Raises
    ------
    zlib.error
        If the checksum of the data is wrong, or if the decompressed text has more than `most`
        bytes.
    """
    inflate = zlib.decompressobj(zdict=base) if base else zlib.decompressobj()
    text = inflate.decompress(short, most)
    if inflate.unconsumed_tail:
        raise zlib.error(f"the decompressed text has more than {most} bytes")
    if not inflate.eof:
        raise zlib.error("the compressed data is incomplete")
    return text


class Texts:
    """Sequence of similar texts that are compressed in memory; a text is decompressed on access."""

    def __init__(self) -> None:
        self._base: Base | None = None
        self._short: list[bytes] = []

    def add(self, text: str) -> int:
        """Append a text, and return its index."""
        whole = text.encode()
        self._base = self._base or Base(whole)
        self._short.append(self._base.shorten(whole))
        return len(self._short) - 1

    def __getitem__(self, number: int) -> str:
        assert self._base is not None, "a text has been appended"
        return restore(self._short[number], self._base.text).decode()
