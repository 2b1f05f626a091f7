"""Texts that are nearly alike, each kept as what it says otherwise than one of them.

Deflate (RFC 1951) finds what was said before in the 32 KiB behind it, and may be given what is
behind the beginning. With a text of the same kind there, the scenario of one run among many, with
every default, is some fifty bytes.
"""

import zlib

LEVEL = 1
"""The quickest; higher ones find little more in texts that are nearly alike."""


def shorten(text: bytes, base: bytes) -> bytes:
    """Return what a text says otherwise than another.

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
    """Return the text that :func:`shorten` was given.

    Parameters
    ----------
    short, base : bytes
        What :func:`shorten` returned, and the text that it was given beside.
    most : int
        Maximum number of bytes of the text; 0 for no maximum.

    Raises
    ------
    zlib.error
        If it is damaged, as its checksum shows, or longer than `most`.
    """
    inflate = zlib.decompressobj(zdict=base) if base else zlib.decompressobj()
    text = inflate.decompress(short, most)
    if inflate.unconsumed_tail:
        raise zlib.error(f"more than {most} bytes")
    if not inflate.eof:
        raise zlib.error("a part is missing")
    return text


class Texts:
    """Many texts in little memory, by their number; as a sequence they are made when asked for."""

    def __init__(self) -> None:
        self._base = b""
        self._short: list[bytes] = []

    def add(self, text: str) -> int:
        """Keep a text and return its number."""
        whole = text.encode()
        self._base = self._base or whole
        self._short.append(shorten(whole, self._base))
        return len(self._short) - 1

    def __getitem__(self, number: int) -> str:
        return restore(self._short[number], self._base).decode()
