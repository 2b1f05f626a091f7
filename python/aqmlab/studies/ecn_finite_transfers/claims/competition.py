"""Claims of "Does ECN offer a competitive advantage": five and ten clients, limit 64.

A published number of a named client is compared with the client in the same role, which is the
slowest client without ECN in each replication.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from aqmlab import estimates
from aqmlab.estimates import number
from aqmlab.studies.ecn_finite_transfers import migration
from aqmlab.studies.ecn_finite_transfers.claims.registry import (
    CLAIMS,
    FEW,
    HALF_SECOND,
    PERCENT,
    SECONDS,
)
from aqmlab.studies.ecn_finite_transfers.printed_tables import DROPPED
from aqmlab.studies.ecn_finite_transfers.scenarios import Setting
from aqmlab.studies.ecn_finite_transfers.transfers import Transfers
from aqmlab.studies.framework.claims import (
    Decision,
    Published,
    direction,
    not_testable,
    value,
)
from aqmlab.studies.framework.runs import Runs
from aqmlab.studies.framework.verdicts import Tolerance

DROPS = {"EF-045": "DT", "EF-047": "RED-A", "EF-049": "ECN-A"}
SPREADS = {"EF-046": "DT", "EF-048": "RED-A", "EF-050": "ECN-A"}
WHOLE_PERCENT = Tolerance.of(
    "0.5 percentage points (printed as a whole number)", 0.5, single_run=True
)
ITEMS = ["migration"]
SLOWEST = "Number of the client that is slowest without ECN, in each replication."


@CLAIMS.decides(*DROPS, items=["figure-3"])
def drops_of_five(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the drops of all five clients."""
    chosen = runs.of(Setting(5, DROPS[claim.id], 64))
    return value(claim, [float(run.dropped.sum()) for run in chosen], DROPPED)


@CLAIMS.decides(*SPREADS, items=["figure-3"])
def spread_of_five(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the ratio of the slowest to the fastest download time."""
    chosen = runs.of(Setting(5, SPREADS[claim.id], 64))
    of_slowest = estimates.median(100 * (1 - run.time_s.min() / run.time_s.max()) for run in chosen)
    text = (
        f"Relative to the fastest client. Relative to the slowest it is {of_slowest} %. The study "
        "does not define its reference (published/notes.md)."
    )
    return value(claim, [run.spread_percent for run in chosen], PERCENT, text)


Measure = Callable[[Transfers, Transfers, int], float]
"""Function of a run without ECN, the same run with it, and the slowest client without it."""


def _pairs(runs: Runs, n: int) -> list[tuple[Transfers, Transfers, int]]:
    """Return the runs and the client that a measure reads, one tuple per replication."""
    with_ecn = migration.runs_with_ecn(runs, n, 1)
    without = runs.of(migration.WITHOUT[n])
    return list(zip(without, with_ecn, migration.worst(runs, n), strict=True))


MEASURED: tuple[tuple[str, int, Measure, Tolerance], ...] = (
    ("EF-051", 5, lambda without, _, c: float(without.dropped[c]), FEW),
    ("EF-052", 5, lambda _, ecn, c: float(ecn.dropped[c]), FEW),
    ("EF-053", 5, lambda without, ecn, c: float(without.time_s[c] - ecn.time_s[c]), SECONDS),
    ("EF-054", 5, lambda _, ecn, c: float(100 * ecn.marked[c] / ecn.sent[c]), WHOLE_PERCENT),
    ("EF-055", 10, lambda without, _, c: float(without.time_s[c]), HALF_SECOND),
    ("EF-056", 10, lambda _, ecn, c: float(ecn.time_s[c]), HALF_SECOND),
    ("EF-057", 10, lambda without, ecn, c: float(without.dropped[c] - ecn.dropped[c]), FEW),
)
"""Printed numbers: claim, number of clients, measure of a replication, tolerance."""


def _register(claim_id: str, n: int, measure: Measure, rule: Tolerance) -> None:
    def decide(runs: Runs, claim: Published) -> Decision:
        return value(claim, [measure(*pair) for pair in _pairs(runs, n)], rule, SLOWEST)

    CLAIMS.decides(claim_id, items=ITEMS)(decide)


for _row in MEASURED:
    _register(*_row)


@CLAIMS.decides("EF-058", items=ITEMS)
def rank_of_ten(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the lead of the client with ECN over the best other client."""
    pairs = [(with_ecn, client) for _, with_ecn, client in _pairs(runs, 10)]
    ranks = [migration.rank(*pair) for pair in pairs]
    first = sum(rank == 1 for rank in ranks)
    leads = [
        float(np.delete(with_ecn.time_s, client).min() - with_ecn.time_s[client])
        for with_ecn, client in pairs
    ]
    text = (
        f"{SLOWEST} It finishes first in {first} of {len(ranks)} replications; "
        f"median rank {np.median(ranks):g}. Lead over the best other client in s."
    )
    return replace(direction(claim, leads, text), ours=str(estimates.median(ranks)))


@CLAIMS.decides("EF-067", items=ITEMS)
def related_work(_runs: Runs, _claim: Published) -> Decision:
    """Return the decision on a number of another study, which no run of ours can decide."""
    return not_testable(
        "The number is quoted from another study. This study does not describe that network and "
        "traffic in enough detail to run them."
    )


@CLAIMS.decides("EF-075", items=ITEMS)
def minimum_goodput_rises(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the lowest goodput of five clients with ECN minus that without ECN."""
    lowest = {
        count: [run.goodput_kbps.min() for run in migration.runs_with_ecn(runs, 5, count)]
        for count in (0, 1, 2, 5)
    }
    by_count = ", ".join(f"{count}: {number(float(np.median(g)))}" for count, g in lowest.items())
    gains = [float(b - a) for a, b in zip(lowest[0], lowest[5], strict=True)]
    text = f"Lowest goodput in kbit/s by clients with ECN: {by_count}. All five against none:"
    return direction(claim, gains, text)
