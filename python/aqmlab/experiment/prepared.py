"""Execution of the runs of an experiment, each of which becomes a row of measures.

All arms and points have the same seeds (common random numbers). A failed run does not stop the
other runs, and its row states the reason of the failure.
"""

import json
import math
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar

from aqmlab._core import InvariantViolation, ScenarioError, check
from aqmlab.custom import CustomAqms, places
from aqmlab.engine import (
    EVERYTHING,
    Capabilities,
    Engine,
    Failed,
    Progress,
    engine_with,
    within_limits,
)
from aqmlab.experiment.campaign import campaign
from aqmlab.experiment.design import Point
from aqmlab.experiment.file import Experiment, errors_at, place
from aqmlab.measures import (
    AtLeast,
    CrossingFlows,
    Measure,
    MeasuredRun,
    column,
    crossing_flows,
    is_column,
    link_names,
    measures,
    parts,
    sampled,
    series_of,
)
from aqmlab.results import Result
from aqmlab.scenario import (
    as_written,
    document_text,
    normalize,
    opens_many_connections,
    toml_value,
    warm_up_change,
    warm_up_of,
    with_seed,
)
from aqmlab.statistics import mser
from aqmlab.store import Store

Reduced = TypeVar("Reduced")


@dataclass(frozen=True, slots=True)
class Row:
    """Results of one run: its point, arm and seed, and the value of each measure.

    `values` is in the order of the measures of the experiment, with NaN for a missing value.
    `warnings` and `kinds` have the texts and the kinds of the warnings, one per line. `failed` is
    the reason if the run failed, else "". `not_measured` has the names of the measures that the
    engine did not measure, one per line.
    """

    point: int
    arm: str
    seed: int
    values: tuple[float, ...] = ()
    warnings: str = ""
    kinds: str = ""
    failed: str = ""
    not_measured: str = ""


@dataclass
class Plan:
    """Scenarios of an experiment, which are created on demand."""

    experiment: Experiment
    aqms: CustomAqms = field(default_factory=CustomAqms)
    capabilities: Capabilities = EVERYTHING
    warm_up: str | None = None

    @cached_property
    def base(self) -> str:
        """Scenario of the experiment as JSON, as the user wrote it, without default values."""
        return document_text(as_written(self.experiment.scenario, self.aqms))

    def scenario(self, point: Point, arm: str) -> dict[str, Any]:
        """Return the scenario of an arm at a point, including default values; see :meth:`text`."""
        scenario: dict[str, Any] = json.loads(self.text(point, arm))
        return scenario

    def text(self, point: Point, arm: str) -> str:
        """Return the normalized scenario of an arm at a point as JSON.

        Changes with shorter dotted paths are applied first. If the path of an arm's change and the
        path of a factor have equal length, the arm's change is applied first. A factor can
        therefore change a key inside a table that the arm sets.

        Raises
        ------
        ScenarioError
            If the scenario is wrong. The message names the arm and the point.
        """
        changes = {**self.experiment.arms[arm], **point}
        with errors_at(arm, point):
            both = self.experiment.arms[arm].keys() & point.keys()
            if both:
                raise ScenarioError(
                    f"{min(both)} is set by the arm and by a factor; remove the key from the arm "
                    "or from the factors"
                )
            if "seed" in changes:
                raise ScenarioError(
                    "seed cannot be a factor, because each replication has a different seed; set "
                    "the seed of the first replication in the scenario"
                )
            if self.experiment.limits.get("simulated"):
                changes["time_limit"] = self.experiment.limits["simulated"]
            overrides = [
                (key, toml_value(changes[key], self.aqms))
                for key in sorted(changes, key=lambda key: key.count("."))
            ]
            overrides += warm_up_change(self.warm_up)
            return self._recording(check(self.base, "json", overrides))

    def _recording(self, text: str) -> str:
        """Return a normalized scenario that also records every series that the measures need."""
        scenario = json.loads(text)
        record, names = scenario["record"], self.experiment.measures
        series = ["delays"] if names is None or any("_delay_s" in name for name in names) else []
        series += ["transfers"] * any(map(opens_many_connections, scenario["flows"]))
        series = [name for name in series if self.capabilities.records(name)]
        columns = [name for name in names or [] if is_column(name)]
        columns += [self.experiment.warm_up.series] if self.experiment.warm_up.series else []
        series += [name for name in map(series_of, columns) if name]
        every = list(dict.fromkeys([*record["series"], *series]))
        links = list(record["links"])
        if not record["series"] and not columns:
            links = self.links(scenario)
        elif links:
            links = list(dict.fromkeys([*links, *self.links(scenario)]))
        recorded = [("record.series", toml_value(every)), ("record.links", toml_value(links))]
        return check(text, "json", recorded)

    def links(self, scenario: dict[str, Any]) -> list[str]:
        """Return the names of the links to measure; an empty list stands for all links."""
        if self.experiment.links is not None:
            return self.experiment.links
        return ["left>right"] if scenario["network"]["kind"] == "dumbbell" else []


