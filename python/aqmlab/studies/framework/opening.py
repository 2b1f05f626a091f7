"""First screen of a study's report, and the claims that a study misses with their causes.

The texts of a study name claims in braces, such as `{PE-006}`. The report inserts our number of
the claim, so that no text repeats a number that a later run changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aqmlab.studies.framework.claims import Decision, Published
from aqmlab.studies.framework.show import KINDS
from aqmlab.studies.framework.verdicts import CONTRADICTED, OPEN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from aqmlab.estimates import Estimate
    from aqmlab.report import Entry, Table

Claim = tuple[Published, Decision]
PLACE = re.compile(r"\{([A-Z0-9]+-\d+)\}")
"""Place of a claim's number in a text."""
MISSED = (CONTRADICTED, OPEN)
"""Verdicts on claims that need a cause."""


@dataclass(frozen=True)
class Opening:
    """Answer of a study: the first screen of its report.

    Attributes
    ----------
    found : str
        What the publication found, with its numbers.
    ours : str
        Whether the result holds, and what this reproduction finds. `{PE-006}` stands for our number
        of a claim.
    why : str
        Why the results differ, or why they agree.
    today : str
        What an operator or an implementer should take from the study today.
    shown : tuple of (str, str)
        Rows of the first figure: a label, and the id of a claim about a number.
    axes : tuple of (str, str)
        Label of the axis for each unit of these claims; by default the unit.
    """

    found: str
    ours: str
    why: str
    today: str = ""
    shown: tuple[tuple[str, str], ...] = ()
    axes: tuple[tuple[str, str], ...] = ()

    def answers(self, claims: Iterable[Claim]) -> list[tuple[str, str]]:
        """Return the labelled sentences, or none if a number of `ours` was not decided."""
        here = filled(self.ours, claims)
        labels = ("Published", "Here", "Why", "Today")
        texts = (self.found, here, self.why, self.today)
        return [(label, text) for label, text in zip(labels, texts, strict=True) if here and text]


@dataclass(frozen=True)
class Miss:
    """Claims that are contradicted or open for one reason.

    Attributes
    ----------
    about : str
        Subject of the claims, as a noun phrase.
    claims : tuple of str
        Ids of the claims.
    cause : str
        Cause, or what was excluded. `{PE-006}` stands for our number of a claim.
    command : str
        Command whose output shows the cause; empty if no run can show the cause.
    """

    about: str
    claims: tuple[str, ...]
    cause: str
    command: str = ""


def filled(text: str, claims: Iterable[Claim], absent: str = "") -> str:
    """Return a text in which our numbers replace the names of claims in braces.

    If a claim has no number, `absent` replaces its name. If `absent` is empty, the result is empty.

    Examples
    --------
    >>> claim = Published("A-001", "", "", 1.0, "%", "", "", "")
    >>> filled("It is {A-001} %.", [(claim, Decision("3 [2 to 4]", "open", ""))])
    'It is 3 [2 to 4] %.'
    >>> filled("It is {A-002} %.", [])
    ''
    """
    ours = {claim.id: decision.ours for claim, decision in claims}
    if not absent and any(not ours.get(claim_id) for claim_id in PLACE.findall(text)):
        return ""
    return PLACE.sub(lambda match: ours.get(match[1]) or absent, text)


def misses_table(misses: Iterable[Miss], claims: Sequence[Claim]) -> Table | None:
    """Return the table of causes, or None if none of the claims is contradicted or open."""
    from aqmlab.report import Entry, Table

    by_id = {claim.id: (claim, decision) for claim, decision in claims}
    rows: list[list[str | Entry]] = []
    for miss in misses:
        chosen = [by_id[i] for i in miss.claims if i in by_id]
        missed = [(claim, of) for claim, of in chosen if of.verdict in MISSED]
        if not missed:
            continue
        counts = {verdict: sum(of.verdict == verdict for _, of in missed) for verdict in MISSED}
        kind = CONTRADICTED if counts[CONTRADICTED] else OPEN
        text = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
        numbers = "\n".join(
            f"{claim.id}: {claim.printed}, here {of.ours or '–'}" for claim, of in missed
        )
        rows.append(
            [miss.about, Entry(text, numbers, KINDS[kind]),
             Entry(filled(miss.cause, claims, "(not run)"), prose=True),
             Entry(miss.command or "–", prose=True)]
        )  # fmt: skip
    if not rows:
        return None
    return Table("", ["Subject", "Claims: published, here", "Cause", "Command that shows it"], rows)


