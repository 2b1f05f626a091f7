"""Sequence of results that uses little memory, because it unpacks a result only when it is read.

The manifests of the runs of an experiment are nearly the same, and their columns compress well. A
packed result of two flows takes about 650 bytes, and its objects take about forty times as much.
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
        """Return a packed result for :meth:`put`."""
        packed = pack(result)
        self._base = self._base or packed.words
        return replace(packed, words=shorten(packed.words, self._base))

    def put(self, packed: Iterable[Packed]) -> None:
        """Append results that :meth:`packed` returned."""
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
