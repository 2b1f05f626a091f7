"""Engine that runs scenarios on a Dask cluster: on this machine, on others, or in SLURM jobs.

A worker needs only the package aqmlab, because it receives a scenario as text and returns the
result. Only the client writes to a store. Every worker must have the same build of the simulator as
the client, because the address of a run in a store contains the build. A worker with another build
causes an error.
"""

import json
import logging
import math
import re
import shutil
import signal
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from multiprocessing import resource_tracker
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from aqmlab import _core
from aqmlab.engine.capabilities import Capabilities
from aqmlab.engine.protocol import Failed, Progress
from aqmlab.engine.simulator import POLL_S, Simulator, available_cores
from aqmlab.results import Result

if TYPE_CHECKING:
    from distributed import Client, Future

EXECUTORS = ("local", "dask", "dask://HOST:PORT", "slurm")
"""Values of the option ``--executor``."""

TASKS_PER_CORE = 2
"""Number of tasks per core that are sent to the workers: one executes while another waits."""
TASK_S = 0.1
"""Duration in s after which a task begins no other run. A task takes Dask several ms of CPU time,
so short runs share a task.
"""
MOST_RUNS = 100
"""Maximum number of runs per task."""
CONNECT_S = 10.0
"""Maximum time in s to connect to a Dask scheduler."""
PATIENCE_S = 60.0
"""Maximum time in s that a running Dask scheduler may have no workers."""


class NoClusterError(OSError):
    """Raised if a cluster does not exist, ends during the runs, or cannot run the scenarios."""


class Cluster:
    """Engine that runs scenarios on the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        Connection to the Dask scheduler of the cluster.
    patience_s : float, optional
        Maximum time in s that the cluster may have no workers. None means no maximum; use None for
        SLURM, because SLURM jobs may wait a long time before they start.
    limits : mapping, optional
        Limits of each run; see :meth:`aqmlab.engine.Limiting.within`.
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
        """Return an engine on the same cluster with limits on each run; see :class:`Limiting`."""
        Simulator(limits=limits)  # raises ScenarioError if a limit is wrong
        return Cluster(self._client, self._patience_s, limits)

    @property
    def build(self) -> str:
        """Build of the simulator on this machine. Every worker must have the same build."""
        return Simulator().build

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities of the simulator."""
        return Simulator().capabilities

    def run(
        self, texts: Sequence[str], jobs: int | None = None, progress: Progress | None = None
    ) -> Generator[tuple[int, Result | Failed]]:
        """Run scenarios; see :class:`aqmlab.engine.Engine`.

        `jobs` is the maximum number of tasks that are sent to the workers at the same time;
        default: two per core. A task has one run, or several short runs. If a worker ends
        unexpectedly, another worker repeats its task. If four workers have ended unexpectedly while
        they executed a task with several runs, each of these runs becomes a task of its own. If the
        task had one run, the run has failed.

        Raises
        ------
        NoClusterError
            If the scheduler has ended or has no workers, or if a worker has another build of the
            simulator.
        ScenarioError
            If a scenario is wrong, or if a scenario uses an AQM written in Python. The workers do
            not have the code of such an AQM.
        """
        ended: SimpleQueue[Future] = SimpleQueue()
        running: dict[Future, Sequence[int]] = {}
        alone: list[int] = []
        started = done = 0
        size = 1
        last_poll, maximum = -math.inf, 0
        self._had_workers = time.monotonic()
        try:
            while done < len(texts):
                if time.monotonic() - last_poll >= POLL_S:
                    last_poll, cores = time.monotonic(), self._cores()
                    maximum = jobs or max(1, TASKS_PER_CORE * cores)
                    if progress:
                        progress(done, len(texts))
                while (alone or started < len(texts)) and len(running) < maximum:
                    if alone:
                        runs: Sequence[int] = [alone.pop()]
                    else:
                        share = (len(texts) - started) // maximum  # no core waits at the end
                        runs = range(started, started + max(1, min(size, share)))
                        started = runs.stop
                    call = run_on_worker, self.build, [texts[i] for i in runs], self._limits
                    future = self._client.submit(*call, pure=False)
                    running[future] = runs
                    future.add_done_callback(ended.put)
                with suppress(Empty):
                    future = ended.get(timeout=POLL_S)
                    runs = running.pop(future)
                    finished = self._finished(future)
                    del future
                    if finished is None and len(runs) == 1:
                        finished = Finished([Failed(_workers_lost(texts[runs[0]]))], in_time=False)
                    outcomes, in_time = finished or Finished([], in_time=False)
                    alone += runs[len(outcomes) :]
                    size = min(2 * len(runs), MOST_RUNS) if in_time else len(outcomes) or 1
                    for i, outcome in zip(runs, outcomes, strict=False):
                        done += 1
                        yield i, outcome
                    del finished, outcomes
            if progress:
                progress(done, len(texts))
        finally:
            if self._client.status == "running":
                self._client.cancel(list(running))

    def _finished(self, future: "Future") -> "Finished | None":
        """Return the outcomes of a task; None if its workers have ended unexpectedly."""
        from distributed import CancelledError, KilledWorker
        from distributed.comm import CommClosedError

        gone = CancelledError, CommClosedError  # the scheduler ended and lost the state of its runs
        try:
            finished: Finished | None = future.result()
        except KilledWorker:
            return None
        except gone:
            raise self._gone() from None
        except Exception:
            self._refuse_other_builds()  # another version may not know the function that it runs
            raise
        if finished is None:
            self._refuse_other_builds()
            raise NoClusterError(
                "a worker with another build of aqmlab has ended; start all workers with the build "
                "of this machine"
            )
        return finished

    def _cores(self) -> int:
        """Return the number of cores of all workers.

        Raises
        ------
        NoClusterError
            If the scheduler has ended, or has had no workers for longer than `patience_s`.
        """
        if self._client.status != "running":
            raise self._gone()
        workers = self._client.scheduler_info()["workers"].values()
        now = time.monotonic()
        if workers:
            self._had_workers = now
        elif self._patience_s is not None and now - self._had_workers > self._patience_s:
            raise NoClusterError(
                f"the scheduler {self._address} has no workers; start at least one worker: dask "
                f"worker {self._address}"
            )
        return sum(worker["nthreads"] for worker in workers)

    def _gone(self) -> NoClusterError:
        return NoClusterError(
            f"the connection to the scheduler {self._address} is lost; the finished runs are "
            "stored, so start the scheduler again and repeat the command"
        )

    def _refuse_other_builds(self) -> None:
        """Raise NoClusterError if the build of a worker differs from that of this machine.

        Raises
        ------
        NoClusterError
            If the build of the simulator on a worker differs from the build on this machine. The
            message names each worker with a different build, and the build.
        """
        here = build_of_worker()
        builds = self._client.run(build_of_worker, on_error="return")
        others = [
            f"{worker} has {'another version' if isinstance(build, Exception) else build}"
            for worker, build in builds.items()
            if build != here
        ]
        if others:
            raise NoClusterError(
                f"the build of aqmlab must be the same on all workers as on this machine, {here}: "
                f"{'; '.join(others)}; "
                "install this build on the other workers, or stop them"
            )


