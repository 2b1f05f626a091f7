"""Sequence of compressed results, which uses little memory.

The results of an experiment compress well, because their manifests are nearly the same. A
compressed result with two flows takes about 650 bytes, about a fortieth of its uncompressed size in
memory.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import overload

from aqmlab.results import Result
from aqmlab.store.differences import restore, shorten
from aqmlab.store.packing import Packed, pack, unpack


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
        self._base = b""
        self._packed: list[Packed] = [self.packed(result) for result in results]

    def packed(self, result: Result) -> Packed:
        """Return a compressed result for :meth:`put`."""
        packed = pack(result)
        self._base = self._base or packed.words
        return replace(packed, words=shorten(packed.words, self._base))

    def put(self, packed: Iterable[Packed]) -> None:
        """Append compressed results, as :meth:`packed` returns them."""
        self._packed += packed

    def __len__(self) -> int:
        return len(self._packed)

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> list[Result]: ...
    def __getitem__(self, index: int | slice) -> Result | list[Result]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        packed = self._packed[index]
        return unpack(replace(packed, words=restore(packed.words, self._base)))
