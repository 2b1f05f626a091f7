"""Beyond the study: today's queues in the same places, and other round trips, rates and hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from aqmlab import estimates
from aqmlab.estimates import Estimate
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Item, Need, Runs, Section
from aqmlab.studies.red_wired_testbed.outcomes import (
    FASTEST,
    PLACES,
    SLOWEST,
    THIRD,
    Outcome,
)
from aqmlab.studies.red_wired_testbed.scenarios import (
    CLASS_1,
    DISCIPLINES,
    LINK_BPS,
    LONG,
    ONE_CLASS,
    RED,
    RED_STARTS_S,
    SHORT,
    TAIL_DROP,
    Beside,
    Red,
    Three,
)

REPLICATIONS = 10
LIMIT = {"limit": f"{CLASS_1.limit} B"}
MTU = {"mtu": "1514 B"}
SLOW = {"target": "127 ms"}
CODEL = {**LIMIT, **MTU}
CODEL_SLOW = {**CODEL, **SLOW, "interval": "222 ms"}
PIE = {"kind": "pie", "mean_packet_size": "1514 B", **LIMIT}
DUALPI2 = {"kind": "dualpi2", "sparing": "linux", **LIMIT, **MTU}
QUEUES: dict[str, dict[str, Any]] = {
    "Tail Drop": {},
    "RED": {},
    "RED with ECN": {},
    "CoDel": {"kind": "codel", **CODEL},
    "CoDel (127 ms)": {"kind": "codel", **CODEL_SLOW},
    "FQ-CoDel": {"kind": "fq_codel", **CODEL},
    "FQ-CoDel (127 ms)": {"kind": "fq_codel", **CODEL_SLOW},
    "PIE": PIE,
    "PIE (127 ms)": PIE | SLOW,
    "DualPI2": DUALPI2,
    "DualPI2 (127 ms)": DUALPI2 | SLOW,
}
"""The leaf of the class; nothing: as the study has it. Parameters are those of the RFCs, the MTU is
with Ethernet's header, and DualPI2 spares the last two packets as Linux does. A target of 127 ms is
one segment and a half of this link, and CoDel's interval grows by as much."""
CASES = (LONG, SHORT)
STARTS_S = (0.0, 2.0, 5.5)
"""Of the third flow, where rates, round trips and hosts change."""


@dataclass(frozen=True)
class Today:
    """A scenario of the study with another queue, round trip, rate or TCP.

    Parameters
    ----------
    base : Three or Beside
        What is changed.
    queue : str
        A name of `QUEUES`; empty: as it is.
    rtt_ms : float
        What is added to the round trip, which has 3 ms of its own.
    scale : int
        Factor of rates, files, buffer, thresholds and receive window.
    preset : str
        TCP of both hosts; empty: that of the study.
    """

    base: Three | Beside
    queue: str = ""
    rtt_ms: float = 0
    scale: int = 1
    preset: str = ""

    def columns(self) -> dict[str, Any]:
        """Return the scenario columns of cells.csv."""
        return self.base.columns() | {
            "queue": self.queue,
            "added_rtt_ms": self.rtt_ms,
            "scale": self.scale,
            "preset": self.preset,
        }

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication, in which hosts remember nothing."""
        made = self.base.scenario(replication) | {"record": {"series": []}}
        cwnd = {key: v for key, v in made["tcp"]["cwnd"].items() if key != "initial_ssthresh"}
        tcp = made["tcp"] | {"cwnd": cwnd}
        first, second, last = made["network"]["links"]
        if self.queue:
            leaf = last["queue"]["classes"][-1]
            leaf["queue"] = QUEUES[self.queue] or leaf["queue"]
        if self.queue == "RED with ECN":
            tcp |= {"ecn": "rfc3168"}
        if self.rtt_ms:
            first["delay"] = f"{self.rtt_ms / 2 + 0.05:g} ms"
        if self.scale > 1:
            for link in (first, second, last):
                link["rate"] = f"{10 * self.scale} Mbit/s"
            for flow in made["flows"]:
                size = int(flow["traffic"]["size"].removesuffix(" B"))
                flow["traffic"] = {"kind": "bulk", "size": f"{self.scale * size} B"}
            tcp |= {"receive_window": f"{self.scale * 65535} B", "window": {"scaling": "full"}}
        if self.preset:
            tcp = {"stack": self.preset, "wire": tcp["wire"]}
        return made | {"tcp": tcp}


def _larger(scale: int) -> Red:
    """Return the study's RED for a link that is so many times as fast."""
    of = CLASS_1
    return Red(of.min * scale, of.max * scale, of.burst * scale, of.avpkt, of.limit * scale)


