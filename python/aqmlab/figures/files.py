"""Figures as files: written whole, the same bytes for the same figure, and over no other file."""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.folder import appearing_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
"""What a figure may be written as."""

MAKER = "Drawn by aqmlab"
"""Stands in every file, so that it may be replaced."""


def save(figure: "Figure", path: str | Path) -> Path:
    """Write a figure to a file; its suffix (.svg, .png, .pdf) says how.

    The same figure gives the same bytes: nothing in the file depends on the time or on chance.

    Raises
    ------
    OSError
        If the file cannot be written; names it, not the one beside it.
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
    """Lay a figure out for good, so that each file of it is drawn once and no more."""
    engine = figure.get_layout_engine()
    if engine:
        engine.execute(figure)
        figure.set_layout_engine(None)


def refuse_foreign(path: Path) -> None:
    """Refuse a file that is there and that no plot of aqmlab is.

    Raises
    ------
    FileExistsError
        With what to do.
    """
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise FileExistsError(f"{path} is no plain file; give another name")
    if path.exists() and MAKER.encode() not in path.read_bytes():
        raise FileExistsError(f"{path} is there and no plot of aqmlab; give another name")
