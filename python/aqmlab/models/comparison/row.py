"""Row of a comparison with models, and exception for models that do not apply."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """Quantity with its predicted value and its measured value.

    Attributes
    ----------
    model : str
        Name of the model, for example "M/D/1" or "square-root law".
    part : str
        Name of the link or of the flows that the quantity describes.
    quantity : str
        Name of the quantity.
    unit : str
        Unit of the predicted and of the measured value.
    predicted : float
        Predicted value.
    measured : float
        Measured value; NaN if the quantity, for example a phase margin, cannot be measured.
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
        """Relative difference (predicted - measured) / measured; NaN without a measured value.

        Examples
        --------
        >>> round(Row("M/D/1", "a>b", "mean wait", "ms", 1.1, 1.0).difference, 3)
        0.1
        """
        if math.isnan(self.measured) or not self.measured:
            return math.nan
        return (self.predicted - self.measured) / self.measured


class NotApplicable(Exception):  # noqa: N818
    """Raised if a model does not apply to a run; the message states the reason."""
