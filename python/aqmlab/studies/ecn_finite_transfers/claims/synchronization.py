"""Claims of "The case of global synchronization"."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import fmean

from aqmlab.studies.ecn_finite_transfers import synchronization
from aqmlab.studies.ecn_finite_transfers.claims.registry import CLAIMS
from aqmlab.studies.ecn_finite_transfers.epochs import epochs, full_queue_rtt_s
from aqmlab.studies.ecn_finite_transfers.scenarios import Setting
from aqmlab.studies.framework.claims import Decision, Published, holds
from aqmlab.studies.framework.runs import Runs

TAIL_64 = Setting(2, "DT", 64)
MOSTLY = 50.0
"""Share in % from which something happens mostly."""
IDLE = 10.0
"""Idle time of the bottleneck in % from which it is underused."""


@CLAIMS.decides("EF-059", items=["lock-out"])
def losses_synchronized_at_first(runs: Runs, claim: Published) -> Decision:
    """Decide by the share of epochs in which both lose, before and after the printed time."""
    before: list[bool] = []
    after: list[bool] = []
    for run in runs.of(TAIL_64):
        found = epochs(run, full_queue_rtt_s(TAIL_64)).before(run.time_s.min())
        early = found.start_s <= claim.value
        before.extend(found.losers[early] == 2)
        after.extend(found.losers[~early] == 2)
    shares = [100 * fmean(map(float, part)) if part else math.nan for part in (before, after)]
    return holds(
        shares[0] > MOSTLY,
        f"{shares[0]:.0f} % until then",
        f"Epochs in which both lose: {shares[0]:.0f} % of {len(before)} until {claim.value:g} s, "
        f"{shares[1]:.0f} % of {len(after)} after, over all replications.",
    )


@CLAIMS.decides("EF-076", items=["synchronization"])
def no_global_synchronization(runs: Runs, claim: Published) -> Decision:
    """Decide by settings in which most timeouts coincide and the link idles for it."""
    observed, most_shared, most_idle, calm = [], 0.0, 0.0, 0
    for setting in synchronization.SETTINGS:
        seen = synchronization.measured(runs, setting)
        shared = _mean(t.retransmissions for t in seen)
        idle = _mean(t.idle for t in seen)
        calm += sum(math.isnan(t.retransmissions) for t in seen)
        most_shared, most_idle = max(most_shared, shared), max(most_idle, idle)
        if shared > MOSTLY and idle > IDLE:
            observed.append(f"n={setting.n} {setting.scheme} limit {setting.limit}")
    return holds(
        bool(observed) == bool(claim.value),
        "1" if observed else "0",
        f"Observed: most timeouts shared by more than half of the clients and the bottleneck idle "
        f"for more than {IDLE:g} %. In {len(synchronization.SETTINGS)} settings, limits 64 and 16, "
        f"the highest share is {most_shared:.0f} %, the longest idle time {most_idle:.1f} %"
        f"{'; met by ' + ', '.join(observed) if observed else ''}."
        f"{f' {calm} runs have no timeout and no share.' if calm else ''}",
    )


def _mean(values: Iterable[float]) -> float:
    """Return the mean of what is known; 0 if nothing is."""
    known = [v for v in values if not math.isnan(v)]
    return fmean(known) if known else 0.0
