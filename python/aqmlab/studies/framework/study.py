"""Studies and their items; an item computes numbers, tables and figures from its runs.

`Study.reproduce` runs each distinct scenario of the chosen items once, computes a section of the
report for each item, and decides the claims. `Study.reproduce` writes a folder with `cells.csv`,
`claims.csv`, the figures, the list of runs and a self-contained `report.html`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.results import NotMeasuredError
from aqmlab.studies.framework.claims import Absent, Claims, Decision, Published
from aqmlab.studies.framework.falsification import Alternative, Falsification, check, falsified
from aqmlab.studies.framework.opening import Miss, Opening, drawn
from aqmlab.studies.framework.runs import Change, Form, Need, Runs, unchanged
from aqmlab.studies.framework.verdicts import ABSENT, Cell, UndecidableError

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure
    from rich.console import Console

    from aqmlab.engine import Engine
    from aqmlab.report import Table
    from aqmlab.results import Result
    from aqmlab.store import Store
    from aqmlab.studies.framework.measured import Measured


OPENING = "opening"
"""File name of the first figure of a report, without suffix."""
OPENING_CAPTION = "Published numbers, and our numbers with their 95 % intervals."
OF_LINUX = " Numbers of “Linux” were measured over the TCP of the Linux kernel on the testbed."


@dataclass(frozen=True)
class Figure:
    """Figure of an item: its file name without suffix, its caption and its drawing."""

    name: str
    caption: str
    drawing: MatplotlibFigure


@dataclass(frozen=True)
class Attachment:
    """File of an item, such as a packet capture: its name, a description and its bytes."""

    name: str
    about: str
    content: bytes


@dataclass
class Section:
    """Section of the report that an item writes: paragraphs, numbers, tables, figures and files."""

    text: list[str] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    files: list[Attachment] = field(default_factory=list)


@dataclass(frozen=True)
class Item:
    """Part of a study: the reproduction of one table or figure, or the answer to one question.

    `needs` yields a request for each run that the item reads. `then` yields further runs, which
    depend on the results of the first runs. `make` returns the item's section of the report. If
    `scored` is False, the score does not count the numbers of the item. An item with `scored` False
    answers a question that the publication does not answer, or shows results under other
    interpretations of the publication.
    """

    name: str
    title: str
    needs: Callable[[], Iterable[Need]]
    make: Callable[[Runs], Section]
    then: Callable[[Runs], Iterable[Need]] | None = None
    scored: bool = True

    def later(
        self, runs: Runs, absent: dict[str, NotMeasuredError | UndecidableError]
    ) -> list[Need]:
        """Return the runs that the item requests after reading the results of its first runs.

        If the engine cannot record a series of the item, or if the first runs lack a value that
        the item needs, the list is empty, and the error is stored in `absent` under the name of the
        item.
        """
        try:
            runs.check_recorded(self.needs())
            needs = list(self.then(runs)) if self.then else []
            runs.check_recorded(needs)
        except (NotMeasuredError, UndecidableError) as reason:
            absent[self.name] = reason
            return []
        return needs


@dataclass(frozen=True)
class Choice:
    """Value that this reproduction uses for a setting that the publication leaves open.

    Attributes
    ----------
    setting : str
        Name of the setting.
    taken : str
        Value of the setting.
    evidence : str
        Evidence for this value.
    fitted_to : str
        Published numbers that were used to choose the value; empty if the value was chosen without
        published numbers.
    """

    setting: str
    taken: str
    evidence: str
    fitted_to: str = ""


@dataclass(frozen=True)
class Excerpt:
    """Parts of the report of the whole study that the study's README repeats.

    Attributes
    ----------
    claims : tuple of str
        Ids of the claims whose published number, our number and verdict the README repeats.
    tables : tuple of str
        Captions of the tables that the README repeats.
    """

    claims: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Reproduction:
    """Results of a study that was run: all contents of its folder and its report."""

    study: Study
    items: list[Item]
    sections: list[Section]
    claims: list[tuple[Published, Decision]]
    runs: Runs
    replications: int
    seconds: float
    falsification: Falsification | None = None

    def __repr__(self) -> str:
        from aqmlab.studies.framework.summary import one_line

        return f"<Reproduction of {self.study.name}: {one_line(self)}>"

    def _repr_html_(self) -> str:
        from aqmlab.studies.framework.summary import html

        return html(self)

    @property
    def quick(self) -> bool:
        """True if the quick form of the study was run."""
        return self.runs.quick

    @property
    def whole(self) -> dict[str, str]:
        """Verdicts in the study's verdicts.csv, for a quick form that decides claims.

        The dict is empty for any other reproduction, under changed assumptions, and with other
        seeds.
        """
        from aqmlab.studies.framework.stored_verdicts import read_verdicts

        decides = self.quick and self.study.quick is not None and self.study.quick.claims
        other = self.changes or self.seed is not None
        return read_verdicts(self.study.verdicts_path) if decides and not other else {}

    @property
    def cells(self) -> list[Cell]:
        """Numbers of all items; numbers of an item with `scored` False have the flag `again`."""
        return [
            cell if item.scored else replace(cell, again=True)
            for item, section in zip(self.items, self.sections, strict=True)
            for cell in section.cells
        ]

    @property
    def counted(self) -> list[Cell]:
        """Numbers whose verdicts the score counts."""
        return [cell for cell in self.cells if cell.counted]

    @property
    def changes(self) -> tuple[Change, ...]:
        """Changed assumptions of the study."""
        return self.runs.changes

    @property
    def seed(self) -> int | None:
        """Seed of replication 0; None for the seeds of the study."""
        return self.runs.seed

    @property
    def measured(self) -> Measured:
        """Claims that were measured over a testbed; none if the runs are not `usual`."""
        from aqmlab.studies.framework.measured import Measured, read

        return read(self.study) if self.usual else Measured()

    @property
    def usual(self) -> bool:
        """True if the runs have the assumptions of the study, and simulated hosts.

        The answers of the study and the causes of its misses apply only to such runs.
        """
        return not (self.runs.hosts or self.changes)

    @property
    def answers(self) -> list[tuple[str, str]]:
        """Labelled sentences of the study's opening; none if the runs are not `usual`."""
        opening = self.study.opening
        return opening.answers(self.claims) if opening and self.usual else []

    @property
    def misses(self) -> tuple[Miss, ...]:
        """Causes of the study's misses; none if the runs are not `usual`."""
        return self.study.misses if self.usual else ()

    def opening_figure(self) -> Figure | None:
        """Return the first figure of the report, or None if none of its claims was decided."""
        if self.study.opening is None or not self.usual:
            return None
        of_linux = self.measured.estimates
        drawing = drawn(self.study.opening, self.claims, of_linux)
        caption = OPENING_CAPTION + OF_LINUX * bool(of_linux)
        return Figure(OPENING, caption, drawing) if drawing else None

    @property
    def complete(self) -> bool:
        """True if every item of the study was chosen."""
        return len(self.items) == len(self.study.items)


