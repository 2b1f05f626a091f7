"""Output of `aqmlab model`: tables, numbers and figures."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.command.terminal import console, print_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def show(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table with texts in the first column, and numbers and units in the other columns."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for i, head in enumerate(heads):
        table.add_column(head, justify="right" if i and head != "unit" else "left")
    for row in rows:
        table.add_row(*row)
    console().print(table, markup=False)


def number(value: float) -> str:
    """Format a number with four significant digits; "" for NaN."""
    return "" if value != value else f"{value:.4g}"


def drawable(path: Path | None, option: str = "--plot") -> None:
    """Raise an error unless an image can be written to the path; called before the first run."""
    from aqmlab import figures

    if path is not None:
        figures.check_image(path, option)


def draw(figure: "Figure", path: Path, origin: str = "") -> None:
    """Write a figure to a file, and print the path of the file."""
    from aqmlab import figures

    print_text(f"Written to {figures.save(figure, path, origin)}")
