"""Views of a reproduction: the summary on the terminal, the report, and results for the README."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.report import Chapter, Entry, Picture, Report, Score, Table, inline_svg
from aqmlab.studies.framework.claims import FITTED, INPUT, MEASURED, Decision, Published
from aqmlab.studies.framework.show import KINDS
from aqmlab.studies.framework.stored_verdicts import compare, score
from aqmlab.studies.framework.verdicts import (
    ABSENT,
    CHANGED,
    CONTRADICTED,
    DECIDED,
    NOT_MEASURED,
    NOT_TESTABLE,
    OPEN,
    REPRODUCED,
    SINGLE_RUN,
    Cell,
    called,
)

if TYPE_CHECKING:
    from rich.console import Console

    from aqmlab.studies.framework.study import Reproduction, Study

Claim = tuple[Published, Decision]


def compared(cells: Iterable[Cell]) -> dict[tuple[str, str], Counter[str]]:
    """Return the numbers of verdicts of the counted cells, by item and quantity."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for cell in cells:
        if cell.counted:
            counts.setdefault((cell.item, cell.quantity), Counter())[cell.verdict] += 1
    return counts


def numbers(cells: Iterable[Cell]) -> Counter[str]:
    """Return the number of counted cells by verdict."""
    return sum(compared(cells).values(), Counter())


def verdicts(claims: Iterable[Claim]) -> Counter[str]:
    """Return the number of measured claims by verdict."""
    return Counter(decision.verdict for claim, decision in claims if claim.counted)


def bases(claims: Iterable[Claim]) -> Counter[str]:
    """Return the number of claims by class."""
    return Counter(claim.basis for claim, _ in claims)


def good(counts: Counter[str]) -> int:
    """Return the number of reproduced verdicts, including those of single runs."""
    return counts[REPRODUCED] + counts[SINGLE_RUN]


def decided(counts: Counter[str]) -> int:
    """Return the number of verdicts that compare an interval with a published statement."""
    return sum(counts[verdict] for verdict in DECIDED)


def tiles(counts: Counter[str], noun: str, under: str = "") -> list[Score]:
    """Return one tile per verdict, with the number of claims or published numbers.

    Examples
    --------
    >>> [f"{t.label} {t.count} {t.of}" for t in tiles(Counter({OPEN: 2, REPRODUCED: 1}), "claims")]
    ['claims reproduced 1 of 3', 'claims contradicted 0 ', 'claims open 2 ']
    """
    of = f"of {decided(counts)}"
    if counts[SINGLE_RUN]:
        of += f"; {counts[SINGLE_RUN]} as a single run"
    scores = [Score(f"{noun} reproduced{under}", str(good(counts)), of)]
    for verdict in (CONTRADICTED, OPEN):
        scores.append(Score(f"{noun} {verdict}{under}", str(counts[verdict])))
    return scores


def show(reproduction: Reproduction, console: Console) -> None:
    """Print the number of claims with each verdict, and the score of the claims."""
    from rich.table import Table as Printed

    counts = compared(reproduction.cells)
    under = f" {CHANGED}" if reproduction.changes else ""
    for text in changed(reproduction):
        console.print(text, markup=False)
    if counts:
        table = Printed(title=f"{reproduction.study.name}: ours against printed{under}")
        for head in ("item", "quantity"):
            table.add_column(head, no_wrap=True)
        for head in ("cells", *DECIDED):
            table.add_column(head, justify="right")
        for (item, quantity), by_verdict in counts.items():
            row = [str(by_verdict.total()), *(str(by_verdict[v] or "") for v in DECIDED)]
            table.add_row(item, quantity.replace("_", " "), *row)
        console.print(table)
    if reproduction.claims:
        console.print(f"Claims{under}: {_score(reproduction)}")
    if agreement := agreement_with_whole(reproduction):
        console.print(agreement)
    if headline := reproduction.study.headline(reproduction.cells):
        console.print(f"[bold]{headline}{under}[/bold]")
    if reproduction.quick and reproduction.study.quick:
        console.print(reproduction.study.quick.about)
    if warnings := reproduction.runs.warnings():
        console.print(f"{len(warnings)} kinds of warnings: see Warnings in the report.")
    runs = reproduction.runs.distinct()
    console.print(
        f"{runs} runs, {reproduction.replications} replications, {reproduction.seconds:.1f} s."
    )


def _score(reproduction: Reproduction) -> str:
    return score((claim.basis, decision.verdict) for claim, decision in reproduction.claims)


def agreement_with_whole(reproduction: Reproduction) -> str:
    """Return a sentence on the agreement of a quick form's verdicts with the whole study's."""
    if not reproduction.claims or not reproduction.whole:
        return ""
    return compare(reproduction.claims, reproduction.whole).sentence


def changed(reproduction: Reproduction) -> list[str]:
    """Return a notice of the changed assumptions, for the top of the report."""
    if not reproduction.changes:
        return []
    changes = ", ".join(f"{key} = {value}" for key, value in reproduction.changes)
    return [
        f"Under changed assumptions: {changes}, in every scenario that has the key. The verdicts "
        "below apply to the changed study, not to the publication."
    ]


