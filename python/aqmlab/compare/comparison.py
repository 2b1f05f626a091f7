"""Runs the same traffic through each queue, replication by replication.

Random numbers are common: with the same seed every queue meets the same flow starts, delays, sizes
and arrivals, so that queues are compared pair by pair (docs/statistics.md).
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from aqmlab import estimates
from aqmlab.compare.plan import Plan, plan
from aqmlab.compare.queues import Arm
from aqmlab.compare.run import Run
from aqmlab.engine import EVERYTHING, Engine, Progress, Simulator
from aqmlab.estimates import Estimate
from aqmlab.experiment import campaign, in_order
from aqmlab.measures import Measure, Seen, key, measures
from aqmlab.results import Result
from aqmlab.scenario import ScenarioLike, warm_up_change, warm_up_of
from aqmlab.statistics import Interval, holm, paired_p_value
from aqmlab.store import Store

SCENARIO = Path(__file__).with_name("bottleneck.toml")
REPLICATIONS = 10
SIGNIFICANT = 0.05
"""The corrected p-value below which a difference is taken for real."""


@dataclass(frozen=True)
class Comparison:
    """What was measured of each queue, replication by replication.

    Attributes
    ----------
    scenario : dict
        The scenario with every default filled in, its queue that of the first arm.
    links : list of str
        The links whose queue is compared.
    arms : list of Arm
        The queues.
    runs : list of list of Run
        For each queue its runs in the order of their seeds.
    possible : list of Measure
        What was looked for.
    """

    scenario: dict[str, Any]
    links: list[str]
    arms: list[Arm]
    runs: list[list[Run]]
    possible: list[Measure[Seen]]

    @property
    def warm_up(self) -> str | None:
        """Beginning of each run that is not counted; None if everything is."""
        return warm_up_of(self.scenario)

    @property
    def replications(self) -> int:
        """Runs of each queue."""
        return len(self.runs[0])

    @cached_property
    def measures(self) -> list[Measure[Seen]]:
        """The measures that some run has."""
        return [
            m for m in self.possible
            if any(not math.isnan(run.measures[m.name]) for runs in self.runs for run in runs)
        ]  # fmt: skip

    @cached_property
    def not_measured(self) -> list[Measure[Seen]]:
        """The measures that the engine measured in no run."""
        every = [run for runs in self.runs for run in runs]
        return [m for m in self.possible if all(m.name in run.not_measured for run in every)]

    def name(self, name: str, link: str) -> str:
        """Return the name of a measure of a link."""
        return key(name, link if len(self.links) > 1 else "")

    def values(self, arm: int, name: str) -> list[float]:
        """Return a measure of a queue, one value a replication.

        Raises
        ------
        KeyError
            If nothing of that name is measured.
        """
        if not any(m.name == name for m in self.possible):
            known = ", ".join(m.name for m in self.possible)
            raise KeyError(f"{name!r} is not measured; there are {known}")
        return [run.measures[name] for run in self.runs[arm]]

    def is_exceeded(self, arm: int, name: str) -> bool:
        """Whether the measure of some run of a queue is only known to be greater."""
        return any(name in run.at_least for run in self.runs[arm])

    def estimate(self, arm: int, name: str) -> Estimate:
        """Return the mean of a measure; it has no interval if it is only known to be greater."""
        values = self.values(arm, name)
        if self.is_exceeded(arm, name):
            values = [sum(values) / len(values)]
            return replace(estimates.mean(values), n=self.replications, exceeded=True)
        return estimates.mean(values)

    def interval(self, arm: int, name: str) -> Interval:
        """Return the mean of a measure and its 95 % interval; NaN bounds if there is none."""
        return self.estimate(arm, name).interval

    def difference(self, arm: int, name: str) -> Interval:
        """Return by how much a queue's measure exceeds the first queue's, pair by pair, with its
        95 % interval; NaN bounds with one replication, all NaN if a value is not known.
        """  # noqa: D205
        if self.is_exceeded(arm, name) or self.is_exceeded(0, name):
            return Interval(math.nan, math.nan, math.nan)
        return estimates.difference(self.values(arm, name), self.values(0, name)).interval

    @cached_property
    def _corrected(self) -> dict[tuple[int, str], float]:
        """The p-values of all differences, corrected for their number (Holm)."""
        cells = [(arm, m.name) for arm in range(1, len(self.arms)) for m in self.measures]
        return dict(zip(cells, holm(self.p_value(*cell) for cell in cells), strict=True))

    def p_value(self, arm: int, name: str) -> float:
        """Return the p-value of a difference by the paired t test; NaN if nothing can be tested."""
        if self.replications == 1 or math.isnan(self.difference(arm, name).middle):
            return math.nan
        return paired_p_value(self.values(arm, name), self.values(0, name))

    def corrected(self, arm: int, name: str) -> float:
        """Return that p-value corrected for all differences of the comparison (Holm)."""
        return self._corrected.get((arm, name), math.nan)

    def is_clear(self, arm: int, name: str) -> bool:
        """Whether a difference is real: its corrected p-value is below 0.05."""
        return self.corrected(arm, name) < SIGNIFICANT

    def is_identical(self, arm: int, name: str | None = None) -> bool:
        """Whether a measure, or every one, is the first queue's in each replication."""
        names = [name] if name else [m.name for m in self.measures]
        pairs = zip(self.runs[arm], self.runs[0], strict=True)
        return arm > 0 and all(
            mine.measures[n] == first.measures[n]
            or (math.isnan(mine.measures[n]) and math.isnan(first.measures[n]))
            for mine, first in pairs
            for n in names
        )

    @cached_property
    def warnings(self) -> list[str]:
        """What is legal in these runs and probably not meant, a sentence each."""
        found: dict[str, dict[str, str]] = {}
        for arm, runs in zip(self.arms, self.runs, strict=True):
            for run in runs:
                for about, text in run.warnings.items():
                    found.setdefault(about, {}).setdefault(arm.label, text)
        told = []
        for texts in found.values():
            text = next(iter(texts.values()))
            every = len(texts) == len(self.arms)
            told.append(text if every else f"{', '.join(texts)}: {text}")
        same = [arm.label for arm, runs in zip(self.arms, self.runs, strict=True) if _alike(runs)]
        if same:
            told.append(
                f"every replication of {', '.join(same)} measured the same: seeds change nothing "
                "here, so that their number says nothing; let starts or sizes vary"
            )
        return told

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it: intervals, differences, and each run's values."""

        def told(numbers: dict[str, float]) -> dict[str, float | None]:
            return {k: None if math.isnan(v) else v for k, v in numbers.items()}

        def difference(arm: int, name: str) -> dict[str, float | None]:
            numbers = self.difference(arm, name)._asdict()
            ps = {"p": self.p_value(arm, name), "p_corrected": self.corrected(arm, name)}
            return told(numbers | ps)

        names = [m.name for m in self.measures]
        return {
            "scenario": self.scenario,
            "links": self.links,
            "warm_up": self.warm_up,
            "warnings": self.warnings,
            "not_measured": [m.name for m in self.not_measured],
            "replications": self.replications,
            "queues": [
                {
                    "name": arm.label,
                    "queue": arm.queue,
                    "measures": {n: told(self.interval(i, n)._asdict()) for n in names},
                    "differences": {n: difference(i, n) for n in names} if i else {},
                    "runs": [run.as_dict(names) for run in self.runs[i]],
                }
                for i, arm in enumerate(self.arms)
            ],
        }


