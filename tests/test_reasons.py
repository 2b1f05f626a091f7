"""Test that queues explain their drops and marks by the variables of their references."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from math import isnan, nan
from typing import Any

import pytest

from conftest import ROOT
from references.adaptive_red import AdaptiveRed
from references.arrivals import arrivals_at
from references.cases import Case
from references.cobalt import Cobalt
from references.controllers import Avq, Blue, Pi, Pi2, Rem
from references.disciplines import Choke, Codel, Transmitter
from references.dualpi2 import DualPi2, Side
from references.fifo import SECOND, AqmLink, Packet, Values
from references.fq_codel import FqCodel
from references.fq_pie import FqPie, LinuxFqPie
from references.per_flow import Fred, Sfb, Sred
from references.pie import Pie, PieEnhanced
from references.precedence import Precedence
from references.program import program
from references.red import Red
from references.red_pd import RedPd
from references.red_variants import SelfConfiguringRed
from references.tc_pie import TcPie
from references.tc_red import TcRed
from test_queues import CASES

ARRIVALS = 10_000


@dataclass
class Signal:
    """Decision of a reference to signal a packet.

    Attributes
    ----------
    aqm : Any
        The reference after the decision.
    before : dict
        Attributes of the reference before the decision.
    packet : Packet
        The signalled packet.
    drawn : list of float
        Random numbers of the decision.
    reason : str
        Reason of the signal, such as "early".
    """

    aqm: Any
    before: dict[str, Any]
    packet: Packet
    drawn: list[float]
    reason: str

    @property
    def random(self) -> float:
        """The last random number of the decision; NaN if the decision took none."""
        return self.drawn[-1] if self.drawn else nan


def of_pi2(signal: Signal) -> Values:
    p = signal.aqm.p
    return {
        "p_base": p,
        "p": signal.aqm.k * p if signal.packet.ecn in (1, 3) else p,
        "qdelay_s": signal.aqm.prevq,
        "random": max(signal.drawn),
    }


def of_fred(signal: Signal) -> Values:
    fred, flow = signal.aqm, signal.packet.flow
    at_limits = signal.reason == "early" and not signal.drawn
    return {
        "avg": fred.avg,
        "avgcq": fred.avgcq,
        "qlen": fred.qlen[flow],
        "strike": fred.strike[flow] - at_limits,
        "count": signal.before["count"] + bool(signal.drawn),
        "random": signal.random,
    }


def of_tc_red(signal: Signal) -> Values:
    red, before = signal.aqm, signal.before
    scale: int = 2**red.wlog
    if red.qave >= red.qth_max:
        return {"avg": red.qave / scale, "count": before["count"], "q_r": nan, "reach": nan}
    packets = before["count"] + 1
    reach = (red.qave - red.qth_min) // scale * packets
    return {"avg": red.qave / scale, "count": packets, "q_r": before["qr"], "reach": reach}


VARIABLES: dict[type, Callable[[Signal], Values]] = {
    PieEnhanced: lambda s: {"drop_prob": s.aqm.drop_prob, "qdelay_s": s.aqm.current_qdelay},
    Pi2: of_pi2,
    Blue: lambda s: {
        "pm": s.aqm.pm, "random": s.random, "last_update_s": s.aqm.last_update / SECOND,
    },
    Pi: lambda s: {"p": s.aqm.p, "q_packets": s.aqm.q_old, "random": s.random},
    Rem: lambda s: {
        "price": s.aqm.price, "p": 1 - s.aqm.phi**-s.aqm.price, "random": s.random,
    },
    Avq: lambda s: {
        "virtual_queue_bytes": s.aqm.vq, "virtual_capacity": s.aqm.c_virtual,
    },
    Sred: lambda s: {"hit_frequency": s.aqm.estimate, "random": s.random},
    Sfb: lambda s: {"tokens": s.aqm.tokens, "random": s.random},
    Fred: of_fred,
    TcRed: of_tc_red,
}  # fmt: skip
"""Variables of each reference that has the same variables as the queue."""


def watch(aqm: Any) -> dict[int, Values]:
    """Record the variables of a reference at each of its signals, by number of the packet."""
    signals: dict[int, Values] = {}
    drawn: list[float] = []
    number = count()
    arrival, draws = aqm.arrival, getattr(aqm, "draws", None)
    if draws is not None:
        uniform = draws.uniform

        def drawing() -> float:
            drawn.append(uniform())
            return drawn[-1]

        draws.uniform = drawing

    def watched(now: float, packet: Packet, queue: Any) -> Any:
        drawn.clear()
        before, i = dict(vars(aqm)), next(number)
        verdict = arrival(now, packet, queue)
        if verdict != "pass":
            signals[i] = VARIABLES[type(aqm)](Signal(aqm, before, packet, drawn, verdict[1]))
        return verdict

    aqm.arrival = watched
    return signals


class WatchedCobalt(Cobalt):
    """COBALT that records its variables at each mark and drop, before they change."""

    signals: list[Values]

    def should_drop(self, now: int, packet: Packet) -> bool:
        before = {
            "sojourn_s": (now - packet.entered) / SECOND,
            "count": self.count,
            "drop_next_s": self.drop_next / SECOND,
            "p_drop": self.p_drop,
        }
        drawn: list[float] = []
        uniform = self.draws.uniform
        self.draws.uniform = lambda: drawn.append(uniform()) or drawn[-1]  # type: ignore[method-assign, func-returns-value]
        outcome = packet.outcome
        dropped = super().should_drop(now, packet)
        self.draws.uniform = uniform  # type: ignore[method-assign]
        if packet.outcome != outcome:
            self.signals.append(before | {"random": nan})
        if dropped and self.queue:
            self.signals.append(before | {"random": drawn[-1] if drawn else nan})
        return dropped


class WatchedDualPi2(DualPi2):
    """DualPI2 that records its variables at each signal."""

    signals: list[Values]

    def recur(self, q: Side, likelihood: float) -> bool:
        signals = super().recur(q, likelihood)
        if signals:
            self.signals.append({
                "l4s": float(q is self.lq), "p": likelihood, "p_base": self.p,
                "qdelay_s": self.prevq, "recur_count": q.likely + 1,
            })  # fmt: skip
        return signals


def explanations(case: Case, seed: int = 1) -> list[dict[str, Any]]:
    """Return the explanation of each drop and mark of a queue, in the order of the decisions."""
    limit = case.queue.get("limit", f"{case.limit} packets")
    spec = {
        "queue": case.queue | {"limit": limit}, "rate": f"{case.rate} bit/s", "seed": seed,
        "arrivals": ARRIVALS, "flows": case.flows, "explain": True,
    }  # fmt: skip
    done = subprocess.run(
        [program("decisions")], input=json.dumps(spec), capture_output=True, text=True, cwd=ROOT,
        check=True,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def arrivals(case: Case, seed: int = 1) -> list[tuple[int, Packet]]:
    """Return the arriving packets of a case, each with its time."""
    limit = case.queue.get("limit", f"{case.limit} packets")
    records = arrivals_at(
        case.queue | {"limit": limit},
        rate=case.rate,
        seed=seed,
        arrivals=ARRIVALS,
        flows=case.flows,
    )
    columns = [records[name].tolist() for name in ("time", "flow", "size", "ecn", "dscp")]
    return [(row[0], Packet(*row[1:])) for row in zip(*columns, strict=True)]


def assert_equal(explained: Values, expected: Values, where: str) -> None:
    for name, value in expected.items():
        ours = explained[name]
        if ours is None:
            assert isnan(value), (where, name, ours, value)
        else:
            assert ours == pytest.approx(value, rel=1e-9, abs=1e-12), (where, name, ours, value)


AQM_CASES = [case for case in CASES if case.reference in VARIABLES]


@pytest.mark.parametrize("case", AQM_CASES, ids=lambda case: case.name)
def test_the_variables_of_each_signal_equal_those_of_the_reference(case: Case) -> None:
    link = case.build(1)
    assert isinstance(link, AqmLink)
    expected = watch(link.aqm)
    for time, packet in arrivals(case):
        link.arrive(time, packet)
    signals = [row for row in explanations(case) if row["rule"] not in ("buffer-full", "tail-drop")]
    assert len(signals) >= 5, f"few signals: {len(signals)}"
    for row in signals:
        assert_equal(row["values"], expected[row["packet"]], f"packet {row['packet']}")


EXPLAINED = {
    AdaptiveRed, Choke, Codel, FqCodel, FqPie, LinuxFqPie, Pie, Precedence, Red, RedPd,
    SelfConfiguringRed, TcPie,
}  # fmt: skip
"""References that record the rule and all variables of each drop and mark."""


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.reference in EXPLAINED], ids=lambda case: case.name
)
def test_the_reason_of_each_drop_and_mark_equals_that_of_the_reference(case: Case) -> None:
    link: Any = case.build(1)
    packets = arrivals(case)
    for time, packet in packets:
        link.arrive(time, packet)
    link.finish()
    number = {id(packet): i for i, (_, packet) in enumerate(packets)}
    recorded = link.discipline.reasons if isinstance(link, Transmitter) else link.reasons
    assert len(recorded) >= 5
    for i, (row, reason) in enumerate(zip(explanations(case), recorded, strict=True)):
        where = f"row {i}: {row['rule']}"
        assert (row["packet"], row["rule"]) == (number[id(reason.packet)], reason.rule), where
        assert row["values"].keys() == reason.values.keys(), where
        assert_equal(row["values"], reason.values, where)


WATCHED: dict[Any, type] = {Cobalt: WatchedCobalt, DualPi2: WatchedDualPi2}
"""References of queues that decide when a packet leaves, with the class that records signals."""


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.reference in WATCHED], ids=lambda case: case.name
)
def test_the_variables_at_a_departure_equal_those_of_the_reference(case: Case) -> None:
    reference = WATCHED[case.reference]
    link = replace(case, reference=reference).build(1)
    assert isinstance(link, Transmitter)
    discipline: Any = link.discipline
    discipline.signals = []
    for time, packet in arrivals(case):
        link.arrive(time, packet)
    link.finish()
    rows = [
        row["values"] | {"rule": row["rule"]}
        for row in explanations(case)
        if row["rule"] not in ("buffer-full", "ce-threshold")
    ]
    assert len(rows) == len(discipline.signals) >= 5
    for i, (row, expected) in enumerate(zip(rows, discipline.signals, strict=True)):
        assert_equal(row, expected, f"signal {i}")
