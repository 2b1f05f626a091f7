"""A Dask cluster as an engine: runs go to workers on this machine, on others, or in SLURM jobs.

A worker is sent a scenario as text and sends back what became of it, so it needs nothing but the
package; only who asked for the runs writes to a store. A worker runs what the simulator here would
run, or is refused: both have the same build, and so their runs have the same address.
"""

import json
import logging
import math
import re
import shutil
import signal
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.engine.capabilities import Capabilities
from aqmlab.engine.protocol import Failed, Progress
from aqmlab.engine.simulator import POLL_S, Simulator, available_cores
from aqmlab.results import Result

if TYPE_CHECKING:
    from distributed import Client, Future

EXECUTORS = ("local", "dask", "dask://HOST:PORT", "slurm")
"""Where runs may go."""

A_CORE = 2
"""Runs that a core of the workers has at a time: the next is there when one ends."""
CONNECT_S = 10.0
PATIENCE_S = 60.0
"""How long a scheduler that somebody else started may have no workers."""


class NoClusterError(OSError):
    """There is no cluster, there is none any more, or it cannot be used."""


class Cluster:
    """Runs scenarios on the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        A connection to its scheduler.
    patience_s : float, optional
        How long it may have no workers, in s; None: for ever, as where jobs wait in a queue.
    limits : mapping, optional
        What a run may take; see :meth:`within`.
    """

    def __init__(
        self,
        client: "Client",
        patience_s: float | None = PATIENCE_S,
        limits: Mapping[str, Any] | None = None,
    ) -> None:
        self._client, self._patience_s, self._limits = client, patience_s, dict(limits or {})
        self._address = client.scheduler.address

    def within(self, limits: Mapping[str, Any]) -> "Cluster":
        """Return the cluster, whose workers keep runs within limits; see :class:`Limiting`."""
        Simulator(limits=limits)  # says what is wrong with them
        return Cluster(self._client, self._patience_s, limits)

    @property
    def build(self) -> str:
        """That of the simulator here, which every worker has to have."""
        return Simulator().build

    @property
    def capabilities(self) -> Capabilities:
        """Those of the simulator."""
        return Simulator().capabilities

    def run(
        self, texts: Sequence[str], jobs: int | None = None, progress: Progress | None = None
    ) -> Generator[tuple[int, Result | Failed]]:
        """Run scenarios; see :class:`aqmlab.engine.Engine`.

        `jobs` is how many are with the workers at a time; default: two a core. The run of a worker
        that is lost is repeated; one that four workers were lost with has failed.

        Raises
        ------
        NoClusterError
            If the scheduler is gone, has no workers, or one of them has another build.
        ScenarioError
            If a scenario is wrong, or names a law written in Python: no worker has it.
        """
        ended: SimpleQueue[Future] = SimpleQueue()
        under_way: dict[Future, int] = {}
        begun = done = 0
        looked, room = -math.inf, 0
        self._had_workers = time.monotonic()
        try:
            while done < len(texts):
                if time.monotonic() - looked >= POLL_S:
                    looked, cores = time.monotonic(), self._cores()
                    room = jobs or max(1, A_CORE * cores)
                    if progress:
                        progress(done, len(texts))
                while begun < len(texts) and len(under_way) < room:
                    what = run_there, self.build, texts[begun], self._limits
                    future = self._client.submit(*what, pure=False)
                    under_way[future] = begun
                    future.add_done_callback(ended.put)
                    begun += 1
                with suppress(Empty):
                    future = ended.get(timeout=POLL_S)
                    outcome = self._outcome(future, texts[under_way[future]])
                    done += 1
                    yield under_way.pop(future), outcome
                    del future, outcome
            if progress:
                progress(done, len(texts))
        finally:
            if self._client.status == "running":
                self._client.cancel(list(under_way))

    def _outcome(self, future: "Future", text: str) -> Result | Failed:
        """Return what became of a scenario."""
        from distributed import CancelledError, KilledWorker
        from distributed.comm import CommClosedError

        gone = CancelledError, CommClosedError  # and all that the scheduler knew
        try:
            outcome: Result | Failed | None = future.result()
        except KilledWorker:
            return Failed(_lost(text))
        except gone:
            raise self._gone() from None
        except Exception:
            self._refuse_others()  # as one that does not know what it is sent
            raise
        if outcome is None:
            self._refuse_others()
            raise NoClusterError("a worker that has ended had another build of aqmlab")
        return outcome

    def _cores(self) -> int:
        """Return how many cores the workers have.

        Raises
        ------
        NoClusterError
            If there is no scheduler, or it has had no workers for too long.
        """
        if self._client.status != "running":
            raise self._gone()
        workers = self._client.scheduler_info()["workers"].values()
        now = time.monotonic()
        if workers:
            self._had_workers = now
        elif self._patience_s is not None and now - self._had_workers > self._patience_s:
            raise NoClusterError(
                f"the scheduler {self._address} has no workers; start some: "
                f"dask worker {self._address}"
            )
        return sum(worker["nthreads"] for worker in workers)

    def _gone(self) -> NoClusterError:
        return NoClusterError(
            f"the scheduler {self._address} is gone; what was finished is kept; start it again "
            "and go on"
        )

    def _refuse_others(self) -> None:
        """Refuse workers that do not run what would be run here, by name.

        Raises
        ------
        NoClusterError
            If there are any.
        """
        here, told = build_there(), self._client.run(build_there, on_error="return")
        others = [
            f"{worker} has {'no aqmlab like it' if isinstance(there, Exception) else there}"
            for worker, there in told.items()
            if there != here
        ]
        if others:
            raise NoClusterError(
                f"workers must have the build that is here, {here}: {'; '.join(others)}; install "
                "this one there, or stop them"
            )


