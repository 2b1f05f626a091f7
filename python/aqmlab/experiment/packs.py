"""Many results in little memory: each is unpacked when it is asked for.

What runs of one experiment say in words they say nearly alike, and their columns compress, so one
of two flows takes some 650 bytes where its objects take forty times as many.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import overload

from aqmlab.results import Result
from aqmlab.store.differences import restore, shorten
from aqmlab.store.packing import Packed, pack, unpack


class Packs(Sequence[Result]):
    """Results as a sequence.

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
        """Return a result as it can be put here."""
        packed = pack(result)
        self._base = self._base or packed.words
        return replace(packed, words=shorten(packed.words, self._base))

    def put(self, packed: Iterable[Packed]) -> None:
        """Add results that :meth:`packed` made."""
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
