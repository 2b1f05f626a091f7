"""A grid of settings under several arms as an experiment, for its pairs, effects and figures.

A study that runs every combination of some factors under each of its arms (queues, ways of
signalling) has what :class:`aqmlab.experiment.Outcome` has: points, arms, seeds. Replications of
the same number have the same seed, so arms are compared pair by pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aqmlab.experiment import Measured, Outcome
from aqmlab.measures import Measure
from aqmlab.studies.framework.runs import Runs

Points = Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]
"""For each point its factors, and the setting of each arm."""


def outcome(runs: Runs, points: Points, measures: Sequence[Measure[Any]], title: str) -> Outcome:
    """Return the runs of a grid as the outcome of an experiment.

    Points of which a setting was not asked for (the quick form leaves some out) are left out. Arms
    are compared by the replications that both have.

    Raises
    ------
    ValueError
        If no point has its runs.
    """
    import pandas as pd

    factors: list[str] = []
    arms: list[str] = []
    rows: list[dict[str, Any]] = []
    for point, (at, settings) in enumerate(points):
        if not all(map(runs.has, settings.values())):
            continue
        factors, arms = list(at), list(settings)
        for arm, setting in settings.items():
            for seed, run in runs.by_replication(setting):
                read = {m.name: float(m.of(run)) for m in measures}
                about = {"arm": arm, "seed": seed, "warnings": "", "failed": ""}
                rows.append({"point": point, **at, **about, **read})
    if not rows:
        raise ValueError(f"{title}: no point of the grid was run")
    known = [Measured(m.name, m.unit, m.scale, m.better) for m in measures]
    return Outcome(pd.DataFrame(rows), factors, arms, known, title)
