"""Coverage of each kind of confidence interval, as in the tables of docs/statistics.md.

``python tests/test_coverage.py`` measures the coverages and writes the tables into the page, which
takes some minutes. The test measures each coverage with a hundred samples, and compares the
measured coverage with the coverage in docs/statistics.md.
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

Distributions = dict[str, Any]
DISTRIBUTIONS: Distributions = {
    "normal": scipy.stats.norm(5, 1),
    "lognormal, σ = 1": scipy.stats.lognorm(1),
    "Pareto, shape 2.5": scipy.stats.pareto(2.5),
    "Pareto, shape 1.5": scipy.stats.pareto(1.5),
    f"Bernoulli, {CHANCE}": scipy.stats.bernoulli(CHANCE),
}
"""Distributions of the samples, by the name of their column in the tables.

A Pareto distribution with a shape of at most 2 has infinite variance.
"""


class Method(NamedTuple):
    """Interval of a sample, the estimated value, and the distributions with a valid interval."""

    interval: Callable[[np.ndarray], statistics.Interval]
    truth: Callable[[Any], float]
    applies: Callable[[str], bool] = lambda distribution: True  # noqa: ARG005


def bernoulli(distribution: str) -> bool:
    return distribution.startswith("Bernoulli")


def mean(distribution: Any) -> float:
    return float(distribution.mean())


def halves(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split a sample into two halves, which serve as two arms with equal distributions."""
    return x[: len(x) // 2], x[len(x) // 2 :]


METHODS = {
    "`mean_interval`": Method(statistics.mean_interval, mean),
    "`paired_difference`": Method(
        lambda x: statistics.paired_difference(*halves(x)), lambda _: 0.0
    ),
    "`bootstrap_interval`": Method(
        lambda x: statistics.bootstrap_interval(x, resamples=999), mean
    ),
    "`lognormal_mean_interval`": Method(
        statistics.lognormal_mean_interval, mean, lambda name: not bernoulli(name)
    ),
    "`quantile_interval`, median": Method(
        statistics.quantile_interval, lambda distribution: float(distribution.ppf(0.5))
    ),
    "`quantile_interval`, 0.95": Method(
        lambda x: statistics.quantile_interval(x, 0.95), lambda law: float(law.ppf(0.95))
    ),
    "`proportion_interval`": Method(
        lambda x: statistics.proportion_interval(int(x.sum()), len(x)), mean, bernoulli
    ),
    "`exact_proportion_interval`": Method(
        lambda x: statistics.exact_proportion_interval(int(x.sum()), len(x)), mean, bernoulli
    ),
}  # fmt: skip


def draw(distribution: Any, n: int, samples: int) -> Iterator[np.ndarray]:
    """Yield random samples of n independent values."""
    random = np.random.default_rng(SEED + n)
    yield from np.asarray(distribution.rvs((samples, n), random_state=random), dtype=float)


def series(distribution: Any, n: int, samples: int) -> Iterator[np.ndarray]:
    """Yield autoregressive series with mean 0: 0.9 times the previous value plus a random value."""
    for x in draw(distribution, n + 200, samples):
        yield scipy.signal.lfilter([1], [1, -MEMORY], x - distribution.mean())[200:]


def coverage(method: Method, distribution: Any, samples: Iterator[np.ndarray]) -> float:
    """Return the share of samples whose interval contains the true value."""
    truth, rounding = method.truth(distribution), 1e-12
    bounds = np.array([method.interval(x) for x in samples])[:, [0, 2]]
    return float(np.mean((bounds[:, 0] - rounding <= truth) & (truth <= bounds[:, 1] + rounding)))


def independent(samples: int) -> Iterator[tuple[str, int, str, float]]:
    """Yield the name of an interval, n, distribution and coverage, for independent values."""
    for name, method in METHODS.items():
        for n in SIZES:
            for distribution, of in DISTRIBUTIONS.items():
                if method.applies(distribution):
                    size = 2 * n if "paired" in name else n
                    yield name, n, distribution, coverage(method, of, draw(of, size, samples))


def dependent(samples: int) -> Iterator[tuple[str, int, str, float]]:
    """Yield function, number of correlated values, distribution, and coverage of an interval."""
    for function in (statistics.batch_means, statistics.mean_interval):
        method = Method(function, lambda _: 0.0)
        for n in LENGTHS:
            for distribution, of in DISTRIBUTIONS.items():
                yield (
                    f"`{function.__name__}`",
                    n,
                    distribution,
                    coverage(method, of, series(of, n, samples)),
                )


def until_narrow(samples: int) -> Iterator[tuple[str, int, str, float]]:
    """Yield the coverage if an experiment adds replications until the interval is narrow enough."""
    for first in (3, 5, 10):
        method = Method(partial(narrowed, first=first), mean)
        for distribution, of in DISTRIBUTIONS.items():
            if not bernoulli(distribution):
                yield (
                    "until ±10 %, at most 100",
                    first,
                    distribution,
                    coverage(method, of, draw(of, 100, samples)),
                )


def narrowed(x: np.ndarray, first: int) -> statistics.Interval:
    """Return the interval of the first n values, where the stopping rule determines n."""
    n = first
    while (more := enough(list(x[:n]), 0.1, len(x))) > n:
        n = more
    return statistics.mean_interval(x[:n])


def warmed_up(samples: int) -> Iterator[tuple[str, int, str, float]]:
    """Yield the coverage of batch means, with and without MSER-5, for series with a transient.

    A series begins 50 above its mean, and this excess decreases by 1 % from value to value.
    """
    rules = {"`batch_means`": lambda _: 0, "`mser`, then `batch_means`": lambda x: mser(x)[0]}
    for name, rule in rules.items():

        def interval(x: np.ndarray, rule: Any = rule) -> statistics.Interval:
            high = x + 50 * 0.99 ** np.arange(len(x))
            return statistics.batch_means(high[rule(high) :])

        for n in LENGTHS:
            for distribution, of in DISTRIBUTIONS.items():
                yield (
                    name,
                    n,
                    distribution,
                    coverage(Method(interval, lambda _: 0.0), of, series(of, n, samples)),
                )


TABLES = {
    "independent": independent,
    "one run": dependent,
    "until narrow": until_narrow,
    "warm-up": warmed_up,
}


def markdown(rows: Iterator[tuple[str, int, str, float]]) -> str:
    """Return the rows as a Markdown table."""
    lines: dict[tuple[str, int], dict[str, str]] = {}
    for name, n, distribution, share in rows:
        lines.setdefault((name, n), {})[distribution] = f"{100 * share:.1f}"
    text = [["Interval", "n", *DISTRIBUTIONS], ["---"] * (2 + len(DISTRIBUTIONS))]
    text += [
        [name, str(n), *(c.get(distribution, "–") for distribution in DISTRIBUTIONS)]
        for (name, n), c in lines.items()
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in text)


def place(kind: str) -> re.Pattern[str]:
    """Return a pattern that matches the page's table of the kind `kind`."""
    return re.compile(rf"(<!-- coverage: {kind} -->\n)(.*?)(\n<!-- end -->)", re.DOTALL)


def written(kind: str) -> dict[tuple[str, int, str], float]:
    """Return the coverages in the table `kind` of docs/statistics.md."""
    match = place(kind).search(PAGE.read_text("utf-8"))
    assert match, f"the table {kind!r} is in {PAGE.name}"
    head, _, *rows = [line.strip("| ").split(" | ") for line in match[2].splitlines()]
    return {
        (row[0], int(row[1]), distribution): float(cell) / 100
        for row in rows
        for distribution, cell in zip(head[2:], row[2:], strict=True)
        if cell != "–"
    }


@pytest.mark.parametrize("kind", TABLES)
def test_intervals_have_the_coverage_that_the_page_states(kind: str) -> None:
    expectations, rows = written(kind), list(TABLES[kind](FEW))
    assert expectations.keys() == {row[:3] for row in rows}
    for name, n, distribution, share in rows:
        expected = expectations[name, n, distribution]
        noise = (max(expected * (1 - expected), 0.005) * (1 / FEW + 1 / SAMPLES)) ** 0.5
        assert abs(share - expected) < 4.5 * noise, (name, n, distribution)


if __name__ == "__main__":
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES
    text = PAGE.read_text("utf-8")
    for kind, rows in TABLES.items():
        table = markdown(rows(samples))
        text = place(kind).sub(lambda m, table=table: m[1] + table + m[3], text)  # type: ignore[misc]
    PAGE.write_text(text, "utf-8")
