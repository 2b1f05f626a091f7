"""What a run did, by the links and the groups of flows that are measured.

The tables of a run count from the end of its warm-up on (`warm_up` in the scenario).
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


@dataclass(frozen=True)
class Group:
    """The flows of a `[[flows]]` table whose data crosses the compared links.

    `there`, `back`: those whose data from `from` to `to`, and those whose data the other way, does;
    `passing`: connections that come and go; `ends`: its transfers have a size.
    """

    name: str
    there: frozenset[str]
    back: frozenset[str]
    passing: bool
    ends: bool

    @property
    def flows(self) -> frozenset[str]:
        """Its flows whose data crosses, whichever way."""
        return self.there | self.back


def groups(scenario: dict[str, Any], text: str, links: Collection[str]) -> list[Group]:
    """Return the groups of flows that cross any of the links; `text` is the scenario as JSON."""
    found: list[Group] = []
    crossing = zip(*_core.crossing(text, list(links)), strict=True)
    for i, (table, (there, back)) in enumerate(zip(scenario["flows"], crossing, strict=True)):
        if not there and not back:
            continue
        name = re.sub(r"[-_. ]*\{[^}]*\}", "", table["name"]) or "flow"
        if name in [group.name for group in found]:
            name = f"{name} (flows.{i})"
        passing, traffic = opens_many_connections(table), table["traffic"]
        ends = passing or (traffic["kind"] == "bulk" and traffic["size"] is not None)
        found.append(Group(name, frozenset(there), frozenset(back), passing, ends))
    return found


def link_names(result: Result) -> list[str]:
    """Return the links of a run: those of its table, or those of its scenario without one."""
    if "links" in result.tables:
        return list(result.columns("links")["link"])
    return [link.name for link in Network.of(json.dumps(result.scenario)).links]


class Seen:
    """A run from the end of its warm-up on."""

    def __init__(self, result: Result, groups: list[Group]) -> None:
        self.result = result
        self.groups = groups
        self.end_s: float = result.manifest["simulated_s"]
        self.begin_s: float = seconds(result.scenario.get("warm_up", "0 s"))

    @classmethod
    def whole(cls, result: Result) -> Self:
        """See every flow of a run that crosses a link."""
        text = json.dumps(result.scenario)
        return cls(result, groups(result.scenario, text, link_names(result)))

    @property
    def seconds(self) -> float:
        """Time that is counted, in s."""
        return self.end_s - self.begin_s

    def link(self, link: str, *columns: str) -> float:
        """Return the sum of columns of `links` for a link."""
        table = self.result.columns("links")
        at = table["link"].index(link)
        return sum(float(table[column][at]) for column in columns)

    def flows(self, column: str, flows: Collection[str]) -> dict[str, float]:
        """Return a count of `flows` for each of some flows."""
        table = self.result.columns("flows")
        rows = zip(table["flow"], table[column], strict=True)
        return {flow: float(n) for flow, n in rows if flow in flows}

    def waits(self, link: str) -> tuple[list[float], list[float]]:
        """Return the waits in the queue of a link, from short to long, and how many each."""
        table = self.result.columns("waits")
        rows = zip(table["link"], table["wait_s"], table["packets"], strict=True)
        here = [(float(wait), float(n)) for name, wait, n in rows if name == link]
        return [wait for wait, _ in here], [n for _, n in here]

    def delay(self, link: str, column: str) -> float:
        """Return a column of `delays` for a link, in s; NaN if no packet left its queue."""
        table = self.result.columns("delays")
        return float(table[column][table["link"].index(link)])

    @cached_property
    def _crossing(self) -> tuple[tuple[str, str, set[str]], ...]:
        """Tables with data that crosses, each with its column of bytes and its flows."""
        there = {flow for group in self.groups for flow in group.there}
        back = {flow for group in self.groups for flow in group.back}
        tables = (("flows", "acked_bytes", there), ("replies", "acked_bytes", back),
                  ("datagrams", "received_bytes", there))  # fmt: skip
        for group in self.groups:
            self._check_measured(group)
        return tuple(table for table in tables if table[0] in self.result.tables)

    def _check_measured(self, group: Group) -> None:
        """Raise NotMeasuredError if the engine did not fill the table of a group's flows."""
        names = ("flows", "datagrams", *["replies"] * bool(group.back))
        absent = [name for name in names if not self.result.measures(name)]
        there = [name for name in names if name in self.result.tables]
        rows = (self.result.columns(name)["flow"] for name in there)
        if absent and group.flows.isdisjoint(flow for of in rows for flow in of):
            raise NotMeasuredError(
                f"{group.name} is not measured: the engine did not fill {absent[0]}"
            )

    @cached_property
    def data(self) -> dict[str, float]:
        """Bytes of data that each flow delivered: acknowledged, or received in datagrams."""
        data = {flow: 0.0 for group in self.groups for flow in group.flows}
        for name, column, flows in self._crossing:
            table = self.result.columns(name)
            for flow, count in zip(table["flow"], table[column], strict=True):
                if flow in flows:
                    data[flow] += float(count)
        return data

    @cached_property
    def spans(self) -> dict[str, tuple[float, float]]:
        """Interval of each flow after the warm-up, in s: from its start to its completion.

        A flow that did not complete ran until the end of the run.
        """
        spans: dict[str, tuple[float, float]] = {}
        for name, _, flows in self._crossing:
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
        """Return the time in which at least one of some flows ran, in s."""
        total, until = 0.0, -math.inf
        for begin, end in sorted(self.spans[flow] for flow in flows if flow in self.spans):
            total += max(0.0, end - max(begin, until))
            until = max(until, end)
        return total

    def goodput(self, flows: Collection[str]) -> float:
        """Return the data of flows over the time in which at least one of them ran, in bit/s.

        The result is NaN if no flow ran. For one flow it is `goodput_bps` of the table `flows`.
        """
        seconds = self.running_s(flows)
        return 8 * sum(self.data[flow] for flow in flows) / seconds if seconds else math.nan

    def goodputs(self) -> list[float]:
        """Return the goodput of each crossing flow that is one connection."""
        crossing = {flow for group in self.groups if not group.passing for flow in group.flows}
        alone = [flow for flow in self.result.columns("flows")["flow"] if flow in crossing]
        found = [self.goodput([flow]) for flow in alone]
        return [goodput for goodput in found if not math.isnan(goodput)]

    def transfers(self, group: Group) -> tuple[list[float], list[bool]]:
        """Return how long the transfers took that began after the warm-up, and whether they ended.

        One that did not end has taken what was left of the run when it began.
        """
        table = self.result.columns("transfers" if group.passing else "flows")
        times, ended = [], []
        for flow, start, completed in zip(
            table["flow"], table["start_s"], table["completed_s"], strict=True
        ):
            if flow in group.flows and self.begin_s <= start < self.end_s:
                done = not math.isnan(completed)
                times.append(float(completed if done else self.end_s) - float(start))
                ended.append(done)
        return times, ended