def misses_markdown(misses: Iterable[Miss], claims: Sequence[Claim]) -> list[str]:
    """Return the causes as items of a Markdown list."""
    missed = {claim.id for claim, decision in claims if decision.verdict in MISSED}
    items = []
    for miss in misses:
        if ids := [i for i in miss.claims if i in missed]:
            text = filled(miss.cause, claims, "(not run)")
            shown = f" Command: `{miss.command}`." if miss.command else ""
            items.append(f"- **{miss.about}** ({', '.join(ids)}): {text}{shown}")
    return items


def drawn(
    opening: Opening, claims: Sequence[Claim], measured: Mapping[str, Estimate]
) -> Figure | None:
    """Return the first figure: published numbers beside ours, one panel per unit.

    Parameters
    ----------
    opening : Opening
        Opening of the study, which names the rows.
    claims : sequence of (Published, Decision)
        Decided claims. A row whose claim has no estimate is left out; without rows the result is
        None.
    measured : mapping of str to Estimate
        Numbers that were measured over a real TCP, by claim id.
    """
    from aqmlab.figures.style import legend_below, sheet

    by_id = {claim.id: (claim, decision.estimate) for claim, decision in claims}
    rows = [
        (label, claim, ours)
        for label, claim_id in opening.shown
        for claim, ours in (by_id.get(claim_id, (None, None)),)
        if claim is not None and ours is not None and ours.n
    ]
    if not rows:
        return None
    units = list(dict.fromkeys(claim.unit for _, claim, _ in rows))
    heights = [sum(claim.unit == unit for _, claim, _ in rows) for unit in units]
    figure, axes = sheet(
        len(units), 1, (7.6, 1.1 + 0.34 * len(rows) + 0.55 * len(units)), squeeze=False,
        height_ratios=[count + 0.6 for count in heights],
    )  # fmt: skip
    for panel, unit in zip(axes[:, 0], units, strict=True):
        _panel(panel, [row for row in rows if row[1].unit == unit], measured)
        panel.set_xlabel(dict(opening.axes).get(unit, unit))
    # All kinds of numbers are in the panel that has most kinds.
    fullest = max(axes[:, 0], key=lambda panel: len(panel.get_legend_handles_labels()[1]))
    legend_below(figure, fullest, 3)
    drawing: Figure = figure
    return drawing


MARKS = (("published", "#D55E00", "D"), ("simulated", "#0072B2", "o"), ("Linux", "#009E73", "s"))
"""Label, colour and marker of each kind of number in the first figure."""
DECADES = 30
"""Ratio of the largest to the smallest number from which the axis is logarithmic."""


def _panel(
    panel: Axes,
    rows: Sequence[tuple[str, Published, Estimate]],
    measured: Mapping[str, Estimate],
) -> None:
    """Draw the rows of one unit."""
    from aqmlab.figures.style import logarithmic

    values = [value for _, claim, ours in rows for value in (claim.value, ours.value)]
    for k, (label, colour, marker) in enumerate(MARKS):
        placed = 0.16 * (k - 1)
        some = False
        for y, (_, claim, ours) in enumerate(rows):
            style: dict[str, Any] = {"color": colour, "label": "" if some else label}
            if k == 0:
                panel.plot(claim.value, y + placed, marker, markerfacecolor="none", **style)
            else:
                of = ours if k == 1 else measured.get(claim.id)
                if of is None or not of.n:
                    continue
                sides = [[max(of.value - of.low, 0)], [max(of.high - of.value, 0)]]
                panel.errorbar(of.value, y + placed, xerr=sides, fmt=marker, capsize=3, **style)
            some = True
    panel.set_yticks(range(len(rows)), [label for label, *_ in rows])
    panel.set_ylim(len(rows) - 0.5, -0.5)
    panel.grid(visible=False, axis="y")
    if min(values) > 0 and max(values) > DECADES * min(values):
        logarithmic(panel, "x")
