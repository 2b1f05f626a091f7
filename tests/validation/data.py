"""Storage of each peer's rows as CSV, so that the page can be written without new simulations."""

import csv
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from validation.row import Row, Tolerance

FOLDER = Path(__file__).parents[2] / "docs" / "validation"
HEADER = (
    "setting", "measure", "unit", "ours", "theirs",
    "relative", "absolute", "interval", "in_range", "paired", "verdict", "cause",
)  # fmt: skip
"""Columns of a CSV file: `ours` has the values of aqmlab, `theirs` has the values of the peer."""


@dataclass(frozen=True)
class Origin:
    """Origin of a peer's rows: version, date, duration and build of the run that measured them.

    Parameters
    ----------
    version : str
        Name and version of the peer.
    date : str
        Day of the run.
    minutes : float
        Wall-clock time of the run.
    build : str
        Version of aqmlab.
    """

    version: str
    date: str
    minutes: float
    build: str


def write(key: str, origin: Origin, rows: Iterable[Row]) -> None:
    """Write the rows of a peer and the origin of the rows."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / f"{key}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for row in rows:
            of = row.tolerance
            writer.writerow([
                row.setting, row.measure, row.unit, values(row.ours), values(row.theirs),
                of.relative, of.absolute, *map(int, (of.interval, of.in_range, of.paired)),
                row.verdict, row.cause,
            ])  # fmt: skip
    text = json.dumps(asdict(origin), indent=2, ensure_ascii=False)
    (FOLDER / f"{key}.json").write_text(text + "\n", "utf-8")


def read(key: str) -> tuple[Origin, list[Row]] | None:
    """Return the stored rows of a peer and their origin; None if the peer has no stored rows."""
    if not (FOLDER / f"{key}.csv").exists():
        return None
    origin = Origin(**json.loads((FOLDER / f"{key}.json").read_text("utf-8")))
    rows = []
    with (FOLDER / f"{key}.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            tolerance = Tolerance(
                relative=float(row["relative"]),
                absolute=float(row["absolute"]),
                interval=row["interval"] == "1",
                in_range=row["in_range"] == "1",
                paired=row["paired"] == "1",
            )
            ours, theirs = (tuple(map(float, row[side].split())) for side in ("ours", "theirs"))
            rows.append(
                Row(
                    row["setting"],
                    row["measure"],
                    row["unit"],
                    ours,
                    theirs,
                    tolerance,
                    row["cause"],
                )
            )
    return origin, rows


def values(numbers: Iterable[float]) -> str:
    """Return a text with the numbers in 7 significant digits, separated by spaces."""
    return " ".join(f"{x:.7g}" for x in numbers)
