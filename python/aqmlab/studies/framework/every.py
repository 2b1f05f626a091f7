"""All studies one after the other, and one page that says what holds, what does not and why."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import studies
from aqmlab.report import Chapter, Entry, Report, Score, Table, write_report
from aqmlab.studies.framework.claims import Decision, Published
from aqmlab.studies.framework.kept import score
from aqmlab.studies.framework.output import MADE_BY, claim_row, write
from aqmlab.studies.framework.show import KINDS
from aqmlab.studies.framework.summary import decided, good, numbers, tiles, verdicts
from aqmlab.studies.framework.verdicts import CONTRADICTED, NOT_TESTABLE, OPEN

if TYPE_CHECKING:
    from rich.console import Console

    from aqmlab.engine import Engine
    from aqmlab.store import Store

LESSONS = "What to take from it today"
MISSES = "Misses, and why"
"""Sections of a study's README that the page has."""


@dataclass(frozen=True)
class Told:
    """What is kept of a study that was reproduced."""

    name: str
    title: str
    claims: list[tuple[Published, Decision]]
    verdicts: Counter[str]
    cells: Counter[str]
    headline: str
    runs: int
    seconds: float


def section(readme: str, heading: str) -> list[str]:
    r"""Return the paragraphs and points of a section of a README, as plain text.

    Examples
    --------
    >>> section("# A\n\n## B\n\n- one\n  `two`\n- **three**\n\n## C\n\nno\n", "B")
    ['one two', 'three']
    """
    lines = readme.splitlines()
    if f"## {heading}" not in lines:
        return []
    found: list[str] = []
    new = True
    for line in lines[lines.index(f"## {heading}") + 1 :]:
        if line.startswith("## "):
            break
        text = line.strip()
        if not text or text.startswith("- "):
            new = True
        text = text.removeprefix("- ").replace("**", "").replace("`", "")
        if text and new:
            found.append(text)
            new = False
        elif text:
            found[-1] += f" {text}"
    return found


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
    force: bool = True,
) -> Path:
    """Reproduce every study, each in a folder of its own, and leave one page about them all.

    Parameters
    ----------
    out : str or Path, optional
        The folder; `results/all` without.
    jobs, console, engine, store
        As :meth:`aqmlab.studies.framework.Study.reproduce`.
    quick : bool
        Whether only quick forms are run, two replications of a study that has none. The page counts
        no claims then.
    force : bool
        Whether a folder of an earlier reproduction is replaced.

    Returns
    -------
    Path
        The page: `index.html`. `claims.csv` beside it has the claims of all.

    Raises
    ------
    OSError
        If the folder holds something else or cannot be written.
    """
    from aqmlab.folder import appearing

    final = Path(out) if out else Path("results") / "all"
    told = []
    with appearing(final, MADE_BY, force=force) as folder:
        for name in studies.names():
            told.append(_reproduce(name, folder / name, jobs, console, engine, store, quick=quick))
        _write_claims(told, folder / "claims.csv")
        write_report(page(told, quick=quick), folder / "index.html")
    return final / "index.html"


def _reproduce(
    name: str,
    folder: Path,
    jobs: int | None,
    console: Console | None,
    engine: Engine | None,
    store: Store | None,
    *,
    quick: bool,
) -> Told:
    study = studies.load(name)
    form: dict[str, Any] = {"quick": True} if quick and study.quick else {}
    few = 2 if quick and not study.quick else None
    made = study.run((), few, jobs, console, engine, store, **form)
    folder.mkdir()
    write(made, folder)
    if console is not None:
        every = [(claim.basis, decision.verdict) for claim, decision in made.claims]
        counted = score(every) if every else "No claims."
        console.print(f"{name}: {counted} {made.runs.distinct()} runs, {made.seconds:.0f} s.")
    cells, headline = numbers(made.cells), study.headline(made.cells)
    count, claims = made.runs.distinct(), [] if quick else made.claims
    return Told(
        name, study.title, claims, verdicts(claims), cells, headline, count, made.seconds
    )  # fmt: skip


def _write_claims(told: list[Told], path: Path) -> None:
    rows = [
        {"study": one.name} | claim_row(claim, decision)
        for one in told
        for claim, decision in one.claims
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else ["study"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def page(told: list[Told], *, quick: bool) -> Report:
    """Return the page about all studies."""
    all_claims = sum((one.verdicts for one in told), Counter[str]())
    scores = [Score("studies", str(len(told)))]
    if all_claims:
        scores += tiles(all_claims, "claims")
        scores.append(Score("claims not testable", str(all_claims[NOT_TESTABLE])))
        apart = sum(not claim.counted for one in told for claim, _ in one.claims)
        scores.append(Score("claims not counted", str(apart), "inputs, arithmetic, fitted"))
    lead = [
        "What published studies of queues and ECN say, run again: study by study what holds, what "
        "does not and why, and what there is to take from it today. Each study's own report, with "
        "every number, figure and claim, is in the folder of its name."
    ]
    if quick:
        lead.append(
            "This is the quick form: a part of each study. Claims are not counted here; where a "
            "quick form decides any, its own report has them."
        )
    chapters = [Chapter("overview", "Overview", tables=[_overview(told)])]
    for one in told:
        chapters += _chapters(one)
    seconds = sum(one.seconds for one in told)
    end = f"{sum(one.runs for one in told)} runs in {seconds:.0f} s. claims.csv has every claim."
    key = {kind: verdict for verdict, kind in KINDS.items()}
    return Report("Published studies, run again", lead, scores, chapters, end, key)


def _overview(told: list[Told]) -> Table:
    rows: list[list[str | Entry]] = []
    for one in told:
        found = [
            (good(one.verdicts), "good"),
            *((one.verdicts[v], KINDS[v]) for v in (CONTRADICTED, OPEN, NOT_TESTABLE)),
            (sum(not claim.counted for claim, _ in one.claims), ""),
        ]
        counts = [Entry(str(n) if one.claims else "–", kind=kind) for n, kind in found]
        printed = f"{good(one.cells)} of {decided(one.cells)}" if one.cells else "–"
        rows.append([one.title, *counts, printed, str(one.runs), f"{one.seconds:.0f}"])
    head = ["Study", "Claims reproduced", CONTRADICTED, OPEN, NOT_TESTABLE, "not counted"]
    return Table("Verdicts", [*head, "Printed numbers reproduced", "Runs", "Seconds"], rows)


def _chapters(one: Told) -> list[Chapter]:
    text = readme(one.name)
    lessons = section(text, LESSONS)
    missed: list[list[str | Entry]] = [
        [claim.id, Entry(f"{claim.statement} ({claim.scenario})", prose=True), claim.printed,
         Entry(decision.ours or "–", kind=KINDS[decision.verdict]), decision.verdict]
        for claim, decision in one.claims
        if claim.counted and decision.verdict in (CONTRADICTED, OPEN, NOT_TESTABLE)
    ]  # fmt: skip
    summary = [f"{one.headline}."] if one.headline else []
    summary.append(f"Report: {one.name}/report.html")
    chapters = [Chapter(one.name, one.title, [*lessons, *summary])]
    if missed:
        head = ["Claim", "Statement", "Printed", "Ours", "Verdict"]
        total = sum(claim.counted for claim, _ in one.claims)
        count = f"{len(missed)} of {total} measured claims are not reproduced"
        table = Table(count, head, missed)
        title = f"{one.title}: claims that are not reproduced, and why"
        chapters.append(
            Chapter(f"{one.name}-misses", title, section(text, MISSES), [table], folded=True)
        )
    return chapters
