"""Features that an engine supports, and the check of a scenario against them before its run."""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from aqmlab import _core
from aqmlab._core import ScenarioError
from aqmlab.scenario import with_seed

EVERY_ENGINE = (
    *("title", "seed", "record.series", "record.interval", "record.links"),
    *("flows.*.name", "flows.*.from", "flows.*.to", "*queue.kind"),
)
"""Scenario keys that :attr:`Capabilities.keys` does not restrict. Every engine supports these keys,
or another attribute of `Capabilities` restricts their values.
"""


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """Features that an engine supports; an attribute with the value None means no restriction.

    Attributes
    ----------
    queues : collection of str, optional
        Kinds of queue disciplines.
    series : collection of str, optional
        Series that the engine records.
    keys : mapping of str to collection, optional
        Scenario keys that may differ from their defaults, each with a collection of allowed values;
        None in place of the collection allows every value. The character ``*`` in a key matches any
        text, as in ``flows.*.start``.
    columns : mapping of str to collection of str, optional
        Columns that the engine fills, by name of the table.

    Examples
    --------
    >>> from aqmlab.scenario import normalize
    >>> only = Capabilities(queues=["drop_tail"])
    >>> only.check(normalize("examples/two_flows.toml"))
    >>> only.check(normalize("examples/two_flows.toml", overrides=[("network.queue", "red")]))
    Traceback (most recent call last):
        ...
    aqmlab.ScenarioError: network.queue.kind: "red" is not supported by this engine, which \
supports "drop_tail"; choose one of these, or another engine
    """

    queues: Collection[str] | None = None
    series: Collection[str] | None = None
    keys: Mapping[str, Collection[Any] | None] | None = None
    columns: Mapping[str, Collection[str]] | None = None

    def check(self, text: str) -> None:
        """Raise ScenarioError if a scenario needs a feature that the engine does not support.

        Parameters
        ----------
        text : str
            The scenario as :func:`aqmlab.scenario.normalize` writes it.

        Raises
        ------
        ScenarioError
            The error names the first unsupported key, its value, the supported values and a remedy.
        """
        if self.queues is None and self.series is None and self.keys is None:
            return
        scenario = json.loads(text)
        if self.queues is not None:
            for path, kind in _queues(scenario, ""):
                if kind not in self.queues:
                    raise _refusal(path, kind, self.queues)
        for i, series in enumerate(scenario["record"]["series"]):
            if not self.records(series):
                raise _refusal(f"record.series.{i}", series, self.series or ())
        if self.keys is None:
            return
        for path, value in _leaves(scenario, ""):
            allowed = self._allowed(path)
            if allowed and not any(values is None or value in values for values in allowed):
                raise _refusal(path, value, [v for values in allowed for v in values or ()])
        for path, value in _known(with_seed(text, 0)):
            every_engine = any(fnmatchcase(path, pattern) for pattern in EVERY_ENGINE)
            if not every_engine and not self._allowed(path):
                near = [key for key in self.keys if key.split(".")[0] == path.split(".")[0]]
                where = " in this table" if near else ""
                raise ScenarioError(
                    f"{path}: {json.dumps(value, ensure_ascii=False)} is not supported by this "
                    f"engine, which supports the keys {', '.join(near or self.keys) or '(none)'}"
                    f"{where}; remove the key, or choose another engine"
                )

    def _allowed(self, path: str) -> list[Collection[Any] | None]:
        """Return the allowed values of each pattern in `keys` that matches the path."""
        keys = self.keys or {}
        return [values for pattern, values in keys.items() if fnmatchcase(path, pattern)]

    def records(self, series: str) -> bool:
        """Return True if the engine records a series."""
        return self.series is None or series in self.series

    def fills(self, table: str, column: str) -> bool:
        """Return True if the engine fills a column of a table."""
        return self.columns is None or column in self.columns.get(table, ())


EVERYTHING = Capabilities()
"""Capabilities of the simulator, which supports every feature."""


def set_keys(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the path and value of each key of a scenario that differs from its default.

    A scenario with only the yielded keys describes the same simulation as the whole scenario.

    Parameters
    ----------
    text : str
        The scenario as :func:`aqmlab.scenario.normalize` writes it.

    Examples
    --------
    >>> from aqmlab.scenario import normalize
    >>> text = normalize("examples/two_flows.toml")
    >>> [path for path, _ in set_keys(text) if path.startswith("flows")]
    ['flows.0.name', 'flows.0.count', 'flows.0.from', 'flows.0.to', \
'flows.0.traffic.kind', 'flows.0.traffic.size']
    """
    scenario = json.loads(text)
    text = _core.check(text, "json", [])

    def remaining(table: dict[str, Any], keys: list[str]) -> list[str]:
        """Remove keys that have their default value; return the keys of `table` that must stay."""
        values = {key: table.pop(key) for key in keys}
        with suppress(ScenarioError):
            if _core.check(json.dumps(scenario), "json", []) == text:
                return []
        table.update(values)
        if len(keys) == 1:
            return keys
        half = len(keys) // 2
        return remaining(table, keys[:half]) + remaining(table, keys[half:])

    def needed(table: dict[str, Any]) -> list[str]:
        """Return the keys of a table whose removal would change the scenario.

        The search repeats until no key can be removed, because the default of a key may depend on
        another key.
        """
        keys = remaining(table, list(table))
        while len(fewer := remaining(table, keys) if keys else []) < len(keys):
            keys = fewer
        return keys

    def walk(node: Any, path: str) -> Iterator[tuple[str, Any]]:
        for key in needed(node) if isinstance(node, dict) else range(len(node)):
            here, value = f"{path}.{key}".lstrip("."), node[key]
            nested = isinstance(value, dict) or (
                isinstance(value, list) and value and all(isinstance(v, dict) for v in value)
            )
            yield from (list(walk(value, here)) if nested else []) or [(here, value)]

    yield from walk(scenario, "")


@lru_cache(maxsize=256)
def _known(text: str) -> tuple[tuple[str, Any], ...]:
    """Return :func:`set_keys` of a scenario as a cached tuple.

    The cache saves time, because an experiment and its campaign check the same scenarios.
    """
    return tuple(set_keys(text))


def _leaves(node: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the dotted path and the value of each key in a part of a scenario."""
    if not isinstance(node, dict | list):
        yield path, node
        return
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        yield from _leaves(value, f"{path}.{key}".lstrip("."))


def _queues(node: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the dotted path and the value of the key `kind` of each queue in a scenario part."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        here = f"{path}.{key}".lstrip(".")
        if str(key).endswith("queue") and isinstance(value, dict) and "kind" in value:
            yield f"{here}.kind", value["kind"]
        if isinstance(value, dict | list):
            yield from _queues(value, here)


def _refusal(path: str, value: Any, supported: Collection[Any]) -> ScenarioError:
    """Return the error for a value that the engine does not support."""
    names = ", ".join(json.dumps(name, ensure_ascii=False) for name in supported)
    remedy = "choose one of these, or" if supported else "remove it, or choose"
    return ScenarioError(
        f"{path}: {json.dumps(value, ensure_ascii=False)} is not supported by this engine, which "
        f"supports {names or 'none'}; {remedy} another engine"
    )
