"""Laws of queues written in Python, for teaching and trials; docs/how-to/add-a-queue.md.

A law is asked about every packet that arrives at its queue and answers with a verdict; the shell of
the queue carries it out. It is called while the run goes on, so it costs: see docs/benchmark.md.
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
"""The kind of queue by which a scenario names a law written in Python."""


class CustomQueue:
    """A queue whose law is written in Python: derive from it and write `on_arrival`.

    Stands wherever a scenario in Python takes a queue. Each run has a deep copy of its own, as it
    was when the scenario was given to the run. Three methods more are called if they are there:

    - ``on_admitted(packet, at)``: the packet was let in, marked or not.
    - ``on_overflow(now_s)``: the packet was dropped because the buffer was full.
    - ``average()``: the average queue that the law works with, in packets, for the series "queue".

    An error in any of them ends the run: it is raised from there, with a note that says when, on
    which link and at which packet.

    Parameters
    ----------
    **buffer
        Keys of the buffer: limit, limit_counts, drop_from, mark_at, ecn; see `aqmlab explain
        drop_tail`.

    Attributes
    ----------
    place : Place
        Where the queue stands: link, rate_bps, limit_packets or limit_bytes, and ``uniform()``,
        the next random number in 0..1 of the queue's own stream. It is there once a run began.

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
        """Begin a run at a place; a law with state that depends on it overrides this."""
        self.place = place

    def on_arrival(self, packet: Packet, at: Arrival) -> Verdict:
        """Judge an arriving packet.

        Parameters
        ----------
        packet : Packet
            flow (number of its connection), size in bytes, ecn, dscp.
        at : Arrival
            now_s, packets and bytes that wait, idle_s (None while the link sends), delay_s.

        Returns
        -------
        Verdict
            PASS; signal(why), by which an ECN-capable packet is marked and another dropped; or
            drop(why). `why` is "early" or "threshold".
        """
        raise NotImplementedError(f"{type(self).__name__} has no on_arrival")


class Given(dict[str, Callable[[], CustomQueue]]):
    """What the scenarios of one batch name: for each law, what makes one for a run."""

    def __init__(self) -> None:
        super().__init__()
        self._known: list[tuple[CustomQueue, str]] = []
        self._threads: set[int] = set()

    def _copy(self, queue: CustomQueue) -> CustomQueue:
        """Return a copy for a run, on the thread of that run."""
        self._threads.add(threading.get_ident())
        try:
            return copy.deepcopy(queue)
        except TypeError as e:
            e.add_note(
                f"aqmlab: each run has a deep copy of its own of {type(queue).__name__}; "
                "make what cannot be copied when it is first used"
            )
            raise

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in laws that do not return."""
        for thread in self._threads:
            kind = ctypes.py_object(KeyboardInterrupt)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), kind)

    def table(self, queue: CustomQueue) -> dict[str, Any]:
        """Return the table that stands for a queue in a scenario; the same for the same object."""
        name = next((name for known, name in self._known if known is queue), None)
        if name is None:
            name = first = type(queue).__name__
            while name in self:
                name = f"{first}-{len(self) + 1}"
            self._known.append((queue, name))
            self[name] = partial(self._copy, queue)
        return {"kind": KIND, "law": name} | getattr(queue, "buffer", {})


def places(scenario: Mapping[str, Any]) -> dict[str, str]:
    """Return where the queue of each link stands in a scenario, by the link's name.

    Links that are written several at a time have no name here.
    """
    network = scenario["network"]
    if network["kind"] == "dumbbell":
        queue, reverse = "network.queue", "network.reverse.queue"
        return {"bottleneck": queue, "left>right": queue, "right>left": reverse}
    found = {}
    for i, link in enumerate(network["links"]):
        if link["count"] == 1:
            found[f"{link['from']}>{link['to']}"] = f"network.links.{i}.queue"
            if link["directions"] == "both":
                found[f"{link['to']}>{link['from']}"] = f"network.links.{i}.reverse.queue"
    return found


def at(scenario: Mapping[str, Any], place: str) -> Any:
    """Return what stands at a place of a scenario, a dotted path.

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
    """Return the keys of the buffer of the queue at a place of a scenario."""
    from aqmlab import manual

    keys = {p.name for p in manual.pages()["drop_tail"].parameters}
    return {key: value for key, value in at(scenario, place).items() if key in keys}


def put(
    scenario: Mapping[str, Any], queues: Mapping[str, CustomQueue], given: Given
) -> list[tuple[str, dict[str, Any]]]:
    """Return which keys of a scenario get which tables, so that links have these queues.

    Of the queue that was there the buffer stays, but for the keys that the new one has.

    Raises
    ------
    ScenarioError
        If a link is unknown or a queue is no :class:`CustomQueue`.
    """
    if not isinstance(queues, Mapping):
        raise ScenarioError(
            f"queues = {queues!r} must be a dict of links and queues, "
            'as in {"bottleneck": MyQueue()}'
        )
    known, changes = places(scenario), []
    for link, queue in queues.items():
        if link not in known:
            raise ScenarioError(f"queues: {link!r} is no link; there are: {', '.join(known)}")
        if not isinstance(queue, CustomQueue):
            raise ScenarioError(
                f"queues: {link!r} has {queue!r}; give an object of a class derived from "
                "aqmlab.CustomQueue, e.g. MyQueue()"
            )
        buffer = buffer_of(scenario, known[link])
        changes.append((known[link], buffer | given.table(queue)))
    return changes
