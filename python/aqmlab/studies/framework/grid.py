"""Grids of settings, each run under several arms, as the outcome of an experiment.

Some studies run every combination of a few factors under each of several arms (queues, ways of
signalling). A grid of settings has the points, arms and seeds of an
:class:`aqmlab.experiment.Outcome`, which computes paired differences, effects and figures.
Replications with the same number have the same seed, so that arms are compared in pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aqmlab.experiment import Measured, Outcome
from aqmlab.measures import Measure
from aqmlab.studies.framework.runs import Runs

Points = Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]
"""For each point: its factors and levels, and the setting of each arm."""


def outcome(runs: Runs, points: Points, measures: Sequence[Measure[Any]], title: str) -> Outcome:
    """Return the runs of a grid as the outcome of an experiment.

    The outcome omits every point of the grid with a setting that was not requested, as in the quick
    form of a study. The outcome compares two arms by the replications that both arms have.

    Raises
    ------
    ValueError
        If every point of the grid lacks a run.
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
        raise ValueError(f"{title}: no point of the grid was run; choose an item that runs it")
    known = [Measured(m.name, m.unit, m.scale, m.better) for m in measures]
    return Outcome(pd.DataFrame(rows), factors, arms, known, title)
