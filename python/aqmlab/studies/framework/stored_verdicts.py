"""Stored verdicts on the claims of each study, and the results in the README of each study.

    aqmlab reproduce --all --out results/all
    python -m aqmlab.studies.framework.stored_verdicts results/all

The first command reproduces all studies. For each study in the given folder, the second command
writes the verdicts into the study's `verdicts.csv`, and replaces the results between the two marks
in the study's README. The argument of the command can also be the folder of a single study. With
`--check`, the second command does not write files: it prints every difference, and the exit status
is 1 if there is a difference.
"""

from __future__ import annotations

import csv
import json
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.studies.framework.claims import FITTED, INPUT, MEASURED, Decision, Published
from aqmlab.studies.framework.files import CLAIMS, MANIFEST, README
from aqmlab.studies.framework.verdicts import (
    ABSENT,
    CONTRADICTED,
    NOT_MEASURED,
    NOT_TESTABLE,
    OPEN,
    REPRODUCED,
    SINGLE_RUN,
    UNDECIDED,
)

if TYPE_CHECKING:
    from aqmlab.studies.framework.study import Study

COLUMNS = ("id", "basis", "ours", "verdict")
"""Columns of verdicts.csv."""
BEGIN = "<!-- begin of results: python -m aqmlab.studies.framework.stored_verdicts writes them -->"
"""Comment in a study's README that marks the beginning of the generated results."""
END = "<!-- end of results -->"
"""Comment in a study's README that marks the end of the generated results."""
NOT_COUNTED = {
    INPUT: "follow from inputs or arithmetic",
    FITTED: "were used to choose settings",
}
"""Description of each class of claims that the score does not count."""
ONE_NOT_COUNTED = {
    INPUT: "follows from inputs or arithmetic",
    FITTED: "was used to choose a setting",
}
"""Description of a single claim of such a class."""
WIDTH = 100
"""Maximum length of a Markdown line, except lines of tables."""


@dataclass(frozen=True)
class StoredClaim:
    """Row of verdicts.csv: the class of a claim, our number and the verdict."""

    basis: str
    ours: str
    verdict: str


def read_claims(path: Path) -> dict[str, StoredClaim]:
    """Return the rows of verdicts.csv or claims.csv by claim id; an empty dict without the file."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["id"]: StoredClaim(row["basis"], row["ours"], row["verdict"]) for row in rows}


def read_verdicts(path: Path) -> dict[str, str]:
    """Return the stored verdicts by claim id."""
    return {claim_id: claim.verdict for claim_id, claim in read_claims(path).items()}


def score(claims: Iterable[tuple[str, str]]) -> str:
    """Return the number of claims with each verdict, as one or two sentences.

    Parameters
    ----------
    claims : iterable of (str, str)
        Class and verdict of each claim.

    Examples
    --------
    >>> claims = [(MEASURED, REPRODUCED), (MEASURED, OPEN), (INPUT, REPRODUCED)]
    >>> for sentence in score(claims).split(". "):
    ...     print(sentence)
    1 of 2 measured claims reproduced, 0 contradicted, 1 open
    Claims that the score does not count: 1 that follows from inputs or arithmetic.
    """
    every = list(claims)
    counts = Counter(verdict for basis, verdict in every if basis == MEASURED)
    by_class = Counter(basis for basis, _ in every)
    good = counts[REPRODUCED] + counts[SINGLE_RUN]
    total = good + counts[CONTRADICTED] + counts[OPEN]
    single = (
        f" ({counts[SINGLE_RUN]} within the spread of single runs)" if counts[SINGLE_RUN] else ""
    )
    text = (
        f"{good} of {total} measured claims reproduced{single}, {counts[CONTRADICTED]} "
        f"contradicted, {counts[OPEN]} open."
    )
    not_counted = [
        (by_class[basis], f"that {about if by_class[basis] > 1 else ONE_NOT_COUNTED[basis]}")
        for basis, about in NOT_COUNTED.items()
    ]
    not_counted += [(counts[verdict], verdict) for verdict in (NOT_TESTABLE, NOT_MEASURED)]
    not_counted.append((counts[UNDECIDED], f"that {UNDECIDED}"))
    if listed := ", ".join(f"{n} {reason}" for n, reason in not_counted if n):
        text += f" Claims that the score does not count: {listed}."
    return text


@dataclass(frozen=True)
class Agreement:
    """Comparison of the verdicts of a study's quick form with the verdicts of the whole study.

    Attributes
    ----------
    same : tuple of str
        Ids of the claims with equal verdicts.
    other : tuple of str
        Ids of the claims with a different verdict, which is not open in the quick form.
    open : tuple of str
        Ids of the claims that are open in the quick form, but not in the whole study.
    absent : tuple of str
        Ids of the claims whose runs the quick form leaves out.
    """

    same: tuple[str, ...]
    other: tuple[str, ...]
    open: tuple[str, ...]
    absent: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Number of equal verdicts, and ids of the claims with different verdicts, as text."""
        decided = len(self.same) + len(self.other)
        parts = [f"{len(self.same)} of {decided} verdicts are equal to those of the whole study"]
        for reason, ids in (
            ("different verdicts", self.other),
            ("open because of few replications", self.open),
            ("not in the quick form", self.absent),
        ):
            parts += [f"{reason}: {', '.join(ids)}"] if ids else []
        return f"{'; '.join(parts)}."


