"""Claims of a study measured over the TCP of Linux, beside the simulation.

    python -m aqmlab.studies.framework.measured rfc2884 R2-009 R2-010 --replications 3

The command runs the scenarios that the claims need over a testbed, and writes the number and the
verdict of each claim into the study's `measured.json`. Claims that the file has already are kept,
unless they are measured again. With `--store`, finished runs are not repeated.

The command also simulates the claims with the hosts of the testbed, the stack `linux`. The report
of a simulation then has four numbers for each claim: published, simulated with the hosts of the
publication, simulated with the hosts of the testbed, and measured. The last two differ by faults of
the simulator, and the second and the third by the hosts. Without claims, the command only repeats
the simulation of all measured claims, which a change of the simulator needs.
"""

from __future__ import annotations

import json
import math
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.engine import Engine, Hosting, Simulator
from aqmlab.engine.testbed.hosts import hosted
from aqmlab.estimates import Estimate
from aqmlab.report import Entry, Table
from aqmlab.store import Store
from aqmlab.studies.framework.claims import Decision, Published
from aqmlab.studies.framework.show import KINDS
from aqmlab.studies.framework.verdicts import CONTRADICTED, DECIDED, SINGLE_RUN

if TYPE_CHECKING:
    from aqmlab.studies.framework.study import Study

NAME = "measured.json"
"""Name of the file in the folder of a study."""
REPLICATIONS = 20
"""Maximum number of replications of a simulation with the hosts of the testbed."""
EQUAL = 0.02
"""Relative difference up to which a simulated and a measured number count as equal."""


class SimulatedHosts(Simulator):
    """Simulator with the hosts of the testbed in place of those of a publication."""

    hosts = "The simulated hosts have the stack `linux`."

    def hosted(self, scenario: Mapping[str, Any]) -> dict[str, Any]:
        """Return a scenario with the hosts of the testbed; see :class:`aqmlab.engine.Hosting`."""
        return hosted(scenario)


