"""Execution of an experiment: runs that estimate the warm-up, then rounds of replications."""

import math
import time
from collections.abc import Callable, Iterable, Sequence

from aqmlab import statistics
from aqmlab.engine import Engine
from aqmlab.experiment.file import Experiment, place
from aqmlab.experiment.outcome import Outcome
from aqmlab.experiment.prepared import PreparedExperiment, Row
from aqmlab.store import Store

RoundProgress = Callable[[float, int, int], None]
"""Function that reports progress: the numbers of finished runs, of all runs, and of failed runs."""

SAVE_S = 5.0
"""Minimum time in s between two savings of partial results."""
SAVE_SHARE = 0.05
"""Maximum share of the time of an experiment in which partial results are saved."""

GROWTH = 2
"""Maximum factor by which a round increases the number of replications at a point. The factor is
limited because a few replications give only a rough estimate of the number needed.
"""


def conduct(
    experiment: Experiment,
    *,
    engine: Engine | None = None,
    store: Store | None = None,
    jobs: int | None = None,
    progress: RoundProgress | None = None,
) -> Outcome:
    """Run an experiment.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    engine : Engine, optional
        Engine that runs the scenarios; default: the simulator.
    store : Store, optional
        Store from which finished runs are read and to which new runs are written; default: no
        store.
    jobs : int, optional
        Maximum number of runs at the same time, 1 or more; default: the number of available cores.
    progress : callable, optional
        Function that is called about ten times per second with the number of finished runs, the
        total number of runs of all rounds so far, and the number of failed runs.

    Returns
    -------
    Outcome
        Table with one row per run. The row of a failed run has no values of measures, and states
        the reason of the failure.

    Raises
    ------
    ScenarioError
        If a scenario of the experiment is wrong; raised before the first run.
    """
    return carry_out(prepare(experiment, engine=engine, store=store, jobs=jobs), progress)


def prepare(
    experiment: Experiment,
    *,
    engine: Engine | None = None,
    store: Store | None = None,
    jobs: int | None = None,
) -> PreparedExperiment:
    """Check every scenario and every measure of an experiment, without any run.

    Parameters
    ----------
    experiment, engine, store, jobs
        As for :func:`conduct`.

    Raises
    ------
    ScenarioError
        If a scenario or the name of a measure is wrong.
    """
    prepared = PreparedExperiment(experiment, engine, store, jobs)
    _ = prepared.measures  # raises ScenarioError if a name is wrong
    if experiment.replications.measure:
        prepared.index(experiment.replications.measure)
    return prepared


def carry_out(
    prepared: PreparedExperiment,
    progress: RoundProgress | None = None,
    save: Callable[[Outcome], None] | None = None,
) -> Outcome:
    """Run a prepared experiment.

    Parameters
    ----------
    prepared : PreparedExperiment
        The experiment.
    progress : callable, optional
        As for :func:`conduct`.
    save : callable, optional
        Function that is called with the partial results about every `SAVE_S` seconds, and once if
        an error or a signal ends the experiment. It is not called before the first result.
    """
    experiment = prepared.experiment
    points = range(len(experiment.points))
    if experiment.warm_up.series:
        prepared.settle(lambda done, of: progress(done, of, 0) if progress else None)
    rows: list[Row] = []
    failed: list[Row] = []
    finished, needed = [0] * len(points), [experiment.replications.first] * len(points)

    def outcome(requested: int | None = None) -> Outcome:
        measures, notes = prepared.measures, prepared.notes
        return Outcome.of(experiment, measures, rows, prepared.warm_up, notes, requested)

    due = time.monotonic() + SAVE_S
    try:
        while round_ := [(p, r) for p in points for r in range(finished[p], needed[p])]:

            def report(
                done: float, of: int, before: int = len(rows), failed: list[Row] = failed
            ) -> None:
                if progress:
                    progress(before + done, before + of, len(failed))

            for row in prepared.runs(round_, report):
                rows.append(row)
                failed += [row] * bool(row.failed)
                if save and (began := time.monotonic()) >= due:
                    save(outcome(sum(needed) * len(experiment.arms)))
                    now = time.monotonic()
                    due = now + max(SAVE_S, (now - began) / SAVE_SHARE)
            finished = list(needed)
            needed = _needed(prepared, rows, finished)
    except BaseException:
        if save and rows:
            save(outcome(sum(needed) * len(experiment.arms)))
        raise
    if experiment.replications.measure:
        prepared.notes += _wide_intervals(prepared, rows)
    return outcome()


def _needed(
    prepared: PreparedExperiment, rows: Iterable[Row], finished: Sequence[int]
) -> list[int]:
    """Return the number of replications that each point needs according to the stopping rule."""
    rule = prepared.experiment.replications
    if rule.measure is None:
        return list(finished)
    values = _values(prepared, rule.measure, rows)
    return [
        max(
            enough(values[point, arm], rule.half_width, rule.at_most)
            for arm in prepared.experiment.arms
        )
        for point in range(len(finished))
    ]  # fmt: skip


def _values(
    prepared: PreparedExperiment, measure: str, rows: Iterable[Row]
) -> dict[tuple[int, str], list[float]]:
    """Return the values of a measure for each point and arm."""
    index = prepared.index(measure)
    values: dict[tuple[int, str], list[float]] = {}
    for row in rows:
        values.setdefault((row.point, row.arm), []).append(row.values[index])
    return values


def _wide_intervals(prepared: PreparedExperiment, rows: Iterable[Row]) -> list[str]:
    """Return a note if some intervals are still wider than the stopping rule permits."""
    experiment = prepared.experiment
    rule = experiment.replications
    wide = [
        (point, arm)
        for (point, arm), x in _values(prepared, rule.measure or "", rows).items()
        if not all(map(math.isfinite, x)) or enough(x, rule.half_width, len(x) + 1) > len(x)
    ]
    if not wide:
        return []
    point, arm = wide[0]
    return [
        f"the interval of {rule.measure} is wider than ±{100 * rule.half_width:g} % in {len(wide)} "
        f"of {len(experiment.points) * len(experiment.arms)} combinations of a point and an arm, "
        f"for example {place(arm, experiment.points[point]) or 'the scenario'}; raise "
        f"replications.at_most ({rule.at_most})"
    ]


def enough(values: Sequence[float], half_width: float, at_most: int) -> int:
    """Return the number of replications that the stopping rule needs, given the existing values.

    If the 95 % interval is narrow enough, the function returns the number of existing values. If
    the interval is too wide, the function estimates the required number of replications. The
    estimate assumes that the half width of Student's interval decreases with the square root of the
    number of replications. Source: ``law2007simulation``, section 9.4.1.

    Parameters
    ----------
    values : sequence of float
        One value per replication, at least two.
    half_width : float
        Half width of the 95 % interval relative to the mean, at which the stopping rule is met.
    at_most : int
        Maximum number of replications.

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
