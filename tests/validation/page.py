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

In the picture, each point is one comparison of aqmlab with a peer, which is another simulator, a
real host or a formula. If a point lies on the diagonal, the value of aqmlab equals the value of the
peer. The bars of a point show the range over the runs of aqmlab and the range over the runs of the
peer. A count of 0 is drawn at 0.5, because the axes are logarithmic.

## How to read the tables

Each row of a table is one comparison, which is the comparison of one measure in one setting. A
value in the tables is the mean over the runs, followed by the range over the runs in brackets. The
tolerance of a comparison is the maximum difference between the mean of aqmlab and the mean of the
peer, in percent of the peer's mean or in the unit of the measure. If a tolerance has two bounds,
the larger bound applies.

- A comparison **holds** if the 95 % confidence interval of the difference between aqmlab and the
  peer lies inside the tolerance.
- A comparison **misses** if the 95 % confidence interval of the difference lies outside the
  tolerance. The cause of a miss is known if runs in which only the suspected mechanism is changed
  confirm this cause; otherwise the cause is "open".
- A comparison is **undecided** if the 95 % confidence interval of the difference lies partly inside
  and partly outside the tolerance, because the values vary too much for the number of runs.

If a tolerance contains "means only", the difference of the two means is compared with the tolerance
without a confidence interval. If a tolerance contains "inside the peer's range", a comparison also
holds if the mean of aqmlab lies inside the range of the peer's runs.

`make validate` runs aqmlab and the peer for every comparison and writes this page. If a peer is not
installed, `make validate` prints a message, and the rows of this peer remain those of its last run.
`make validate PEERS="ns2 linux"` runs only the comparisons with the listed peers."""


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
        f"Of {len(rows)} comparisons in {settings} settings, **{count(rows, HOLDS)} hold**: the "
        "difference is inside the tolerance. "
        f"{misses} comparisons miss, because the difference is outside the tolerance, and "
        f"{count(rows, UNDECIDED)} comparisons are undecided. "
        f"The cause is known for {misses - unexplained} misses and open for {unexplained} misses. "
        "In the following table, each name is a link to the comparisons with one peer and to the "
        "causes of the misses."
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
    """Return the page's section of a peer: runs, misses with their causes, and other rows."""
    peer = peers()[key]
    lines = [
        f"## {peer.NAME}", "", peer.ABOUT, "",
        paragraph(
            f'The section "{peer.NAME}" contains {len(rows)} comparisons: {count(rows, HOLDS)} '
            f"that hold (difference inside the tolerance), {count(rows, MISSES)} that miss "
            f"(difference outside the tolerance) and {count(rows, UNDECIDED)} that are undecided. "
            f"The cause of the difference is unknown for {count_open(rows)} of the comparisons "
            f'that miss. `make validate PEERS="{key}"` ran the comparisons on {origin.date} in '
            f"{origin.minutes:.1f} minutes. "
            f"aqmlab {origin.build} was compared with {origin.version}. "
            f"[{key}.csv]({data.FOLDER.name}/{key}.csv) contains the values of all runs."
        ), "",
    ]  # fmt: skip
    ranked = sorted(rows, key=rank)
    first = [row for row in ranked if row.verdict != HOLDS]
    rest = [row for row in ranked if row.verdict == HOLDS]
    causes = list(dict.fromkeys(row.explained for row in first if row.explained not in ("", OPEN)))
    if first:
        lines += [*table(first, peer.NAME, causes), ""]
    if causes:
        lines += [f'Known causes of the misses in the section "{peer.NAME}":', ""]
        lines += [paragraph(f"{i}. {cause}", "   ") for i, cause in enumerate(causes, 1)] + [""]
    if rest:
        summary = f'The {len(rest)} comparisons in the section "{peer.NAME}" that hold'
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
