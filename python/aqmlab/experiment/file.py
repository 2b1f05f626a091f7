"""Experiments as files: a scenario, factors, arms, replications, and what is measured.

An experiment is TOML, or a dict with the same keys; docs/how-to/sweeps.md has them all. What is
wrong is told as of a scenario: path, value, bound, what to do.
"""

import difflib
import json
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, Self

from aqmlab import _core
from aqmlab._core import ScenarioError
from aqmlab.experiment import design
from aqmlab.experiment.campaign import MOST_RUNS
from aqmlab.experiment.design import Point, Range
from aqmlab.scenario import ScenarioLike, as_said, read_text
from aqmlab.words import refusal, steers, visible

PLOTS = ("interactions", "sorted-ratios", "heat-map", "distributions")
BASE = "base"
MOST_SEED = 2**64 - 1
"""The name of the only arm of an experiment without arms."""


@dataclass(frozen=True)
class Replications:
    """How often each point is run.

    Attributes
    ----------
    first : int
        Runs of each arm at each point, 1 or more.
    measure : str, optional
        Measure whose interval is to be narrow; None: there are no more than the first.
    half_width : float
        Half of its 95 % interval, as a share of its mean, at which there are enough.
    at_most : int
        Runs at which no more are added.
    """

    first: int = 1
    measure: str | None = None
    half_width: float = 0.05
    at_most: int = 1


