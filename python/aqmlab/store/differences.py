"""Compression of similar texts, each stored as its difference from a base text.

Deflate (RFC 1951) replaces repetitions of the preceding 32 KiB, and accepts a dictionary as the
text before the beginning. With the scenario of a similar run as the dictionary, a scenario with all
defaults takes about fifty bytes.
"""

import zlib

LEVEL = 1
"""Compression level. The fastest, because higher levels hardly shorten similar texts."""


def shorten(text: bytes, base: bytes) -> bytes:
    """Return a text as its compressed difference from a base text.

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
    """Return the text that :func:`shorten` compressed.

    Parameters
    ----------
    short, base : bytes
        The return value of :func:`shorten`, and its base text.
    most : int
        Maximum number of bytes of the text; 0 for no maximum.

    Raises
    ------
    zlib.error
        If the data is damaged according to its checksum, or the text is longer than `most`.
    """
    inflate = zlib.decompressobj(zdict=base) if base else zlib.decompressobj()
    text = inflate.decompress(short, most)
    if inflate.unconsumed_tail:
        raise zlib.error(f"the text has more than {most} bytes")
    if not inflate.eof:
        raise zlib.error("the data is incomplete")
    return text


class Texts:
    """A compact sequence of similar texts, which it decompresses on access."""

    def __init__(self) -> None:
        self._base = b""
        self._short: list[bytes] = []

    def add(self, text: str) -> int:
        """Store a text and return its index."""
        whole = text.encode()
        self._base = self._base or whole
        self._short.append(shorten(whole, self._base))
        return len(self._short) - 1

    def __getitem__(self, number: int) -> str:
        return restore(self._short[number], self._base).decode()
