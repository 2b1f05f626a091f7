"""Sequence of compressed results, which uses little memory.

The results of an experiment compress well, because their manifests are nearly the same. A
compressed result with two flows takes about 650 bytes, about a fortieth of its uncompressed size in
memory.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, overload

from aqmlab.results import Columns, Packed, Plain, Result
from aqmlab.store.differences import Base, restore
from aqmlab.store.packing import pack


class Pack(NamedTuple):
    """Compressed result.

    Attributes
    ----------
    content : bytes
        Words and columns of the result, compressed together.
    words_bytes : int
        Number of bytes of the words.
    large : mapping of str to columns
        Large tables by name.
    """

    content: bytes
    words_bytes: int
    large: Mapping[str, Columns | Plain]


class Packs(Sequence[Result]):
    """Sequence of packed results.

    Examples
    --------
    >>> import aqmlab
    >>> results = Packs(aqmlab.replicate("examples/one_flow.toml", 2))
    >>> [result.manifest["seed"] for result in results], len(results)
    ([1, 2], 2)
    """

    def __init__(self, results: Iterable[Result] = ()) -> None:
        self._base: Base | None = None
        self._packs: list[Pack] = [self.packed(result) for result in results]

    def packed(self, result: Result) -> Pack:
        """Return a compressed result for :meth:`put`."""
        packed = pack(result)
        words = packed.words.encode()
        content = words + packed.columns
        self._base = self._base or Base(content)
        return Pack(self._base.shorten(content), len(words), packed.large)

    def put(self, packs: Iterable[Pack]) -> None:
        """Append compressed results, as :meth:`packed` returns them."""
        self._packs += packs

    def __len__(self) -> int:
        return len(self._packs)

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> list[Result]: ...
    def __getitem__(self, index: int | slice) -> Result | list[Result]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        one = self._packs[index]
        assert self._base is not None, "a result has been compressed"
        content = restore(one.content, self._base.text)
        words, columns = content[: one.words_bytes].decode(), content[one.words_bytes :]
        return Result.of_packed(Packed(words, columns, one.large))
