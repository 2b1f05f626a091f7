"""Search for RED thresholds that keep the average queue between them under several loads.

RED signals packets at random only while its average queue is between the thresholds. Below minth
RED signals no packet, and above maxth it signals every packet. A study of RED or ECN must therefore
choose thresholds that suit its loads; `rfc2884`, section 4.4, chooses them by hand. The search
simulates pairs of thresholds with a constant ratio under every load. The search first tries values
of minth in coarse steps, and then values near the best coarse value. The score of a pair is the
share of time that the average queue is between the thresholds, under the load with the smallest
share, in whole percent. The best pair has the maximum score. If several pairs have the maximum
score, the pair with the lowest minth is the best, because it gives the shortest queue. Pairs whose
scores differ by less than the 95 % interval of the difference are tied, which the result shows.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from aqmlab import estimates
from aqmlab._core import ScenarioError
from aqmlab.custom import at, places
from aqmlab.engine import Engine, Progress, Simulator
from aqmlab.experiment.campaign import campaign, check_count
from aqmlab.results import Result
from aqmlab.scenario import (
    ScenarioLike,
    as_written,
    normalize,
    seconds,
    warm_up_change,
    warm_up_of,
)
from aqmlab.store import Store

KEYS = {
    "red": ("minth", "maxth"), "nonlinear_red": ("minth", "maxth"), "red_pd": ("minth", "maxth"),
    "choke": ("minth", "maxth"), "tc_red": ("min", "max"),
}  # fmt: skip
"""Keys of the two thresholds, for each kind of queue whose thresholds can be tuned."""

RATIO = 3.0
"""Default ratio of maxth to minth (`floyd1997parameters`)."""
STEP = 1.5
"""Approximate ratio between consecutive values of minth in the first part of the search."""
BETWEEN = 6
"""Maximum number of pairs of thresholds in the second part of the search."""

Overrides = Sequence[tuple[str, str]]
"""Dotted paths of scenario keys, each with a value in TOML syntax."""


@dataclass(frozen=True)
class RedQueue:
    """Queue of a scenario whose thresholds can be tuned.

    Attributes
    ----------
    link : str
        Name of the link.
    path : str
        Dotted path of the queue in the scenario.
    keys : (str, str)
        Keys of the lower threshold and of the upper threshold.
    unit : str
        Unit of the thresholds.
    limit : float
        Limit of the buffer in the unit of the thresholds; infinite if the limit has another unit.
    """

    link: str
    path: str
    keys: tuple[str, str]
    unit: str
    limit: float

    def overrides(self, minth: float, maxth: float) -> list[tuple[str, str]]:
        """Return the scenario keys and values that set the thresholds of this queue."""
        pairs = zip(self.keys, (minth, maxth), strict=True)
        return [(f"{self.path}.{key}", f"'{value:.12g} {self.unit}'") for key, value in pairs]

    def pair(self, minth: float, ratio: float) -> tuple[float, float]:
        """Return minth, and maxth = `ratio` × minth; maxth in bytes is rounded."""
        maxth = ratio * minth
        return minth, round(maxth) if self.unit == "B" else maxth


@dataclass(frozen=True)
class Shares:
    """Shares of the time that the average queue is below, between and above the thresholds.

    Attributes
    ----------
    below, inside, above : float
        Shares of the time, in 0..1, in which the average queue is below minth, at least minth and
        below maxth, and at least maxth.
    """

    below: float
    inside: float
    above: float

    @classmethod
    def of(cls, average: Iterable[float], minth: float, maxth: float) -> "Shares":
        """Compute the shares of queue samples below, between and above the two thresholds.

        Examples
        --------
        >>> Shares.of([4, 5, 14, 15], 5, 15)
        Shares(below=0.25, inside=0.5, above=0.25)
        """
        samples = np.asarray(average, dtype=float)
        below, above = float((samples < minth).mean()), float((samples >= maxth).mean())
        return cls(below, 1 - below - above, above)

    @classmethod
    def mean(cls, several: Iterable["Shares"]) -> "Shares":
        """Return the mean of each share over several runs."""
        rows = np.array([(one.below, one.inside, one.above) for one in several])
        return cls(*map(float, rows.mean(axis=0)))


@dataclass(frozen=True)
class ThresholdPair:
    """Pair of RED thresholds that was simulated under each load.

    For each load, `runs` has the fractions of time in which the average queue was below, between
    and above the thresholds, for each replication.
    """

    minth: float
    maxth: float
    runs: Mapping[str, Sequence[Shares]]

    @cached_property
    def shares(self) -> dict[str, Shares]:
        """Mean shares over the replications, for each load."""
        return {load: Shares.mean(runs) for load, runs in self.runs.items()}

    @property
    def worst(self) -> str:
        """Load under which the share of time between the thresholds is the smallest."""
        return min(self.shares, key=lambda load: self.shares[load].inside)

    @property
    def score(self) -> float:
        """Share of time that the average queue is between the thresholds, under the worst load."""
        return self.shares[self.worst].inside

    @property
    def inside(self) -> list[float]:
        """Share of time between the thresholds under the worst load, for each replication."""
        return [run.inside for run in self.runs[self.worst]]


@dataclass(frozen=True)
class Tuning:
    """Result of a search: the queue, and all simulated pairs of thresholds, sorted by minth."""

    queue: RedQueue
    pairs: list[ThresholdPair]

    @property
    def best(self) -> ThresholdPair:
        """Best pair of thresholds."""
        return best(self.pairs)

    @property
    def tied(self) -> list[ThresholdPair]:
        """Pairs of thresholds that are tied with the best pair, including the best pair."""
        return tied(self.pairs)

    def frame(self) -> Any:
        """Return a table with one row per pair of thresholds and load, with shares in 0..1."""
        import pandas as pd

        return pd.DataFrame(
            {
                "minth": one.minth, "maxth": one.maxth, "unit": self.queue.unit, "load": load,
                "below": share.below, "inside": share.inside, "above": share.above,
                "best": int(one == self.best), "tied": int(one in self.tied),
            }
            for one in self.pairs
            for load, share in one.shares.items()
        )  # fmt: skip


def best(pairs: Iterable[ThresholdPair]) -> ThresholdPair:
    """Return the pair with the maximum score; among equal scores, that with the lowest minth."""
    return max(pairs, key=lambda one: (round(100 * one.score), -one.minth))


def tied(pairs: Iterable[ThresholdPair]) -> list[ThresholdPair]:
    """Return the pairs that are tied with the best pair, including the best pair.

    A pair is tied if its score equals that of the best pair in whole percent, or if the 95 %
    interval of the paired difference of the scores contains 0.
    """
    every = list(pairs)
    top = best(every)

    def equal(one: ThresholdPair) -> bool:
        apart = estimates.difference(top.inside, one.inside)
        return round(100 * one.score) == round(100 * top.score) or apart.low <= 0 <= apart.high

    return [one for one in every if equal(one)]


def ladder(low: float, high: float) -> list[float]:
    """Return the values of minth in the first part of the search, in steps of a factor of 1.5.

    Examples
    --------
    >>> ladder(2, 20)
    [2, 3, 4, 6, 9, 14, 20]
    """
    steps = max(1, round(math.log(high / low) / math.log(STEP)))
    return sorted({round(low * (high / low) ** (k / steps)) for k in range(steps + 1)})


def between(minths: Sequence[float], middle: float) -> list[float]:
    """Return the values of minth in the second part of the search.

    In the sorted values of the first part, the best value has a lower and a higher neighbour. The
    second part uses whole numbers between the lower and the higher neighbour.

    Examples
    --------
    >>> between([2, 3, 4, 6, 9, 14, 20], 6)
    [5, 7, 8]
    """
    ordered = sorted(minths)
    k = ordered.index(middle)
    low, high = ordered[max(0, k - 1)], ordered[min(len(ordered) - 1, k + 1)]
    inside = [value for value in range(int(low) + 1, int(high)) if value not in ordered]
    chosen = np.linspace(0, len(inside) - 1, min(len(inside), BETWEEN)).round().astype(int)
    return [inside[i] for i in chosen]


def red_queues(scenario: ScenarioLike) -> list[RedQueue]:
    """Return all queues of a scenario with tunable thresholds, even inside schedulers."""
    whole = json.loads(normalize(scenario))
    return [
        queue
        for link, path in places(whole).items()
        if link != "bottleneck"  # the bottleneck of a dumbbell also has the name left>right
        for queue in _within(at(whole, path), path, link)
    ]


def _within(queue: Any, path: str, link: str) -> Iterator[RedQueue]:
    """Yield the queues with tunable thresholds: the given queue, and queues inside it."""
    if not isinstance(queue, dict):
        return
    if queue["kind"] in KEYS:
        keys = KEYS[queue["kind"]]
        _, unit = _amount(queue[keys[1]])
        limit, limit_unit = _amount(queue["limit"])
        yield RedQueue(link, path, keys, unit, limit if limit_unit == unit else math.inf)
    for i, one in enumerate(queue.get("classes") or []):
        yield from _within(one.get("queue"), f"{path}.classes.{i}.queue", link)
    if queue.get("queue"):
        yield from _within(queue["queue"], f"{path}.queue", link)


BYTES = {
    "B": 1, "kB": 1000, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
}  # fmt: skip


def _amount(text: str) -> tuple[float, str]:
    """Split an amount into number and unit; kB, MiB and similar units are converted to B.

    Examples
    --------
    >>> _amount("1 packet"), _amount("2 KiB"), _amount("50 ms")
    ((1.0, 'packets'), (2048.0, 'B'), (50.0, 'ms'))
    """
    number, unit = text.split()
    if unit in BYTES:
        return float(number) * BYTES[unit], "B"
    return float(number), "packets" if unit == "packet" else unit


def the_queue(scenario: ScenarioLike, link: str | None = None) -> RedQueue:
    """Return the queue to tune: that of `link`, or the only queue with tunable thresholds.

    Raises
    ------
    ScenarioError
        If the scenario has no queue with tunable thresholds, or several; the message names their
        links.
    """
    every = red_queues(scenario)
    known = list(dict.fromkeys(queue.link for queue in every))
    if not every:
        kinds = ", ".join(KEYS)
        raise ScenarioError(
            "the scenario has no queue with tunable thresholds; set the kind of a queue to one of "
            f"{kinds}"
        )
    candidates = [queue for queue in every if link in (None, queue.link)]
    if not candidates:
        raise ScenarioError(
            f"--link {link!r} has no queue with tunable thresholds; choose one of the links "
            f"{', '.join(known)}"
        )
    if len(candidates) > 1 and len(known) > 1 and link is None:
        raise ScenarioError(
            f"several links have a queue with tunable thresholds: {', '.join(known)}; choose one "
            "of them with --link"
        )
    if len(candidates) > 1:
        raise ScenarioError(
            f"link {candidates[0].link} has {len(candidates)} queues with tunable thresholds, but "
            "the search supports only one per link; change the kind of the others"
        )
    return candidates[0]


def tune(
    scenario: ScenarioLike,
    loads: Mapping[str, Overrides],
    *,
    link: str | None = None,
    minth: tuple[float, float] | None = None,
    ratio: float = RATIO,
    warm_up: str | None = None,
    replications: int = 3,
    jobs: int | None = None,
    engine: Engine | None = None,
    store: Store | None = None,
    progress: Progress | None = None,
) -> Tuning:
    """Find RED thresholds that keep the average queue between them under every load.

    Parameters
    ----------
    scenario : path, name, dict or Scenario
        Scenario with a RED queue, or another queue of a kind in `KEYS`.
    loads : mapping of str to overrides
        Changes of the scenario by each load, by name of the load.
    link : str, optional
        Link whose queue is tuned; default: the only link whose queue has tunable thresholds.
    minth : (float, float), optional
        Minimum and maximum of minth in the unit of the queue's thresholds. The default minimum is 2
        packets or 2000 bytes. The default maximum is 64 times the default minimum, or less if maxth
        would exceed the buffer.
    ratio : float
        Ratio of maxth to minth, above 1.
    warm_up : str, optional
        Warm-up as a time with its unit; default: the warm-up of the scenario, or a fifth of its
        duration if the scenario has no warm-up.
    replications : int
        Number of runs per pair of thresholds and load, with consecutive seeds.
    jobs, engine, store, progress
        As for :func:`aqmlab.experiment.run_many`.

    Returns
    -------
    Tuning
        All simulated pairs of thresholds, including the best pair.

    Raises
    ------
    ScenarioError
        If the scenario is wrong, or if the queue to tune is not unique.
    ValueError
        If `loads` is empty, if the bounds of minth contain no possible value, or if no sample of
        the average queue is later than the warm-up.
    """
    check_count("replications", replications)
    if not loads:
        raise ValueError("loads is empty; give at least one load")
    if not ratio > 1:
        raise ValueError(
            f"ratio is {ratio:g}; it must be above 1, because maxth is ratio times minth"
        )
    written = as_written(scenario)
    queue = the_queue(written, link)
    low, high = minth or _bounds(queue, ratio)
    maximum = queue.limit / ratio
    if not 1 <= low <= high or low > maximum:
        limit = (
            "" if math.isinf(maximum) else
            f", because maxth is {ratio:g} times minth and must fit the buffer of "
            f"{queue.limit:g} {queue.unit}"
        )  # fmt: skip
        raise ValueError(
            f"minth: no value from {low:g} to {high:g} {queue.unit} is possible{limit}; "
            "change the bounds of minth or the ratio"
        )
    trials = _Trials(written, queue, dict(loads), ratio, warm_up, replications)
    first = ladder(low, min(high, math.floor(maximum) if math.isfinite(maximum) else high))
    options = {"jobs": jobs, "engine": engine or Simulator(), "store": store}
    pairs = trials.run(first, progress=progress, **options)
    second = between(first, best(pairs).minth)
    pairs += trials.run(second, progress=progress, **options)
    return Tuning(queue, sorted(pairs, key=lambda one: one.minth))


def _bounds(queue: RedQueue, ratio: float) -> tuple[float, float]:
    """Return the default minimum and maximum of the examined values of minth."""
    low = 2.0 if queue.unit == "packets" else 2000.0
    return low, max(low, min(64 * low, math.floor(queue.limit / ratio) if math.isfinite(queue.limit)
                             else math.inf))  # fmt: skip


@dataclass(frozen=True)
class _Trials:
    """Runs of a scenario with different pairs of thresholds and loads."""

    written: dict[str, Any]
    queue: RedQueue
    loads: dict[str, Overrides]
    ratio: float
    warm_up: str | None
    replications: int

    def run(self, minths: Sequence[float], **options: Any) -> list[ThresholdPair]:
        """Run each pair of thresholds under every load; `options` are passed to the campaign."""
        requests, keys = [], []
        for minth in minths:
            pair = self.queue.pair(minth, self.ratio)
            for load, changes in self.loads.items():
                changes = [*changes, *self.queue.overrides(*pair), *warm_up_change(self.warm_up)]
                base = json.loads(normalize(self.written, overrides=changes))
                if self.warm_up is None and not warm_up_of(base) and base["duration"]:
                    base["warm_up"] = f"{seconds(base['duration']) / 5!r} s"
                record = {"series": ["queue"], "links": [self.queue.link]}
                base["record"] = {"interval": base["record"]["interval"], **record}
                seeds = range(base["seed"], base["seed"] + self.replications)
                requests.append(tuple(normalize(base | {"seed": seed}) for seed in seeds))
                keys.append((pair, load))
        by_pair: dict[tuple[float, float], dict[str, list[Shares]]] = {pair: {} for pair, _ in keys}

        def reduce(*results: Result) -> list[Any]:
            return [average_of(result) for result in results]

        for i, averages in sorted(campaign(requests, reduce, **options), key=lambda done: done[0]):
            pair, load = keys[i]
            by_pair[pair][load] = [Shares.of(average, *pair) for average in averages]
        return [ThresholdPair(*pair, runs) for pair, runs in by_pair.items()]


def average_of(result: Result) -> Any:
    """Return the samples of the average queue after the warm-up, in the unit of the thresholds.

    Raises
    ------
    ValueError
        If no sample is later than the warm-up.
    """
    columns = result.columns("queue")
    average = np.asarray(columns["average_packets"])
    if np.isnan(average).all():
        average = np.asarray(columns["average_bytes"])
    if not len(average):
        warm_up = result.scenario["warm_up"]
        raise ValueError(
            f"warm_up: {warm_up}: the run has no sample of the queue after the warm-up; reduce "
            "warm_up or record.interval"
        )
    return average
