"""Results of a reproduction as text: the terminal's summary, the report, and the README's part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.report import Chapter, Entry, Picture, Report, Score, Table, inline_svg
from aqmlab.representation import card, shares
from aqmlab.studies.framework import measured
from aqmlab.studies.framework.claims import FITTED, INPUT, Decision, Published
from aqmlab.studies.framework.opening import misses_markdown, misses_table
from aqmlab.studies.framework.show import KINDS
from aqmlab.studies.framework.stored_verdicts import NOT_COUNTED, compare, score
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
    UNDECIDED,
    Cell,
    called,
)

if TYPE_CHECKING:
    from rich.console import Console

    from aqmlab.studies.framework.study import Reproduction, Study

Claim = tuple[Published, Decision]
COLOURS = ("#009E73", "#56B4E9", "#D55E00", "#E69F00")
"""Colours of the verdicts `DECIDED` in a notebook."""


def compared(cells: Iterable[Cell]) -> dict[tuple[str, str], Counter[str]]:
    """Return how many of the counted numbers have each verdict, by item and quantity."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for cell in cells:
        if cell.counted:
            counts.setdefault((cell.item, cell.quantity), Counter())[cell.verdict] += 1
    return counts


def numbers(cells: Iterable[Cell]) -> Counter[str]:
    """Return how many of the counted numbers have each verdict."""
    return sum(compared(cells).values(), Counter())


def verdicts(claims: Iterable[Claim]) -> Counter[str]:
    """Return how many of the measured claims have each verdict."""
    return Counter(decision.verdict for claim, decision in claims if claim.counted)


def bases(claims: Iterable[Claim]) -> Counter[str]:
    """Return how many claims are in each class."""
    return Counter(claim.basis for claim, _ in claims)


def good(counts: Counter[str]) -> int:
    """Return how many verdicts are "reproduced" or "reproduced (single run)"."""
    return counts[REPRODUCED] + counts[SINGLE_RUN]


def decided(counts: Counter[str]) -> int:
    """Return how many verdicts are reproduced, contradicted or open."""
    return sum(counts[verdict] for verdict in DECIDED)


def tiles(counts: Counter[str], noun: str, under: str = "") -> list[Score]:
    """Return one tile of the report per verdict, with the number of claims or published numbers.

    Examples
    --------
    >>> [f"{t.label} {t.count} {t.of}" for t in tiles(Counter({OPEN: 2, REPRODUCED: 1}), "claims")]
    ['claims reproduced 1 of 3', 'claims contradicted 0 ', 'claims open 2 ']
    """
    of = f"of {decided(counts)}"
    if counts[SINGLE_RUN]:
        of += f"; {counts[SINGLE_RUN]} within the spread of single runs"
    scores = [Score(f"{noun} reproduced{under}", str(good(counts)), of)]
    for verdict in (CONTRADICTED, OPEN):
        scores.append(Score(f"{noun} {verdict}{under}", str(counts[verdict])))
    return scores


def show(reproduction: Reproduction, console: Console) -> None:
    """Print how many published numbers and claims have each verdict."""
    from rich.table import Table as Printed

    counts = compared(reproduction.cells)
    under = f" {CHANGED}" if reproduction.changes else ""
    for text in notices(reproduction):
        console.print(text, markup=False)
    for label, text in reproduction.answers:
        console.print(f"[bold]{label}:[/bold]", end=" ")
        console.print(text, markup=False, highlight=False)
    if counts:
        table = Printed(
            title=f"{reproduction.study.name}: our numbers and the published numbers{under}"
        )
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
    if reproduction.falsification:
        reproduction.falsification.show(console)
    if reproduction.quick and reproduction.study.quick:
        console.print(reproduction.study.quick.about)
    if warnings := reproduction.runs.warnings():
        console.print(
            f"The runs have {len(warnings)} kinds of warnings; the report lists them under "
            "Warnings."
        )
    runs = reproduction.runs.distinct()
    console.print(
        f"{runs} runs, at most {reproduction.replications} replications of a setting, "
        f"{reproduction.seconds:.1f} s."
    )


def _score(reproduction: Reproduction) -> str:
    return score((claim.basis, decision.verdict) for claim, decision in reproduction.claims)


def one_line(reproduction: Reproduction) -> str:
    """Return the number of runs, and the number of reproduced claims and numbers, in one line."""
    parts = [f"{reproduction.runs.distinct()} runs"]
    claims, printed = verdicts(reproduction.claims), numbers(reproduction.cells)
    for counts, noun in ((claims, "claims"), (printed, "published numbers")):
        if decided(counts):
            parts.append(f"{good(counts)} of {decided(counts)} {noun} reproduced")
    return ", ".join(parts)


