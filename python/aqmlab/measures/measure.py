"""Class of measures, which have a name, a unit, a function and a preferred direction."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from aqmlab.results import NotMeasuredError

COUNTS = ("", "1", "index", "times")
"""Units that the axis of a figure does not show."""

Read = TypeVar("Read")
"""Type of the argument of a measure: a run, or the reduced result of a run."""


class AtLeast(float):
    """Lower bound of a measure, if its exact value is unknown."""


@dataclass(frozen=True)
class Measure(Generic[Read]):
    """Quantity that is computed from a run.

    Attributes
    ----------
    name : str
        Name in files and on the command line, in lower case. The name ends in the unit if the unit
        would otherwise be unclear.
    unit : str
        Unit of the displayed value.
    of : callable
        Function that computes the measure from a run. The function returns a number, NaN if the run
        has no value, or `AtLeast` if only a lower bound is known. The function raises
        :class:`aqmlab.results.NotMeasuredError` if the engine did not measure the quantity.
    better : int
        1 if larger values are better, -1 if smaller values are better, else 0.
    head : str
        Name for tables.
    meaning : str
        Definition in one sentence.
    scale : float
        Factor that converts the result of `of` to `unit`.
    digits : int
        Number of displayed digits after the decimal point.
    part : str
        Name of the link or flow that the measure describes, if there are several; else "".
    label : str
        Name for the axes of figures and for sentences; default: `head`.
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
    label: str = ""

    def read(self, run: Read) -> float | None:
        """Compute the measure from a run; return None if the engine did not measure it."""
        try:
            return self.of(run)
        except NotMeasuredError:
            return None

    def text(self, value: float) -> str:
        """Format a value of the measure in its displayed unit; NaN becomes a dash."""
        return "–" if math.isnan(value) else f"{value * self.scale:z.{self.digits}f}"

    @property
    def title(self) -> str:
        """Name of the measure for tables, with the name of the link or flow if needed."""
        return f"{self.part}: {self.head}" if self.part else self.head

    @property
    def in_sentence(self) -> str:
        """Name of the measure within a sentence, with the name of the link or flow if needed."""
        name = self.label or self.head or self.name
        name = name if name[0].isupper() else f"the {name}"
        return f"{name} of {self.part}" if self.part else name

    @property
    def axis(self) -> str:
        """Text for the axis of a figure, such as "mean queueing delay (ms)"."""
        name = self.label or self.head or self.name
        name = f"{self.part}: {name}" if self.part else name
        return name if self.unit in COUNTS else f"{name} ({self.unit})"

    def of_part(self, part: str) -> Self:
        """Return a copy of the measure for the link or flow with the name `part`."""
        return replace(self, name=key(self.name, part), part=part)


BASE_UNITS = {"Mbit/s": "bit/s", "ms": "s", "%": "1"}
"""Unit in which a measure computes its values, by the displayed unit."""
NUMBERS = ("", "index", "0..1", "0 or 1")
"""Displayed units of values that are numbers without a unit."""


def base_unit(unit: str, scale: float) -> str:
    """Return the unit of the values that a measure computes, in the syntax of UDUNITS.

    Parameters
    ----------
    unit : str
        Unit in which the values are displayed.
    scale : float
        Factor that converts a value to the displayed unit.

    Examples
    --------
    >>> base_unit("Mbit/s", 1e-6), base_unit("s", 1), base_unit("index", 1), base_unit("h", 0.5)
    ('bit/s', 's', '1', '0.5 h')
    """
    if scale == 1:
        return "1" if unit in NUMBERS else unit
    return BASE_UNITS.get(unit, f"{scale:g} {unit}")


def key(name: str, part: str) -> str:
    """Return the name of a measure for the link or flow `part`.

    If `part` is empty, the result is `name`.

    Examples
    --------
    >>> key("mean_delay_s", "left>right"), key("mean_delay_s", "")
    ('mean_delay_s@left>right', 'mean_delay_s')
    """
    return f"{name}@{part}" if part else name
