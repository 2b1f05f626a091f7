"""AQMs written in Python, for teaching and experiments; see docs/how-to/add-a-queue.md.

The queue discipline calls the AQM for each arriving packet and applies its verdict. The calls are
much slower than an AQM in Rust; docs/benchmark.md has measurements.
"""

import copy
import ctypes
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from aqmlab._core import PASS, Arrival, Packet, Place, ScenarioError, Verdict, drop, signal

__all__ = ["PASS", "Arrival", "CustomQueue", "Packet", "Place", "Verdict", "drop", "signal"]

KIND = "custom"
"""Kind of queue in a scenario that refers to an AQM written in Python."""


class CustomQueue:
    """Base class of an AQM written in Python; a subclass implements `on_arrival`.

    An object of the subclass can take the place of any queue of a scenario in Python. Each run uses
    a deep copy of the object, made from its state at the start of the run. A subclass can implement
    three optional methods:

    - ``on_admitted(packet, at)``: called after a packet was enqueued, marked or not.
    - ``on_overflow(now_s)``: called after a packet was dropped because the buffer was full.
    - ``average()``: returns the average queue of the AQM in packets, for the series "queue".

    An exception in a method of the AQM ends the run. The exception has a note that states the time,
    the link and the packet.

    Parameters
    ----------
    **buffer
        Keys of the buffer: limit, limit_counts, drop_from, mark_at, ecn. `aqmlab explain drop_tail`
        describes the keys of the buffer.

    Attributes
    ----------
    place : Place
        The queue's place in the network: link, rate_bps, limit_packets or limit_bytes, and
        ``uniform()``, the next random number in 0..1 from a stream of the queue. The attribute
        `place` exists from the start of a run.

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
        """Start a run at a place; a subclass can override the method to initialize its state."""
        self.place = place

    def on_arrival(self, packet: Packet, at: Arrival) -> Verdict:
        """Return the verdict on an arriving packet.

        Parameters
        ----------
        packet : Packet
            flow (number of its connection), size in bytes, ecn, dscp.
        at : Arrival
            now_s; packets and bytes in the queue; idle_s (None while the link sends); delay_s.

        Returns
        -------
        Verdict
            PASS; or signal(why), which marks an ECN-capable packet and drops any other; or
            drop(why). `why` is "early" or "threshold".
        """
        raise NotImplementedError(f"{type(self).__name__} must implement on_arrival")


class CustomAqms(dict[str, Callable[[], CustomQueue]]):
    """Python AQMs of a batch of scenarios: a function per AQM that copies the AQM for a run."""

    def __init__(self) -> None:
        super().__init__()
        self._known: list[tuple[CustomQueue, str]] = []
        self._threads: set[int] = set()

    def _copy(self, queue: CustomQueue) -> CustomQueue:
        """Return a copy of an AQM for a run; the run calls this function in its own thread."""
        self._threads.add(threading.get_ident())
        try:
            return copy.deepcopy(queue)
        except TypeError as e:
            e.add_note(
                f"aqmlab: each run needs a deep copy of {type(queue).__name__}; "
                "create attributes that cannot be copied on first use"
            )
            raise

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in AQMs that do not return."""
        for thread in self._threads:
            kind = ctypes.py_object(KeyboardInterrupt)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), kind)

    def table(self, queue: CustomQueue) -> dict[str, Any]:
        """Return the table that represents a queue in a scenario; one object has one table."""
        name = next((name for known, name in self._known if known is queue), None)
        if name is None:
            name = class_name = type(queue).__name__
            while name in self:
                name = f"{class_name}-{len(self) + 1}"
            self._known.append((queue, name))
            self[name] = partial(self._copy, queue)
        return {"kind": KIND, "aqm": name} | getattr(queue, "buffer", {})


def places(scenario: Mapping[str, Any]) -> dict[str, str]:
    """Return the path of each link's queue in a scenario, by the link's name.

    Links of a table with a count above 1 are not included.
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
    """Return the changes to a scenario that give links these queues, as paths and tables.

    A new queue inherits the buffer keys that it does not set from the queue that it replaces.

    Raises
    ------
    ScenarioError
        If a link is unknown or a queue is not a :class:`CustomQueue`.
    """
    if not isinstance(queues, Mapping):
        raise ScenarioError(
            f"queues = {queues!r} must be a dict of links and queues, "
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