def compare(claims: Sequence[tuple[Published, Decision]], whole: Mapping[str, str]) -> Agreement:
    """Compare the verdicts of a quick form with the verdicts of the whole study.

    The comparison of verdicts leaves out claims that are not testable, or that the engine cannot
    measure.
    """
    groups: dict[str, list[str]] = {"same": [], "other": [], OPEN: [], ABSENT: []}
    for claim, decision in claims:
        was, now = whole[claim.id], decision.verdict
        undecided = now if now in (OPEN, ABSENT) else "other"
        if was != NOT_TESTABLE and now != NOT_MEASURED:
            groups["same" if now == was else undecided].append(claim.id)
    return Agreement(*(tuple(ids) for ids in groups.values()))


def claims_of_run(folder: Path, items: Sequence[str]) -> dict[str, StoredClaim]:
    """Return the decided claims from the folder of a complete reproduction of a study.

    Raises
    ------
    ValueError
        If the folder contains a quick form of the study, only some of its items, or runs with
        changed assumptions or other seeds.
    """
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    other = manifest["changes"] or manifest.get("seed") is not None
    if manifest["quick"] or other or manifest["items"] != list(items):
        raise ValueError(
            f"{folder}: does not have the whole study; run `aqmlab reproduce` without --quick, "
            "--only, --set and --seed"
        )
    return read_claims(folder / CLAIMS)


def differences(stored: Mapping[str, StoredClaim], now: Mapping[str, StoredClaim]) -> list[str]:
    """Return one line for each claim whose class or verdict differs from the stored one.

    Examples
    --------
    >>> was = {"A": StoredClaim(MEASURED, "1", OPEN)}
    >>> differences(was, {"A": StoredClaim(MEASURED, "2", REPRODUCED)})
    ['A: stored open (1), now reproduced (2)']
    """
    lines = []
    for claim_id in dict.fromkeys([*stored, *now]):
        was, is_now = stored.get(claim_id), now.get(claim_id)
        if was is None or is_now is None:
            lines.append(f"{claim_id}: {'not stored' if was is None else 'not decided now'}")
        elif was.basis != is_now.basis:
            lines.append(f"{claim_id}: stored as {was.basis}, now {is_now.basis}")
        elif was.verdict != is_now.verdict:
            change = f"stored {was.verdict} ({was.ours}), now {is_now.verdict} ({is_now.ours})"
            lines.append(f"{claim_id}: {change}")
    return lines


def block(readme: str) -> str:
    """Return the results in a README: the text between the two marks.

    Raises
    ------
    ValueError
        If the README lacks the comment before the generated results or the comment after the
        results.
    """
    if readme.count(BEGIN) != 1 or END not in readme.split(BEGIN)[1]:
        raise ValueError(f"README.md: the marks {BEGIN!r} and {END!r} are missing; add both")
    return readme.split(BEGIN)[1].split(END)[0].strip("\n")


def wrap(text: str) -> str:
    """Return Markdown with paragraphs and list items wrapped at 100 characters, tables unchanged.

    Examples
    --------
    >>> print(wrap("- Open: " + ", ".join(["RW-001"] * 13) + "."))
    - Open: RW-001, RW-001, RW-001, RW-001, RW-001, RW-001, RW-001, RW-001, RW-001, RW-001, RW-001,
      RW-001, RW-001.
    """
    lines: list[str] = []
    for line in text.strip().splitlines():
        if line.startswith("|") or len(line) <= WIDTH:
            lines.append(line)
            continue
        indent = "  " if line.startswith("- ") else ""
        lines += textwrap.wrap(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    return "\n".join(lines)


def with_block(readme: str, text: str) -> str:
    """Return a README in which `text` replaces the generated results."""
    block(readme)
    before, rest = readme.split(BEGIN)
    return f"{before}{BEGIN}\n\n{wrap(text)}\n\n{END}{rest.split(END, 1)[1]}"


def store(folder: Path, study: Study) -> None:
    """Store the verdicts of a whole study, and replace the results in its README.

    Raises
    ------
    ValueError
        If the folder does not contain the whole study.
    """
    claims = claims_of_run(folder, [item.name for item in study.items])
    with study.verdicts_path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for claim_id, claim in claims.items():
            writer.writerow({"id": claim_id, **vars(claim)})
    readme = study.verdicts_path.parent / "README.md"
    text = (folder / README).read_text("utf-8")
    readme.write_text(with_block(readme.read_text("utf-8"), text), "utf-8")


def check(folder: Path, study: Study) -> list[str]:
    """Return the differences between a new run of a study and its stored verdicts and README."""
    now = claims_of_run(folder, [item.name for item in study.items])
    lines = differences(read_claims(study.verdicts_path), now)
    stored = block((study.verdicts_path.parent / "README.md").read_text("utf-8"))
    if stored != wrap((folder / README).read_text("utf-8")):
        lines.append("README.md: the results differ from those of this run")
    return [f"{study.name}: {line}" for line in lines]


def main(arguments: Sequence[str]) -> int:
    """Store (or, with `--check`, compare) the verdicts in a folder; return the exit status."""
    from aqmlab import studies

    only_check = "--check" in arguments
    (root,) = (Path(argument) for argument in arguments if argument != "--check")
    candidates = [root, *(root / name for name in studies.names())]
    folders = [folder for folder in candidates if (folder / MANIFEST).exists()]
    if not folders:
        raise ValueError(
            f"{root}: has no {MANIFEST} of a study; give the folder that `aqmlab reproduce` wrote"
        )
    lines = []
    for folder in folders:
        name = json.loads((folder / MANIFEST).read_text("utf-8"))["study"]
        study = studies.load(name)
        if only_check:
            lines += check(folder, study)
        else:
            store(folder, study)
            print(f"{name}: stored")
    print("\n".join(lines), end="\n" * bool(lines))
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
