"""What a comparison runs: for each replication each queue, at the same links."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aqmlab import manual
from aqmlab.compare.queues import Arm, arms
from aqmlab.custom import CustomAqms, buffer_of, places, put
from aqmlab.engine import EVERYTHING, Capabilities
from aqmlab.experiment import replications
from aqmlab.measures import Group, groups
from aqmlab.scenario import ScenarioLike, normalize, toml_value


@dataclass(frozen=True)
class Plan:
    """Queues, links, groups of flows, and the scenarios in the order of seeds, then queues."""

    arms: list[Arm]
    links: list[str]
    groups: list[Group]
    texts: list[str]
    aqms: CustomAqms


def plan(
    queues: Sequence[Any] | Mapping[str, Any],
    scenario: ScenarioLike,
    count: int,
    links: list[str],
    overrides: Sequence[tuple[str, str]],
    capabilities: Capabilities = EVERYTHING,
) -> Plan:
    """Plan a comparison; its parameters are those of :func:`aqmlab.compare.compare`.

    It records those series that the engine with these capabilities supports.
    """
    chosen = arms(queues)
    aqms = CustomAqms()
    base = normalize(scenario, overrides=overrides, aqms=aqms)
    there = _places(json.loads(base), links)
    found = groups(json.loads(base), base, there)
    series = ["delays"] + ["transfers"] * any(group.passing for group in found)
    every = [replications(_with(json.loads(base), arm, there, aqms), count) for arm in chosen]
    texts = []
    for r in range(count):  # the queue of the first is drawn
        for of_arm in every:
            record = {
                "links": list(there),
                "series": list(filter(capabilities.records, [*series, *["queue"] * (r == 0)])),
                "interval": of_arm[r]["record"]["interval"],
            }
            texts.append(normalize(of_arm[r] | {"record": record}))
    return Plan(chosen, list(there), found, texts, aqms)


def _places(scenario: dict[str, Any], links: list[str]) -> dict[str, str]:
    """Return where the queue of each link stands in the scenario, by the link's name."""
    known, found = places(scenario), {}
    for link in links:
        if link not in known:
            if link == "bottleneck":
                raise ValueError(
                    f"--link is needed: which queue is compared? There are: {', '.join(known)}"
                )
            raise ValueError(f"--link {link!r} is no link; there are: {', '.join(known)}")
        name = "left>right" if link == "bottleneck" else link
        if name in found:
            raise ValueError(f"--link {link!r} is there twice; give each link once")
        found[name] = known[link]
    if not found:
        raise ValueError("there is no link; name one whose queue is compared")
    return found


def _with(
    scenario: dict[str, Any], arm: Arm, there: Mapping[str, str], aqms: CustomAqms
) -> dict[str, Any]:
    """Return the scenario with a queue in these places: their buffer stays, and no other key."""
    if arm.law:
        laws = dict.fromkeys(there, arm.law)
        overrides = [(k, toml_value(table)) for k, table in put(scenario, laws, aqms)]
    else:
        (_, kind), *changes = arm.changes
        keys = {p.name for p in manual.pages()[kind].parameters}  # a scheduler has no buffer
        overrides = []
        for key in there.values():
            buffer = {k: v for k, v in buffer_of(scenario, key).items() if k in keys}
            table = buffer | {"kind": kind}
            overrides += [(key, toml_value(table)), *((f"{key}.{k}", v) for k, v in changes)]
    try:
        done: dict[str, Any] = json.loads(normalize(scenario, overrides=overrides))
    except ValueError as e:
        raise ValueError(f"{arm.label}: {e}") from None
    return done