def report(reproduction: Reproduction, figures: Path) -> Report:
    """Return the report of a reproduction; `figures` is the folder with the figures as SVG."""
    study = reproduction.study
    reading = [study.quick.about] if reproduction.quick and study.quick else []
    if agreement := agreement_with_whole(reproduction):
        reading.append(agreement)
    tables = _summary_tables(reproduction)
    chapters = [
        *([Chapter("summary", "Summary", tables=tables)] if tables else []),
        Chapter("reading", "How to read this", [*reading, *study.reading, *RULES]),
        *([Chapter("frozen", "The frozen reading", [FROZEN], [_choices(study)])]
          if study.choices else []),
    ]  # fmt: skip
    for item, section in zip(reproduction.items, reproduction.sections, strict=True):
        pictures = [
            Picture(f.name, f.caption, _svg(figures / f"{f.name}.svg")) for f in section.figures
        ]
        files = [f"files/{file.name}: {file.about}" for file in section.files]
        text = [*section.text, *files]
        chapters.append(Chapter(item.name, item.title, text, section.tables, pictures))
    if reproduction.claims:
        chapters.append(Chapter("claims", "Claims", tables=[_claims(reproduction)]))
    if warnings := reproduction.runs.warnings():
        about = (
            "Settings of these runs that are valid but unusual, with the first warning of each "
            "kind. The study uses the settings of its authors."
        )
        chapters.append(Chapter("warnings", "Warnings", [about, *warnings]))
    chapters.append(Chapter("deviations", "Deviations", list(study.deviations)))
    other = bool(reproduction.changes)
    key = {kind: called(verdict, changed=other) for verdict, kind in KINDS.items()}
    title = f"{study.title} ({CHANGED})" if other else study.title
    return Report(
        title,
        [*changed(reproduction), *study.about],
        _scores(reproduction),
        chapters,
        _end(reproduction),
        key,
    )


def _svg(path: Path) -> str:
    return inline_svg(path.read_text(encoding="utf-8"), path.stem)


def _scores(reproduction: Reproduction) -> list[Score]:
    under = f" {CHANGED}" * bool(reproduction.changes)
    scores = []
    if reproduction.claims:
        scores += tiles(verdicts(reproduction.claims), "claims", under)
        counts = verdicts(reproduction.claims)
        apart = bases(reproduction.claims)[INPUT] + bases(reproduction.claims)[FITTED]
        others = [(apart, "not counted"), (counts[NOT_TESTABLE], NOT_TESTABLE)]
        others += [(counts[ABSENT], ABSENT), (counts[NOT_MEASURED], NOT_MEASURED)]
        scores += [Score(f"claims {about}", str(n)) for n, about in others if n]
    if cells := numbers(reproduction.cells):
        scores += tiles(cells, "printed numbers", under)
    scores.append(Score("replications of each setting", str(reproduction.replications)))
    if headline := reproduction.study.headline(reproduction.cells):
        label, _, count = headline.rpartition(": ")
        number, of = count.split(" ", 1)
        scores.insert(0, Score(f"{label}{under}", number, of))
    return scores


RULES = (
    "A verdict compares our interval with the printed number and its tolerance. Reproduced: the "
    "whole interval lies within the tolerance. Contradicted: the whole interval lies outside. "
    "Open: the interval lies partly within; more replications make it narrower. If the source "
    "prints one single run, the spread of our single runs is allowed too, and the verdict reads "
    "“reproduced (single run)”. A direction or a rank is decided by an interval without 0.",
    "The score does not count claims that restate an input or follow from one by arithmetic, "
    "printed numbers that were used to choose a setting, and numbers under other readings of the "
    "source.",
)
FROZEN = (
    "Each row is a setting that the source leaves open, with the value used here and the evidence "
    "for it. The score counts this reading alone. If printed numbers were used to choose a value, "
    "the last column names them, and the score does not count these numbers."
)


def _choices(study: Study) -> Table:
    rows = [
        [Entry(text, prose=True) for text in (c.setting, c.taken, c.evidence, c.fitted_to or "–")]
        for c in study.choices
    ]
    head = ["Setting", "Value", "Evidence", "Chosen by"]
    return Table(f"{len(rows)} choices", head, rows)


def _summary_tables(reproduction: Reproduction) -> list[Table]:
    every = compared(reproduction.cells)
    if not every:
        return []
    rows = [
        _counts_row(f"{item}: {quantity.replace('_', ' ')}", by_verdict)
        for (item, quantity), by_verdict in every.items()
    ]
    rows.append(_counts_row("All", numbers(reproduction.cells)))
    others = Counter(cell.standing for cell in reproduction.cells)
    under = f" {CHANGED}" if reproduction.changes else ""
    not_counted = ", ".join(
        f"{others[standing]} {reason}"
        for standing, reason in (
            ("fitted", "used to choose settings"),
            ("again", "compared before, or under other readings"),
        )
        if others[standing]
    )
    caption = f"Ours against printed numbers{under}"
    if not_counted:
        caption += f"; not counted: {not_counted}"
    head = ["Item and quantity", "Cells", *(v.capitalize() for v in DECIDED)]
    return [Table(caption, head, rows)]


