"""Replications: runs that differ in nothing but their seed."""

import json
import warnings
from collections.abc import Mapping
from typing import Any

from aqmlab.custom import CustomQueue, Given
from aqmlab.engine import Engine, Progress, Simulator
from aqmlab.experiment.campaign import campaign, check_count, in_order
from aqmlab.experiment.runs import as_it_is, with_queues
from aqmlab.results import Result
from aqmlab.scenario import ScenarioLike, normalize
from aqmlab.store import Store


def replicate(
    scenario: ScenarioLike,
    n: int,
    jobs: int | None = None,
    progress: Progress | None = None,
    *,
    queues: Mapping[str, CustomQueue] | None = None,
    engine: Engine | None = None,
    store: Store | None = None,
) -> list[Result]:
    """Run a scenario `n` times, which differ in nothing but their seed.

    Parameters
    ----------
    scenario : path, dict or Scenario
        The scenario. Replication i has its seed plus i.
    n : int
        Replications, 1 or more.
    jobs, progress, engine, store
        As :func:`run_each`.
    queues
        As :func:`run`; each replication has its own copies.

    Returns
    -------
    list of Result
        In the order of their seeds.
    """
    given = Given()
    base = json.loads(with_queues(scenario, None, queues, given))
    asks = [(normalize(one),) for one in replications(base, n)]
    engine = engine or Simulator(given)
    results = in_order(
        campaign(asks, as_it_is, engine=engine, store=store, jobs=jobs, progress=progress)
    )
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
        there = [name for name in ("flows", "links") if name in result.tables]
        tables = map(result.columns, there)
        return [list(map(str, column)) for table in tables for column in table.values()]

    first = told(results[0])
    return all(told(result) == first for result in results[1:])


def replications(scenario: ScenarioLike, n: int) -> list[dict[str, Any]]:
    """Return the scenarios of `n` replications: seeds s, s + 1, … from the scenario's seed s.

    Raises
    ------
    ValueError
        If `n` is no whole number, or below 1.
    """
    check_count("replications", n)
    base = json.loads(normalize(scenario))
    return [base | {"seed": base["seed"] + i} for i in range(n)]