@dataclass(frozen=True)
class Quick:
    """Quick form of a study, with fewer and shorter runs than the whole study.

    Attributes
    ----------
    about : str
        Sentences about the settings of the quick form, and about the parts that it leaves out.
    seconds : int
        Processor time of the quick form, in s.
    replications : int
        Number of replications of each setting.
    form : callable
        Function that returns the setting to run instead of a given setting, such as a shorter run.
    claims : bool
        True if the quick form decides claims. The report of such a quick form compares its verdicts
        with the stored verdicts of the whole study
        (:mod:`aqmlab.studies.framework.stored_verdicts`).
    """

    about: str
    seconds: int
    replications: int = 2
    form: Form = unchanged
    claims: bool = False

    @property
    def shown(self) -> str:
        """Text for the terminal about the settings and the processor time of the quick form."""
        return f"{self.about} It takes about {self.seconds} s of processor time."


@dataclass(frozen=True)
class Study:
    """A published study.

    Attributes
    ----------
    about, reading, deviations : tuple of str
        Paragraphs of the report: a summary of the publication, the rules by which the numbers are
        computed and judged, and the differences of the reproduction from the publication.
    reduce : callable
        Function that reduces the result of a run to the values that items and claims read.
    opening : Opening, optional
        Answer of the study: the first screen of the report.
    misses : tuple of Miss
        Claims that are contradicted or open, grouped by their causes.
    replications : int
        Maximum number of replications of a setting.
    quick : Quick, optional
        Quick form of the study. The quick form runs the requested settings for which
        :attr:`Need.quick` is True, and decides claims if :attr:`Quick.claims` is True.
    choices : tuple of Choice
        Our values for the settings that the publication leaves open. The score counts only numbers
        of runs with our values.
    excerpt : Excerpt
        Parts of the report that the study's README repeats.
    alternatives : tuple of Alternative
        Alternatives to the assumptions of the study, for the falsification.
    """

    name: str
    title: str
    about: tuple[str, ...]
    reading: tuple[str, ...]
    deviations: tuple[str, ...]
    items: tuple[Item, ...]
    claims: Claims
    reduce: Callable[[Result], Any]
    opening: Opening | None = None
    misses: tuple[Miss, ...] = ()
    replications: int = 20
    quick: Quick | None = None
    choices: tuple[Choice, ...] = ()
    excerpt: Excerpt = Excerpt()
    alternatives: tuple[Alternative, ...] = ()

    @property
    def verdicts_path(self) -> Path:
        """Path of the stored verdicts, `verdicts.csv` in the folder of the study."""
        return self.claims.path.parents[1] / "verdicts.csv"

    def choose(self, only: Iterable[str] = ()) -> list[Item]:
        """Return the items with the given names, in the order of the study; by default all items.

        Raises
        ------
        ValueError
            If a name is unknown; the error message lists the names of all items.
        """
        wanted = list(only)
        known = [item.name for item in self.items]
        for name in wanted:
            if name not in known:
                raise ValueError(f"--only: {name!r} is unknown; use one of: {', '.join(known)}")
        return [item for item in self.items if not wanted or item.name in wanted]

    def execute(
        self,
        only: Iterable[str] = (),
        replications: int | None = None,
        jobs: int | None = None,
        console: Console | None = None,
        engine: Engine | None = None,
        store: Store | None = None,
        changes: Sequence[Change] = (),
        *,
        quick: bool = False,
        seed: int | None = None,
    ) -> Execution:
        """Run all scenarios of the chosen items.

        Parameters
        ----------
        only : iterable of str
            Names of items; default: all.
        replications : int, optional
            Number of replications of each setting, at least 1; default: :attr:`replications`.
        jobs : int, optional
            Number of threads; default: one per core.
        console : rich.console.Console, optional
            Console that shows the progress.
        engine : Engine, optional
            Engine that runs the scenarios; default: the simulator.
        store : Store, optional
            Store of finished runs; by default, finished runs are not stored.
        changes : sequence of (str, str)
            Changed assumptions: dotted paths of scenario keys, and their new values in TOML. A
            change has no effect on a scenario that does not contain the changed key.
        quick : bool
            True to run the quick form only.
        seed : int, optional
            Seed of the first replication of each setting, 0 or more; the next replications have
            the next seeds. Default: the seeds of the study, for which the verdicts are stored.

        Raises
        ------
        ValueError
            If an item is unknown, `replications` or `jobs` is below 1, an item needs more
            replications, a changed key does not occur in any scenario, or the study has no quick
            form.
        """
        from aqmlab.engine import Simulator

        if quick and self.quick is None:
            raise ValueError(
                f"--quick: {self.name} has no quick form; use --only and --replications instead"
            )
        began = time.monotonic()
        usual = self.quick.replications if quick and self.quick else self.replications
        items = self.choose(only)
        count = self._count(usual if replications is None else replications, jobs)
        form = self.quick.form if quick and self.quick else unchanged
        runs = Runs(
            count, self.reduce, engine or Simulator(), store, changes, quick=quick, form=form,
            seed=seed,
        )  # fmt: skip
        for item in items:
            runs.request(item.needs())
        runs.check_changes()
        _run(runs, jobs, console)
        absent: dict[str, NotMeasuredError | UndecidableError] = {}
        # A new request for more series of a finished run discards the result of the run. All items
        # therefore read the finished results before the new requests are planned.
        runs.request([need for item in items for need in item.later(runs, absent)])
        _run(runs, jobs, console)
        return Execution(self, items, runs, absent, count, time.monotonic() - began)

    def _count(self, replications: int | None, jobs: int | None) -> int:
        """Return the number of replications.

        Raises
        ------
        ValueError
            If `replications` or `jobs` is below 1.
        """
        count = self.replications if replications is None else replications
        if count < 1:
            raise ValueError(f"replications: {count}: must be at least 1")
        if jobs is not None and jobs < 1:
            raise ValueError(f"jobs: {jobs}: must be at least 1")
        return count

    def decide(
        self,
        claim: str,
        replications: int | None = None,
        jobs: int | None = None,
        *,
        engine: Engine | None = None,
        store: Store | None = None,
        changes: Sequence[Change] = (),
        seed: int | None = None,
        every_series: bool = True,
    ) -> tuple[Published, Decision, Runs]:
        """Decide one claim; run only the scenarios that this claim needs, and write no files.

        Parameters
        ----------
        claim : str
            Id of the claim.
        replications, jobs, engine, store, changes, seed
            As for :meth:`execute`.
        every_series : bool
            False to decide the claim although the engine cannot record a series of its items, such
            as one that only a graph reads. Values that come from the series are then missing.

        Raises
        ------
        ValueError
            As for :meth:`execute`, and if the claim is unknown.
        """
        from aqmlab.engine import Simulator, available_cores

        printed, count = self.claims.one(claim), self._count(replications, jobs)
        runs = Runs(
            count, self.reduce, engine or Simulator(), store, changes, seed=seed,
            on_demand=jobs or available_cores(),
        )  # fmt: skip
        needed, _ = self.claims.functions[claim]
        items = self.choose(needed) if needed else []
        for item in items:
            runs.request(item.needs())
        runs.check_changes()
        absent: dict[str, NotMeasuredError | UndecidableError] = {}
        for item in items if every_series else ():
            runs.request(item.later(runs, absent))
        return printed, self.claims.decision(runs, printed, absent), runs

    def reproduce(
        self,
        only: Iterable[str] = (),
        replications: int | None = None,
        jobs: int | None = None,
        out: str | Path | None = None,
        console: Console | None = None,
        *,
        engine: Engine | None = None,
        store: Store | None = None,
        changes: Sequence[Change] = (),
        quick: bool = False,
        seed: int | None = None,
        falsify: bool = False,
        force: bool = True,
    ) -> Path:
        """Run the chosen items, write a folder with the results, and return the path of the report.

        The folder appears when all of its files are written. If `force` is True, the new folder
        replaces the folder of an earlier reproduction. A folder with other files is never replaced.

        Parameters
        ----------
        only, replications, jobs, console, engine, store, changes, quick, seed
            As for :meth:`execute`.
        out : str or Path, optional
            Folder of the results; default: `results/<study>`.
        falsify : bool
            True to decide the claims under each alternative of the study too. Each change of
            `changes` is then one more alternative, and does not change the study itself.
        force : bool
            True to replace the folder of an earlier reproduction, False to raise an error instead.

        Raises
        ------
        ValueError
            As for :meth:`execute`.
        OSError
            If the folder contains other files or cannot be written.
        """
        from aqmlab.folder import appearing
        from aqmlab.studies.framework.output import MADE_BY, write

        final = Path(out) if out else Path("results") / self.name
        if falsify:
            check(self, self.choose(only), changes, quick=quick)
        if quick and self.quick and console is not None:
            console.print(self.quick.shown, markup=False, highlight=False)
        with appearing(final, MADE_BY, force=force) as folder:
            reproduction = self.execute(
                only, replications, jobs, console, engine, store, () if falsify else changes,
                quick=quick, seed=seed,
            ).conclude()  # fmt: skip
            if falsify:
                tested = falsified(reproduction, changes, jobs, console)
                reproduction = replace(reproduction, falsification=tested)
            write(reproduction, folder)
        if console is not None:
            from aqmlab.studies.framework.summary import show

            show(reproduction, console)
        return final / "report.html"