def _counts_row(name: str, counts: Counter[str]) -> list[str | Entry]:
    entries = [Entry(str(counts[v] or ""), kind=KINDS[v] * bool(counts[v])) for v in DECIDED]
    return [name, str(counts.total()), *entries]


def readme(reproduction: Reproduction) -> str:
    """Return the results for the study's README, in Markdown."""
    study, cells = reproduction.study, numbers(reproduction.cells)
    lines = [f"{reproduction.replications} replications. **{_score(reproduction)}**"]
    if cells:
        single = f" ({cells[SINGLE_RUN]} as a single run)" if cells[SINGLE_RUN] else ""
        lines.append(
            f"Printed numbers that are counted: {good(cells)} of {decided(cells)} "
            f"reproduced{single}, {cells[CONTRADICTED]} contradicted, {cells[OPEN]} open."
        )
    by_id = {claim.id: (claim, decision) for claim, decision in reproduction.claims}
    shown = [by_id[claim] for claim in study.excerpt.claims if claim in by_id]
    if shown:
        rows: list[list[str | Entry]] = [
            [c.id, f"{c.statement} ({c.scenario})", c.printed, d.ours or "–", _standing(c, d)]
            for c, d in shown
        ]
        head = ["Claim", "Statement", "Printed", "Ours", "Verdict"]
        lines.append(markdown(Table("", head, rows)))
    tables = [t for section in reproduction.sections for t in section.tables]
    for caption in study.excerpt.tables:
        lines += [f"{t.caption}:\n\n{markdown(t)}" for t in tables if t.caption == caption]
    lines.append(_by_verdict(reproduction.claims))
    return "\n\n".join(filter(None, lines))


def _standing(claim: Published, decision: Decision) -> str:
    return decision.verdict if claim.counted else f"{decision.verdict}; {claim.basis}"


def _by_verdict(claims: Iterable[Claim]) -> str:
    """Return the ids of counted claims by verdict, and those of other claims by class."""
    groups: dict[str, list[str]] = {v: [] for v in (*DECIDED, NOT_TESTABLE, NOT_MEASURED, ABSENT)}
    groups |= {basis: [] for basis in (INPUT, FITTED)}
    for claim, decision in claims:
        groups[decision.verdict if claim.basis == MEASURED else claim.basis].append(claim.id)
    return "\n".join(
        f"- {about.capitalize()}: {', '.join(ids)}." for about, ids in groups.items() if ids
    )


def markdown(table: Table) -> str:
    """Return a table in Markdown; the lines below a number follow the number in brackets.

    Examples
    --------
    >>> print(markdown(Table("", ["", "a"], [["x", Entry("1", "0 to 2")]])))
    | | a |
    |---|---|
    | x | 1 [0 to 2] |
    """
    rows = [
        [f"{e.text} [{'; '.join(e.sub.splitlines())}]" if e.sub else e.text for e in row]
        for row in table.entries()
    ]
    head = ["| " + " | ".join(table.head).strip() + " |", "|---" * len(table.head) + "|"]
    head[0] = head[0].replace("|  |", "| |")
    return "\n".join([*head, *("| " + " | ".join(row) + " |" for row in rows)])


def _claims(reproduction: Reproduction) -> Table:
    other, whole = bool(reproduction.changes), reproduction.whole
    rows: list[list[str | Entry]] = [
        [
            claim.id,
            Entry(f"{claim.statement} ({claim.scenario})", prose=True),
            claim.printed,
            Entry(decision.ours or "–"),
            Entry(
                called(decision.verdict, changed=other),
                kind=KINDS.get(decision.verdict, "") * claim.counted,
            ),
            Entry(claim.basis, note=claim.reason),
            *([Entry(whole[claim.id], kind=KINDS[whole[claim.id]])] if whole else []),
            Entry(" ".join(filter(None, [decision.evidence, claim.reason])), prose=True),
        ]
        for claim, decision in reproduction.claims
    ]
    beside = ["Whole study"] if whole else []
    head = ["Claim", "Statement", "Printed", "Ours", "Verdict", "Class", *beside, "Evidence"]
    chosen = "" if reproduction.complete else ", of the chosen items only"
    return Table(f"{len(rows)} claims{chosen}", head, rows)


def _end(reproduction: Reproduction) -> str:
    from aqmlab import _core

    runs = reproduction.runs.distinct()
    return (
        f"aqmlab {_core.version()}: {runs} distinct runs in {reproduction.seconds:.0f} s. "
        "All numbers are in cells.csv, all claims in claims.csv, the scenario of every run in "
        "runs.jsonl.gz beside this file."
    )
