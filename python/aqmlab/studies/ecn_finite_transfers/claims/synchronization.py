"""Claims of the section "The case of global synchronization"."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from statistics import fmean

from aqmlab.studies.ecn_finite_transfers import synchronization
from aqmlab.studies.ecn_finite_transfers.claims.registry import CLAIMS
from aqmlab.studies.ecn_finite_transfers.epochs import epochs, full_queue_rtt_s
from aqmlab.studies.ecn_finite_transfers.scenarios import Setting
from aqmlab.studies.framework.claims import Decision, Published, condition, direction
from aqmlab.studies.framework.runs import Runs

TAIL_64 = Setting(2, "DT", 64)
MOSTLY = 50.0
"""Share in % above which an event counts as frequent."""
IDLE = 10.0
"""Idle time in % above which the bottleneck counts as underused."""


@CLAIMS.decides("EF-059", items=["lock-out"])
def losses_synchronized_at_first(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the share of early congestion epochs with losses of both clients."""

    def shares(of: Runs) -> tuple[float, float]:
        before: list[bool] = []
        after: list[bool] = []
        for run in of.of(TAIL_64):
            incidents = epochs(run, full_queue_rtt_s(TAIL_64)).before(run.time_s.min())
            early = incidents.start_s <= claim.value
            before.extend(incidents.losers[early] == 2)
            after.extend(incidents.losers[~early] == 2)
        first, last = (
            100 * fmean(map(float, part)) if part else math.nan for part in (before, after)
        )
        return first, last

    first, last = shares(runs)
    text = (
        f"Both clients lose packets in {first:.0f} % of the congestion epochs until "
        f"{claim.value:g} s, and in {last:.0f} % of the later epochs, over all replications."
    )
    return condition(runs, lambda of: shares(of)[0] - MOSTLY, f"{first:.0f} % until then", text)


@CLAIMS.decides("EF-076", items=["synchronization"])
def no_global_synchronization(runs: Runs, claim: Published) -> Decision:
    """Decide the claim that no setting has both simultaneous timeouts and an idle link."""
    seen = {at: synchronization.measured(runs, at) for at in synchronization.SETTINGS}

    def distance(shared: float, idle: float) -> float:
        """Return the larger gap between a threshold and a measured share, in percentage points."""
        return max(MOSTLY - (0.0 if math.isnan(shared) else shared), IDLE - idle)

    margins = [
        min(distance(t.retransmissions, t.idle) for t in of_one)
        for of_one in zip(*seen.values(), strict=True)
    ]
    shares = {at: _mean(t.retransmissions for t in indices) for at, indices in seen.items()}
    idles = {at: _mean(t.idle for t in indices) for at, indices in seen.items()}
    observed = [
        f"n={at.n} {at.scheme} limit {at.limit}"
        for at in seen
        if shares[at] > MOSTLY and idles[at] > IDLE
    ]
    calm = sum(math.isnan(t.retransmissions) for indices in seen.values() for t in indices)
    text = (
        "Rule: synchronization means that more than half of the clients share most timeouts, and "
        f"that the bottleneck is idle for more than {IDLE:g} % of the time. In {len(seen)} "
        "settings with limits 64 and 16, the highest share of such timeouts is "
        f"{max(shares.values()):.0f} %, and the longest idle time {max(idles.values()):.1f} %"
        f"{'; synchronized: ' + ', '.join(observed) if observed else ''}."
        f"{f' {calm} runs have no timeouts.' if calm else ''} "
        "Gap between the thresholds of synchronization and the setting closest to synchronization, "
        "in percentage points:"
    )
    indices = direction(replace(claim, value=1), margins, text)
    return replace(indices, ours="1" if observed else "0")


def _mean(values: Iterable[float]) -> float:
    """Return the mean of the values that are not NaN, or 0 if all values are NaN."""
    known = [v for v in values if not math.isnan(v)]
    return fmean(known) if known else 0.0
