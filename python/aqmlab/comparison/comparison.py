"""Comparison of queues: every queue gets the same traffic in each replication.

Runs with the same seed use the same random numbers for every queue. In these runs the flows have
the same start times, delays, sizes and arrival times. The runs of two queues with the same seed
therefore form a pair for the statistics (docs/statistics.md).
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from aqmlab import estimates, representation
from aqmlab.comparison import alternatives as others
from aqmlab.comparison.plan import SAME, Plan, plan
from aqmlab.comparison.primary import select
from aqmlab.comparison.queues import Arm
from aqmlab.comparison.run import Run, flow_goodputs
from aqmlab.engine import EVERYTHING, Engine, Progress, engine_with
from aqmlab.estimates import Estimate
from aqmlab.experiment import campaign, in_order
from aqmlab.measures import (
    Measure,
    MeasuredRun,
    is_column,
    key,
    measures,
    series_of,
)
from aqmlab.ready import FOLDER
from aqmlab.results import Result
from aqmlab.scenario import (
    Overrides,
    ScenarioLike,
    overrides_of,
    warm_up_change,
    warm_up_of,
)
from aqmlab.statistics import Interval, holm, permutation_p_value
from aqmlab.store import Store

if TYPE_CHECKING:
    from aqmlab.comparison.figures import Plots

SCENARIO = FOLDER / "rfc7928.toml"
"""Default scenario."""
REPLICATIONS = 10
"""Default number of replications."""
SIGNIFICANT = 0.05
"""Corrected p-value below which a difference is significant."""
NEARLY_EQUAL = 1e-3
"""Range of the values of a measure, divided by their mean, below which runs are nearly the same."""


@dataclass(frozen=True, repr=False)
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
    primary : tuple of str
        Names of the primary measures, which alone are tested for significance.
    alternatives : dict of str to Comparison
        Comparisons of the same queues under another assumption, by name, such as "second half".
    """

    scenario: dict[str, Any]
    links: list[str]
    arms: list[Arm]
    runs: list[list[Run]]
    possible: list[Measure[MeasuredRun]]
    primary: tuple[str, ...] = ()
    alternatives: dict[str, "Comparison"] = field(default_factory=dict)

    def __repr__(self) -> str:
        labels, n = ", ".join(arm.label for arm in self.arms), self.replications
        return f"<Comparison of {labels}: {n} run{'s' * (n > 1)} of each queue>"

    def _repr_html_(self) -> str:
        def text(arm: int, m: Measure[MeasuredRun]) -> str:
            low, middle, high = self.interval(arm, m.name)
            half = "" if math.isnan(high - low) else f" ± {m.text((high - low) / 2)}"
            return f"{'> ' * self.is_exceeded(arm, m.name)}{m.text(middle)}{half}"

        arms = range(len(self.arms))
        rows = [[m.axis, *(text(i, m) for i in arms)] for m in self.measures]
        n, after = self.replications, f", after a warm-up of {self.warm_up}" * bool(self.warm_up)
        lines = [
            f"Means of {n} runs of each queue{after}, ± half of their 95 % interval."
            if n > 1 else f"One run of each queue{after}."
        ]  # fmt: skip
        return representation.card(
            self.scenario["title"] or "Untitled scenario", lines, warnings=self.warnings,
            head=["", *(arm.label for arm in self.arms)], rows=rows, pictures=self.plot.small(),
        )  # fmt: skip

    @property
    def origin(self) -> str:
        """Title of the scenario, and seeds, for the metadata of figures."""
        title, seeds = self.scenario["title"] or "Untitled", [run.seed for run in self.runs[0]]
        return f"{title}; seed {seeds[0]}" + f" to {seeds[-1]}" * (len(seeds) > 1)

    @property
    def plot(self) -> "Plots":
        """Figures of the comparison, as methods: ``plot.trade_off()``, ``.delays()`` and more."""
        from aqmlab.comparison.figures import Plots

        return Plots(self)

    @property
    def second_half(self) -> "Comparison | None":
        """The same runs without their first half; None if the scenario has a warm-up or no end."""
        return self.alternatives.get(others.SECOND_HALF)

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
        """Measures that have a value in at least one run, the primary measures first."""
        known = [
            m for m in self.possible
            if any(not math.isnan(run.measures[m.name]) for runs in self.runs for run in runs)
        ]  # fmt: skip
        return sorted(known, key=lambda m: m.name not in self.primary)

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
        """P-values of the primary measures with Holm's correction, by arm and measure."""
        names = [m.name for m in self.measures if m.name in self.primary]
        pairs = [(arm, name) for arm in range(1, len(self.arms)) for name in names]
        return dict(zip(pairs, holm(self.p_value(*pair) for pair in pairs), strict=True))

    def p_value(self, arm: int, name: str) -> float:
        """Return the p-value of the difference to the first queue, by the paired permutation test.

        The p-value is NaN if there is only one replication or the difference is unknown.
        """
        if self.replications == 1 or math.isnan(self.difference(arm, name).middle):
            return math.nan
        return permutation_p_value(self.values(arm, name), self.values(0, name))

    @property
    def replications_needed(self) -> int:
        """Number of replications from which the test can find a significant difference.

        A difference that has the same sign in all of n pairs has at least the p-value 2/2^n, which
        Holm's correction multiplies by the number of tests.
        """
        tests = max(1, len(self._corrected))
        return math.floor(math.log2(2 * tests / SIGNIFICANT)) + 1

    def corrected(self, arm: int, name: str) -> float:
        """Return the p-value of the difference to the first queue, with Holm's correction.

        The p-value is NaN for a measure that is not primary.
        """
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
        sentences += [f"{arm.label}: {note}" for arm in self.arms for note in arm.notes]
        alike = {a.label: _range(runs) for a, runs in zip(self.arms, self.runs, strict=True)}
        equal = [label for label, part in alike.items() if part == 0]
        nearly = [label for label, part in alike.items() if 0 < part < NEARLY_EQUAL]
        if equal:
            sentences.append(
                f"all replications of {', '.join(equal)} give the same results, because the "
                "scenario does not depend on the seed; draw the start times or the sizes at "
                "random, or run one replication"
            )
        if nearly:
            sentences.append(
                f"all replications of {', '.join(nearly)} give nearly the same results (every "
                f"measure varies by less than {100 * NEARLY_EQUAL:g} %), so the intervals do not "
                "cover other start times or loads; vary phase_breaking.start, the sizes or the "
                "number of flows"
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
            "primary": list(self.primary),
            "engine": self.runs[0][0].engine or "simulator",
            "start_spread_s": self.runs[0][0].start_spread_s,
            "second_half": self.second_half.as_dict()["queues"] if self.second_half else None,
            "alternatives": [row | with_nulls(numbers) for row, numbers in others.table(self)],
            "queues": [
                {
                    "name": arm.label,
                    "queue": arm.queue,
                    "measures": {n: with_nulls(self.interval(i, n)._asdict()) for n in names},
                    "differences": {n: difference(i, n) for n in names} if i else {},
                    "flows": {
                        flow: {"round_trip_s": time_s, "goodput_bps": with_nulls(mean._asdict())}
                        for flow, (time_s, mean) in flow_goodputs(self.runs[i]).items()
                    },
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
    overrides: Overrides = (),
    store: Store | None = None,
    engine: Engine | None = None,
    ecn: bool = False,
    measure: Sequence[str] = (),
    alternatives: bool = True,
    report: Callable[[str], None] = lambda _: None,
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
    overrides : mapping or iterable of (str, value)
        Changes of the scenario by dotted path of the key, as for :func:`aqmlab.run`.
    store : Store, optional
        Store of finished runs, from which finished runs are read instead of being repeated.
    engine : Engine, optional
        Engine that runs the scenarios; the default is the simulator.
        :attr:`Comparison.not_measured` lists the measures that the engine does not support.
    ecn : bool
        True to enable ECN in the TCP flows without ECN. A sender whose congestion control needs
        another kind of ECN, such as Prague, keeps this kind.
    measure : sequence of str
        Names of the primary measures, or columns such as ``flows.timeouts.sum``, which are added
        to the measures. Default: the goodput, and the 95th percentiles of the queueing delay, of
        the transfer times and of the request times.
    alternatives : bool
        True to repeat the comparison without the first half of each run, and from 6 replications on
        also with another TCP stack and with other start times
        (:attr:`Comparison.alternatives`). Other engines than the simulator repeat it only without
        the first half.
    report : callable
        Function that is called with the names of the primary measures before the runs begin.

    Raises
    ------
    ValueError
        If a queue, a link, the warm-up or the number of replications is invalid.
    ScenarioError, InvariantViolation, OSError
        As for :func:`aqmlab.run`.

    Examples
    --------
    >>> c = compare(["drop_tail", "codel"], overrides={"duration": "5 s"}, replications=2)
    >>> c.difference(1, "mean_delay_s").middle < 0
    True
    """
    links = [link] if isinstance(link, str) else list(link)
    capabilities = engine.capabilities if engine else EVERYTHING
    changes = [*overrides_of(overrides), *warm_up_change(warm_up)]
    needed = [series for name in measure if is_column(name) and (series := series_of(name))]
    planned = plan(
        queues, scenario, replications, links, changes, capabilities,
        ecn=ecn, needed=needed, alternatives=alternatives, second_half=warm_up is None,
    )  # fmt: skip
    standard = measures(planned.links, planned.crossing)
    possible, primary = select(standard, measure, planned.links)
    by = engine_with(engine, planned.aqms)
    announce = cache(
        lambda: report(", ".join(m.in_sentence for m in possible if m.name in primary))
    )

    def shown(done: float, total: int) -> None:
        announce()  # at the first call, which follows the errors of the store
        if progress:
            progress(done, total)

    # All runs of a replication follow each other, so that an interrupted comparison has the first
    # replications as a whole.
    places = [
        (name, r, arm)
        for r in range(replications)
        for name, texts in planned.texts.items() if r < len(texts)
        for arm in range(len(planned.arms))
    ]  # fmt: skip
    texts = [planned.texts[name][r][arm] for name, r, arm in places]
    done = _run_all(texts, planned, possible, by, jobs, shown, store)
    announce()
    runs = dict(zip(places, done, strict=True))

    def compared(name: str, alternatives: dict[str, Comparison]) -> Comparison:
        texts = planned.texts[name]
        of_arms = [
            [runs[name, r, arm] for r in range(len(texts))] for arm in range(len(planned.arms))
        ]
        return Comparison(
            json.loads(texts[0][0]), planned.links, planned.arms, of_arms, possible, primary,
            alternatives,
        )  # fmt: skip

    return compared(SAME, {name: compared(name, {}) for name in planned.texts if name != SAME})


def _run_all(
    texts: list[str],
    planned: Plan,
    possible: list[Measure[MeasuredRun]],
    engine: Engine,
    jobs: int | None,
    progress: Progress | None,
    store: Store | None,
) -> list[Run]:
    """Run scenarios and return their runs in the same order."""

    def measured(result: Result) -> Run:
        return Run.of(MeasuredRun(result, planned.crossing), possible, planned.round_trips)

    requests = [(text,) for text in texts]
    runs = campaign(requests, measured, engine=engine, store=store, jobs=jobs, progress=progress)
    return in_order(runs)


def _range(runs: list[Run]) -> float:
    """Return the largest relative range of a measure over runs with different seeds.

    The result is infinite for a single run, and 0 for runs with equal measures.
    """
    if len(runs) < 2:
        return math.inf
    largest = 0.0
    for name in runs[0].measures:
        values = [run.measures[name] for run in runs]
        if all(math.isnan(x) for x in values):
            continue
        if any(math.isnan(x) for x in values):
            return math.inf
        width = max(values) - min(values)
        middle = abs(sum(values)) / len(values)
        largest = max(largest, width / middle if middle else (math.inf if width else 0.0))
    return largest
