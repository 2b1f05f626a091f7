"""A measure: a quantity with its name, its unit, what it reads, and which way is better."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from aqmlab.results import NotMeasuredError

Read = TypeVar("Read")
"""What is read: a run, as whoever measures has it."""


class AtLeast(float):
    """A value that is known to be exceeded."""


@dataclass(frozen=True)
class Measure(Generic[Read]):
    """A quantity of a run.

    Attributes
    ----------
    name : str
        Its name in files: lower case, with its unit where that is no other's.
    unit : str
        The unit that it is shown in.
    of : callable
        Reads it from a run: a number, NaN if the run has none, `AtLeast` if it is only known to be
        greater. Raises :class:`aqmlab.results.NotMeasuredError` if the engine did not measure it.
    better : int
        1 if more is better, -1 if less is, 0 if neither.
    head : str
        Its name for people.
    meaning : str
        A sentence that says what it is.
    scale : float
        Factor from what `of` returns to `unit`.
    digits : int
        Digits behind the point where it is shown.
    part : str
        The link or the group of flows that it is of, where there are several.
    """

    name: str
    unit: str
    of: Callable[[Read], float]
    better: int = 0
    head: str = ""
    meaning: str = ""
    scale: float = 1
    digits: int = 3
    part: str = ""

    def read(self, run: Read) -> float | None:
        """Return the value of a run; None if the engine did not measure it."""
        try:
            return self.of(run)
        except NotMeasuredError:
            return None

    def text(self, value: float) -> str:
        """Return a value in the unit that it is shown in."""
        return "–" if math.isnan(value) else f"{value * self.scale:z.{self.digits}f}"

    @property
    def title(self) -> str:
        """Head and part."""
        return f"{self.part}: {self.head}" if self.part else self.head

    def of_part(self, part: str) -> Self:
        """Return the measure as that of a link or a group among several."""
        return replace(self, name=key(self.name, part), part=part)


def key(name: str, part: str) -> str:
    """Return the name of a measure of a link or a group; "" if there is but one."""
    return f"{name}@{part}" if part else name
