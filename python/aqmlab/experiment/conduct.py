"""Conducts an experiment: of each run only what is measured stays, a row.

Arms and points have the same seeds (common random numbers). A run that fails leaves a row that says
why, and the others go on.
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

from aqmlab._core import InvariantViolation, ScenarioError
from aqmlab.custom import Given, places
from aqmlab.engine import (
    EVERYTHING,
    Capabilities,
    Engine,
    Failed,
    Progress,
    Simulator,
    within_limits,
)
from aqmlab.experiment.campaign import campaign
from aqmlab.experiment.design import Point
from aqmlab.experiment.file import Experiment, as_text
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
    as_said,
    comes_and_goes,
    given_warm_up,
    normalize,
    toml_value,
    warm_up_change,
    with_seed,
)
from aqmlab.statistics import mser
from aqmlab.store import Store

Reduced = TypeVar("Reduced")


@dataclass(frozen=True, slots=True)
class Row:
    """A run: where it stands, what was measured, in the order of the measures; NaN: no value.

    `not_measured` has the names of the measures that the engine did not measure, one per line.
    """

    point: int
    arm: str
    seed: int
    values: tuple[float, ...] = ()
    warnings: str = ""
    failed: str = ""
    not_measured: str = ""


@dataclass
class Plan:
    """The scenarios of an experiment, made when they are needed."""

    experiment: Experiment
    given: Given = field(default_factory=Given)
    capabilities: Capabilities = EVERYTHING
    warm_up: str | None = None

    @cached_property
    def base(self) -> dict[str, Any]:
        """The scenario as it was said."""
        return as_said(self.experiment.scenario, self.given)

    def scenario(self, point: Point, arm: str) -> dict[str, Any]:
        """Return the scenario of an arm at a point, every default filled in; see :meth:`text`."""
        made: dict[str, Any] = json.loads(self.text(point, arm))
        return made

    def text(self, point: Point, arm: str) -> str:
        """Return the scenario of an arm at a point, normalized.

        What is nearer to the root is set first, then the arm's before the factors', so that factors
        may change what is in a table that an arm puts in.

        Raises
        ------
        ScenarioError
            If it is wrong: names the point and the arm.
        """
        changes = {**self.experiment.arms[arm], **point}
        try:
            both = self.experiment.arms[arm].keys() & point.keys()
            if both:
                raise ScenarioError(f"{min(both)} is set by the arm and by a factor; set it in one")
            if "seed" in changes:
                raise ScenarioError("seed is what replications vary; set it in the scenario")
            if self.experiment.limits.get("simulated"):
                changes["time_limit"] = self.experiment.limits["simulated"]
            overrides = [
                (key, toml_value(changes[key], self.given))
                for key in sorted(changes, key=lambda key: key.count("."))
            ]
            overrides += warm_up_change(self.warm_up)
            made: dict[str, Any] = json.loads(normalize(self.base, overrides=overrides))
            return self._recording(made)
        except ScenarioError as e:
            raise ScenarioError(f"arm {arm} at {as_text(point)}: {e}") from None

    def _recording(self, scenario: dict[str, Any]) -> str:
        """Return a scenario that records what is measured, besides what it records itself."""
        record, names = scenario["record"], self.experiment.measures
        series = ["delays"] if names is None or any("_delay_s" in name for name in names) else []
        series += ["transfers"] * any(map(comes_and_goes, scenario["flows"]))
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
        whole = scenario | {"record": record | {"series": every, "links": links}}
        return normalize(whole)

    def links(self, scenario: dict[str, Any]) -> list[str]:
        """Return the links that are measured; empty: all."""
        if self.experiment.links is not None:
            return self.experiment.links
        return ["left>right"] if scenario["network"]["kind"] == "dumbbell" else []


@dataclass
class Conduct:
    """An experiment under way.

    Attributes
    ----------
    experiment : Experiment
        What is done.
    measures : list of Measure
        What is measured.
    warm_up : str, optional
        Beginning of every run that is not counted, once it is known.
    notes : list of str
        What there is to mind, a sentence each.
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
        self._made: tuple[int, dict[str, str]] = (-1, {})
        self.notes: list[str] = []
        warm_ups = set()
        for point in self.experiment.points:
            for arm in self.experiment.arms:
                text = self._plan.text(point, arm)
                warm_ups.add(given_warm_up(json.loads(text)))
                try:
                    self._plan.capabilities.check(text)
                except ScenarioError as e:
                    raise ScenarioError(f"arm {arm} at {as_text(point)}: {e}") from None
        self.warm_up = warm_ups.pop() if len(warm_ups) == 1 else None

    def _check_columns(self, capabilities: Capabilities) -> None:
        """Refuse columns that the experiment names and the engine does not fill or record."""
        names = [(f"measures.{i}", m) for i, m in enumerate(self.experiment.measures or [])]
        names += [("warm_up.mser", self.experiment.warm_up.series or "")]
        for path, text in names:
            if not is_column(text):
                continue
            try:
                named, series = parts(text), series_of(text)
            except ValueError:  # `measures` refuses it
                continue
            if not (series is None or capabilities.records(series)):
                what = f"does not record {series}"
            elif not capabilities.fills(*named):
                what = f"does not fill {'.'.join(named)}"
            else:
                continue
            raise ScenarioError(
                f'{path}: "{text}" is not supported by this engine, which {what}; remove it, or '
                "choose another engine"
            )

    @cached_property
    def measures(self) -> list[Measure[MeasuredRun]]:
        """What is measured, of those that the first run of some arm has.

        Raises
        ------
        ScenarioError
            If a name is of none.
        """
        known: dict[str, Measure[MeasuredRun]] = {}
        where = "links: " if self.experiment.links else ""
        for arm in self.experiment.arms:
            scenario = self._plan.scenario(self.experiment.points[0], arm)
            links = self._plan.links(scenario) or _every_link(scenario)
            try:
                if self.experiment.links:
                    normalize(scenario | {"record": {"links": links}})
                found_there = crossing_flows(scenario, json.dumps(scenario), links)
                known |= {m.name: m for m in measures(links, found_there)}
            except ValueError as e:
                raise ScenarioError(f"{where}{e}") from None
        if self.experiment.measures is None:
            return list(known.values())
        found: list[Measure[MeasuredRun]] = []
        for i, name in enumerate(self.experiment.measures):
            try:
                if name not in known and not is_column(name):
                    raise ValueError(f'"{name}" must be one of {", ".join(known)}, or a column')
                found.append(known[name] if name in known else column(name))
            except ValueError as e:
                raise ScenarioError(f"measures.{i}: {e}") from None
        return found

    def runs(self, which: Sequence[tuple[int, int]], told: Progress | None = None) -> Iterator[Row]:
        """Run replications of points under every arm, and give a row each as it is done.

        Parameters
        ----------
        which : sequence of (int, int)
            Point, and replication: the scenario's seed plus so many.
        told : callable, optional
            Is told how far they are.
        """
        asked = [(*one, arm) for one in which for arm in self.experiment.arms]

        def progress(done: float, of: int) -> None:
            if told:
                told(len(asked) * done / max(1, of), len(asked))

        engine, left = self._noting(), set(range(len(asked)))
        asks = ((self._ask(*one),) for one in asked)
        for i, (values, warnings, absent) in self._campaign(asks, self._measured, engine, progress):
            left.discard(i)
            point, replication, arm = asked[i]
            seed = self._seed + replication
            yield Row(point, arm, seed, values, warnings, not_measured=absent)
        for i in sorted(left):
            point, replication, arm = asked[i]
            why = engine.failed.get(self._ask(*asked[i]), "")
            none = (math.nan,) * len(self.measures)
            yield Row(point, arm, self._seed + replication, none, failed=why)

    def _noting(self) -> "Noting":
        engine = self.engine or Simulator(self._plan.given)
        return Noting(within_limits(engine, self.experiment.machine_limits))

    def _campaign(
        self,
        asks: Iterable[tuple[str, ...]],
        reduce: Callable[..., Reduced],
        engine: "Noting",
        progress: Progress,
    ) -> Iterator[tuple[int, Reduced]]:
        """Give what runs reduce to; those that failed are in the engine."""
        running = campaign(
            asks, reduce, engine=engine, store=self.store, jobs=self.jobs, progress=progress
        )
        with closing(running):
            try:
                yield from running
            except (ScenarioError, InvariantViolation, MemoryError):
                if not engine.failed:  # it is not told in the end, of those that failed
                    raise

    @cached_property
    def _seed(self) -> int:
        """The seed of the first replication, everywhere."""
        seed: int = self._plan.scenario(
            self.experiment.points[0], next(iter(self.experiment.arms))
        )["seed"]
        return seed

    def _ask(self, point: int, replication: int, arm: str) -> str:
        """Return the scenario of a run."""
        if point != self._made[0]:  # those of the last point are kept
            self._made = (point, {})
        if arm not in self._made[1]:
            self._made[1][arm] = self._plan.text(self.experiment.points[point], arm)
        return with_seed(self._made[1][arm], self._seed + replication)

    def index(self, name: str) -> int:
        """Return which of the measures has a name.

        Raises
        ------
        ScenarioError
            If none has.
        """
        names = [m.name for m in self.measures]
        if name not in names:
            known = ", ".join(names)
            raise ScenarioError(f'replications.until: "{name}" must be a measure of: {known}')
        return names.index(name)

    def settle(self, told: Progress | None = None) -> None:
        """Find the warm-up: the longest that MSER-5 finds in the first replications.

        Raises
        ------
        ScenarioError
            If a series is too short, or none settles.
        """
        text = self.experiment.warm_up.series or ""
        every = [(point, arm) for point in range(len(self.experiment.points))
                 for arm in self.experiment.arms]  # fmt: skip
        points = self.experiment.points
        texts = ((self._plan.text(points[point], arm),) for point, arm in every)
        ends: list[float] = []
        restless, engine = list[str](), self._noting()
        found = self._campaign(texts, partial(_settled, text), engine, told or _unheard)
        for i, (time, problem) in found:
            point, arm = every[i]
            where = f"arm {arm} at {as_text(self.experiment.points[point])}"
            if problem:
                raise ScenarioError(f"warm_up.mser: {where}: {problem}")
            if math.isnan(time):
                restless.append(where)
            else:
                ends.append(time)
        if not ends and not engine.failed:
            raise ScenarioError(
                f"warm_up.mser: {text} settles in no run: more than half would go; run longer"
            )
        if restless:
            self.notes.append(
                f"not stationary: {text} does not settle in {len(restless)} of {len(every)} first "
                f"runs, as of {restless[0]}; run longer, or give warm_up yourself"
            )
        longest = max(ends, default=0.0)
        self._plan.warm_up = f"{longest:.9g} s"
        self._made = (-1, {})
        self.warm_up = self._plan.warm_up if longest else None

    def _measured(self, result: Result) -> tuple[Any, str, str]:
        """Return the values of a run, its warnings, and the measures that it does not have."""
        scenario = result.scenario
        links = tuple(self._plan.links(scenario) or link_names(result))
        found, own = _readings(scenario, links)
        seen = MeasuredRun(result, found)
        values, absent = [], []
        for m in self.measures:
            of = own.get(m.name) or (m if is_column(m.name) else None)
            value = of.read(seen) if of else math.nan
            if value is None:
                absent.append(m.name)
            unknown = value is None or isinstance(value, AtLeast)
            values.append(math.nan if unknown else float(value or 0))
        warnings = sys.intern("\n".join(result.warnings))
        return tuple(values), warnings, sys.intern("\n".join(absent))


