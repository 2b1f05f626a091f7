"""Runs the same traffic through each queue, replication by replication.

Random numbers are common: with the same seed every queue meets the same flow starts, delays, sizes
and arrivals, so that queues are compared pair by pair (docs/statistics.md).
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.compare.measures import MEASURES, Measure, measure
from aqmlab.compare.queues import Arm, arms
from aqmlab.compare.store import NoStore, Run, Store
from aqmlab.custom import Given, buffer_of, places, put
from aqmlab.experiment import Progress, replications, run_texts
from aqmlab.results import Result
from aqmlab.scenario import ScenarioLike, normalize, toml_value
from aqmlab.statistics import Interval, mean_interval, paired_difference

SCENARIO = Path(__file__).with_name("bottleneck.toml")
REPLICATIONS = 10


@dataclass(frozen=True)
class Comparison:
    """What was measured of each queue, replication by replication.

    Attributes
    ----------
    scenario : dict
        The scenario with every default filled in, its queue that of the first arm.
    link : str
        The link whose queue is compared.
    arms : list of Arm
        The queues.
    runs : list of list of Run
        For each queue its runs in the order of their seeds.
    """

    scenario: dict[str, Any]
    link: str
    arms: list[Arm]
    runs: list[list[Run]]

    @property
    def replications(self) -> int:
        """Runs of each queue."""
        return len(self.runs[0])

    @property
    def measures(self) -> list[Measure]:
        """The measures that some run has."""
        return [
            m for m in MEASURES
            if any(not math.isnan(run.measures[m.name]) for runs in self.runs for run in runs)
        ]  # fmt: skip

    def values(self, arm: int, name: str) -> list[float]:
        """Return a measure of a queue, one value a replication."""
        return [run.measures[name] for run in self.runs[arm]]

    def interval(self, arm: int, name: str) -> Interval:
        """Return the mean of a measure and its 95 % interval; NaN bounds with one replication."""
        values = self.values(arm, name)
        if len(values) == 1:
            return Interval(math.nan, values[0], math.nan)
        return mean_interval(values)

    def difference(self, arm: int, name: str) -> Interval:
        """Return by how much a queue's measure exceeds the first queue's, pair by pair, with its
        95 % interval; NaN bounds with one replication.
        """  # noqa: D205
        mine, first = self.values(arm, name), self.values(0, name)
        if len(mine) == 1:
            return Interval(math.nan, mine[0] - first[0], math.nan)
        return paired_difference(mine, first)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it: intervals, differences, and each run's values."""

        def bounds(interval: Interval) -> dict[str, float | None]:
            return {k: None if math.isnan(v) else v for k, v in interval._asdict().items()}

        names = [m.name for m in self.measures]
        return {
            "scenario": self.scenario,
            "link": self.link,
            "replications": self.replications,
            "queues": [
                {
                    "queue": arm.label,
                    "measures": {n: bounds(self.interval(i, n)) for n in names},
                    "differences": {n: bounds(self.difference(i, n)) for n in names} if i else {},
                    "runs": [run.as_dict(names) for run in self.runs[i]],
                }
                for i, arm in enumerate(self.arms)
            ],
        }


