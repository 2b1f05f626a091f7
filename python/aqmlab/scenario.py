"""Forms of a scenario in Python, and the conversion of each form to JSON for the simulator.

A scenario is a path to a TOML or JSON file, the name of a ready scenario, a dict with the same
keys, or an object of the class :class:`aqmlab.Scenario`. :func:`normalize` converts each form to
JSON with all default values. The simulator, not this module, checks the keys and values.
"""

import json
import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

from aqmlab import _core, manual, ready, representation
from aqmlab._core import ScenarioError
from aqmlab.custom import CustomAqms, CustomQueue


@dataclass(frozen=True, kw_only=True, repr=False)
class Table:
    """Table of a scenario as a Python object; a field with the value None means an absent key."""

    KIND: ClassVar[str | None] = None

    def to_dict(self, aqms: CustomAqms | None = None) -> dict[str, Any]:
        """Return the table with the keys and values of a scenario file."""
        aqms = CustomAqms() if aqms is None else aqms
        kind = {} if self.KIND is None else {"kind": self.KIND}
        values = ((f.name.rstrip("_"), getattr(self, f.name)) for f in fields(self))
        return kind | {key: plain(value, aqms) for key, value in values if value is not None}

    def __repr__(self) -> str:
        values = ((f.name, getattr(self, f.name)) for f in fields(self))
        given = ", ".join(f"{name}={value!r}" for name, value in values if value is not None)
        return f"{type(self).__name__}({given})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Document(Table):
    """Top-level table of a scenario."""

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Read a scenario from TOML text.

        Raises
        ------
        ScenarioError
            If the text is not a valid scenario.
        """
        return cls(**json.loads(_core.as_written(text, "toml")))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a scenario from a TOML or JSON file, or a ready scenario by its name.

        Raises
        ------
        ScenarioError
            If the file is not a valid scenario.
        OSError
            If the file cannot be read.
        """
        return cls(**as_written(path))

    def __repr__(self) -> str:
        try:
            scenario = json.loads(normalize(self))
        except ScenarioError as e:
            return f"<Scenario with an error: {e}>"
        network, count = scenario["network"]["kind"], sum(f["count"] for f in scenario["flows"])
        return f"<Scenario {_title(scenario)!r}: {network}, {count} flow{'s' * (count > 1)}>"

    def _repr_html_(self) -> str:
        try:
            scenario = json.loads(normalize(self))
        except ScenarioError as e:
            return representation.card("Scenario with an error", [str(e)])
        picture = representation.network(_links(scenario["network"]))
        return representation.card(_title(scenario), rows=_rows(scenario), pictures=[picture])


def _title(scenario: Mapping[str, Any]) -> str:
    return scenario["title"] or "Untitled scenario"


def _rows(scenario: Mapping[str, Any]) -> list[list[str]]:
    """Return the most important keys of a normalized scenario, and their values as text."""
    network, tcp, warm_up = scenario["network"], scenario["tcp"], warm_up_of(scenario)
    rows = []
    if network["kind"] == "dumbbell":
        queue = network["queue"]
        rows.append(["bottleneck", f"{network['rate']}, {network['delay']}"])
        rows.append(["queue", ", ".join(filter(None, [queue["kind"], queue.get("limit")]))])
    else:
        rows.append(["network", f"{len(network['links'])} links"])
    for flow in scenario["flows"][:MOST_FLOWS]:
        several = f"{flow['count']} × " * (flow["count"] > 1)
        size = flow["traffic"].get("size")
        sizes = f", {size['kind']} sizes" if isinstance(size, dict) else f" {size or ''}".rstrip()
        ends = f"{flow['from']} > {flow['to']}"
        rows.append(["flows", f"{several}{flow['name']}: {flow['traffic']['kind']}{sizes}, {ends}"])
    more = len(scenario["flows"]) - MOST_FLOWS
    rows += [["", f"… {more} more [[flows]] tables"]] * (more > 0)
    rows.append(["TCP", f"{tcp['congestion']['kind']}, ECN {tcp['ecn']['mode']}"])
    end = scenario["duration"] or "until all flows have closed"
    rows.append(["duration", f"{end}, with a warm-up of {warm_up}" if warm_up else end])
    return [*rows, ["seed", str(scenario["seed"])]]


