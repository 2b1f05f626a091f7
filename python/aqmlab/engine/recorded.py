"""Recorded runs as an engine: each scenario is answered by the run of it that was recorded."""

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
    """Plays back recorded runs.

    Parameters
    ----------
    runs : iterable of Result
        The runs, wherever they come from: :meth:`read` takes them from folders, and a store of
        runs is iterable.

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
        """Take the runs that are in a folder, or in folders inside it, as `aqmlab run --out` wrote.

        Raises
        ------
        OSError
            If one of them cannot be read.
        """
        manifests = sorted(Path(folder).rglob("manifest.json"))
        return cls(Result.read(manifest.parent) for manifest in manifests)

    @property
    def build(self) -> str:
        """A digest of everything that is played back: scenarios, and the builds that ran them."""
        manifests = (run.manifest for run in self._runs.values())
        told = sorted(json.dumps(manifest, sort_keys=True) for manifest in manifests)
        return hashlib.sha256("\n".join(told).encode()).hexdigest()

    @property
    def capabilities(self) -> Capabilities:
        """The series that some run recorded; everything else is a matter of the single run."""
        series = (run.scenario["record"]["series"] for run in self._runs.values())
        return Capabilities(series=list(dict.fromkeys(chain.from_iterable(series))))

    def run(
        self,
        texts: Sequence[str],
        jobs: int | None = None,  # noqa: ARG002 (nothing is computed)
        progress: Progress | None = None,
    ) -> Generator[tuple[int, Result | Failed]]:
        """Give the recorded run of each scenario; one that was never recorded has failed.

        See :class:`aqmlab.engine.Engine`.
        """
        for i, text in enumerate(texts):
            run = self._runs.get(content(text))
            if progress:
                progress(i + 1, len(texts))
            yield i, run or Failed(LookupError(f"no recorded run is of {_named(text)}"))


def _named(text: str) -> str:
    scenario = json.loads(text)
    return f"scenario {scenario['title'] or 'without a title'!r}, seed {scenario['seed']}"
