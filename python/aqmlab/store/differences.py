"""Compression of similar texts, each of which is stored as its difference from a base text.

The compression method Deflate (RFC 1951) replaces repetitions of parts of the preceding 32 KiB. The
base text is the preset dictionary of Deflate, so Deflate also replaces parts that occur in the base
text. If the base text is the scenario of a similar run, Deflate compresses a scenario with all
default values to about fifty bytes.
"""

import zlib

LEVEL = 1
"""Compression level: the fastest, because higher levels hardly reduce the size of similar texts."""


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
    deflate = zlib.compressobj(LEVEL, zdict=base) if base else zlib.compressobj(LEVEL)
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
        self._base = b""
        self._short: list[bytes] = []

    def add(self, text: str) -> int:
        """Append a text, and return its index."""
        whole = text.encode()
        self._base = self._base or whole
        self._short.append(shorten(whole, self._base))
        return len(self._short) - 1

    def __getitem__(self, number: int) -> str:
        return restore(self._short[number], self._base).decode()
