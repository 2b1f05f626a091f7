"""Link of a run for the comparison with models, and the traffic on this link.

All measurements exclude the warm-up (:class:`aqmlab.measures.MeasuredRun`).
"""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from aqmlab import _core
from aqmlab.measures import MeasuredRun
from aqmlab.models.comparison.row import NotApplicable
from aqmlab.results import Columns, Result
from aqmlab.scenario import bits_per_second, seconds

SIZES = {
    "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
}  # fmt: skip


def size(text: str) -> float:
    """Parse a size in a normalized scenario, and return the size in bytes.

    Examples
    --------
    >>> size("64 KiB")
    65536.0
    """
    number, unit = text.split()
    return float(number) * SIZES[unit]


def packets(text: str, packet: float) -> float:
    """Parse a queue length, and return the length in packets of `packet` bytes.

    Examples
    --------
    >>> packets("30 packets", 1500), packets("3000 B", 1500)
    (30.0, 2.0)
    """
    number, unit = text.split()
    return float(number) if unit.startswith("packet") else size(text) / packet


Flows = list[tuple[dict[str, Any], list[str]]]
"""``[[flows]]`` tables of the scenario, each with the names of its flows."""


@dataclass(frozen=True)
class Place:
    """Link of a run.

    Attributes
    ----------
    seen : MeasuredRun
        Measured run, without its warm-up.
    link : str
        Name of the link, such as left>right.
    table : dict
        Table of the scenario that defines the link.
    reverse : bool
        True if the link is the reverse direction of the link that `table` defines.
    """

    seen: MeasuredRun
    link: str
    table: dict[str, Any]
    reverse: bool

    @classmethod
    def busiest(cls, seen: MeasuredRun) -> "Place":
        """Return the busiest link; links whose name in the scenario contains `{i}` are excluded.

        Raises
        ------
        NotApplicable
            If all names of links contain `{i}`.
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
        links = [link for link in seen.result.columns("links")["link"] if link in named]
        if not links:
            raise NotApplicable("every name of a link contains {i}, so no link can be compared")
        link = max(links, key=lambda at: seen.link(at, "busy_s"))
        return cls(seen, link, *named[link])

    @property
    def result(self) -> Result:
        """The run."""
        return self.seen.result

    def key(self, name: str) -> Any:
        """Return the value of a key for this direction of the link."""
        return self.table["reverse"][name] if self.reverse else self.table[name]

    @property
    def queue(self) -> dict[str, Any]:
        """Table of the link's queue."""
        queue: dict[str, Any] = self.key("queue")
        return queue

    @property
    def bps(self) -> float:
        """Rate of the link, in bit/s.

        Raises
        ------
        NotApplicable
            If the rate changes during the run.
        """
        if self.key("rate_changes"):
            raise NotApplicable(f"the rate of {self.link} changes")
        return bits_per_second(self.key("rate") or self.table["rate"])

    @cached_property
    def _directions(self) -> tuple[Flows, Flows]:
        """Flow tables whose forward data crosses the link, and those whose reverse data does."""
        tables = self.result.scenario["flows"]
        directions = _core.crossing(json.dumps(self.result.scenario), [self.link])
        forward, reverse = (
            [(t, list(names)) for t, names in zip(tables, direction, strict=True) if names]
            for direction in directions
        )
        return forward, reverse

    @property
    def crossing(self) -> Flows:
        """Flow tables, each with the names of its flows whose forward data crosses the link.

        Raises
        ------
        NotApplicable
            If reverse data of any flow crosses the link.
        """
        forward, reverse = self._directions
        if reverse:
            raise NotApplicable(
                "the models need forward data only, but responses or other reverse data cross "
                f"{self.link}"
            )
        return forward

    @property
    def answering(self) -> Flows:
        """Flow tables, each with the names of its flows whose responses cross the link."""
        return self._directions[1]

    @property
    def any_forward(self) -> bool:
        """True if forward data of at least one flow crosses the link."""
        return bool(self._directions[0])

    def count(self, column: str) -> float:
        """Return the value of a column for this link in the table `links`."""
        return self.seen.link(self.link, column)

    @property
    def load(self) -> float:
        """Share of the time in which the link transmitted packets."""
        return self.count("busy_s") / max(self.seen.seconds, 1e-12)

    def recorded(self, name: str) -> Columns:
        """Return the columns of a recorded series.

        Raises
        ------
        NotApplicable
            If the series was not recorded.
        """
        self._needs(name)
        return self.result.columns(name)

    def _needs(self, name: str) -> None:
        if name not in self.result.tables:
            raise NotApplicable(
                f'the run did not record the series "{name}"; add it to record.series, or pass the '
                "scenario to aqmlab model"
            )

    @property
    def queue_packets(self) -> tuple[np.ndarray, np.ndarray]:
        """Sampling times in s, and sampled queue lengths in packets.

        Raises
        ------
        NotApplicable
            If the queue was not recorded.
        """
        columns = self.recorded("queue")
        here = np.array(columns["link"]) == self.link
        return np.asarray(columns["time_s"])[here], np.asarray(columns["queue_packets"])[here]

    @cached_property
    def waits(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct waiting times in the link's queue in s, and the number of packets with each.

        Raises
        ------
        NotApplicable
            If the waiting times were not recorded.
        """
        self._needs("waits")
        seconds, packets = self.seen.waits(self.link)
        return np.array(seconds), np.array(packets)

    def waits_over(self, long_s: float) -> float:
        """Return the share of packets that waited longer than `long_s` seconds."""
        seconds, packets = self.waits
        return float(packets[seconds > long_s].sum() / packets.sum())

    @property
    def mean_delay_s(self) -> float:
        """Mean waiting time of all packets in the link's queue, in s."""
        self._needs("delays")
        if self.link not in self.result.columns("delays")["link"]:
            raise NotApplicable(f"the delays of {self.link} were not recorded")
        return self.seen.delay(self.link, "mean_delay_s")

    def host_links(self) -> str:
        """Return a phrase that states if the links before the queue can space packets out."""
        if self.table is self.result.scenario["network"]:
            return f"host links of {self.table['left_rate']} do not space packets out"
        return "no earlier link spaces packets out"


def time(text: str) -> float:
    """Parse a time in a normalized scenario, and return the time in s."""
    return seconds(text)
