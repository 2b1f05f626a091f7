"""Translation of a queue between tc and aqmlab, in both directions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from aqmlab.scenario import toml_value
from aqmlab.tc import form
from aqmlab.tc.classful import CLASSFUL
from aqmlab.tc.line import Command, commands
from aqmlab.tc.qdisc import Attached, Given, Qdisc, Queue
from aqmlab.tc.red_family import CHOKE, REDS, Red
from aqmlab.tc.simple import SIMPLE
from aqmlab.tc.units import NotInTcError

QDISCS: tuple[Qdisc, ...] = (*SIMPLE, *REDS, CHOKE, *CLASSFUL)
NAMES = sorted({qdisc.name for qdisc in QDISCS})
"""Names of the queue disciplines that tc and aqmlab have."""
KINDS = sorted({qdisc.kind for qdisc in QDISCS})
"""Kinds of queues that have a queue discipline of tc."""
OTHERS = {
    "gred": "gred: filters select its virtual queues; use aqmlab's wred",
    "drr": "drr: filters select its classes; use aqmlab's drr",
    "qfq": "qfq: filters select its classes; use aqmlab's wfq or scfq",
    "hfsc": "hfsc: aqmlab has no service curves; use aqmlab's htb",
    "cbq": "cbq: Linux removed it in version 6.3; use aqmlab's cbq",
    "fq": "fq: aqmlab's queues do not pace packets; use sfq or fq_codel",
    "netem": "netem: aqmlab describes delay and loss as properties and impairments of a link",
    "hhf": "hhf: aqmlab has no heavy-hitter filter",
    "mq": "mq: aqmlab's links have one transmitter",
}
"""Reasons why aqmlab does not read some other queue disciplines."""


@dataclass(frozen=True)
class Translation:
    """Queue in the forms of tc and of aqmlab.

    Attributes
    ----------
    commands : tuple of str
        Lines of tc: the given lines, or the commands that set up the queue on the device DEV.
    queue : dict
        Table of the queue, with all default values.
    kernel : dict
        Parameters that tc computes from its options and passes to the kernel, such as Wlog.
    notes : tuple of str
        Remarks: defaults that tc or the kernel chose, and options and keys without an equivalent.
    differences : tuple of str
        Remaining differences between Linux's queue and aqmlab's, for all options.
    """

    commands: tuple[str, ...]
    queue: dict[str, Any]
    kernel: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()

    @cached_property
    def table(self) -> dict[str, Any]:
        """Table of the queue without the keys that have their default value."""
        return form.shortest(self.queue)

    @property
    def text(self) -> str:
        """Queue in the syntax of `aqmlab compare`."""
        return form.text(self.table)

    @property
    def toml(self) -> str:
        """Queue as the TOML table of the bottleneck of a dumbbell."""
        return form.toml(self.table)

    def as_dict(self) -> dict[str, Any]:
        """Return all forms as a dict of texts, numbers and lists, for JSON."""
        return {
            "tc": list(self.commands), "text": self.text, "queue": self.table, "toml": self.toml,
            "kernel": self.kernel, "notes": list(self.notes),
            "differences": list(self.differences),
        }  # fmt: skip


def read(text: str) -> Translation:
    """Translate a line of tc to a queue of aqmlab.

    Parameters
    ----------
    text : str
        Options of a queue discipline, such as "codel limit 1000 ecn", or whole commands that begin
        with ``tc qdisc add`` or ``tc class add``, on separate lines or separated by semicolons.
        Numbers and units are those of tc: sizes in bytes, times in us, and rates in bit/s.

    Raises
    ------
    LineError
        If tc or the kernel would refuse the line, or if aqmlab cannot represent it. The message
        shows the line with a caret below the wrong word.

    Examples
    --------
    >>> read("codel limit 500 target 10ms").text
    'codel:target=10 ms,limit=500 packets,ecn=drop'
    >>> red = read("red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn bandwidth 10Mbit")
    >>> red.text
    'tc_red:min=30000 B,max=90000 B,burst=55 packets,limit=400000 B,ecn=mark'
    >>> red.kernel
    {'Wlog': 5, 'Plog': 22, 'Scell_log': 15}
    """
    root = commands(text)
    notes: list[str] = []
    remaining: list[str] = []
    kernel: dict[str, Any] = {}

    def build(command: Command) -> Queue:
        qdisc, given = _parsed(command)
        queue = _queue(qdisc, given, build)
        notes.extend(given.notes)
        remaining.extend(qdisc.differences)
        kernel.update(given.kernel)
        return queue

    queue = form.normal(build(root))
    return Translation(_lines(text), queue, kernel, _once(notes), _once(remaining))


def _once(texts: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _lines(text: str) -> tuple[str, ...]:
    parts = (part.strip() for line in text.split("\n") for part in line.split(";"))
    return tuple(part for part in parts if part)


def _parsed(command: Command) -> tuple[Qdisc, Given]:
    """Return the queue discipline of a command and its options."""
    name = command.kind.text
    if command.is_class:
        raise command.kind.error("a class needs the command of its queue discipline before it")
    if name in OTHERS:
        raise command.kind.error(OTHERS[name])
    known = [qdisc for qdisc in QDISCS if qdisc.name == name]
    if not known:
        near = get_close_matches(name, NAMES, n=2, cutoff=0.6)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(NAMES)}"
        raise command.kind.error(f"{name!r} is not a queue discipline that aqmlab has; {hint}")
    given = known[0].parse(command)
    if isinstance(known[0], Red):
        known = [qdisc for qdisc in known if qdisc.kind == Red.kind_of(given)]
    return known[0], given


def _queue(qdisc: Qdisc, given: Given, build: Any) -> Queue:
    """Return the queue of a command with those attached to it, after a check of its values."""
    attached = Attached(given.command.attached, build)
    queue = qdisc.read(given, attached)
    attached.check_used(qdisc.name)
    try:
        form.normal(queue)
    except ValueError as e:
        problem = str(e).removeprefix("queue.")
        key = problem.partition(":")[0]
        name = given.option_of(key)
        raise given.error(problem if name in ("", key) else f"{name}: {problem}", name) from None
    return queue


def write(queue: Mapping[str, Any], changes: Sequence[tuple[str, str]] = ()) -> Translation:
    """Translate a queue of aqmlab to commands of tc.

    Parameters
    ----------
    queue : dict
        Table of a queue, as in a scenario.
    changes : sequence of (str, str)
        Keys and values that replace those of the table, in the syntax of `--set`.

    Raises
    ------
    ScenarioError
        If the queue is invalid.
    ValueError
        If tc has no queue discipline for the queue.

    Examples
    --------
    >>> write({"kind": "codel", "target": "10 ms", "limit": "500 packets"}).commands
    ('tc qdisc add dev DEV root codel limit 500 target 10ms ecn',)
    >>> write({"kind": "codel"}, [("mtu", "500 B")]).notes
    ('mtu=500 B: the commands stand for 1500 B',)
    """
    table = form.normal(queue, changes)
    done = _Done()
    again = form.normal(_written(table, "root", done))
    unused = _qdisc_of(table).unused
    for path, old, new in form.differences(table, again):
        if old is not None and path not in unused:
            stands = "have no such value" if new is None else f"stand for {_shown(new)}"
            done.notes.append(f"{path}={_shown(old)}: the commands {stands}")
    return Translation(
        tuple(done.lines), table, {}, _once(done.notes), _once(done.differences)
    )  # fmt: skip


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else toml_value(value)


@dataclass
class _Done:
    """Commands that are written, and the next handle."""

    lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    handle: int = 0


def _qdisc_of(table: Queue) -> Qdisc:
    same = (qdisc for qdisc in QDISCS if qdisc.kind == table["kind"] and qdisc.accepts(table))
    qdisc = next(same, None)
    if qdisc is None:
        raise NotInTcError(
            f"{table['kind']}: tc has no such queue discipline; the kinds with one are "
            f"{', '.join(KINDS)}"
        )
    return qdisc


def _written(table: Queue, place: str, done: _Done) -> Queue:
    """Append the commands of a queue, and return the queue for which they stand.

    `place` is the position of the queue: root, or the parent and its class.
    """
    qdisc = _qdisc_of(table)
    written = qdisc.write(table)
    done.notes += written.notes
    done.differences += qdisc.differences
    done.handle += 1 if written.children or written.classes else 0
    handle = done.handle
    name = f"handle {handle:x}: {qdisc.name}" if written.children or written.classes else qdisc.name
    line = " ".join([name, *written.words])
    done.lines.append(f"tc qdisc add dev DEV {place} {line}")
    below = [line]
    for parent, minor, options in written.classes:
        under = f"{handle:x}:{parent:x}" if parent else f"{handle:x}:"
        line = f"parent {under} classid {handle:x}:{minor:x} {qdisc.name} {options}"
        done.lines.append(f"tc class add dev DEV {line}")
        below.append(f"class add {line}")
    queues = {}
    for minor, child in written.children.items():
        under = f"parent {handle:x}:{minor:x}"
        queues[minor] = _written(child, under, done)
        below.append(f"{under} pfifo")  # stands for the child, whose queue is in `queues`

    def build(command: Command) -> Queue:
        return queues[command.parent_minor()]

    given = qdisc.parse(commands("\n".join(below)))
    return qdisc.read(given, Attached(given.command.attached, build))
