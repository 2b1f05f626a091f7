"""Designs: which values the factors of an experiment have together, point by point.

A factor is a dotted path of a scenario (``network.queue.limit``); a point is a value for each.
Designs are made of blocks, each a list of points; :func:`crossed` combines them.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

Point = dict[str, Any]
DIGITS = 6
"""Significant digits of a drawn number."""


@dataclass(frozen=True)
class Range:
    """Values that a factor is drawn from: a range of numbers, or a choice.

    Attributes
    ----------
    low, high : float
        The ends of the range.
    unit : str
        Is written behind the number, as a scenario wants it; "": none.
    log : bool
        Whether the logarithm is uniform, rather than the number.
    whole : bool
        Whether numbers are whole, both ends included and all alike likely.
    choice : sequence
        Values to choose from, all alike likely; instead of all others.
    """

    low: float = 0
    high: float = 1
    unit: str = ""
    log: bool = False
    whole: bool = False
    choice: Sequence[Any] = ()

    def at(self, share: float) -> Any:
        """Return the value that a share of what may be drawn lies below.

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
    """Return every combination of values; the last factor varies fastest.

    Examples
    --------
    >>> grid({"a": [1, 2], "b": "xy"})
    [{'a': 1, 'b': 'x'}, {'a': 1, 'b': 'y'}, {'a': 2, 'b': 'x'}, {'a': 2, 'b': 'y'}]
    """
    return [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]


def zipped(values: Mapping[str, Sequence[Any]]) -> list[Point]:
    """Return the first values of all factors, then the second, and so on.

    Raises
    ------
    ValueError
        If they are not equally many.

    Examples
    --------
    >>> zipped({"a": [1, 2], "b": "xy"})
    [{'a': 1, 'b': 'x'}, {'a': 2, 'b': 'y'}]
    """
    lengths = {key: len(row) for key, row in values.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{key} has {n}" for key, n in lengths.items())
        raise ValueError(f"zipped factors need equally many values; {told}")
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def random(ranges: Mapping[str, Range], n: int, seed: int) -> list[Point]:
    """Return n points, each factor drawn on its own from its range."""
    import numpy as np

    return _at(ranges, np.random.default_rng(seed).random((n, len(ranges))))


def latin_hypercube(ranges: Mapping[str, Range], n: int, seed: int) -> list[Point]:
    """Return n points of a Latin hypercube: each n-th of each factor's range has one point.

    Source: ``mckay1979comparison``.

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

    The factors without a generator are a full factorial of two levels. One with a generator has its
    high level where an even number of the factors that its generator names have their low level
    (the product of their signs), so its main effect is aliased with their interaction. Source:
    ``box2005statistics``, chapter 6.

    Parameters
    ----------
    values : mapping of str to sequence
        Two values, low and high, for each of the k factors.
    generators : mapping of str to sequence of str
        For each of p of them, the other factors whose product it is.

    Raises
    ------
    ValueError
        If a factor has not two values, or a generator names what is no factor without one.

    Examples
    --------
    >>> half = fractional({"a": [0, 1], "b": [0, 1], "c": [0, 1]}, {"c": ["a", "b"]})
    >>> [tuple(point.values()) for point in half]
    [(0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1)]
    """
    for key, row in values.items():
        if len(row) != 2:
            raise ValueError(f"{key} has {len(row)} values; in a fractional design each has two")
    basic = [key for key in values if key not in generators]
    for key, of in generators.items():
        wrong = [name for name in of if name not in basic]
        if key not in values or wrong or len(set(of)) != len(of) or len(of) < 2:
            raise ValueError(
                f"generators: {key} = {list(of)} must be two or more of the factors without a "
                f"generator, which are {', '.join(basic) or 'none'}"
            )
    if len({frozenset(of) for of in generators.values()}) < len(generators):
        raise ValueError("generators: two are the same; their factors could not be told apart")
    points = []
    for signs in itertools.product((0, 1), repeat=len(basic)):
        high = dict(zip(basic, signs, strict=True))
        for key, of in generators.items():
            high[key] = int(sum(1 - high[name] for name in of) % 2 == 0)
        points.append({key: row[high[key]] for key, row in values.items()})
    return points


def crossed(blocks: Sequence[Sequence[Point]]) -> list[Point]:
    """Return every combination of the points of blocks; without blocks one point that sets nothing.

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
        raise ValueError(f"{twice[0]} is a factor of two blocks; give it in one")
    return [
        {key: value for point in row for key, value in point.items()}
        for row in itertools.product(*blocks)
    ]
