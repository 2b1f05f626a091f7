"""Reproduction of all studies, and a page that summarizes their results.

The runs of a study begin when those of the study before it end. Meanwhile another thread decides
the claims of the study before it and writes its report, which takes one core up to 30 s.
"""

from __future__ import annotations

import csv
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import studies
from aqmlab.background import Background
from aqmlab.report import Chapter, Entry, Report, Score, Table, write_report
from aqmlab.studies.framework.claims import Decision, Published
from aqmlab.studies.framework.falsification import Falsification, falsified
from aqmlab.studies.framework.files import CLAIMS, FALSIFICATION
from aqmlab.studies.framework.opening import Miss, misses_table
from aqmlab.studies.framework.output import MADE_BY, claim_row, write
from aqmlab.studies.framework.show import KINDS
from aqmlab.studies.framework.stored_verdicts import score
from aqmlab.studies.framework.summary import (
    decided,
    good,
    numbers,
    other_seeds,
    tiles,
    verdicts,
)
from aqmlab.studies.framework.verdicts import CONTRADICTED, NOT_TESTABLE, OPEN

if TYPE_CHECKING:
    from rich.console import Console

    from aqmlab.engine import Engine
    from aqmlab.store import Store
    from aqmlab.studies.framework.study import Reproduction, Study

LESSONS = "Lessons for today"
"""Heading of the README section that the page about all studies copies from each study."""


@dataclass(frozen=True)
class StudyResult:
    """Results of one study, for the page about all studies."""

    name: str
    title: str
    claims: list[tuple[Published, Decision]]
    verdicts: Counter[str]
    cells: Counter[str]
    runs: int
    seconds: float
    answers: list[tuple[str, str]] = field(default_factory=list)
    misses: tuple[Miss, ...] = ()
    falsification: Falsification | None = None


def section(readme: str, heading: str) -> list[str]:
    r"""Return the paragraphs and list items of a README section, as plain text.

    Examples
    --------
    >>> section("# A\n\n## B\n\n- one\n  `two`\n- **three**\n\n## C\n\nno\n", "B")
    ['one two', 'three']
    """
    lines = readme.splitlines()
    if f"## {heading}" not in lines:
        return []
    paragraphs: list[str] = []
    new = True
    for line in lines[lines.index(f"## {heading}") + 1 :]:
        if line.startswith("## "):
            break
        text = line.strip()
        if not text or text.startswith("- "):
            new = True
        text = text.removeprefix("- ").replace("**", "").replace("`", "")
        if text and new:
            paragraphs.append(text)
            new = False
        elif text:
            paragraphs[-1] += f" {text}"
    return paragraphs


def readme(name: str) -> str:
    """Return the README of a study."""
    folder = resources.files("aqmlab.studies") / name.replace("-", "_")
    return (folder / "README.md").read_text("utf-8")


