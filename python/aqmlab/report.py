"""Reports: one self-contained HTML file with tables, coloured verdicts and figures.

The file includes its style and its figures (SVG), so a browser loads nothing else. The report is
legible on a phone and in dark mode.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Entry:
    """A field of a table: its text, small lines below, a verdict that sets its colour, a note.

    `kind` is "good", "fair", "bad", "none", "open" or "". `prose` allows line breaks.
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
    """Table: caption, column heads, and rows of text or entries.

    The first column has the heads of the rows.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | Entry]]

    def entries(self) -> list[list[Entry]]:
        """Return the rows with every field as an entry."""
        return [[c if isinstance(c, Entry) else Entry(c) for c in row] for row in self.rows]


@dataclass(frozen=True)
class Picture:
    """A figure: its name, its caption, and its drawing as SVG text."""

    name: str
    caption: str
    svg: str


@dataclass(frozen=True)
class Chapter:
    """A part of a report; the reader can open a `folded` part."""

    name: str
    title: str
    text: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    folded: bool = False


@dataclass(frozen=True)
class Score:
    """A number at the top of a report: its label, a count, and optionally the total."""

    label: str
    count: str
    of: str = ""


@dataclass(frozen=True)
class Report:
    """A report: title, opening paragraphs, scores, chapters, closing line.

    `key` explains the colours: a text for each kind of field.
    """

    title: str
    lead: list[str]
    scores: list[Score]
    chapters: list[Chapter]
    colophon: str = ""
    key: Mapping[str, str] = field(default_factory=dict)


def inline_svg(text: str, name: str) -> str:
    """Return an SVG file as an element of a page, scalable and with unique ids.

    Parameters
    ----------
    text : str
        The SVG file.
    name : str
        Prefix of the ids, unique in the page.

    Examples
    --------
    >>> inline_svg('<?xml?><svg width="9pt" height="9pt"><g id="a"/></svg>', "f")
    '<svg><g id="f-a"/></svg>'
    """
    svg = text[text.index("<svg") :].strip()
    opening, rest = svg.split(">", 1)
    opening = re.sub(r'\s(width|height)="[^"]*"', "", opening)
    rest = re.sub(r"<metadata>.*?</metadata>", "", rest, flags=re.DOTALL)
    rest = re.sub(r'\bid="', f'id="{name}-', rest)
    rest = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", rest)
    return f"{opening}>{rest}"


def write_report(report: Report, path: str | Path) -> None:
    """Write a report as one HTML file.

    Parameters
    ----------
    report : Report
    path : str or Path
        The file; overwritten.

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
