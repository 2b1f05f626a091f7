"""Definition of a measure: name, unit, function of a run, and preferred direction."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from aqmlab.results import NotMeasuredError

Read = TypeVar("Read")
"""Type of the object that a measure reads: a run, or the values to which a study reduces it."""


class AtLeast(float):
    """Lower bound of a measure whose exact value is unknown."""


@dataclass(frozen=True)
class Measure(Generic[Read]):
    """A quantity of a run.

    Attributes
    ----------
    name : str
        Name in files: lower case, with a unit if the name would be ambiguous without one.
    unit : str
        Unit of the displayed value.
    of : callable
        Function that computes the measure from a run. The function returns a number, NaN if the run
        has no value, or `AtLeast` if only a lower bound is known. The function raises
        :class:`aqmlab.results.NotMeasuredError` if the engine did not measure the quantity.
    better : int
        1 if a larger value is better, -1 if a smaller value is better, 0 for neither.
    head : str
        Name in tables and figures.
    meaning : str
        Definition in one sentence.
    scale : float
        Factor from the result of `of` to `unit`.
    digits : int
        Digits after the decimal point of the displayed value.
    part : str
        Link or flow to which the measure belongs, if there are several; otherwise empty.
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
        """Return the value of a run, or None if the engine did not measure the quantity."""
        try:
            return self.of(run)
        except NotMeasuredError:
            return None

    def text(self, value: float) -> str:
        """Format a value in the displayed unit; NaN becomes a dash."""
        return "–" if math.isnan(value) else f"{value * self.scale:z.{self.digits}f}"

    @property
    def title(self) -> str:
        """Name in tables, preceded by the link or flow if there are several."""
        return f"{self.part}: {self.head}" if self.part else self.head

    def of_part(self, part: str) -> Self:
        """Return a copy of the measure for one link or flow among several."""
        return replace(self, name=key(self.name, part), part=part)


def key(name: str, part: str) -> str:
    """Return the name of a measure of one link or flow; an empty `part` does not change it.

    Examples
    --------
    >>> key("mean_delay_s", "left>right"), key("mean_delay_s", "")
    ('mean_delay_s@left>right', 'mean_delay_s')
    """
    return f"{name}@{part}" if part else name
