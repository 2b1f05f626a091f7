"""Experiment files, which define a scenario, factors, arms, replications and measures.

An experiment is a TOML file, or a dict with the same keys; docs/how-to/sweeps.md describes the
keys. An error message about an experiment states the dotted path of the key, its value, the bound
and the remedy.
"""

import difflib
import json
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, Self

from aqmlab import _core
from aqmlab._core import FORMAT, ScenarioError
from aqmlab.experiment import design
from aqmlab.experiment.campaign import MOST_RUNS
from aqmlab.experiment.design import Point, Range
from aqmlab.measures import is_column
from aqmlab.ready import located
from aqmlab.scenario import ScenarioLike, as_written, read_text
from aqmlab.words import refusal, steers, visible

PLOTS = ("interactions", "sorted-ratios", "heat-map", "distributions")
"""Kinds of figures that an experiment file can request."""
BASE = "base"
"""Name of the arm of an experiment without a table of arms."""
MOST_SEED = 2**64 - 1
"""Maximum seed for the points of a random design."""


@dataclass(frozen=True)
class Replications:
    """Number of replications of each arm at each point: a constant, or a stopping rule.

    Attributes
    ----------
    first : int
        Number of replications of the first round, 1 or more.
    measure : str, optional
        Measure of the stopping rule, whose confidence interval has to become narrow. None means a
        constant number of replications.
    half_width : float
        Half width of the 95 % interval relative to the mean, at which the stopping rule is met.
    at_most : int
        Maximum number of replications.
    """

    first: int = 1
    measure: str | None = None
    half_width: float = 0.05
    at_most: int = 1


@dataclass(frozen=True)
class WarmUp:
    """Warm-up of all runs, which the measures exclude.

    Attributes
    ----------
    time : str, optional
        Warm-up as a time with its unit; default: the warm-up of the scenario.
    series : str, optional
        Column of a sampled series, such as ``queue.queue_packets[left>right]``. The method MSER-5
        estimates a warm-up from this column in one run of each arm at each point. The longest
        estimated warm-up applies to all runs.
    """

    time: str | None = None
    series: str | None = None


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Set of runs of one scenario with different factor values, arms and seeds.

    Attributes
    ----------
    scenario : path, name, dict or Scenario
        Scenario from which the scenarios of all runs are derived.
    points : list of dict
        Points of the design, each with a value for each factor; see
        :mod:`aqmlab.experiment.design`.
    arms : dict
        Changes of the scenario by each arm: dotted paths of keys and their values. All arms run at
        every point with the same seeds. The results compare each arm with the first arm.
    replications : Replications
        Number of replications of each arm at each point.
    warm_up : WarmUp
        Warm-up of all runs.
    links : list of str, optional
        Names of the measured links; default: left>right in a dumbbell, and all links in another
        network.
    measures : list of str, optional
        Names of measures (:mod:`aqmlab.measures`) and of columns, such as
        ``links.utilization[left>right]``; default: all measures of the scenario.
    plots : list of str
        Kinds of figures to draw; `PLOTS` lists the possible kinds.
    limits : dict
        Limits of each run. ``simulated`` is the simulated time at which a run without a duration
        fails. ``events``, ``wall`` and ``memory`` are the limits of
        :class:`aqmlab.engine.Limiting`.
    title : str
        Title of the experiment, one line.
    text : str
        Text of the experiment file; "" for an experiment without a file.
    """

    scenario: ScenarioLike
    points: list[Point] = field(default_factory=lambda: [{}])
    arms: dict[str, dict[str, Any]] = field(default_factory=lambda: {BASE: {}})
    replications: Replications = Replications()
    warm_up: WarmUp = WarmUp()
    links: list[str] | None = None
    measures: list[str] | None = None
    plots: list[str] = field(default_factory=list)
    limits: dict[str, Any] = field(default_factory=dict)
    title: str = ""
    text: str = ""

    def __post_init__(self) -> None:
        if steers(self.title):
            raise ScenarioError(
                f"title: {shown(self.title)} contains control characters; remove them"
            )
        runs = len(self.points) * len(self.arms) * self.replications.first
        if runs > MOST_RUNS:
            raise ScenarioError(
                f"replications: {self.replications.first} replications of {len(self.arms)} arms at "
                f"{len(self.points)} points are {runs} runs in total, and the maximum is "
                f"{MOST_RUNS}; reduce the number of replications, arms or points"
            )
        names = [("arms", name) for name in self.arms]
        names += [("factors", name) for name in self.factors]
        names += [("measures", name) for name in self.measures or []]
        for point in self.points:
            names += [(f"factors: {key}", v) for key, v in point.items() if isinstance(v, str)]
        _core.check_limits(json.dumps(self.machine_limits, default=str))
        for where, name in dict.fromkeys(names):
            if why := refusal(name):
                raise ScenarioError(f"{where}: {shown(name)} {why}")

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Read an experiment from a TOML file. The path of the scenario is relative to this file.

        Raises
        ------
        ScenarioError
            If the experiment or its scenario is wrong.
        OSError
            If the file or its scenario cannot be read.
        """
        text, _ = read_text(path)
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as e:
            raise ScenarioError(f"{path}: not valid TOML: {e}") from None
        try:
            return cls.from_dict(document, Path(path).parent, text=text)
        except ScenarioError as e:
            raise ScenarioError(f"{path}: {e}") from None

    @classmethod
    def from_dict(
        cls, document: Mapping[str, Any], folder: Path = Path(), *, text: str = ""
    ) -> Self:
        """Read an experiment from a dict with the keys of an experiment file.

        Raises
        ------
        ScenarioError, OSError
            As for :meth:`read`.
        """
        top = _Node(document, "")
        # The format is checked first, because a later format may have other keys.
        if top.get("format") not in (None, FORMAT):
            top.child("format").wrong(f"{FORMAT}, the format of this version of aqmlab")
        top.only(
            "title", "format", "scenario", "factors", "arms", "replications", "warm_up", "links",
            "measures", "plots", "limits",
        )  # fmt: skip
        scenario = top.get("scenario")
        if scenario is None:
            raise ScenarioError(
                "scenario: is missing; give a path, the name of a ready scenario, or a table"
            )
        blocks = [_block(node) for node in top.each("factors")]
        try:
            _check_points("factors", math.prod(map(len, blocks)))
            points = design.crossed(blocks)
        except ValueError as e:
            raise ScenarioError(f"factors: {e}") from None
        experiment = cls(
            title=top.text("title", ""),
            scenario=located(scenario, folder) if isinstance(scenario, str) else scenario,
            points=points,
            arms=_arms(top.child("arms")),
            replications=_replications(top.child("replications")),
            warm_up=_warm_up(top.child("warm_up")),
            links=top.texts("links"),
            measures=top.texts("measures"),
            plots=top.texts("plots", PLOTS) or [],
            limits=_limits(top.child("limits")),
            text=text,
        )
        as_written(experiment.scenario)  # raises the errors of the scenario without any changes
        return experiment

    @property
    def machine_limits(self) -> dict[str, Any]:
        """Limits of the number of events, the wall-clock time and the memory of a run."""
        return {key: value for key, value in self.limits.items() if key != "simulated"}

    @property
    def factors(self) -> list[str]:
        """Dotted paths of the experiment's factors."""
        return list(dict.fromkeys(key for point in self.points for key in point))


