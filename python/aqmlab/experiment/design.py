"""Designs of experiments. A design is a list of points.

A factor is the dotted path of a scenario key, such as ``network.queue.limit``. A point has one
value for each factor. A design can be composed of blocks with different factors; each block is a
list of points, and :func:`crossed` combines the blocks.
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
    """Distribution from which the value of a factor is sampled: a range, or a list of values.

    Attributes
    ----------
    low, high : float
        Minimum and maximum of the range.
    unit : str
        Unit of the number, such as "Mbit/s"; "" for a number without a unit.
    log : bool
        True if the logarithm of the number is uniformly distributed; False if the number itself is
        uniformly distributed.
    whole : bool
        True for whole numbers. Each whole number from `low` to `high` has the same probability,
        unless `log` is True.
    choice : sequence
        Values with equal probability, which replace the range of numbers.
    """

    low: float = 0
    high: float = 1
    unit: str = ""
    log: bool = False
    whole: bool = False
    choice: Sequence[Any] = ()

    def at(self, share: float) -> Any:
        """Return the quantile of the distribution at the probability `share`.

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
    """Return one point per combination of factor values; the last factor varies fastest.

    Examples
    --------
    >>> grid({"a": [1, 2], "b": "xy"})
    [{'a': 1, 'b': 'x'}, {'a': 1, 'b': 'y'}, {'a': 2, 'b': 'x'}, {'a': 2, 'b': 'y'}]
    """
    return [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]


def zipped(values: Mapping[str, Sequence[Any]]) -> list[Point]:
    """Return as many points as each factor has values; point i has value i of each factor.

    Raises
    ------
    ValueError
        If the factors do not all have the same number of values.

    Examples
    --------
    >>> zipped({"a": [1, 2], "b": "xy"})
    [{'a': 1, 'b': 'x'}, {'a': 2, 'b': 'y'}]
    """
    lengths = {key: len(row) for key, row in values.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{key} has {n}" for key, n in lengths.items())
        raise ValueError(
            f"factors of kind 'zipped' must have equal numbers of values, but {counts}"
        )
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def random(ranges: Mapping[str, Range], n: int, seed: int) -> list[Point]:
    """Return `n` points whose factor values are sampled independently of each other."""
    import numpy as np

    return _at(ranges, np.random.default_rng(seed).random((n, len(ranges))))


def latin_hypercube(ranges: Mapping[str, Range], n: int, seed: int) -> list[Point]:
    """Return `n` points of a Latin hypercube.

    The distribution of each factor is divided into `n` parts of equal probability, and each part
    contains the value of exactly one point. Source: ``mckay1979comparison``.

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

    The factors without a generator form a full factorial design of two levels. A generator is a
    list of other factors. If an even number of the factors in a generator are at their low level,
    the factor with this generator is at its high level. The main effect of a factor with a
    generator is therefore aliased with the interaction of the factors in the generator. Source:
    ``box2005statistics``, chapter 6.

    Parameters
    ----------
    values : mapping of str to sequence
        Low and high level of each of the k factors.
    generators : mapping of str to sequence of str
        Generators of p factors. A generator is a list of other factors, whose product of signs is
        the sign of the factor.

    Raises
    ------
    ValueError
        If a factor does not have two values, or if a factor in a generator is unknown or has a
        generator of its own.

    Examples
    --------
    >>> half = fractional({"a": [0, 1], "b": [0, 1], "c": [0, 1]}, {"c": ["a", "b"]})
    >>> [tuple(point.values()) for point in half]
    [(0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1)]
    """
    for key, row in values.items():
        if len(row) != 2:
            raise ValueError(
                f"{key} has {len(row)} values; a factor of a fractional design must have two values"
            )
    basic = [key for key in values if key not in generators]
    for key, of in generators.items():
        wrong = [name for name in of if name not in basic]
        if key not in values or wrong or len(set(of)) != len(of) or len(of) < 2:
            raise ValueError(
                f"generators: {key} = {list(of)} is not a valid generator; give two or more of the "
                f"factors without a generator, which are {', '.join(basic) or 'none'}"
            )
    if len({frozenset(of) for of in generators.values()}) < len(generators):
        raise ValueError(
            "generators: two factors have the same generator, so their effects cannot be "
            "separated; change one of the generators"
        )
    points = []
    for signs in itertools.product((0, 1), repeat=len(basic)):
        high = dict(zip(basic, signs, strict=True))
        for key, of in generators.items():
            high[key] = int(sum(1 - high[name] for name in of) % 2 == 0)
        points.append({key: row[high[key]] for key, row in values.items()})
    return points


def crossed(blocks: Sequence[Sequence[Point]]) -> list[Point]:
    """Return every combination of one point from each block.

    Without any block, the design has a single point that changes no factor.

    Raises
    ------
    ValueError
        If two blocks have the same factor.

    Examples
    --------
    >>> crossed([grid({"a": [1, 2]}), [{"b": 3}]])
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    names = [key for block in blocks for key in dict.fromkeys(k for point in block for k in point)]
    twice = [key for key in names if names.count(key) > 1]
    if twice:
        raise ValueError(
            f"{twice[0]} is a factor of two blocks; remove the factor from one of these blocks"
        )
    return [
        {key: value for point in row for key, value in point.items()}
        for row in itertools.product(*blocks)
    ]
