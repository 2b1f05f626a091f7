"""Finished runs of a comparison in a folder: each is a file that appears whole or not at all.

A run is found again by its scenario and by what ran and measured it, to the byte, so that a
comparison that was interrupted goes on where it stopped, and never with what an older build did.
"""

import hashlib
import json
import math
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.compare import measures, seen
from aqmlab.statistics import describe, transfers


@dataclass(frozen=True)
class Run:
    """What is kept of a run: seed, measures, and of each link times and packets of its queue.

    Of the measures in `at_least` it is known that they are greater. Queues are those of sampled
    runs. Warnings are by what they are about.
    """

    seed: int
    measures: dict[str, float]
    at_least: tuple[str, ...] = ()
    traces: dict[str, list[list[float]]] | None = None
    warnings: dict[str, str] = field(default_factory=dict)

    def as_dict(self, names: list[str]) -> dict[str, Any]:
        """Return seed and measures as JSON has them."""
        known: dict[str, Any] = {"seed": self.seed}
        known |= {n: _null(self.measures[n]) for n in names}
        return known | ({"at_least": list(self.at_least)} if self.at_least else {})


def _null(x: float) -> float | None:
    return None if math.isnan(x) else x


MAKERS = (_core, measures, seen, describe, transfers)


@cache
def _makers() -> str:
    """Return what distinguishes this simulator and these measures from any other."""
    files = [Path(str(module.__file__)).read_bytes() for module in MAKERS]
    return hashlib.sha256(b"".join(files)).hexdigest()


class NoStore:
    """Keeps nothing."""

    def find(self, text: str, warm_up: str | None = None) -> Run | None:  # noqa: ARG002
        """Find nothing."""
        return None

    def keep(self, text: str, label: str, run: Run, warm_up: str | None = None) -> Run:  # noqa: ARG002
        """Hand the run on."""
        return run


class Store(NoStore):
    """The folder `runs` of a comparison; made when the first run is kept.

    Files are written in `parts`, on the same disk, and come from there whole.

    Attributes
    ----------
    finished : int
        Runs that were kept or found.
    """

    def __init__(self, folder: Path, parts: Path | None = None) -> None:
        self.folder, self._parts = folder, parts or folder
        self.finished = 0

    def _path(self, text: str, warm_up: str | None) -> Path:
        address = hashlib.sha256(f"{_makers()}\n{warm_up}\n{text}".encode()).hexdigest()[:16]
        return self.folder / f"{address}.json"

    def find(self, text: str, warm_up: str | None = None) -> Run | None:
        """Return the run of a scenario if it is there and whole."""
        try:
            kept = json.loads(self._path(text, warm_up).read_text("utf-8"))
            if kept["scenario"] != json.loads(text) or kept["warm_up"] != warm_up:
                return None
            measures = {k: math.nan if v is None else v for k, v in kept["measures"].items()}
            known = tuple(kept["at_least"]), kept["traces"], dict(kept["warnings"])
            run = Run(kept["seed"], measures, *known)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        self.finished += 1
        return run

    def keep(self, text: str, label: str, run: Run, warm_up: str | None = None) -> Run:
        """Write a run, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._path(text, warm_up)
        kept = {
            "queue": label,
            "seed": run.seed,
            "version": _core.version(),
            "measures": {k: _null(v) for k, v in run.measures.items()},
            "at_least": run.at_least,
            "traces": run.traces,
            "warnings": run.warnings,
            "warm_up": warm_up,
            "scenario": json.loads(text),
        }
        beside = self._parts / f"{path.stem}.part"
        try:
            beside.write_text(json.dumps(kept) + "\n", "utf-8")
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
        self.finished += 1
        return run
