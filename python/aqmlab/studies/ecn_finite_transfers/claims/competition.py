"""Claims of the section "Does ECN offer a competitive advantage": five and ten clients.

The study gives numbers of one named client, which is the slowest client without ECN. The published
numbers of the named client are compared with those of the client that is slowest without ECN in
each of our replications.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from aqmlab import estimates
from aqmlab.estimates import number
from aqmlab.studies.ecn_finite_transfers import lock_out, migration
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
    "0.5 percentage points (published as a whole number)", 0.5, single_run=True
)
ITEMS = ["migration"]
SLOWEST = "Our number is the value of the client that is slowest without ECN in each replication."


@CLAIMS.decides(*DROPS, items=["figure-3"])
def drops_of_five(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the drops of all five clients."""
    chosen = runs.of(Setting(5, DROPS[claim.id], 64))
    return value(claim, [float(run.dropped.sum()) for run in chosen], DROPPED)


@CLAIMS.decides(*SPREADS, items=["figure-3"])
def spread_of_five(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the ratio of the slowest to the fastest download time."""
    chosen = runs.of(Setting(5, SPREADS[claim.id], 64))
    of_slowest = estimates.median(map(lock_out.lead_percent, chosen))
    text = (
        "The spread is in % of the fastest download time. In % of the slowest download time, the "
        f"spread is {of_slowest} %. The study does not define whether it uses the fastest or the "
        "slowest download time (published/notes.md)."
    )
    return value(claim, [run.spread_percent for run in chosen], PERCENT, text)


Measure = Callable[[Transfers, Transfers, int], float]
"""Function that computes a number for one client from a run without ECN and a run with ECN.

The client is the slowest client of the run without ECN.
"""


def _pairs(runs: Runs, n: int) -> list[tuple[Transfers, Transfers, int]]:
    """Return the arguments of a measure for each replication: two runs, and the slowest client."""
    with_ecn = migration.runs_with_ecn(runs, n, 1)
    without = migration.without_ecn(runs, n)
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
"""Claims with a published number: id, number of clients, measure of one replication, tolerance."""


def _register(claim_id: str, n: int, measure: Measure, rule: Tolerance) -> None:
    def decide(runs: Runs, claim: Published) -> Decision:
        return value(claim, [measure(*pair) for pair in _pairs(runs, n)], rule, SLOWEST)

    CLAIMS.decides(claim_id, items=ITEMS)(decide)


for _row in MEASURED:
    _register(*_row)


@CLAIMS.decides("EF-058", items=ITEMS)
def rank_of_ten(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the lead in s of the client with ECN over the fastest other client."""
    pairs = [(with_ecn, client) for _, with_ecn, client in _pairs(runs, 10)]
    ranks = [migration.rank(*pair) for pair in pairs]
    first = sum(rank == 1 for rank in ranks)
    leads = [
        float(np.delete(with_ecn.time_s, client).min() - with_ecn.time_s[client])
        for with_ecn, client in pairs
    ]
    text = (
        f"{SLOWEST} With ECN the formerly slowest client finishes first in {first} of "
        f"{len(ranks)} replications; its median rank is {np.median(ranks):g}. Lead in s over the "
        "fastest other client:"
    )
    return replace(direction(claim, leads, text), ours=str(estimates.median(ranks)))


@CLAIMS.decides("EF-067", items=ITEMS)
def related_work(_runs: Runs, _claim: Published) -> Decision:
    """Return "not testable" for a number that the study quotes from another study."""
    return not_testable(
        "The study quotes the number of this claim from another study, without enough detail "
        "about the network and the traffic of that study to simulate them."
    )


@CLAIMS.decides("EF-075", items=ITEMS)
def minimum_goodput_rises(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the increase of the lowest goodput if all five clients use ECN."""
    lowest = {
        count: [run.goodput_kbps.min() for run in migration.runs_with_ecn(runs, 5, count)]
        for count in (0, 1, 2, 5)
    }
    by_count = ", ".join(f"{count}: {number(float(np.median(g)))}" for count, g in lowest.items())
    gains = [float(b - a) for a, b in zip(lowest[0], lowest[5], strict=True)]
    text = (
        f"Lowest goodput in kbit/s, by number of clients with ECN: {by_count}. Difference between "
        "five clients with ECN and no client with ECN:"
    )
    return direction(claim, gains, text)