class Finished(NamedTuple):
    """Outcomes of the first runs of a task.

    Attributes
    ----------
    outcomes : list of Result or Failed
        Outcomes of at least one run.
    in_time : bool
        True if all runs of the task ended within `TASK_S`. If the value is False, the task may have
        left runs out.
    """

    outcomes: list[Result | Failed]
    in_time: bool


def run_on_worker(build: str, texts: list[str], limits: Mapping[str, Any]) -> Finished | None:
    """Run scenarios on a worker; return None if the worker does not have the given build."""
    from distributed import get_worker

    simulator, worker = Simulator(limits=limits), get_worker()
    if simulator.build != build:
        return None
    key = worker.get_current_task()

    def stop_if_cancelled(_: float, __: int) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise NoClusterError("the Dask scheduler has cancelled this run")

    outcomes: list[Result | Failed] = []
    until = time.monotonic() + TASK_S
    with closing(simulator.run(texts, 1, stop_if_cancelled)) as running:
        for i, outcome in running:
            assert i == len(outcomes), "one thread executes the runs in order"
            outcomes.append(outcome)
            if time.monotonic() > until:
                return Finished(outcomes, in_time=False)
    return Finished(outcomes, in_time=True)


def build_of_worker() -> str:
    """Return the version and build of the simulator on the machine that executes this function."""
    return f"aqmlab {_core.version()} ({Simulator().build[:12]})"


