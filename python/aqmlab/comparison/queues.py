"""Queues of a comparison, and the syntax of a queue on the command line.

A queue is written as its kind, a colon, and the keys that differ from their defaults: ``red:minth=5
packets,maxth=15 packets``. A name may precede the kind: ``gentle=red:maxp=0.05``. The values of the
keys have the syntax of ``--set``, which is TOML or plain text. The only quotes that a queue needs
are those of the shell. A comma separates keys, except inside brackets, braces or quotes.

A queue can also be a line of Linux's tc, ``tc:red limit 400000 avpkt 1000``, or a class in a Python
file, ``my_queue.py:MyQueue``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from aqmlab import manual, tc
from aqmlab.custom import KIND, CustomQueue, from_file
from aqmlab.scenario import Table, plain, toml_value
from aqmlab.words import steers, visible

TC = "tc:"
"""Beginning of a queue that is a line of tc."""
FILE = re.compile(r"(?P<file>.+\.py)(?::(?P<name>.*))?", re.DOTALL)
"""Pattern of a queue that is a class in a Python file."""


@dataclass(frozen=True)
class Arm:
    """One queue of a comparison, which replaces the queue of the scenario.

    Attributes
    ----------
    label : str
        Name of the queue in tables and figures, different for each queue.
    changes : tuple of (str, str)
        Keys and values of the queue, in the syntax of `--set`. The key `kind` is always the first
        key.
    custom : CustomQueue, optional
        AQM written in Python; `changes` is then empty.
    queue : str
        Text of the queue as the user wrote it, without a name.
    notes : tuple of str
        Remarks about the translation of a line of tc.
    """

    label: str
    changes: tuple[tuple[str, str], ...] = ()
    custom: CustomQueue | None = None
    queue: str = ""
    notes: tuple[str, ...] = ()


def arm(queue: "str | Table | dict[str, Any] | CustomQueue") -> Arm:
    """Parse one queue of a comparison.

    Parameters
    ----------
    queue : str, table or CustomQueue
        Queue as text of the command line, as a table of a scenario, or as an AQM written in Python.

    Raises
    ------
    ValueError
        If the kind of queue is unknown, in which case the message suggests similar kinds, if a key
        has no value, if a line of tc is malformed (LineError), or if a Python file has no such
        class.

    Examples
    --------
    >>> arm("red:minth=5 packets,maxth=15 packets").changes
    (('kind', 'red'), ('minth', '5 packets'), ('maxth', '15 packets'))
    >>> arm("gentle=red:maxp=0.05").label
    'gentle'
    >>> dict(arm("tc:codel target 10ms").changes)["target"]
    '"10 ms"'
    >>> arm("codle")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    ValueError: 'codle' is not a kind of queue; did you mean codel or …
    """
    if isinstance(queue, CustomQueue):
        return Arm(type(queue).__name__, custom=queue, queue=type(queue).__name__)
    if not isinstance(queue, str):
        if not isinstance(queue, Table | Mapping):
            raise ValueError(
                f"{queue!r} is not a queue; give a text such as 'red', a table, or an object such "
                "as aqmlab.Red() or MyQueue()"
            )
        table = plain(queue)
        if "kind" not in table:
            raise ValueError(
                f"{table!r} is not a queue because it has no kind; add for example kind='red'"
            )
        kind = table.pop("kind")
        pairs = [(key, toml_value(value)) for key, value in table.items()]
        label = ", ".join([str(kind), *(f"{key}={value}" for key, value in table.items())])
        return Arm(label, (("kind", _checked_kind(str(kind))), *pairs), queue=label)
    name, text = _split_name(queue.strip())
    if text.startswith(TC):
        return _tc_arm(name, text)
    if match := FILE.fullmatch(text):
        return _file_arm(name, text, match)
    kind, _, keys = text.partition(":")
    changes = [_pair(text, part) for part in _split_keys(keys)] if keys.strip() else []
    return Arm(name or text, (("kind", _checked_kind(kind.strip())), *changes), queue=text)


def _tc_arm(name: str, text: str) -> Arm:
    """Return the queue for a line of tc, with all buffer keys, which it would inherit otherwise."""
    translated = tc.read(text.removeprefix(TC))
    buffer = (p.name for p in manual.pages()["drop_tail"].parameters)
    full = {key: translated.queue[key] for key in buffer if key in translated.queue}
    changes = [
        (key, toml_value(v)) for key, v in (full | translated.table).items() if key != "kind"
    ]
    kind = ("kind", str(translated.queue["kind"]))
    return Arm(name or text, (kind, *changes), queue=text, notes=translated.notes)


def _file_arm(name: str, text: str, match: re.Match[str]) -> Arm:
    """Return the queue for a class in a Python file."""
    file, wanted = Path(match["file"]), (match["name"] or "").strip()
    if not wanted:
        raise ValueError(f"{text!r} names no class; write FILE:CLASS, as in my_queue.py:MyQueue")
    return Arm(name or wanted, custom=from_file(file, wanted), queue=text)


def _split_name(text: str) -> tuple[str, str]:
    """Split ``NAME=QUEUE`` into name and queue; the name is empty if the text is only a queue.

    Examples
    --------
    >>> _split_name("a=red:maxp=0.1"), _split_name("red:maxp=0.1")
    (('a', 'red:maxp=0.1'), ('', 'red:maxp=0.1'))
    """
    name, equals, queue = text.partition("=")
    if not equals or ":" in name:
        return "", text
    if not name.strip() or not queue.strip():
        raise ValueError(
            f"{text!r} is incomplete; write the name and the queue as NAME=QUEUE, for example "
            "'gentle=red:maxp=0.05'"
        )
    return name.strip(), queue.strip()


def _checked_kind(kind: str) -> str:
    """Return the kind unchanged if it is a kind of queue; else raise ValueError."""
    kinds = [page.name for page in manual.in_category("queues") if page.has_kind]
    kinds.remove(KIND)
    if kind not in kinds:
        near = get_close_matches(kind, kinds, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise ValueError(f"{kind!r} is not a kind of queue; {hint}`aqmlab list queues` lists them")
    return kind


def _pair(queue: str, text: str) -> tuple[str, str]:
    """Split ``KEY=VALUE``, a part of the text of a queue, into key and value."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise ValueError(
            f"{queue!r}: {text.strip()!r} is not a key with a value; write KEY=VALUE, as in "
            "'red:minth=5 packets,maxth=15 packets'"
        )
    return key.strip(), value.strip()


