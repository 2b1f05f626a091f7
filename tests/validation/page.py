"""The page ``docs/validation.md``, made from the rows in ``docs/validation/``."""

from collections.abc import Sequence
from statistics import mean

from validation import data
from validation.data import Made
from validation.picture import PICTURE
from validation.row import HOLDS, MISSES, UNDECIDED, VERDICTS, Row

PAGE = data.FOLDER.parent / "validation.md"

LEGEND = f"""\
![Each setting and measure: aqmlab against the peer]({data.FOLDER.name}/{PICTURE})

A point on the diagonal is a setting for which aqmlab and the peer give the same value. Bars are the
ranges of both sides' runs. A count of 0 is drawn at 0.5.

A row **holds** if the 95 % interval of the difference of the means lies within the tolerance. It
**misses** if the interval lies outside, and is **undecided** if the interval reaches across the
tolerance: then the runs are too few for the spread of the measure. Rows whose tolerance says "of
the means" compare the means alone. A miss has its cause, with the numbers that establish it, or is
"open". Values are the mean and, in brackets, the range over the runs.

`make validate` runs both sides and writes this page. It skips a peer that is not installed and says
why; that peer's rows then remain those of its last run. `make validate PEERS="ns2 linux"` runs only
the peers named. The rows with all values are the CSV files in [validation](validation)."""


def page(sections: dict[str, tuple[Made, list[Row]]]) -> str:
    """Return the page.

    Parameters
    ----------
    sections : dict
        Origin and rows of each peer that has ever run, by its key.
    """
    every = [row for _, rows in sections.values() for row in rows]
    lines = ["# Validation", "", answer(every), "", LEGEND, "", *score(sections)]
    for key, (made, rows) in sections.items():
        lines += ["", *section(key, made, rows)]
    return "\n".join(lines) + "\n"


def count(rows: Sequence[Row], verdict: str) -> int:
    """Return the number of rows with a verdict."""
    return sum(row.verdict == verdict for row in rows)


def answer(rows: Sequence[Row]) -> str:
    """Return the page's first sentence."""
    settings = len({row.setting for row in rows})
    still_open = sum(row.explained == "open" for row in rows)
    return (
        f"Of {len(rows)} comparisons in {settings} settings with other simulators, real hosts "
        f"and closed forms, **{count(rows, HOLDS)} hold**. Misses: {count(rows, MISSES)}, with an "
        f"open cause: {still_open}. Undecided: {count(rows, UNDECIDED)}."
    )


def score(sections: dict[str, tuple[Made, list[Row]]]) -> list[str]:
    """Return the table of scores, one line per peer."""
    lines = [
        "| beside | settings | comparisons | hold | undecided | miss | of these open | run on |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for made, rows in sections.values():
        anchor = made.name.lower().replace(" ", "-").replace(".", "")
        numbers = [
            len({row.setting for row in rows}), len(rows),
            *(count(rows, verdict) for verdict in (HOLDS, UNDECIDED, MISSES)),
            sum(row.explained == "open" for row in rows),
        ]  # fmt: skip
        cells = [f"[{made.name}](#{anchor})", *map(str, numbers), made.date]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def section(key: str, made: Made, rows: Sequence[Row]) -> list[str]:
    """Return the section of a peer: how it was run, the misses, then all other rows."""
    lines = [
        f"## {made.name}", "", made.about, "",
        f"aqmlab {made.build} beside {made.version}, run on {made.date} in {made.minutes:.1f} "
        f'minutes by `make validate PEERS="{key}"`: {count(rows, HOLDS)} of {len(rows)} hold. '
        f"[All values]({data.FOLDER.name}/{key}.csv).", "",
    ]  # fmt: skip
    ranked = sorted(rows, key=rank)
    first = [row for row in ranked if row.verdict != HOLDS]
    rest = [row for row in ranked if row.verdict == HOLDS]
    if first:
        lines += [*table(first, made.name, causes=True), ""]
    if rest:
        summary = f"The {len(rest)} rows that hold"
        lines += [f"<details><summary>{summary}</summary>", ""]
        lines += [*table(rest, made.name, causes=False), "", "</details>"]
    return lines


def rank(row: Row) -> tuple[int, float]:
    """Return the place of a row: by verdict, then the misses by their size in tolerances."""
    if row.verdict == HOLDS:
        return VERDICTS.index(HOLDS), 0.0
    bound = row.tolerance.bound(row.theirs)
    difference = abs(mean(row.ours) - mean(row.theirs))
    return VERDICTS.index(row.verdict), -difference / bound if bound else float("-inf")


def table(rows: Sequence[Row], name: str, *, causes: bool) -> list[str]:
    """Return a table of rows."""
    header = ["verdict", "setting", "measure", "aqmlab", name, "difference", "tolerance"]
    align = ["---", "---", "---", "---:", "---:", "---:", "---"]
    if causes:
        header, align = [*header, "cause"], [*align, "---"]
    lines = ["| " + " | ".join(header) + " |", "| " + " | ".join(align) + " |"]
    for row in rows:
        unit = f", {row.unit}" if row.unit else ""
        cells = [
            row.verdict, row.setting, row.measure + unit, spread(row.ours), spread(row.theirs),
            f"{row.difference:+.1%}" if mean(row.theirs) else "", row.tolerance.text(row.unit),
        ]  # fmt: skip
        if causes:
            cells.append(row.explained)
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def spread(values: tuple[float, ...]) -> str:
    """Return the mean of values and, if they differ, their range."""
    if min(values) == max(values):
        return number(values[0])
    return f"{number(mean(values))} ({number(min(values))} to {number(max(values))})"


def number(value: float) -> str:
    """Return a number with four significant digits and without an exponent if possible."""
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        digits = max(0, 4 - len(str(int(abs(value)))) + (abs(value) < 1)) if value else 0
        text = f"{value:.{max(digits, 4) if 0 < abs(value) < 0.1 else digits}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:.3g}"
