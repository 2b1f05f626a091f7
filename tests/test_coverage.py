"""How often each interval holds what it should: the tables of docs/statistics.md.

``python tests/test_coverage.py`` measures them anew and writes them there (some minutes); the
test measures a hundred samples of each and holds them against what is written.
"""

import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.signal
import scipy.stats

from aqmlab import statistics
from aqmlab.experiment.rounds import enough
from aqmlab.statistics import mser

PAGE = Path(__file__).parents[1] / "docs" / "statistics.md"
SAMPLES = 4000
FEW = 100
SEED = 20_240
SIZES = (5, 10, 30, 100)
LENGTHS = (200, 1000, 5000)
MEMORY = 0.9
CHANCE = 0.1

Laws = dict[str, Any]
LAWS: Laws = {
    "normal": scipy.stats.norm(5, 1),
    "lognormal, σ = 1": scipy.stats.lognorm(1),
    "Pareto, shape 2.5": scipy.stats.pareto(2.5),
    "Pareto, shape 1.5": scipy.stats.pareto(1.5),
    f"Bernoulli, {CHANCE}": scipy.stats.bernoulli(CHANCE),
}
"""By their head in the table; the variance of a Pareto law of shape 2 or less is infinite."""


class Way(NamedTuple):
    """An interval: how it is made of a sample, what it should hold, and of which laws."""

    interval: Callable[[np.ndarray], statistics.Interval]
    truth: Callable[[Any], float]
    of: Callable[[str], bool] = lambda law: True  # noqa: ARG005


def bernoulli(law: str) -> bool:
    return law.startswith("Bernoulli")


def mean(law: Any) -> float:
    return float(law.mean())


