"""Verdicts of a whole run, stored beside the study, and the numbers in its README.

    aqmlab reproduce --all --out results/all
    python -m aqmlab.studies.framework.kept results/all

stores the verdicts of every study from the folder of a whole run: `verdicts.csv` beside the study's
claims, and the part of its README that the run writes. The folder may also be that of one study.
Studies without a folder are left as they are. With `--check` the command writes nothing and prints
every difference, and the exit status is 1 if there are differences.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.studies.framework.claims import FITTED, INPUT, MEASURED, Decision, Published
from aqmlab.studies.framework.output import CLAIMS, MANIFEST, README
from aqmlab.studies.framework.verdicts import (
    ABSENT,
    CONTRADICTED,
    NOT_MEASURED,
    NOT_TESTABLE,
    OPEN,
    REPRODUCED,
    SINGLE_RUN,
)

if TYPE_CHECKING:
    from aqmlab.studies.framework.study import Study

COLUMNS = ("id", "basis", "ours", "verdict")
BEGIN = "<!-- A whole run writes from here: python -m aqmlab.studies.framework.kept -->"
END = "<!-- to here. -->"


@dataclass(frozen=True)
class Kept:
    """One stored claim: its class, our number and the verdict."""

    basis: str
    ours: str
    verdict: str


def rows(path: Path) -> dict[str, Kept]:
    """Return the stored claims by their numbers, or an empty dict without a file."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        every = list(csv.DictReader(file))
    return {row["id"]: Kept(row["basis"], row["ours"], row["verdict"]) for row in every}


def read(path: Path) -> dict[str, str]:
    """Return the kept verdict of each claim."""
    return {claim: kept.verdict for claim, kept in rows(path).items()}


def score(claims: Iterable[tuple[str, str]]) -> str:
    """Return the score of claims, given as class and verdict, in one sentence.

    Examples
    --------
    >>> score([(MEASURED, REPRODUCED), (MEASURED, OPEN), (INPUT, REPRODUCED)])
    '1 of 2 measured claims reproduced, 0 contradicted, 1 open. Not counted: 1 input or arithmetic.'
    """
    every = list(claims)
    counts = Counter(verdict for basis, verdict in every if basis == MEASURED)
    apart = Counter(basis for basis, _ in every)
    good = counts[REPRODUCED] + counts[SINGLE_RUN]
    total = good + counts[CONTRADICTED] + counts[OPEN]
    single = f" ({counts[SINGLE_RUN]} as a single run)" if counts[SINGLE_RUN] else ""
    text = (
        f"{good} of {total} measured claims reproduced{single}, {counts[CONTRADICTED]} "
        f"contradicted, {counts[OPEN]} open."
    )
    others = [(apart[basis], basis) for basis in (INPUT, FITTED)]
    others += [(counts[verdict], verdict) for verdict in (NOT_TESTABLE, NOT_MEASURED)]
    if told := ", ".join(f"{n} {about}" for n, about in others if n):
        text += f" Not counted: {told}."
    return text


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
        was, now = whole[claim.id], decision.verdict
        undecided = now if now in (OPEN, ABSENT) else "other"
        if was != NOT_TESTABLE and now != NOT_MEASURED:
            found["same" if now == was else undecided].append(claim.id)
    return Agreement(*(tuple(ids) for ids in found.values()))


def of_run(folder: Path, items: Sequence[str]) -> dict[str, Kept]:
    """Return the claims that a whole study left in its folder.

    Raises
    ------
    ValueError
        If the folder does not have the whole study: a quick form, some of its items, changed
        assumptions, other replications.
    """
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    if manifest["quick"] or manifest["changes"] or manifest["items"] != list(items):
        raise ValueError(f"{folder} does not have the whole study as it is")
    return rows(folder / CLAIMS)


def differences(kept: Mapping[str, Kept], now: Mapping[str, Kept]) -> list[str]:
    """Return a line for each claim whose class or verdict differs from the stored one.

    Examples
    --------
    >>> differences({"A": Kept(MEASURED, "1", OPEN)}, {"A": Kept(MEASURED, "2", REPRODUCED)})
    ['A: kept open (1), now reproduced (2)']
    """
    found = []
    for claim in dict.fromkeys([*kept, *now]):
        was, is_now = kept.get(claim), now.get(claim)
        if was is None or is_now is None:
            found.append(f"{claim}: {'not kept' if was is None else 'not decided now'}")
        elif was.basis != is_now.basis:
            found.append(f"{claim}: kept as {was.basis}, now {is_now.basis}")
        elif was.verdict != is_now.verdict:
            told = f"kept {was.verdict} ({was.ours}), now {is_now.verdict} ({is_now.ours})"
            found.append(f"{claim}: {told}")
    return found


def block(readme: str) -> str:
    """Return the part of a README that a whole run writes, without its marks.

    Raises
    ------
    ValueError
        If the README has no such part.
    """
    if readme.count(BEGIN) != 1 or END not in readme.split(BEGIN)[1]:
        raise ValueError(f"README.md: the part between {BEGIN!r} and {END!r} is missing; add both")
    return readme.split(BEGIN)[1].split(END)[0].strip("\n")


def with_block(readme: str, text: str) -> str:
    """Return a README with another text in the part that a whole run writes."""
    block(readme)
    before, rest = readme.split(BEGIN)
    return f"{before}{BEGIN}\n\n{text.strip()}\n\n{END}{rest.split(END, 1)[1]}"


def keep(folder: Path, study: Study) -> None:
    """Store the verdicts and the README's numbers that a whole study left in its folder.

    Raises
    ------
    ValueError
        If the folder does not have the whole study.
    """
    claims = of_run(folder, [item.name for item in study.items])
    with study.kept.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for claim, kept in claims.items():
            writer.writerow({"id": claim, **vars(kept)})
    readme = study.kept.parent / "README.md"
    text = (folder / README).read_text("utf-8")
    readme.write_text(with_block(readme.read_text("utf-8"), text), "utf-8")


def check(folder: Path, study: Study) -> list[str]:
    """Return every difference of a whole run from the stored verdicts and numbers."""
    now = of_run(folder, [item.name for item in study.items])
    found = differences(rows(study.kept), now)
    written = block((study.kept.parent / "README.md").read_text("utf-8"))
    if written != (folder / README).read_text("utf-8").strip():
        found.append("README.md: its numbers are not those of this run")
    return [f"{study.name}: {line}" for line in found]


def main(arguments: Sequence[str]) -> int:
    """Store, or with `--check` compare, the verdicts of a folder; return the exit status."""
    from aqmlab import studies

    only_check = "--check" in arguments
    (given,) = (Path(one) for one in arguments if one != "--check")
    every = [given, *(given / name for name in studies.names())]
    folders = [folder for folder in every if (folder / MANIFEST).exists()]
    if not folders:
        raise ValueError(f"{given}: has no study's {MANIFEST}; give the folder of a whole run")
    found = []
    for folder in folders:
        name = json.loads((folder / MANIFEST).read_text("utf-8"))["study"]
        study = studies.load(name)
        if only_check:
            found += check(folder, study)
        else:
            keep(folder, study)
            print(f"{name}: kept")
    print("\n".join(found), end="\n" * bool(found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
