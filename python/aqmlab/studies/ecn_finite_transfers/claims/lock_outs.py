"""Claims of the section "Lockouts": shares of the link, and progress, of two downloads.

Chance decides whether client C0 or client C1 is faster. If the study's faster client is C0, a
published number of C0 is therefore compared with the faster client of each replication.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from statistics import fmean

import numpy as np

from aqmlab.estimates import number
from aqmlab.statistics import jain
from aqmlab.studies.ecn_finite_transfers import efficiency, lock_out
from aqmlab.studies.ecn_finite_transfers.claims.registry import (
    ABOUT,
    CLAIMS,
    FEW,
    PERCENT,
    SECONDS,
)
from aqmlab.studies.ecn_finite_transfers.epochs import Epochs, epochs, full_queue_rtt_s
from aqmlab.studies.ecn_finite_transfers.printed_tables import DROPPED, GOODPUT, JAIN
from aqmlab.studies.ecn_finite_transfers.scenarios import FILE_BYTES, LIMITS, Setting
from aqmlab.studies.ecn_finite_transfers.transfers import Floats, Transfers
from aqmlab.studies.framework.claims import (
    EXACT,
    Decision,
    Published,
    condition,
    direction,
    not_testable,
    value,
    whole,
)
from aqmlab.studies.framework.runs import Runs
from aqmlab.studies.framework.verdicts import Tolerance, ratio

TAIL_64 = Setting(2, "DT", 64)
TAIL_8 = Setting(2, "DT", 8)
RED_128 = Setting(2, "RED-A", 128)

APART_BYTES = 0.025 * FILE_BYTES
"""Difference of two clients' data that is visible in a figure: 2.5 % of the file, or 0.5 MB."""

Measure = Callable[[Transfers], float]


def _drops_of(role: str) -> Measure:
    """Return a measure of the drops of the fastest or the slowest client."""
    return lambda run: float(run.dropped[getattr(run, role)])


def _incidents(run: Transfers) -> Epochs:
    """Return the congestion epochs while both clients run."""
    return epochs(run, full_queue_rtt_s(TAIL_64)).before(run.time_s.min())


def _slow_start_drops(run: Transfers, client: int, setting: Setting) -> float:
    """Return the number of drops within one round trip of a client's first drop, in slow start."""
    assert run.drops is not None
    lost = run.drops.time_s[run.drops.client == client]
    return float((lost < lost.min(initial=np.inf) + full_queue_rtt_s(setting)).sum())


def _slow_start_drops_of(role: str) -> Measure:
    return lambda run: _slow_start_drops(run, getattr(run, role), TAIL_64)


def _slow_start_drops_of_both(run: Transfers) -> float:
    return sum(_slow_start_drops(run, client, RED_128) for client in (0, 1))


def _apart(run: Transfers) -> float:
    return lock_out.first_difference(run, APART_BYTES)


def _nth(times: Floats, nth: int) -> float:
    return float(times[nth - 1]) if times.size >= nth else float("nan")


def _nth_shared(nth: int) -> Measure:
    """Return a measure: the time at which both clients lose packets for the nth time."""

    def measure(run: Transfers) -> float:
        incidents = _incidents(run)
        return _nth(incidents.start_s[incidents.losers == 2], nth)

    return measure


def _nth_alone(nth: int) -> Measure:
    """Return a measure: the nth time at which only the slower client loses packets."""

    def measure(run: Transfers) -> float:
        incidents = _incidents(run)
        alone = (incidents.losers == 1) & (incidents.lost[:, run.slowest] > 0)
        return _nth(incidents.start_s[alone], nth)

    return measure


def _rates(run: Transfers) -> Floats:
    """Return both clients' goodputs until the first client finishes, in ascending order."""
    return np.sort(run.rate_while_all_run_kbps)


def _drops_between(role: str, start_s: float, end_s: float) -> Measure:
    def measure(run: Transfers) -> float:
        assert run.drops is not None
        when = (run.drops.time_s >= start_s) & (run.drops.time_s < end_s)
        return float((run.drops.client[when] == getattr(run, role)).sum())

    return measure


