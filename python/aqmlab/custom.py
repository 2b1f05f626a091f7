"""AQMs written in Python, for teaching and experiments; see docs/how-to/add-a-queue.md.

The queue discipline calls the AQM for each arriving packet, and the AQM decides to pass, mark or
drop the packet. A call of an AQM in Python takes much longer than a call of an AQM in Rust;
docs/benchmark.md has measurements.
"""

import copy
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from aqmlab import interrupts
from aqmlab._core import PASS, Arrival, Packet, Place, ScenarioError, Verdict, drop, signal

__all__ = ["PASS", "Arrival", "CustomQueue", "Packet", "Place", "Verdict", "drop", "signal"]

KIND = "custom"
"""Kind of queue in a scenario that refers to an AQM written in Python."""


class CustomQueue:
    """Base class of an AQM written in Python; a subclass implements `on_arrival`.

    In a scenario that is defined in Python, an object of the subclass can replace any queue. Each
    run uses its own deep copy of the object. A subclass can implement three optional methods:

    - ``on_admitted(packet, at)``: called after a packet has been enqueued, with or without a mark.
    - ``on_overflow(now_s)``: called after the queue has dropped a packet because its buffer was
      full.
    - ``average()``: returns the AQM's average queue length in packets, which the series "queue"
      records.

    An exception in a method of the AQM ends the run. The exception has a note that states the time,
    the link and the packet.

    Parameters
    ----------
    **buffer
        Keys of the queue's buffer: limit, limit_counts, drop_from, mark_at, ecn. `aqmlab explain
        drop_tail` describes these keys.

    Attributes
    ----------
    place : Place
        Environment of the queue: link, rate_bps, limit_packets or limit_bytes, and ``uniform()``,
        which returns a random number in 0..1 from a stream of this queue. The attribute exists only
        during a run.

    Examples
    --------
    >>> import aqmlab
    >>> class Step(aqmlab.CustomQueue):
    ...     def on_arrival(self, packet, at):
    ...         return aqmlab.signal("threshold") if at.packets > 5 else aqmlab.PASS
    >>> result = aqmlab.run("examples/one_flow.toml", queues={"bottleneck": Step()})
    >>> int(result.links["dropped_threshold"].sum()) > 0
    True
    """

    place: Place

    def __init__(self, **buffer: Any) -> None:
        self.buffer = buffer

    def begin(self, place: Place) -> None:
        """Start a run; a subclass can override this method to initialize its state."""
        self.place = place

    def on_arrival(self, packet: Packet, at: Arrival) -> Verdict:
        """Decide to pass, mark or drop an arriving packet.

        Parameters
        ----------
        packet : Packet
            Attributes of the packet: flow (number of the connection), size in bytes, ecn and dscp.
        at : Arrival
            State of the queue: now_s, packets and bytes in the queue, idle_s (None while the link
            sends), and delay_s.

        Returns
        -------
        Verdict
            PASS, signal(why) or drop(why). A signal marks an ECN-capable packet and drops any other
            packet. `why` is "early" or "threshold". The keyword arguments rule, source and any
            variables, as in signal("early", rule="random", p=0.1), are the reason that the series
            "why" records.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement on_arrival")


_FILES: set[str] = set()
"""Paths of the files from which AQMs were loaded."""


def from_file(file: Path, name: str) -> CustomQueue:
    """Execute a Python file, and return an object of one of its classes.

    Parameters
    ----------
    file : Path
        Path of the file. Its folder is in ``sys.path`` while the file is executed.
    name : str
        Name of a class derived from :class:`CustomQueue`, whose parameters all have defaults.

    Raises
    ------
    ValueError
        If the file cannot be executed, has no such class, or if the class needs arguments.
    OSError
        If the file cannot be read.
    """
    if file.exists() and not file.is_file():
        raise ValueError(f"{file}: is not a file; give the path of a Python file")
    source = file.read_bytes()
    try:
        code = compile(source, str(file), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as e:
        line = f"line {e.lineno}: " if isinstance(e, SyntaxError) and e.lineno else ""
        problem = e.msg if isinstance(e, SyntaxError) else e
        raise ValueError(f"{file}: {line}{problem}; write valid Python") from None
    module = ModuleType(f"aqmlab_queue_{len(_FILES)}_{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # dataclasses looks up the module of a class
    _FILES.add(str(file))
    folder = str(file.resolve().parent)
    sys.path.insert(0, folder)
    try:
        with reported():
            exec(code, vars(module))
            kind = vars(module).get(name)
            if not (isinstance(kind, type) and issubclass(kind, CustomQueue)):
                problem = "is not derived from aqmlab.CustomQueue" if kind else "does not exist"
                known = [key for key, value in vars(module).items() if _is_queue(value)]
                remedy = f"known: {', '.join(known)}" if known else "define it in the file"
                raise ValueError(f"{file}: class {name!r} {problem}; {remedy}")
            try:
                return kind()
            except TypeError as e:
                if e.__traceback__ and e.__traceback__.tb_next:  # raised inside __init__
                    raise
                raise ValueError(
                    f"{file}: {e}; give each parameter of {name} a default value"
                ) from None
    finally:
        with suppress(ValueError):  # the file may change sys.path
            sys.path.remove(folder)


def _is_queue(value: Any) -> bool:
    is_class = isinstance(value, type) and issubclass(value, CustomQueue)
    return is_class and value is not CustomQueue


@contextmanager
def reported() -> Iterator[None]:
    """Replace an exception of an AQM that was loaded from a file by a ValueError with its line."""
    try:
        yield
    except (Exception, SystemExit) as e:
        frames = traceback.extract_tb(e.__traceback__)
        lines = [f"{f.filename}: line {f.lineno}" for f in frames if f.filename in _FILES]
        notes = getattr(e, "__notes__", [])
        if not lines and not notes:
            raise
        problem = f"{type(e).__name__}: {e}" if str(e) else type(e).__name__
        raise ValueError("; ".join([": ".join([*lines[-1:], problem]), *notes])) from e


class CustomAqms(dict[str, Callable[[], CustomQueue]]):
    """Python AQMs of a batch of scenarios: a function per AQM that copies the AQM for a run."""

    def __init__(self) -> None:
        super().__init__()
        self._known: list[tuple[CustomQueue, str]] = []
        self._threads: set[int] = set()

    def _copy(self, queue: CustomQueue) -> CustomQueue:
        """Return a copy of an AQM for one run; the thread of the run calls this function."""
        self._threads.add(threading.get_ident())
        try:
            return copy.deepcopy(queue)
        except TypeError as e:
            e.add_note(
                f"aqmlab: each run needs a deep copy of {type(queue).__name__}; an attribute that "
                "cannot be copied must be created on its first use, not in __init__"
            )
            raise

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in every thread that executes an AQM."""
        interrupts.interrupt(self._threads)

    def table(self, queue: CustomQueue) -> dict[str, Any]:
        """Return the scenario table of an AQM; several calls for one AQM return equal tables."""
        name = next((name for known, name in self._known if known is queue), None)
        if name is None:
            name = class_name = type(queue).__name__
            while name in self:
                name = f"{class_name}-{len(self) + 1}"
            self._known.append((queue, name))
            self[name] = partial(self._copy, queue)
        return {"kind": KIND, "aqm": name} | getattr(queue, "buffer", {})


