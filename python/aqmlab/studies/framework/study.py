"""A study: items that ask for runs and turn them into numbers, tables and figures.

`Study.reproduce` collects the runs of the chosen items, runs each distinct one once, lets every
item and every claim look at the results, and leaves a folder with `cells.csv`, `claims.csv`, the
figures, the list of runs and one self-contained `report.html`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.results import NotMeasuredError
from aqmlab.studies.framework.claims import Claims, Decision, Published
from aqmlab.studies.framework.runs import Change, Form, Need, Runs, as_it_is
from aqmlab.studies.framework.verdicts import ABSENT, Cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure
    from rich.console import Console

    from aqmlab.engine import Engine
    from aqmlab.report import Table
    from aqmlab.results import Result
    from aqmlab.store import Store


@dataclass(frozen=True)
class Figure:
    """A figure of an item: its file name without suffix, and what one sees on it."""

    name: str
    caption: str
    drawing: MatplotlibFigure


@dataclass(frozen=True)
class Attachment:
    """A file of an item, such as a capture of packets: its name, what it is, its bytes."""

    name: str
    about: str
    content: bytes


@dataclass
class Section:
    """What an item leaves: sentences for its reader, numbers, tables, figures, files."""

    text: list[str] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    files: list[Attachment] = field(default_factory=list)


@dataclass(frozen=True)
class Item:
    """One table, figure or question of a study.

    `needs` lists the runs; `then` lists runs that depend on the results of the first; `make` turns
    all of them into a section. `scored` is False for an item that shows other readings than the
    frozen one, or goes beyond the study: its numbers explain, and never add to the score.
    """

    name: str
    title: str
    needs: Callable[[], Iterable[Need]]
    make: Callable[[Runs], Section]
    then: Callable[[Runs], Iterable[Need]] | None = None
    scored: bool = True


@dataclass(frozen=True)
class Choice:
    """One choice of the frozen reading: a setting that the source leaves open.

    Attributes
    ----------
    setting : str
        The setting.
    taken : str
        The value that the study is read with.
    evidence : str
        Source of the value.
    fitted_to : str
        Printed numbers that the value was chosen by; empty for none.
    """

    setting: str
    taken: str
    evidence: str
    fitted_to: str = ""


@dataclass(frozen=True)
class Excerpt:
    """Parts of the report that a whole run writes into the README.

    Attributes
    ----------
    claims : tuple of str
        Numbers of the claims that are shown with ours and the verdict.
    tables : tuple of str
        Captions of tables of the report.
    """

    claims: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reproduction:
    """A study that was run: what the writers of its folder need."""

    study: Study
    items: list[Item]
    sections: list[Section]
    claims: list[tuple[Published, Decision]]
    runs: Runs
    replications: int
    seconds: float

    @property
    def quick(self) -> bool:
        """Whether this is the quick form."""
        return self.runs.quick

    @property
    def whole(self) -> dict[str, str]:
        """Stored verdicts of the whole study, to compare with those of this quick form."""
        from aqmlab.studies.framework import kept

        decides = self.quick and self.study.quick is not None and self.study.quick.claims
        return kept.read(self.study.kept) if decides and not self.changes else {}

    @property
    def cells(self) -> list[Cell]:
        """Numbers of all items; those of other readings are compared again and not counted."""
        return [
            cell if item.scored else replace(cell, again=True)
            for item, section in zip(self.items, self.sections, strict=True)
            for cell in section.cells
        ]

    @property
    def counted(self) -> list[Cell]:
        """The printed numbers that the score counts."""
        return [cell for cell in self.cells if cell.counted]

    @property
    def changes(self) -> tuple[Change, ...]:
        """The assumptions of the study that were changed."""
        return self.runs.changes

    @property
    def complete(self) -> bool:
        """Whether every item of the study was chosen."""
        return len(self.items) == len(self.study.items)


@dataclass(frozen=True)
class Quick:
    """The quick form of a study.

    Attributes
    ----------
    about : str
        Sentences that name the settings that it has and leaves out.
    seconds : int
        Processor time that it takes, in s.
    replications : int
        Its replications.
    form : callable
        What a setting is run as, such as one of less time; default: as it is.
    claims : bool
        The quick form decides claims too, and compares its verdicts with the stored ones
        (:mod:`aqmlab.studies.framework.kept`).
    """

    about: str
    seconds: int
    replications: int = 2
    form: Form = as_it_is
    claims: bool = False

    @property
    def shown(self) -> str:
        """Sentences for the terminal: the settings, and the time that the form takes."""
        return f"{self.about} It takes about {self.seconds} s of processor time."


@dataclass(frozen=True)
class Study:
    """A published study.

    `about`, `reading` and `deviations` are paragraphs of its report: what it is, what the
    replications vary and how verdicts come about, and where the reproduction departs from it.
    `reduce` makes of a run what its items and claims look at; `headline` says in a line how well
    the printed numbers were met. `quick` says what the quick form is, if there is one: it has the
    runs that are needed for it (:attr:`Need.quick`), few replications, and no claims, unless it
    says so (:attr:`Quick.claims`). `choices` is the one frozen reading of the source, which alone
    is scored; `excerpt` names what a whole run writes into the README.
    """

    name: str
    title: str
    about: tuple[str, ...]
    reading: tuple[str, ...]
    deviations: tuple[str, ...]
    items: tuple[Item, ...]
    claims: Claims
    reduce: Callable[[Result], Any]
    headline: Callable[[Sequence[Cell]], str] = lambda cells: ""  # noqa: ARG005
    replications: int = 20
    quick: Quick | None = None
    choices: tuple[Choice, ...] = ()
    excerpt: Excerpt = Excerpt()

    @property
    def kept(self) -> Path:
        """File of the stored verdicts, beside the study's README."""
        return self.claims.path.parents[1] / "verdicts.csv"

    def choose(self, only: Iterable[str] = ()) -> list[Item]:
        """Return the items of these names in the study's order; all without names.

        Raises
        ------
        ValueError
            If there is no item of a name; the message lists those there are.
        """
        wanted = list(only)
        known = [item.name for item in self.items]
        for name in wanted:
            if name not in known:
                raise ValueError(f"--only: {name!r} is unknown; there are: {', '.join(known)}")
        return [item for item in self.items if not wanted or item.name in wanted]

    def run(
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
    ) -> Reproduction:
        """Run the chosen items and decide their claims; writes nothing.

        Parameters
        ----------
        only : iterable of str
            Names of items; all without.
        replications : int, optional
            Replications of each setting, at least 1; the study's default without.
        jobs : int, optional
            Threads; one per core without.
        console : rich.console.Console, optional
            Where progress is shown.
        engine : Engine, optional
            What runs the scenarios; the simulator without.
        store : Store, optional
            Where finished runs are found and kept; nowhere without.
        changes : sequence of (str, str)
            Assumptions that are changed: dotted paths of scenarios, and their values in TOML. A
            scenario without the key stays as it is.
        quick : bool
            Whether only the quick form is run.

        Raises
        ------
        ValueError
            If an item is unknown, a number is below 1, an item needs more replications, no
            scenario has a key that is changed, or there is no quick form.
        """
        from aqmlab.engine import Simulator

        if quick and self.quick is None:
            raise ValueError(
                f"--quick: {self.name} has no quick form; use --only and --replications"
            )
        began = time.monotonic()
        usual = self.quick.replications if quick and self.quick else self.replications
        items = self.choose(only)
        count = self._count(usual if replications is None else replications, jobs)
        form = self.quick.form if quick and self.quick else as_it_is
        runs = Runs(
            count, self.reduce, engine or Simulator(), store, changes, quick=quick, form=form
        )
        for item in items:
            runs.ask(item.needs())
        runs.check_changes()
        _run(runs, jobs, console)
        absent: dict[str, NotMeasuredError] = {}
        # All look at the first runs before any is asked for again, with more recorded.
        runs.ask([need for item in items for need in _then(item, runs, absent)])
        _run(runs, jobs, console)
        sections = [_section(item, runs, absent) for item in items]
        claims = self._decide(runs, items, absent)
        return Reproduction(self, items, sections, claims, runs, count, time.monotonic() - began)

    def _decide(
        self, runs: Runs, items: Sequence[Item], absent: Mapping[str, NotMeasuredError]
    ) -> list[tuple[Published, Decision]]:
        """Decide the claims of items; the quick form has only some of them, or none."""
        if runs.quick and not (self.quick and self.quick.claims):
            return []
        if not runs.quick:
            return self.claims.decide(runs, [item.name for item in items], absent)
        there = [i.name for i in items if any(need.quick for need in i.needs())]
        decided = {c.id: d for c, d in self.claims.decide(runs, there, absent)}
        left_out = Decision("", ABSENT, "The runs that it looks at are not in the quick form.")
        asked = self.claims.about(item.name for item in items)
        return [(claim, decided.get(claim.id, left_out)) for claim in asked]

    def _count(self, replications: int | None, jobs: int | None) -> int:
        """Return how many replications there are."""
        count = self.replications if replications is None else replications
        if count < 1:
            raise ValueError(f"replications: {count} must be at least 1")
        if jobs is not None and jobs < 1:
            raise ValueError(f"jobs: {jobs} must be at least 1")
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
    ) -> tuple[Published, Decision, Runs]:
        """Decide one claim, with the runs that it looks at and no others; writes nothing.

        Parameters
        ----------
        claim : str
            Its number.
        replications, jobs, engine, store, changes
            As of `run`.

        Raises
        ------
        ValueError
            As `run`, or if there is no such claim.
        """
        from aqmlab.engine import Simulator, available_cores

        printed, count = self.claims.one(claim), self._count(replications, jobs)
        runs = Runs(
            count, self.reduce, engine or Simulator(), store, changes,
            on_demand=jobs or available_cores(),
        )  # fmt: skip
        needed, _ = self.claims.functions[claim]
        items = self.choose(needed) if needed else []
        for item in items:
            runs.ask(item.needs())
        runs.check_changes()
        absent: dict[str, NotMeasuredError] = {}
        for item in items:
            runs.ask(_then(item, runs, absent))
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
        force: bool = True,
    ) -> Path:
        """Run the chosen items and write their folder; return the path of the report.

        The folder appears when everything in it is written. A folder of an earlier reproduction
        is replaced if `force` is True; any other that is not empty is refused.

        Parameters
        ----------
        only, replications, jobs, console, engine, store, changes, quick
            As of `run`.
        out : str or Path, optional
            The folder; `results/<study>` without.
        force : bool
            Whether a folder of an earlier reproduction is replaced.

        Raises
        ------
        ValueError
            As `run`.
        OSError
            If the folder holds something else or cannot be written.
        """
        from aqmlab.folder import appearing
        from aqmlab.studies.framework.output import MADE_BY, write

        final = Path(out) if out else Path("results") / self.name
        if quick and self.quick and console is not None:
            console.print(self.quick.shown, markup=False, highlight=False)
        with appearing(final, MADE_BY, force=force) as folder:
            reproduction = self.run(
                only, replications, jobs, console, engine, store, changes, quick=quick
            )
            write(reproduction, folder)
        if console is not None:
            from aqmlab.studies.framework.summary import show

            show(reproduction, console)
        return final / "report.html"


def _then(item: Item, runs: Runs, absent: dict[str, NotMeasuredError]) -> list[Need]:
    """Return the runs that depend on the first; none if the engine did not measure those.

    An item with series that the engine does not record is added to `absent`.
    """
    try:
        runs.check_recorded(item.needs())
        needs = list(item.then(runs)) if item.then else []
        runs.check_recorded(needs)
    except NotMeasuredError as reason:
        absent[item.name] = reason
        return []
    return needs


def _section(item: Item, runs: Runs, absent: Mapping[str, NotMeasuredError]) -> Section:
    """Return the section of an item; it says so if the engine did not measure what it shows."""
    try:
        if item.name in absent:
            raise absent[item.name]
        return item.make(runs)
    except NotMeasuredError as reason:
        return Section(text=[f"Not measured: {reason}."])


def _run(runs: Runs, jobs: int | None, console: Console | None) -> None:
    """Run what is wanted, with a progress bar if there is a console."""
    if console is None:
        runs.run(jobs)
        return
    from aqmlab.progress import Bar

    with Bar() as bar:
        runs.run(jobs, bar)
