"""Writer of the page ``docs/validation.md`` from the rows in ``docs/validation/``."""

from collections.abc import Sequence
from statistics import mean
from textwrap import fill

from validation import data
from validation.data import Origin
from validation.peer import peers
from validation.picture import PICTURE
from validation.row import HOLDS, MISSES, OPEN, UNDECIDED, VERDICTS, Row

PAGE = data.FOLDER.parent / "validation.md"

LEGEND = f"""\
![Value of aqmlab over the value of the peer, for each comparison]({data.FOLDER.name}/{PICTURE})

Each point of the picture is one comparison. A point on the diagonal has the same value in aqmlab
and in the peer. The bars are the ranges over the runs of each side. The picture shows a count of 0
at 0.5.

## How to read the tables

A comparison is one row: one measure of one setting. A value is the mean over the runs and, in
brackets, the range over the runs. The tolerance is the maximum difference of the two means, in
percent of the peer's mean or in the unit of the measure. If a tolerance has two bounds, the larger
bound applies.

- A comparison **holds** if the 95 % interval of the difference lies within the tolerance.
- A comparison **misses** if the 95 % interval lies outside the tolerance. The cause of a miss is
  known if runs with the mechanism switched confirm it; otherwise the cause is "open".
- A comparison is **undecided** if the 95 % interval reaches across the tolerance, because the
  values vary too much for the number of runs.

A tolerance with "means only" compares the two means without an interval. A tolerance with "inside
the peer's range" lets a comparison hold too if the mean of aqmlab lies in the range of the peer's
runs.

`make validate` runs both sides of every comparison and writes this page. A peer that is not
installed is skipped with a message, and its rows remain those of its last run.
`make validate PEERS="ns2 linux"` runs only the peers that it names."""


def page(sections: dict[str, tuple[Origin, list[Row]]]) -> str:
    """Return the page.

    Parameters
    ----------
    sections : dict
        Origin and rows of each peer with stored rows, by the key of the peer.
    """
    rows = [row for _, rows in sections.values() for row in rows]
    lines = ["# Validation", "", answer(rows), "", *score(sections), "", LEGEND]
    for key, (origin, rows) in sections.items():
        lines += ["", *section(key, origin, rows)]
    return "\n".join(lines) + "\n"


def count(rows: Sequence[Row], verdict: str) -> int:
    """Return the number of rows that have the verdict `verdict`."""
    return sum(row.verdict == verdict for row in rows)


def count_open(rows: Sequence[Row]) -> int:
    """Return the number of rows that miss their tolerance without a known cause."""
    return sum(row.explained == OPEN for row in rows)


def answer(rows: Sequence[Row]) -> str:
    """Return the first paragraph of the page, which has the number of rows per verdict."""
    settings = len({row.setting for row in rows})
    misses, unexplained = count(rows, MISSES), count_open(rows)
    return paragraph(
        "This page compares aqmlab with other simulators, with real hosts and with closed forms. "
        f"Of {len(rows)} comparisons in {settings} settings, **{count(rows, HOLDS)} hold**, "
        f"{misses} miss and {count(rows, UNDECIDED)} are undecided. "
        f"The cause is known for {misses - unexplained} misses and open for {unexplained} misses. "
        "Each name in the table leads to the comparisons with one peer and to the causes of their "
        "misses."
    )


