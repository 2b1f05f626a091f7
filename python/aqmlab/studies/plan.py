"""The runs that the items of a study need: collected, merged, run once each.

Items ask for scenarios without knowing of each other. Two requests with the same content are one
run; what they record is merged. Results are reduced as they complete, so that thousands of runs
fit in memory and no data frame is built on the way.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Scenario = dict[str, Any]


@dataclass(frozen=True)
class Record:
    """What a run records besides its tables of flows and links: series, and how often in s."""

    series: frozenset[str] = frozenset()
    interval_s: float = 0.5

    def merged(self, other: Record) -> Record:
        """Everything that either asks for."""
        if not self.series or not other.series:
            return self if self.series else other
        interval = min(self.interval_s, other.interval_s)
        return Record(self.series | other.series, interval)

    def covers(self, other: Record) -> bool:
        """Whether this records all that the other asks for."""
        return self.merged(other) == self

    def keys(self) -> dict[str, Any]:
        """As keys of a scenario."""
        return {"series": sorted(self.series), "interval": f"{1000 * self.interval_s:g} ms"}


def content(scenario: Scenario) -> str:
    """Return the address of a scenario by its content; its title and what it records do not count.

    Examples
    --------
    >>> content({"seed": 1, "title": "a"}) == content({"title": "b", "seed": 1})
    True
    >>> content({"seed": 1}) == content({"seed": 2})
    False
    """
    what = {key: value for key, value in scenario.items() if key not in ("title", "record")}
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]


@dataclass
class Plan:
    """Scenarios to run, each once, and the reduced results of those that were.

    Parameters
    ----------
    reduce : callable
        Called with each result (manifest, tables) as it completes; what it returns is kept.
    """

    reduce: Callable[[Any], Any]
    pending: dict[str, Scenario] = field(default_factory=dict)
    recorded: dict[str, Record] = field(default_factory=dict)
    done: dict[str, Any] = field(default_factory=dict)

    def add(self, scenario: Scenario, record: Record | None = None) -> str:
        """Ask for a run; returns its address in `done`."""
        record = record or Record()
        key = content(scenario)
        known = self.recorded.get(key)
        if known is None or not known.covers(record):
            self.recorded[key] = known.merged(record) if known else record
            self.pending[key] = scenario
        return key

    def run(self, stream: Callable[[list[Scenario]], Iterable[tuple[int, Any]]]) -> None:
        """Run what is pending; `stream` yields (index, result) in any order."""
        keys = list(self.pending)
        scenarios = [{**self.pending[key], "record": self.recorded[key].keys()} for key in keys]
        for index, result in stream(scenarios):
            self.done[keys[index]] = self.reduce(result)
        self.pending.clear()


@dataclass(frozen=True)
class Need:
    """A setting that an item looks at: which replications of it, and what they record."""

    setting: Any
    replications: tuple[int, ...] | None = None
    record: Record = Record()


class Runs:
    """Reduced runs by setting and replication."""

    def __init__(self, replications: int) -> None:
        self.replications = replications
        self._keys: dict[tuple[Any, int], str] = {}
        self._done: Mapping[str, Any] = {}

    def ask(self, plan: Plan, needs: Iterable[Need]) -> None:
        """Enter the runs that are needed into the plan."""
        self._done = plan.done
        for need in needs:
            for r in range(self.replications) if need.replications is None else need.replications:
                if r < self.replications:
                    scenario = need.setting.scenario(r)
                    self._keys[need.setting, r] = plan.add(scenario, need.record)

    def one(self, setting: Any, replication: int) -> Any:
        """Return the run of one replication of a setting."""
        return self._done[self._keys[setting, replication]]

    def of(self, setting: Any) -> list[Any]:
        """Return the runs of a setting, in order of their replications."""
        chosen = (r for r in range(self.replications) if (setting, r) in self._keys)
        return [self.one(setting, r) for r in chosen]

    def items(self) -> Iterable[tuple[Any, int, str, Any]]:
        """Return (setting, replication, address, run) of every run."""
        for (setting, replication), key in self._keys.items():
            yield setting, replication, key, self._done[key]
