"""The runs that the items of a study need: collected, merged, run once each.

Items ask for scenarios without knowing of each other. Two requests that differ in nothing but their
titles and in what they need recorded are one run, which records all of it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aqmlab._core import ScenarioError
from aqmlab.engine import Capabilities, Engine, Progress
from aqmlab.experiment import campaign
from aqmlab.results import NotMeasuredError, Result
from aqmlab.scenario import content, normalize, seconds
from aqmlab.store import Store, address
from aqmlab.store.differences import Texts


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
        key = json.dumps(said, sort_keys=True)
        if key not in _RECORDS:
            recorded = json.loads(normalize(scenario))["record"]
            minds = "interval" in said or recorded["series"]
            interval_s = seconds(recorded["interval"]) if minds else None
            _RECORDS[key] = cls(frozenset(recorded["series"]), interval_s)
        return _RECORDS[key]

    def merged(self, other: Record) -> Record:
        """Everything that either asks for."""
        intervals = [r.interval_s for r in (self, other) if r.interval_s is not None]
        return Record(self.series | other.series, min(intervals, default=None))

    def supported(self, capabilities: Capabilities) -> Record:
        """Return the part that an engine with these capabilities records."""
        return Record(frozenset(filter(capabilities.records, self.series)), self.interval_s)

    def keys(self) -> dict[str, Any]:
        """As keys of a scenario."""
        often = {} if self.interval_s is None else {"interval": f"{1000 * self.interval_s:g} ms"}
        return {"series": sorted(self.series)} | often


_RECORDS: dict[str, Record] = {}
"""What a `record` table says: the settings of a study have few of them, and reading one takes as
long as reading its scenario."""


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
    quick : bool
        Whether the quick form of the study has it too.
    """

    setting: Any
    replications: tuple[int, ...] | None = None
    at_most: int | None = None
    record: Record = Record()
    quick: bool = True

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
    reduced: Any
    manifests: Texts
    number: int

    @property
    def manifest_text(self) -> str:
        """Its manifest as JSON; it waits as what it says otherwise than that of the first run."""
        return self.manifests[self.number]

    @property
    def manifest(self) -> dict[str, Any]:
        """Its manifest."""
        manifest: dict[str, Any] = json.loads(self.manifest_text)
        return manifest


@dataclass
class _Wanted:
    """A distinct run: of which setting, what it records; once it was run, what there is of it."""

    setting: Any
    replication: int
    record: Record = Record()
    done: Done | None = None

    def records(self, record: Record) -> None:
        """Record this too; what was run without it is to be run again."""
        merged = self.record.merged(record)
        if merged != self.record:
            self.record, self.done = merged, None


class _Texts:
    """Normalized scenarios; of those that differ in their seed alone one is read."""

    def __init__(self) -> None:
        self._said, self._text = "", ""

    def of(self, scenario: dict[str, Any]) -> str:
        if "seed" not in scenario:
            return normalize(scenario)
        said = json.dumps({**scenario, "seed": 0})
        if said != self._said:
            self._said, self._text = said, normalize(scenario)
        return re.sub(r'"seed":\d+', f'"seed":{scenario["seed"]}', self._text, count=1)


Form = Callable[[Any], Any]
"""Returns the setting that one is run as."""


