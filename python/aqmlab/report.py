"""Reports in HTML, each a single file with tables, coloured fields and figures.

The file of a report contains its style sheet and its figures (SVG), so that a browser loads no
other file. The report is legible on a phone and in dark mode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aqmlab.representation import inline_svg as inline_svg


@dataclass(frozen=True)
class Entry:
    """Field of a table: a text, small text below it, a kind that sets the colour, and a note.

    `kind` is "good", "fair", "bad", "none", "open" or "". If `prose` is True, the text may have
    line breaks.
    """

    text: str
    sub: str = ""
    kind: str = ""
    note: str = ""
    prose: bool = False

    @property
    def classes(self) -> str:
        """CSS classes of the field."""
        return " ".join(filter(None, [self.kind, "prose" * self.prose]))


@dataclass(frozen=True)
class Table:
    """Table of a report: caption, column headings, and rows of texts or entries.

    The first column has the headings of the rows.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | Entry]]

    def entries(self) -> list[list[Entry]]:
        """Return the rows of the table; each string in a row is converted to an `Entry`."""
        return [[c if isinstance(c, Entry) else Entry(c) for c in row] for row in self.rows]

    def is_prose(self, column: int) -> bool:
        """Return True if a column contains an entry with prose."""
        entries = (entry for row in self.rows for entry in row[column : column + 1])
        return any(isinstance(entry, Entry) and entry.prose for entry in entries)


@dataclass(frozen=True)
class Picture:
    """Figure of a report: its name, its caption, and its SVG text."""

    name: str
    caption: str
    svg: str


@dataclass(frozen=True)
class Chapter:
    """Chapter of a report. A `folded` chapter is hidden until the reader opens it."""

    name: str
    title: str
    text: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    folded: bool = False


@dataclass(frozen=True)
class Score:
    """Number at the top of a report: a label, a count, and optionally the total."""

    label: str
    count: str
    of: str = ""


@dataclass(frozen=True)
class Report:
    """Report: title, opening paragraphs, numbers at the top, chapters, and closing line.

    `key` has an explanation of the colour for each kind of field. `answers` has labelled sentences
    that the report shows first, and `picture` is the figure below them.
    """

    title: str
    lead: list[str]
    scores: list[Score]
    chapters: list[Chapter]
    colophon: str = ""
    key: Mapping[str, str] = field(default_factory=dict)
    answers: Sequence[tuple[str, str]] = ()
    picture: Picture | None = None


def write_report(report: Report, path: str | Path) -> None:
    """Write a report as one HTML file.

    Parameters
    ----------
    report : Report
    path : str or Path
        HTML file to write. An existing file is overwritten.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("report.html.j2").render(report=report)
    Path(path).write_text(page, encoding="utf-8")