class _Node:
    """Value in an experiment file, with its dotted path for error messages."""

    def __init__(self, value: Any, path: str) -> None:
        self.value, self.path = value, path

    def wrong(self, must: str) -> NoReturn:
        """Raise an error that states the path, the value and the requirement `must`."""
        raise ScenarioError(f"{self.path or 'the file'} is {shown(self.value)}; it must be {must}")

    def get(self, key: str) -> Any:
        """Return the value of a key in this table; None if the table does not have the key."""
        if not isinstance(self.value, Mapping):
            self.wrong("a table")
        return self.value.get(key)

    def child(self, key: str) -> "_Node":
        """Return the value of a key in this table as a node."""
        return _Node(self.get(key), f"{self.path}.{key}".lstrip("."))

    def only(self, *keys: str) -> None:
        """Raise ScenarioError if this table has a key that is not one of `keys`."""
        if not isinstance(self.value, Mapping):
            self.wrong("a table")
        for key in self.value:
            if key not in keys:
                near = difflib.get_close_matches(str(key), keys, 1)
                hint = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(keys)}"
                raise ScenarioError(
                    f"{self.path}.{key}".lstrip(".") + f": is not a known key; {hint}"
                )

    def each(self, key: str) -> list["_Node"]:
        """Return the tables in the TOML array `key`; an empty list if the array is missing."""
        node = self.child(key)
        if node.value is None:
            return []
        if not isinstance(node.value, list):
            node.wrong(f"an array of tables, [[{key}]]")
        return [_Node(value, f"{node.path}.{i}") for i, value in enumerate(node.value)]

    def items(self, must: str) -> list[tuple[str, "_Node"]]:
        """Return the keys and values of this table; raise ScenarioError if the table is empty."""
        if not isinstance(self.value, Mapping) or not self.value:
            self.wrong(must)
        return [(str(k), _Node(v, f"{self.path}.{k}")) for k, v in self.value.items()]

    def text(self, key: str, default: str) -> str:
        """Return the value of a key in this table, which must be a text."""
        node = self.child(key)
        if node.value is None:
            return default
        if not isinstance(node.value, str):
            node.wrong("a text")
        return node.value

    def texts(self, key: str, known: Sequence[str] = ()) -> list[str] | None:
        """Return the list of texts that a key in this table has; None without the key."""
        node = self.child(key)
        if node.value is None:
            return None
        if not isinstance(node.value, list) or not all(isinstance(t, str) for t in node.value):
            node.wrong("a list of texts")
        for i, text in enumerate(node.value):
            if known and text not in known:
                _Node(text, f"{node.path}.{i}").wrong(f"one of {', '.join(known)}")
        return list(node.value)

    def number(self, key: str, default: float, minimum: float, *, above: bool = False) -> float:
        """Return the value of a numeric key; if `above` is True, the value may not be `minimum`."""
        node = self.child(key)
        value = default if node.value is None else node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            node.wrong("a number")
        if value < minimum or (above and value == minimum):
            node.wrong(f"{'above' if above else 'at least'} {minimum:g}")
        return value

    def whole(self, key: str, default: int, minimum: int, maximum: int = MOST_RUNS) -> int:
        """Return the value of a key in this table, which must be a whole number."""
        node = self.child(key)
        value = default if node.value is None else node.value
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
            node.wrong(f"a whole number from {minimum} to {maximum}")
        return value


