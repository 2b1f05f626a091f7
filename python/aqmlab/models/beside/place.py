"""The link that a run is about: the busiest one that the scenario names, and what crosses it."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from aqmlab import _core
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
    result : Result
        The run.
    link : str
        The link, from>to.
    table : dict
        The table of the network that says what it is.
    reverse : bool
        Whether it is the way back of that table.
    """

    result: Result
    link: str
    table: dict[str, Any]
    reverse: bool

    @classmethod
    def busiest(cls, result: Result) -> "Place":
        """Return the busiest link that the scenario names without counting (`{i}`).

        Raises
        ------
        NotHere
            If there is none.
        """
        network = result.scenario["network"]
        named = {}
        if network["kind"] == "dumbbell":
            named = {"left>right": (network, False), "right>left": (network, True)}
        for one in network.get("links", []):
            if one["count"] == 1 and "{" not in one["from"] + one["to"]:
                named[f"{one['from']}>{one['to']}"] = (one, False)
                if one["directions"] == "both":
                    named[f"{one['to']}>{one['from']}"] = (one, True)
        links = result.columns("links")
        busy = [
            (float(share), name)
            for name, share in zip(links["link"], links["utilization"], strict=True)
            if name in named
        ]
        if not busy:
            raise NotHere("no link of the network is named without {i}, so none is looked at")
        link = max(busy, key=lambda at: at[0])[1]
        return cls(result, link, *named[link])

    def key(self, name: str) -> Any:
        """Return what the link's table has under a key, or of the way back under reverse_…."""
        return self.table[f"reverse_{name}" if self.reverse else name]

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
        return bits_per_second(self.table["rate"])

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
        """Return what the table of links has for it."""
        links = self.result.columns("links")
        return float(links[column][links["link"].index(self.link)])

    def series(self, name: str) -> Columns:
        """Return the rows of a recorded series that are of this link.

        Raises
        ------
        NotHere
            If it was not recorded.
        """
        if name not in self.result.tables:
            raise NotHere(f'the run has no series "{name}"; record it, or let aqmlab model run it')
        columns = self.result.columns(name)
        here = np.array([link == self.link for link in columns["link"]])
        return {key: np.asarray(values)[here] for key, values in columns.items()}

    @property
    def mean_delay_s(self) -> float:
        """Mean wait in its queue, in s, of every packet."""
        found = self.series("delays")["mean_delay_s"]
        if not len(found):
            raise NotHere(f"the delays of {self.link} were not recorded")
        return float(found[0])

    def host_links(self) -> str:
        """Say by which links the hosts are connected, which space out what they send."""
        if self.table is self.result.scenario["network"]:
            return f"host links of {self.table['left_rate']} space nothing out"
        return "nothing before the link spaces it out"


def span_s(result: Result) -> float:
    """Return how long the run was, in s."""
    return float(result.manifest["simulated_s"])


def time(text: str) -> float:
    """Return a time of a normalized scenario in s."""
    return seconds(text)