APART = "First time at which the progress of the two clients differs by 2.5 % of the file (0.5 MB)."
EPOCH = "Drops within one round trip with a full queue count as one loss."
FLIGHT = "Our number is the number of a client's drops within one round trip of its first drop."
GAP = (
    "Excess of the faster client's goodput over the slower client's goodput, in % of the slower "
    "client's goodput. The text of the study confuses the excess of the faster client with the "
    "deficit of the slower client (published/notes.md)."
)

MEASURED: tuple[tuple[str, Setting, Measure, Tolerance, str], ...] = (
    ("EF-017", TAIL_64, efficiency.dropped, DROPPED, ""),
    ("EF-018", TAIL_64, _drops_of("fastest"), FEW, "The faster client is C0 in the study."),
    ("EF-019", TAIL_64, _drops_of("slowest"), FEW, "The slower client is C1 in the study."),
    (
        "EF-020",
        TAIL_64,
        _slow_start_drops_of("fastest"),
        FEW,
        f"The faster client is C0 in the study. {FLIGHT}",
    ),
    (
        "EF-021",
        TAIL_64,
        _slow_start_drops_of("slowest"),
        FEW,
        f"The slower client is C1 in the study. {FLIGHT}",
    ),
    ("EF-022", TAIL_64, _apart, SECONDS, APART),
    (
        "EF-023",
        TAIL_64,
        lambda run: float(run.acked_at(52.0).mean() / 2**20),
        ABOUT,
        "Mean data of the two clients at 52 s, in MiB. A link that is always busy carries 4.65 "
        "MiB per client in 52 s.",
    ),
    (
        "EF-024",
        TAIL_64,
        _nth_shared(2),
        SECONDS,
        f"Second time at which both clients lose packets. {EPOCH}",
    ),
    (
        "EF-025",
        TAIL_64,
        _nth_shared(3),
        SECONDS,
        f"Third time at which both clients lose packets. {EPOCH}",
    ),
    (
        "EF-026",
        TAIL_64,
        _nth_alone(1),
        SECONDS,
        f"First time at which only the slower client loses packets. {EPOCH}",
    ),
    (
        "EF-027",
        TAIL_64,
        _nth_alone(2),
        SECONDS,
        f"Second time at which only the slower client loses packets. {EPOCH}",
    ),
    ("EF-030", TAIL_64, lambda run: float(_rates(run)[0]), GOODPUT, ""),
    ("EF-031", TAIL_64, lock_out.gap_percent, PERCENT, GAP),
    ("EF-032", TAIL_64, lambda run: jain(_rates(run)), JAIN, ""),
    ("EF-033", TAIL_64, lambda run: float(run.goodput_kbps.min()), GOODPUT, ""),
    (
        "EF-034",
        TAIL_64,
        lock_out.slower_progress_percent,
        PERCENT,
        "By the published goodputs, the slower client has received 69.7 % of its file when the "
        "faster client finishes (published/notes.md).",
    ),
    (
        "EF-035",
        TAIL_8,
        lambda run: run.spread_percent,
        PERCENT,
        "Excess of the faster client's goodput over the slower client's goodput, as computed from "
        "the published goodputs.",
    ),
    (
        "EF-036",
        RED_128,
        lock_out.lead_percent,
        PERCENT,
        "By the published goodputs, the faster download takes 12.1 % less time than the slower "
        "download (published/notes.md).",
    ),
    ("EF-037", RED_128, efficiency.dropped, DROPPED, ""),
    (
        "EF-038",
        RED_128,
        _drops_of("slowest"),
        FEW,
        "The slower client is C0 in this case of the study.",
    ),
    (
        "EF-039",
        RED_128,
        _drops_of("fastest"),
        FEW,
        "The faster client is C1 in this case of the study.",
    ),
    ("EF-040", RED_128, _slow_start_drops_of_both, FEW, FLIGHT),
    ("EF-041", RED_128, _apart, SECONDS, APART),
    (
        "EF-042",
        RED_128,
        _drops_between("slowest", 20, 40),
        FEW,
        "The slower client is C0 in this case of the study.",
    ),
    (
        "EF-043",
        RED_128,
        _drops_between("fastest", 20, 40),
        FEW,
        "The faster client is C1 in this case of the study.",
    ),
)
"""Claims with a published number: id, setting, measure of one replication, tolerance, evidence."""


