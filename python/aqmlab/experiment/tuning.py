"""RED's thresholds found by trying: so that the average queue stays between them under given loads.

Whether marks or drops come by RED's dice at all is decided by where its average is: below minth
nothing is signalled, above maxth everything. A study of RED or ECN has to see to it first
(`rfc2884`, section 4.4: by hand). Here pairs of thresholds of one ratio are tried under every load:
first a ladder of them, then what lies between the neighbours of the best. The best pair is that
whose worst load has the greatest share of time in the region, to a whole percent; of equal ones the
lowest, which has the shortest queue.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aqmlab._core import ScenarioError
from aqmlab.custom import at, places
from aqmlab.engine import Engine, Progress, Simulator
from aqmlab.experiment.campaign import campaign, check_count
from aqmlab.results import Result
from aqmlab.scenario import (
    ScenarioLike,
    as_said,
    given_warm_up,
    normalize,
    seconds,
    warm_up_change,
)
from aqmlab.store import Store

KEYS = {
    "red": ("minth", "maxth"), "nonlinear_red": ("minth", "maxth"), "red_pd": ("minth", "maxth"),
    "choke": ("minth", "maxth"), "tc_red": ("min", "max"),
}  # fmt: skip
"""Kinds of queues whose thresholds can be tuned, and what they call them."""

RATIO = 3.0
"""maxth over minth (`floyd1997parameters`)."""
STEP = 1.5
"""How far the ladder's rungs are apart."""
BETWEEN = 6
"""At most so many pairs are tried around the best rung."""

Overrides = Sequence[tuple[str, str]]
"""Dotted paths of a scenario and their values in TOML."""


@dataclass(frozen=True)
class RedQueue:
    """A queue with thresholds: where it is, what they are called, and in which unit they are."""

    link: str
    path: str
    keys: tuple[str, str]
    unit: str
    limit: float

    def overrides(self, minth: float, maxth: float) -> list[tuple[str, str]]:
        """Return what sets its thresholds."""
        pairs = zip(self.keys, (minth, maxth), strict=True)
        return [(f"{self.path}.{key}", f"'{value:.12g} {self.unit}'") for key, value in pairs]

    def pair(self, minth: float, ratio: float) -> tuple[float, float]:
        """Return minth and maxth; bytes are whole."""
        maxth = ratio * minth
        return minth, round(maxth) if self.unit == "B" else maxth


