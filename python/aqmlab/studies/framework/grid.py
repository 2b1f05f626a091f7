"""Grids of settings, in which every setting is run under several arms, as experiments.

Some studies run every combination of a few factors under each of several arms, such as queues or
kinds of signals. The class :class:`aqmlab.experiment.Outcome` computes paired differences, effects
and figures of such a grid. In all arms, replications with the same number have the same seed, so
arms are compared pair by pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aqmlab.experiment import Measured, Outcome
from aqmlab.measures import Measure
from aqmlab.studies.framework.runs import Runs

Points = Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]
"""Pairs of two dicts, one pair per point: the level of each factor, and the setting of each arm."""


def outcome(
    runs: Runs,
    points: Points,
    measures: Sequence[Measure[Any]],
    title: str,
    at_most: int | None = None,
) -> Outcome:
    """Return the runs of a grid as the outcome of an experiment.

    A point of the grid is left out if one of its settings was not requested, as in the quick form
    of a study. Two arms are compared by the replications that both arms have. A mean over several
    points needs points with equally many replications; `at_most` is the maximum number of
    replications of a setting.

    Raises
    ------
    ValueError
        If no point of the grid has runs of all its settings.
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
                if at_most is not None and seed >= at_most:
                    continue
                read = {m.name: float(m.of(run)) for m in measures}
                about = {"arm": arm, "seed": seed, "warnings": "", "failed": ""}
                rows.append({"point": point, **at, **about, **read})
    if not rows:
        raise ValueError(
            f"{title}: no point of the grid was run; choose an item that runs the grid"
        )
    known = [Measured(m.name, m.unit, m.scale, m.better) for m in measures]
    return Outcome(pd.DataFrame(rows), factors, arms, known, title)