def _links(network: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the two ends of each link, and as a label the rate of the slowest links."""
    if network["kind"] == "dumbbell":
        left, right = (
            f"{side}-0" + f" … {side}-{count - 1}" * (count > 1)
            for side, count in (("left", network["left_hosts"]), ("right", network["right_hosts"]))
        )
        return [(left, "left", ""), ("left", "right", network["rate"]), ("right", right, "")]
    slowest = min((bits_per_second(link["rate"]) for link in network["links"]), default=0)
    return [
        (link["from"], link["to"], link["rate"] * (bits_per_second(link["rate"]) == slowest))
        for link in network["links"]
    ]


MOST_FLOWS = 4
"""Maximum number of `[[flows]]` tables that the representation in a notebook lists."""
MOST_BYTES = 256 << 20
"""Maximum size of a scenario file in bytes, because a device file may never end."""
MOST_VALUES = 4_000_000
"""Maximum number of values and tables in a scenario file, because each takes up to 300 bytes."""

ScenarioLike = str | PathLike[str] | Mapping[str, Any] | Document
"""Path of a file, name of a ready scenario, dict, or object of :class:`aqmlab.Scenario`."""
Overrides = Mapping[str, Any] | Iterable[tuple[str, Any]]
"""Changes of a scenario: a mapping from dotted paths of keys to values, or pairs of both.

A value is a text as for ``--set``, such as "20 ms" or "0.1", or a number, a dict or a table such as
``aqmlab.Red()``.
"""


def plain(value: Any, aqms: CustomAqms | None = None) -> Any:
    """Convert a value to strings, numbers, booleans, lists and dicts.

    A queue written in Python is stored in `aqms`, and becomes a table with its name.
    """
    aqms = CustomAqms() if aqms is None else aqms
    if isinstance(value, CustomQueue):
        return aqms.table(value)
    if isinstance(value, Table):
        return value.to_dict(aqms)
    if isinstance(value, Mapping):
        return {str(key): plain(v, aqms) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v, aqms) for v in value]
    if hasattr(value, "tolist"):  # a number or an array of numpy
        return value.tolist()
    return value


def _refusal(value: Any, path: str = "") -> str | None:
    """Return the reason if a value cannot be part of a scenario; None for a valid value."""
    inside: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    elif isinstance(value, float) and not math.isfinite(value):
        return f"{path}: {value} is not a finite number"
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        number = f"an integer of {value.bit_length()} bits" if value.bit_length() > 200 else value
        return f"{path}: {number} must be from {-(2**63)} to {2**63 - 1}"
    elif value is not None and not isinstance(value, str | bool | int | float):
        return f"{path}: {value!r} is not a scenario value; give a text, a number or a dict"
    reasons = (_refusal(v, f"{path}.{key}".lstrip(".")) for key, v in inside)
    return next(filter(None, reasons), None)


def read_text(path: str | PathLike[str]) -> tuple[str, str]:
    """Read a scenario file.

    Returns
    -------
    text : str
        Content of the file.
    format : str
        Format of the file: "json" if its name ends in .json, else "toml".

    Raises
    ------
    ScenarioError
        If the file is not UTF-8 text, too large, or a named pipe.
    OSError
        If the file cannot be read. The message names the file.
    """
    path = Path(path)
    if path.is_fifo() and path.parts[:2] not in (("/", "dev"), ("/", "proc")):
        raise ScenarioError(
            f"{path}: the path is a named pipe; give a file, or read the pipe as /dev/stdin"
        )
    with path.open("rb") as file:
        try:
            content = file.read(MOST_BYTES + 1)
        except OSError as e:
            raise type(e)(e.errno, e.strerror, str(path)) from None
    if len(content) > MOST_BYTES:
        raise ScenarioError(f"{path}: is larger than {MOST_BYTES >> 20} MiB; is it a scenario?")
    values = sum(map(content.count, (b"[", b"{", b",", b"=", b":")))
    if values > MOST_VALUES:
        raise ScenarioError(
            f"{path}: has about {values} values and tables, and the maximum is {MOST_VALUES}; "
            "describe equal flows by one table with the key count"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise ScenarioError(
            f"{path}: is not UTF-8 text (byte {e.start}); a scenario is a TOML or JSON file"
        ) from None
    return text, "json" if path.suffix.lower() == ".json" else "toml"


def overrides_of(overrides: Overrides, aqms: CustomAqms | None = None) -> list[tuple[str, str]]:
    """Return changes of a scenario as pairs of a dotted path and a text, as for ``--set``.

    Queues written in Python are stored in `aqms`.

    Raises
    ------
    ScenarioError
        If the changes are neither a mapping nor pairs, or if a value cannot be in a scenario.

    Examples
    --------
    >>> overrides_of({"network.delay": "5 ms", "network.queue.maxp": 0.2})
    [('network.delay', '5 ms'), ('network.queue.maxp', '0.2')]
    """
    items = overrides.items() if isinstance(overrides, Mapping) else overrides
    try:
        pairs = [(path, value) for path, value in items]
        paths = all(isinstance(path, str) for path, _ in pairs)
    except (TypeError, ValueError):
        pairs, paths = [], False
    if not paths:
        raise ScenarioError(
            f"overrides: {overrides!r} is not a mapping of keys to values; write for example "
            '{"network.delay": "5 ms"}'
        )
    return [(k, v if isinstance(v, str) else toml_value(v, aqms)) for k, v in pairs]


def normalize(
    scenario: ScenarioLike,
    seed: int | None = None,
    overrides: Overrides = (),
    aqms: CustomAqms | None = None,
) -> str:
    """Check a scenario, and return it as JSON with all default values.

    Parameters
    ----------
    scenario : path, name, dict or Scenario
        The scenario.
    seed : int, optional
        Seed of every random stream, 0 or more; default: the scenario's.
    overrides : mapping or iterable of (str, value)
        Changes of the scenario: dotted paths of keys, such as ``network.queue.limit``, each with
        its new value; see :data:`Overrides`.
    aqms : CustomAqms, optional
        Receives the queues that are written in Python; the JSON contains only their names.

    Returns
    -------
    str
        The scenario as JSON.

    Raises
    ------
    ScenarioError
        If the scenario is invalid. The message states the dotted path of the key, its value, the
        bound and the remedy.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> normalize({"flows": []})  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    aqmlab.ScenarioError: network: is missing; this required key gives the network, …
    """
    changes = overrides_of(overrides, aqms)
    changes += [] if seed is None else [("seed", str(seed))]
    if isinstance(scenario, str | PathLike):
        text, language = read_text(ready.located(scenario))
        try:
            return _core.check(text, language, changes)
        except ScenarioError as e:
            raise ScenarioError(f"{scenario}: {e}") from None
    return _core.check(document_text(scenario, aqms), "json", changes)


def document_text(scenario: Mapping[str, Any] | Document, aqms: CustomAqms | None = None) -> str:
    """Return a scenario as JSON text, without checking its keys; see :func:`normalize`.

    Raises
    ------
    ScenarioError
        If the scenario is not a table of values that a scenario file can contain.
    """
    if not isinstance(scenario, Mapping | Document):
        raise ScenarioError(
            f"{scenario!r} is not a scenario; give a path, a dict or an aqmlab.Scenario"
        )
    try:
        table = plain(scenario, aqms)
        refusal = _refusal(table)
        text = "" if refusal else json.dumps(table)
    except RecursionError:
        raise ScenarioError(
            "the scenario cannot be read, because its tables are nested too deeply"
        ) from None
    if refusal:
        raise ScenarioError(refusal)
    return text


SEED = re.compile(r'\{"title":"(?:[^"\\]|\\.)*","seed":(\d+)')
"""Pattern of the beginning of a normalized scenario: its title and its seed."""


def seed_of(text: str) -> int:
    """Return the seed of a normalized scenario, without parsing the whole text."""
    start = SEED.match(text)
    assert start, "a normalized scenario begins with its title and its seed"
    return int(start[1])


def with_seed(text: str, seed: int) -> str:
    r"""Return a normalized scenario with another seed, without parsing the whole text.

    Examples
    --------
    >>> print(with_seed(r'{"title":"a \"seed\":1","seed":1,"duration":null}', 23))
    {"title":"a \"seed\":1","seed":23,"duration":null}
    """
    start = SEED.match(text)
    assert start, "a normalized scenario begins with its title and its seed"
    return f"{text[: start.start(1)]}{seed}{text[start.end(1) :]}"


def content(text: str) -> str:
    """Return a scenario as JSON with sorted keys and without the title.

    Examples
    --------
    >>> content('{"seed": 1, "title": "a"}') == content('{"title": "b", "seed": 1}')
    True
    """
    values = {key: value for key, value in json.loads(text).items() if key != "title"}
    return json.dumps(values, sort_keys=True)


def seconds(time: str) -> float:
    """Parse a time in a normalized scenario, and return the time in s.

    Examples
    --------
    >>> seconds("50 ms")
    0.05
    """
    number, unit = time.split()
    return float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]


def warm_up_of(scenario: Mapping[str, Any]) -> str | None:
    """Return the warm-up of a normalized scenario; None if the scenario has no warm-up.

    Examples
    --------
    >>> warm_up_of({"warm_up": "5 s"}), warm_up_of({"warm_up": "0 s"})
    ('5 s', None)
    """
    time: str = scenario.get("warm_up", "0 s")
    return time if seconds(time) else None


def warm_up_change(time: str | None) -> list[tuple[str, str]]:
    """Return the key and the value that set the warm-up of a scenario; empty for None.

    Examples
    --------
    >>> warm_up_change("5 s"), warm_up_change(None)
    ([('warm_up', '"5 s"')], [])
    """
    return [] if time is None else [("warm_up", toml_value(time))]


def bits_per_second(rate: str) -> float:
    """Parse a rate in a normalized scenario, and return the rate in bit/s.

    Examples
    --------
    >>> bits_per_second("1.5 Mbit/s")
    1500000.0
    """
    number, unit = rate.split()
    return float(number) * {"bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}[unit]


UNITS = {
    "s": ("1", "s"), "ms": ("1e-3", "s"), "us": ("1e-6", "s"), "ns": ("1e-9", "s"),
    "min": ("60", "s"), "h": ("3600", "s"),
    "bit/s": ("1", "bit/s"), "kbit/s": ("1e3", "bit/s"), "Mbit/s": ("1e6", "bit/s"),
    "Gbit/s": ("1e9", "bit/s"),
    "B": ("1", "B"), "byte": ("1", "B"), "bytes": ("1", "B"), "kB": ("1e3", "B"),
    "MB": ("1e6", "B"), "GB": ("1e9", "B"), "KiB": ("1024", "B"), "MiB": ("1048576", "B"),
    "GiB": ("1073741824", "B"),
    "packet": ("1", "packets"), "packets": ("1", "packets"),
    "segment": ("1", "segments"), "segments": ("1", "segments"),
}  # fmt: skip
"""Units of a scenario, each with its size in the base unit and with the base unit."""


def quantity(text: str) -> tuple[float, str] | None:
    """Parse a number with its unit, and return the number in the base unit, and the base unit.

    The base units are those in which results have their columns: s, bit/s, B, packets, segments.
    The result is None if the text is not a number with a unit of a scenario.

    Examples
    --------
    >>> quantity("5 ms"), quantity("1.5 Mbit/s"), quantity("16 packets"), quantity("red")
    ((0.005, 's'), (1500000.0, 'bit/s'), (16.0, 'packets'), None)
    """
    match = re.fullmatch(r"\s*([-+]?[\d._]+(?:[eE][-+]?\d+)?)\s*([A-Za-z/]+)\s*", text, re.ASCII)
    if not match or match[2] not in UNITS:
        return None
    size, base = UNITS[match[2]]
    try:
        return float(Decimal(match[1]) * Decimal(size)), base
    except ArithmeticError:  # not a number, or an exponent without bounds
        return None


def quantities(values: Sequence[Any]) -> tuple[list[float], str] | None:
    """Return values of one dimension as numbers with a common unit, and this unit.

    The common unit is the most frequent unit of the values. The result is None if a value is
    neither a number nor a text with a number and a unit, or if the values have different
    dimensions.

    Examples
    --------
    >>> quantities(["5 ms", "40 ms", "0.09 s"]), quantities([0.1, 0.2])
    (([5.0, 40.0, 90.0], 'ms'), ([0.1, 0.2], ''))
    >>> quantities(["drop_tail", "red"]), quantities(["16 packets", "2 ms"])
    (None, None)
    """
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return [float(value) for value in values], ""
    parsed = [quantity(str(value)) for value in values]
    if not values or None in parsed or len({base for _, base in filter(None, parsed)}) > 1:
        return None
    units = [str(value).lstrip("+-0123456789._eE").strip() for value in values]
    common = max(units, key=units.count)
    size = float(UNITS[common][0])
    return [float(f"{number / size:.12g}") for number, _ in filter(None, parsed)], common


def opens_many_connections(flow: Mapping[str, Any]) -> bool:
    """Return True if each flow of a ``[[flows]]`` table opens several connections.

    Examples
    --------
    >>> opens_many_connections({"traffic": {"kind": "web"}})
    True
    """
    return bool(flow.get("arrivals")) or flow["traffic"]["kind"] in ("web", "requests")


def as_written(scenario: ScenarioLike, aqms: CustomAqms | None = None) -> dict[str, Any]:
    """Check a scenario, and return it as the user wrote it, without default values.

    Some keys, such as a preset or a congestion control, determine default values of other keys. If
    a preset is changed in the returned scenario, the default values that the preset determines
    change too.

    Raises
    ------
    ScenarioError, OSError
        As :func:`normalize`.
    """
    if isinstance(scenario, str | PathLike):
        text, language = read_text(ready.located(scenario))
        try:
            text = _core.as_written(text, language)
        except ScenarioError as e:
            raise ScenarioError(f"{scenario}: {e}") from None
        document: dict[str, Any] = json.loads(text)
        return document
    normalize(scenario, aqms=aqms)
    return plain(scenario, aqms)  # type: ignore[no-any-return]


def toml_value(value: Any, aqms: CustomAqms | None = None) -> str:
    """Return a value in TOML syntax on one line; queues written in Python are stored in `aqms`.

    Examples
    --------
    >>> toml_value({"kind": "red", "maxp": 0.1, "gentle": False})
    '{"kind" = "red", "maxp" = 0.1, "gentle" = false}'
    """
    value = plain(value, aqms)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, str | bool | int | float):
        return json.dumps(value, ensure_ascii=False)
    raise ScenarioError(f"{value!r} is not a scenario value; give a text, a number or a dict")


def changed(scenario: ScenarioLike, overrides: Overrides) -> dict[str, Any]:
    """Return a scenario as the user wrote it, but with changed values of the given keys.

    Parameters
    ----------
    scenario : path, name, dict or Scenario
        The scenario.
    overrides : mapping or iterable of (str, value)
        Dotted paths and values, as for :func:`normalize`. The changed scenario is checked.

    Raises
    ------
    ScenarioError, OSError
        As :func:`normalize`.

    Examples
    --------
    >>> red = [("network.queue", "red"), ("network.queue.maxp", "0.2")]
    >>> changed("examples/two_flows.toml", red)["network"]["queue"]
    {'kind': 'red', 'maxp': 0.2}
    """
    changes = overrides_of(overrides)
    normalize(scenario, overrides=changes)
    document = as_written(scenario)
    for key, text in changes:
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text  # text without quotes
        document = _put(document, key.split("."), value)
    return document


def with_keys(table: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table of a scenario with changed values; `changes` has dotted paths and values.

    Examples
    --------
    >>> tcp = {"ecn": "rfc3168", "rto": {"min": "1 s"}}
    >>> with_keys(tcp, {"ecn.packets": "all-data", "rto.max": "9 s"})
    {'ecn': {'mode': 'rfc3168', 'packets': 'all-data'}, 'rto': {'min': '1 s', 'max': '9 s'}}
    """
    changed = dict(table)
    for path, value in changes.items():
        changed = _put(changed, path.split("."), value)
    return changed


def _put(node: Any, path: list[str], value: Any, name: str = "") -> Any:
    """Return a copy of a scenario part with `value` at `path`; `name` is the name of the part.

    A text in place of a table sets one key of this table: `kind`, or the shorthand key of the
    table.
    """
    text_key = manual.shorthands().get(name, "kind")
    if not path:
        is_key = text_key != "kind" and isinstance(value, str) and isinstance(node, Mapping)
        return {**node, text_key: value} if is_key else value
    head, *rest = path
    if isinstance(node, list):
        return [_put(one, rest, value) if i == int(head) else one for i, one in enumerate(node)]
    table = {text_key: node} if isinstance(node, str) else dict(node or {})
    return table | {head: _put(table.get(head), rest, value, head)}


def toml_document(document: Mapping[str, Any]) -> str:
    """Return a scenario as a TOML document.

    Examples
    --------
    >>> print(toml_document({"seed": 3, "tcp": {"ecn": "off"}, "flows": [{"to": "b"}]}))
    seed = 3
    <BLANKLINE>
    [tcp]
    ecn = "off"
    <BLANKLINE>
    [[flows]]
    to = "b"
    <BLANKLINE>
    """
    heads: list[str] = []
    parts: list[str] = []
    for key, value in document.items():
        several = value if isinstance(value, list) else [value]
        if not several or not all(isinstance(one, Mapping) for one in several):
            heads.append(f"{key} = {toml_value(value)}\n")
            continue
        name = f"[[{key}]]" if isinstance(value, list) else f"[{key}]"
        for one in several:
            lines = (f"{k} = {toml_value(v)}\n" for k, v in one.items())
            parts.append(f"{name}\n{''.join(lines)}")
    return "\n".join(filter(None, ["".join(heads), *parts]))