def _three(discipline: str, start_s: float, scale: int = 1, **more: Any) -> Today:
    rate = scale * LINK_BPS / 1000
    base = Three(discipline, start_s, _larger(scale), memory=False, link_kbit=rate)
    return Today(base, scale=scale, **more)


def _at(queue: str, base: Callable[[str], Three | Beside]) -> Today:
    return Today(base(TAIL_DROP if queue == "Tail Drop" else RED), queue)


def _starts(queue: str) -> list[Today]:
    return [
        _at(queue, lambda d, s=start_s: Three(d, s, memory=False))  # type: ignore[misc]
        for start_s in RED_STARTS_S
    ]


def _cases(queue: str) -> list[Today]:
    return [_at(queue, lambda d, c=case: Beside(c, d, ONE_CLASS)) for case in CASES]  # type: ignore[misc]


@dataclass(frozen=True)
class Variant:
    """What differs from the study: a name for people, and keys of `Today`."""

    name: str
    more: dict[str, Any] = field(default_factory=dict)


VARIANTS = (
    Variant("as in the study"),
    Variant("RTT + 50 ms", {"rtt_ms": 50.0}),
    Variant("RTT + 200 ms", {"rtt_ms": 200.0}),
    Variant("rate × 10", {"scale": 10}),
    Variant("rate × 100", {"scale": 100}),
    Variant("hosts of today", {"preset": "linux"}),
    Variant("hosts of today with rate × 10 and RTT + 50 ms",
            {"preset": "linux", "scale": 10, "rtt_ms": 50.0}),
)  # fmt: skip


def _needs() -> Iterator[Need]:
    for queue in QUEUES:
        for at in (*_starts(queue), *_cases(queue)):
            yield Need(at, at_most=REPLICATIONS, quick=False)
    for variant in VARIANTS:
        for discipline in DISCIPLINES:
            for start_s in STARTS_S:
                yield Need(_three(discipline, start_s, **variant.more), at_most=REPLICATIONS,
                           quick=False)  # fmt: skip


def _elapsed(runs: Runs, at: Today, place: str) -> list[float]:
    return [run.at(place).elapsed_s for run in runs.of(at)]