def _register(claim_id: str, setting: Setting, measure: Measure, rule: Tolerance, how: str) -> None:
    def decide(runs: Runs, claim: Published) -> Decision:
        return value(claim, [measure(run) for run in runs.of(setting)], rule, how)

    CLAIMS.decides(claim_id, items=["lock-out"])(decide)


for _row in MEASURED:
    _register(*_row)


@CLAIMS.decides("EF-016", items=["figure-2"])
def windows_fit(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the smallest queue limit at which no replication has drops."""

    def drops(of: Runs) -> dict[int, int]:
        return {q: max(int(r.dropped.sum()) for r in of.of(Setting(2, "DT", q))) for q in LIMITS}

    def smallest(of: Runs) -> float:
        return min((q for q, dropped in drops(of).items() if not dropped), default=float("inf"))

    text = f"Maximum drops of any replication, by queue limit: {drops(runs)}."
    return whole(replace(claim, qualifier="upper_bound"), runs, smallest, EXACT, text)


@CLAIMS.decides("EF-028", "EF-029", items=["figure-6"])
def degradation_cycle(_runs: Runs, _claim: Published) -> Decision:
    """Return "not testable", because the study does not define a degradation cycle."""
    return not_testable(
        "The study reads the length of a degradation cycle off its figure 6, and does not define "
        "where a cycle begins and ends. Our figure 6 shows the congestion windows."
    )


@CLAIMS.decides("EF-044", items=["figure-2"])
def tail_drops_hide_the_scheme(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by the drops of RED and ECN: equal numbers, nearly all at a full queue."""
    schemes, limit = ("RED-C", "RED-A", "ECN-C", "ECN-A"), int(claim.value)

    def drops(of: Runs) -> list[float]:
        return [
            efficiency.spread(of, Setting(2, s, limit), efficiency.dropped).value for s in schemes
        ]

    def full(of: Runs) -> float:
        at = [run for s in schemes for run in of.of(Setting(2, s, limit))]
        every = sum(int(run.dropped.sum()) for run in at)
        lost = f"no packet was dropped with RED and ECN at limit {limit}"
        return ratio(sum(run.dropped_full for run in at), every, lost)

    def margin(of: Runs) -> float:
        dropped = drops(of)
        alike = DROPPED.width(max(dropped)) - (max(dropped) - min(dropped))
        return min(alike, full(of) - 0.95)

    text = (
        f"Median drops of the four schemes at limit {limit}: "
        f"{', '.join(map(number, drops(runs)))}. Tolerance for equal numbers: {DROPPED.about}. At "
        f"limit {limit}, {100 * full(runs):.1f} % of all drops occur at a full queue."
    )
    return condition(runs, margin, limit if margin(runs) > 0 else "none", text)


def _fairness_gains(runs: Runs, ecn: str, other: str) -> list[float]:
    """Return Jain's index with ECN minus the index of another scheme, as a mean over the limits.

    Settings with different numbers of replications are compared in the replications of both.
    """
    gains = [
        [a.jain - b.jain for a, b in zip(runs.of(Setting(2, ecn, q)), runs.of(than), strict=False)]
        for q in LIMITS
        for than in (Setting(2, other, q),)
    ]
    return [fmean(of_one) for of_one in zip(*gains, strict=True)]


def _fairer(runs: Runs, claim: Published, others: tuple[str, str]) -> Decision:
    pairs = zip(("ECN-C", "ECN-A"), others, strict=True)
    gains = [_fairness_gains(runs, ecn, other) for ecn, other in pairs]
    both = [fmean(of_one) for of_one in zip(*gains, strict=True)]
    return direction(
        claim,
        both,
        "Difference of Jain's index, averaged over all limits and over maxp 0.02 and 0.1.",
    )


@CLAIMS.decides("EF-071", items=["figure-2"])
def ecn_fairer_than_tail_drop(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by Jain's index with ECN minus Jain's index with Drop Tail."""
    return _fairer(runs, claim, ("DT", "DT"))


@CLAIMS.decides("EF-072", items=["figure-2"])
def ecn_fairer_than_red(runs: Runs, claim: Published) -> Decision:
    """Decide the claim by Jain's index with ECN minus Jain's index with RED, at the same maxp."""
    return _fairer(runs, claim, ("RED-C", "RED-A"))
