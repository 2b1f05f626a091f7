"""Writing of figures: complete files, reproducible bytes, and protection of other files."""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.folder import appearing_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
"""File formats of figures."""

MAKER = "Drawn by aqmlab"
"""Metadata in each file, which identifies it as a figure that aqmlab may replace."""


def save(figure: "Figure", path: str | Path) -> Path:
    """Write a figure to a file in the format of the file's suffix (.svg, .png, .pdf).

    Saving a figure twice gives the same bytes, because the file contains neither times nor random
    ids.

    Raises
    ------
    OSError
        If the file cannot be written. The message names `path`, not the temporary file.
    """
    from matplotlib import rc_context

    path = Path(path)
    suffix = path.suffix.lower()
    about = {
        ".png": {"Software": MAKER},
        ".svg": {"Creator": MAKER, "Date": None},
        ".pdf": {"Creator": MAKER, "CreationDate": None},
    }.get(suffix)
    drawn = BytesIO()
    with rc_context({"svg.hashsalt": "aqmlab"}):
        figure.savefig(drawn, format=suffix.removeprefix(".") or None, metadata=about)
    with appearing_file(path) as part:
        part.write_bytes(drawn.getvalue())
    return path


def lay_out(figure: "Figure") -> None:
    """Fix the layout of a figure, so that each file of it is drawn only once."""
    engine = figure.get_layout_engine()
    if engine:
        engine.execute(figure)
        figure.set_layout_engine(None)


def refuse_foreign(path: Path) -> None:
    """Raise FileExistsError if `path` exists and is not a figure of aqmlab.

    Raises
    ------
    FileExistsError
        With the remedy.
    """
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise FileExistsError(f"{path} is not a regular file; give another name")
    if path.exists() and MAKER.encode() not in path.read_bytes():
        raise FileExistsError(f"{path} exists and is not a figure of aqmlab; give another name")
