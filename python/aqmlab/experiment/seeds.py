"""Replications: runs that differ only in their seed."""

import json
import warnings
from collections.abc import Mapping
from typing import Any

from aqmlab.custom import CustomAqms, CustomQueue
from aqmlab.engine import Engine, Progress, engine_with
from aqmlab.experiment.campaign import campaign, check_count, in_order
from aqmlab.experiment.runs import unreduced, with_queues
from aqmlab.results import Result
from aqmlab.scenario import Overrides, ScenarioLike, normalize
from aqmlab.store import Store


def replicate(
    scenario: ScenarioLike,
    n: int,
    jobs: int | None = None,
    progress: Progress | None = None,
    *,
    overrides: Overrides = (),
    queues: Mapping[str, CustomQueue] | None = None,
    engine: Engine | None = None,
    store: Store | None = None,
) -> list[Result]:
    """Run `n` replications of a scenario.

    Parameters
    ----------
    scenario : path, name, dict or Scenario
        The scenario. The seed of replication i is the seed of the scenario plus i.
    n : int
        Number of replications, 1 or more.
    jobs, progress, engine, store
        As for :func:`run_each`.
    overrides
        As for :func:`run`.
    queues
        As for :func:`run`. Each replication uses its own copies of the AQMs.

    Returns
    -------
    list of Result
        Results in the order of the seeds.
    """
    aqms = CustomAqms()
    base = json.loads(with_queues(scenario, None, queues, aqms, overrides))
    requests = [(normalize(one),) for one in replications(base, n)]
    engine = engine_with(engine, aqms)
    results = in_order(
        campaign(requests, unreduced, engine=engine, store=store, jobs=jobs, progress=progress)
    )
    if n > 1 and _identical(results):
        warnings.warn(
            f"all {n} replications have the same results, because the scenario does not depend on "
            "the seed; draw start times, sizes or losses at random, or run one replication",
            IdenticalReplications,
            stacklevel=2,
        )
    return results


class IdenticalReplications(UserWarning):
    """Warning that is issued if all replications have the same results."""


def _identical(results: list[Result]) -> bool:
    """Return True if all results have the same tables of flows and of links."""

    def contents(result: Result) -> list[list[str]]:
        measured = [name for name in ("flows", "links") if name in result.tables]
        tables = map(result.columns, measured)
        return [list(map(str, column)) for table in tables for column in table.values()]

    first = contents(results[0])
    return all(contents(result) == first for result in results[1:])


def replications(scenario: ScenarioLike, n: int) -> list[dict[str, Any]]:
    """Return the scenarios of `n` replications; the first has the seed of the given scenario.

    Raises
    ------
    ValueError
        If `n` is not a whole number, or is below 1.
    """
    check_count("replications", n)
    base = json.loads(normalize(scenario))
    return [base | {"seed": base["seed"] + i} for i in range(n)]