def _by_start(found: Sequence[Sequence[float]], of: Callable[..., float]) -> list[float]:
    """Return one number a replication from what each has at every start."""
    return [of(values) for values in zip(*found, strict=True)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _range(values: Sequence[float]) -> float:
    return max(values) - min(values)


def _per_replication(runs: Runs, settings: Sequence[Today]) -> dict[str, list[float]]:
    """Return what the thesis judges by, over some starts, one number a replication."""
    by_place = {place: [_elapsed(runs, at, place) for at in settings] for place in PLACES}
    means = {place: _by_start(found, _mean) for place, found in by_place.items()}
    gap = [slow - fast for slow, fast in zip(means[SLOWEST], means[FASTEST], strict=True)]
    return {**means, "gap": gap, "spread": _by_start(by_place[THIRD], _range)}


HEADS = {
    FASTEST: "Fastest (s)",
    SLOWEST: "Slowest (s)",
    THIRD: "Third (s)",
    "gap": "Slowest less fastest (s)",
    "spread": "Third: range over starts (s)",
}
LENGTH = len(HEADS)
"""Columns before that of the exceptions: the queue, and of three flows all but one."""
QUANTITIES: dict[str, tuple[str, str, Callable[[Outcome], float]]] = {
    "elapsed": ("TCP (s)", "s", lambda run: run.tcp.elapsed_s),
    "cbr_lost": ("CBR lost (%)", "%", lambda run: 100 * (1 - run.cbr_received / run.cbr_sent)),
    "cbr_mean_delay": ("CBR delay (ms)", "ms", lambda run: 1000 * run.cbr_delay_s),
    "cbr_p99_delay": ("CBR delay, 99 % (ms)", "ms", lambda run: 1000 * run.cbr_p99_delay_s),
}


def _said(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}"


def _entry(found: Estimate) -> Entry:
    low, high = _said(found.low), _said(found.high)
    return Entry(_said(found.value), "" if low == high else f"{low} to {high}")


def _seen(runs: Runs, queue: str) -> dict[str, list[float]]:
    """Return all that is told of a queue, one number a replication."""
    told = _per_replication(runs, _starts(queue))
    for case, at in zip(CASES, _cases(queue), strict=True):
        for name, (_, _, read) in QUANTITIES.items():
            told[f"{name}_{case.name}"] = [read(run) for run in runs.of(at)]
    return told


def _queues(runs: Runs, section: Section) -> Table:
    heads = dict(HEADS)
    units = dict.fromkeys(HEADS, "s")
    for case in CASES:
        for name, (head, unit, _) in QUANTITIES.items():
            heads[f"{name}_{case.name}"] = f"Case {case.name}: {head}"
            units[f"{name}_{case.name}"] = unit
    shown = [name for name in heads if name != "gap" and "p99" not in name]  # one page wide
    rows: list[list[str | Entry]] = []
    for queue in QUEUES:
        columns: dict[str, object] = {"test": "today's queues", "queue": queue}
        row: list[str | Entry] = [queue]
        for name, values in _seen(runs, queue).items():
            found = estimates.mean(values)
            section.cells.append(Cell("beyond", columns, name, units[name], found))
            if name in shown:
                row.append(_entry(found))
        odd = [run.exception for at in _starts(queue) for run in runs.of(at)]
        row.insert(LENGTH, f"{sum(odd)} of {len(odd)}")
        rows.append(row)
    titles = ["Queue", *(heads[name] for name in shown)]
    titles.insert(LENGTH, "Exceptions")
    caption = (
        "Today's queues: three flows, mean over starts of 0 to 5.5 s; TCP beside CBR in one class, "
        "CBR after 0 s. Means and 95 % intervals"
    )
    return Table(caption, titles, rows)


def _differences(runs: Runs, variant: Variant) -> dict[str, Estimate]:
    """Return RED less Tail Drop, replication by replication."""
    red, tail = (
        _per_replication(runs, [_three(d, s, **variant.more) for s in STARTS_S])
        for d in (RED, TAIL_DROP)
    )
    return {name: estimates.difference(red[name], tail[name]) for name in red}


def _variants(runs: Runs, section: Section) -> Table:
    rows: list[list[str | Entry]] = []
    for variant in VARIANTS:
        row: list[str | Entry] = [variant.name]
        for name, found in _differences(runs, variant).items():
            columns: dict[str, object] = {"test": "RED less Tail Drop", "variant": variant.name}
            section.cells.append(Cell("beyond", columns, name, "s", found))
            sign = _sign(found)
            kind = {-1: "good", 0: "", 1: "bad"}[sign] if name != FASTEST else ""
            row.append(Entry(f"{found.value:+.2f}", f"{found.low:+.2f} to {found.high:+.2f}", kind))
        rows.append(row)
    caption = (
        "RED less Tail Drop, three flows, mean over starts of 0, 2 and 5.5 s, paired, with 95 % "
        "intervals: green where RED is less, red where it is more"
    )
    return Table(caption, ["", *HEADS.values()], rows)


def _sign(found: Estimate) -> int:
    """Return whether a difference is below 0 or above it, by its interval; 0: it cannot be told."""
    return (found.low > 0) - (found.high < 0)


def _listed(found: dict[str, Estimate], words: dict[int, str]) -> str:
    """Return which differences are below 0, which above, and of which it cannot be told."""
    parts = []
    for sign, word in words.items():
        names = [name for name, e in found.items() if _sign(e) == sign]
        if names:
            parts.append(f"{word}: {', '.join(names)}")
    return "; ".join(parts) + "."


def _queue_sentences(runs: Runs) -> list[str]:
    """Say what the author would have concluded of today's queues: each against RED."""
    told = {queue: _seen(runs, queue) for queue in QUEUES}
    signs: dict[str, set[int]] = {queue: set() for queue in QUEUES if queue != "RED"}
    said = ["What would the author have concluded? Each against RED, by paired 95 % intervals:"]
    for name, about, unit in (
        (THIRD, "The short flow's time", "s"),
        ("spread", "What its start decides", "s"),
        ("gap", "The slowest less the fastest flow", "s"),
        ("cbr_lost_1", "CBR packets lost, test case 1", "%"),
        ("cbr_mean_delay_1", "Their delay", "ms"),
    ):
        against = {
            queue: estimates.difference(told[queue][name], told["RED"][name])
            for queue in QUEUES
            if queue != "RED"
        }
        for queue, found in against.items():
            signs[queue].add(_sign(found))
        red = _said(estimates.mean(told["RED"][name]).value)
        words = {-1: "less", 1: "more", 0: "no difference that shows"}
        said.append(f"{about} (RED: {red} {unit}) – {_listed(against, words)}")
    clear = [queue for queue, found in signs.items() if -1 in found and 1 not in found]
    worse = [queue for queue, found in signs.items() if 1 in found and -1 not in found]
    said.append(
        f"So better than RED in some of these and worse in none: {', '.join(clear) or 'no queue'}. "
        f"Worse in some and better in none: {', '.join(worse) or 'no queue'}."
    )
    return said


def _variant_sentences(runs: Runs) -> list[str]:
    """Say where the conclusion of the study holds, by the intervals."""
    every = {variant.name: _differences(runs, variant) for variant in VARIANTS}
    said = []
    for name, about, words in (
        (THIRD, "The short flow", {-1: "sooner with RED", 1: "later with RED"}),
        ("spread", "What its start decides", {-1: "less with RED", 1: "more with RED"}),
        (FASTEST, "The fastest flow", {-1: "sooner with RED", 1: "later with RED"}),
        (SLOWEST, "The slowest flow", {-1: "sooner with RED", 1: "later with RED"}),
    ):
        found = {variant: differences[name] for variant, differences in every.items()}
        listed = _listed(found, {**words, 0: "no difference that shows"})
        said.append(f"{about} – {listed}")
    return said


def _make(runs: Runs) -> Section:
    if not runs.has(_starts("RED")[0]):
        return Section(["Not in the quick form."])
    section = Section(
        [
            f"None of this is in the thesis. {REPLICATIONS} replications, the same seeds in all "
            "arms. Hosts remember no ssthresh, since what another queue would leave is not known; "
            "so Tail Drop and RED differ from the tables above. Queues have the same 20 000 bytes "
            "and the parameters of their RFCs: CoDel's target is 5 ms, PIE's and DualPI2's 15 ms, "
            "though a segment takes 84 ms here; so each has a second line with a target of one "
            "segment and a half, 127 ms. Only with RED with ECN have the hosts ECN.",
            *_queue_sentences(runs),
            "Other round trips (RTT, 3 ms in the study), rates (143 kbit/s) and hosts (Linux 2.4; "
            "today's are Linux 6). Files, buffer, RED's thresholds and its burst, and the receive "
            "window grow with the rate, so that the transfers take as long.",
            *_variant_sentences(runs),
        ]
    )
    section.tables += [_queues(runs, section), _variants(runs, section)]
    return section


ITEM = Item("beyond", "Beyond the study: today's queues, and other round trips, rates and hosts",
            _needs, _make,
    scored=False,
)  # fmt: skip
