"""A quantity of a model beside that of a run, and reasons why a model is not there."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One quantity.

    Attributes
    ----------
    model : str
        Whose: "M/D/1", "square-root law" …
    part : str
        Of which link or flows.
    quantity : str
        What, for people.
    unit : str
        Of both numbers.
    predicted : float
        What the model says.
    measured : float
        What the run has; NaN where a run has no such number, as a phase margin.
    assumed : str
        What the model assumes here, and where its numbers are from.
    """

    model: str
    part: str
    quantity: str
    unit: str
    predicted: float
    measured: float = math.nan
    assumed: str = ""

    @property
    def difference(self) -> float:
        """(predicted - measured) / measured; NaN where nothing was measured.

        Examples
        --------
        >>> round(Row("M/D/1", "a>b", "mean wait", "ms", 1.1, 1.0).difference, 3)
        0.1
        """
        if math.isnan(self.measured) or not self.measured:
            return math.nan
        return (self.predicted - self.measured) / self.measured


class NotHere(Exception):  # noqa: N818
    """A model that does not fit this run; its text says why."""
