"""The packet-level simulator as an engine: runs in parallel over the cores of this machine."""

import hashlib
import json
import os
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab._core import InvariantViolation, ScenarioError
from aqmlab.custom import Given
from aqmlab.engine.capabilities import EVERYTHING, Capabilities
from aqmlab.engine.protocol import Failed, Progress
from aqmlab.results import Result

POLL_S = 0.1
AT_ONCE = 2000
"""Runs that are handed over at a time: what is made of their scenarios is in memory together."""
LAW_TRIES = 3
LAW_PATIENCE_S = 1.0
"""How long a law written in Python may take over a packet once its run was cancelled."""


def available_cores() -> int:
    """Return the number of cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@cache
def _build() -> str:
    """Return what distinguishes this simulator from any other, to the byte."""
    return hashlib.sha256(Path(str(_core.__file__)).read_bytes()).hexdigest()


def _next(batch: _core.Batch) -> tuple[int, Result | Failed] | None:
    """Return the next run that has ended, if one does soon."""
    try:
        finished = batch.next(POLL_S)
    except (InvariantViolation, ScenarioError, MemoryError) as error:
        # The batch numbers the failure of a run. A law written in Python may raise the same types;
        # the number is removed so that an error of a run inside a law has none, too.
        run: int | None = vars(error).pop("run", None)
        if run is None:
            raise
        return run, Failed(error)
    return (finished[0], Result(**finished[1])) if finished else None


class Simulator:
    """The simulator, written in Rust.

    Parameters
    ----------
    laws : Given, optional
        The laws written in Python that the scenarios name; runs with such laws come one after the
        other.
    captures : sequence of pathlib.Path
        For each run a folder that is there, for the captures that ``record.pcap`` asks for; a run
        without a folder captures nothing.
    limits : mapping, optional
        What a run may take; see :meth:`aqmlab.engine.Limiting.within`.

    Raises
    ------
    ScenarioError
        If a limit is wrong.
    """

    def __init__(
        self,
        laws: Given | None = None,
        captures: Sequence[Path] = (),
        limits: Mapping[str, Any] | None = None,
    ) -> None:
        self._laws, self._captures = Given() if laws is None else laws, captures
        self._limits = json.dumps(dict(limits or {}))
        _core.check_limits(self._limits)

    def within(self, limits: Mapping[str, Any]) -> "Simulator":
        """Return a simulator that keeps runs within limits; see :class:`Limiting`."""
        return Simulator(self._laws, self._captures, limits)

    @property
    def build(self) -> str:
        """The digest of the simulator's file."""
        return _build()

    @property
    def capabilities(self) -> Capabilities:
        """Everything."""
        return EVERYTHING

    def run(
        self, texts: Sequence[str], jobs: int | None = None, progress: Progress | None = None
    ) -> Generator[tuple[int, Result | Failed]]:
        """Run scenarios; see :class:`aqmlab.engine.Engine`.

        A run that contradicts itself, never ends or needs too much memory has failed.

        Raises
        ------
        ScenarioError, OSError
            If a scenario is wrong, or a capture cannot be written.
        Exception
            Whatever a law written in Python raises.
        """
        for at in range(0, len(texts), AT_ONCE):

            def told(done: float, _: int, at: int = at) -> None:
                if progress:
                    progress(at + done, len(texts))

            some, captures = texts[at : at + AT_ONCE], self._captures[at : at + AT_ONCE]
            with closing(self._batch(some, captures, jobs, told)) as running:
                for i, outcome in running:
                    yield at + i, outcome

    def _batch(
        self, texts: Sequence[str], captures: Sequence[Path], jobs: int | None, told: Progress
    ) -> Generator[tuple[int, Result | Failed]]:
        threads = min(jobs or available_cores(), len(texts))
        batch = _core.Batch(list(texts), threads, captures, self._laws, self._limits)
        left = len(texts)
        try:
            last = time.monotonic()
            while left:
                outcome = _next(batch)
                left -= outcome is not None
                if time.monotonic() - last >= POLL_S or not left:
                    last = time.monotonic()
                    told(sum(batch.progress()), len(texts))
                if outcome:
                    yield outcome
        finally:  # an error, Ctrl-C, or a caller who stops listening
            batch.cancel()
            if self._laws:
                self._leave_python(batch)

    def _leave_python(self, batch: _core.Batch) -> None:
        """Wait until no run is in a law written in Python: the interpreter may end next.

        A law that sleeps, or waits for something else outside Python, is not waited for: it ends
        when it wakes.
        """
        for _ in range(LAW_TRIES):
            if batch.wait(LAW_PATIENCE_S):
                return
            self._laws.interrupt()