def _check_points(path: str, count: int) -> None:
    """Raise ScenarioError if a design has more than `MOST_RUNS` points."""
    if count > MOST_RUNS:
        raise ScenarioError(
            f"{path}: the design has {count} points, which exceeds the maximum of {MOST_RUNS}; "
            'give fewer values, or sample the points with kind = "random" or "latin-hypercube"'
        )


def _grid(node: _Node) -> list[Point]:
    """Return the points of a block of kind `grid`."""
    node.only("kind", "values")
    values = _values(node)
    _check_points(node.path, math.prod(map(len, values.values())))
    return design.grid(values)


def _zipped(node: _Node) -> list[Point]:
    """Return the points of a block of kind `zipped`."""
    node.only("kind", "values")
    return design.zipped(_values(node))


def _values(node: _Node) -> dict[str, list[Any]]:
    """Return the values of each factor in a block."""
    values = {}
    for key, of_factor in node.child("values").items(
        "a table with a list of values for each factor"
    ):
        if not isinstance(of_factor.value, list) or not of_factor.value:
            of_factor.wrong("a list with at least one value")
        distinct = {json.dumps(value, default=str) for value in of_factor.value}
        if len(distinct) < len(of_factor.value) and node.get("kind") != "zipped":
            of_factor.wrong("a list without repeated values")
        values[key] = of_factor.value
    return values


def _list(node: _Node) -> list[Point]:
    """Return the points of a block of kind `list`."""
    node.only("kind", "rows")
    rows = node.each("rows")
    if not rows:
        node.child("rows").wrong("a list of tables, each with a value for each factor")
    for row in rows:
        row.items("a table with a value for each factor")
        if row.value.keys() != rows[0].value.keys():
            row.wrong(f"a table with the keys of the first row, {', '.join(rows[0].value)}")
    return [dict(row.value) for row in rows]


def _random(node: _Node) -> list[Point]:
    """Return the design points that a `[[factors]]` table of kind `random` describes."""
    node.only("kind", "n", "seed", "values")
    return design.random(_ranges(node), node.whole("n", 1, 1), node.whole("seed", 1, 0, MOST_SEED))


def _latin_hypercube(node: _Node) -> list[Point]:
    """Return the design points that a `[[factors]]` table of kind `latin-hypercube` describes."""
    node.only("kind", "n", "seed", "values")
    return design.latin_hypercube(
        _ranges(node), node.whole("n", 1, 1), node.whole("seed", 1, 0, MOST_SEED)
    )


def _ranges(node: _Node) -> dict[str, Range]:
    """Return the distribution of each factor in a block."""
    if node.get("n") is None:
        raise ScenarioError(f"{node.path}.n: is missing; give the number of points to sample")
    ranges = {}
    for key, table in node.child("values").items("a table with a range for each factor"):
        if table.get("choice") is not None:
            table.only("choice")
            if not isinstance(table.get("choice"), list) or not table.get("choice"):
                table.child("choice").wrong("a list with at least one value")
            ranges[key] = Range(choice=table.get("choice"))
            continue
        table.only("low", "high", "unit", "spacing", "whole")
        log = table.text("spacing", "linear") == "log"
        if table.text("spacing", "linear") not in ("linear", "log"):
            table.child("spacing").wrong("linear or log")
        for end, bound in (("low", "minimum"), ("high", "maximum")):
            if table.get(end) is None:
                raise ScenarioError(
                    f"{table.path}.{end}: is missing; give the {bound} of the range"
                )
        low = table.number("low", 0, 0 if log else float("-inf"), above=log)
        high = table.number("high", 1, low, above=True)
        if table.get("whole") not in (None, True, False):
            table.child("whole").wrong("true or false")
        ranges[key] = Range(low, high, table.text("unit", ""), log, bool(table.get("whole")))
    return ranges


