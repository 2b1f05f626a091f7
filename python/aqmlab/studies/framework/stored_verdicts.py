"""Stored verdicts of a run of a whole study, and the results in the study's README.

    aqmlab reproduce --all --out results/all
    python -m aqmlab.studies.framework.stored_verdicts results/all

The command stores the verdicts of every study of a whole run: `verdicts.csv` beside the study's
claims, and the results in its README, between two marks. The folder may also be the folder of one
study. The files of a study without a folder stay unchanged. With `--check` the command writes
nothing and prints every difference. With `--check` the exit status is 1 if a difference exists.
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
)

if TYPE_CHECKING:
    from aqmlab.studies.framework.study import Study

COLUMNS = ("id", "basis", "ours", "verdict")
"""Columns of verdicts.csv."""
BEGIN = "<!-- begin of results: python -m aqmlab.studies.framework.stored_verdicts writes them -->"
"""Mark in a README before the results that a whole run writes."""
END = "<!-- end of results -->"
"""Mark in a README behind the results that a whole run writes."""
WIDTH = 100
"""Maximum length of a line of Markdown outside of tables."""


@dataclass(frozen=True)
class StoredClaim:
    """One stored claim: its class, our number and the verdict."""

    basis: str
    ours: str
    verdict: str


def read_claims(path: Path) -> dict[str, StoredClaim]:
    """Return the claims of a CSV file by their ids, or an empty dict if the file is missing."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["id"]: StoredClaim(row["basis"], row["ours"], row["verdict"]) for row in rows}


def read_verdicts(path: Path) -> dict[str, str]:
    """Return the stored verdict of each claim by its id."""
    return {claim_id: claim.verdict for claim_id, claim in read_claims(path).items()}


def score(claims: Iterable[tuple[str, str]]) -> str:
    """Return the score of claims in one or two sentences.

    Parameters
    ----------
    claims : iterable of (str, str)
        Class and verdict of each claim.

    Examples
    --------
    >>> score([(MEASURED, REPRODUCED), (MEASURED, OPEN), (INPUT, REPRODUCED)])
    '1 of 2 measured claims reproduced, 0 contradicted, 1 open. Not counted: 1 input or arithmetic.'
    """
    every = list(claims)
    counts = Counter(verdict for basis, verdict in every if basis == MEASURED)
    by_class = Counter(basis for basis, _ in every)
    good = counts[REPRODUCED] + counts[SINGLE_RUN]
    total = good + counts[CONTRADICTED] + counts[OPEN]
    single = f" ({counts[SINGLE_RUN]} as a single run)" if counts[SINGLE_RUN] else ""
    text = (
        f"{good} of {total} measured claims reproduced{single}, {counts[CONTRADICTED]} "
        f"contradicted, {counts[OPEN]} open."
    )
    not_counted = [(by_class[basis], basis) for basis in (INPUT, FITTED)]
    not_counted += [(counts[verdict], verdict) for verdict in (NOT_TESTABLE, NOT_MEASURED)]
    if listed := ", ".join(f"{n} {reason}" for n, reason in not_counted if n):
        text += f" Not counted: {listed}."
    return text


@dataclass(frozen=True)
class Agreement:
    """Ids of the testable claims of a quick form, by agreement with the verdict of the whole study.

    Attributes
    ----------
    same : tuple of str
        Claims with the verdict of the whole study.
    other : tuple of str
        Claims with another verdict.
    open : tuple of str
        Claims that only the quick form leaves open.
    absent : tuple of str
        Claims whose runs the quick form leaves out.
    """

    same: tuple[str, ...]
    other: tuple[str, ...]
    open: tuple[str, ...]
    absent: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Text with the number of equal verdicts, and the ids of the claims with other verdicts."""
        decided = len(self.same) + len(self.other)
        parts = [f"{len(self.same)} of {decided} verdicts are those of the whole study"]
        for reason, ids in (
            ("other verdicts", self.other),
            ("open because of few replications", self.open),
            ("not in the quick form", self.absent),
        ):
            parts += [f"{reason}: {', '.join(ids)}"] if ids else []
        return f"{'; '.join(parts)}."


def compare(claims: Sequence[tuple[Published, Decision]], whole: Mapping[str, str]) -> Agreement:
    """Compare the verdicts of a quick form with those of the whole study.

    Claims that are not testable, or not measured by the engine, are left out.
    """
    groups: dict[str, list[str]] = {"same": [], "other": [], OPEN: [], ABSENT: []}
    for claim, decision in claims:
        was, now = whole[claim.id], decision.verdict
        undecided = now if now in (OPEN, ABSENT) else "other"
        if was != NOT_TESTABLE and now != NOT_MEASURED:
            groups["same" if now == was else undecided].append(claim.id)
    return Agreement(*(tuple(ids) for ids in groups.values()))


def claims_of_run(folder: Path, items: Sequence[str]) -> dict[str, StoredClaim]:
    """Return the claims in the folder of a whole run.

    Raises
    ------
    ValueError
        If the folder does not hold the whole study: a quick form, some of its items, or changed
        assumptions.
    """
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    if manifest["quick"] or manifest["changes"] or manifest["items"] != list(items):
        raise ValueError(
            f"{folder}: does not have the whole study; run `aqmlab reproduce` without --quick, "
            "--only and --set"
        )
    return read_claims(folder / CLAIMS)


def differences(stored: Mapping[str, StoredClaim], now: Mapping[str, StoredClaim]) -> list[str]:
    """Return one line for each claim whose class or verdict differs from the stored claim's.

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
    """Return the block of results in a README, without the marks around the block.

    Raises
    ------
    ValueError
        If a mark of the block of results is missing.
    """
    if readme.count(BEGIN) != 1 or END not in readme.split(BEGIN)[1]:
        raise ValueError(f"README.md: the marks {BEGIN!r} and {END!r} are missing; add both")
    return readme.split(BEGIN)[1].split(END)[0].strip("\n")


def wrap(text: str) -> str:
    """Return Markdown whose paragraphs and points have short lines; tables stay unchanged.

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
    """Return a README whose block of results is replaced."""
    block(readme)
    before, rest = readme.split(BEGIN)
    return f"{before}{BEGIN}\n\n{wrap(text)}\n\n{END}{rest.split(END, 1)[1]}"


def store(folder: Path, study: Study) -> None:
    """Store the verdicts of a whole run, and its results in the study's README.

    Raises
    ------
    ValueError
        If the folder does not hold the whole study.
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
    """Return the differences of a whole run from the stored verdicts and the README."""
    now = claims_of_run(folder, [item.name for item in study.items])
    lines = differences(read_claims(study.verdicts_path), now)
    stored = block((study.verdicts_path.parent / "README.md").read_text("utf-8"))
    if stored != wrap((folder / README).read_text("utf-8")):
        lines.append("README.md: its results are not those of this run")
    return [f"{study.name}: {line}" for line in lines]


def main(arguments: Sequence[str]) -> int:
    """Store the verdicts of a folder, or compare them with `--check`; return the exit status."""
    from aqmlab import studies

    only_check = "--check" in arguments
    (root,) = (Path(argument) for argument in arguments if argument != "--check")
    candidates = [root, *(root / name for name in studies.names())]
    folders = [folder for folder in candidates if (folder / MANIFEST).exists()]
    if not folders:
        raise ValueError(f"{root}: has no study's {MANIFEST}; give the folder of a whole run")
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
