"""Execution of many runs, whose results come from a store or from an engine.

A request is a list of scenarios whose results are reduced together. If the store has the result of
a scenario, the campaign reads the result from the store. If the store does not have the result, the
engine runs the scenario once, and the campaign stores the result. When all results of a request are
complete, the campaign reduces them and frees their memory, so that thousands of runs fit in memory.
A waiting scenario is stored as its difference from the first scenario.
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
Request = tuple[str, ...]
"""Scenarios whose results are reduced together; most requests have one scenario."""


MOST_RUNS = 999_999
"""Maximum number of runs of one call, one command or one experiment."""


def check_count(name: str, count: Any) -> None:
    """Raise ValueError unless a count is a whole number from 1 to `MOST_RUNS`.

    Raises
    ------
    ValueError
        The message states the name of the count, its value and the bound.
    """
    if not isinstance(count, Integral) or count < 1:
        raise ValueError(f"{name} is {count!r}; it must be a whole number of at least 1")
    if int(count) > MOST_RUNS:
        raise ValueError(f"{name} is {count!r}; it must be at most {MOST_RUNS}")


def campaign(
    requests: Iterable[Request],
    reduce: Callable[..., Reduced],
    *,
    engine: Engine,
    store: Store | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Generator[tuple[int, Reduced]]:
    """Execute the requested runs, and yield the reduced results of each completed request.

    Parameters
    ----------
    requests : iterable of tuple of str
        Requests, each a tuple of scenarios that :func:`aqmlab.scenario.normalize` returned.
        `reduce` is called once per request, with the results of all scenarios in the request. All
        requests are read before the first run. If `requests` is a generator, not all scenarios are
        in memory at the same time.
    reduce : callable
        Function that is called with all results of a request, in the order of the scenarios, and
        that returns the reduced result.
    engine : Engine
        Engine that runs the scenarios.
    store : Store, optional
        Store from which finished runs are read and to which new runs are written; default: no
        store.
    jobs : int, optional
        Maximum number of runs at the same time, 1 or more; default: a number that the engine
        chooses.
    progress : callable, optional
        Function that is called about ten times per second with the number of finished distinct runs
        and the number of all distinct runs.

    Yields
    ------
    index : int
        Position of the request in `requests`.
    reduced
        Return value of `reduce`.

    Raises
    ------
    ValueError
        If `jobs` is not a whole number, or is below 1.
    ScenarioError
        If the engine does not support a scenario; raised before the first run.
    Exception
        Any error that the engine raises. If a run fails, its error is raised after all other runs
        have ended. If several runs fail, the error of the run that failed first is raised.
    """
    if jobs is not None:
        check_count("jobs", jobs)
    waiting, runs, texts = _distinct(requests, engine)
    addresses = [run.address for run in runs if run.address]
    if not addresses:
        store = None
    absent = set(addresses)
    if store:
        absent = store.missing(addresses)
        store.begin(len(addresses), len(addresses) - len(absent), jobs or available_cores())
    left: list[_Run] = []
    failures = _Failures()
    done = 0

    def report(more: float, _: int) -> None:
        if store:
            store.settle()
        if progress:
            progress(done + more, len(runs))

    try:
        for run in runs:
            stored = None
            if store and run.address and run.address not in absent:
                stored = store.get(run.address)
            if stored is None:
                left.append(run)
            else:
                yield from _reduced(run, stored, waiting, reduce)
        done = len(runs) - len(left)
        if left:
            with closing(engine.run(_Scenarios(left, texts), jobs, report)) as running:
                for i, outcome in running:
                    run = left[i]
                    if isinstance(outcome, Failed):
                        failures.add(outcome.error)
                        if store and run.address:
                            store.fail(run.address, engine.build, outcome.error)
                        continue
                    if store and run.address:
                        store.put(run.address, engine.build, outcome)
                    yield from _reduced(run, outcome, waiting, reduce)
    finally:
        if store:
            store.settle()
    failures.raise_first()


def in_order(finished: Iterable[tuple[int, Reduced]]) -> list[Reduced]:
    """Return the reduced results of a campaign, in the order of its requests."""
    done = dict(finished)
    return [done[i] for i in range(len(done))]


@dataclass(slots=True)
class _Run:
    """Run of a campaign; requests with the same scenario share it.

    Attributes
    ----------
    text : int
        Index of the run's scenario among the scenarios of the campaign.
    address : str, optional
        Address of the run in a store; None if a store cannot contain the run.
    parts : list of (int, int)
        Places that need the result: the index of each request, and the position in this request.
    """

    text: int
    address: str | None
    parts: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class _Scenarios(Sequence[str]):
    """Scenarios of the runs; each scenario is decompressed when an engine reads it."""

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
    requests: Iterable[Request], engine: Engine
) -> tuple[list[list[Result | None]], list[_Run], Texts]:
    """Return an empty list of results per request, the distinct runs, and their scenarios."""
    waiting: list[list[Result | None]] = []
    runs: list[_Run] = []
    texts = Texts()
    known: dict[str, _Run] = {}
    build, capabilities = engine.build, engine.capabilities
    checked: set[int] = set()
    for i, request in enumerate(requests):
        waiting.append([None] * len(request))
        for part, text in enumerate(request):
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
    """Error of the first failed run, and the number of failed runs."""

    def __init__(self) -> None:
        self._first: Exception | None = None
        self._number = 0

    def add(self, error: Exception) -> None:
        self._first = self._first or error
        self._number += 1

    def raise_first(self) -> None:
        """Raise the error of the first failed run, if a run has failed."""
        if self._first is None:
            return
        if self._number == 1:
            raise self._first
        others = self._number - 1
        more = f"{others} more {'runs' if others > 1 else 'run'} failed"
        raise type(self._first)(f"{self._first}; {more}") from self._first


def _reduced(
    run: _Run,
    result: Result,
    waiting: list[list[Result | None]],
    reduce: Callable[..., Reduced],
) -> Iterator[tuple[int, Reduced]]:
    """Add a result to the requests that need the result; call `reduce` for complete requests."""
    for i, part in run.parts:
        waiting[i][part] = result
        if all(one is not None for one in waiting[i]):
            yield i, reduce(*waiting[i])
            waiting[i].clear()  # frees the results
