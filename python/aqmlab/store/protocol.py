"""Interface of a store of runs."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from aqmlab.results import Result


class Store(Protocol):
    """Storage of finished runs; the address of a run is that of :func:`aqmlab.store.address`."""

    def get(self, address: str) -> Result | None:
        """Return the result of a run; None if the store does not have the run, or it is damaged."""

    def put(self, address: str, build: str, result: Result) -> None:
        """Store the result of a run, either completely or not at all.

        `build` is the build of the engine that executed the run. Until the next call of
        :meth:`settle`, a crash of the machine may lose the run.

        Raises
        ------
        OSError
            If the run cannot be written.
        """

    def fail(self, address: str, build: str, error: Exception) -> None:
        """Record the error of a failed run, which remains without a result in the store.

        Raises
        ------
        OSError
            If the error cannot be written.
        """

    def missing(self, addresses: Iterable[str]) -> set[str]:
        """Return those of the given addresses that have no result in the store."""

    def begin(self, requested: int, stored: int, jobs: int) -> None:
        """Record the start of a campaign.

        Parameters
        ----------
        requested : int
            Number of distinct runs that the campaign needs.
        stored : int
            Number of these runs that the store already has.
        jobs : int
            Maximum number of runs that execute at the same time.

        Raises
        ------
        OSError
            If the store cannot be written, or another process is writing it.
        """

    def settle(self) -> None:
        """Write all stored runs to the disk.

        A campaign calls this method about ten times per second.

        Raises
        ------
        OSError
            If the runs cannot be written.
        """

    def __iter__(self) -> Iterator[Result]:
        """Yield the result of each undamaged run in the store."""
