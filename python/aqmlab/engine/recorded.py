"""Engine that returns the recorded results of earlier runs instead of simulating."""

import hashlib
import json
from collections.abc import Generator, Iterable, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Self

from aqmlab.engine.capabilities import Capabilities
from aqmlab.engine.protocol import Failed, Progress
from aqmlab.results import Result
from aqmlab.scenario import content


class Recorded:
    """Engine that returns the recorded result of each scenario instead of simulating it.

    Parameters
    ----------
    runs : iterable of Result
        Results of the recorded runs, for example a store of runs. To read results from folders, use
        :meth:`read`.

    Examples
    --------
    >>> import aqmlab
    >>> from aqmlab.engine import Recorded
    >>> recorded = Recorded([aqmlab.run("examples/one_flow.toml")])
    >>> (again,) = aqmlab.run_many(["examples/one_flow.toml"], engine=recorded)
    >>> int(again.flows["acked_bytes"].sum())
    20971520
    """

    def __init__(self, runs: Iterable[Result]) -> None:
        self._runs = {content(json.dumps(run.scenario)): run for run in runs}

    @classmethod
    def read(cls, folder: str | PathLike[str]) -> Self:
        """Read all runs that `aqmlab run --out` has written into a folder and its subfolders.

        Raises
        ------
        OSError
            If a run cannot be read.
        """
        manifests = sorted(Path(folder).rglob("manifest.json"))
        return cls(Result.read(manifest.parent) for manifest in manifests)

    @property
    def build(self) -> str:
        """SHA-256 digest of the manifests of all recorded runs."""
        manifests = (run.manifest for run in self._runs.values())
        lines = sorted(json.dumps(manifest, sort_keys=True) for manifest in manifests)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities of recorded runs: every feature, but only series that a run recorded.

        A scenario without a recorded run passes the check of the capabilities, and fails later.
        """
        series = (run.scenario["record"]["series"] for run in self._runs.values())
        return Capabilities(series=list(dict.fromkeys(chain.from_iterable(series))))

    def run(
        self,
        texts: Sequence[str],
        jobs: int | None = None,  # noqa: ARG002 (nothing is computed)
        progress: Progress | None = None,
    ) -> Generator[tuple[int, Result | Failed]]:
        """Yield the recorded result of each scenario, or a failure if no recorded run has it.

        See :class:`aqmlab.engine.Engine`.
        """
        for i, text in enumerate(texts):
            run = self._runs.get(content(text))
            if progress:
                progress(i + 1, len(texts))
            error = LookupError(f"{_description(text)} is in none of the recorded runs")
            yield i, run or Failed(error)


def _description(text: str) -> str:
    """Return the title and seed of a scenario for an error message."""
    scenario = json.loads(text)
    return f"scenario {scenario['title'] or 'without a title'!r}, seed {scenario['seed']}"