def html(reproduction: Reproduction) -> str:
    """Return the HTML of a reproduction for a notebook: the verdicts as a table and as bars."""
    under = f" {CHANGED}" * bool(reproduction.changes)
    rows, pictures = [], []
    claims, printed = verdicts(reproduction.claims), numbers(reproduction.cells)
    for counts, noun in ((claims, "claims"), (printed, "published numbers")):
        if decided(counts):
            of = [counts[verdict] for verdict in DECIDED]
            rows.append([f"{noun}{under}", *map(str, of)])
            pictures.append(shares(list(zip(DECIDED, of, COLOURS, strict=True))))
    runs = (
        f"{reproduction.runs.distinct()} runs, at most {reproduction.replications} replications "
        "of a setting"
    )
    answers = [f"{label}: {text}" for label, text in reproduction.answers]
    return card(
        reproduction.study.title,
        [*notices(reproduction), *answers, runs],
        head=["", *DECIDED] if rows else [],
        rows=rows,
        pictures=pictures,
    )


def agreement_with_whole(reproduction: Reproduction) -> str:
    """Return a comparison of a quick form's verdicts with the whole study's verdicts, as text."""
    if not reproduction.claims or not reproduction.whole:
        return ""
    return compare(reproduction.claims, reproduction.whole).sentence


def notices(reproduction: Reproduction) -> list[str]:
    """Return notices of changed assumptions and seeds, which report and terminal show first."""
    changes = ", ".join(f"{key} = {value}" for key, value in reproduction.changes)
    texts = [
        f"Under changed assumptions: {changes}, in every scenario that has the key. All verdicts "
        "apply to the changed study, and do not judge the publication."
    ] * bool(changes)
    if reproduction.seed is not None:
        texts.append(other_seeds(reproduction.seed))
    return [*texts, reproduction.runs.hosts] if reproduction.runs.hosts else texts


def other_seeds(seed: int) -> str:
    """Return a notice that the runs do not have the seeds of the study."""
    return (
        f"With other seeds: the first replication of each setting has the seed {seed}, the second "
        f"{seed + 1} and so on. The stored verdicts are results with the seeds of the study."
    )


