"""Computations in another thread, while the main thread waits for runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Self, TypeVar

from aqmlab.interrupts import interrupt

Computed = TypeVar("Computed")


class Background(Generic[Computed]):
    """One computation at a time in a thread of its own.

    The `with` block ends after the computation. If the result was not read, the computation is
    interrupted.

    Examples
    --------
    >>> with Background() as background:
    ...     background.start(lambda: 6 * 7)
    ...     background.result()
    42
    """

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._computed: list[Computed] = []
        self._error: BaseException | None = None

    def start(self, compute: Callable[[], Computed]) -> None:
        """Start a computation; the result of the computation before it must have been read."""
        assert self._thread is None, "a computation has not been read"

        def run() -> None:
            try:
                self._computed.append(compute())
            except BaseException as error:
                self._error = error

        self._thread = threading.Thread(target=run)
        self._thread.start()

    @property
    def started(self) -> bool:
        """True if a computation was started whose result has not been read."""
        return self._thread is not None

    def result(self) -> Computed:
        """Wait for the computation, and return its result or raise its error."""
        assert self._thread is not None, "no computation was started"
        self._thread.join()
        self._thread = None
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return self._computed.pop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        thread, self._thread = self._thread, None
        if thread is not None and thread.ident is not None:
            if thread.is_alive():
                interrupt([thread.ident])
            thread.join()
