"""Interface of an engine."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

from aqmlab._core import ScenarioError
from aqmlab.custom import CustomAqms
from aqmlab.engine.capabilities import Capabilities
from aqmlab.results import Result

Progress = Callable[[float, int], None]
"""Function that reports progress, called with the number of finished runs and the number of all
runs. The number of finished runs includes the completed fractions of unfinished runs.
"""


@dataclass(frozen=True)
class Failed:
    """Outcome of a run that failed and therefore has no result.

    Attributes
    ----------
    error : Exception
        Reason of the failure. The message of the exception names the scenario or its seed.
    """

    error: Exception


class Engine(Protocol):
    """Program that runs scenarios, several of them at the same time."""

    @property
    def build(self) -> str:
        """Text that identifies the engine and its build, for example a digest of the program.

        Engines with the same build must return the same result for the same scenario. A store
        identifies a run by its scenario and the build of the engine.
        """

    @property
    def capabilities(self) -> Capabilities:
        """Features that the engine supports.

        A scenario that needs another feature causes an error before the first run.
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
            Maximum number of runs at the same time, 1 or more; default: a number that the engine
            chooses.
        progress : callable, optional
            Function that is called about ten times per second with the number of finished runs and
            the number of all runs.

        Yields
        ------
        index : int
            Position of the scenario in `texts`. Each position is yielded exactly once, in the order
            in which the runs end.
        outcome : Result or Failed
            Result of the run, or the reason of its failure. A failed run does not stop the other
            runs.

        Raises
        ------
        Exception
            A problem that affects all runs, such as an unsupported scenario or a full disk. All
            runs are cancelled.
        """


@runtime_checkable
class Limiting(Engine, Protocol):
    """Engine that can limit the events, the wall-clock time and the memory of each run."""

    def within(self, limits: Mapping[str, Any]) -> Self:
        """Return a copy of this engine that limits each run.

        A run that exceeds a limit fails without stopping the other runs. A limit does not change
        the result of a run that stays below the limit.

        Parameters
        ----------
        limits : mapping
            Maximum of each limited quantity: ``events`` (number of events), ``wall`` (wall-clock
            time) and ``memory`` (size). A time or a size has its unit, as in a scenario.

        Raises
        ------
        ScenarioError
            If a limit is wrong.
        """


@runtime_checkable
class Capturing(Engine, Protocol):
    """Engine that writes packet captures."""

    def with_captures(self, folders: Sequence[Path]) -> Self:
        """Return a copy of this engine that writes the captures which ``record.pcap`` requests.

        Parameters
        ----------
        folders : sequence of pathlib.Path
            Existing folders, one per run.
        """


@runtime_checkable
class Hosting(Engine, Protocol):
    """Engine whose hosts are real, so that a scenario cannot describe all of their TCP."""

    @property
    def hosts(self) -> str:
        """Sentence about the hosts, which a report of a study shows."""

    def hosted(self, scenario: Mapping[str, Any]) -> dict[str, Any]:
        """Return a scenario with the hosts of this engine in place of those that it describes.

        A study describes the hosts of its publication. Over this engine, it has these hosts
        instead.

        Parameters
        ----------
        scenario : mapping
            Scenario of a study.
        """


@runtime_checkable
class Programmable(Engine, Protocol):
    """Engine whose queues can be AQMs written in Python."""

    def with_aqms(self, aqms: CustomAqms) -> Self:
        """Return a copy of this engine that has the AQMs of the scenarios to run.

        Parameters
        ----------
        aqms : CustomAqms
            AQMs written in Python, by the names that the scenarios contain.
        """


def within_limits(engine: Engine, limits: Mapping[str, Any]) -> Engine:
    """Return an engine that limits each run, or the engine itself if `limits` is empty.

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
