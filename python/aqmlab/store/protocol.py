"""What a store of runs promises."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from aqmlab.results import Result


class Store(Protocol):
    """Keeps finished runs; `address` is everywhere that of :func:`aqmlab.store.address`."""

    def get(self, address: str) -> Result | None:
        """Return a run; None if it is not there, or not whole."""

    def put(self, address: str, build: str, result: Result) -> None:
        """Keep a run, whole or not at all; `build` is that of the engine that ran it.

        Raises
        ------
        OSError
            If it cannot be written.
        """

    def missing(self, addresses: Iterable[str]) -> set[str]:
        """Return those of some addresses that nothing is kept under."""

    def __iter__(self) -> Iterator[Result]:
        """Give every run that is kept and whole."""