def _split_keys(text: str) -> list[str]:
    """Split the keys of a queue at the commas outside brackets, braces and quotes.

    Examples
    --------
    >>> _split_keys('a=[1, 2],b="x,y",c={ d = 1, e = 2 }')
    ['a=[1, 2]', 'b="x,y"', 'c={ d = 1, e = 2 }']
    """
    parts, depth = [""], 0
    for token in re.findall(r'"[^"]*"|\'[^\']*\'|.', text, flags=re.DOTALL):
        depth += (token in "[{") - (token in "]}")
        if token == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return parts


def arms(queues: "Sequence[Any] | Mapping[str, Any]") -> list[Arm]:
    """Parse the queues of a comparison. In a mapping, each key is the label of its queue.

    Raises
    ------
    ValueError
        If the list is empty, or if two queues have the same label.
    """
    if isinstance(queues, str) or not isinstance(queues, Sequence | Mapping):
        raise ValueError(
            f"queues = {queues!r} is not a list; write the queues as a list or a mapping, for "
            "example ['red', 'codel']"
        )
    if isinstance(queues, Mapping):
        parsed = [replace(arm(queue), label=name) for name, queue in queues.items()]
    else:
        parsed = [arm(queue) for queue in queues]
    if not parsed:
        raise ValueError(
            "the list of queues is empty; name at least one queue, e.g. drop_tail red codel"
        )
    labels = [one.label for one in parsed]
    for label in labels:
        if steers(label):
            raise ValueError(
                f"the name {visible(label)!r} of a queue has control characters; remove them"
            )
        if labels.count(label) > 1:
            raise ValueError(
                f"the name {label!r} belongs to several queues; give each queue a different name, "
                "as in 'gentle=red:maxp=0.05'"
            )
    return parsed