def as_it_is(setting: Any) -> Any:
    """Run a setting as it is."""
    return setting


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
    quick : bool
        Whether only what the quick form has is run.
    form : callable
        What a setting is run as; items and claims know it by the setting that they ask for.
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
        quick: bool = False,
        form: Form = as_it_is,
        on_demand: int | None = None,
    ) -> None:
        for key, _ in changes:
            if key.partition(".")[0] in OURS:
                raise ScenarioError(f"--set {key}: is no assumption of a study; change another key")
        self.replications, self.changes, self.quick = replications, tuple(changes), quick
        self._reduce, self._engine, self._store = reduce, engine, store
        self._form, self._on_demand = form, on_demand
        self._manifests = Texts()
        self._changed: dict[str, str] = {}
        self._wanted: dict[bytes, _Wanted] = {}
        self._of: dict[tuple[Any, int], _Wanted] = {}

    def ask(self, needs: Iterable[Need]) -> None:
        """Ask for the runs that are needed.

        Raises
        ------
        ValueError
            If a replication is needed that there is not.
        """
        for need in needs:
            if self.quick and not need.quick:
                continue
            for r in need.chosen(self.replications):
                known = self._of.get((need.setting, r))
                if known is None:
                    known = self._of[need.setting, r] = self._want(need.setting, r)
                known.records(need.record)

    def _scenario(self, setting: Any, replication: int) -> dict[str, Any]:
        """Return a scenario with the changes that it has the keys of."""
        scenario: dict[str, Any] = self._form(setting).scenario(replication)
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

    def check_recorded(self, needs: Iterable[Need]) -> None:
        """Refuse needs with series that the engine does not record.

        Raises
        ------
        NotMeasuredError
            Names the series.
        """
        capabilities = self._engine.capabilities
        if capabilities.series is None:
            return
        for need in needs:
            if self.quick and not need.quick:
                continue
            own = Record.of(self._scenario(need.setting, 0))
            for series in sorted(need.record.series | own.series):
                if not capabilities.records(series):
                    raise NotMeasuredError(f"the engine does not record the series {series}")

    def _want(self, setting: Any, replication: int) -> _Wanted:
        scenario = self._scenario(setting, replication)
        own = scenario.get("record", {})
        apart = {key: own[key] for key in own if key not in ("series", "interval")}
        said = content(json.dumps({**scenario, "record": apart}))
        key = hashlib.sha256(said.encode()).digest()
        wanted = self._wanted.setdefault(key, _Wanted(setting, replication))
        wanted.records(Record.of(scenario))
        return wanted

    def run(self, jobs: int | None = None, progress: Progress | None = None) -> None:
        """Run what was asked for and was not run yet."""
        self._run(self._wanted.values(), jobs, progress)

    def _run(
        self, wanted: Iterable[_Wanted], jobs: int | None, progress: Progress | None = None
    ) -> None:
        pending = [one for one in wanted if one.done is None]
        addresses: list[str] = []
        texts = _Texts()

        def asks() -> Iterator[tuple[str]]:
            for one in pending:
                scenario = self._scenario(one.setting, one.replication)
                own = scenario.get("record", {})
                recorded = one.record.supported(self._engine.capabilities)
                text = texts.of({**scenario, "record": {**own, **recorded.keys()}})
                where = address(text, self._engine.build)
                assert where is not None, (
                    "a study's scenario is a dict, and so has no law in Python"
                )
                addresses.append(where)
                yield (text,)

        def kept(result: Result) -> tuple[int, Any]:
            number = self._manifests.add(result.manifest_text)
            try:
                return number, self._reduce(result)
            except (
                NotMeasuredError
            ) as absent:  # raised again where an item or a claim reads the run
                return number, absent

        done = campaign(
            asks(), kept, engine=self._engine, store=self._store, jobs=jobs, progress=progress
        )
        for i, (number, reduced) in done:
            pending[i].done = Done(addresses[i], reduced, self._manifests, number)

    def one(self, setting: Any, replication: int) -> Any:
        """Return the run of one replication of a setting.

        Raises
        ------
        NotMeasuredError
            If the engine did not measure all that the study reads.
        """
        reduced = self._done(setting, replication).reduced
        if isinstance(reduced, NotMeasuredError):
            raise NotMeasuredError(*reduced.args)
        return reduced

    def has(self, setting: Any) -> bool:
        """Return whether a setting was asked for; the quick form leaves some out."""
        return any((setting, r) in self._of for r in range(self.replications))

    def of(self, setting: Any) -> list[Any]:
        """Return the runs of a setting that were asked for, in order of their replications."""
        return [run for _, run in self.by_replication(setting)]

    def by_replication(self, setting: Any) -> Iterator[tuple[int, Any]]:
        """Give (replication, run) of a setting, of those that were asked for."""
        for r in range(self.replications):
            if (setting, r) in self._of:
                yield r, self.one(setting, r)

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
