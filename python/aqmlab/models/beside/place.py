"""The link that a run is about: the busiest one that the scenario names, and what crosses it.

What is measured is from the end of the warm-up on (:class:`aqmlab.measures.Seen`).
"""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from aqmlab import _core
from aqmlab.measures import Seen
from aqmlab.models.beside.row import NotHere
from aqmlab.results import Columns, Result
from aqmlab.scenario import bits_per_second, seconds

SIZES = {
    "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
}  # fmt: skip


def size(text: str) -> float:
    """Return a size in bytes.

    Examples
    --------
    >>> size("64 KiB")
    65536.0
    """
    number, unit = text.split()
    return float(number) * SIZES[unit]


def packets(text: str, packet: float) -> float:
    """Return a depth in packets of so many bytes.

    Examples
    --------
    >>> packets("30 packets", 1500), packets("3000 B", 1500)
    (30.0, 2.0)
    """
    number, unit = text.split()
    return float(number) if unit.startswith("packet") else size(text) / packet


Flows = list[tuple[dict[str, Any], list[str]]]
"""Tables of flows, each with names of its flows."""


@dataclass(frozen=True)
class Place:
    """A link in a run.

    Attributes
    ----------
    seen : Seen
        The run after its warm-up.
    link : str
        The link, from>to.
    table : dict
        The table of the network that says what it is.
    reverse : bool
        Whether it is the way back of that table.
    """

    seen: Seen
    link: str
    table: dict[str, Any]
    reverse: bool

    @classmethod
    def busiest(cls, seen: Seen) -> "Place":
        """Return the busiest link that the scenario names without counting (`{i}`).

        Raises
        ------
        NotHere
            If there is none.
        """
        network = seen.result.scenario["network"]
        named = {}
        if network["kind"] == "dumbbell":
            named = {"left>right": (network, False), "right>left": (network, True)}
        for one in network.get("links", []):
            if one["count"] == 1 and "{" not in one["from"] + one["to"]:
                named[f"{one['from']}>{one['to']}"] = (one, False)
                if one["directions"] == "both":
                    named[f"{one['to']}>{one['from']}"] = (one, True)
        there = [link for link in seen.result.columns("links")["link"] if link in named]
        if not there:
            raise NotHere("no link of the network is named without {i}, so none is looked at")
        link = max(there, key=lambda at: seen.link(at, "busy_s"))
        return cls(seen, link, *named[link])

    @property
    def result(self) -> Result:
        """The run."""
        return self.seen.result

    def key(self, name: str) -> Any:
        """Return a key of the link in its direction."""
        return self.table["reverse"][name] if self.reverse else self.table[name]

    @property
    def queue(self) -> dict[str, Any]:
        """The queue of the link."""
        queue: dict[str, Any] = self.key("queue")
        return queue

    @property
    def bps(self) -> float:
        """Its rate in bit/s.

        Raises
        ------
        NotHere
            If it changes.
        """
        if self.key("rate_changes"):
            raise NotHere(f"the rate of {self.link} changes")
        return bits_per_second(self.key("rate") or self.table["rate"])

    @cached_property
    def _ways(self) -> tuple[Flows, Flows]:
        """The tables of flows whose data crosses it, there and back, with those flows' names."""
        tables = self.result.scenario["flows"]
        ways = _core.crossing(json.dumps(self.result.scenario), [self.link])
        there, back = (
            [(t, list(names)) for t, names in zip(tables, way, strict=True) if names]
            for way in ways
        )
        return there, back

    @property
    def crossing(self) -> Flows:
        """The tables of flows whose data crosses it, each with the names of those flows.

        Raises
        ------
        NotHere
            If data comes back over it too.
        """
        there, back = self._ways
        if back:
            raise NotHere(f"data comes back over {self.link} to who asked for it")
        return there

    @property
    def answering(self) -> Flows:
        """The tables of flows whose responses cross it, with their names."""
        return self._ways[1]

    @property
    def any_there(self) -> bool:
        """Whether data of others than responses crosses it."""
        return bool(self._ways[0])

    def count(self, column: str) -> float:
        """Return what the table of links has counted for it."""
        return self.seen.link(self.link, column)

    @property
    def load(self) -> float:
        """The share of the time in which it was sending."""
        return self.count("busy_s") / max(self.seen.seconds, 1e-12)

    def recorded(self, name: str) -> Columns:
        """Return the rows of a recorded series.

        Raises
        ------
        NotHere
            If it was not recorded.
        """
        self._needs(name)
        return self.result.columns(name)

    def _needs(self, name: str) -> None:
        if name not in self.result.tables:
            raise NotHere(f'the run has no series "{name}"; record it, or let aqmlab model run it')

    @property
    def queue_packets(self) -> tuple[np.ndarray, np.ndarray]:
        """When it was sampled, in s, and what waited.

        Raises
        ------
        NotHere
            If that was not recorded.
        """
        columns = self.recorded("queue")
        here = np.array(columns["link"]) == self.link
        return np.asarray(columns["time_s"])[here], np.asarray(columns["queue_packets"])[here]

    @cached_property
    def waits(self) -> tuple[np.ndarray, np.ndarray]:
        """The waits in its queue, in s, and how many packets had each.

        Raises
        ------
        NotHere
            If they were not recorded.
        """
        self._needs("waits")
        seconds, packets = self.seen.waits(self.link)
        return np.array(seconds), np.array(packets)

    def waits_over(self, long_s: float) -> float:
        """Return the share of packets that waited longer."""
        seconds, packets = self.waits
        return float(packets[seconds > long_s].sum() / packets.sum())

    @property
    def mean_delay_s(self) -> float:
        """Mean wait in its queue, in s, of every packet."""
        self._needs("delays")
        if self.link not in self.result.columns("delays")["link"]:
            raise NotHere(f"the delays of {self.link} were not recorded")
        return self.seen.delay(self.link, "mean_delay_s")

    def host_links(self) -> str:
        """Say by which links the hosts are connected, which space out what they send."""
        if self.table is self.result.scenario["network"]:
            return f"host links of {self.table['left_rate']} space nothing out"
        return "nothing before the link spaces it out"


def time(text: str) -> float:
    """Return a time of a normalized scenario in s."""
    return seconds(text)
