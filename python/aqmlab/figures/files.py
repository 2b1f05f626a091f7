"""Writing of figures to image files."""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.folder import appearing_file
from aqmlab.representation import inline_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
"""File formats of figures."""

MAKER = "Drawn by aqmlab"
"""Text in the metadata of each image file that aqmlab writes. aqmlab overwrites an existing image
file only if the file contains this text.
"""


def save(figure: "Figure", path: str | Path) -> Path:
    """Write a figure to an image file; the suffix .svg, .png or .pdf determines the format.

    Equal figures give equal files, because the files contain neither times nor random ids.

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


def inline(figure: "Figure") -> str:
    """Return a figure as a scalable SVG element of an HTML page, whose texts remain texts."""
    from matplotlib import rc_context

    drawn = BytesIO()
    with rc_context({"svg.hashsalt": "aqmlab", "svg.fonttype": "none"}):
        figure.savefig(drawn, format="svg", metadata={"Creator": MAKER, "Date": None})
    return inline_svg(drawn.getvalue().decode())


def lay_out(figure: "Figure") -> None:
    """Compute the layout of a figure, so that :func:`save` draws the figure only once."""
    engine = figure.get_layout_engine()
    if engine:
        engine.execute(figure)
        figure.set_layout_engine(None)


def refuse_foreign(path: Path) -> None:
    """Raise FileExistsError if `path` exists and is not an image file of aqmlab.

    Raises
    ------
    FileExistsError
        The message states the remedy.
    """
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise FileExistsError(f"{path} is a folder or a special file; give another name")
    if path.exists() and MAKER.encode() not in path.read_bytes():
        raise FileExistsError(f"{path} exists, and aqmlab did not write it; give another name")
