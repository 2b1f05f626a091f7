"""Figure of aqmlab, which a notebook displays without pyplot."""

from io import BytesIO

from matplotlib.figure import Figure


class Sheet(Figure):
    """Figure that a notebook displays as a picture.

    Attributes
    ----------
    origin : str
        Scenario and seeds of the drawn runs, for the metadata of image files.
    """

    origin: str = ""

    def _repr_png_(self) -> bytes:
        drawn = BytesIO()
        self.savefig(drawn, format="png", dpi=110)
        return drawn.getvalue()
