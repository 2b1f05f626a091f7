"""Comparison of queues: every queue gets the same traffic in each replication.

Runs with the same seed use the same random numbers for every queue. In these runs the flows have
the same start times, delays, sizes and arrival times. The runs of two queues with the same seed
therefore form a pair for the statistics (docs/statistics.md).
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from aqmlab import estimates
from aqmlab.compare.plan import Plan, plan
from aqmlab.compare.queues import Arm
from aqmlab.compare.run import Run
from aqmlab.engine import EVERYTHING, Engine, Progress, Simulator
from aqmlab.estimates import Estimate
from aqmlab.experiment import campaign, in_order
from aqmlab.measures import Measure, MeasuredRun, key, measures
from aqmlab.ready import FOLDER
from aqmlab.results import Result
from aqmlab.scenario import ScenarioLike, warm_up_change, warm_up_of
from aqmlab.statistics import Interval, holm, paired_p_value
from aqmlab.store import Store

SCENARIO = FOLDER / "rfc7928.toml"
"""Default scenario."""
REPLICATIONS = 10
"""Default number of replications."""
SIGNIFICANT = 0.05
"""Corrected p-value below which a difference is significant."""


@dataclass(frozen=True)
class Comparison:
    """Results of a comparison: the measures of each queue in each replication.

    Attributes
    ----------
    scenario : dict
        Scenario of the first compared queue, including every default value.
    links : list of str
        Names of the links that have the compared queues.
    arms : list of Arm
        Compared queues.
    runs : list of list of Run
        Runs of each queue, in the order of their seeds.
    possible : list of Measure
        Measures that apply to the links and flows of the scenario.
    """

    scenario: dict[str, Any]
    links: list[str]
    arms: list[Arm]
    runs: list[list[Run]]
    possible: list[Measure[MeasuredRun]]

    @property
    def warm_up(self) -> str | None:
        """Warm-up as a time with its unit; None without a warm-up."""
        return warm_up_of(self.scenario)

    @property
    def replications(self) -> int:
        """Number of runs of each queue."""
        return len(self.runs[0])

    @cached_property
    def measures(self) -> list[Measure[MeasuredRun]]:
        """Measures that have a value in at least one run."""
        return [
            m for m in self.possible
            if any(not math.isnan(run.measures[m.name]) for runs in self.runs for run in runs)
        ]  # fmt: skip

    @cached_property
    def not_measured(self) -> list[Measure[MeasuredRun]]:
        """Measures that the engine did not measure in any run."""
        all_runs = [run for runs in self.runs for run in runs]
        return [m for m in self.possible if all(m.name in run.not_measured for run in all_runs)]

    def name(self, name: str, link: str) -> str:
        """Return the name of a link's measure, with the link's name if there are several links."""
        return key(name, link if len(self.links) > 1 else "")

    def values(self, arm: int, name: str) -> list[float]:
        """Return the values of a measure for one queue, one value per replication.

        Raises
        ------
        KeyError
            If no measure has that name.
        """
        if not any(m.name == name for m in self.possible):
            known = ", ".join(m.name for m in self.possible)
            raise KeyError(f"{name!r} is not a measure; choose from {known}")
        return [run.measures[name] for run in self.runs[arm]]

    def is_exceeded(self, arm: int, name: str) -> bool:
        """Return True if the measure is only a lower bound in at least one run of a queue."""
        return any(name in run.at_least for run in self.runs[arm])

    def estimate(self, arm: int, name: str) -> Estimate:
        """Return the mean of a measure with its interval; a lower bound has no interval."""
        values = self.values(arm, name)
        if self.is_exceeded(arm, name):
            values = [sum(values) / len(values)]
            return replace(estimates.mean(values), n=self.replications, exceeded=True)
        return estimates.mean(values)

    def interval(self, arm: int, name: str) -> Interval:
        """Return the mean of a measure and its 95 % interval; an unknown bound is NaN."""
        return self.estimate(arm, name).interval

    def difference(self, arm: int, name: str) -> Interval:
        """Return the mean difference of a measure to the first queue, with a 95 % interval.

        Each difference is taken between two runs with the same seed. With one replication, the
        bounds of the 95 % interval are NaN. If a value of the measure is only a lower bound, the
        mean difference and the bounds of its 95 % interval are NaN.
        """
        if self.is_exceeded(arm, name) or self.is_exceeded(0, name):
            return Interval(math.nan, math.nan, math.nan)
        return estimates.difference(self.values(arm, name), self.values(0, name)).interval

    @cached_property
    def _corrected(self) -> dict[tuple[int, str], float]:
        """P-values of all differences with Holm's correction, by arm and measure."""
        pairs = [(arm, m.name) for arm in range(1, len(self.arms)) for m in self.measures]
        return dict(zip(pairs, holm(self.p_value(*pair) for pair in pairs), strict=True))

    def p_value(self, arm: int, name: str) -> float:
        """Return the p-value of the difference to the first queue, by the paired t test.

        The p-value is NaN if there is only one replication or the difference is unknown.
        """
        if self.replications == 1 or math.isnan(self.difference(arm, name).middle):
            return math.nan
        return paired_p_value(self.values(arm, name), self.values(0, name))

    def corrected(self, arm: int, name: str) -> float:
        """Return the p-value of the difference to the first queue, with Holm's correction."""
        return self._corrected.get((arm, name), math.nan)

    def is_clear(self, arm: int, name: str) -> bool:
        """Return True if the difference to the first queue is significant (corrected p < 0.05)."""
        return self.corrected(arm, name) < SIGNIFICANT

    def is_identical(self, arm: int, name: str | None = None) -> bool:
        """Return True if a measure has the same values for a queue and for the first queue.

        The result is True only if the two queues have equal values in every replication. Without
        `name`, the function compares the values of all measures. The result is False for the first
        queue itself.
        """
        names = [name] if name else [m.name for m in self.measures]
        pairs = zip(self.runs[arm], self.runs[0], strict=True)
        return arm > 0 and all(
            run.measures[n] == first.measures[n]
            or (math.isnan(run.measures[n]) and math.isnan(first.measures[n]))
            for run, first in pairs
            for n in names
        )

    @cached_property
    def warnings(self) -> list[str]:
        """Warnings about settings that are valid but probably unintended, one sentence each."""
        by_subject: dict[str, dict[str, str]] = {}
        for arm, runs in zip(self.arms, self.runs, strict=True):
            for run in runs:
                for about, text in run.warnings.items():
                    by_subject.setdefault(about, {}).setdefault(arm.label, text)
        sentences = []
        for texts in by_subject.values():
            text = next(iter(texts.values()))
            common = len(texts) == len(self.arms)
            sentences.append(text if common else f"{', '.join(texts)}: {text}")
        equal = [arm.label for arm, runs in zip(self.arms, self.runs, strict=True) if _equal(runs)]
        if equal:
            sentences.append(
                f"all replications of {', '.join(equal)} give the same results, because the "
                "scenario does not depend on the seed; draw the start times or the sizes at "
                "random, or run one replication"
            )
        return sentences

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison for JSON, with intervals, differences and values of each run."""

        def with_nulls(numbers: dict[str, float]) -> dict[str, float | None]:
            return {k: None if math.isnan(v) else v for k, v in numbers.items()}

        def difference(arm: int, name: str) -> dict[str, float | None]:
            numbers = self.difference(arm, name)._asdict()
            ps = {"p": self.p_value(arm, name), "p_corrected": self.corrected(arm, name)}
            return with_nulls(numbers | ps)

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
                    "measures": {n: with_nulls(self.interval(i, n)._asdict()) for n in names},
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
    """Compare queues by simulating the same traffic with each of them.

    Parameters
    ----------
    queues : sequence or mapping of str, table or CustomQueue
        Compared queues: "red", "red:minth=5 packets", ``aqmlab.Red(minth="5 packets")`` or
        ``MyQueue()``. A queue can have a name: write "gentle=red:maxp=0.05", or pass a mapping from
        names to queues.
    scenario : path, name, dict or Scenario
        Scenario with the traffic and the network; default: the ready scenario rfc7928. Each
        compared queue inherits the buffer keys, such as the limit, of the queue in the scenario. If
        the compared queue itself sets a buffer key, the value in the scenario is ignored.
    replications : int
        Number of runs of each queue, 1 or more.
    jobs, progress
        Maximum number of parallel runs, and progress callback, as for :func:`aqmlab.run_each`.
    link : str or sequence of str
        Name of the link, or of several links, that get the compared queue. "bottleneck" stands for
        the bottleneck of a dumbbell.
    warm_up : str, optional
        Warm-up as a time with its unit, such as "5 s"; default: the warm-up of the scenario.
        Counts, delays and goodputs cover the time after the warm-up. Transfers that begin during
        the warm-up are excluded.
    overrides : sequence of (str, str)
        Changes of the scenario: dotted paths of keys and their values, as for ``--set``.
    store : Store, optional
        Store of finished runs, from which finished runs are read instead of being repeated.
    engine : Engine, optional
        Engine that runs the scenarios; the default is the simulator.
        :attr:`Comparison.not_measured` lists the measures that the engine does not support.

    Raises
    ------
    ValueError
        If a queue, a link, the warm-up or the number of replications is invalid.
    ScenarioError, InvariantViolation, OSError
        As for :func:`aqmlab.run`.

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
    possible = measures(planned.links, planned.crossing)
    runs = _run_all(planned, possible, engine or Simulator(planned.aqms), jobs, progress, store)
    by_arm = [runs[arm :: len(planned.arms)] for arm in range(len(planned.arms))]
    first = json.loads(planned.texts[0])
    return Comparison(first, planned.links, planned.arms, by_arm, possible)


def _run_all(
    planned: Plan,
    possible: list[Measure[MeasuredRun]],
    engine: Engine,
    jobs: int | None,
    progress: Progress | None,
    store: Store | None,
) -> list[Run]:
    """Run the planned scenarios and return their runs in the planned order."""

    def measured(result: Result) -> Run:
        return Run.of(MeasuredRun(result, planned.crossing), possible)

    requests = [(text,) for text in planned.texts]
    runs = campaign(requests, measured, engine=engine, store=store, jobs=jobs, progress=progress)
    return in_order(runs)


def _equal(runs: list[Run]) -> bool:
    """Return True if several runs with different seeds have the same values of all measures."""
    first = [str(value) for value in runs[0].measures.values()]
    return len(runs) > 1 and all([str(v) for v in r.measures.values()] == first for r in runs)