def report(reproduction: Reproduction, figures: Path) -> Report:
    """Return the report of a reproduction; `figures` is the folder with its SVG figures."""
    study = reproduction.study
    reading = [study.quick.about] if reproduction.quick and study.quick else []
    if agreement := agreement_with_whole(reproduction):
        reading.append(agreement)
    tables = _summary_tables(reproduction)
    frozen = [FROZEN, *([OTHER_HOSTS] if reproduction.runs.hosts else [])]
    answered = bool(reproduction.answers)
    chapters = [
        *_misses(reproduction),
        *_measured(reproduction),
        *([Chapter("publication", "The publication", list(study.about))] if answered else []),
        *([Chapter("summary", "Summary", tables=tables)] if tables else []),
        Chapter("reading", "How to read this", [*reading, *study.reading, *RULES]),
        *([Chapter("frozen", "Settings that the study leaves open", frozen, [_choices(study)])]
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
    if reproduction.falsification:
        chapters.append(reproduction.falsification.chapter())
    if warnings := reproduction.runs.warnings():
        about = (
            "The simulator warns about valid but unusual settings. The runs use the unusual "
            "settings because the authors of the study used them. The list has one example per "
            "kind of warning."
        )
        chapters.append(Chapter("warnings", "Warnings", [about, *warnings]))
    chapters.append(Chapter("deviations", "Deviations", list(study.deviations)))
    other = bool(reproduction.changes)
    key = {kind: called(verdict, changed=other) for verdict, kind in KINDS.items()}
    title = f"{study.title} ({CHANGED})" if other else study.title
    return Report(
        title,
        [*notices(reproduction), *(() if answered else study.about)],
        _scores(reproduction),
        chapters,
        _end(reproduction),
        key,
        reproduction.answers,
        _opening_picture(reproduction, figures),
    )


def _opening_picture(reproduction: Reproduction, figures: Path) -> Picture | None:
    opening = reproduction.opening_figure()
    if opening is None:
        return None
    return Picture(opening.name, opening.caption, _svg(figures / f"{opening.name}.svg"))


def _misses(reproduction: Reproduction) -> list[Chapter]:
    """Return the chapter about the claims that are not reproduced, if there are any."""
    table = misses_table(reproduction.misses, reproduction.claims)
    return [Chapter("misses", "Misses, and why", [MISSES], [table])] if table else []


def _measured(reproduction: Reproduction) -> list[Chapter]:
    """Return the chapter with the numbers that were measured over a testbed, if there are any."""
    of = reproduction.measured
    table = measured.table(of, reproduction.claims)
    if table is None:
        return []
    count = f"The measured numbers come from {of.replications} replications of each setting."
    text = [of.hosts, count, measured.sentence(of, reproduction.claims)]
    return [Chapter("measured", "Published, simulated and measured", text, [table])]


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
        others.append((counts[UNDECIDED], f"that {UNDECIDED}"))
        scores += [Score(f"claims {about}", str(n)) for n, about in others if n]
    if cells := numbers(reproduction.cells):
        scores.append(tiles(cells, "published numbers", under)[0])
    scores.append(Score("replications of a setting, at most", str(reproduction.replications)))
    return scores


RULES = (
    "A verdict compares our interval with the published number and its tolerance. “Reproduced” "
    "means that our whole interval lies within the tolerance. “Contradicted” means that our whole "
    "interval lies outside the tolerance. “Open” means that our interval lies partly within the "
    "tolerance; more replications would make the interval narrower. “Reproduced (single run)” "
    "means that the published number comes from a single run, and lies within the spread of our "
    "single runs. “Cannot be decided” means that the runs lack a value that the claim needs; the "
    "evidence has the reason. A claim that one value is larger than another is decided if the "
    "interval of the difference does not contain 0.",
    "The score does not count three kinds of claims and numbers: claims that repeat an input of "
    "the runs or follow from inputs by arithmetic, published numbers that were used to choose a "
    "setting, and numbers under other interpretations of the publication.",
)
MISSES = (
    "Each row has claims that our runs contradict or leave open for the same reason. A command, "
    "where there is one, shows the cause."
)
OTHER_HOSTS = (
    "Settings of the hosts in this table do not apply to these runs. The first paragraph of the "
    "report says what the hosts are."
)
FROZEN = (
    "Each row is a setting that the publication leaves open, with the value that this reproduction "
    "uses and the evidence for this value. The score does not count results of runs in which one "
    "of the listed settings has another value. If published numbers were used to choose a value, "
    "the last column names the published numbers, and the score does not count them."
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
            ("again", "compared before, or under other interpretations"),
        )
        if others[standing]
    )
    caption = f"Our numbers compared with the published numbers{under}"
    if not_counted:
        caption += f"; not counted: {not_counted}"
    head = ["Item and quantity", "Cells", *(v.capitalize() for v in DECIDED)]
    return [Table(caption, head, rows)]


def _counts_row(name: str, counts: Counter[str]) -> list[str | Entry]:
    entries = [Entry(str(counts[v] or ""), kind=KINDS[v] * bool(counts[v])) for v in DECIDED]
    return [name, str(counts.total()), *entries]


def readme(reproduction: Reproduction) -> str:
    """Return the results of a reproduction in Markdown, for the study's README."""
    study, cells = reproduction.study, numbers(reproduction.cells)
    count = f"At most {reproduction.replications} replications of a setting."
    lines = [
        *(f"**{label}:** {text}" for label, text in reproduction.answers),
        f"{count} **{_score(reproduction)}**" if reproduction.claims else count,
    ]
    if cells:
        single = (
            f" ({cells[SINGLE_RUN]} within the spread of single runs)" if cells[SINGLE_RUN] else ""
        )
        lines.append(
            f"Published numbers that the score counts: {good(cells)} of {decided(cells)} "
            f"reproduced{single}, {cells[CONTRADICTED]} contradicted, {cells[OPEN]} open."
        )
    by_id = {claim.id: (claim, decision) for claim, decision in reproduction.claims}
    shown = [by_id[claim] for claim in study.excerpt.claims if claim in by_id]
    if shown:
        rows: list[list[str | Entry]] = [
            [c.id, f"{c.statement} ({c.scenario})", c.printed, d.ours or "–", _standing(c, d)]
            for c, d in shown
        ]
        head = ["Claim", "Statement", "Published", "Ours", "Verdict"]
        lines.append(markdown(Table("", head, rows)))
    tables = [t for section in reproduction.sections for t in section.tables]
    for caption in study.excerpt.tables:
        lines += [f"{t.caption}:\n\n{markdown(t)}" for t in tables if t.caption == caption]
    lines.append(_by_verdict(reproduction.claims))
    if missed := misses_markdown(reproduction.misses, reproduction.claims):
        lines += ["### Misses and their causes", "\n".join(missed)]
    return "\n\n".join(filter(None, lines))


def _standing(claim: Published, decision: Decision) -> str:
    return decision.verdict if claim.counted else f"{decision.verdict}; {claim.basis}"


def _by_verdict(claims: Iterable[Claim]) -> str:
    """Return the ids of the counted claims by verdict, and the ids of the other claims by class."""
    others = (NOT_TESTABLE, NOT_MEASURED, UNDECIDED, ABSENT)
    groups: dict[str, list[str]] = {v: [] for v in (*DECIDED, *others)}
    groups |= {f"claims that {about}": [] for about in NOT_COUNTED.values()}
    for claim, decision in claims:
        about = NOT_COUNTED.get(claim.basis)
        groups[f"claims that {about}" if about else decision.verdict].append(claim.id)
    return "\n".join(
        f"- {about.capitalize()}: {', '.join(ids)}." for about, ids in groups.items() if ids
    )


def markdown(table: Table) -> str:
    """Return a table in Markdown; the text below a number follows in brackets after the number.

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
    head = ["Claim", "Statement", "Published", "Ours", "Verdict", "Class", *beside, "Evidence"]
    chosen = "" if reproduction.complete else ", of the chosen items only"
    return Table(f"{len(rows)} claims{chosen}", head, rows)


def _end(reproduction: Reproduction) -> str:
    from aqmlab import _core

    runs = reproduction.runs.distinct()
    return (
        f"aqmlab {_core.version()}: {runs} distinct runs in {reproduction.seconds:.0f} s. "
        "The folder of this file has all numbers in cells.csv, all claims in claims.csv, and the "
        "scenario of every run in runs.jsonl.gz."
    )