def places(scenario: Mapping[str, Any]) -> dict[str, str]:
    """Return the dotted path of each link's queue in a scenario, by the link's name.

    The result excludes links of a table with a `count` above 1, because such a table describes
    several links.
    """
    network = scenario["network"]
    if network["kind"] == "dumbbell":
        queue, reverse = "network.queue", "network.reverse.queue"
        return {"bottleneck": queue, "left>right": queue, "right>left": reverse}
    paths = {}
    for i, link in enumerate(network["links"]):
        if link["count"] == 1:
            paths[f"{link['from']}>{link['to']}"] = f"network.links.{i}.queue"
            if link["directions"] == "both":
                paths[f"{link['to']}>{link['from']}"] = f"network.links.{i}.reverse.queue"
    return paths


def at(scenario: Mapping[str, Any], place: str) -> Any:
    """Return the value at a dotted path of a scenario.

    Examples
    --------
    >>> at({"flows": [{"to": "a"}]}, "flows.0.to")
    'a'
    """
    node: Any = scenario
    for part in place.split("."):
        node = node[int(part)] if isinstance(node, list) else node[part]
    return node


def buffer_of(scenario: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return the buffer keys of the queue at a path of a scenario."""
    from aqmlab import manual

    keys = {p.name for p in manual.pages()["drop_tail"].parameters}
    return {key: value for key, value in at(scenario, place).items() if key in keys}


def put(
    scenario: Mapping[str, Any], queues: Mapping[str, CustomQueue], aqms: CustomAqms
) -> list[tuple[str, dict[str, Any]]]:
    """Return the dotted path and the new table of the queue of each link in `queues`.

    If a new queue does not set a buffer key, the value of the replaced queue is used.

    Raises
    ------
    ScenarioError
        If a link is unknown or a queue is not a :class:`CustomQueue`.
    """
    if not isinstance(queues, Mapping):
        raise ScenarioError(
            f"queues = {queues!r} is not a dict; give a dict of links and queues, "
            'as in {"bottleneck": MyQueue()}'
        )
    known, changes = places(scenario), []
    for link, queue in queues.items():
        if link not in known:
            raise ScenarioError(f"queues: {link!r} is not a link; give one of {', '.join(known)}")
        if not isinstance(queue, CustomQueue):
            raise ScenarioError(
                f"queues: {link!r} has {queue!r}; give an object of a class derived from "
                "aqmlab.CustomQueue, e.g. MyQueue()"
            )
        buffer = buffer_of(scenario, known[link])
        changes.append((known[link], buffer | aqms.table(queue)))
    return changes