def reproduce_all(
    out: str | Path | None = None,
    jobs: int | None = None,
    console: Console | None = None,
    *,
    engine: Engine | None = None,
    store: Store | None = None,
    quick: bool = False,
    seed: int | None = None,
    falsify: bool = False,
    force: bool = True,
) -> Path:
    """Reproduce all studies, and write a folder for each study and a page about all studies.

    Parameters
    ----------
    out : str or Path, optional
        Folder of the results; default: `results/all`.
    jobs, console, engine, store
        As for :meth:`aqmlab.studies.framework.Study.reproduce`.
    quick : bool
        True to run the quick form of each study, or two replications of a study without a quick
        form. For quick forms, the page about all studies does not count the reproduced claims.
    seed : int, optional
        As for :meth:`aqmlab.studies.framework.Study.reproduce`.
    falsify : bool
        True to decide the claims of each study under each of its alternatives too. The page then
        has a table per study with the verdicts that an alternative changes.
    force : bool
        True to replace the folder of an earlier reproduction, False to raise an error instead.

    Returns
    -------
    Path
        Path of the page, `index.html`. The same folder has `claims.csv` with the claims of all
        studies and, with `falsify`, `falsification.csv` with their verdicts under each alternative.

    Raises
    ------
    ValueError
        If both `quick` and `falsify` are True.
    OSError
        If the folder contains other files or cannot be written.
    """
    from aqmlab.folder import appearing

    if quick and falsify:
        raise ValueError(
            "--all --falsify excludes --quick, because most quick forms decide no claims; leave "
            "out --quick, or falsify one study: aqmlab reproduce power-of-ecn --quick --falsify"
        )
    final, began = Path(out) if out else Path("results") / "all", time.monotonic()
    results: list[StudyResult] = []

    def collect(reproduction: Reproduction) -> None:
        _show(reproduction, console)
        results.append(_result(reproduction, [] if quick else reproduction.claims))

    background: Background[Reproduction] = Background()
    with appearing(final, MADE_BY, force=force) as folder, background:
        for study in _by_claims():
            form: dict[str, Any] = {"quick": True} if quick and study.quick else {}
            few = 2 if quick and not study.quick else None
            finished = study.execute((), few, jobs, console, engine, store, seed=seed, **form)
            conclude = finished.conclude
            if falsify:
                reproduction = conclude()
                tested = falsified(reproduction, (), jobs, console)
                conclude = partial(replace, reproduction, falsification=tested)
            if background.started:
                collect(background.result())
            background.start(partial(_write, conclude, folder / study.name))
        collect(background.result())
        results.sort(key=lambda one: studies.names().index(one.name))
        claims = [(one.name, claim_row(*claim)) for one in results for claim in one.claims]
        _write_rows(claims, folder / CLAIMS)
        if falsify:
            of_studies = [(one.name, one.falsification) for one in results if one.falsification]
            rows = [(name, row) for name, of in of_studies for row in of.rows()]
            _write_rows(rows, folder / FALSIFICATION)
        seconds = time.monotonic() - began
        write_report(page(results, quick=quick, seed=seed, seconds=seconds), folder / "index.html")
    return final / "index.html"


def _by_claims() -> list[Study]:
    """Return all studies, beginning with the study that has the most claims.

    The more claims a study has, the longer its report takes. The report of the last study has no
    further runs beside it.
    """
    every = map(studies.load, studies.names())
    return sorted(every, key=lambda study: -len(study.claims.published()))


def _write(conclude: Callable[[], Reproduction], folder: Path) -> Reproduction:
    """Conclude a study, and write its folder."""
    reproduction = conclude()
    folder.mkdir()
    write(reproduction, folder)
    return reproduction


def _show(reproduction: Reproduction, console: Console | None) -> None:
    """Print one line about a study, and the changed verdicts of its falsification."""
    if console is None:
        return
    every = [(claim.basis, decision.verdict) for claim, decision in reproduction.claims]
    text = score(every) if every else "No claims."
    count = reproduction.runs.distinct()
    console.print(f"{reproduction.study.name}: {text} {count} runs, {reproduction.seconds:.0f} s.")
    if reproduction.falsification:
        reproduction.falsification.show(console)


def _result(reproduction: Reproduction, claims: list[tuple[Published, Decision]]) -> StudyResult:
    return StudyResult(
        reproduction.study.name,
        reproduction.study.title,
        claims,
        verdicts(claims),
        numbers(reproduction.cells),
        reproduction.runs.distinct(),
        reproduction.seconds,
        reproduction.answers,
        reproduction.misses,
        reproduction.falsification,
    )


