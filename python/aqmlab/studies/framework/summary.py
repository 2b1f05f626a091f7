"""A reproduction told to its reader: the summary on the terminal and the report."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.report import Chapter, Entry, Picture, Report, Score, Table, inline_svg
from aqmlab.studies.framework.kept import compare
from aqmlab.studies.framework.show import KINDS
from aqmlab.studies.framework.verdicts import (
    ABSENT,
    CHANGED,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    OPEN,
    REPRODUCED,
    WITHIN_SPREAD,
    Cell,
    called,
)

if TYPE_CHECKING:
    from rich.console import Console

    from aqmlab.studies.framework.study import Reproduction

TRIED = (REPRODUCED, WITHIN_SPREAD, NOT_REPRODUCED)


def compared(cells: list[Cell]) -> dict[tuple[str, str], Counter[str]]:
    """Verdicts of the cells that something was printed for, by item and quantity."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for cell in cells:
        if cell.verdict:
            counts.setdefault((cell.item, cell.quantity), Counter())[cell.verdict] += 1
    return counts


def verdicts(reproduction: Reproduction) -> Counter[str]:
    """How many claims got which verdict; both kinds of reproduced are one."""
    counts: Counter[str] = Counter()
    for _, decision in reproduction.claims:
        verdict = REPRODUCED if decision.verdict == WITHIN_SPREAD else decision.verdict
        counts[verdict] += 1
    return counts


def show(reproduction: Reproduction, console: Console) -> None:
    """Print what was reproduced and what was not."""
    from rich.table import Table as Printed

    counts = compared(reproduction.cells)
    under = f" {CHANGED}" if reproduction.changes else ""
    for text in changed(reproduction):
        console.print(text, markup=False)
    if counts:
        table = Printed(title=f"{reproduction.study.name}: ours against printed{under}")
        for head in ("item", "quantity"):
            table.add_column(head, no_wrap=True)
        for head in ("cells", "reproduced", "within spread", "not reproduced"):
            table.add_column(head, justify="right")
        for (item, quantity), found in counts.items():
            row = [str(found.total()), *(str(found[verdict] or "") for verdict in TRIED)]
            table.add_row(item, quantity.replace("_", " "), *row)
        console.print(table)
    if claims := verdicts(reproduction):
        few = [v for v in (OPEN, ABSENT) if claims[v]]
        every = (REPRODUCED, NOT_REPRODUCED, NOT_TESTABLE, *few)
        told = ", ".join(f"{claims[v]} {v}" for v in every)
        console.print(f"Claims{under}: {told}, of {claims.total()}.")
    if agreement := beside_the_whole(reproduction):
        console.print(agreement)
    if headline := reproduction.study.headline(reproduction.cells):
        console.print(f"[bold]{headline}{under}[/bold]")
    if reproduction.quick and reproduction.study.quick:
        console.print(reproduction.study.quick.about)
    if warnings := reproduction.runs.warnings():
        console.print(f"{len(warnings)} kinds of warnings: see the report, under Warnings.")
    runs = reproduction.runs.distinct()
    console.print(
        f"{runs} runs, {reproduction.replications} replications, {reproduction.seconds:.1f} s."
    )


def beside_the_whole(reproduction: Reproduction) -> str:
    """Return how the verdicts of a quick form agree with those of the whole study."""
    if not reproduction.claims or not reproduction.whole:
        return ""
    return compare(reproduction.claims, reproduction.whole).told


def changed(reproduction: Reproduction) -> list[str]:
    """Return what is changed in the study's assumptions, as the first thing that a reader sees."""
    if not reproduction.changes:
        return []
    told = ", ".join(f"{key} = {value}" for key, value in reproduction.changes)
    return [
        f"Under changed assumptions: {told}, in every scenario that has it. This is not the study "
        "as it is, and its verdicts are not on the study."
    ]


def report(reproduction: Reproduction, figures: Path) -> Report:
    """Return the report; `figures` is the folder with the figures as SVG."""
    study = reproduction.study
    reading = [study.quick.about] if reproduction.quick and study.quick else []
    if agreement := beside_the_whole(reproduction):
        reading.append(agreement)
    tables = _summary_tables(reproduction)
    chapters = [
        *([Chapter("summary", "Summary", tables=tables)] if tables else []),
        Chapter("reading", "How to read this", [*reading, *study.reading]),
    ]
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
            "What is legal in these runs and probably not meant elsewhere; of each kind the first. "
            "A study does as its authors did."
        )
        chapters.append(Chapter("warnings", "Warnings", [about, *warnings]))
    chapters.append(Chapter("deviations", "Deviations", list(study.deviations)))
    other = bool(reproduction.changes)
    key = {
        kind: called(verdict, changed=other)
        for verdict, kind in KINDS.items()
        if verdict != OPEN or verdicts(reproduction)[OPEN]
    }
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
    claims, under = verdicts(reproduction), f" {CHANGED}" * bool(reproduction.changes)
    once = [cell for cell in reproduction.cells if not cell.again]
    counts = sum(compared(once).values(), Counter())
    good = counts[REPRODUCED] + counts[WITHIN_SPREAD]
    scores = []
    if counts:
        scores.append(
            Score(f"printed numbers reproduced{under}", str(good), f"of {counts.total()}")
        )
    if claims:
        scores += [
            Score(f"claims reproduced{under}", str(claims[REPRODUCED]), f"of {claims.total()}"),
            Score(f"claims not reproduced{under}", str(claims[NOT_REPRODUCED])),
            Score("claims not testable", str(claims[NOT_TESTABLE])),
        ]
        scores += [Score(f"claims {v}", str(claims[v])) for v in (OPEN, ABSENT) if claims[v]]
    scores.append(Score("replications of each setting", str(reproduction.replications)))
    if headline := reproduction.study.headline(reproduction.cells):
        label, _, count = headline.rpartition(": ")
        number, of = count.split(" ", 1)
        scores.insert(0, Score(f"{label}{under}", number, of))
    return scores


def _summary_tables(reproduction: Reproduction) -> list[Table]:
    rows: list[list[str | Entry]] = []
    for (item, quantity), found in compared(reproduction.cells).items():
        entries = [Entry(str(found[v] or ""), kind=KINDS[v] * bool(found[v])) for v in TRIED]
        rows.append([f"{item}: {quantity.replace('_', ' ')}", str(found.total()), *entries])
    head = ["Item and quantity", "Cells", "Reproduced", "Within spread", "Not reproduced"]
    under = f" {CHANGED}" if reproduction.changes else ""
    return [Table(f"Ours against printed numbers{under}", head, rows)] if rows else []


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
                kind=KINDS.get(decision.verdict, ""),
            ),
            *([Entry(whole[claim.id], kind=KINDS[whole[claim.id]])] if whole else []),
            Entry(decision.evidence, prose=True),
        ]
        for claim, decision in reproduction.claims
    ]
    beside = ["Whole study"] if whole else []
    head = ["Claim", "Statement", "Printed", "Ours", "Verdict", *beside, "Evidence"]
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
