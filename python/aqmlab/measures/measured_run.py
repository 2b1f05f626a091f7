"""Access of the measures to a run: its links, and the flows that cross these links.

The tables of a run cover only the time after the warm-up, which the key `warm_up` of the scenario
sets.
"""

import json
import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from aqmlab import _core
from aqmlab.engine import Network
from aqmlab.results import NotMeasuredError, Result
from aqmlab.scenario import opens_many_connections, seconds

Sizes = tuple[float, float]
"""Lower bound (excluded) and upper bound (included) of a size, in bytes."""
SIZE_CLASSES: tuple[tuple[str, str, Sizes], ...] = (
    ("small", "up to 10 kB", (0.0, 1e4)),
    ("medium", "10 to 100 kB", (1e4, 1e5)),
    ("large", "above 100 kB", (1e5, math.inf)),
)
"""Classes of transfers and responses by size, after the evaluation of `alizadeh2010dctcp`: short
name, name and bounds. Data of at most 10 kB fits into the initial window of 10 segments
(`rfc6928`)."""

MOST_FLOWS = 1000
"""Maximum number of flows whose goodputs are shown over their round-trip times."""


@dataclass(frozen=True)
class CrossingFlows:
    """Those flows of one `[[flows]]` table whose data crosses the measured links.

    Attributes
    ----------
    name : str
        Name of the `[[flows]]` table, unique within the scenario.
    forward : frozenset of str
        Names of the flows whose data from the host `from` to the host `to` crosses the links.
    reverse : frozenset of str
        Names of the flows whose data from the host `to` to the host `from` crosses the links.
    transient : bool
        True if each flow opens several connections.
    finite : bool
        True if every transfer of the flows has a limited size.
    kind : str
        Kind of traffic, such as "bulk" or "voip".
    table : str
        Name of the `[[flows]]` table with its placeholders, as in result tables.
    sizes_vary : bool
        True if the size of a bulk transfer is sampled from a distribution.
    """

    name: str
    forward: frozenset[str]
    reverse: frozenset[str]
    transient: bool
    finite: bool
    kind: str = "bulk"
    table: str = ""
    sizes_vary: bool = False

    @property
    def flows(self) -> frozenset[str]:
        """Names of the flows whose data crosses the measured links in either direction."""
        return self.forward | self.reverse


def crossing_flows(
    scenario: dict[str, Any], text: str, links: Collection[str]
) -> list[CrossingFlows]:
    """Return the flows that cross at least one of the links, for each `[[flows]]` table.

    Parameters
    ----------
    scenario : dict
        Scenario with all default values.
    text : str
        The scenario of the parameter `scenario` as JSON.
    links : collection of str
        Names of the measured links.
    """
    crossing: list[CrossingFlows] = []
    directions = zip(*_core.crossing(text, list(links)), strict=True)
    for i, (table, (forward, reverse)) in enumerate(
        zip(scenario["flows"], directions, strict=True)
    ):
        if not forward and not reverse:
            continue
        name = re.sub(r"[-_. ]*\{[^}]*\}", "", table["name"]) or "flow"
        if name in [flows.name for flows in crossing]:
            name = f"{name} (flows.{i})"
        transient, traffic = opens_many_connections(table), table["traffic"]
        finite = transient or (traffic["kind"] == "bulk" and traffic["size"] is not None)
        crossing.append(
            CrossingFlows(
                name,
                frozenset(forward),
                frozenset(reverse),
                transient,
                finite,
                traffic["kind"],
                table["name"],
                traffic["kind"] == "bulk" and isinstance(traffic["size"], dict),
            )
        )
    return crossing


def single_bulk(crossing: list[CrossingFlows]) -> set[str]:
    """Return the names of the bulk flows that consist of one connection."""
    single = [flows for flows in crossing if flows.kind == "bulk" and not flows.transient]
    return {flow for flows in single for flow in flows.flows}


def round_trips(scenario: dict[str, Any], crossing: list[CrossingFlows]) -> dict[str, float]:
    """Return the round-trip time without queueing, in s, of each bulk flow of one connection.

    The round-trip time is the sum of the propagation delays in both directions, without random
    offsets. The result is empty if these flows have equal round-trip times, or if there are more
    than `MOST_FLOWS` of them.

    Parameters
    ----------
    scenario : dict
        Scenario with all default values.
    crossing : list of CrossingFlows
        Flows that the result includes.
    """
    names = single_bulk(crossing)
    if not 1 < len(names) <= MOST_FLOWS:
        return {}
    offsets = scenario["phase_breaking"] | {"delay": "0 s"}
    network = Network.of(json.dumps(scenario | {"phase_breaking": offsets}))
    delays = {link.name: link.delay_s for link in network.links}
    times = {
        flow.name: round(sum(delays[link] for link in (*flow.forward, *flow.reverse)), 9)
        for flow in network.flows
        if flow.name in names
    }
    return times if len(set(times.values())) > 1 else {}


