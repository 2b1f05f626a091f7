"""Runs that the items of a study need; each distinct scenario is run once.

Each item of a study requests its scenarios without regard to other items. Two requests share one
run if their scenarios differ only in the title and in the recorded series. A run that two requests
share records the series of both requests.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aqmlab._core import ScenarioError
from aqmlab.engine import Capabilities, Engine, Hosting, Progress
from aqmlab.experiment import campaign
from aqmlab.results import NotMeasuredError, Result
from aqmlab.scenario import content, normalize, seconds
from aqmlab.store import Store, address
from aqmlab.store.differences import Texts
from aqmlab.studies.framework.verdicts import UndecidableError
from aqmlab.words import by_kind

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Record:
    """Series that a run records in addition to its tables of flows and links.

    Attributes
    ----------
    series : frozenset of str
        Names of series.
    interval_s : float, optional
        Sampling interval in s; by default, the interval of other requests for the same run, or of
        the scenario.
    """

    series: frozenset[str] = frozenset()
    interval_s: float | None = None

    @classmethod
    def of(cls, scenario: dict[str, Any]) -> Record:
        """Return the series that the `record` table of a scenario requests."""
        table = scenario.get("record")
        if not table:
            return cls()
        key = json.dumps(table, sort_keys=True)
        if key not in _RECORDS:
            recorded = json.loads(normalize(scenario))["record"]
            samples = "interval" in table or recorded["series"]
            interval_s = seconds(recorded["interval"]) if samples else None
            _RECORDS[key] = cls(frozenset(recorded["series"]), interval_s)
        return _RECORDS[key]

    def merged(self, other: Record) -> Record:
        """Return a record with the series of both records and the shorter sampling interval."""
        intervals = [r.interval_s for r in (self, other) if r.interval_s is not None]
        return Record(self.series | other.series, min(intervals, default=None))

    def supported(self, capabilities: Capabilities) -> Record:
        """Return a record without the series that the engine cannot record."""
        return Record(frozenset(filter(capabilities.records, self.series)), self.interval_s)

    def keys(self) -> dict[str, Any]:
        """Return a record as keys of a scenario's `record` table."""
        interval = {} if self.interval_s is None else {"interval": f"{1000 * self.interval_s:g} ms"}
        return {"series": sorted(self.series)} | interval


_RECORDS: dict[str, Record] = {}
"""Cache of parsed `record` tables; the key of each entry is the JSON text of the table.

The scenarios of a study have few different `record` tables, and parsing such a table takes as long
as parsing a whole scenario.
"""


@dataclass(frozen=True)
class Need:
    """Request of an item for runs of a setting: the replications and the recorded series.

    Attributes
    ----------
    setting
        Setting with the methods `scenario(replication)`, which returns a dict, and `columns()`,
        which returns its labels in tables.
    replications : tuple of int, optional
        Numbers of the requested replications; default: all.
    at_most : int, optional
        Number of requested replications, beginning with replication 0; default: all.
    record : Record
        Series that the runs record in addition to the series in the scenario's `record` table.
    quick : bool
        True if the quick form of the study includes the setting.
    """

    setting: Any
    replications: tuple[int, ...] | None = None
    at_most: int | None = None
    record: Record = Record()
    quick: bool = True

    def chosen(self, count: int) -> Iterable[int]:
        """Return the numbers of the requested replications.

        Parameters
        ----------
        count : int
            Number of replications of each setting in this reproduction.

        Raises
        ------
        ValueError
            If the number of a requested replication is `count` or higher.
        """
        if self.replications is None:
            return range(count if self.at_most is None else min(count, self.at_most))
        last = max(self.replications, default=0)
        if last >= count:
            raise ValueError(
                f"replications: {count}: an item needs replication {last}; use --replications "
                f"{last + 1} or more"
            )
        return self.replications


@dataclass(frozen=True)
class FinishedRun:
    """Finished run with its address, its reduced result and its manifest.

    To save memory, `manifests` stores each manifest as its differences from the first manifest.
    """

    address: str
    reduced: Any
    manifests: Texts
    number: int

    @property
    def manifest_text(self) -> str:
        """Manifest as JSON."""
        return self.manifests[self.number]

    @property
    def manifest(self) -> dict[str, Any]:
        """Manifest as a dict."""
        manifest: dict[str, Any] = json.loads(self.manifest_text)
        return manifest


