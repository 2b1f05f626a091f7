"""Finished runs of a comparison in a folder: each is a file that appears whole or not at all.

A run is found again by its scenario and by what ran and measured it, to the byte, so that a
comparison that was interrupted goes on where it stopped, and never with what an older build did.
"""

import hashlib
import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.compare import measures


@dataclass(frozen=True)
class Run:
    """What is kept of a run: seed, measures, and times and packets of its queue if sampled."""

    seed: int
    measures: dict[str, float]
    trace: list[list[float]] | None = None

    def as_dict(self, names: list[str]) -> dict[str, Any]:
        """Return seed and measures as JSON has them."""
        return {"seed": self.seed} | {n: _null(self.measures[n]) for n in names}


def _null(x: float) -> float | None:
    return None if math.isnan(x) else x


@cache
def _makers() -> str:
    """Return what distinguishes this simulator and these measures from any other."""
    files = [Path(str(module.__file__)).read_bytes() for module in (_core, measures)]
    return hashlib.sha256(b"".join(files)).hexdigest()


class NoStore:
    """Keeps nothing."""

    def find(self, text: str) -> Run | None:  # noqa: ARG002
        """Find nothing."""
        return None

    def keep(self, text: str, label: str, run: Run) -> Run:  # noqa: ARG002
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

    def _path(self, text: str) -> Path:
        address = hashlib.sha256(f"{_makers()}\n{text}".encode()).hexdigest()[:16]
        return self.folder / f"{address}.json"

    def find(self, text: str) -> Run | None:
        """Return the run of a scenario if it is there and whole."""
        try:
            kept = json.loads(self._path(text).read_text("utf-8"))
            if kept["scenario"] != json.loads(text):
                return None
            measures = {k: math.nan if v is None else v for k, v in kept["measures"].items()}
            run = Run(kept["seed"], measures, kept["trace"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        self.finished += 1
        return run

    def keep(self, text: str, label: str, run: Run) -> Run:
        """Write a run, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._path(text)
        kept = {
            "queue": label,
            "seed": run.seed,
            "version": _core.version(),
            "measures": {k: _null(v) for k, v in run.measures.items()},
            "trace": run.trace,
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