@dataclass(frozen=True)
class Shares:
    """Where the average is, of the time: below minth, between, at maxth or above (each 0..1)."""

    below: float
    inside: float
    above: float

    @classmethod
    def of(cls, average: Iterable[float], minth: float, maxth: float) -> "Shares":
        """Return the shares of samples.

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
        """Return their means."""
        rows = np.array([(one.below, one.inside, one.above) for one in several])
        return cls(*map(float, rows.mean(axis=0)))


@dataclass(frozen=True)
class Tried:
    """A pair of thresholds, and where the average was under each load."""

    minth: float
    maxth: float
    shares: Mapping[str, Shares]

    @property
    def worst(self) -> str:
        """The load that is least in the region."""
        return min(self.shares, key=lambda load: self.shares[load].inside)

    @property
    def score(self) -> float:
        """The share in the region under that load."""
        return self.shares[self.worst].inside


@dataclass(frozen=True)
class Tuning:
    """What was tried, from low to high, and the best of it."""

    queue: RedQueue
    tried: list[Tried]

    @property
    def best(self) -> Tried:
        """The best pair."""
        return best(self.tried)

    def frame(self) -> Any:
        """Return a table: a row a pair and load, shares in 0..1."""
        import pandas as pd

        return pd.DataFrame(
            {
                "minth": one.minth, "maxth": one.maxth, "unit": self.queue.unit, "load": load,
                "below": share.below, "inside": share.inside, "above": share.above,
                "best": int(one == self.best),
            }
            for one in self.tried
            for load, share in one.shares.items()
        )  # fmt: skip


def best(tried: Iterable[Tried]) -> Tried:
    """Return the pair with the greatest score to a whole percent; of equal ones the lowest."""
    return max(tried, key=lambda one: (round(100 * one.score), -one.minth))


def ladder(low: float, high: float) -> list[float]:
    """Return the lower thresholds that are tried first: each about half as much more.

    Examples
    --------
    >>> ladder(2, 20)
    [2, 3, 4, 6, 9, 14, 20]
    """
    steps = max(1, round(math.log(high / low) / math.log(STEP)))
    return sorted({round(low * (high / low) ** (k / steps)) for k in range(steps + 1)})


def between(tried: Sequence[float], middle: float) -> list[float]:
    """Return what to try next: whole numbers between the neighbours of the best.

    Examples
    --------
    >>> between([2, 3, 4, 6, 9, 14, 20], 6)
    [5, 7, 8]
    """
    k = sorted(tried).index(middle)
    low, high = sorted(tried)[max(0, k - 1)], sorted(tried)[min(len(tried) - 1, k + 1)]
    inside = [value for value in range(int(low) + 1, int(high)) if value not in tried]
    chosen = np.linspace(0, len(inside) - 1, min(len(inside), BETWEEN)).round().astype(int)
    return [inside[i] for i in chosen]


def red_queues(scenario: ScenarioLike) -> list[RedQueue]:
    """Return the queues of a scenario whose thresholds can be tuned, those in schedulers too."""
    whole = json.loads(normalize(scenario))
    return [
        queue
        for link, path in places(whole).items()
        if link != "bottleneck"  # that of a dumbbell has a second name
        for queue in _within(at(whole, path), path, link)
    ]


def _within(queue: Any, path: str, link: str) -> Iterator[RedQueue]:
    if not isinstance(queue, dict):
        return
    if queue["kind"] in KEYS:
        keys = KEYS[queue["kind"]]
        _, unit = _amount(queue[keys[1]])
        limit, of = _amount(queue["limit"])
        yield RedQueue(link, path, keys, unit, limit if of == unit else math.inf)
    for i, one in enumerate(queue.get("classes") or []):
        yield from _within(one.get("queue"), f"{path}.classes.{i}.queue", link)
    if queue.get("queue"):
        yield from _within(queue["queue"], f"{path}.queue", link)


BYTES = {
    "B": 1, "kB": 1000, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
}  # fmt: skip


def _amount(text: str) -> tuple[float, str]:
    """Return an amount in packets or in B; in another unit, such as a time, as it is.

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
    """Return the queue that is tuned: the only one, or that of a link.

    Raises
    ------
    ScenarioError
        If there is none or several; says which there are.
    """
    every = red_queues(scenario)
    known = list(dict.fromkeys(queue.link for queue in every))
    if not every:
        kinds = ", ".join(KEYS)
        raise ScenarioError(
            f"no link of this scenario has a queue with thresholds to tune ({kinds})"
        )
    here = [queue for queue in every if link in (None, queue.link)]
    if not here:
        raise ScenarioError(f"--link {link!r} has no such queue; these have: {', '.join(known)}")
    if len(here) > 1 and len(known) > 1 and link is None:
        raise ScenarioError(
            f"several links have a queue with thresholds: {', '.join(known)}; name one with --link"
        )
    if len(here) > 1:
        raise ScenarioError(
            f"link {here[0].link} has several queues with thresholds, and averages of their own"
        )
    return here[0]


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
    """Find thresholds that keep the average in RED's region under every load.

    Parameters
    ----------
    scenario : path, dict or Scenario
        Has a queue with thresholds.
    loads : mapping of str to overrides
        What each load changes in the scenario.
    link : str, optional
        The link whose queue is tuned; default: the only one with such a queue.
    minth : (float, float), optional
        Least and greatest minth, in the unit of the queue's thresholds; default: from 2 packets or
        2000 bytes on, to the greatest whose maxth the buffer still holds, at most 64 times as much.
    ratio : float
        maxth over minth, above 1.
    warm_up : str, optional
        A time with its unit, for the key `warm_up` of the scenario. Default: that of the scenario;
        if it has none, a fifth of its duration.
    replications : int
        Runs a pair and load, whose seeds follow each other.
    jobs, engine, store, progress
        As :func:`aqmlab.experiment.run_many`.

    Returns
    -------
    Tuning

    Raises
    ------
    ScenarioError
        If the scenario is wrong, or has no such queue or several.
    ValueError
        If there is no load, nothing between the bounds to try, or no sample after the warm-up.
    """
    check_count("replications", replications)
    if not loads:
        raise ValueError("tuning needs a load at least")
    if not ratio > 1:
        raise ValueError(f"ratio {ratio:g} must be above 1: maxth is so many times minth")
    said = as_said(scenario)
    queue = the_queue(said, link)
    low, high = minth or _bounds(queue, ratio)
    most = queue.limit / ratio
    if not 1 <= low <= high or low > most:
        held = "" if math.isinf(most) else f"; the buffer holds {queue.limit:g} {queue.unit}"
        raise ValueError(
            f"minth from {low:g} to {high:g} {queue.unit} with maxth {ratio:g} times as much "
            f"leaves nothing to try{held}"
        )
    trial = _Trial(said, queue, dict(loads), ratio, warm_up, replications)
    first = ladder(low, min(high, math.floor(most) if math.isfinite(most) else high))
    running = {"jobs": jobs, "engine": engine or Simulator(), "store": store}
    tried = trial.run(first, progress=progress, **running)
    more = between(first, best(tried).minth)
    tried += trial.run(more, progress=progress, **running)
    return Tuning(queue, sorted(tried, key=lambda one: one.minth))


