"""The one way to run many runs: ask → store → engine → reduce.

Whoever wants runs asks for them by their scenarios. Each distinct run is looked for in the store
and else given to the engine, once; what it leaves is kept; and as soon as everything is there that
an ask named, it is reduced, so that thousands of runs fit in memory. Of a scenario that waits there
is only what it says otherwise than the first.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, TypeVar, overload

from aqmlab.engine import EVERYTHING, Engine, Failed, Progress, available_cores
from aqmlab.results import Result
from aqmlab.scenario import with_seed
from aqmlab.store import Store, address
from aqmlab.store.differences import Texts

Reduced = TypeVar("Reduced")
Ask = tuple[str, ...]
"""The scenarios of the runs that are reduced together, mostly one."""


MOST_RUNS = 999_999
"""Maximum number of runs of one call or experiment; the command has the same bound."""


def check_count(name: str, count: Any) -> None:
    """Raise ValueError unless a count is a whole number from 1 to `MOST_RUNS`.

    Raises
    ------
    ValueError
        Names the count, its value and the bound.
    """
    if not isinstance(count, Integral) or count < 1:
        raise ValueError(f"{name} = {count!r} must be a whole number, 1 or more")
    if int(count) > MOST_RUNS:
        raise ValueError(f"{name} = {count!r} must be at most {MOST_RUNS}; give fewer")


def campaign(
    asks: Iterable[Ask],
    reduce: Callable[..., Reduced],
    *,
    engine: Engine,
    store: Store | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Generator[tuple[int, Reduced]]:
    """Run what is asked for and give what it reduces to, as it completes.

    Parameters
    ----------
    asks : iterable of tuple of str
        What is reduced together: scenarios as :func:`aqmlab.scenario.normalize` writes them. All
        are taken before the first is run; give a generator, and they are never in memory together.
    reduce : callable
        Takes the results of an ask, in its order.
    engine : Engine
        What runs them.
    store : Store, optional
        Where finished runs are found and kept; default: nowhere.
    jobs : int, optional
        Runs at a time, 1 or more; default: as the engine.
    progress : callable, optional
        Called about ten times a second with the distinct runs done and their number.

    Yields
    ------
    index : int
        Position in `asks`.
    reduced
        What `reduce` returned.

    Raises
    ------
    ValueError
        If `jobs` is no whole number, or below 1.
    ScenarioError
        If the engine does not support a scenario, before the first run.
    Exception
        As the engine; if single runs fail, the error of the first when the others have ended.
    """
    if jobs is not None:
        check_count("jobs", jobs)
    waiting, runs, texts = _distinct(asks, engine)
    known = [run.address for run in runs if run.address]
    keeping = store if known else None
    absent = set(known)
    if keeping:
        absent = keeping.missing(known)
        keeping.begin(len(known), len(known) - len(absent), jobs or available_cores())
    left: list[_Run] = []
    failed = _Failures()
    done = 0

    def told(more: float, _: int) -> None:
        if keeping:
            keeping.settle()
        if progress:
            progress(done + more, len(runs))

    try:
        for run in runs:
            found = None
            if keeping and run.address and run.address not in absent:
                found = keeping.get(run.address)
            if found is None:
                left.append(run)
            else:
                yield from _reduced(run, found, waiting, reduce)
        done = len(runs) - len(left)
        if left:
            with closing(engine.run(_Scenarios(left, texts), jobs, told)) as running:
                for i, outcome in running:
                    run = left[i]
                    if isinstance(outcome, Failed):
                        failed.add(outcome.error)
                        if keeping and run.address:
                            keeping.fail(run.address, engine.build, outcome.error)
                        continue
                    if keeping and run.address:
                        keeping.put(run.address, engine.build, outcome)
                    yield from _reduced(run, outcome, waiting, reduce)
    finally:
        if keeping:
            keeping.settle()
    failed.tell()


def in_order(finished: Iterable[tuple[int, Reduced]]) -> list[Reduced]:
    """Return what a campaign gives in the order of its asks."""
    done = dict(finished)
    return [done[i] for i in range(len(done))]


@dataclass(slots=True)
class _Run:
    """A distinct run: the number of its text, its address, and which part of which ask it is."""

    text: int
    address: str | None
    parts: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class _Scenarios(Sequence[str]):
    """The scenarios of runs, each made when an engine takes it."""

    runs: list[_Run]
    texts: Texts

    def __len__(self) -> int:
        return len(self.runs)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self.texts[run.text] for run in self.runs[at]]
        return self.texts[self.runs[at].text]


def _distinct(
    asks: Iterable[Ask], engine: Engine
) -> tuple[list[list[Result | None]], list[_Run], Texts]:
    """Return room for the results of each ask, the runs that fill it, and their texts."""
    waiting: list[list[Result | None]] = []
    runs: list[_Run] = []
    texts = Texts()
    known: dict[str, _Run] = {}
    build, capabilities = engine.build, engine.capabilities
    checked: set[int] = set()
    for i, ask in enumerate(asks):
        waiting.append([None] * len(ask))
        for part, text in enumerate(ask):
            where = address(text, build)
            run = known.get(where) if where else None
            if run is None:
                if (
                    capabilities != EVERYTHING
                    and (alike := hash(with_seed(text, 0))) not in checked
                ):
                    capabilities.check(text)
                    checked.add(alike)
                run = _Run(texts.add(text), where)
                runs.append(run)
            if where:
                known[where] = run
            run.parts.append((i, part))
    return waiting, runs, texts


class _Failures:
    """The runs that failed: the error of the first, and how many they are."""

    def __init__(self) -> None:
        self._first: Exception | None = None
        self._number = 0

    def add(self, error: Exception) -> None:
        self._first = self._first or error
        self._number += 1

    def tell(self) -> None:
        """Raise the error of the first, if there is any."""
        if self._first is None:
            return
        if self._number == 1:
            raise self._first
        more = f"so do {self._number - 1} runs more"
        raise type(self._first)(f"{self._first}; {more}") from self._first


def _reduced(
    run: _Run,
    result: Result,
    waiting: list[list[Result | None]],
    reduce: Callable[..., Reduced],
) -> Iterator[tuple[int, Reduced]]:
    """Put a result where it was asked for, and reduce the asks that have everything now."""
    for i, part in run.parts:
        waiting[i][part] = result
        if all(one is not None for one in waiting[i]):
            yield i, reduce(*waiting[i])
            waiting[i].clear()  # nobody needs the results any more
