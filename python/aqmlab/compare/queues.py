"""The queues of a comparison, and how the command line writes them.

A queue is written as its kind, and after a colon the keys that differ from their defaults:
``red:minth=5 packets,maxth=15 packets``. A name may stand before it: ``gentle=red:maxp=0.05``. A
value is what ``--set`` takes: TOML's syntax, or plain text. So there is one pair of quotes where a
table of TOML would need two, one in the other; a comma in brackets, braces or quotes separates
nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from aqmlab import manual
from aqmlab.custom import KIND, CustomQueue
from aqmlab.scenario import Table, plain
from aqmlab.words import steers, visible


@dataclass(frozen=True)
class Arm:
    """A queue of a comparison: its label, and what takes the place of the scenario's queue.

    `queue` is how it was written, without its name. `changes` are keys and values under that queue,
    in the syntax of `--set`; `law` is a law written in Python instead.
    """

    label: str
    changes: tuple[tuple[str, str], ...] = ()
    law: CustomQueue | None = None
    queue: str = ""


def arm(queue: "str | Table | dict[str, Any] | CustomQueue") -> Arm:
    """Read a queue of a comparison.

    Parameters
    ----------
    queue : str, table or CustomQueue
        As on the command line, as in a scenario, or written in Python.

    Raises
    ------
    ValueError
        If the kind is unknown or a key has no value; names it and what is near.

    Examples
    --------
    >>> arm("red:minth=5 packets,maxth=15 packets").changes
    (('kind', 'red'), ('minth', '5 packets'), ('maxth', '15 packets'))
    >>> arm("gentle=red:maxp=0.05").label
    'gentle'
    >>> arm("codle")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    ValueError: 'codle' is no kind of queue; did you mean codel or …
    """
    if isinstance(queue, CustomQueue):
        return Arm(type(queue).__name__, law=queue, queue=type(queue).__name__)
    if not isinstance(queue, str):
        from aqmlab.scenario import toml_value

        if not isinstance(queue, Table | Mapping):
            raise ValueError(
                f"{queue!r} is no queue; give a text such as 'red', a table, or an object such as "
                "aqmlab.Red() or MyQueue()"
            )
        table = plain(queue)
        if "kind" not in table:
            raise ValueError(f"{table!r} is no queue: it has no kind; add for example kind='red'")
        kind = table.pop("kind")
        pairs = [(key, toml_value(value)) for key, value in table.items()]
        label = ", ".join([str(kind), *(f"{key}={value}" for key, value in table.items())])
        return Arm(label, (("kind", _known(str(kind))), *pairs), queue=label)
    name, text = _named(queue.strip())
    kind, _, keys = text.partition(":")
    changes = [_pair(text, part) for part in _split(keys)] if keys.strip() else []
    return Arm(name or text, (("kind", _known(kind.strip())), *changes), queue=text)


def _named(text: str) -> tuple[str, str]:
    """Return the name before a queue, empty if there is none, and the queue.

    Examples
    --------
    >>> _named("a=red:maxp=0.1"), _named("red:maxp=0.1")
    (('a', 'red:maxp=0.1'), ('', 'red:maxp=0.1'))
    """
    before, equals, queue = text.partition("=")
    if not equals or ":" in before:
        return "", text
    if not before.strip() or not queue.strip():
        raise ValueError(f"{text!r} must be NAME=QUEUE, as in 'gentle=red:maxp=0.05'")
    return before.strip(), queue.strip()


def _known(kind: str) -> str:
    """Refuse what is no kind of queue."""
    kinds = [page.name for page in manual.in_category("queues") if page.has_kind]
    kinds.remove(KIND)
    if kind not in kinds:
        near = get_close_matches(kind, kinds, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise ValueError(f"{kind!r} is no kind of queue; {hint}`aqmlab list queues` lists them")
    return kind


def _pair(queue: str, text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise ValueError(
            f"{queue!r}: {text.strip()!r} must be KEY=VALUE, "
            "as in 'red:minth=5 packets,maxth=15 packets'"
        )
    return key.strip(), value.strip()


def _split(text: str) -> list[str]:
    """Split at the commas outside brackets, braces and quotes.

    Examples
    --------
    >>> _split('a=[1, 2],b="x,y",c={ d = 1, e = 2 }')
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
    """Read the queues of a comparison; each has a label of its own, that of a mapping its key.

    Raises
    ------
    ValueError
        If there is none, or one twice.
    """
    if isinstance(queues, str) or not isinstance(queues, Sequence | Mapping):
        raise ValueError(f"queues = {queues!r} must be a list or a mapping, as in ['red', 'codel']")
    if isinstance(queues, Mapping):
        read = [replace(arm(queue), label=name) for name, queue in queues.items()]
    else:
        read = [arm(queue) for queue in queues]
    if not read:
        raise ValueError("there is nothing to compare; name queues, e.g. drop_tail red codel")
    labels = [one.label for one in read]
    for label in labels:
        if steers(label):
            raise ValueError(
                f"the name {visible(label)!r} has control characters in it; leave them away"
            )
        if labels.count(label) > 1:
            raise ValueError(
                f"{label!r} is there twice; give each a name of its own, as in "
                "'gentle=red:maxp=0.05'"
            )
    return read