def _workers_lost(text: str) -> MemoryError:
    """Return the error of a run if every worker that executed the run ended unexpectedly."""
    scenario = json.loads(text)
    return MemoryError(
        f"scenario {scenario['title'] or 'without a title'!r}, seed {scenario['seed']}: each "
        "worker that executed the run ended unexpectedly; the run may need more memory than a "
        "worker has"
    )


@contextmanager
def connect(
    name: str, jobs: int | None = None, options: Mapping[str, Any] | None = None
) -> Iterator[Cluster]:
    """Provide a cluster as an engine for a `with` block, and release the cluster at its end.

    Parameters
    ----------
    name : str
        ``dask`` for processes on this machine, ``dask://HOST:PORT`` for a running Dask scheduler,
        or ``slurm`` for SLURM jobs that end with the block.
    jobs : int, optional
        For ``dask``, the number of processes; default: the number of cores of this machine.
        ``slurm`` requires `jobs`, which is the total number of CPU cores to request.
    options : mapping, optional
        Parameters of :class:`dask_jobqueue.SLURMCluster` for ``slurm``, such as ``queue``,
        ``walltime``, and ``cores`` and ``memory`` of a job. Default: Dask's configuration.

    Raises
    ------
    ValueError
        If `name` is not ``dask``, ``dask://HOST:PORT`` or ``slurm``, or if an option is wrong.
    NoClusterError
        If the connection to the cluster fails.
    """
    try:
        from distributed import Client
    except ImportError as e:
        raise NoClusterError(
            f"--executor {name} needs {e.name}: pip install 'aqmlab[cluster]'"
        ) from None
    for logger in ("distributed", *logging.root.manager.loggerDict):
        if logger.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            # Log messages of Dask are hidden, because Dask also reports each error as an exception.
            logging.getLogger(logger).setLevel(logging.CRITICAL)
    address = re.fullmatch(r"dask://([\w.\[\]:-]+:\d+)", name)
    if options and name != "slurm":
        raise ValueError(
            f"--cluster: --executor {name} has no options of SLURM jobs; leave out --cluster, or "
            "write --executor slurm"
        )
    if address:
        try:
            client = Client(f"tcp://{address[1]}", timeout=CONNECT_S)
        except (OSError, ValueError, TypeError) as e:
            raise NoClusterError(
                f"--executor {name}: cannot connect to a Dask scheduler at {address[1]} "
                f"({type(e).__name__}); check the address"
            ) from None
        with _closing(client):
            yield Cluster(client)
    elif name == "dask":
        with (
            _local(jobs or available_cores()) as local,
            _closing(Client(local)) as client,
        ):
            yield Cluster(client)
    elif name == "slurm":
        with _slurm(jobs, options or {}) as slurm_jobs, _closing(Client(slurm_jobs)) as client:
            yield Cluster(client, patience_s=None)
    else:
        raise ValueError(f"--executor is {name!r}; it must be one of {', '.join(EXECUTORS)}")


@contextmanager
def _closing(client: "Client") -> "Iterator[Client]":
    """Close a connection at the end of a `with` block, even if the scheduler has ended."""
    try:
        yield client
    finally:
        client.close(timeout=1)


def _local(processes: int) -> Any:
    """Return a cluster of local processes that ignore Ctrl-C, because their parent ends them."""
    from distributed import LocalCluster

    # Python's resource tracker unblocks SIGINT when it starts, so it is started before SIGINT is
    # blocked.
    resource_tracker.ensure_running()
    interruptions = {signal.SIGINT, signal.SIGHUP}
    # The new processes inherit the set of blocked signals.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, interruptions)
    try:
        return LocalCluster(
            n_workers=processes, threads_per_worker=1, dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )  # fmt: skip
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _slurm(cores: int | None, options: Mapping[str, Any]) -> Any:
    """Return a cluster whose workers run in SLURM jobs."""
    if cores is None:
        raise ValueError(
            "--executor slurm needs --jobs N, which is the total number of cores to request"
        )
    if shutil.which("sbatch") is None:
        raise NoClusterError(
            "--executor slurm: this machine does not have the program sbatch; run the command on a "
            "login node of the cluster, or give the address of a Dask scheduler: dask://HOST:PORT"
        )
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    from dask_jobqueue import SLURMCluster  # the import replaces both signal handlers

    for number, handler in handlers.items():
        signal.signal(number, handler)
    try:
        cluster = SLURMCluster(**options)
    except (TypeError, ValueError) as e:
        raise ValueError(f"SLURM: {e}") from None
    cluster.scale(cores=cores)
    return cluster