def compare(
    queues: Sequence[Any] | Mapping[str, Any],
    scenario: ScenarioLike = SCENARIO,
    replications: int = REPLICATIONS,
    jobs: int | None = None,
    progress: Progress | None = None,
    *,
    link: str | Sequence[str] = "bottleneck",
    warm_up: str | None = None,
    overrides: Sequence[tuple[str, str]] = (),
    store: Store | None = None,
    engine: Engine | None = None,
) -> Comparison:
    """Run the same traffic through each queue.

    Parameters
    ----------
    queues : sequence or mapping of str, table or CustomQueue
        The queues: "red", "red:minth=5 packets", ``aqmlab.Red(minth="5 packets")``, ``MyQueue()``;
        with names "gentle=red:maxp=0.05", or a mapping of names to queues.
    scenario : path, dict or Scenario
        The traffic and the network; default: a bottleneck as RFC 7928 sets it up. The buffer of
        its queue (limit and the like) stays, but for keys that a queue has itself.
    replications : int
        Runs of each queue, 1 or more.
    jobs, progress
        As :func:`aqmlab.run_each`.
    link : str or sequence of str
        The links that get the queue, all of them the same; "bottleneck" is that of a dumbbell.
    warm_up : str, optional
        A time with its unit ("5 s"), the key `warm_up` of the scenario: counts, delays and goodputs
        begin there, and transfers count that began later. Default: that of the scenario.
    overrides : sequence of (str, str)
        Dotted paths and their values, as ``--set`` has them.
    store : Store, optional
        Where finished runs are kept, and found again.
    engine : Engine, optional
        The engine that runs the scenarios; default: the simulator. What it does not measure is in
        :attr:`Comparison.not_measured`.

    Raises
    ------
    ValueError
        If a queue, a link, the warm-up or the number of replications is wrong.
    ScenarioError, InvariantViolation, OSError
        As :func:`aqmlab.run`.

    Examples
    --------
    >>> c = compare(["drop_tail", "codel"], overrides=[("duration", "5 s")], replications=2)
    >>> c.difference(1, "mean_delay_s").middle < 0
    True
    """
    links = [link] if isinstance(link, str) else list(link)
    capabilities = engine.capabilities if engine else EVERYTHING
    changes = [*overrides, *warm_up_change(warm_up)]
    planned = plan(queues, scenario, replications, links, changes, capabilities)
    possible = measures(planned.links, planned.groups)
    done = _run_all(planned, possible, engine or Simulator(planned.aqms), jobs, progress, store)
    by_arm = [done[a :: len(planned.arms)] for a in range(len(planned.arms))]
    first = json.loads(planned.texts[0])
    return Comparison(first, planned.links, planned.arms, by_arm, possible)


def _run_all(
    planned: Plan,
    possible: list[Measure[Seen]],
    engine: Engine,
    jobs: int | None,
    progress: Progress | None,
    store: Store | None,
) -> list[Run]:
    """Return the runs in the order of their scenarios."""

    def measured(result: Result) -> Run:
        return Run.of(Seen(result, planned.groups), possible)

    asks = [(text,) for text in planned.texts]
    done = campaign(asks, measured, engine=engine, store=store, jobs=jobs, progress=progress)
    return in_order(done)


def _alike(runs: list[Run]) -> bool:
    """Whether runs of several seeds have the same measures."""
    first = [str(value) for value in runs[0].measures.values()]
    return len(runs) > 1 and all([str(v) for v in r.measures.values()] == first for r in runs)
