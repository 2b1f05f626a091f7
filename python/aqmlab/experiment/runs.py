"""One run, and many that are different."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from aqmlab._core import ScenarioError
from aqmlab.custom import CustomQueue, Given, put
from aqmlab.engine import Engine, Progress, Simulator, within_limits
from aqmlab.experiment.campaign import campaign, in_order
from aqmlab.results import Result
from aqmlab.scenario import Document, ScenarioLike, normalize, toml_value
from aqmlab.store import Store


def run(
    scenario: ScenarioLike,
    seed: int | None = None,
    *,
    queues: Mapping[str, CustomQueue] | None = None,
    pcap: str | os.PathLike[str] | None = None,
    limits: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
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
    limits : mapping, optional
        What the run may take; see :meth:`aqmlab.engine.Limiting.within`. Default: none.
    progress : callable, optional
        Called about ten times a second with the fraction that is done and 1.
    engine : Engine, optional
        The engine that runs it; default: the simulator, which alone writes captures.

    Returns
    -------
    Result
        Tables and manifest.

    Raises
    ------
    ScenarioError
        If the scenario is wrong, the engine does not support it, or the run passes a limit.
    InvariantViolation
        If the simulator contradicts itself; this is a defect of aqmlab.
    OSError
        If the scenario's file cannot be read, or a capture cannot be written.
    Exception
        Whatever a law written in Python raises, with a note of when and where.
    """
    folders = [] if pcap is None else [Path(pcap)]
    for folder in folders:
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder}: there is no such folder for the captures; make it")
    if folders and engine is not None:
        raise ValueError("pcap: only the simulator writes captures; leave pcap or engine out")
    given = Given()
    text = with_queues(scenario, seed, queues, given)
    if engine is None:
        engine = Simulator(given, folders, limits)
    else:
        engine = within_limits(engine, limits or {})
    ((_, result),) = campaign([(text,)], as_it_is, engine=engine, jobs=1, progress=progress)
    return result


def as_it_is(result: Result) -> Result:
    """Return a result: what a run is reduced to where all of it is wanted."""
    return result


def with_queues(
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
    scenarios: Iterable[ScenarioLike],
    jobs: int | None = None,
    progress: Progress | None = None,
    *,
    engine: Engine | None = None,
    store: Store | None = None,
) -> Iterator[tuple[int, Result]]:
    """Run scenarios in parallel and give each result as soon as it is there.

    A scenario that is there twice is run once.

    Parameters
    ----------
    scenarios : iterable of path, dict or Scenario
        The scenarios. All are checked before the first is run.
    jobs : int, optional
        Runs at a time, 1 or more; default: the cores available.
    progress : callable, optional
        Called about ten times a second with the runs done and their number.
    engine : Engine, optional
        What runs them; default: the simulator.
    store : Store, optional
        Where finished runs are found and kept; default: nowhere.

    Yields
    ------
    index : int
        Position in `scenarios`.
    result : Result
        Its result.

    Raises
    ------
    OSError
        As :func:`run`; the other runs are stopped.
    ScenarioError
        As :func:`run`: at once if a scenario is wrong, and when the other runs have ended if it
        never ends.
    InvariantViolation, MemoryError
        As :func:`run`, when the other runs have ended.
    """
    if isinstance(scenarios, str | os.PathLike | Mapping | Document):
        raise ScenarioError("scenarios must be a list; put the one in brackets, or use aqmlab.run")
    given = Given()
    texts = [normalize(s, given=given) for s in scenarios]
    yield from campaign(
        [(text,) for text in texts], as_it_is,
        engine=engine or Simulator(given), store=store, jobs=jobs, progress=progress,
    )  # fmt: skip


def run_many(
    scenarios: Iterable[ScenarioLike],
    jobs: int | None = None,
    progress: Progress | None = None,
    *,
    engine: Engine | None = None,
    store: Store | None = None,
) -> list[Result]:
    """Run scenarios in parallel; see :func:`run_each`.

    Returns
    -------
    list of Result
        In the order of `scenarios`.
    """
    return in_order(run_each(scenarios, jobs, progress, engine=engine, store=store))