@dataclass
class _PlannedRun:
    """Planned run for one or more requests; `finished` contains the result of a finished run.

    `key` is the hash of the scenario without its title and its recorded series.
    """

    key: bytes
    setting: Any
    replication: int
    record: Record = Record()
    finished: FinishedRun | None = None

    def add_record(self, record: Record) -> None:
        """Record more series; if the run finished without these series, it will be run again."""
        merged = self.record.merged(record)
        if merged != self.record:
            self.record, self.finished = merged, None


class _Normalizer:
    """Normalizer of scenarios, which is faster if successive scenarios differ only in the seed."""

    def __init__(self) -> None:
        self._key, self._text = "", ""

    def text(self, scenario: dict[str, Any]) -> str:
        """Return a scenario as normalized JSON."""
        if "seed" not in scenario:
            return normalize(scenario)
        key = json.dumps({**scenario, "seed": 0})
        if key != self._key:
            self._key, self._text = key, normalize(scenario)
        return re.sub(r'"seed":\d+', f'"seed":{scenario["seed"]}', self._text, count=1)


Form = Callable[[Any], Any]
"""Function that returns the setting to run instead of a given setting, such as a shorter run."""


def unchanged(setting: Any) -> Any:
    """Return the given setting unchanged."""
    return setting


Change = tuple[str, str]
"""Changed assumption of a study: the dotted path of a scenario key, and its new value in TOML."""

NOT_ASSUMPTIONS = ("seed", "title", "record")
"""Scenario keys that cannot be changed: replications set the seed, and items set the series."""


def has_key(scenario: Any, key: str) -> bool:
    """Return True if a normalized scenario contains a key, given as a dotted path.

    Examples
    --------
    >>> scenario = {"flows": [{"tcp": {"ecn": "off"}}]}
    >>> has_key(scenario, "flows.0.tcp.ecn"), has_key({"flows": []}, "flow.0")
    (True, False)
    """
    head, _, rest = key.partition(".")
    if isinstance(scenario, list) and head.isdecimal() and int(head) < len(scenario):
        value = scenario[int(head)]
    elif isinstance(scenario, dict) and head in scenario:
        value = scenario[head]
    else:
        return False
    return not rest or has_key(value, rest)


