"""Files of a reproduction: numbers, claims, figures, the list of runs, and the report."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.studies.framework.claims import Decision, Published
from aqmlab.studies.framework.files import CLAIMS, FALSIFICATION, FILES, MANIFEST, README
from aqmlab.studies.framework.verdicts import called

if TYPE_CHECKING:
    from aqmlab.estimates import Estimate
    from aqmlab.studies.framework.study import Reproduction

MADE_BY = "aqmlab reproduce"


def write(reproduction: Reproduction, folder: Path) -> None:
    """Write all files of a reproduction into a folder."""
    from aqmlab.figures import save_all
    from aqmlab.report import write_report
    from aqmlab.studies.framework.summary import readme, report

    _write_csv(folder / "cells.csv", _cells(reproduction))
    claims = [claim_row(*c, changed=bool(reproduction.changes)) for c in reproduction.claims]
    _write_csv(folder / CLAIMS, claims)
    if reproduction.falsification:
        _write_csv(folder / FALSIFICATION, reproduction.falsification.rows())
    _write_runs(folder / "runs.jsonl.gz", reproduction)
    figures = folder / "figures"
    figures.mkdir()
    about = f"{reproduction.study.name}; at most {reproduction.replications} replications"
    if opening := reproduction.opening_figure():
        save_all(opening.drawing, figures / opening.name, f"{opening.caption} ({about})")
    for section in reproduction.sections:
        for figure in section.figures:
            save_all(figure.drawing, figures / figure.name, f"{figure.caption} ({about})")
    for section in reproduction.sections:
        for file in section.files:
            (folder / FILES).mkdir(exist_ok=True)
            (folder / FILES / file.name).write_bytes(file.content)
    write_report(report(reproduction, figures), folder / "report.html")
    (folder / README).write_text(readme(reproduction) + "\n", "utf-8")
    (folder / MANIFEST).write_text(json.dumps(_manifest(reproduction), indent=2) + "\n", "utf-8")


def _cells(reproduction: Reproduction) -> list[dict[str, Any]]:
    name, changed = reproduction.study.name, bool(reproduction.changes)
    rows = [(cell, cell.row(name)) for cell in reproduction.cells]
    return [row | {"verdict": called(cell.verdict, changed=changed)} for cell, row in rows]


def claim_row(claim: Published, decision: Decision, *, changed: bool = False) -> dict[str, Any]:
    """Return a claim and its decision as a row of claims.csv."""
    return {
        "id": claim.id,
        "statement": claim.statement,
        "scenario": claim.scenario,
        "source": claim.source,
        "published": claim.value,
        "qualifier": claim.qualifier,
        "unit": claim.unit,
        "basis": claim.basis,
        "reason": claim.reason,
        "ours": decision.ours,
        **_numbers(decision.estimate),
        "verdict": called(decision.verdict, changed=changed),
        "evidence": decision.evidence,
    }


def _numbers(of: Estimate | None) -> dict[str, Any]:
    """Return an estimate as columns of claims.csv; the columns are empty without an estimate."""
    if of is None or not of.n:
        return dict.fromkeys(("value", "low", "high", "n"), "")
    return {"value": of.value, "low": of.low, "high": of.high, "n": of.n}


def _write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows to a CSV file; the columns have the order in which the rows first mention them."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _write_runs(path: Path, reproduction: Reproduction) -> None:
    """Write one line per run: its address, setting, replication, and manifest with the scenario."""
    with path.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as file:
        for setting, replication, run in reproduction.runs.items():
            line = {"run": run.address, **setting.columns(), "replication": replication}
            # The manifest is inserted as JSON text, because parsing a manifest and writing it again
            # takes as long as a run.
            file.write(f'{json.dumps(line)[:-1]}, "manifest": {run.manifest_text}}}\n'.encode())


def _manifest(reproduction: Reproduction) -> dict[str, Any]:
    from aqmlab import _core

    return {
        "made_by": MADE_BY,
        "study": reproduction.study.name,
        "version": _core.version(),
        "changes": dict(reproduction.changes),
        "hosts": reproduction.runs.hosts or "simulated",
        "seed": reproduction.seed,
        "falsified": reproduction.falsification is not None,
        "items": [item.name for item in reproduction.items],
        "quick": reproduction.quick,
        "replications": reproduction.replications,
        "runs": reproduction.runs.distinct(),
        "seconds": round(reproduction.seconds, 1),
    }
