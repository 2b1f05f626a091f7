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

        It may be lost with the machine until :meth:`settle` is called.

        Raises
        ------
        OSError
            If it cannot be written.
        """

    def fail(self, address: str, build: str, error: Exception) -> None:
        """Take down why a run has no result; it stays missing.

        Raises
        ------
        OSError
            If it cannot be written.
        """

    def missing(self, addresses: Iterable[str]) -> set[str]:
        """Return those of some addresses that no result is kept under."""

    def begin(self, asked: int, found: int, jobs: int) -> None:
        """Take down that so many runs were asked for, and how many of them are kept already.

        `jobs` is how many run at a time.

        Raises
        ------
        OSError
            If it cannot be written, or another process is writing.
        """

    def settle(self) -> None:
        """Make sure of everything that was given to this store; called about ten times a second.

        Raises
        ------
        OSError
            If it cannot be written.
        """

    def __iter__(self) -> Iterator[Result]:
        """Give every run that is kept and whole."""
