"""The runs that the items of a study need: collected, merged, run once each.

Items ask for scenarios without knowing of each other. Two requests that differ in nothing but their
titles and in what they need recorded are one run, which records all of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aqmlab._core import ScenarioError
from aqmlab.engine import Engine, Progress
from aqmlab.experiment import campaign
from aqmlab.results import Result
from aqmlab.scenario import content, normalize, seconds
from aqmlab.store import Store, address


@dataclass(frozen=True)
class Record:
    """What is recorded besides the tables of flows and links.

    Attributes
    ----------
    series : frozenset of str
        Names of series.
    interval_s : float, optional
        How often what is sampled is, in s; default: whoever else asks says it, or the scenario.
    """

    series: frozenset[str] = frozenset()
    interval_s: float | None = None

    @classmethod
    def of(cls, scenario: dict[str, Any]) -> Record:
        """Return what a scenario records itself."""
        said = scenario.get("record")
        if not said:
            return cls()
        recorded = json.loads(normalize(scenario))["record"]
        minds = "interval" in said or recorded["series"]
        interval_s = seconds(recorded["interval"]) if minds else None
        return cls(frozenset(recorded["series"]), interval_s)

    def merged(self, other: Record) -> Record:
        """Everything that either asks for."""
        intervals = [r.interval_s for r in (self, other) if r.interval_s is not None]
        return Record(self.series | other.series, min(intervals, default=None))

    def keys(self) -> dict[str, Any]:
        """As keys of a scenario."""
        often = {} if self.interval_s is None else {"interval": f"{1000 * self.interval_s:g} ms"}
        return {"series": sorted(self.series)} | often


@dataclass(frozen=True)
class Need:
    """A setting that an item looks at: which replications of it, and what they record.

    Attributes
    ----------
    setting
        Has `scenario(replication)`, a dict, and `columns()`, what distinguishes it in tables.
    replications : tuple of int, optional
        Just these; default: all.
    at_most : int, optional
        Only so many of the first.
    record : Record
        What is recorded besides what the scenario records itself.
    """

    setting: Any
    replications: tuple[int, ...] | None = None
    at_most: int | None = None
    record: Record = Record()

    def chosen(self, count: int) -> Iterable[int]:
        """Return the replications that are needed, of so many.

        Raises
        ------
        ValueError
            If there are not so many.
        """
        if self.replications is None:
            return range(count if self.at_most is None else min(count, self.at_most))
        last = max(self.replications, default=0)
        if last >= count:
            raise ValueError(
                f"replication {last} is asked for, of {count}: ask for {last + 1} or more "
                f"with --replications {last + 1}"
            )
        return self.replications


@dataclass(frozen=True)
class Done:
    """A run that was run: its address, its manifest, and what it was reduced to."""

    address: str
    manifest: dict[str, Any]
    reduced: Any


@dataclass
class _Wanted:
    """A distinct run: its scenario and what it records; once it was run, what there is of it."""

    scenario: dict[str, Any]
    record: Record
    done: Done | None = None

    def text(self) -> str:
        own = self.scenario.get("record", {})
        return normalize({**self.scenario, "record": {**own, **self.record.keys()}})


Change = tuple[str, str]
"""A dotted path of a scenario and its value in TOML, an assumption of the study that is changed."""

OURS = ("seed", "title", "record")
"""Keys that are no assumptions: replications vary the seed, and items say what they record."""


def has(scenario: Any, key: str) -> bool:
    """Whether a normalized scenario has a key.

    Examples
    --------
    >>> has({"flows": [{"tcp": {"ecn": "off"}}]}, "flows.0.tcp.ecn"), has({"flows": []}, "flow.0")
    (True, False)
    """
    head, _, rest = key.partition(".")
    if isinstance(scenario, list) and head.isdecimal() and int(head) < len(scenario):
        there = scenario[int(head)]
    elif isinstance(scenario, dict) and head in scenario:
        there = scenario[head]
    else:
        return False
    return not rest or has(there, rest)


class Runs:
    """Reduced runs by setting and replication.

    Parameters
    ----------
    replications : int
        Replications of each setting.
    reduce : callable
        Called with each result as it completes; what it returns is kept.
    engine : Engine
        What runs them.
    store : Store, optional
        Where finished runs are found and kept.
    changes : sequence of Change
        Made in every scenario that has their keys.
    on_demand : int, optional
        Runs are run only when they are looked at, those of a setting together, so many at a time;
        default: by :meth:`run`.

    Raises
    ------
    ScenarioError
        If a change is of what is no assumption.
    """

    def __init__(
        self,
        replications: int,
        reduce: Callable[[Result], Any],
        engine: Engine,
        store: Store | None = None,
        changes: Sequence[Change] = (),
        *,
        on_demand: int | None = None,
    ) -> None:
        for key, _ in changes:
            if key.partition(".")[0] in OURS:
                raise ScenarioError(f"--set {key}: is no assumption of a study; change another key")
        self.replications, self.changes = replications, tuple(changes)
        self._reduce, self._engine, self._store = reduce, engine, store
        self._on_demand = on_demand
        self._changed: dict[str, str] = {}
        self._wanted: dict[str, _Wanted] = {}
        self._of: dict[tuple[Any, int], _Wanted] = {}

    def ask(self, needs: Iterable[Need]) -> None:
        """Ask for the runs that are needed.

        Raises
        ------
        ValueError
            If a replication is needed that there is not.
        """
        for need in needs:
            for r in need.chosen(self.replications):
                scenario = self._with_changes(need.setting.scenario(r))
                self._of[need.setting, r] = self._want(scenario, need.record)

    def _with_changes(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """Return a scenario with the changes that it has the keys of."""
        if not self.changes:
            return scenario
        before = json.loads(normalize(scenario))
        here = [change for change in self.changes if has(before, change[0])]
        self._changed |= dict(here)
        own = {"record": scenario["record"]} if "record" in scenario else {}
        made: dict[str, Any] = json.loads(normalize(scenario, overrides=here))
        del made["record"]
        return made | own if here else scenario

    def check_changes(self) -> None:
        """Refuse a change that was made in no scenario.

        Raises
        ------
        ScenarioError
            If there is one.
        """
        for key, _ in self.changes:
            if key not in self._changed:
                raise ScenarioError(f"--set {key}: no scenario of these items has this key")

    def _want(self, scenario: dict[str, Any], record: Record) -> _Wanted:
        own = scenario.get("record", {})
        apart = {key: own[key] for key in own if key not in ("series", "interval")}
        key = content(json.dumps({**scenario, "record": apart}))
        wanted = self._wanted.setdefault(key, _Wanted(scenario, record))
        merged = wanted.record.merged(record).merged(Record.of(scenario))
        if merged != wanted.record:
            wanted.record = merged
            wanted.done = None
        return wanted

    def run(self, jobs: int | None = None, progress: Progress | None = None) -> None:
        """Run what was asked for and was not run yet."""
        self._run(self._wanted.values(), jobs, progress)

    def _run(
        self, wanted: Iterable[_Wanted], jobs: int | None, progress: Progress | None = None
    ) -> None:
        pending = [one for one in wanted if one.done is None]
        texts = [wanted.text() for wanted in pending]
        done = campaign(
            [(text,) for text in texts], lambda result: (result.manifest, self._reduce(result)),
            engine=self._engine, store=self._store, jobs=jobs, progress=progress,
        )  # fmt: skip
        for i, (manifest, reduced) in done:
            where = address(texts[i], self._engine.build)
            assert where is not None, "a scenario of a study is a dict, and so has no law in Python"
            pending[i].done = Done(where, manifest, reduced)

    def one(self, setting: Any, replication: int) -> Any:
        """Return the run of one replication of a setting."""
        return self._done(setting, replication).reduced

    def of(self, setting: Any) -> list[Any]:
        """Return the runs of a setting that were asked for, in order of their replications."""
        chosen = (r for r in range(self.replications) if (setting, r) in self._of)
        return [self.one(setting, r) for r in chosen]

    def _done(self, setting: Any, replication: int) -> Done:
        done = self._of[setting, replication].done
        if done is None and self._on_demand is not None:
            alike = {id(w): w for (of, _), w in self._of.items() if of == setting}
            self._run(alike.values(), self._on_demand)
            done = self._of[setting, replication].done
        assert done is not None, "asked for, and not run yet"
        return done

    def items(self) -> Iterator[tuple[Any, int, Done]]:
        """Give (setting, replication, run) of every run."""
        for (setting, replication), wanted in self._of.items():
            if wanted.done is not None or self._on_demand is None:
                yield setting, replication, self._done(setting, replication)

    def warnings(self) -> list[str]:
        """Return what is legal in these runs and probably not meant, and in how many of them."""
        found: dict[str, list[str]] = {}
        distinct = {run.address: run for _, _, run in self.items()}.values()
        for run in distinct:
            for warning in run.manifest.get("warnings", []):
                found.setdefault(warning["about"], []).append(warning["text"])
        return [f"{len(texts)} of {len(distinct)} runs: {texts[0]}" for texts in found.values()]

    def distinct(self) -> int:
        """Return the number of distinct runs."""
        return len({run.address for _, _, run in self.items()})