def paragraph(text: str, indent: str = "") -> str:
    """Return a text in lines of at most 100 characters; all lines but the first are indented."""
    return fill(text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def score(sections: dict[str, tuple[Origin, list[Row]]]) -> list[str]:
    """Return the table with the number of rows per verdict, one line per peer."""
    lines = [
        "| compared with | settings | comparisons | hold | miss | misses with an open cause | "
        "undecided | all values | date of the runs |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for key, (origin, rows) in sections.items():
        name = peers()[key].NAME
        anchor = name.lower().replace(" ", "-").replace(".", "")
        numbers = [
            len({row.setting for row in rows}), len(rows), count(rows, HOLDS), count(rows, MISSES),
            count_open(rows), count(rows, UNDECIDED),
        ]  # fmt: skip
        file = f"[{key}.csv]({data.FOLDER.name}/{key}.csv)"
        cells = [f"[{name}](#{anchor})", *map(str, numbers), file, origin.date]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def section(key: str, origin: Origin, rows: Sequence[Row]) -> list[str]:
    """Return the section of a peer: runs, rows beyond the tolerance with causes, other rows."""
    peer = peers()[key]
    lines = [
        f"## {peer.NAME}", "", peer.ABOUT, "",
        paragraph(
            f"Of {len(rows)} comparisons, {count(rows, HOLDS)} hold, {count(rows, MISSES)} miss "
            f"({count_open(rows)} of the misses have an open cause) and {count(rows, UNDECIDED)} "
            "are undecided. `make validate "
            f'PEERS="{key}"` ran the comparisons on {origin.date} in {origin.minutes:.1f} minutes. '
            f"aqmlab {origin.build} was compared with {origin.version}. "
            f"[{key}.csv]({data.FOLDER.name}/{key}.csv) has the values of all runs."
        ), "",
    ]  # fmt: skip
    ranked = sorted(rows, key=rank)
    first = [row for row in ranked if row.verdict != HOLDS]
    rest = [row for row in ranked if row.verdict == HOLDS]
    causes = list(dict.fromkeys(row.explained for row in first if row.explained not in ("", OPEN)))
    if first:
        lines += [*table(first, peer.NAME, causes), ""]
    if causes:
        lines += ["Causes of the misses, by their numbers in the table:", ""]
        lines += [paragraph(f"{i}. {cause}", "   ") for i, cause in enumerate(causes, 1)] + [""]
    if rest:
        summary = f"The {len(rest)} comparisons that hold"
        lines += [f"<details><summary>{summary}</summary>", ""]
        lines += [*table(rest, peer.NAME), "", "</details>"]
    return lines


def rank(row: Row) -> tuple[int, float]:
    """Return the sort key of a row: its verdict, then its difference divided by the tolerance."""
    if row.verdict == HOLDS:
        return VERDICTS.index(HOLDS), 0.0
    bound = row.tolerance.bound(row.theirs)
    difference = abs(mean(row.ours) - mean(row.theirs))
    return VERDICTS.index(row.verdict), -difference / bound if bound else float("-inf")


def table(rows: Sequence[Row], name: str, causes: Sequence[str] | None = None) -> list[str]:
    """Return a table of rows.

    Parameters
    ----------
    rows : sequence of Row
        The rows.
    name : str
        Name of the peer.
    causes : sequence of str, optional
        Causes that the page lists below the table, in the order of their numbers. Without `causes`,
        the table has no column with the numbers of the causes.
    """
    header = ["verdict", "setting", "measure", "aqmlab", name, "difference", "tolerance"]
    align = ["---", "---", "---", "---:", "---:", "---:", "---"]
    if causes is not None:
        header, align = [*header, "cause"], [*align, "---"]
    lines = ["| " + " | ".join(header) + " |", "| " + " | ".join(align) + " |"]
    for row in rows:
        unit = f", {row.unit}" if row.unit else ""
        cells = [
            row.verdict, row.setting, row.measure + unit, spread(row.ours), spread(row.theirs),
            f"{row.difference:+.1%}" if mean(row.theirs) else "", row.tolerance.text(row.unit),
        ]  # fmt: skip
        if causes is not None:
            known = row.explained in causes
            cells.append(f"cause {causes.index(row.explained) + 1}" if known else row.explained)
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def spread(values: tuple[float, ...]) -> str:
    """Return the mean of a list of values, and also their range if the values differ."""
    if min(values) == max(values):
        return number(values[0])
    return f"{number(mean(values))} ({number(min(values))} to {number(max(values))})"


def number(value: float) -> str:
    """Return a number with four significant digits; from 1e-4 to 1e7 it has no exponent."""
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        digits = max(0, 4 - len(str(int(abs(value)))) + (abs(value) < 1)) if value else 0
        text = f"{value:.{max(digits, 4) if 0 < abs(value) < 0.1 else digits}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:.3g}"