@dataclass
class PreparedExperiment:
    """Experiment that is ready to run, because all its scenarios have been checked.

    Attributes
    ----------
    experiment : Experiment
        The experiment.
    engine : Engine, optional
        Engine that runs the scenarios; default: the simulator.
    store : Store, optional
        Store from which finished runs are read and to which new runs are written; default: no
        store.
    jobs : int, optional
        Maximum number of runs at the same time; default: the number of available cores.
    measures : list of Measure
        Measures that are computed for each run.
    warm_up : str, optional
        Warm-up, if all runs have the same one; else None.
    notes : list of str
        Warnings about the reliability of the results, one sentence each.
    """

    experiment: Experiment
    engine: Engine | None = None
    store: Store | None = None
    jobs: int | None = None
    warm_up: str | None = None

    def __post_init__(self) -> None:
        warm_up = self.experiment.warm_up
        self._plan = Plan(self.experiment, warm_up="0 s" if warm_up.series else warm_up.time)
        if self.engine is not None:
            self._plan.capabilities = self.engine.capabilities
            within_limits(self.engine, self.experiment.machine_limits)
            self._check_columns(self.engine.capabilities)
        self._latest: tuple[int, dict[str, str]] = (-1, {})
        self.notes: list[str] = []
        warm_ups = set()
        for point in self.experiment.points:
            for arm in self.experiment.arms:
                text = self._plan.text(point, arm)
                warm_ups.add(warm_up_of(json.loads(text)))
                with errors_at(arm, point):
                    self._plan.capabilities.check(text)
        self.warm_up = warm_ups.pop() if len(warm_ups) == 1 else None

    def _check_columns(self, capabilities: Capabilities) -> None:
        """Raise ScenarioError if the experiment needs a column that the engine does not fill."""
        names = [(f"measures.{i}", m) for i, m in enumerate(self.experiment.measures or [])]
        names += [("warm_up.mser", self.experiment.warm_up.series or "")]
        for path, text in names:
            if not is_column(text):
                continue
            try:
                named, series = parts(text), series_of(text)
            except ValueError:  # the property `measures` raises the error
                continue
            if not (series is None or capabilities.records(series)):
                missing = f"does not record the series {series}"
            elif not capabilities.fills(*named):
                missing = f"does not fill the column {'.'.join(named)}"
            else:
                continue
            raise ScenarioError(
                f'{path}: "{text}" is not supported by this engine, which {missing}; remove the '
                "column, or choose another engine"
            )

    @cached_property
    def measures(self) -> list[Measure[MeasuredRun]]:
        """Measures that the experiment names; by default, all measures of the first point.

        Raises
        ------
        ScenarioError
            If the experiment names a measure or a column that does not exist.
        """
        known: dict[str, Measure[MeasuredRun]] = {}
        where = "links: " if self.experiment.links else ""
        for arm in self.experiment.arms:
            scenario = self._plan.scenario(self.experiment.points[0], arm)
            links = self._plan.links(scenario) or _every_link(scenario)
            try:
                if self.experiment.links:
                    normalize(scenario | {"record": {"links": links}})
                of_arm = crossing_flows(scenario, json.dumps(scenario), links)
                known |= {m.name: m for m in measures(links, of_arm)}
            except ValueError as e:
                raise ScenarioError(f"{where}{e}") from None
        if self.experiment.measures is None:
            return list(known.values())
        chosen: list[Measure[MeasuredRun]] = []
        for i, name in enumerate(self.experiment.measures):
            try:
                if name not in known and not is_column(name):
                    raise ValueError(
                        f'"{name}" is not a measure; give a column, or one of {", ".join(known)}'
                    )
                chosen.append(known[name] if name in known else column(name))
            except ValueError as e:
                raise ScenarioError(f"measures.{i}: {e}") from None
        return chosen

    def runs(
        self, replications: Sequence[tuple[int, int]], progress: Progress | None = None
    ) -> Iterator[Row]:
        """Run replications at points, with every arm, and yield the row of each run when it ends.

        Parameters
        ----------
        replications : sequence of (int, int)
            Index of the point and number of the replication, for each replication to run. The seed
            of a run is the seed of the scenario plus the number of the replication.
        progress : callable, optional
            Function that is called with the number of finished runs and the total number of runs.
        """
        requested = [(*one, arm) for one in replications for arm in self.experiment.arms]

        def report(done: float, of: int) -> None:
            if progress:
                progress(len(requested) * done / max(1, of), len(requested))

        engine, left = self._recorder(), set(range(len(requested)))
        texts = ((self._text(*one),) for one in requested)
        for i, measured in self._campaign(texts, self._measured, engine, report):
            values, warnings, kinds, absent = measured
            left.discard(i)
            point, replication, arm = requested[i]
            seed = self._seed + replication
            yield Row(point, arm, seed, values, warnings, kinds, not_measured=absent)
        for i in sorted(left):
            point, replication, arm = requested[i]
            reason = engine.failed.get(self._text(*requested[i]), "")
            none = (math.nan,) * len(self.measures)
            yield Row(point, arm, self._seed + replication, none, failed=reason)

    def _recorder(self) -> "FailureRecorder":
        """Return the engine with limits on each run, wrapped so that it records failed runs."""
        engine = engine_with(self.engine, self._plan.aqms)
        return FailureRecorder(within_limits(engine, self.experiment.machine_limits))

    def _campaign(
        self,
        requests: Iterable[tuple[str, ...]],
        reduce: Callable[..., Reduced],
        engine: "FailureRecorder",
        progress: Progress,
    ) -> Iterator[tuple[int, Reduced]]:
        """Yield the reduced results of successful runs; `engine` records the failed runs."""
        running = campaign(
            requests, reduce, engine=engine, store=self.store, jobs=self.jobs, progress=progress
        )
        with closing(running):
            try:
                yield from running
            except (ScenarioError, InvariantViolation, MemoryError):
                if not engine.failed:  # the error is not the one that reports failed runs
                    raise

    @cached_property
    def _seed(self) -> int:
        """Seed of the first replication, the same for all arms and points."""
        seed: int = self._plan.scenario(
            self.experiment.points[0], next(iter(self.experiment.arms))
        )["seed"]
        return seed

    def _text(self, point: int, replication: int, arm: str) -> str:
        """Return the scenario of one run as JSON."""
        if point != self._latest[0]:  # only the scenarios of the latest point are cached
            self._latest = (point, {})
        if arm not in self._latest[1]:
            self._latest[1][arm] = self._plan.text(self.experiment.points[point], arm)
        return with_seed(self._latest[1][arm], self._seed + replication)

    def index(self, name: str) -> int:
        """Return the index of a measure, given its name.

        Raises
        ------
        ScenarioError
            If the experiment does not have a measure of this name.
        """
        names = [m.name for m in self.measures]
        if name not in names:
            known = ", ".join(names)
            raise ScenarioError(f'replications.until is "{name}"; it must be one of {known}')
        return names.index(name)

    def settle(self, progress: Progress | None = None) -> None:
        """Set the warm-up to the longest MSER-5 estimate from one run per arm and point.

        Raises
        ------
        ScenarioError
            If the series of a run is too short for an estimate, or if no series becomes stationary.
        """
        text = self.experiment.warm_up.series or ""
        every = [(point, arm) for point in range(len(self.experiment.points))
                 for arm in self.experiment.arms]  # fmt: skip
        points = self.experiment.points
        texts = ((self._plan.text(points[point], arm),) for point, arm in every)
        ends: list[float] = []
        unsettled, engine = list[str](), self._recorder()
        settled = self._campaign(texts, partial(_settled, text), engine, progress or _ignore)
        for i, (time, problem) in settled:
            point, arm = every[i]
            where = place(arm, self.experiment.points[point])
            if problem:
                raise ScenarioError(f"warm_up.mser: {where}{': ' if where else ''}{problem}")
            if math.isnan(time):
                unsettled.append(where or "the scenario")
            else:
                ends.append(time)
        if not ends and not engine.failed:
            raise ScenarioError(
                f"warm_up.mser: {text} does not become stationary in the first half of any run; "
                "increase the duration"
            )
        if unsettled:
            self.notes.append(
                f"not stationary: {text} does not settle in {len(unsettled)} of the {len(every)} "
                f"runs for the estimate of the warm-up, for example in the run of {unsettled[0]}; "
                "increase the duration, or set "
                "warm_up to a time"
            )
        longest = max(ends, default=0.0)
        self._plan.warm_up = f"{longest:.9g} s"
        self._latest = (-1, {})
        self.warm_up = self._plan.warm_up if longest else None

    def _measured(self, result: Result) -> tuple[Any, str, str, str]:
        """Return the values of the measures in a run, and other values of its :class:`Row`.

        The other values are the warnings, their kinds, and the unmeasured measures.
        """
        scenario = result.scenario
        links = tuple(self._plan.links(scenario) or link_names(result))
        of_scenario, known = _readings(scenario, links)
        seen = MeasuredRun(result, of_scenario)
        values, absent = [], []
        for m in self.measures:
            measure = known.get(m.name) or (m if is_column(m.name) else None)
            value = measure.read(seen) if measure else math.nan
            if value is None:
                absent.append(m.name)
            unknown = value is None or isinstance(value, AtLeast)
            values.append(math.nan if unknown else float(value or 0))
        warnings = result.manifest.get("warnings", [])
        texts, kinds = (_lines(w[key] for w in warnings) for key in ("text", "about"))
        return tuple(values), texts, kinds, _lines(absent)


