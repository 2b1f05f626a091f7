"""Forms of a queue: normalized table, shortest table, text of a comparison, and TOML."""

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from aqmlab._core import ScenarioError
from aqmlab.scenario import normalize, toml_value

_PLACE = "network.links.0."
_EXPLICIT = {"drop_tail": ("limit",), "fq_codel": ("ecn",), "fq_pie": ("ecn",)}
"""Buffer keys in the shortest form of a kind, which a comparison would inherit otherwise."""


def normal(queue: Mapping[str, Any], changes: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """Check a queue, and return it with all default values.

    `changes` are keys and values that replace those of the queue, in the syntax of `--set`.

    Raises
    ------
    ScenarioError
        If the queue is invalid. The message begins with the path of the key, such as queue.limit.
    """
    link = {"from": "a", "to": "b", "rate": "1 Gbit/s", "delay": "1 ms", "queue": dict(queue)}
    flow = {"from": "a", "to": "b", "traffic": {"kind": "bulk"}}
    scenario = {
        "network": {"kind": "graph", "links": [link]}, "flows": [flow], "duration": "1 s"
    }  # fmt: skip
    try:
        overrides = [(f"{_PLACE}queue.{key}", value) for key, value in changes]
        text = normalize(scenario, overrides=overrides)
    except ScenarioError as e:
        raise ScenarioError(str(e).replace(_PLACE, "")) from None
    table: dict[str, Any] = json.loads(text)["network"]["links"][0]["queue"]
    return table


@cache
def codepoints() -> dict[str, int]:
    """Return the numbers of the DiffServ codepoints by their form in a normalized queue."""
    every = {"match": {"dscp": list(range(64))}}
    classes: list[dict[str, Any]] = normal({"kind": "priority", "classes": [every, {}]})["classes"]
    return {str(name): number for number, name in enumerate(classes[0]["match"]["dscp"])}


def differences(
    old: Any, new: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the path and both values of each key that differs between two normalized tables."""
    pairs: Iterator[tuple[str | int, Any, Any]] | None = None
    if isinstance(old, dict) and isinstance(new, dict):
        pairs = ((key, old[key], new.get(key)) for key in old)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = ((i, old[i], new[i]) for i in range(len(old)))
    if pairs is not None:
        for key, one, other in pairs:
            yield from differences(one, other, (*path, key))
    elif old != new:
        yield ".".join(map(str, path)), old, new


def shortest(queue: dict[str, Any]) -> dict[str, Any]:
    """Return a normalized queue without the keys that have their default value.

    The limit and ecn of the queue stay, because a comparison inherits them from its scenario.
    """
    explicit = ("kind", *_EXPLICIT.get(queue["kind"], ("limit", "ecn")))
    short: dict[str, Any] = _without_none(copy.deepcopy(queue))
    _shorten(short, short, queue, explicit)
    return short


def _without_none(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _without_none(value) for key, value in node.items() if value is not None}
    return list(map(_without_none, node)) if isinstance(node, list) else node


def _shorten(
    node: Any, root: dict[str, Any], full: dict[str, Any], explicit: tuple[str, ...] = ("kind",)
) -> None:
    """Remove each key below a node that does not change the normalized form of the root."""
    order = list(node) if isinstance(node, dict) else range(len(node))
    for key in order:
        value = node[key]
        if isinstance(node, dict) and key not in explicit:
            del node[key]
            if _is(root, full):
                continue
            node[key] = value
        if isinstance(value, dict | list):
            _shorten(value, root, full)
    if isinstance(node, dict):  # a restored key is at the end of the dict
        for key in [key for key in order if key in node]:
            node[key] = node.pop(key)


def _is(queue: dict[str, Any], full: dict[str, Any]) -> bool:
    try:
        return normal(queue) == full
    except ScenarioError:
        return False


def text(queue: Mapping[str, Any]) -> str:
    """Return a queue in the syntax of `aqmlab compare`.

    Examples
    --------
    >>> text({"kind": "codel", "target": "10 ms"})
    'codel:target=10 ms'
    """
    keys = [
        f"{key}={value if isinstance(value, str) else toml_value(value)}"
        for key, value in queue.items()
        if key != "kind"
    ]
    return ":".join([queue["kind"], *([",".join(keys)] if keys else [])])


def toml(queue: Mapping[str, Any]) -> str:
    """Return a queue as the TOML table of the bottleneck of a dumbbell.

    Examples
    --------
    >>> print(toml({"kind": "codel", "target": "10 ms"}))
    [network.queue]
    kind = "codel"
    target = "10 ms"
    """
    lines = (f"{key} = {toml_value(value)}" for key, value in queue.items())
    return "\n".join(["[network.queue]", *lines])