@dataclass(frozen=True)
class MeasuredClaim:
    """Decision on a claim over a testbed, or with the hosts of a testbed.

    `ours` is our number as text, and `estimate` the number with its interval.
    """

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
    simulated : dict
        Decision on each claim by a simulation with the hosts of the testbed, by claim id.
    """

    hosts: str = ""
    replications: int = 0
    claims: Mapping[str, MeasuredClaim] = field(default_factory=dict)
    simulated: Mapping[str, MeasuredClaim] = field(default_factory=dict)

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
    rows = stored["claims"].items()
    most = max(row["replications"] for _, row in rows)
    claims = {claim_id: _claim(row) for claim_id, row in rows}
    simulated = {claim_id: _claim(row["simulated"]) for claim_id, row in rows}
    return Measured(stored["hosts"], most, claims, simulated)


def _claim(row: Mapping[str, Any]) -> MeasuredClaim:
    return MeasuredClaim(row["ours"], row["verdict"], _estimate(row))


def _estimate(row: Mapping[str, Any]) -> Estimate | None:
    if row.get("value") is None:
        return None
    low, high = (math.nan if row[k] is None else row[k] for k in ("low", "high"))
    return Estimate("measured", row["value"], low, high, row["n"])


def sentence(measured: Measured, claims: Iterable[tuple[Published, Decision]]) -> str:
    """Return how often simulation and measurement agree, as text."""
    ids = [claim.id for claim, _ in claims if claim.counted and claim.id in measured.claims]
    verdicts = [
        tuple(_plain(of[i].verdict) for of in (measured.simulated, measured.claims)) for i in ids
    ]
    same = sum(a == b for a, b in verdicts)
    opposite = sum({"reproduced", CONTRADICTED} == set(pair) for pair in verdicts)
    both = sum(a == b == CONTRADICTED for a, b in verdicts)
    pairs = [(measured.simulated[i].estimate, measured.claims[i].estimate) for i in ids]
    numbers = [(a, b) for a, b in pairs if a is not None and b is not None]
    near = sum(_agree(a, b) for a, b in numbers)
    return (
        f"{len(ids)} counted claims were measured, and simulated with the same hosts. Of the "
        f"{len(numbers)} that are numbers, {near} agree: their intervals overlap, or they differ "
        f"by at most {100 * EQUAL:g} %. The verdict is the same for {same} of {len(ids)} claims, "
        f"and opposite for {opposite or 'none'}. Simulation and kernel together contradict the "
        f"publication in {both} claims."
    )


def _agree(a: Estimate, b: Estimate) -> bool:
    overlap = a.low <= b.high and b.low <= a.high
    return overlap or abs(a.value - b.value) <= EQUAL * abs(b.value)


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
             *(Entry(of.ours or "–", of.verdict, KINDS.get(of.verdict, ""))
               for of in (decision, measured.simulated[claim.id], one))]
        )  # fmt: skip
    head = ["Claim", "Statement", "Published", "Simulated", "Simulated, hosts of the testbed",
            "Measured"]  # fmt: skip
    return Table("", head, rows) if rows else None


def measure(
    study: Study,
    claims: Iterable[str],
    engine: Engine,
    replications: int,
    store: Store | None = None,
) -> Iterator[tuple[Published, Decision]]:
    """Measure claims over an engine with hosts of its own, and store each of them.

    Parameters
    ----------
    study : Study
    claims : iterable of str
        Ids of the claims.
    engine : Engine
        Testbed.
    replications : int
        Number of replications of each setting, at least 1.
    store : Store, optional
        Store of finished runs.

    Yields
    ------
    (Published, Decision)
        Each claim after it was measured and stored.

    Raises
    ------
    ValueError
        If a claim is unknown, or the engine simulates the hosts.
    """
    if not isinstance(engine, Hosting):
        raise ValueError("engine: it simulates the hosts; use testbed:kernel or testbed:host")
    path = study.verdicts_path.with_name(NAME)
    stored = json.loads(path.read_text("utf-8")) if path.exists() else {"claims": {}}
    for claim_id in claims:
        claim, decision, runs = study.decide(
            claim_id, replications, engine=engine, store=store, every_series=False
        )
        missing = decision.estimate is not None and not decision.estimate.n
        if decision.verdict in DECIDED and not missing:
            row = _row(decision) | {"replications": replications}
            stored["claims"][claim_id] = row | {"simulated": _simulated(study, claim_id)}
            stored["hosts"] = runs.hosts
            _write(stored, path)
        yield claim, decision


def simulate(study: Study) -> None:
    """Simulate the measured claims again with the hosts of the testbed, and store the results.

    Raises
    ------
    ValueError
        If no claim of the study was measured.
    """
    path = study.verdicts_path.with_name(NAME)
    if not path.exists():
        raise ValueError(f"{study.name} has no measured claims; name the claims to measure")
    stored = json.loads(path.read_text("utf-8"))
    for claim_id, row in stored["claims"].items():
        row["simulated"] = _simulated(study, claim_id)
    _write(stored, path)


def _simulated(study: Study, claim_id: str) -> dict[str, Any]:
    count = min(REPLICATIONS, study.replications)
    return _row(study.decide(claim_id, count, engine=SimulatedHosts(), every_series=False)[1])


def _write(stored: dict[str, Any], path: Path) -> None:
    beside = path.with_suffix(".part")  # An interrupt must not leave half a file.
    beside.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", "utf-8")
    beside.replace(path)


def _row(decision: Decision) -> dict[str, Any]:
    """Return a decision as an object of the file."""
    row: dict[str, Any] = {"ours": decision.ours, "verdict": decision.verdict}
    of = decision.estimate
    if of is None or not of.n:
        return row
    low, high = (None if math.isnan(bound) else bound for bound in (of.low, of.high))
    return row | {"value": of.value, "low": low, "high": high, "n": of.n}


def main() -> None:
    """Measure claims of a study over a testbed, and print each of them."""
    from aqmlab import studies
    from aqmlab.engine import engine_named
    from aqmlab.store import FolderStore

    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=studies.names())
    parser.add_argument("claims", nargs="*", metavar="CLAIM")
    parser.add_argument("--engine", default="testbed:kernel")
    parser.add_argument("--replications", type=int, default=3)
    parser.add_argument("--store", type=Path)
    given = parser.parse_args()
    study = studies.load(given.study)
    try:
        if not given.claims:
            simulate(study)
            return
        with ExitStack() as stack:
            finished = stack.enter_context(FolderStore(given.store)) if given.store else None
            engine = engine_named(given.engine)
            every = measure(study, given.claims, engine, given.replications, finished)
            for claim, of in every:
                numbers = f"published {claim.printed}, measured {of.ours or '-'}"
                print(f"{claim.id}: {numbers}, {of.verdict}", flush=True)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        parser.exit(130, "interrupted; the claims above are stored\n")


if __name__ == "__main__":
    main()
