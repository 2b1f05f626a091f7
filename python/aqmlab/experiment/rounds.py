"""An experiment from beginning to end: the warm-up, then replications, round by round."""

import math
from collections.abc import Callable, Iterable, Sequence

from aqmlab import statistics
from aqmlab.engine import Engine
from aqmlab.experiment.conduct import Conduct, Row
from aqmlab.experiment.file import Experiment, as_text
from aqmlab.experiment.outcome import Outcome
from aqmlab.store import Store

Told = Callable[[float, int, int], None]
"""Called now and then with the runs done, their number, and how many failed."""

GROWTH = 2
"""A round at most doubles the replications of a point: few say little of how many it needs."""


def conduct(
    experiment: Experiment,
    *,
    engine: Engine | None = None,
    store: Store | None = None,
    jobs: int | None = None,
    told: Told | None = None,
) -> Outcome:
    """Run an experiment.

    Parameters
    ----------
    experiment : Experiment
        What is run.
    engine : Engine, optional
        What runs it; default: the simulator.
    store : Store, optional
        Where finished runs are found and kept; default: nowhere.
    jobs : int, optional
        Runs at a time, 1 or more; default: the cores available.
    told : callable, optional
        Is told now and then the runs done, their number as far as it is known, and how many failed.

    Returns
    -------
    Outcome
        A row a run. A run that failed has no values, and says why.

    Raises
    ------
    ScenarioError
        If a scenario of some arm at some point is wrong: before the first is run.
    """
    return carry_out(prepare(experiment, engine=engine, store=store, jobs=jobs), told)


def prepare(
    experiment: Experiment,
    *,
    engine: Engine | None = None,
    store: Store | None = None,
    jobs: int | None = None,
) -> Conduct:
    """Check every scenario and measure of an experiment, without writing or running anything.

    Parameters
    ----------
    experiment, engine, store, jobs
        As :func:`conduct`.

    Raises
    ------
    ScenarioError
        If a scenario or the name of a measure is wrong.
    """
    work = Conduct(experiment, engine, store, jobs)
    _ = work.measures  # checks their names
    if experiment.replications.measure:
        work.index(experiment.replications.measure)
    return work


def carry_out(work: Conduct, told: Told | None = None) -> Outcome:
    """Run a checked experiment; `told` as :func:`conduct`."""
    experiment = work.experiment
    points = range(len(experiment.points))
    if experiment.warm_up.series:
        work.settle(lambda done, of: told(done, of, 0) if told else None)
    rows: list[Row] = []
    failed: list[Row] = []
    had, wanted = [0] * len(points), [experiment.replications.first] * len(points)
    while which := [(p, r) for p in points for r in range(had[p], wanted[p])]:

        def on(done: float, of: int, before: int = len(rows), lost: list[Row] = failed) -> None:
            if told:
                told(before + done, before + of, len(lost))

        for row in work.runs(which, on):
            rows.append(row)
            failed += [row] * bool(row.failed)
        had = list(wanted)
        wanted = _wanted(experiment, work, rows, had)
    if experiment.replications.measure:
        work.notes += _short(experiment, work, rows)
    return Outcome.of(experiment, work.measures, rows, work.warm_up, work.notes)


def _wanted(
    experiment: Experiment, work: Conduct, rows: Iterable[Row], had: Sequence[int]
) -> list[int]:
    """Return how many replications each point is to have."""
    rule = experiment.replications
    if rule.measure is None:
        return list(had)
    values = _values(work, rule.measure, rows)
    return [
        max(
            enough(values[point, arm], rule.half_width, rule.at_most)
            for arm in experiment.arms
        )
        for point in range(len(had))
    ]  # fmt: skip


def _values(work: Conduct, measure: str, rows: Iterable[Row]) -> dict[tuple[int, str], list[float]]:
    """Return the values of a measure by point and arm."""
    at = work.index(measure)
    values: dict[tuple[int, str], list[float]] = {}
    for row in rows:
        values.setdefault((row.point, row.arm), []).append(row.values[at])
    return values


def _short(experiment: Experiment, work: Conduct, rows: Iterable[Row]) -> list[str]:
    """Return where the interval did not get narrow enough."""
    rule = experiment.replications
    wide = [
        (point, arm)
        for (point, arm), x in _values(work, rule.measure or "", rows).items()
        if not all(map(math.isfinite, x)) or enough(x, rule.half_width, len(x) + 1) > len(x)
    ]
    if not wide:
        return []
    point, arm = wide[0]
    return [
        f"the interval of {rule.measure} is wider than ±{100 * rule.half_width:g} % in {len(wide)} "
        f"of {len(experiment.points) * len(experiment.arms)} places, as of arm {arm} at "
        f"{as_text(experiment.points[point])}; raise replications.at_most ({rule.at_most})"
    ]


def enough(values: Sequence[float], half_width: float, at_most: int) -> int:
    """Return how many replications to have next: as many as there are if the interval is narrow.

    The half width of Student's interval shrinks about with the root of their number. Source:
    ``law2007simulation``, section 9.4.1.

    Parameters
    ----------
    values : sequence of float
        One a replication, at least two.
    half_width : float
        The half of the 95 % interval that is narrow enough, as a share of the mean.
    at_most : int
        The most replications.

    Examples
    --------
    >>> enough([10, 10.1, 9.9], 0.05, 50), enough([5, 10, 15], 0.05, 50)
    (3, 6)
    """
    n = len(values)
    if n >= at_most or not all(map(math.isfinite, values)):
        return n
    low, mean, high = statistics.mean_interval(values)
    half = (high - low) / 2
    if half <= half_width * abs(mean):
        return n
    factor = (half / (half_width * abs(mean))) ** 2 if mean else GROWTH
    return min(at_most, max(n + 1, math.ceil(n * min(factor, GROWTH))))