def _unheard(_: float, __: int) -> None:
    """Tell nobody."""


def _settled(text: str, result: Result) -> tuple[float, str]:
    """Return when a run has warmed up, in s, by a column of a series; NaN: it does not settle.

    The second is what is wrong with the series.
    """
    times, values = sampled(text, result)
    try:
        cut, settled = mser(values)
    except ValueError as e:
        return 0.0, f"{text} {e}; sample more often (record.interval), or run longer"
    if not settled:
        return math.nan, ""
    return float(times[cut]) if cut else 0.0, ""


Readings = tuple[list[CrossingFlows], dict[str, Measure[MeasuredRun]]]
_KNOWN: deque[tuple[dict[str, Any], tuple[str, ...], Readings]] = deque(maxlen=64)
"""Scenarios that were read last, with links."""


def _readings(scenario: dict[str, Any], links: tuple[str, ...]) -> Readings:
    """Return the groups of flows and the measures of a scenario, which no seed changes."""
    said = {key: value for key, value in scenario.items() if key not in ("seed", "title")}
    for other, of_links, readings in _KNOWN:
        if links == of_links and said == other:
            return readings
    found = crossing_flows(scenario, json.dumps(scenario), links)
    made = found, {m.name: m for m in measures(list(links), found)}
    _KNOWN.appendleft((said, links, made))
    return made


def _every_link(scenario: dict[str, Any]) -> list[str]:
    """Return the names of all links of a scenario that have one of their own."""
    return [name for name in places(scenario) if name != "bottleneck"]


class Noting:
    """An engine that takes down which runs failed, and why."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.failed: dict[str, str] = {}

    @property
    def build(self) -> str:
        """That of the engine."""
        return self._engine.build

    @property
    def capabilities(self) -> Capabilities:
        """That of the engine."""
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