def _fractional(node: _Node) -> list[Point]:
    """Return the points of a block of kind `fractional`."""
    node.only("kind", "values", "generators")
    generators = {}
    for key, factors in node.child("generators").items(
        "a table with a list of other factors for each generated factor"
    ):
        if not isinstance(factors.value, list):
            factors.wrong("a list of factors")
        generators[key] = factors.value
    values = _values(node)
    _check_points(node.path, 2 ** (len(values) - len(generators)))
    return design.fractional(values, generators)


BLOCKS: dict[str, Callable[[_Node], list[Point]]] = {
    "grid": _grid,
    "list": _list,
    "zipped": _zipped,
    "random": _random,
    "latin-hypercube": _latin_hypercube,
    "fractional": _fractional,
}
"""Function that reads a block of factors, by kind of the block."""


def _block(node: _Node) -> list[Point]:
    """Return the design points that a `[[factors]]` table of an experiment file describes."""
    kind = node.text("kind", "grid")
    if kind not in BLOCKS:
        node.child("kind").wrong(f"one of {', '.join(BLOCKS)}")
    try:
        return BLOCKS[kind](node)
    except ScenarioError:
        raise
    except ValueError as e:
        raise ScenarioError(f"{node.path}: {e}") from None


def _arms(node: _Node) -> dict[str, dict[str, Any]]:
    """Return the scenario keys and values that each arm changes."""
    if node.value is None:
        return {BASE: {}}
    arms = {}
    for name, changes in node.items("a table with the changes of each arm"):
        if not isinstance(changes.value, Mapping):
            changes.wrong('a table of dotted paths and values, as { "tcp.ecn" = "rfc3168" }')
        arms[name] = dict(changes.value)
    return arms


def _replications(node: _Node) -> Replications:
    """Return the constant number of replications, or the stopping rule."""
    if node.value is None:
        return Replications()
    if isinstance(node.value, int) and not isinstance(node.value, bool):
        if not 1 <= node.value <= MOST_RUNS:
            node.wrong(f"a whole number from 1 to {MOST_RUNS}")
        return Replications(node.value, at_most=node.value)
    node.only("first", "until", "half_width", "at_most")
    first = node.whole("first", 5, 2)
    if not node.text("until", ""):
        raise ScenarioError(
            f"{node.path}.until: is missing; give the name of the measure whose confidence "
            "interval ends the replications"
        )
    if node.get("at_most") is None:
        raise ScenarioError(
            f"{node.path}.at_most: is missing; give the maximum number of replications"
        )
    half = node.number("half_width", 0.05, 0, above=True)
    return Replications(first, node.text("until", ""), half, node.whole("at_most", first, first))


def _warm_up(node: _Node) -> WarmUp:
    """Return the warm-up: a time, or the column from which the warm-up is estimated."""
    if node.value is None:
        return WarmUp()
    if isinstance(node.value, str):
        return WarmUp(time=node.value)
    node.only("mser")
    if not node.text("mser", ""):
        raise ScenarioError(
            f"{node.path}.mser: is missing; give the column of a series, e.g. "
            "queue.queue_packets[left>right]"
        )
    if not is_column(node.text("mser", "")):
        node.child("mser").wrong("a column of a series, e.g. queue.queue_packets[left>right]")
    return WarmUp(series=node.text("mser", ""))


def _limits(node: _Node) -> dict[str, Any]:
    """Return the limits of each run."""
    if node.value is None:
        return {}
    node.only("simulated", "events", "wall", "memory")
    node.text("simulated", "")
    return dict(node.value)


def shown(value: Any) -> str:
    """Return a value as JSON for an error message, with control characters as escape sequences."""
    return visible(json.dumps(value, ensure_ascii=False, default=str))


def place(arm: str, point: Point) -> str:
    """Format an arm and a point as text.

    The text is empty if the arm is `BASE` and the point has no factor.

    Examples
    --------
    >>> place("red", {"flows.0.count": 2}), place(BASE, {"flows.0.count": 2}), place("red", {})
    ('arm red at flows.0.count = 2', 'flows.0.count = 2', 'arm red')
    """
    values = ", ".join(f"{key} = {value}" for key, value in point.items())
    return " at ".join(filter(None, ["" if arm == BASE else f"arm {arm}", values]))


@contextmanager
def errors_at(arm: str, point: Point) -> Iterator[None]:
    """Prefix each ScenarioError of a `with` block with the arm and the point."""
    try:
        yield
    except ScenarioError as e:
        text = place(arm, point)
        raise ScenarioError(f"{text}: {e}" if text else str(e)) from None