def _write_rows(of_studies: list[tuple[str, dict[str, Any]]], path: Path) -> None:
    """Write a CSV file; each row has the name of its study in the first column."""
    rows = [{"study": name} | row for name, row in of_studies]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else ["study"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def page(
    results: list[StudyResult], *, quick: bool, seed: int | None = None, seconds: float
) -> Report:
    """Return the page about all studies, which took the given time in s together."""
    all_claims = sum((one.verdicts for one in results), Counter[str]())
    scores = [Score("studies", str(len(results)))]
    if all_claims:
        scores += tiles(all_claims, "claims")
        scores.append(Score("claims not testable", str(all_claims[NOT_TESTABLE])))
        not_counted = sum(not claim.counted for one in results for claim, _ in one.claims)
        scores.append(Score("claims not counted", str(not_counted), "inputs, arithmetic, fitted"))
    lead = [
        "Reproductions of published studies of queues and ECN. For each study, this page lists "
        "the lessons for today, the claims that were not reproduced, and the causes. The folder "
        "of each study has a report with every number, figure and claim."
    ]
    if seed is not None:
        lead.append(other_seeds(seed))
    if quick:
        lead.append(
            "This page shows the quick forms, which run only a part of each study, and does not "
            "count claims. If a quick form decides claims, its report lists the claims."
        )
    if any(one.falsification for one in results):
        lead.append(
            "The claims were also decided under alternatives to the assumptions of each study, one "
            "at a time and with the same seeds. A table per study lists the verdicts that change."
        )
    chapters = [Chapter("overview", "Overview", tables=[*_answers(results), _overview(results)])]
    for one in results:
        chapters += _chapters(one)
    end = (
        f"{sum(one.runs for one in results)} runs in {seconds:.0f} s. The file claims.csv has all "
        "claims."
    )
    key = {kind: verdict for verdict, kind in KINDS.items()}
    return Report("Reproductions of published studies", lead, scores, chapters, end, key)


def _answers(results: list[StudyResult]) -> list[Table]:
    """Return a table with the labelled sentences of all studies, if there are any."""
    labels = list(dict.fromkeys(label for one in results for label, _ in one.answers))
    rows: list[list[str | Entry]] = [
        [one.title, *(Entry(dict(one.answers).get(label, "–"), prose=True) for label in labels)]
        for one in results
    ]
    return [Table("What holds today", ["Study", *labels], rows)] if labels else []


def _overview(results: list[StudyResult]) -> Table:
    rows: list[list[str | Entry]] = []
    for one in results:
        by_verdict = [
            (good(one.verdicts), "good"),
            *((one.verdicts[v], KINDS[v]) for v in (CONTRADICTED, OPEN, NOT_TESTABLE)),
            (sum(not claim.counted for claim, _ in one.claims), ""),
        ]
        counts = [Entry(str(n) if one.claims else "–", kind=kind) for n, kind in by_verdict]
        printed = f"{good(one.cells)} of {decided(one.cells)}" if one.cells else "–"
        rows.append([one.title, *counts, printed, str(one.runs), f"{one.seconds:.0f}"])
    head = ["Study", "Claims reproduced", CONTRADICTED, OPEN, NOT_TESTABLE, "not counted"]
    return Table("Verdicts", [*head, "Published numbers reproduced", "Runs", "Seconds"], rows)


def _chapters(one: StudyResult) -> list[Chapter]:
    text = readme(one.name)
    lessons = section(text, LESSONS)
    missed: list[list[str | Entry]] = [
        [claim.id, Entry(f"{claim.statement} ({claim.scenario})", prose=True), claim.printed,
         Entry(decision.ours or "–", kind=KINDS[decision.verdict]), decision.verdict]
        for claim, decision in one.claims
        if claim.counted and decision.verdict in (CONTRADICTED, OPEN, NOT_TESTABLE)
    ]  # fmt: skip
    answers = [f"{label}: {sentence}" for label, sentence in one.answers]
    chapters = [Chapter(one.name, one.title, [*answers, f"Report: {one.name}/report.html"])]
    if lessons:
        title = f"{one.title}: lessons for today"
        chapters.append(Chapter(f"{one.name}-lessons", title, lessons, folded=True))
    if missed:
        head = ["Claim", "Statement", "Published", "Ours", "Verdict"]
        total = sum(claim.counted for claim, _ in one.claims)
        count = f"{len(missed)} of {total} measured claims are not reproduced"
        causes = misses_table(one.misses, one.claims)
        tables = [*([causes] if causes else []), Table(count, head, missed)]
        title = f"{one.title}: claims that are not reproduced, and the causes"
        chapters.append(Chapter(f"{one.name}-misses", title, tables=tables, folded=True))
    if tested := one.falsification:
        title = f"{one.title}: verdicts that depend on an assumption"
        table = tested.changed()
        chapters.append(
            Chapter(f"{one.name}-falsification", title, [tested.sentence], [table], folded=True)
        )
    return chapters