def run_there(build: str, text: str, limits: Mapping[str, Any]) -> Result | Failed | None:
    """Run a scenario on a worker; None: its build is another one.

    A run that nobody waits for any more is cancelled.
    """
    from distributed import get_worker

    simulator, worker = Simulator(limits=limits), get_worker()
    if simulator.build != build:
        return None
    key = worker.get_current_task()

    def still_wanted(_: float, __: int) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise NoClusterError("nobody waits for this run any more")

    ((_, outcome),) = simulator.run([text], 1, still_wanted)
    return outcome


def build_there() -> str:
    """Return what a worker would run scenarios with."""
    return f"aqmlab {_core.version()} ({Simulator().build[:12]})"


def _lost(text: str) -> MemoryError:
    """Return why a run that took its workers along has failed."""
    scenario = json.loads(text)
    return MemoryError(
        f"scenario {scenario['title'] or 'without a title'!r}, seed {scenario['seed']}: the "
        "workers that ran it were lost, one after the other; it may need more memory than they have"
    )


@contextmanager
def connect(
    name: str, jobs: int | None = None, options: Mapping[str, Any] | None = None
) -> Iterator[Cluster]:
    """Give a cluster as an engine, and leave it in the end.

    Parameters
    ----------
    name : str
        ``dask``: processes on this machine; ``dask://HOST:PORT``: a scheduler that is there;
        ``slurm``: jobs of SLURM, which are ended in the end.
    jobs : int, optional
        Cores to ask for: processes (default: the cores of this machine), or cores of SLURM's jobs,
        for which it must be given.
    options : mapping, optional
        For ``slurm``: what :class:`dask_jobqueue.SLURMCluster` takes (``cores`` and ``memory`` of a
        job, ``queue``, ``walltime``, …); default: what Dask's configuration says.

    Raises
    ------
    ValueError
        If the name is none of these, or an option is wrong.
    NoClusterError
        If there is no such cluster.
    """
    try:
        from distributed import Client
    except ImportError as e:
        raise NoClusterError(
            f"--executor {name} needs {e.name}: pip install 'aqmlab[cluster]'"
        ) from None
    for logger in ("distributed", *logging.root.manager.loggerDict):
        if logger.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(logger).setLevel(logging.CRITICAL)  # what matters is raised
    there = re.fullmatch(r"dask://([\w.\[\]:-]+:\d+)", name)
    if options and name != "slurm":
        raise ValueError(f"options are for --executor slurm, not for {name!r}")
    if there:
        try:
            client = Client(f"tcp://{there[1]}", timeout=CONNECT_S)
        except (OSError, ValueError, TypeError) as e:
            raise NoClusterError(
                f"there is no Dask scheduler at {there[1]} ({type(e).__name__}); check the address"
            ) from None
        with _left(client):
            yield Cluster(client)
    elif name == "dask":
        with (
            _local(jobs or available_cores()) as local,
            _left(Client(local)) as client,
        ):
            yield Cluster(client)
    elif name == "slurm":
        with _slurm(jobs, options or {}) as jobs_there, _left(Client(jobs_there)) as client:
            yield Cluster(client, patience_s=None)
    else:
        raise ValueError(f"--executor {name!r} must be one of {', '.join(EXECUTORS)}")


@contextmanager
def _left(client: "Client") -> "Iterator[Client]":
    """Close a connection in the end, whether the scheduler is there or not."""
    try:
        yield client
    finally:
        client.close(timeout=1)


def _local(processes: int) -> Any:
    """Return a cluster of processes, which Ctrl-C leaves alone: they are ended from here."""
    from distributed import LocalCluster

    resource_tracker.ensure_running()  # would let SIGINT through again when it is started
    interruptions = {signal.SIGINT, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, interruptions)  # processes inherit it
    try:
        return LocalCluster(
            n_workers=processes, threads_per_worker=1, dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )  # fmt: skip
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _slurm(cores: int | None, options: Mapping[str, Any]) -> Any:
    """Return a cluster of SLURM's jobs."""
    if cores is None:
        raise ValueError("--executor slurm needs --jobs: how many cores are asked for")
    if shutil.which("sbatch") is None:
        raise NoClusterError(
            "there is no SLURM here (no sbatch); run it on a login node of the cluster, or give "
            "the address of a Dask scheduler: dask://HOST:PORT"
        )
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    from dask_jobqueue import SLURMCluster  # sets handlers of its own

    for number, handler in handlers.items():
        signal.signal(number, handler)
    try:
        there = SLURMCluster(**options)
    except (TypeError, ValueError) as e:
        raise ValueError(f"SLURM: {e}") from None
    there.scale(cores=cores)
    return there