class Runs:
    """Runs of a study, and their reduced results by setting and replication.

    Parameters
    ----------
    replications : int
        Number of replications of each setting.
    reduce : callable
        Function that reduces the result of each finished run. Only the return value of the function
        is stored, not the result.
    engine : Engine
        Engine that runs the scenarios.
    store : Store, optional
        Store of finished runs.
    changes : sequence of Change
        Changed assumptions; a change applies to every scenario that has its key.
    quick : bool
        True to run only the settings of the quick form.
    form : callable
        Function that returns the setting to run instead of a requested setting. Items and claims
        read the result under the requested setting, not under the returned setting.
    seed : int, optional
        Seed of replication 0; replication i has the seed plus i. Default: the seeds of the study.
    reuse : Runs, optional
        Other runs of the same study. Their results are used for equal scenarios.
    on_demand : int, optional
        Number of threads, to start all replications of a setting only when an item or a claim reads
        the setting. By default, all runs start in :meth:`run`.

    Raises
    ------
    ScenarioError
        If a change sets the seed, the title, or a key of the `record` table.
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
        form: Form = unchanged,
        seed: int | None = None,
        reuse: Runs | None = None,
        on_demand: int | None = None,
    ) -> None:
        for key, _ in changes:
            if key.partition(".")[0] in NOT_ASSUMPTIONS:
                hint = "use --seed" if key == "seed" else "change another"
                raise ScenarioError(f"--set {key}: is not an assumption of a study; {hint}")
        self.replications, self.changes, self.quick = replications, tuple(changes), quick
        self.seed = seed
        self._reduce, self._engine, self._store = reduce, engine, store
        self._form, self._on_demand, self._reuse = form, on_demand, reuse
        self._manifests = Texts()
        self._changed: dict[str, str] = {}
        self._planned: dict[bytes, _PlannedRun] = {}
        self._of: dict[Any, dict[int, _PlannedRun]] = {}  # by setting and replication
        self._read: dict[Any, set[int]] = {}

    @property
    def hosts(self) -> str:
        """Sentence about the hosts of the engine; empty if the engine simulates the hosts."""
        return self._engine.hosts if isinstance(self._engine, Hosting) else ""

    def under(self, form: Form, changes: Sequence[Change], threads: int) -> Runs:
        """Return runs under an alternative assumption, which use the results of these runs.

        The settings, the seeds and the number of replications are those of these runs. A setting
        is run when an item or a claim reads it, if the alternative changes its scenario.

        Parameters
        ----------
        form : callable
            Function that returns the setting to run instead of a requested setting.
        changes : sequence of Change
            Changed assumptions, in addition to those of these runs.
        threads : int
            Number of threads.
        """
        return Runs(
            self.replications, self._reduce, self._engine, self._store,
            (*self.changes, *changes), quick=self.quick,
            form=lambda setting: self._form(form(setting)), seed=self.seed, reuse=self,
            on_demand=threads,
        )  # fmt: skip

    def changed_reads(self) -> set[bytes]:
        """Return the keys of the changed runs that were read since the last call.

        A run is changed if the runs of :meth:`under` have another scenario for the same setting and
        replication.
        """
        before = self._reuse._of if self._reuse else {}
        keys = set()
        for setting, replications in self._read.items():
            now, then = self._of[setting], before.get(setting, {})
            keys |= {now[r].key for r in replications if r not in then or then[r].key != now[r].key}
        self._read.clear()
        return keys

    def request(self, needs: Iterable[Need]) -> None:
        """Plan the runs that are requested in `needs`.

        Raises
        ------
        ValueError
            If a request needs more replications than the study has.
        """
        for need in needs:
            if self.quick and not need.quick:
                continue
            of_setting = self._of.setdefault(need.setting, {})
            for r in need.chosen(self.replications):
                planned = of_setting.get(r)
                if planned is None:
                    planned = of_setting[r] = self._plan(need.setting, r)
                planned.add_record(need.record)

    def _scenario(self, setting: Any, replication: int) -> dict[str, Any]:
        """Return the scenario of a replication, with all changes and with the engine's hosts.

        If no change alters a value and the engine simulates the hosts, the scenario is returned as
        the study wrote it.
        """
        scenario: dict[str, Any] = self._form(setting).scenario(replication)
        if self.seed is not None:
            scenario["seed"] = self.seed + replication
        if isinstance(self._engine, Hosting):
            scenario = self._engine.hosted(scenario)
        return self._changed_keys(scenario) if self.changes else scenario

    def _changed_keys(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """Return a scenario with all changes to keys that it has."""
        before = json.loads(normalize(scenario))
        applicable = [change for change in self.changes if has_key(before, change[0])]
        self._changed |= dict(applicable)
        own = {"record": scenario["record"]} if "record" in scenario else {}
        changed: dict[str, Any] = json.loads(normalize(scenario, overrides=applicable))
        if changed == before:
            return scenario
        del changed["record"]
        return changed | own

    def check_changes(self) -> None:
        """Raise an error if a changed key does not occur in any planned scenario.

        Raises
        ------
        ScenarioError
            If a changed key does not occur in any planned scenario.
        """
        for key, _ in self.changes:
            if key not in self._changed:
                raise ScenarioError(f"--set {key}: no scenario of these items has this key")

    def check_recorded(self, needs: Iterable[Need]) -> None:
        """Raise an error if the engine cannot record a series that an item requests.

        Raises
        ------
        NotMeasuredError
            If the engine cannot record a series; the error names the first such series.
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

    def _plan(self, setting: Any, replication: int) -> _PlannedRun:
        """Return the planned run of a replication; equal scenarios share one planned run."""
        scenario = self._scenario(setting, replication)
        own = scenario.get("record", {})
        rest = {key: own[key] for key in own if key not in ("series", "interval")}
        text = content(json.dumps({**scenario, "record": rest}))
        key = hashlib.sha256(text.encode()).digest()
        planned = self._planned.setdefault(key, _PlannedRun(key, setting, replication))
        planned.add_record(Record.of(scenario))
        if self._reuse is not None:  # the alternative setting may record fewer series
            planned.add_record(Record.of(setting.scenario(replication)))
        return planned

    def _reused(self, planned: _PlannedRun) -> FinishedRun | None:
        """Return the result of an equal scenario with all series of a run; None without one."""
        other = self._reuse._planned.get(planned.key) if self._reuse else None
        if other is None or other.record.merged(planned.record) != other.record:
            return None
        return other.finished

    def run(self, jobs: int | None = None, progress: Progress | None = None) -> None:
        """Run every planned run that has not finished yet."""
        self._run(self._planned.values(), jobs, progress)

    def _run(
        self, planned: Iterable[_PlannedRun], jobs: int | None, progress: Progress | None = None
    ) -> None:
        pending = []
        for one in planned:
            one.finished = one.finished or self._reused(one)
            if one.finished is None:
                pending.append(one)
        addresses: list[str] = []
        normalizer = _Normalizer()

        def scenarios() -> Iterator[tuple[str]]:
            for one in pending:
                scenario = self._scenario(one.setting, one.replication)
                own = scenario.get("record", {})
                recorded = one.record.supported(self._engine.capabilities)
                text = normalizer.text({**scenario, "record": {**own, **recorded.keys()}})
                run_address = address(text, self._engine.build)
                assert run_address is not None, (
                    "the scenario of a study is a dict, so it cannot contain queues written in "
                    "Python"
                )
                addresses.append(run_address)
                yield (text,)

        def reduce(result: Result) -> tuple[int, Any]:
            number = self._manifests.add(result.manifest_text)
            try:
                return number, self._reduce(result)
            except (NotMeasuredError, UndecidableError) as error:
                # The method `one` raises the stored error again when an item or a claim reads the
                # run.
                return number, error

        completed = campaign(
            scenarios(), reduce, engine=self._engine, store=self._store, jobs=jobs,
            progress=progress,
        )  # fmt: skip
        for i, (number, reduced) in completed:
            pending[i].finished = FinishedRun(addresses[i], reduced, self._manifests, number)

    def one(self, setting: Any, replication: int) -> Any:
        """Return the reduced result of one replication of a setting.

        Raises
        ------
        NotMeasuredError
            If the engine cannot measure a value that the study reads.
        UndecidableError
            If the run lacks a value that the study reads.
        """
        reduced = self._finished(setting, replication).reduced
        if isinstance(reduced, NotMeasuredError | UndecidableError):
            raise type(reduced)(*reduced.args)
        return reduced

    def has(self, setting: Any) -> bool:
        """Return True if a setting was requested.

        The quick form of a study does not request all settings of the study.
        """
        return bool(self._of.get(setting))

    def of(self, setting: Any) -> list[Any]:
        """Return the reduced results of a setting, in the order of the replications."""
        return [run for _, run in self.by_replication(setting)]

    def by_replication(self, setting: Any) -> Iterator[tuple[int, Any]]:
        """Yield (replication, reduced result) for each requested replication of a setting."""
        for r in sorted(self._of.get(setting, ())):
            yield r, self.one(setting, r)

    def values(self, setting: Any, quantity: Callable[[Any], float]) -> Floats:
        """Return a quantity of each requested replication of a setting, shape (replications,)."""
        return np.array([quantity(run) for run in self.of(setting)], dtype=np.float64)

    def _finished(self, setting: Any, replication: int) -> FinishedRun:
        """Return a finished run; with runs on demand, first run all replications of its setting."""
        of_setting = self._of[setting]
        self._read.setdefault(setting, set()).add(replication)
        finished = of_setting[replication].finished
        if finished is None and self._on_demand is not None:
            distinct = {id(run): run for run in of_setting.values()}
            self._run(distinct.values(), self._on_demand)
            finished = of_setting[replication].finished
        assert finished is not None, "the run is planned, but has not been run yet"
        return finished

    def items(self) -> Iterator[tuple[Any, int, FinishedRun]]:
        """Yield (setting, replication, run) for every finished run."""
        for setting, of_setting in self._of.items():
            for replication, planned in of_setting.items():
                if planned.finished is not None or self._on_demand is None:
                    yield setting, replication, self._finished(setting, replication)

    def warnings(self) -> list[str]:
        """Return one line per kind of warning: an example, and the number of runs with it."""
        distinct = {run.address: run for _, _, run in self.items()}.values()
        warnings = [w for run in distinct for w in run.manifest.get("warnings", [])]
        return by_kind(((w["about"], w["text"], 1) for w in warnings), len(distinct))

    def distinct(self) -> int:
        """Return the number of distinct runs."""
        return len({run.address for _, _, run in self.items()})
