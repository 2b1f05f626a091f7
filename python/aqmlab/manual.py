"""Manual of the scenario: one page for each table, from the definitions in the simulator.

The Rust code defines each parameter next to the algorithm that uses it. This module reads these
definitions for ``aqmlab explain``, for the classes of :mod:`aqmlab.parameters`, and for
docs/reference.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from typing import Any

from aqmlab import _core


@dataclass(frozen=True)
class Parameter:
    """Key of a table in a scenario.

    `default` is written in the syntax of a scenario. Each element of `choices` is an allowed word
    and its meaning. `schema` is the JSON Schema of the allowed values.
    """

    name: str
    unit: str
    default: Any
    range: str
    meaning: str
    source: str
    required: bool
    schema: dict[str, Any]

    @property
    def choices(self) -> list[tuple[str, str]]:
        """Allowed words, each with its meaning; empty if the key does not have words as values."""
        options = self.schema.get("items", self.schema).get("oneOf", [])
        return [(o["const"], o["description"]) for o in options]

    @property
    def default_text(self) -> str:
        """The default as text."""
        if self.required:
            return "none, the key is required"
        if self.default is None:
            return "absent"
        if self.default == "":
            return "empty"
        if isinstance(self.default, dict):
            return _table_text(self.default)
        if isinstance(self.default, list):
            return ", ".join(map(str, self.default)) or "empty"
        return str(self.default).lower() if isinstance(self.default, bool) else str(self.default)


@dataclass(frozen=True)
class Rule:
    """Rule by which an algorithm drops or marks packets, or changes cwnd or ssthresh.

    The columns `rule` and `source` of the series ``why`` and ``why_cwnd`` have its name and its
    source.
    """

    name: str
    meaning: str
    source: str


@dataclass(frozen=True)
class Variable:
    """Variable of a queue, which has a column of its name in the series ``why``."""

    name: str
    unit: str
    meaning: str
    source: str


@dataclass(frozen=True)
class Page:
    """Page of the manual for one table: category such as "queues", name, description and keys.

    If a scenario has a text in place of the table, the text is the value of the key `shorthand`.
    `renamed` maps each former key to its present path. `implied` maps a word such as
    ``stack.linux`` to the keys that this word sets. `rules` and `variables` explain the drops and
    marks of a queue, or the changes of cwnd of a sender.
    """

    category: str
    name: str
    about: str
    has_kind: bool
    parameters: list[Parameter] = field(default_factory=list)
    shorthand: str | None = None
    renamed: dict[str, str] = field(default_factory=dict)
    implied: dict[str, dict[str, Any]] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario."""
    whole: dict[str, Any] = json.loads(_core.schema())
    return whole


def definition(reference: str) -> dict[str, Any]:
    """Return the part of the JSON Schema that a reference such as ``#/$defs/queue`` points to."""
    node: dict[str, Any] = schema()
    for key in reference.removeprefix("#/").split("/"):
        node = node[key]
    return node


@cache
def pages() -> dict[str, Page]:
    """Return all pages of the manual by name."""
    by_category = json.loads(_core.pages())
    return {p["name"]: _page(category, p) for category, ps in by_category.items() for p in ps}


@cache
def shorthands() -> dict[str, str]:
    """Return the shorthand key of each table, by name of the table.

    A scenario can have a string in place of a table. The string is the value of the shorthand key.

    Examples
    --------
    >>> shorthands()
    {'ecn': 'mode', 'recovery': 'method'}
    """
    all_pages = pages().values()
    return {page.name.rpartition(".")[2]: page.shorthand for page in all_pages if page.shorthand}


@dataclass(frozen=True)
class Column:
    """Column of a result table; `unit` is empty for a column of names."""

    name: str
    unit: str
    meaning: str


@cache
def columns() -> dict[str, list[Column]]:
    """Return the columns of each possible result table, by name of the table.

    Examples
    --------
    >>> {column.name: column.unit for column in columns()["delays"]}["mean_delay_s"]
    's'
    """
    tables = json.loads(_core.columns())
    return {name: [Column(**c) for c in table["columns"]] for name, table in tables.items()}


@cache
def tables() -> dict[str, str]:
    """Return the description of each possible result table, by name of the table.

    Examples
    --------
    >>> tables()["connections"]
    'One row per flow with `arrivals`.'
    """
    return {name: table["about"] for name, table in json.loads(_core.columns()).items()}


def in_category(category: str) -> list[Page]:
    """Return the pages of a category, such as "queues", "tcp" or "traffic"."""
    return [page for page in pages().values() if page.category == category]


