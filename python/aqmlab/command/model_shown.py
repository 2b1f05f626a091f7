"""Output of models: tables, numbers and figures."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.command.terminal import console, print_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def show(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table whose first column has texts and whose other columns have numbers and units."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for i, head in enumerate(heads):
        table.add_column(head, justify="right" if i and head != "unit" else "left")
    for row in rows:
        table.add_row(*row)
    console().print(table, markup=False)


def number(value: float) -> str:
    """Return a number to four digits; "" for NaN."""
    return "" if value != value else f"{value:.4g}"


def drawable(path: Path | None, option: str = "--plot") -> None:
    """Raise an error if an image cannot be written to a path; called before the first run."""
    from aqmlab import figures

    if path is None:
        return
    if path.suffix.lower() not in figures.FORMATS:
        raise ValueError(f"{option} {path} must end in one of {', '.join(figures.FORMATS)}")
    figures.refuse_foreign(path)


def draw(figure: "Figure", path: Path) -> None:
    """Write a figure, and print its path."""
    from aqmlab import figures

    print_text(f"Written to {figures.save(figure, path)}")