def compare(
    queues: Sequence[Any],
    scenario: ScenarioLike = SCENARIO,
    replications: int = REPLICATIONS,
    jobs: int | None = None,
    progress: Progress | None = None,
    *,
    link: str = "bottleneck",
    overrides: Sequence[tuple[str, str]] = (),
    store: Store | None = None,
) -> Comparison:
    """Run the same traffic through each queue.

    Parameters
    ----------
    queues : sequence of str, table or CustomQueue
        The queues: "red", "red:minth=5 packets", ``aqmlab.Red(minth="5 packets")``, ``MyQueue()``.
    scenario : path, dict or Scenario
        The traffic and the network; default: a bottleneck as RFC 7928 sets it up. The buffer of
        its queue (limit and the like) stays, but for keys that a queue has itself.
    replications : int
        Runs of each queue, 1 or more.
    jobs, progress
        As :func:`aqmlab.run_each`.
    link : str
        The link whose queue is compared; "bottleneck" is that of a dumbbell.
    overrides : sequence of (str, str)
        Dotted paths and their values, as ``--set`` has them.
    store : Store, optional
        Where finished runs are kept, and found again.

    Raises
    ------
    ValueError
        If a queue, a link or the number of replications is wrong.
    ScenarioError, InvariantViolation, OSError
        As :func:`aqmlab.run`.

    Examples
    --------
    >>> c = compare(["drop_tail", "codel"], overrides=[("duration", "5 s")], replications=2)
    >>> c.difference(1, "mean_delay_s").middle < 0
    True
    """
    chosen = arms(list(queues))
    kept = store or NoStore()
    given = Given()
    base = normalize(scenario, overrides=overrides, given=given)
    name, key = _place(json.loads(base), link)
    texts = _texts(base, chosen, replications, (name, key), given)
    runs: list[Run | None] = [
        None if chosen[i % len(chosen)].law else kept.find(text) for i, text in enumerate(texts)
    ]
    missing = [i for i, run in enumerate(runs) if run is None]

    def told(done: float, _: int) -> None:
        if progress:
            progress(len(texts) - len(missing) + done, len(texts))

    for j, result in run_texts([texts[i] for i in missing], jobs, told, given=given):
        i = missing[j]
        runs[i] = kept.keep(texts[i], chosen[i % len(chosen)].label, _run(result, name))
    done = [run for run in runs if run is not None]
    by_arm = [done[a :: len(chosen)] for a in range(len(chosen))]
    return Comparison(json.loads(texts[0]), name, chosen, by_arm)


def _place(scenario: dict[str, Any], link: str) -> tuple[str, str]:
    """Return the name of a link, and where its queue stands in the scenario."""
    known = places(scenario)
    if link not in known:
        if link == "bottleneck":
            raise ValueError(
                f"--link is needed: which queue is compared? There are: {', '.join(known)}"
            )
        raise ValueError(f"--link {link!r} is no link; there are: {', '.join(known)}")
    return ("left>right" if link == "bottleneck" else link), known[link]


def _texts(
    base: str, chosen: list[Arm], count: int, place: tuple[str, str], given: Given
) -> list[str]:
    """Return the scenarios: for each replication each queue."""
    link, key = place
    scenarios = [_with(json.loads(base), arm, link, key, given) for arm in chosen]
    every = [replications(scenario, count) for scenario in scenarios]
    texts = []
    for r in range(count):
        for of_arm in every:
            series = ["delays", "queue"] if r == 0 else ["delays"]  # the first is drawn
            interval = of_arm[r]["record"]["interval"]
            record = {"links": [link], "series": series, "interval": interval}
            texts.append(normalize(of_arm[r] | {"record": record}))
    return texts


def _with(scenario: dict[str, Any], arm: Arm, link: str, key: str, given: Given) -> dict[str, Any]:
    """Return the scenario with a queue in its place: its buffer stays, and no other key."""
    if arm.law:
        overrides = [(k, toml_value(table)) for k, table in put(scenario, {link: arm.law}, given)]
    else:
        (_, kind), *changes = arm.changes
        table = buffer_of(scenario, key) | {"kind": kind}
        overrides = [(key, toml_value(table)), *((f"{key}.{k}", v) for k, v in changes)]
    try:
        done: dict[str, Any] = json.loads(normalize(scenario, overrides=overrides))
    except ValueError as e:
        raise ValueError(f"{arm.label}: {e}") from None
    return done


def _run(result: Result, link: str) -> Run:
    """Return what is kept of a run."""
    trace = None
    if "queue" in result.tables:
        rows = result.columns("queue")
        trace = [list(map(float, rows[name])) for name in ("time_s", "queue_packets")]
    return Run(result.manifest["seed"], measure(result, link), trace)
