"""Packet-level simulator as an engine that runs scenarios in parallel on several cores."""

import hashlib
import json
import os
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from aqmlab import _core, results
from aqmlab._core import InvariantViolation, ScenarioError
from aqmlab.custom import CustomAqms
from aqmlab.engine.capabilities import EVERYTHING, Capabilities
from aqmlab.engine.protocol import Engine, Failed, Programmable, Progress
from aqmlab.results import Packed, Result

POLL_S = 0.1
"""Interval in s between two checks for finished runs, and between two reports of progress."""
BATCH_RUNS = 2000
"""Maximum number of runs per batch, because all scenarios of a batch are in memory."""
AQM_INTERRUPTS = 3
"""Maximum number of attempts to interrupt AQMs written in Python after their runs were
cancelled."""
AQM_PATIENCE_S = 1.0
"""Time in s to wait for the end of a call of an AQM in Python before the next interrupt."""


def available_cores() -> int:
    """Return the number of cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@cache
def _build() -> str:
    """Return the SHA-256 digest of the compiled simulator."""
    return hashlib.sha256(Path(str(_core.__file__)).read_bytes()).hexdigest()


def _next(batch: _core.Batch) -> tuple[int, Result | Failed] | None:
    """Return the next run that ends within `POLL_S`, or None if no run ends."""
    try:
        finished = batch.next(POLL_S, results.LARGE_BYTES)
    except (InvariantViolation, ScenarioError, MemoryError) as error:
        # The simulator stores the index of a failed run in the attribute `run` of its error. An
        # error without this attribute was raised by an AQM written in Python. The attribute is
        # removed here, because the Python code of an AQM may store an error object and raise the
        # object again in a later run.
        run: int | None = vars(error).pop("run", None)
        if run is None:
            raise
        return run, Failed(error)
    return (finished[0], Result.of_packed(Packed(*finished[1]))) if finished else None


class Simulator:
    """Packet-level simulator, written in Rust.

    Parameters
    ----------
    aqms : CustomAqms, optional
        AQMs written in Python that the scenarios use. Runs with an AQM in Python are not executed
        in parallel.
    captures : sequence of pathlib.Path
        Existing folders, one per run, for the packet captures that ``record.pcap`` requests.
        Without a folder, a run writes no captures.
    limits : mapping, optional
        Limits of each run; see :meth:`aqmlab.engine.Limiting.within`.

    Raises
    ------
    ScenarioError
        If a limit is wrong.
    """

    def __init__(
        self,
        aqms: CustomAqms | None = None,
        captures: Sequence[Path] = (),
        limits: Mapping[str, Any] | None = None,
    ) -> None:
        self._aqms, self._captures = CustomAqms() if aqms is None else aqms, captures
        self._limits = json.dumps(dict(limits or {}))
        _core.check_limits(self._limits)

    def within(self, limits: Mapping[str, Any]) -> "Simulator":
        """Return a simulator that limits each run; see :class:`Limiting`."""
        return Simulator(self._aqms, self._captures, limits)

    def with_aqms(self, aqms: CustomAqms) -> "Simulator":
        """Return a simulator that has the given AQMs; see :class:`Programmable`.

        A simulator that was created with AQMs keeps these.
        """
        return self if self._aqms else Simulator(aqms, self._captures, json.loads(self._limits))

    def with_captures(self, folders: Sequence[Path]) -> "Simulator":
        """Return a simulator that writes captures; see :class:`Capturing`."""
        return Simulator(self._aqms, folders, json.loads(self._limits))

    @property
    def build(self) -> str:
        """SHA-256 digest of the compiled simulator."""
        return _build()

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities of the simulator, which supports every feature."""
        return EVERYTHING

    def run(
        self, texts: Sequence[str], jobs: int | None = None, progress: Progress | None = None
    ) -> Generator[tuple[int, Result | Failed]]:
        """Run scenarios; see :class:`aqmlab.engine.Engine`.

        A run fails if it violates an invariant of the simulator, exceeds a limit, or needs too much
        memory.

        Raises
        ------
        ScenarioError, OSError
            If a scenario is wrong, or a capture cannot be written.
        Exception
            Any exception that an AQM written in Python raises.
        """
        for start in range(0, len(texts), BATCH_RUNS):

            def report(done: float, _: int, start: int = start) -> None:
                if progress:
                    progress(start + done, len(texts))

            of_batch = slice(start, start + BATCH_RUNS)
            batch = self._run_batch(texts[of_batch], self._captures[of_batch], jobs, report)
            with closing(batch) as running:
                for i, outcome in running:
                    yield start + i, outcome

    def _run_batch(
        self, texts: Sequence[str], captures: Sequence[Path], jobs: int | None, report: Progress
    ) -> Generator[tuple[int, Result | Failed]]:
        """Run the scenarios of one batch."""
        threads = min(jobs or available_cores(), len(texts))
        batch = _core.Batch(list(texts), threads, captures, self._aqms, self._limits)
        left = len(texts)
        try:
            last = time.monotonic()
            while left:
                outcome = _next(batch)
                left -= outcome is not None
                if time.monotonic() - last >= POLL_S or not left:
                    last = time.monotonic()
                    report(sum(batch.progress()), len(texts))
                if outcome:
                    yield outcome
        finally:  # an error, Ctrl-C, or a caller that closes the generator
            batch.cancel()
            if self._aqms:
                self._leave_python(batch)

    def _leave_python(self, batch: _core.Batch) -> None:
        """Wait until no run executes an AQM written in Python, because the interpreter may end.

        The time of waiting is limited, because an interrupt takes effect only in Python code. An
        AQM that sleeps or waits in C code is interrupted when it returns to Python code.
        """
        for _ in range(AQM_INTERRUPTS):
            if batch.wait(AQM_PATIENCE_S):
                return
            self._aqms.interrupt()


def engine_with(engine: Engine | None, aqms: CustomAqms) -> Engine:
    """Return an engine that has the AQMs of the scenarios to run; the default is the simulator.

    An engine that supports no AQMs written in Python is returned unchanged. A sweep adds its AQMs
    to `aqms` later, while it requests its runs.
    """
    engine = engine or Simulator()
    return engine.with_aqms(aqms) if isinstance(engine, Programmable) else engine