def _lines(texts: Iterable[str]) -> str:
    """Return texts as the lines of one text, which equal texts of other runs share in memory."""
    return sys.intern("\n".join(" ".join(text.splitlines()) for text in texts))


def _ignore(_: float, __: int) -> None:
    """Ignore the reported progress of runs."""


def _settled(text: str, result: Result) -> tuple[float, str]:
    """Estimate the end of a run's warm-up in s from a column; also return a problem or "".

    The time is NaN if the column does not become stationary in the first half of the run.
    """
    times, values = sampled(text, result)
    try:
        cut, settled = mser(values)
    except ValueError as e:
        return 0.0, f"{text} {e}; reduce record.interval, or increase the duration"
    if not settled:
        return math.nan, ""
    return float(times[cut]) if cut else 0.0, ""


Readings = tuple[list[CrossingFlows], dict[str, Measure[MeasuredRun]]]
_KNOWN: deque[tuple[dict[str, Any], tuple[str, ...], Readings]] = deque(maxlen=64)
"""Cache of recent scenarios, with the links, the crossing flows and the measures of each."""


def _readings(scenario: dict[str, Any], links: tuple[str, ...]) -> Readings:
    """Return the crossing flows and the measures of a scenario, from a cache if possible."""
    keys = {key: value for key, value in scenario.items() if key not in ("seed", "title")}
    for cached, cached_links, readings in _KNOWN:
        if links == cached_links and keys == cached:
            return readings
    of_scenario = crossing_flows(scenario, json.dumps(scenario), links)
    readings = of_scenario, {m.name: m for m in measures(list(links), of_scenario)}
    _KNOWN.appendleft((keys, links, readings))
    return readings


def _every_link(scenario: dict[str, Any]) -> list[str]:
    """Return the name of each link of a scenario."""
    return [name for name in places(scenario) if name != "bottleneck"]


class FailureRecorder:
    """Engine that passes runs to another engine and records the errors of failed runs.

    Attributes
    ----------
    failed : dict of str to str
        Error message of each failed run, by its scenario as text.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.failed: dict[str, str] = {}

    @property
    def build(self) -> str:
        """Build of the wrapped engine, which runs the scenarios."""
        return self._engine.build

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities of the wrapped engine, which runs the scenarios."""
        return self._engine.capabilities

    def run(
        self, texts: Sequence[str], jobs: int | None = None, progress: Progress | None = None
    ) -> Generator[tuple[int, Result | Failed]]:
        """Run scenarios; see :class:`aqmlab.engine.Engine`."""
        with closing(self._engine.run(texts, jobs, progress)) as running:
            for i, outcome in running:
                if isinstance(outcome, Failed):
                    self.failed[texts[i]] = str(outcome.error)
                yield i, outcome
