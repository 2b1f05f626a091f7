"""Contract between an engine and its callers."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

from aqmlab._core import ScenarioError
from aqmlab.engine.capabilities import Capabilities
from aqmlab.results import Result

Progress = Callable[[float, int], None]
"""Function that reports progress: the number of finished runs, and the number of all runs.

The first number includes the completed fractions of unfinished runs.
"""


@dataclass(frozen=True)
class Failed:
    """Run that has failed and therefore has no result.

    Attributes
    ----------
    error : Exception
        The reason. The message of the exception names the scenario or its seed.
    """

    error: Exception


class Engine(Protocol):
    """Program that runs scenarios, several at a time."""

    @property
    def build(self) -> str:
        """Text that identifies this engine and its build.

        Engines with the same build must return the same result for the same scenario. A store finds
        a run by its build and its scenario.
        """

    @property
    def capabilities(self) -> Capabilities:
        """Features that the engine supports.

        A scenario that needs other features is refused before the first run.
        """

    def run(
        self, texts: Sequence[str], jobs: int | None = None, progress: Progress | None = None
    ) -> Generator[tuple[int, Result | Failed]]:
        """Run scenarios and yield the outcome of each run as soon as it has ended.

        Closing the generator cancels the unfinished runs.

        Parameters
        ----------
        texts : sequence of str
            Scenarios as :func:`aqmlab.scenario.normalize` writes them.
        jobs : int, optional
            Maximum number of runs at a time, 1 or more; default: the number that suits the engine.
        progress : callable, optional
            Function that is called about ten times per second with the number of finished runs and
            the number of all runs.

        Yields
        ------
        index : int
            Position of the scenario in `texts`. Each position is yielded once, in any order.
        outcome : Result or Failed
            The result of the run, or the reason why it failed. If one run fails, the other runs go
            on.

        Raises
        ------
        Exception
            A problem that affects all runs, such as an unsupported scenario or a full disk. All
            runs are cancelled.
        """


@runtime_checkable
class Limiting(Engine, Protocol):
    """Engine that supports limits on its runs."""

    def within(self, limits: Mapping[str, Any]) -> Self:
        """Return an engine with the same properties and limits on each run.

        A run that exceeds a limit fails, and the other runs go on. A limit does not change the
        result of a run that stays below the limit.

        Parameters
        ----------
        limits : mapping
            ``events``: number of events; ``wall``: wall-clock time; ``memory``: size of the memory.
            Values have units, as in a scenario.

        Raises
        ------
        ScenarioError
            If a limit is wrong.
        """


def within_limits(engine: Engine, limits: Mapping[str, Any]) -> Engine:
    """Return an engine with limits on its runs, or the engine itself if `limits` is empty.

    Raises
    ------
    ScenarioError
        If a limit is wrong, or the engine does not support limits.
    """
    if not limits:
        return engine
    if not isinstance(engine, Limiting):
        raise ScenarioError(
            f"limits: this engine does not support limits, but {', '.join(limits)} is set; "
            "remove the limit, or choose another engine"
        )
    return engine.within(limits)
