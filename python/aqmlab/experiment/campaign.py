"""The one way to run many runs: ask → store → engine → reduce.

Whoever wants runs asks for them by their scenarios. Each distinct run is looked for in the store
and else given to the engine, once; what it leaves is kept; and as soon as everything is there that
an ask named, it is reduced, so that thousands of runs fit in memory.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, TypeVar

from aqmlab.engine import Engine, Failed, Progress
from aqmlab.results import Result
from aqmlab.store import Store, address

Reduced = TypeVar("Reduced")
Ask = tuple[str, ...]
"""The scenarios of the runs that are reduced together, mostly one."""


def check_count(name: str, count: Any) -> None:
    """Refuse what is no number of things.

    Raises
    ------
    ValueError
        If it is no whole number, or below 1.
    """
    if not isinstance(count, Integral) or count < 1:
        raise ValueError(f"{name} = {count!r} must be a whole number, 1 or more")


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
        What is reduced together: scenarios as :func:`aqmlab.scenario.normalize` writes them.
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
    Exception
        As the engine; if single runs fail, the error of the first when the others have ended.
    """
    if jobs is not None:
        check_count("jobs", jobs)
    waiting, runs = _distinct(asks, engine.build)
    known = [run.address for run in runs if run.address]
    absent = store.missing(known) if store else set(known)
    left: list[_Run] = []
    for run in runs:
        found = None
        if store and run.address and run.address not in absent:
            found = store.get(run.address)
        if found is None:
            left.append(run)
        else:
            yield from _reduced(run, found, waiting, reduce)

    def told(done: float, _: int) -> None:
        if progress:
            progress(len(runs) - len(left) + done, len(runs))

    failures: list[Exception] = []
    with closing(engine.run([run.text for run in left], jobs, told)) as running:
        for i, outcome in running:
            if isinstance(outcome, Failed):
                failures.append(outcome.error)
                continue
            run = left[i]
            if store and run.address:
                store.put(run.address, engine.build, outcome)
            yield from _reduced(run, outcome, waiting, reduce)
    if len(failures) > 1:
        more = f"so do {len(failures) - 1} runs more"
        raise type(failures[0])(f"{failures[0]}; {more}") from failures[0]
    if failures:
        raise failures[0]


def in_order(finished: Iterable[tuple[int, Reduced]]) -> list[Reduced]:
    """Return what a campaign gives in the order of its asks."""
    done = dict(finished)
    return [done[i] for i in range(len(done))]


@dataclass
class _Run:
    """A distinct run: its scenario, its address, and which part of which ask it is."""

    text: str
    address: str | None
    parts: list[tuple[int, int]] = field(default_factory=list)


def _distinct(asks: Iterable[Ask], build: str) -> tuple[list[list[Result | None]], list[_Run]]:
    """Return room for the results of each ask, and the runs that fill it."""
    waiting: list[list[Result | None]] = []
    runs: list[_Run] = []
    known: dict[str, _Run] = {}
    for i, ask in enumerate(asks):
        waiting.append([None] * len(ask))
        for part, text in enumerate(ask):
            where = address(text, build)
            run = known.get(where) if where else None
            if run is None:
                run = _Run(text, where)
                runs.append(run)
            if where:
                known[where] = run
            run.parts.append((i, part))
    return waiting, runs


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