def link_names(result: Result) -> list[str]:
    """Return the names of a run's links, from its table `links` or from its scenario."""
    if "links" in result.tables:
        return list(result.columns("links")["link"])
    return [link.name for link in Network.of(json.dumps(result.scenario)).links]


class MeasuredRun:
    """Run whose measures are computed; the measures exclude its warm-up.

    Parameters
    ----------
    result : Result
        Result of the run.
    crossing : list of CrossingFlows
        Flows that the measures include.
    """

    def __init__(self, result: Result, crossing: list[CrossingFlows]) -> None:
        self.result = result
        self.crossing = crossing
        self.end_s: float = result.manifest["simulated_s"]
        self.begin_s: float = seconds(result.scenario.get("warm_up", "0 s"))

    @classmethod
    def of_result(cls, result: Result) -> Self:
        """Return a run whose measures include every flow that crosses a link."""
        text = json.dumps(result.scenario)
        return cls(result, crossing_flows(result.scenario, text, link_names(result)))

    def at(self, link: str) -> "MeasuredRun":
        """Return the run with only the flows whose data crosses one of the measured links."""
        scenario = self.result.scenario
        return MeasuredRun(self.result, crossing_flows(scenario, json.dumps(scenario), [link]))

    @property
    def seconds(self) -> float:
        """Duration of the run after the warm-up, in s."""
        return self.end_s - self.begin_s

    def link(self, link: str, *columns: str) -> float:
        """Return the sum of columns of the table `links` for one link."""
        table = self.result.columns("links")
        row = table["link"].index(link)
        return sum(float(table[column][row]) for column in columns)

    def flows(self, column: str, flows: Collection[str]) -> dict[str, float]:
        """Return the values in a column of the table `flows` for the given flows."""
        table = self.result.columns("flows")
        rows = zip(table["flow"], table[column], strict=True)
        return {flow: float(value) for flow, value in rows if flow in flows}

    def waits(self, link: str) -> tuple[list[float], list[float]]:
        """Return the distinct queueing delays at a link in s, and the packets with each delay."""
        table = self.result.columns("waits")
        rows = zip(table["link"], table["wait_s"], table["packets"], strict=True)
        of_link = [(float(wait), float(packets)) for name, wait, packets in rows if name == link]
        return [wait for wait, _ in of_link], [packets for _, packets in of_link]

    def delay(self, link: str, column: str) -> float:
        """Return a column of the table `delays` for a link, in s; NaN if no packet left the queue.

        The run must record the link.
        """
        table = self.result.columns("delays")
        return float(table[column][table["link"].index(link)])

    def delay_of_flows(self, link: str, flows: CrossingFlows, column: str) -> float:
        """Return a column of the table `flow_delays` in s; NaN if no packet left the queue.

        The run must record the link.

        Raises
        ------
        NotMeasuredError
            If the engine did not fill the table.
        """
        table = self.result.columns("flow_delays")
        rows = zip(table["link"], table["flow"], table[column], strict=True)
        values = [float(x) for at, of, x in rows if (at, of) == (link, flows.table)]
        return values[0] if values else math.nan

    @cached_property
    def _tables(self) -> tuple[tuple[str, str, set[str]], ...]:
        """Tables with the delivered bytes of the flows that cross the measured links.

        Each entry consists of the name of a table, the name of the column of bytes, and the names
        of the flows.
        """
        forward = {flow for flows in self.crossing for flow in flows.forward}
        reverse = {flow for flows in self.crossing for flow in flows.reverse}
        tables = (("flows", "acked_bytes", forward), ("replies", "acked_bytes", reverse),
                  ("datagrams", "received_bytes", forward))  # fmt: skip
        for flows in self.crossing:
            self._check_measured(flows)
        return tuple(table for table in tables if table[0] in self.result.tables)

    def _check_measured(self, flows: CrossingFlows) -> None:
        """Raise NotMeasuredError if the engine measured the delivered bytes of no flow."""
        names = ("flows", "datagrams", *["replies"] * bool(flows.reverse))
        absent = [name for name in names if not self.result.measures(name)]
        present = [name for name in names if name in self.result.tables]
        columns = (self.result.columns(name)["flow"] for name in present)
        if absent and flows.flows.isdisjoint(flow for column in columns for flow in column):
            raise NotMeasuredError(
                f"{flows.name} is not measured: the engine did not fill {absent[0]}"
            )

    @cached_property
    def data(self) -> dict[str, float]:
        """Delivered bytes of each flow: acknowledged data, or data in received datagrams."""
        data = {flow: 0.0 for flows in self.crossing for flow in flows.flows}
        for name, column, flows in self._tables:
            table = self.result.columns(name)
            for flow, count in zip(table["flow"], table[column], strict=True):
                if flow in flows:
                    data[flow] += float(count)
        return data

    @cached_property
    def spans(self) -> dict[str, tuple[float, float]]:
        """Start and end of each flow after the warm-up, in s.

        The interval of a flow that did not complete ends at the end of the run.
        """
        spans: dict[str, tuple[float, float]] = {}
        for name, _, flows in self._tables:
            table = self.result.columns(name)
            never = [math.nan] * len(table["flow"])
            ends = never if name == "datagrams" else table["completed_s"]
            for flow, start, end in zip(table["flow"], table["start_s"], ends, strict=True):
                if flow in flows:
                    begin = max(float(start), self.begin_s)
                    until = self.end_s if math.isnan(end) else float(end)
                    first, last = spans.get(flow, (begin, until))
                    spans[flow] = min(first, begin), max(last, until)
        return spans

    def running_s(self, flows: Collection[str]) -> float:
        """Return the total time, in s, in which at least one of the given flows was active."""
        total, until = 0.0, -math.inf
        for begin, end in sorted(self.spans[flow] for flow in flows if flow in self.spans):
            total += max(0.0, end - max(begin, until))
            until = max(until, end)
        return total

    def goodput(self, flows: Collection[str]) -> float:
        """Return the delivered data of flows, divided by the time in which at least one was active.

        The goodput is in bit/s, and NaN if no flow was active. For a single flow, it equals
        `goodput_bps` of the table `flows`.
        """
        seconds = self.running_s(flows)
        return 8 * sum(self.data[flow] for flow in flows) / seconds if seconds else math.nan

    def goodputs(self) -> dict[str, float]:
        """Return the goodput in bit/s of each crossing bulk flow that consists of one connection.

        Flows of other kinds, such as pings, have less data to send, so their goodputs say nothing
        about fairness.
        """
        crossing = single_bulk(self.crossing)
        single = [flow for flow in self.result.columns("flows")["flow"] if flow in crossing]
        goodputs = {flow: self.goodput([flow]) for flow in single}
        return {flow: goodput for flow, goodput in goodputs.items() if not math.isnan(goodput)}

    def of_kind(self, table: str, column: str, flows: CrossingFlows) -> list[float]:
        """Return the values in a column of a table for the flows of one `[[flows]]` table.

        The table is `exchanges` or `datagrams`, which have only the flows with such traffic.

        Raises
        ------
        NotMeasuredError
            If the engine did not fill the table.
        """
        if table not in self.result.tables:
            if self.result.measures(table):
                return []
            raise NotMeasuredError(f"{flows.name} is not measured: the engine did not fill {table}")
        columns = self.result.columns(table)
        rows = zip(columns["flow"], columns[column], strict=True)
        return [float(value) for flow, value in rows if flow in flows.flows]

    def transfers(
        self, flows: CrossingFlows, sizes: Sizes | None = None
    ) -> tuple[list[float], list[bool]]:
        """Return the durations in s of the transfers that began after the warm-up.

        The second list has True for each transfer that ended. The duration of an unfinished
        transfer is the time from its start to the end of the run. With `sizes`, the result has only
        transfers of these sizes. The size of an unfinished transfer is unknown, so the result has
        each unfinished transfer whose acknowledged data is at most the upper bound.
        """
        table = self.result.columns("transfers" if flows.transient else "flows")
        durations, ended = [], []
        above, at_most = sizes or (-math.inf, math.inf)
        acked = table["acked_bytes"] if sizes else [0] * len(table["flow"])
        for flow, start, completed, size in zip(
            table["flow"], table["start_s"], table["completed_s"], acked, strict=True
        ):
            done = not math.isnan(completed)
            of_size = size <= at_most and (size > above or not done)
            if flow in flows.flows and self.begin_s <= start < self.end_s and of_size:
                durations.append(float(completed if done else self.end_s) - float(start))
                ended.append(done)
        return durations, ended
