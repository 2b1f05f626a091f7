"""Functions that run a single scenario, or several scenarios."""

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from aqmlab._core import ScenarioError
from aqmlab.custom import CustomAqms, CustomQueue, put
from aqmlab.engine import Capturing, Engine, Progress, engine_with, within_limits
from aqmlab.experiment.campaign import campaign, in_order
from aqmlab.results import Result
from aqmlab.scenario import Document, Overrides, ScenarioLike, normalize, toml_value
from aqmlab.store import Store


class ScenarioWarning(UserWarning):
    """Warning about settings of a scenario that are valid but probably unintended."""


def run(
    scenario: ScenarioLike,
    seed: int | None = None,
    *,
    overrides: Overrides = (),
    queues: Mapping[str, CustomQueue] | None = None,
    pcap: str | os.PathLike[str] | None = None,
    limits: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> Result:
    """Run a scenario once.

    Parameters
    ----------
    scenario : path, name, dict or Scenario
        The scenario.
    seed : int, optional
        Seed of every random stream, 0 or more; default: the scenario's.
    overrides : mapping or iterable of (str, value), optional
        Changes of the scenario by dotted path of the key, such as ``{"network.delay": "5 ms"}``. A
        text is read as by ``--set``, and a value may be a table such as ``aqmlab.Red()``.
    queues : mapping of str to CustomQueue, optional
        AQMs written in Python that replace queues of the scenario, by name of the link. Examples of
        names are "left>right", and "bottleneck" for the bottleneck of a dumbbell.
    pcap : path, optional
        Existing folder for the packet captures that ``record.pcap`` requests; default: no captures.
    limits : mapping, optional
        Limits of the run; see :meth:`aqmlab.engine.Limiting.within`. Default: no limits.
    progress : callable, optional
        Function that is called about ten times per second with two arguments: the completed
        fraction of the run, and the number of runs, which is 1.
    engine : Engine, optional
        Engine that runs the scenario; default: the simulator.

    Returns
    -------
    Result
        Tables and manifest of the run.

    Warns
    -----
    ScenarioWarning
        For each setting that is valid but probably unintended; see :attr:`Result.warnings`.

    Raises
    ------
    ScenarioError
        If the scenario is wrong, the engine does not support it, or the run exceeds a limit.
    InvariantViolation
        If the run violates an invariant of the simulator, which is a defect of aqmlab.
    OSError
        If the scenario's file cannot be read, or a capture cannot be written.
    Exception
        Any exception of an AQM written in Python, with a note of the time, the link and the packet.

    Examples
    --------
    >>> result = run("examples/one_flow.toml", overrides={"flows.0.traffic.size": "100 kB"})
    >>> int(result.flows["acked_bytes"].sum())
    100000
    """
    result = run_quietly(
        scenario, seed, overrides=overrides, queues=queues, pcap=pcap, limits=limits,
        progress=progress, engine=engine,
    )  # fmt: skip
    for text in result.warnings:
        warnings.warn(text, ScenarioWarning, stacklevel=2)
    return result


def run_quietly(
    scenario: ScenarioLike,
    seed: int | None = None,
    *,
    overrides: Overrides = (),
    queues: Mapping[str, CustomQueue] | None = None,
    pcap: str | os.PathLike[str] | None = None,
    limits: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> Result:
    """Run a scenario as :func:`run` does, but issue no warnings; commands print the warnings."""
    folders = [] if pcap is None else [Path(pcap)]
    for folder in folders:
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder}: the folder for captures does not exist; create it")
    aqms = CustomAqms()
    text = with_queues(scenario, seed, queues, aqms, overrides)
    engine = within_limits(engine_with(engine, aqms), limits or {})
    if folders:
        if not isinstance(engine, Capturing):
            raise ValueError(
                "pcap: this engine writes no packet captures; leave out pcap or engine"
            )
        engine = engine.with_captures(folders)
    ((_, result),) = campaign([(text,)], unreduced, engine=engine, jobs=1, progress=progress)
    return result


def unreduced(result: Result) -> Result:
    """Return a result unchanged; a campaign calls this function to return complete results."""
    return result


def with_queues(
    scenario: ScenarioLike,
    seed: int | None,
    queues: Mapping[str, CustomQueue] | None,
    aqms: CustomAqms,
    overrides: Overrides = (),
) -> str:
    """Return a changed scenario as JSON, with AQMs written in Python in place of some queues."""
    text = normalize(scenario, seed, overrides, aqms)
    if not queues:
        return text
    changes = put(json.loads(text), queues, aqms)
    return normalize(
        json.loads(text), overrides=[(key, toml_value(table)) for key, table in changes]
    )


def run_each(
    scenarios: Iterable[ScenarioLike],
    jobs: int | None = None,
    progress: Progress | None = None,
    *,
    engine: Engine | None = None,
    store: Store | None = None,
) -> Iterator[tuple[int, Result]]:
    """Run several scenarios in parallel, and yield each result as soon as its run has ended.

    Equal scenarios run once.

    Parameters
    ----------
    scenarios : iterable of path, name, dict or Scenario
        The scenarios. All scenarios are checked before the first run.
    jobs : int, optional
        Maximum number of runs at the same time, 1 or more; default: the number of available cores.
    progress : callable, optional
        Function that is called about ten times per second with the number of finished runs and the
        number of all runs.
    engine : Engine, optional
        Engine that runs the scenarios; default: the simulator.
    store : Store, optional
        Store from which finished runs are read and to which new runs are written; default: no
        store.

    Yields
    ------
    index : int
        Position of the scenario in `scenarios`.
    result : Result
        Result of the run.

    Raises
    ------
    OSError
        If a file cannot be read or written. The error of one run cancels all other runs.
    ScenarioError
        If a scenario is wrong; raised before the first run. If a run exceeds a limit; raised after
        all other runs have ended.
    InvariantViolation, MemoryError
        If a run violates an invariant of the simulator or needs too much memory; raised after all
        other runs have ended.
    """
    if isinstance(scenarios, str | os.PathLike | Mapping | Document):
        raise ScenarioError(
            "scenarios is not a list; put the scenario in brackets, or call aqmlab.run"
        )
    aqms = CustomAqms()
    texts = [normalize(s, aqms=aqms) for s in scenarios]
    yield from campaign(
        [(text,) for text in texts], unreduced,
        engine=engine_with(engine, aqms), store=store, jobs=jobs, progress=progress,
    )  # fmt: skip


def run_many(
    scenarios: Iterable[ScenarioLike],
    jobs: int | None = None,
    progress: Progress | None = None,
    *,
    engine: Engine | None = None,
    store: Store | None = None,
) -> list[Result]:
    """Run several scenarios in parallel and return all results; see :func:`run_each`.

    Returns
    -------
    list of Result
        Results in the order of `scenarios`.
    """
    return in_order(run_each(scenarios, jobs, progress, engine=engine, store=store))