def find(name: str) -> list[tuple[Page, Parameter | None]]:
    """Return the page with a name, or else all parameters with this name or with this choice.

    Parameters
    ----------
    name : str
        "red", "minth", "red.minth" or "geometric".

    Raises
    ------
    ValueError
        If the manual has no page for the name; the message lists similar names.

    Examples
    --------
    >>> [(page.name, parameter.name) for page, parameter in find("red.maxp")]
    [('red', 'maxp')]
    """
    if name in pages():
        return [(pages()[name], None)]
    of, _, key = name.rpartition(".")
    for page in pages().values():
        if key in page.renamed and of in ("", page.name):
            raise ValueError(
                f"{page.name}.{key} is now {page.name}.{page.renamed[key]}; "
                f"`aqmlab explain {page.name}.{page.renamed[key]}` describes it"
            )
    matches: list[tuple[Page, Parameter | None]] = [
        (page, p) for page in pages().values() for p in page.parameters
        if of in ("", page.name) and (p.name == key or key in dict(p.choices))
    ]  # fmt: skip
    if not matches:
        keys = {p.name for page in pages().values() for p in page.parameters}
        if of in pages():
            own = ", ".join(p.name for p in pages()[of].parameters)
            raise ValueError(f"{of} has no key {key!r}; give one of {own or 'none'}")
        near = get_close_matches(name.lower(), {*pages(), *keys}, n=3)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise ValueError(
            f"the manual has no page for {name!r}; {hint}`aqmlab list` prints the names of queues, "
            "tcp, traffic and other categories"
        )
    return matches


def _table_text(table: dict[str, Any]) -> str:
    """Describe a table by its kind and by the keys that differ from their defaults."""
    kind = table.get("kind", "")
    own = {p.name: p.default for p in pages()[kind].parameters} if kind else table
    changed = [f"{k} {v}" for k, v in table.items() if k != "kind" and v != own[k]]
    if kind:
        return ", ".join([kind, *changed])
    return "its own defaults" if table else "nothing"


def _page(category: str, page: dict[str, Any]) -> Page:
    table = _table_of(page)
    required = table.get("required", [])
    keys = [
        Parameter(**p, required=p["name"] in required, schema=table["properties"][p["name"]])
        for p in page["parameters"]
    ]
    return Page(
        category,
        page["name"],
        page["about"],
        "kind" in table["properties"],
        keys,
        page.get("shorthand"),
        page.get("renamed", {}),
        page.get("implied", {}),
        [Rule(**rule) for rule in page.get("rules", [])],
        [Variable(**variable) for variable in page.get("variables", [])],
    )


def _table_of(page: dict[str, Any]) -> dict[str, Any]:
    """Return the part of the JSON Schema that describes the table of a page."""
    keys = {p["name"] for p in page["parameters"]}
    for table in _tables(schema()):
        properties = table["properties"]
        kind = properties.get("kind", {}).get("const")
        if set(properties) - {"kind"} == keys and kind in (None, page["name"]):
            return table
    raise LookupError(f"the JSON Schema has no table with the keys of the page {page['name']}")


def _tables(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if "properties" in node:
            yield node
        for child in node.values():
            yield from _tables(child)
    elif isinstance(node, list):
        for child in node:
            yield from _tables(child)


def table_of_key(parameter: Parameter) -> Page | None:
    """Return the page of the table that a key contains by default; None for other keys.

    Examples
    --------
    >>> tcp = {p.name: p for p in pages()["tcp"].parameters}
    >>> table_of_key(tcp["rto"]).name, table_of_key(tcp["ecn"]).name, table_of_key(tcp["mss"])
    ('tcp.rto', 'tcp.ecn', None)
    """
    if not isinstance(parameter.default, dict) or "kind" in parameter.default:
        return None
    options = [parameter.schema, *parameter.schema.get("anyOf", [])]
    tables = [o for o in options if "properties" in o and "kind" not in o["properties"]]
    return page_of_table(tables[0]) if tables else None


def implied_keys(page: Page, word: str) -> list[tuple[str, Any]]:
    """Return the path and the value of each key that a word such as ``stack.linux`` sets.

    A table with a choice of kinds, such as a congestion control, counts as one key.

    Examples
    --------
    >>> dict(implied_keys(pages()["tcp"], "stack.rfc"))["recovery.method"]
    'newreno'
    """

    def leaves(table: dict[str, Any], path: str) -> Iterator[tuple[str, Any]]:
        for key, value in table.items():
            if isinstance(value, dict) and "kind" not in value:
                yield from leaves(value, f"{path}{key}.")
            else:
                yield f"{path}{key}", value

    own = word.partition(".")[0]
    order = [p.name for p in page.parameters]
    rows = [row for row in leaves(page.implied[word], "") if row[0] != own]
    return sorted(rows, key=lambda row: order.index(row[0].partition(".")[0]))


def page_of_table(table: dict[str, Any]) -> Page | None:
    """Return the page of a part of the JSON Schema; None if the part has no page."""
    properties = table.get("properties", {})
    kind = properties.get("kind", {}).get("const")
    for page in pages().values():
        same_keys = set(properties) - {"kind"} == {p.name for p in page.parameters}
        if same_keys and kind == (page.name if page.has_kind else None):
            return page
    return None
