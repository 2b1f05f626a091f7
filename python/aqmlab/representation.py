"""HTML of objects in notebooks: a title, a few lines, a short table, and a small picture.

A notebook displays the HTML that the method ``_repr_html_`` of an object returns.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from html import escape

from aqmlab.words import LONGEST_NAME, shortened, visible

MOST_ROWS = 12
"""Maximum number of rows of a table; the last row states the number of further rows."""
MOST_NODES = 30
"""Maximum number of nodes in the picture of a network."""
MOST_WARNINGS = 2
"""Maximum number of shown warnings."""
LONGEST_LINE = 300
"""Maximum number of characters of a line."""

WIDE, HIGH = 110, 34
"""Distance of the nodes in the picture of a network, in pixels: across and down."""


def card(
    title: str,
    lines: Iterable[str] = (),
    *,
    warnings: Sequence[str] = (),
    head: Sequence[str] = (),
    rows: Sequence[Sequence[str]] = (),
    pictures: Iterable[str] = (),
) -> str:
    """Return the HTML of an object: its title, lines, table and pictures.

    Parameters
    ----------
    title : str
        Title of the object.
    lines : iterable of str
        Lines of text between the title and the table.
    warnings : sequence of str
        Warnings; at most `MOST_WARNINGS` are shown.
    head : sequence of str
        Column headings of the table; default: a table without headings.
    rows : sequence of sequence of str
        Rows of the table. The first column has the names of the rows. At most `MOST_ROWS` rows are
        shown.
    pictures : iterable of str
        Pictures as SVG elements.

    Examples
    --------
    >>> print(card("a < b", ["one run"]))
    <div><strong>a &lt; b</strong><div style="max-width:44em">one run</div></div>
    """
    parts = [f"<strong>{_text(title, LONGEST_LINE)}</strong>"]
    more = len(warnings) - MOST_WARNINGS
    texts = [*lines, *(f"Warning: {text}" for text in warnings[:MOST_WARNINGS])]
    texts += [f"… {more} more warning{'s' * (more > 1)}"] if more > 0 else []
    parts += [f'<div style="max-width:44em">{_text(text, LONGEST_LINE)}</div>' for text in texts]
    if rows:
        more = len(rows) - MOST_ROWS
        shown = [*rows[:MOST_ROWS], *([[f"… {more} more"]] if more > 0 else [])]
        top = "".join(_cell("th", text, i == 0) for i, text in enumerate(head))
        body = "".join(f"<tr>{_row(row, left=not head)}</tr>" for row in shown)
        heading = f"<thead><tr>{top}</tr></thead>" if head else ""
        table = f"<table>{heading}<tbody>{body}</tbody></table>"
        parts.append(f'<div style="overflow-x:auto">{table}</div>')
    parts += [f'<div style="max-width:32em">{picture}</div>' for picture in pictures]
    return f"<div>{''.join(parts)}</div>"


def _row(row: Sequence[str], *, left: bool) -> str:
    return "".join(_cell("td" if i else "th", text, left or not i) for i, text in enumerate(row))


def _cell(tag: str, text: str, left: bool) -> str:
    side = "left" if left else "right"
    style = f"text-align:{side};white-space:nowrap;padding:.2em .6em"
    return f'<{tag} style="{style}">{_text(text)}</{tag}>'


def _text(text: str, longest: int = LONGEST_NAME) -> str:
    """Return a text for HTML: escaped, in one line, without control characters, and shortened."""
    return escape(shortened(visible(" ".join(str(text).split())), longest))


def inline_svg(text: str, name: str = "") -> str:
    """Return an SVG file as a scalable element of an HTML page, with ids that are unique there.

    Parameters
    ----------
    text : str
        Content of the SVG file.
    name : str
        Prefix of the ids; each SVG element of the page needs a different prefix. Default: a prefix
        from a hash of the content, so that only equal elements have the same ids.

    Examples
    --------
    >>> inline_svg('<?xml?><svg width="9pt" height="9pt"><g id="a"/></svg>', "f")
    '<svg><g id="f-a"/></svg>'
    """
    name = name or f"f{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    svg = text[text.index("<svg") :].strip()
    opening, rest = svg.split(">", 1)
    opening = re.sub(r'\s(width|height)="[^"]*"', "", opening)
    rest = re.sub(r"<metadata>.*?</metadata>", "", rest, flags=re.DOTALL)
    rest = re.sub(r'\bid="', f'id="{name}-', rest)
    rest = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", rest)
    return f"{opening}>{rest}"


def shares(parts: Sequence[tuple[str, int, str]]) -> str:
    """Return the picture of counts as parts of a bar; an empty text if all counts are 0.

    Parameters
    ----------
    parts : sequence of (str, int, str)
        Name, count and colour of each part.
    """
    total = sum(count for _, count, _ in parts)
    if not total:
        return ""
    at, drawn = 0.0, []
    for name, count, colour in parts:
        width = 400 * count / total
        drawn.append(f'<rect x="{at:.1f}" width="{width:.1f}" height="18" fill="{colour}"/>')
        text = f"{name}: {count}"
        if width > 6 * len(text):
            drawn.append(f'<text x="{at + 4:.1f}" y="13">{_text(text)}</text>')
        at += width
    return (
        '<svg viewBox="0 0 400 18" width="400" style="max-width:100%" role="img" fill="#fff"'
        f' font-size="10" font-family="sans-serif">{"".join(drawn)}</svg>'
    )


def network(links: Sequence[tuple[str, str, str]]) -> str:
    """Return the picture of a network; an empty text if the network has too many nodes.

    A node is drawn at its distance from the first node of the first link.

    Parameters
    ----------
    links : sequence of (str, str, str)
        Names of the two nodes of each link, and a label.
    """
    nodes = list(dict.fromkeys(node for a, b, _ in links for node in (a, b)))
    if not 0 < len(nodes) <= MOST_NODES:
        return ""
    columns: list[list[str]] = []
    rest, column = nodes, [nodes[0]]
    while rest:
        columns.append(column)
        rest = [node for node in rest if node not in column]
        near = {b for a, b, _ in links if a in column} | {a for a, b, _ in links if b in column}
        column = [node for node in rest if node in near] or rest
    high = max(map(len, columns))
    place = {
        node: (WIDE * (x + 0.5), HIGH * (high * (y + 0.5) / len(column) + 0.5))
        for x, column in enumerate(columns)
        for y, node in enumerate(column)
    }
    drawn = []
    for a, b, label in links:
        (ax, ay), (bx, by) = place[a], place[b]
        drawn.append(
            f'<line x1="{ax:.0f}" y1="{ay:.0f}" x2="{bx:.0f}" y2="{by:.0f}" stroke="#888"'
            f' stroke-width="{3 if label else 1}"/>'
        )
        if label:
            drawn.append(_label((ax + bx) / 2, (ay + by) / 2 - 6, label))
    for node, (x, y) in place.items():
        drawn.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="4" fill="#0072B2"/>')
        drawn.append(_label(x, y + 14, node))
    width, height = WIDE * len(columns), HIGH * (high + 1)
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" style="max-width:100%" role="img"'
        f' font-size="10" font-family="sans-serif" text-anchor="middle" fill="currentColor">'
        f"{''.join(drawn)}</svg>"
    )


def _label(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}">{escape(shortened(visible(text), 22))}</text>'
