"""Claims of the section "Experimental methodology": the baseline, and rules for queue limits."""

from __future__ import annotations

import math

import numpy as np

from aqmlab.studies.ecn_finite_transfers import baseline, efficiency
from aqmlab.studies.ecn_finite_transfers.baseline import QUARTER_SECOND, SAME_TIME
from aqmlab.studies.ecn_finite_transfers.claims.registry import CLAIMS
from aqmlab.studies.ecn_finite_transfers.scenarios import (
    BOTTLENECK_BPS,
    RECEIVE_WINDOW_BYTES,
    SEGMENT_BYTES,
    Setting,
)
from aqmlab.studies.ecn_finite_transfers.transfers import Transfers
from aqmlab.studies.framework.claims import (
    EXACT,
    Decision,
    Published,
    exactly,
    holds,
    value,
    whole,
)
from aqmlab.studies.framework.runs import Runs

BUFFERED_IN_NETWORK = 5
"""Number of segments in the network outside the queue, which the study calls s (EF-007)."""


def _baseline(runs: Runs) -> list[Transfers]:
    return runs.of(baseline.setting())


@CLAIMS.decides("EF-001", items=["baseline"])
def file_size(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the acknowledged bytes of one download, converted to MiB."""
    acked = {int(run.acked_bytes[0]) for run in _baseline(runs)}
    megabytes = max(acked) / 2**20
    return holds(
        acked == {int(claim.value) * 2**20}, megabytes, f"Every run acknowledges {max(acked)} B."
    )


@CLAIMS.decides("EF-002", items=["baseline"])
def baseline_time(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the completion time of the single download."""
    return value(claim, [run.time_s[0] for run in _baseline(runs)], QUARTER_SECOND)


@CLAIMS.decides("EF-003", items=["baseline"])
def baseline_goodput(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the goodput of the single download."""
    return value(claim, [run.goodput_kbps[0] for run in _baseline(runs)], SAME_TIME)


@CLAIMS.decides("EF-004", items=["baseline"])
def baseline_efficiency(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the goodput efficiency of the single download."""
    return value(claim, [run.efficiency_percent for run in _baseline(runs)], SAME_TIME)


@CLAIMS.decides("EF-005", items=["baseline"])
def smallest_limit_without_drops(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the smallest queue limit that has no drops."""
    settings = {limit: baseline.setting(limit) for limit in baseline.LIMITS}

    def smallest(of: Runs) -> float:
        return min((q for q, at in settings.items() if not _most_drops(of, at)), default=0)

    drops = {limit: _most_drops(runs, at) for limit, at in settings.items()}
    return whole(
        claim, runs, smallest, EXACT, f"Maximum drops of any replication, by queue limit: {drops}."
    )


def _bdp_kbit(rtt_s: float) -> float:
    return BOTTLENECK_BPS * rtt_s / 1000


def _segments(kbit: float) -> float:
    return kbit * 1000 / 8 / SEGMENT_BYTES


def _measured_rtt_s(runs: Runs) -> float:
    """Return the round-trip time of the handshake, whose 40-byte packets cross three links."""
    return float(np.median([run.handshake_s[0] for run in _baseline(runs)]))


@CLAIMS.decides("EF-006", items=["baseline"])
def bdp_of_the_bottleneck(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the bottleneck's rate times its round-trip propagation delay."""
    network = _baseline(runs)[0].manifest["scenario"]["network"]
    rate, delay = network["rate"], network["delay"]
    kbit = _bdp_kbit(2 * baseline.setting().delay_ms / 1000)
    return holds(
        math.isclose(kbit, claim.value), kbit, f"The bottleneck of the runs has {rate} and {delay}."
    )


@CLAIMS.decides("EF-007", items=["baseline"])
def bdp_in_segments(_runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the bandwidth-delay product of the bottleneck in whole segments."""
    segments = _segments(_bdp_kbit(2 * baseline.setting().delay_ms / 1000))
    evidence = f"60 kbit are {segments:.3f} segments of {SEGMENT_BYTES} B."
    return holds(math.floor(segments) == claim.value, segments, evidence)


@CLAIMS.decides("EF-008", items=["baseline"])
def bdp_of_the_path(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the bottleneck's rate times the round trip measured without a queue."""
    rtt_s = _measured_rtt_s(runs)
    return exactly(
        claim, _bdp_kbit(rtt_s), f"Round-trip time of the handshake: {1000 * rtt_s:.3f} ms."
    )


@CLAIMS.decides("EF-009", items=["baseline"])
def bdp_of_the_path_in_segments(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the measured bandwidth-delay product in segments."""
    rtt_s = _measured_rtt_s(runs)
    ours = _segments(_bdp_kbit(rtt_s))
    return exactly(claim, ours, f"Round-trip time of the handshake: {1000 * rtt_s:.3f} ms.")


@CLAIMS.decides("EF-010", items=["baseline"])
def limit_from_the_path(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the measured bandwidth-delay product, rounded up to segments."""
    limit = math.ceil(_segments(_bdp_kbit(_measured_rtt_s(runs))))
    return holds(
        limit == claim.value,
        limit,
        "The bandwidth-delay product by the measured round-trip time, rounded up to whole "
        "segments.",
    )


@CLAIMS.decides("EF-011", items=["baseline", "figure-2", "figure-3", "figure-4"])
def no_drops_when_every_window_fits(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the drops in each Drop Tail setting that satisfies the study's rule."""
    settings = [baseline.setting(limit) for limit in baseline.LIMITS]
    settings += [Setting(n, "DT", q) for n in (2, 5, 10) for q in efficiency.limits_of(n)]
    fits = [s for s in settings if s.limit + BUFFERED_IN_NETWORK > claim.value * s.n]
    dropped = {f"n={s.n} limit {s.limit}": _most_drops(runs, s) for s in fits}
    window = RECEIVE_WINDOW_BYTES // SEGMENT_BYTES
    return holds(
        not any(dropped.values()) and len(fits) < len(settings),
        window,
        f"Rule: no replication has drops. Maximum drops of any replication: {dropped}.",
    )


def _most_drops(runs: Runs, setting: Setting) -> int:
    return max(int(run.dropped.sum()) for run in runs.of(setting))
