"""One compared quantity, and the exception for a model that does not apply."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A quantity as a model predicts it and as a run measured it.

    Attributes
    ----------
    model : str
        Name of the model, for example "M/D/1" or "square-root law".
    part : str
        Name of the link or of the flows.
    quantity : str
        Name of the quantity.
    unit : str
        Unit of both numbers.
    predicted : float
        Value of the model.
    measured : float
        Value of the run; NaN if a run has no such value, for example a phase margin.
    assumed : str
        Assumptions of the model, and the source of its parameters.
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
        """(predicted - measured) / measured; NaN without a measured value.

        Examples
        --------
        >>> round(Row("M/D/1", "a>b", "mean wait", "ms", 1.1, 1.0).difference, 3)
        0.1
        """
        if math.isnan(self.measured) or not self.measured:
            return math.nan
        return (self.predicted - self.measured) / self.measured


class NotApplicable(Exception):  # noqa: N818
    """Raised if a model does not apply to a run; the text is the reason."""
