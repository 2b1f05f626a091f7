"""Verdicts of a whole study, kept beside it: its quick form is held against them.

    python -m aqmlab.studies.framework.kept power-of-ecn results/power-of-ecn

takes them over from the folder that the whole study left.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aqmlab.studies.framework.claims import Decision, Published
from aqmlab.studies.framework.output import MANIFEST
from aqmlab.studies.framework.verdicts import ABSENT, NOT_TESTABLE, OPEN, REPRODUCED, WITHIN_SPREAD

COLUMNS = ("id", "ours", "verdict")


def read(path: Path) -> dict[str, str]:
    """Return the kept verdict of each claim."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row["id"]: row["verdict"] for row in csv.DictReader(file)}


@dataclass(frozen=True)
class Agreement:
    """Which testable claims a quick form decides as the whole study does, and the others."""

    same: tuple[str, ...]
    other: tuple[str, ...]
    open: tuple[str, ...]
    absent: tuple[str, ...]

    @property
    def told(self) -> str:
        """A sentence about them."""
        decided = len(self.same) + len(self.other)
        parts = [f"{len(self.same)} of {decided} verdicts are those of the whole study"]
        for about, ids in (
            ("otherwise", self.other),
            ("open with so few replications", self.open),
            ("not in the quick form", self.absent),
        ):
            parts += [f"{about}: {', '.join(ids)}"] if ids else []
        return f"{'; '.join(parts)}."


def compare(claims: Sequence[tuple[Published, Decision]], whole: Mapping[str, str]) -> Agreement:
    """Compare the verdicts of a quick form with those of the whole study."""
    found: dict[str, list[str]] = {"same": [], "other": [], OPEN: [], ABSENT: []}
    for claim, decision in claims:
        was, now = (
            REPRODUCED if v == WITHIN_SPREAD else v for v in (whole[claim.id], decision.verdict)
        )
        if was != NOT_TESTABLE:
            found[now if now in found else "same" if now == was else "other"].append(claim.id)
    return Agreement(*(tuple(ids) for ids in found.values()))


def keep(folder: Path, path: Path, items: Sequence[str]) -> None:
    """Keep the verdicts that a whole study left in its folder.

    Raises
    ------
    ValueError
        If it is not the whole study: its quick form, some of its items, changed assumptions.
    """
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    if manifest["quick"] or manifest["changes"] or manifest["items"] != list(items):
        raise ValueError(f"{folder} does not have the whole study as it is")
    with (folder / "claims.csv").open(encoding="utf-8", newline="") as file:
        rows = [{c: row[c] for c in COLUMNS} for row in csv.DictReader(file)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main(name: str, folder: str) -> None:
    """Keep the verdicts of a study."""
    from aqmlab import studies

    study = studies.load(name)
    if study.quick is None or study.quick.whole is None:
        raise ValueError(f"{name} has no quick form that decides claims")
    keep(Path(folder), study.quick.whole, [item.name for item in study.items])


if __name__ == "__main__":
    main(*sys.argv[1:])