@dataclass(frozen=True)
class WarmUp:
    """Beginning of each run that is not counted.

    Attributes
    ----------
    time : str, optional
        A time with its unit, for the key `warm_up` of the scenario; default: the scenario's.
    series : str, optional
        A column of a sampled series (``queue.queue_packets[left>right]``) in whose first
        replications, one at each point, MSER-5 finds the warm-up; the longest is everyone's.
    """

    time: str | None = None
    series: str | None = None


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """An experiment.

    Attributes
    ----------
    scenario : path, dict or Scenario
        What all runs share.
    points : list of dict
        Values of the factors at each point; see :mod:`aqmlab.experiment.design`.
    arms : dict
        For each arm what it changes, by dotted path. All arms are run at every point under the same
        seeds; the others are compared with the first.
    replications : Replications
        How often.
    warm_up : WarmUp
        What is left out.
    links : list of str, optional
        Links that are measured; default: left>right of a dumbbell, else all.
    measures : list of str, optional
        Names of :mod:`aqmlab.measures`, and columns (``links.utilization[left>right]``); default:
        every measure that the scenario has.
    plots : list of str
        Those of `PLOTS` that are wanted.
    limits : dict
        ``simulated``: the time at which a run without duration gives up; ``events``, ``wall`` and
        ``memory``: what a run may take of the machine (:class:`aqmlab.engine.Limiting`).
    title : str
        What it is about, in a line.
    said : str
        The file as it was written; "": there is none.
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
    said: str = ""

    def __post_init__(self) -> None:
        if steers(self.title):
            raise ScenarioError(
                f"title: {shown(self.title)} has control characters in it; leave them away"
            )
        runs = len(self.points) * len(self.arms) * self.replications.first
        if runs > MOST_RUNS:
            raise ScenarioError(
                f"replications: {self.replications.first} of {len(self.points)} points and "
                f"{len(self.arms)} arms are {runs} runs, which must be at most {MOST_RUNS}; give "
                "fewer"
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
        """Read an experiment from a TOML file; its scenario's path is relative to it.

        Raises
        ------
        ScenarioError
            If it is wrong.
        OSError
            If it, or its scenario, cannot be read.
        """
        text, _ = read_text(path)
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as e:
            raise ScenarioError(f"{path}: not valid TOML: {e}") from None
        try:
            return cls.from_dict(document, Path(path).parent, said=text)
        except ScenarioError as e:
            raise ScenarioError(f"{path}: {e}") from None

    @classmethod
    def from_dict(
        cls, document: Mapping[str, Any], folder: Path = Path(), *, said: str = ""
    ) -> Self:
        """Read an experiment from a dict with the keys of a file.

        Raises
        ------
        ScenarioError, OSError
            As :meth:`read`.
        """
        top = _Node(document, "")
        top.only(
            "title", "scenario", "factors", "arms", "replications", "warm_up", "links", "measures",
            "plots", "limits",
        )  # fmt: skip
        scenario = top.get("scenario")
        if scenario is None:
            raise ScenarioError("scenario: is missing: the path of a scenario, or a table of one")
        blocks = [_block(node) for node in top.each("factors")]
        try:
            _check_points("factors", math.prod(map(len, blocks)))
            points = design.crossed(blocks)
        except ValueError as e:
            raise ScenarioError(f"factors: {e}") from None
        made = cls(
            title=top.text("title", ""),
            scenario=folder / scenario if isinstance(scenario, str) else scenario,
            points=points,
            arms=_arms(top.child("arms")),
            replications=_replications(top.child("replications")),
            warm_up=_warm_up(top.child("warm_up")),
            links=top.texts("links"),
            measures=top.texts("measures"),
            plots=top.texts("plots", PLOTS) or [],
            limits=_limits(top.child("limits")),
            said=said,
        )
        as_said(made.scenario)  # says what is wrong with it, by itself
        return made

    @property
    def machine_limits(self) -> dict[str, Any]:
        """The limits that are no part of the scenario."""
        return {key: value for key, value in self.limits.items() if key != "simulated"}

    @property
    def factors(self) -> list[str]:
        """The dotted paths of the factors."""
        return list(dict.fromkeys(key for point in self.points for key in point))


class _Node:
    """A value of the file, and where it stands."""

    def __init__(self, value: Any, path: str) -> None:
        self.value, self.path = value, path

    def wrong(self, must: str) -> NoReturn:
        raise ScenarioError(f"{self.path or 'the file'}: {shown(self.value)} must be {must}")

    def get(self, key: str) -> Any:
        if not isinstance(self.value, Mapping):
            self.wrong("a table")
        return self.value.get(key)

    def child(self, key: str) -> "_Node":
        return _Node(self.get(key), f"{self.path}.{key}".lstrip("."))

    def only(self, *keys: str) -> None:
        """Refuse other keys."""
        if not isinstance(self.value, Mapping):
            self.wrong("a table")
        for key in self.value:
            if key not in keys:
                near = difflib.get_close_matches(str(key), keys, 1)
                meant = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(keys)}"
                raise ScenarioError(
                    f"{self.path}.{key}".lstrip(".") + f": there is no such key{meant}"
                )

    def each(self, key: str) -> list["_Node"]:
        """Return the tables of an array of tables; none if it is absent."""
        node = self.child(key)
        if node.value is None:
            return []
        if not isinstance(node.value, list):
            node.wrong(f"an array of tables, [[{key}]]")
        return [_Node(value, f"{node.path}.{i}") for i, value in enumerate(node.value)]

    def items(self, what: str) -> list[tuple[str, "_Node"]]:
        """Return the keys of a table that has some, and their values."""
        if not isinstance(self.value, Mapping) or not self.value:
            self.wrong(what)
        return [(str(k), _Node(v, f"{self.path}.{k}")) for k, v in self.value.items()]

    def text(self, key: str, default: str) -> str:
        node = self.child(key)
        if node.value is None:
            return default
        if not isinstance(node.value, str):
            node.wrong("a text")
        return node.value

    def texts(self, key: str, known: Sequence[str] = ()) -> list[str] | None:
        node = self.child(key)
        if node.value is None:
            return None
        if not isinstance(node.value, list) or not all(isinstance(t, str) for t in node.value):
            node.wrong("a list of texts")
        for i, text in enumerate(node.value):
            if known and text not in known:
                _Node(text, f"{node.path}.{i}").wrong(f"one of {', '.join(known)}")
        return list(node.value)

    def number(self, key: str, default: float, least: float, *, above: bool = False) -> float:
        node = self.child(key)
        value = default if node.value is None else node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            node.wrong("a number")
        if value < least or (above and value == least):
            node.wrong(f"{'above' if above else 'at least'} {least:g}")
        return value

    def whole(self, key: str, default: int, least: int, most: int = MOST_RUNS) -> int:
        node = self.child(key)
        value = default if node.value is None else node.value
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            node.wrong(f"a whole number from {least} to {most}")
        return value


def _check_points(path: str, count: int) -> None:
    """Raise ScenarioError if a design has more than `MOST_RUNS` points."""
    if count > MOST_RUNS:
        raise ScenarioError(
            f"{path}: {count} points must be at most {MOST_RUNS}; give fewer values, or draw some "
            "points with kind random or latin-hypercube"
        )


def _grid(node: _Node) -> list[Point]:
    node.only("kind", "values")
    values = _values(node)
    _check_points(node.path, math.prod(map(len, values.values())))
    return design.grid(values)


def _zipped(node: _Node) -> list[Point]:
    node.only("kind", "values")
    return design.zipped(_values(node))


def _values(node: _Node) -> dict[str, list[Any]]:
    """Return lists of values by factor."""
    found = {}
    for key, values in node.child("values").items("a table of factors, each with its values"):
        if not isinstance(values.value, list) or not values.value:
            values.wrong("a list of values, at least one")
        distinct = {json.dumps(value, default=str) for value in values.value}
        if len(distinct) < len(values.value) and node.get("kind") != "zipped":
            values.wrong("different values")
        found[key] = values.value
    return found


def _list(node: _Node) -> list[Point]:
    node.only("kind", "rows")
    rows = node.each("rows")
    if not rows:
        node.child("rows").wrong("a list of tables, a value for each factor")
    for row in rows:
        row.items("a table with a value for each factor")
        if row.value.keys() != rows[0].value.keys():
            row.wrong(f"a value for each of {', '.join(rows[0].value)}, as in the first row")
    return [dict(row.value) for row in rows]


def _random(node: _Node) -> list[Point]:
    node.only("kind", "n", "seed", "values")
    return design.random(_ranges(node), node.whole("n", 1, 1), node.whole("seed", 1, 0, MOST_SEED))


def _latin_hypercube(node: _Node) -> list[Point]:
    node.only("kind", "n", "seed", "values")
    return design.latin_hypercube(
        _ranges(node), node.whole("n", 1, 1), node.whole("seed", 1, 0, MOST_SEED)
    )


def _ranges(node: _Node) -> dict[str, Range]:
    if node.get("n") is None:
        raise ScenarioError(f"{node.path}.n: is missing: how many points are drawn")
    found = {}
    for key, of in node.child("values").items("a table of factors, each with its range"):
        if of.get("choice") is not None:
            of.only("choice")
            if not isinstance(of.get("choice"), list) or not of.get("choice"):
                of.child("choice").wrong("a list of values, at least one")
            found[key] = Range(choice=of.get("choice"))
            continue
        of.only("low", "high", "unit", "spacing", "whole")
        log = of.text("spacing", "linear") == "log"
        if of.text("spacing", "linear") not in ("linear", "log"):
            of.child("spacing").wrong("linear or log")
        for end in ("low", "high"):
            if of.get(end) is None:
                raise ScenarioError(f"{of.path}.{end}: is missing: an end of the range, a number")
        low = of.number("low", 0, 0 if log else float("-inf"), above=log)
        high = of.number("high", 1, low, above=True)
        if of.get("whole") not in (None, True, False):
            of.child("whole").wrong("true or false")
        found[key] = Range(low, high, of.text("unit", ""), log, bool(of.get("whole")))
    return found


def _fractional(node: _Node) -> list[Point]:
    node.only("kind", "values", "generators")
    generators = {}
    for key, of in node.child("generators").items(
        "a table: a factor, and the factors it is made of"
    ):
        if not isinstance(of.value, list):
            of.wrong("a list of factors")
        generators[key] = of.value
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


def _block(node: _Node) -> list[Point]:
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
    if node.value is None:
        return {BASE: {}}
    arms = {}
    for name, of in node.items("a table of arms, each with what it changes"):
        if not isinstance(of.value, Mapping):
            of.wrong('a table of dotted paths and values, as { "tcp.ecn" = "rfc3168" }')
        arms[name] = dict(of.value)
    return arms


def _replications(node: _Node) -> Replications:
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
            f"{node.path}.until: is missing: the measure whose interval is looked at"
        )
    if node.get("at_most") is None:
        raise ScenarioError(f"{node.path}.at_most: is missing: runs at which no more are added")
    half = node.number("half_width", 0.05, 0, above=True)
    return Replications(first, node.text("until", ""), half, node.whole("at_most", first, first))


def _warm_up(node: _Node) -> WarmUp:
    if node.value is None:
        return WarmUp()
    if isinstance(node.value, str):
        return WarmUp(time=node.value)
    node.only("mser")
    if not node.text("mser", ""):
        raise ScenarioError(
            f"{node.path}.mser: is missing: a column, as queue.queue_packets[left>right]"
        )
    return WarmUp(series=node.text("mser", ""))


def _limits(node: _Node) -> dict[str, Any]:
    if node.value is None:
        return {}
    node.only("simulated", "events", "wall", "memory")
    node.text("simulated", "")
    return dict(node.value)


def shown(value: Any) -> str:
    """Return a value as an error shows it."""
    return visible(json.dumps(value, ensure_ascii=False, default=str))


def as_text(point: Point) -> str:
    """Return what a point or an arm sets, for people."""
    return ", ".join(f"{key} = {value}" for key, value in point.items()) or "the scenario as it is"
