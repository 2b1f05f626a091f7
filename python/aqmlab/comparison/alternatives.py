"""Alternatives of a comparison: the same queues under another assumption about the traffic.

A comparison assumes a TCP stack, a spread of the start times, and a warm-up. An alternative changes
one of these assumptions. The changes of the differences between alternative and comparison show if
an answer depends on the assumption (docs/how-to/compare-queues.md).
"""

import json
import math
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aqmlab import estimates
from aqmlab._core import ScenarioError
from aqmlab.engine import Network
from aqmlab.scenario import normalize, seconds, warm_up_of
from aqmlab.statistics import Interval

if TYPE_CHECKING:
    from aqmlab.comparison.comparison import Comparison

SECOND_HALF = "second half"
"""Name of the alternative without the first half of each run."""
REPLICATIONS = 6
"""Number of replications of an alternative, and the minimum number of a comparison with
alternatives. With fewer replications, no difference of a comparison is significant."""
ROUND_TRIPS = 10
"""Default spread of the starts in round-trip times (crates/lab/src/build/offset.rs)."""
MIN_PART, MIN_SHARE = 0.1, 0.01
"""Minimum change of a difference that changes an answer, as a part of the difference and as a share
of the first queue's mean."""


def second_half(scenario: dict[str, Any]) -> dict[str, str]:
    """Return the scenario whose warm-up is its first half, by the name of this alternative.

    The result is empty if the scenario has a warm-up, or no duration.
    """
    if scenario["duration"] is None or warm_up_of(scenario):
        return {}
    warm_up = f"{seconds(scenario['duration']) / 2:.12g} s"
    return {SECOND_HALF: normalize(scenario | {"warm_up": warm_up})}


def alternatives(scenario: dict[str, Any], with_stack: Callable[[str], str]) -> dict[str, str]:
    """Return the scenarios of the alternatives by name, except for the second half.

    Parameters
    ----------
    scenario : dict
        Scenario with all default values.
    with_stack : callable
        Function that returns the scenario, with all default values, for a value of ``tcp.stack``.
    """
    texts = {}
    stack = "plain" if scenario["tcp"]["stack"] == "linux" else "linux"
    with suppress(ScenarioError):  # the other stack may contradict another key of the scenario
        changed = _with_own_stacks(json.loads(with_stack(stack)), scenario)
        if _endpoints(changed) != _endpoints(scenario):
            texts[f"stack {stack}"] = normalize(changed)
    if start := _other_starts(scenario):
        starts = scenario["phase_breaking"] | {"start": start}
        texts[f"starts within {start}"] = normalize(scenario | {"phase_breaking": starts})
    return texts


def _network(scenario: dict[str, Any]) -> Network:
    """Return the network of a scenario with one flow per table, and without random delays."""
    flows = [flow | {"count": 1} for flow in scenario["flows"]]
    no_delay = scenario["phase_breaking"] | {"delay": "0 s"}
    reduced = {key: value for key, value in scenario.items() if key != "record"}
    return Network.of(normalize(reduced | {"flows": flows, "phase_breaking": no_delay}))


def _with_own_stacks(changed: dict[str, Any], scenario: dict[str, Any]) -> dict[str, Any]:
    """Return a changed scenario in which flows with a stack of their own have all their old keys.

    Such a flow takes the keys that its stack does not set from the TCP parameters of the scenario.
    """
    flows = list(changed["flows"])
    for flow in _network(scenario).flows:
        table = flows[flow.table]
        if "stack" in table["tcp"] or "stack" in table["receiver_tcp"]:
            flows[flow.table] = table | {"tcp": flow.sender, "receiver_tcp": flow.receiver}
    return changed | {"flows": flows}