def _bounds(queue: RedQueue, ratio: float) -> tuple[float, float]:
    low = 2.0 if queue.unit == "packets" else 2000.0
    return low, max(low, min(64 * low, math.floor(queue.limit / ratio) if math.isfinite(queue.limit)
                             else math.inf))  # fmt: skip


@dataclass(frozen=True)
class _Trial:
    said: dict[str, Any]
    queue: RedQueue
    loads: dict[str, Overrides]
    ratio: float
    warm_up: str | None
    replications: int

    def run(self, minths: Sequence[float], **how: Any) -> list[Tried]:
        """Try pairs of thresholds under every load."""
        asks, keys = [], []
        for minth in minths:
            pair = self.queue.pair(minth, self.ratio)
            for load, changes in self.loads.items():
                changes = [*changes, *self.queue.overrides(*pair), *warm_up_change(self.warm_up)]
                base = json.loads(normalize(self.said, overrides=changes))
                if self.warm_up is None and not given_warm_up(base) and base["duration"]:
                    base["warm_up"] = f"{seconds(base['duration']) / 5!r} s"
                told = {"series": ["queue"], "links": [self.queue.link]}
                base["record"] = {"interval": base["record"]["interval"], **told}
                seeds = range(base["seed"], base["seed"] + self.replications)
                asks.append(tuple(normalize(base | {"seed": seed}) for seed in seeds))
                keys.append((pair, load))
        found: dict[tuple[float, float], dict[str, Shares]] = {pair: {} for pair, _ in keys}

        def reduce(*results: Result) -> list[Any]:
            return [average_of(result) for result in results]

        for i, averages in sorted(campaign(asks, reduce, **how), key=lambda done: done[0]):
            pair, load = keys[i]
            found[pair][load] = Shares.mean(Shares.of(average, *pair) for average in averages)
        return [Tried(*pair, shares) for pair, shares in found.items()]


def average_of(result: Result) -> Any:
    """Return the samples of the average queue after the warm-up, in the unit of the law.

    Raises
    ------
    ValueError
        If there are none.
    """
    columns = result.columns("queue")
    average = np.asarray(columns["average_packets"])
    if np.isnan(average).all():
        average = np.asarray(columns["average_bytes"])
    if not len(average):
        warm_up = result.scenario["warm_up"]
        raise ValueError(f"warm_up: {warm_up} leaves no sample; shorten it, or record.interval")
    return average
