"""Claims of a study measured over the TCP of Linux, beside the simulation.

    aqmlab reproduce rfc2884 --engine testbed:kernel --only transactions --out results/measured
    python -m aqmlab.studies.framework.measured results/measured

The first command runs items of a study over a testbed. The second command writes the numbers and
the verdicts of the decided claims into the study's `measured.json`. Several folders of one study
are merged; a later folder replaces claims of an earlier one. The report of a simulation then shows
the published, the simulated and the measured number of each claim.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.estimates import Estimate
from aqmlab.report import Entry, Table
from aqmlab.studies.framework.claims import Decision, Published
from aqmlab.studies.framework.files import CLAIMS, MANIFEST
from aqmlab.studies.framework.show import KINDS
from aqmlab.studies.framework.verdicts import CONTRADICTED, DECIDED, SINGLE_RUN

if TYPE_CHECKING:
    from aqmlab.studies.framework.study import Study

NAME = "measured.json"
"""Name of the file in the folder of a study."""


@dataclass(frozen=True)
class MeasuredClaim:
    """Decision on a claim over a testbed: our number as text and as estimate, and the verdict."""

    ours: str
    verdict: str
    estimate: Estimate | None


@dataclass(frozen=True)
class Measured:
    """Claims of a study that were measured over a testbed.

    Attributes
    ----------
    hosts : str
        Description of the hosts, in sentences.
    replications : int
        Largest number of replications of a setting.
    claims : dict
        Decision on each measured claim, by claim id.
    """

    hosts: str = ""
    replications: int = 0
    claims: Mapping[str, MeasuredClaim] = field(default_factory=dict)

    @property
    def estimates(self) -> dict[str, Estimate]:
        """Measured numbers by claim id."""
        return {i: one.estimate for i, one in self.claims.items() if one.estimate is not None}


def read(study: Study) -> Measured:
    """Return the measured claims of a study; without the file, there are none."""
    path = study.verdicts_path.with_name(NAME)
    if not path.exists():
        return Measured()
    stored = json.loads(path.read_text("utf-8"))
    claims = {
        claim_id: MeasuredClaim(row["ours"], row["verdict"], _estimate(row))
        for claim_id, row in stored["claims"].items()
    }
    return Measured(stored["hosts"], stored["replications"], claims)


def _estimate(row: Mapping[str, Any]) -> Estimate | None:
    if row.get("value") is None:
        return None
    low, high = (math.nan if row[k] is None else row[k] for k in ("low", "high"))
    return Estimate("measured", row["value"], low, high, row["n"])


def sentence(measured: Measured, claims: Iterable[tuple[Published, Decision]]) -> str:
    """Return how often the simulation and the measurement have the same verdict, as text."""
    verdicts = [
        (_plain(decision.verdict), _plain(measured.claims[claim.id].verdict))
        for claim, decision in claims
        if claim.counted and claim.id in measured.claims and decision.verdict in DECIDED
    ]
    same = sum(a == b for a, b in verdicts)
    against = sum(a == CONTRADICTED for a, _ in verdicts)
    both = sum(a == b == CONTRADICTED for a, b in verdicts)
    return (
        f"{len(verdicts)} counted claims have both a simulated and a measured number. In {same} of "
        f"them both verdicts are equal. The simulation contradicts the publication in {against} of "
        f"them, and the kernel contradicts it in {both} of these {against}."
    )


def _plain(verdict: str) -> str:
    return "reproduced" if verdict == SINGLE_RUN else verdict


def table(measured: Measured, claims: Iterable[tuple[Published, Decision]]) -> Table | None:
    """Return the table of published, simulated and measured numbers; None without any."""
    rows: list[list[str | Entry]] = []
    for claim, decision in claims:
        one = measured.claims.get(claim.id)
        if one is None:
            continue
        rows.append(
            [claim.id, Entry(f"{claim.statement} ({claim.scenario})", prose=True), claim.printed,
             Entry(decision.ours or "–", decision.verdict, KINDS.get(decision.verdict, "")),
             Entry(one.ours or "–", one.verdict, KINDS.get(one.verdict, ""))]
        )  # fmt: skip
    head = ["Claim", "Statement", "Published", "Simulated", "Measured"]
    return Table("", head, rows) if rows else None


def store(folders: Sequence[Path], study: Study) -> Path:
    """Write the claims of testbed runs into the study's file, and return the path of the file.

    Raises
    ------
    ValueError
        If a folder does not contain runs over a testbed, or has changed assumptions.
    """
    path = study.verdicts_path.with_name(NAME)
    claims: dict[str, dict[str, Any]] = {}
    hosts, replications = "", 0
    for folder in folders:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        if manifest["hosts"] == "simulated" or manifest["changes"] or manifest["quick"]:
            raise ValueError(
                f"{folder}: has no whole items over a testbed; run `aqmlab reproduce` with "
                "--engine testbed:kernel, without --quick and --set"
            )
        hosts = manifest["hosts"]
        replications = max(replications, manifest["replications"])
        for row in _rows(folder / CLAIMS):
            if row["verdict"] in DECIDED:
                numbers = {k: float(row[k]) if row[k] else None for k in ("value", "low", "high")}
                count = {"n": int(row["n"])} if row["n"] else {}
                claims[row["id"]] = {"ours": row["ours"], "verdict": row["verdict"]} | (
                    numbers | count if numbers["value"] is not None else {}
                )
    stored = {"hosts": hosts, "replications": replications, "claims": claims}
    path.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return path


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main(arguments: Sequence[str]) -> int:
    """Store the claims of testbed runs; each argument is a folder of `aqmlab reproduce`."""
    from aqmlab import studies

    by_study: dict[str, list[Path]] = {}
    for folder in map(Path, arguments):
        name = json.loads((folder / MANIFEST).read_text("utf-8"))["study"]
        by_study.setdefault(name, []).append(folder)
    for name, folders in by_study.items():
        print(f"{name}: {store(folders, studies.load(name))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
