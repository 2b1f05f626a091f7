"""Interface of a store of runs."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from aqmlab.results import Result


class Store(Protocol):
    """Storage of finished runs. Each `address` is that of :func:`aqmlab.store.address`."""

    def get(self, address: str) -> Result | None:
        """Return a run; None if the store does not have it or it is damaged."""

    def put(self, address: str, build: str, result: Result) -> None:
        """Store a run, completely or not at all; `build` is the build of the engine that ran it.

        Without :meth:`settle`, a crash of the machine may lose the run.

        Raises
        ------
        OSError
            If the run cannot be written.
        """

    def fail(self, address: str, build: str, error: Exception) -> None:
        """Record the error of a run. The run stays missing.

        Raises
        ------
        OSError
            If the error cannot be written.
        """

    def missing(self, addresses: Iterable[str]) -> set[str]:
        """Return the addresses that have no result in the store."""

    def begin(self, requested: int, stored: int, jobs: int) -> None:
        """Record the start of a campaign.

        Parameters
        ----------
        requested : int
            Number of distinct runs requested.
        stored : int
            Number of requested runs that the store already has.
        jobs : int
            Maximum number of simultaneous runs.

        Raises
        ------
        OSError
            If the store cannot be written, or another process is writing it.
        """

    def settle(self) -> None:
        """Write all stored runs to the disk; campaigns call it about ten times per second.

        Raises
        ------
        OSError
            If the runs cannot be written.
        """

    def __iter__(self) -> Iterator[Result]:
        """Yield each undamaged run."""
