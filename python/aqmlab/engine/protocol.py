"""What an engine promises to those who have runs for it."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

from aqmlab._core import ScenarioError
from aqmlab.engine.capabilities import Capabilities
from aqmlab.results import Result

Progress = Callable[[float, int], None]
"""Called now and then with the runs done (a fraction while one is under way) and their number."""


@dataclass(frozen=True)
class Failed:
    """A run that has no result.

    Attributes
    ----------
    error : Exception
        Why: names the scenario, or its seed.
    """

    error: Exception


class Engine(Protocol):
    """Runs scenarios, several at a time."""

    @property
    def build(self) -> str:
        """Distinguishes this engine and its build from any other.

        Engines with the same build make the same of the same scenario: runs are kept by it.
        """

    @property
    def capabilities(self) -> Capabilities:
        """What the engine supports; a scenario that needs more is refused before the first run."""

    def run(
        self, texts: Sequence[str], jobs: int | None = None, progress: Progress | None = None
    ) -> Generator[tuple[int, Result | Failed]]:
        """Run scenarios and give each as soon as it has ended.

        Closing the generator cancels the runs that are under way.

        Parameters
        ----------
        texts : sequence of str
            Scenarios as :func:`aqmlab.scenario.normalize` writes them.
        jobs : int, optional
            Runs at a time, 1 or more; default: as many as the engine has room for.
        progress : callable, optional
            Called about ten times a second with the runs done and their number.

        Yields
        ------
        index : int
            Position in `texts`; each comes once, in any order.
        outcome : Result or Failed
            Its result, or why it has none. The other runs go on.

        Raises
        ------
        Exception
            What is wrong with all of them: a scenario that is refused, a disk that is full. No run
            goes on.
        """


@runtime_checkable
class Limiting(Engine, Protocol):
    """An engine that keeps runs within limits."""

    def within(self, limits: Mapping[str, Any]) -> Self:
        """Return this engine with limits: a run that passes one has failed, and others go on.

        A run that keeps within them is the same as without.

        Parameters
        ----------
        limits : mapping
            ``events``: a number; ``wall``: a time by the wall; ``memory``: a size. With units, as
            a scenario has them.

        Raises
        ------
        ScenarioError
            If one is wrong.
        """


def within_limits(engine: Engine, limits: Mapping[str, Any]) -> Engine:
    """Return an engine that keeps runs within limits; the engine itself without limits.

    Raises
    ------
    ScenarioError
        If a limit is wrong, or the engine does not support limits.
    """
    if not limits:
        return engine
    if not isinstance(engine, Limiting):
        raise ScenarioError(
            f"limits: this engine does not support limits, and {', '.join(limits)} is set; "
            "remove it, or choose another engine"
        )
    return engine.within(limits)
