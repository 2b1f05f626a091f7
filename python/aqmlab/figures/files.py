"""Writing of figures to image files."""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.folder import appearing_file
from aqmlab.representation import inline_svg
from aqmlab.words import shortened, visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
"""File formats of figures."""
DPI = 200
"""Resolution of PNG files, in pixels per inch."""

MAKER = "Drawn by aqmlab"
"""Text in the metadata of each image file that aqmlab writes. aqmlab overwrites an existing image
file only if the file contains this text.
"""
KEYS = {
    ".png": ("Software", "Title", "Description"),
    ".svg": ("Creator", "Title", "Description"),
    ".pdf": ("Creator", "Title", "Subject"),
}
"""Keys of the metadata of each format: for the program, the title, and the origin of the data."""
DATES: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""Keys that omit the current time from a file."""


def save(figure: "Figure", path: str | Path, origin: str = "") -> Path:
    """Write a figure to an image file; the suffix .svg, .png or .pdf determines the format.

    The metadata of the file has the title of the figure, the scenario, the seeds, and the version
    of aqmlab. Equal figures give equal files, because the files contain neither times nor random
    ids.

    Parameters
    ----------
    figure : Figure
        The figure.
    path : str or Path
        The image file. An existing file is replaced.
    origin : str, optional
        Origin of the data, such as a scenario; default: the scenario and the seeds of the drawn
        runs.

    Raises
    ------
    OSError
        If the file cannot be written. The message names `path`, not the temporary file.
    """
    path = Path(path)
    drawn = _drawn(figure, path.suffix.lower(), origin)
    with appearing_file(path) as part:
        part.write_bytes(drawn)
    return path


def save_all(figure: "Figure", path: Path, origin: str = "") -> None:
    """Write a figure to a file of each format; `path` is the path without a suffix."""
    lay_out(figure)
    for suffix in FORMATS:
        save(figure, path.with_name(path.name + suffix), origin)


def inline(figure: "Figure") -> str:
    """Return a figure as a scalable SVG element of an HTML page, whose texts remain texts."""
    return inline_svg(_drawn(figure, ".svg", fonttype="none").decode())


def _drawn(figure: "Figure", suffix: str, origin: str = "", fonttype: str = "path") -> bytes:
    """Return the content of an image file with its metadata."""
    from matplotlib import rc_context

    maker = f"{MAKER} {_core.version()}"
    origin = origin or getattr(figure, "origin", "")
    texts = (maker, *(shortened(visible(text)) for text in (title_of(figure), origin)))
    about: dict[str, Any] = dict(zip(KEYS.get(suffix, ()), texts, strict=False))
    about = {key: text for key, text in about.items() if text} | DATES.get(suffix, {})
    drawn = BytesIO()
    with rc_context({"svg.hashsalt": "aqmlab", "svg.fonttype": fonttype}):
        figure.savefig(
            drawn, format=suffix.removeprefix(".") or None, metadata=about or None, dpi=DPI
        )
    return drawn.getvalue()


def title_of(figure: "Figure") -> str:
    """Return the title of a figure: the quantities on the axes of its first panel."""
    axes = next((a for a in figure.axes if a.get_visible() and a.get_ylabel()), None)
    if axes is None:
        return ""
    below = next((a.get_xlabel() for a in figure.axes if a.get_visible() and a.get_xlabel()), "")
    titles = [axes.get_title(loc) for loc in ("center", "left")]
    title = next(filter(None, titles), "") if len(figure.axes) == 1 else ""
    text = axes.get_ylabel() + f" over {below}" * bool(below) + f": {title}" * bool(title)
    return " ".join(text.replace(r"\$", "$").replace("\u200b", "").split())


def lay_out(figure: "Figure") -> None:
    """Compute the layout of a figure, so that :func:`save` draws the figure only once."""
    engine = figure.get_layout_engine()
    if engine:
        engine.execute(figure)
        figure.set_layout_engine(None)


def check_image(path: Path, option: str) -> None:
    """Raise an error unless aqmlab can write an image file to the path of an option.

    Raises
    ------
    ValueError
        If the suffix of the path is not one of `FORMATS`.
    FileExistsError
        If `path` exists and is not an image file of aqmlab. The message states the remedy.
    """
    if path.suffix.lower() not in FORMATS:
        raise ValueError(
            f"{option} {path} is not an image file; its name must end in one of "
            f"{', '.join(FORMATS)}"
        )
    refuse_foreign(path)


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
