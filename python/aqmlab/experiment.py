"""One run, many runs, replications, sweeps.

Runs are independent of each other and of the number of threads: the same scenario and seed give
the same numbers, wherever and beside whatever they run.
"""

import itertools
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab._core import InvariantViolation
from aqmlab.custom import CustomQueue, Given, put
from aqmlab.results import Result
from aqmlab.scenario import ScenarioLike, as_said, normalize, plain, toml_value

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[float, int], None]
"""Called now and then with the runs done (a fraction while one is under way) and their number."""

POLL_S = 0.1
LAW_TRIES = 3
LAW_PATIENCE_S = 1.0
"""How long a law written in Python may take over a packet once its run was cancelled."""


def available_cores() -> int:
    """Return the number of cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def run(
    scenario: ScenarioLike,
    seed: int | None = None,
    *,
    queues: Mapping[str, CustomQueue] | None = None,
    pcap: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Result:
    """Run a scenario once.

    Parameters
    ----------
    scenario : path, dict or Scenario
        The scenario.
    seed : int, optional
        Seed of every random stream, 0 or more; default: the scenario's.
    queues : mapping of str to CustomQueue, optional
        For links ("left>right"; "bottleneck" is that of a dumbbell), laws written in Python that
        take the place of those of the scenario. Runs with such laws come one after the other.
    pcap : path, optional
        A folder that is there, for the captures that ``record.pcap`` asks for; default: none are
        written.
    progress : callable, optional
        Called about ten times a second with the fraction that is done and 1.

    Returns
    -------
    Result
        Tables and manifest.

    Raises
    ------
    ScenarioError
        If the scenario is wrong.
    InvariantViolation
        If the simulator contradicts itself; this is a defect of aqmlab.
    OSError
        If the scenario's file cannot be read, or a capture cannot be written.
    Exception
        Whatever a law written in Python raises, with a note of when and where.
    """
    folders = [] if pcap is None else [Path(pcap)]
    given = Given()
    text = _text(scenario, seed, queues, given)
    (only,) = run_texts([text], 1, progress, folders, given)
    return only[1]


def _text(
    scenario: ScenarioLike,
    seed: int | None,
    queues: Mapping[str, CustomQueue] | None,
    given: Given,
) -> str:
    """Return a scenario as JSON, with these queues at their links."""
    text = normalize(scenario, seed, given=given)
    if not queues:
        return text
    changes = put(json.loads(text), queues, given)
    overrides = [(key, toml_value(table)) for key, table in changes]
    return normalize(json.loads(text), overrides=overrides)


def run_each(
    scenarios: Iterable[ScenarioLike], jobs: int | None = None, progress: Progress | None = None
) -> Iterator[tuple[int, Result]]:
    """Run scenarios in parallel and give each result as soon as it is there.

    Parameters
    ----------
    scenarios : iterable of path, dict or Scenario
        The scenarios. All are checked before the first is run.
    jobs : int, optional
        Runs at a time, 1 or more; default: the cores available.
    progress : callable, optional
        Called about ten times a second with the runs done and their number.

    Yields
    ------
    index : int
        Position in `scenarios`.
    result : Result
        Its result.

    Raises
    ------
    ScenarioError, OSError
        As :func:`run`; the other runs are stopped.
    InvariantViolation
        As :func:`run`, when the other runs have ended.
    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs = {jobs} must be 1 or more")
    given = Given()
    texts = [normalize(s, given=given) for s in scenarios]
    yield from run_texts(texts, jobs, progress, given=given)


def run_texts(
    texts: list[str],
    jobs: int | None,
    progress: Progress | None,
    captures: Sequence[Path] = (),
    given: Given | None = None,
) -> Iterator[tuple[int, Result]]:
    """Run normalized scenarios; `given` has the laws that they name. Else as :func:`run_each`."""
    threads = min(jobs or available_cores(), max(1, len(texts)))
    batch = _core.Batch(texts, threads, captures, given or {})
    defects: list[InvariantViolation] = []
    try:
        done, told = 0, time.monotonic()
        while done < len(texts):
            try:
                finished = batch.next(POLL_S)
            except InvariantViolation as defect:  # of one run; the others go on
                finished = None
                defects.append(defect)
                done += 1
            done += finished is not None
            if progress and (time.monotonic() - told >= POLL_S or done == len(texts)):
                told = time.monotonic()
                progress(sum(batch.progress()), len(texts))
            if finished:
                yield finished[0], Result.from_core(finished[1])
        if defects:
            more = f"; so do {len(defects) - 1} runs more" if len(defects) > 1 else ""
            raise InvariantViolation(f"{defects[0]}{more}")
    finally:  # an error, Ctrl-C, or a caller who stops listening
        batch.cancel()
        if given:
            _leave_python(batch, given)


def _leave_python(batch: _core.Batch, given: Given) -> None:
    """Wait until no run is in a law written in Python: the interpreter may end next.

    A law that sleeps, or waits for something else outside Python, is not waited for: it ends when
    it wakes.
    """
    for _ in range(LAW_TRIES):
        if batch.wait(LAW_PATIENCE_S):
            return
        given.interrupt()


def run_many(
    scenarios: Iterable[ScenarioLike], jobs: int | None = None, progress: Progress | None = None
) -> list[Result]:
    """Run scenarios in parallel; see :func:`run_each`.

    Returns
    -------
    list of Result
        In the order of `scenarios`.
    """
    return _in_order(run_each(scenarios, jobs, progress))