def halves(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two arms of equal law."""
    return x[: len(x) // 2], x[len(x) // 2 :]


WAYS = {
    "`mean_interval`": Way(statistics.mean_interval, mean),
    "`paired_difference`": Way(lambda x: statistics.paired_difference(*halves(x)), lambda _: 0.0),
    "`bootstrap_interval`": Way(
        lambda x: statistics.bootstrap_interval(x, resamples=999), mean
    ),
    "`lognormal_mean_interval`": Way(
        statistics.lognormal_mean_interval, mean, lambda law: not bernoulli(law)
    ),
    "`quantile_interval`, median": Way(
        statistics.quantile_interval, lambda law: float(law.ppf(0.5))
    ),
    "`quantile_interval`, 0.95": Way(
        lambda x: statistics.quantile_interval(x, 0.95), lambda law: float(law.ppf(0.95))
    ),
    "`proportion_interval`": Way(
        lambda x: statistics.proportion_interval(int(x.sum()), len(x)), mean, bernoulli
    ),
    "`exact_proportion_interval`": Way(
        lambda x: statistics.exact_proportion_interval(int(x.sum()), len(x)), mean, bernoulli
    ),
}  # fmt: skip


def drawn(law: Any, n: int, samples: int) -> Iterator[np.ndarray]:
    """Samples of n independent values."""
    random = np.random.default_rng(SEED + n)
    yield from np.asarray(law.rvs((samples, n), random_state=random), dtype=float)


def series(law: Any, n: int, samples: int) -> Iterator[np.ndarray]:
    """Series in which each value is 0.9 of the one before it and a new one, around 0."""
    for x in drawn(law, n + 200, samples):
        yield scipy.signal.lfilter([1], [1, -MEMORY], x - law.mean())[200:]


def held(way: Way, law: Any, samples: Iterator[np.ndarray]) -> float:
    """Return the share of samples whose interval holds the truth."""
    truth, rounding = way.truth(law), 1e-12
    bounds = np.array([way.interval(x) for x in samples])[:, [0, 2]]
    return float(np.mean((bounds[:, 0] - rounding <= truth) & (truth <= bounds[:, 1] + rounding)))


def independent(samples: int) -> Iterator[tuple[str, int, str, float]]:
    """Give interval, n, law and coverage for independent values."""
    for name, way in WAYS.items():
        for n in SIZES:
            for law, of in LAWS.items():
                if way.of(law):
                    size = 2 * n if "paired" in name else n
                    yield name, n, law, held(way, of, drawn(of, size, samples))


def dependent(samples: int) -> Iterator[tuple[str, int, str, float]]:
    """Give interval, length, law and coverage for the values of one run."""
    for function in (statistics.batch_means, statistics.mean_interval):
        way = Way(function, lambda _: 0.0)
        for n in LENGTHS:
            for law, of in LAWS.items():
                yield f"`{function.__name__}`", n, law, held(way, of, series(of, n, samples))


def until_narrow(samples: int) -> Iterator[tuple[str, int, str, float]]:
    """Give the coverage when replications are added until the interval is narrow enough."""
    for first in (3, 5, 10):
        way = Way(partial(narrowed, first=first), mean)
        for law, of in LAWS.items():
            if not bernoulli(law):
                yield "until ±10 %, at most 100", first, law, held(way, of, drawn(of, 100, samples))


def narrowed(x: np.ndarray, first: int) -> statistics.Interval:
    """The interval of as many of the values as the rule of experiments takes."""
    n = first
    while (more := enough(list(x[:n]), 0.1, len(x))) > n:
        n = more
    return statistics.mean_interval(x[:n])


def warmed_up(samples: int) -> Iterator[tuple[str, int, str, float]]:
    """Give the coverage of batch means for series that begin 50 too high, with MSER-5 or without.

    Each value has 0.99 of the excess of the one before it.
    """
    rules = {"`batch_means`": lambda _: 0, "`mser`, then `batch_means`": lambda x: mser(x)[0]}
    for name, rule in rules.items():

        def cut(x: np.ndarray, rule: Any = rule) -> statistics.Interval:
            high = x + 50 * 0.99 ** np.arange(len(x))
            return statistics.batch_means(high[rule(high) :])

        for n in LENGTHS:
            for law, of in LAWS.items():
                yield name, n, law, held(Way(cut, lambda _: 0.0), of, series(of, n, samples))


TABLES = {
    "independent": independent,
    "one run": dependent,
    "until narrow": until_narrow,
    "warm-up": warmed_up,
}


def markdown(rows: Iterator[tuple[str, int, str, float]]) -> str:
    """Return the table of a page."""
    lines: dict[tuple[str, int], dict[str, str]] = {}
    for name, n, law, share in rows:
        lines.setdefault((name, n), {})[law] = f"{100 * share:.1f}"
    text = [["Interval", "n", *LAWS], ["---"] * (2 + len(LAWS))]
    text += [[name, str(n), *(c.get(law, "–") for law in LAWS)] for (name, n), c in lines.items()]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in text)


def place(kind: str) -> re.Pattern[str]:
    """Where the table of a kind stands in the page."""
    return re.compile(rf"(<!-- coverage: {kind} -->\n)(.*?)(\n<!-- end -->)", re.DOTALL)


def written(kind: str) -> dict[tuple[str, int, str], float]:
    """Return what the page says."""
    found = place(kind).search(PAGE.read_text("utf-8"))
    assert found, f"the table {kind!r} is in {PAGE.name}"
    head, _, *rows = [line.strip("| ").split(" | ") for line in found[2].splitlines()]
    return {
        (row[0], int(row[1]), law): float(cell) / 100
        for row in rows
        for law, cell in zip(head[2:], row[2:], strict=True)
        if cell != "–"
    }


@pytest.mark.parametrize("kind", TABLES)
def test_intervals_hold_what_the_page_says(kind: str) -> None:
    said, found = written(kind), list(TABLES[kind](FEW))
    assert said.keys() == {row[:3] for row in found}
    for name, n, law, share in found:
        expected = said[name, n, law]
        noise = (max(expected * (1 - expected), 0.005) * (1 / FEW + 1 / SAMPLES)) ** 0.5
        assert abs(share - expected) < 4.5 * noise, (name, n, law)


if __name__ == "__main__":
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES
    text = PAGE.read_text("utf-8")
    for kind, rows in TABLES.items():
        table = markdown(rows(samples))
        text = place(kind).sub(lambda m, table=table: m[1] + table + m[3], text)  # type: ignore[misc]
    PAGE.write_text(text, "utf-8")