@dataclass(frozen=True)
class Execution:
    """Finished runs of the chosen items of a study, before their numbers are computed.

    Attributes
    ----------
    absent : dict
        Items whose runs lack a value, by name, each with the reason.
    seconds : float
        Duration of the runs in s.
    """

    study: Study
    items: list[Item]
    runs: Runs
    absent: Absent
    replications: int
    seconds: float

    def conclude(self) -> Reproduction:
        """Compute the sections of all items, and decide their claims."""
        began = time.monotonic()
        sections = [_section(item, self.runs, self.absent) for item in self.items]
        claims = self._decide()
        seconds = self.seconds + time.monotonic() - began
        return Reproduction(
            self.study, self.items, sections, claims, self.runs, self.replications, seconds
        )

    def _decide(self) -> list[tuple[Published, Decision]]:
        """Decide the claims of the items; a quick form decides some claims, or none."""
        runs, items, absent, study = self.runs, self.items, self.absent, self.study
        if runs.quick and not (study.quick and study.quick.claims):
            return []
        if not runs.quick:
            return study.claims.decide(runs, [item.name for item in items], absent)
        included = [i.name for i in items if any(need.quick for need in i.needs())]
        decided = {c.id: d for c, d in study.claims.decide(runs, included, absent)}
        left_out = Decision(
            "", ABSENT, "The quick form of the study leaves out the runs that this claim needs."
        )
        claims = study.claims.about(item.name for item in items)
        return [(claim, decided.get(claim.id, left_out)) for claim in claims]


def _section(item: Item, runs: Runs, absent: Absent) -> Section:
    """Return an item's section; without the item's values, the section has only the reason."""
    try:
        if item.name in absent:
            raise absent[item.name]
        return item.make(runs)
    except NotMeasuredError as reason:
        return Section(text=[f"Not measured: {reason}."])
    except UndecidableError as reason:
        return Section(text=[f"The runs lack a value of this item: {reason}."])


def _run(runs: Runs, jobs: int | None, console: Console | None) -> None:
    """Run all planned runs; if there is a console, show a progress bar."""
    if console is None:
        runs.run(jobs)
        return
    from aqmlab.progress import Bar

    with Bar() as bar:
        runs.run(jobs, bar)