def _in_order(finished: Iterable[tuple[int, Result]]) -> list[Result]:
    results = dict(finished)
    return [results[i] for i in range(len(results))]


def replicate(
    scenario: ScenarioLike,
    n: int,
    jobs: int | None = None,
    progress: Progress | None = None,
    *,
    queues: Mapping[str, CustomQueue] | None = None,
) -> list[Result]:
    """Run a scenario `n` times, which differ in nothing but their seed.

    Parameters
    ----------
    scenario : path, dict or Scenario
        The scenario. Replication i has its seed plus i.
    n : int
        Replications, 1 or more.
    jobs, progress
        As :func:`run_each`.
    queues
        As :func:`run`; each replication has its own copies.

    Returns
    -------
    list of Result
        In the order of their seeds.
    """
    given = Given()
    base = json.loads(_text(scenario, None, queues, given))
    texts = [normalize(one) for one in replications(base, n)]
    results = _in_order(run_texts(texts, jobs, progress, given=given))
    if n > 1 and _alike(results):
        warnings.warn(
            f"all {n} replications are the same: seeds change nothing in this scenario, so their "
            "number says nothing; let starts, sizes or losses vary",
            IdenticalReplications,
            stacklevel=2,
        )
    return results


class IdenticalReplications(UserWarning):
    """Replications that do not differ."""


def _alike(results: list[Result]) -> bool:
    """Whether runs of several seeds have the same flows and links."""

    def told(result: Result) -> list[list[str]]:
        tables = (result.columns("flows"), result.columns("links"))
        return [list(map(str, column)) for table in tables for column in table.values()]

    first = told(results[0])
    return all(told(result) == first for result in results[1:])


def replications(scenario: ScenarioLike, n: int) -> list[dict[str, Any]]:
    """Return the scenarios of `n` replications: seeds s, s + 1, … from the scenario's seed s.

    Raises
    ------
    ValueError
        If `n` is below 1.
    """
    if n < 1:
        raise ValueError(f"replications = {n} must be 1 or more")
    base = json.loads(normalize(scenario))
    return [base | {"seed": base["seed"] + i} for i in range(n)]


@dataclass(frozen=True)
class Sweep:
    """The runs of a sweep.

    Attributes
    ----------
    points : list of dict
        For each run, the swept keys with their values, and ``seed``.
    results : list of Result
        The results in the same order.
    """

    points: list[dict[str, Any]]
    results: list[Result]

    def table(self, name: str) -> "pd.DataFrame":
        """Return a table of all runs under one another, with the swept keys and the seed before it.

        Parameters
        ----------
        name : str
            "flows", "links" or a recorded series.

        Returns
        -------
        pandas.DataFrame
            One column for each swept key (text where the value is a table), ``seed``, then the
            columns of the table.
        """
        import pandas as pd

        parts = []
        for point, result in zip(self.points, self.results, strict=True):
            part = result.table(name)
            for i, (key, value) in enumerate(point.items()):
                part.insert(i, key, value)
            parts.append(part)
        return pd.concat(parts, ignore_index=True)

    @property
    def flows(self) -> "pd.DataFrame":
        """The flows of all runs."""
        return self.table("flows")

    @property
    def links(self) -> "pd.DataFrame":
        """The links of all runs."""
        return self.table("links")


def sweep(
    scenario: ScenarioLike,
    over: Mapping[str, Sequence[Any]],
    replications: int = 1,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Run a scenario at every combination of values.

    Replication i has the same seed at every point, so that points are compared under the same
    random offsets (common random numbers).

    Parameters
    ----------
    scenario : path, dict or Scenario
        What all points share.
    over : mapping of str to sequence
        Dotted paths and the values each takes, e.g. ``{"network.queue.limit": ["8 packets",
        "16 packets"]}``. A value may be a table: ``{"network.queue": [DropTail(), Red()]}``.
    replications : int
        Runs at each point, 1 or more; default 1.
    jobs, progress
        As :func:`run_each`.

    Returns
    -------
    Sweep
        The points and their results; the last key varies fastest, then the seed.

    Raises
    ------
    ScenarioError, InvariantViolation, OSError
        As :func:`run`.

    Examples
    --------
    >>> import aqmlab
    >>> swept = aqmlab.sweep("examples/one_flow.toml", {
    ...     "network.queue.limit": ["38 packets", "64 packets"],
    ...     "flows.0.traffic.size": ["100 kB"]})
    >>> list(swept.flows["network.queue.limit"])
    ['38 packets', '64 packets']
    """
    given = Given()
    base = as_said(scenario, given)
    points, scenarios = [], []
    for values in itertools.product(*over.values()):
        overrides = [(k, toml_value(v, given)) for k, v in zip(over, values, strict=True)]
        point = json.loads(normalize(base, overrides=overrides))
        labels = {k: _label(v, given) for k, v in zip(over, values, strict=True)}
        for one in _replications_of(point, replications):
            points.append(labels | {"seed": one["seed"]})
            scenarios.append(normalize(one))
    return Sweep(points, _in_order(run_texts(scenarios, jobs, progress, given=given)))


_replications_of = replications


def _label(value: Any, given: Given) -> Any:
    value = plain(value, given)
    return json.dumps(value) if isinstance(value, dict | list) else value