def _endpoints(scenario: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the TCP parameters of the sender and the receiver of each table of TCP flows."""
    ignored = {"stack": ""}  # The other keys have the values of the stack.
    return [
        (flow.sender | ignored, flow.receiver | ignored)
        for flow in _network(scenario).flows
        if flow.protocol == "tcp"
    ]


def _other_starts(scenario: dict[str, Any]) -> str | None:
    """Return another maximum offset of the starts; None if the starts have no influence.

    The other maximum is the round-trip time without queueing, the longest of the first flows of all
    tables. If the starts of the scenario vary by at most this time, the other maximum is ten times
    as long, but at most half of the duration.
    """
    if sum(flow["count"] for flow in scenario["flows"]) < 2:
        return None
    try:
        network = _network(scenario)
    except ScenarioError:  # a table can depend on its number of flows
        return None
    delay_s = {link.name: link.delay_s for link in network.links}
    routes = ([*flow.forward, *(flow.reverse or flow.forward)] for flow in network.flows)
    round_trip_s = float(f"{max(sum(delay_s[link] for link in route) for route in routes):.3g}")
    half_s = seconds(scenario["duration"]) / 2 if scenario["duration"] else math.inf
    long_s = min(ROUND_TRIPS * round_trip_s, half_s)  # the default
    start = scenario["phase_breaking"]["start"]
    spread_s = long_s if start is None else seconds(start)
    other_s = round_trip_s if spread_s > round_trip_s else long_s
    return f"{1000 * other_s:.6g} ms" if other_s not in (0, spread_s) else None


def change(comparison: "Comparison", name: str, arm: int, measure: str) -> Interval:
    """Return the change of a difference in an alternative, with its 95 % interval.

    The difference is that between a queue and the first queue, as a share of the mean of the first
    queue. Each change is taken between runs with the same seed. If a mean of the first queue is 0,
    the change is in the unit of the measure. A change is NaN if a difference is unknown.

    Parameters
    ----------
    comparison : Comparison
        Comparison with alternatives.
    name : str
        Name of the alternative.
    arm : int
        Index of the queue.
    measure : str
        Name of the measure.
    """
    other = comparison.alternatives[name]
    if any(math.isnan(one.difference(arm, measure).middle) for one in (comparison, other)):
        return Interval(math.nan, math.nan, math.nan)
    ours, theirs = _means(comparison, other, measure)
    of_other = _shares(other, arm, measure, theirs)
    return estimates.difference(
        of_other, _shares(comparison, arm, measure, ours)[: len(of_other)]
    ).interval


def _shares(comparison: "Comparison", arm: int, measure: str, unit: float) -> list[float]:
    """Return the difference of each pair of runs, divided by `unit`."""
    values, first = (comparison.values(i, measure) for i in (arm, 0))
    return [(x - y) / unit for x, y in zip(values, first, strict=True)]


def _means(comparison: "Comparison", other: "Comparison", measure: str) -> tuple[float, float]:
    """Return the means of the first queue in a comparison and in an alternative, or 1 and 1."""
    ours, theirs = (abs(one.interval(0, measure).middle) for one in (comparison, other))
    return (ours, theirs) if ours and theirs else (1.0, 1.0)


def changes_answer(comparison: "Comparison", name: str, arm: int, measure: str) -> bool:
    """Return True if an alternative changes the answer about a measure of a queue.

    The answer changes if the change of the difference is significant (its 95 % interval excludes 0)
    and is at least a tenth of the difference and at least 1 % of the first queue's mean. The answer
    also changes if a significant difference of at least 1 % has the other sign.
    """
    low, middle, high = change(comparison, name, arm, measure)
    if math.isnan(middle):
        return False
    other = comparison.alternatives[name]
    ours, theirs = (one.difference(arm, measure).middle for one in (comparison, other))
    share = abs(ours) / _means(comparison, other, measure)[0]
    if low > 0 or high < 0:
        return abs(middle) >= max(MIN_PART * share, MIN_SHARE)
    return ours * theirs < 0 and share >= MIN_SHARE and comparison.is_clear(arm, measure)


def table(comparison: "Comparison") -> list[tuple[dict[str, Any], dict[str, float]]]:
    """Return a row per alternative, queue and primary measure: texts and counts, and numbers.

    The numbers are the difference between the queue and the first queue, with the bounds of its 95
    % interval. The entry `changes_answer` is the result of :func:`changes_answer`.
    """
    return [
        (
            {
                "alternative": name,
                "replications": other.replications,
                "queue": comparison.arms[arm].label,
                "measure": measure,
                "changes_answer": changes_answer(comparison, name, arm, measure),
            },
            other.difference(arm, measure)._asdict(),
        )
        for name, other in comparison.alternatives.items()
        for arm in range(1, len(comparison.arms))
        for measure in comparison.primary
    ]
