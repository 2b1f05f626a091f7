"""Plan of a comparison: the scenarios of all runs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aqmlab import manual
from aqmlab.comparison import alternatives as others
from aqmlab.comparison.queues import Arm, arms
from aqmlab.custom import CustomAqms, buffer_of, places, put
from aqmlab.engine import EVERYTHING, Capabilities, Network
from aqmlab.experiment import replications
from aqmlab.measures import CrossingFlows, crossing_flows, round_trips
from aqmlab.scenario import ScenarioLike, normalize, toml_value

SAME = ""
"""Name of the scenario without the change of an alternative."""


@dataclass(frozen=True)
class Plan:
    """Scenarios of a comparison, with the queues, links, flows and Python AQMs that they use.

    Attributes
    ----------
    arms : list of Arm
        Compared queues.
    links : list of str
        Names of the links that get the compared queue.
    crossing : list of CrossingFlows
        Flows that cross at least one of `links`.
    round_trips : dict of str to float
        Round-trip time without queueing of each crossing bulk flow, in s; empty if all are equal.
    texts : dict of str to list of list of str
        Scenarios as JSON, one per run, by name of the alternative, by seed and by queue. The name
        of the compared scenario itself is `SAME`, the first key.
    aqms : CustomAqms
        AQMs written in Python that the scenarios refer to.
    """

    arms: list[Arm]
    links: list[str]
    crossing: list[CrossingFlows]
    round_trips: dict[str, float]
    texts: dict[str, list[list[str]]]
    aqms: CustomAqms


def plan(
    queues: Sequence[Any] | Mapping[str, Any],
    scenario: ScenarioLike,
    count: int,
    links: list[str],
    overrides: Sequence[tuple[str, str]],
    capabilities: Capabilities = EVERYTHING,
    *,
    ecn: bool = False,
    needed: Sequence[str] = (),
    alternatives: bool = False,
    second_half: bool = True,
) -> Plan:
    """Plan a comparison with `count` replications.

    `count` is the number of replications, and `needed` has the series that each run records in
    addition to those of the standard measures. A series that an engine with these `capabilities`
    cannot record is left out. `second_half` is False to leave out this alternative. All other
    parameters are those of :func:`aqmlab.compare`.
    """
    chosen = arms(queues)
    aqms = CustomAqms()

    def changed(*changes: tuple[str, str]) -> str:
        text = normalize(scenario, overrides=[*overrides, *changes], aqms=aqms)
        if not ecn:
            return text
        return normalize(scenario, overrides=[*overrides, *changes, *_with_ecn(text)], aqms=aqms)

    base = changed()
    queue_paths = _queue_paths(json.loads(base), links)
    crossing = crossing_flows(json.loads(base), base, queue_paths)
    times = round_trips(json.loads(base), crossing)
    series = ["delays", *needed] + ["flow_delays"] * (len(crossing) > 1)
    series += ["transfers"] * any(flows.transient for flows in crossing)

    def recorded(one: dict[str, Any], r: int) -> str:
        # Only the first replication records the series "queue", for the figure of the queue over
        # time.
        wanted = dict.fromkeys([*series, *["queue"] * (r == 0)])
        record = {
            "links": list(queue_paths),
            "series": list(filter(capabilities.records, wanted)),
            "interval": one["record"]["interval"],
        }
        return normalize(one | {"record": record})

    def of_runs(base: str, count: int) -> list[list[str]]:
        by_arm = [
            replications(_with_queue(json.loads(base), arm, queue_paths, aqms), count)
            for arm in chosen
        ]
        return [[recorded(of_arm[r], r) for of_arm in by_arm] for r in range(count)]

    texts = {SAME: of_runs(base, count)}
    if alternatives and second_half:
        for name, text in others.second_half(json.loads(base)).items():
            texts[name] = of_runs(text, count)
    # Another engine may lack the runs of the other alternatives.
    of_simulator = capabilities == EVERYTHING
    if alternatives and of_simulator and len(chosen) > 1 and count >= others.REPLICATIONS:
        variants = others.alternatives(
            json.loads(base), lambda stack: changed(("tcp.stack", stack))
        )
        texts |= {name: of_runs(text, others.REPLICATIONS) for name, text in variants.items()}
    return Plan(chosen, list(queue_paths), crossing, times, texts, aqms)


def _with_ecn(text: str) -> list[tuple[str, str]]:
    """Return the changes that enable ECN in the TCP flows of a scenario that do not use ECN."""
    flows = {flow.table: flow for flow in Network.of(text).flows if flow.protocol == "tcp"}
    without = [i for i, flow in flows.items() if flow.ecn in ("off", "passive")]
    return [(f"flows.{i}.tcp.ecn", "rfc3168") for i in without]


def _queue_paths(scenario: dict[str, Any], links: list[str]) -> dict[str, str]:
    """Return the dotted path of each link's queue in the scenario, by the name of the link."""
    known, paths = places(scenario), {}
    for link in links:
        if link not in known:
            if link == "bottleneck":
                raise ValueError(
                    "--link is needed because the scenario has no bottleneck; choose from "
                    f"{', '.join(known)}"
                )
            raise ValueError(f"--link {link!r} is not a link; choose from {', '.join(known)}")
        name = "left>right" if link == "bottleneck" else link
        if name in paths:
            raise ValueError(f"--link {link!r} is given twice; give each link once")
        paths[name] = known[link]
    if not paths:
        raise ValueError("the list of links is empty; name the link that gets the compared queues")
    return paths


def _with_queue(
    scenario: dict[str, Any], arm: Arm, queue_paths: Mapping[str, str], aqms: CustomAqms
) -> dict[str, Any]:
    """Return the scenario with the queue of an arm at the given paths.

    The new queue inherits the buffer keys, such as the limit, from the queue that it replaces, and
    no other keys.
    """
    if arm.custom:
        queues = dict.fromkeys(queue_paths, arm.custom)
        overrides = [(k, toml_value(table)) for k, table in put(scenario, queues, aqms)]
    else:
        (_, kind), *changes = arm.changes
        keys = {p.name for p in manual.pages()[kind].parameters}  # none of a scheduler
        overrides = []
        for path in queue_paths.values():
            buffer = {k: v for k, v in buffer_of(scenario, path).items() if k in keys}
            table = buffer | {"kind": kind}
            overrides += [(path, toml_value(table)), *((f"{path}.{k}", v) for k, v in changes)]
    try:
        changed: dict[str, Any] = json.loads(normalize(scenario, overrides=overrides))
    except ValueError as e:
        raise ValueError(f"{arm.label}: {e}") from None
    return changed
