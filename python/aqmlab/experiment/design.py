"""Designs of experiments: lists of points.

A factor is a dotted path of a scenario, such as ``network.queue.limit``. A point has one value for
each factor. A design consists of blocks, which are lists of points; :func:`crossed` combines them.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

Point = dict[str, Any]
DIGITS = 6
"""Number of significant digits of a random value of a factor."""


@dataclass(frozen=True)
class Range:
    """Range of numbers or choice of values from which the value of a factor is sampled.

    Attributes
    ----------
    low, high : float
        Minimum and maximum of the range.
    unit : str
        Unit that is written after the number; "" if the number has no unit.
    log : bool
        True if the logarithm of the number is uniform, False if the number is uniform.
    whole : bool
        True if the numbers are whole. All whole numbers from `low` to `high` are equally likely.
    choice : sequence
        Values that are equally likely. The choice replaces the range.
    """

    low: float = 0
    high: float = 1
    unit: str = ""
    log: bool = False
    whole: bool = False
    choice: Sequence[Any] = ()

    def at(self, share: float) -> Any:
        """Return the quantile of the range at a probability.

        Examples
        --------
        >>> Range(1, 100, "Mbit/s", log=True).at(0.5), Range(1, 4, whole=True).at(0.99)
        ('10 Mbit/s', 4)
        """
        if self.choice:
            return self.choice[min(int(share * len(self.choice)), len(self.choice) - 1)]
        above = 1 if self.whole else 0
        if self.log:
            number = self.low * ((self.high + above) / self.low) ** share
        else:
            number = self.low + (self.high + above - self.low) * share
        value = min(int(number), int(self.high)) if self.whole else float(f"{number:.{DIGITS}g}")
        return f"{value:.15g} {self.unit}" if self.unit else value


def grid(values: Mapping[str, Sequence[Any]]) -> list[Point]:
    """Return the points with all combinations of values; the last factor varies fastest.

    Examples
    --------
    >>> grid({"a": [1, 2], "b": "xy"})
    [{'a': 1, 'b': 'x'}, {'a': 1, 'b': 'y'}, {'a': 2, 'b': 'x'}, {'a': 2, 'b': 'y'}]
    """
    return [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]


def zipped(values: Mapping[str, Sequence[Any]]) -> list[Point]:
    """Return the point with the first value of each factor, the point with the second, and so on.

    Raises
    ------
    ValueError
        If the factors differ in their numbers of values.

    Examples
    --------
    >>> zipped({"a": [1, 2], "b": "xy"})
    [{'a': 1, 'b': 'x'}, {'a': 2, 'b': 'y'}]
    """
    lengths = {key: len(row) for key, row in values.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{key} has {n}" for key, n in lengths.items())
        raise ValueError(f"zipped factors must have the same number of values, but {counts}")
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def random(ranges: Mapping[str, Range], n: int, seed: int) -> list[Point]:
    """Return `n` points. The values of the factors are sampled independently from their ranges."""
    import numpy as np

    return _at(ranges, np.random.default_rng(seed).random((n, len(ranges))))


def latin_hypercube(ranges: Mapping[str, Range], n: int, seed: int) -> list[Point]:
    """Return `n` points of a Latin hypercube.

    The range of each factor is divided into `n` parts of equal probability, and each part contains
    the value of one point. Source: ``mckay1979comparison``.

    Examples
    --------
    >>> points = latin_hypercube({"a": Range(0, 4, whole=True), "b": Range()}, 5, seed=1)
    >>> sorted(point["a"] for point in points)
    [0, 1, 2, 3, 4]
    """
    from scipy.stats.qmc import LatinHypercube

    return _at(ranges, LatinHypercube(len(ranges), rng=seed).random(n))


def _at(ranges: Mapping[str, Range], shares: "np.ndarray") -> list[Point]:
    return [
        {key: of.at(float(share)) for (key, of), share in zip(ranges.items(), row, strict=True)}
        for row in shares
    ]


def fractional(
    values: Mapping[str, Sequence[Any]], generators: Mapping[str, Sequence[str]]
) -> list[Point]:
    """Return a fractional factorial design of two levels, 2^(k-p).

    The factors without a generator form a full factorial design of two levels. The sign of a factor
    with a generator is the product of the signs of the factors in its generator. A factor with a
    generator is therefore high where an even number of the generator's factors is low, and the main
    effect of the factor is aliased with the interaction of the generator's factors. Source:
    ``box2005statistics``, chapter 6.

    Parameters
    ----------
    values : mapping of str to sequence
        Two values, low and high, for each of the k factors.
    generators : mapping of str to sequence of str
        For each of p factors, the other factors whose signs are multiplied.

    Raises
    ------
    ValueError
        If a factor does not have two values, or a generator names an unknown factor or a factor
        with a generator.

    Examples
    --------
    >>> half = fractional({"a": [0, 1], "b": [0, 1], "c": [0, 1]}, {"c": ["a", "b"]})
    >>> [tuple(point.values()) for point in half]
    [(0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1)]
    """
    for key, row in values.items():
        if len(row) != 2:
            raise ValueError(
                f"{key} has {len(row)} values; in a fractional design each factor has two"
            )
    basic = [key for key in values if key not in generators]
    for key, of in generators.items():
        wrong = [name for name in of if name not in basic]
        if key not in values or wrong or len(set(of)) != len(of) or len(of) < 2:
            raise ValueError(
                f"generators: {key} = {list(of)} must be two or more of the factors without a "
                f"generator, which are {', '.join(basic) or 'none'}"
            )
    if len({frozenset(of) for of in generators.values()}) < len(generators):
        raise ValueError(
            "generators: two generators are the same, so the effects of their factors cannot be "
            "separated; change one"
        )
    points = []
    for signs in itertools.product((0, 1), repeat=len(basic)):
        high = dict(zip(basic, signs, strict=True))
        for key, of in generators.items():
            high[key] = int(sum(1 - high[name] for name in of) % 2 == 0)
        points.append({key: row[high[key]] for key, row in values.items()})
    return points


def crossed(blocks: Sequence[Sequence[Point]]) -> list[Point]:
    """Return all combinations of the points of blocks.

    Without blocks the design has one point, which changes no factor.

    Raises
    ------
    ValueError
        If a factor is in two blocks.

    Examples
    --------
    >>> crossed([grid({"a": [1, 2]}), [{"b": 3}]])
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    names = [key for block in blocks for key in dict.fromkeys(k for point in block for k in point)]
    twice = [key for key in names if names.count(key) > 1]
    if twice:
        raise ValueError(f"{twice[0]} is a factor of two blocks; remove it from one of them")
    return [
        {key: value for point in row for key, value in point.items()}
        for row in itertools.product(*blocks)
    ]
