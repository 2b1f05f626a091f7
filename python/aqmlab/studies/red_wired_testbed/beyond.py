"""Beyond the thesis: current queues in its testbed, and other round trips, rates and hosts."""

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
"""Queues of the class by name; an empty dict stands for the queue of the study.

The parameters come from the RFCs, and the MTU includes the Ethernet header. As in Linux, DualPI2
does not signal while its queues have less than two MTU. A target of 127 ms is the time of 1.5
segments on this link. With a target of 127 ms instead of 5 ms, CoDel's interval is 222 ms instead
of 100 ms.
"""
CASES = (LONG, SHORT)
STARTS_S = (0.0, 2.0, 5.5)
"""Start times of the third flow in s, for settings with other rates, round trips and hosts."""


@dataclass(frozen=True)
class Today:
    """Setting of the study with a changed queue, round-trip time, rate or TCP.

    Parameters
    ----------
    base : Three or Beside
        Setting of the study that is changed.
    queue : str
        Name of a queue in `QUEUES`; empty for the queue of the study.
    rtt_ms : float
        Additional round-trip time in ms; the study has 3 ms.
    scale : int
        Factor by which rates, file sizes, buffer, thresholds and receive window are multiplied.
    stack : str
        TCP stack of both hosts; empty for the TCP of the study.
    """

    base: Three | Beside
    queue: str = ""
    rtt_ms: float = 0
    scale: int = 1
    stack: str = ""

    def columns(self) -> dict[str, Any]:
        """Return the columns of cells.csv that describe the scenario."""
        return self.base.columns() | {
            "queue": self.queue,
            "added_rtt_ms": self.rtt_ms,
            "scale": self.scale,
            "stack": self.stack,
        }

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication, in which hosts do not remember ssthresh."""
        scenario = self.base.scenario(replication) | {"record": {"series": []}}
        tcp = scenario["tcp"]
        cwnd = {key: value for key, value in tcp["cwnd"].items() if key != "initial_ssthresh"}
        tcp = tcp | {"cwnd": cwnd}
        first, second, last = scenario["network"]["links"]
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
            for flow in scenario["flows"]:
                size = int(flow["traffic"]["size"].removesuffix(" B"))
                flow["traffic"] = {"kind": "bulk", "size": f"{self.scale * size} B"}
            tcp |= {"receive_window": f"{self.scale * 65535} B", "window": {"scaling": "full"}}
        if self.stack:
            tcp = {"stack": self.stack, "wire": tcp["wire"]}
        return scenario | {"tcp": tcp}


def _larger(scale: int) -> Red:
    """Return the study's RED parameters for a link that is `scale` times as fast."""
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
    """Variant of the study: its name in tables, and its arguments of `Today`."""

    name: str
    more: dict[str, Any] = field(default_factory=dict)


VARIANTS = (
    Variant("as in the study"),
    Variant("RTT + 50 ms", {"rtt_ms": 50.0}),
    Variant("RTT + 200 ms", {"rtt_ms": 200.0}),
    Variant("rate × 10", {"scale": 10}),
    Variant("rate × 100", {"scale": 100}),
    Variant("current hosts", {"stack": "linux"}),
    Variant("current hosts with rate × 10 and RTT + 50 ms",
            {"stack": "linux", "scale": 10, "rtt_ms": 50.0}),
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


def _by_start(by_start: Sequence[Sequence[float]], of: Callable[..., float]) -> list[float]:
    """Apply the function `of` to the numbers of all start times, for each replication."""
    return [of(values) for values in zip(*by_start, strict=True)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _range(values: Sequence[float]) -> float:
    return max(values) - min(values)


def _per_replication(runs: Runs, settings: Sequence[Today]) -> dict[str, list[float]]:
    """Return statistics of the elapsed times at several start times, for each replication.

    The statistics are the mean time of each flow, the gap between the two long flows, and the range
    of the third flow's time.
    """
    by_place = {place: [_elapsed(runs, at, place) for at in settings] for place in PLACES}
    means = {place: _by_start(times, _mean) for place, times in by_place.items()}
    gap = [slow - fast for slow, fast in zip(means[SLOWEST], means[FASTEST], strict=True)]
    return {**means, "gap": gap, "spread": _by_start(by_place[THIRD], _range)}


HEADS = {
    FASTEST: "Fastest (s)",
    SLOWEST: "Slowest (s)",
    THIRD: "Third (s)",
    "gap": "Slowest minus fastest (s)",
    "spread": "Third: range over start times (s)",
}
LENGTH = len(HEADS)
"""Position of the column "Exceptions" in the table of queues."""
QUANTITIES: dict[str, tuple[str, str, Callable[[Outcome], float]]] = {
    "elapsed": ("TCP (s)", "s", lambda run: run.tcp.elapsed_s),
    "cbr_lost": ("CBR lost (%)", "%", lambda run: 100 * (1 - run.cbr_received / run.cbr_sent)),
    "cbr_mean_delay": ("CBR delay (ms)", "ms", lambda run: 1000 * run.cbr_delay_s),
    "cbr_p99_delay": ("CBR delay, 99 % (ms)", "ms", lambda run: 1000 * run.cbr_p99_delay_s),
}


def _rounded(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}"


def _entry(of: Estimate) -> Entry:
    low, high = _rounded(of.low), _rounded(of.high)
    return Entry(_rounded(of.value), "" if low == high else f"{low} to {high}")


def _quantities(runs: Runs, queue: str) -> dict[str, list[float]]:
    """Return the quantities of the thesis for a queue, one number per replication."""
    quantities = _per_replication(runs, _starts(queue))
    for case, at in zip(CASES, _cases(queue), strict=True):
        for name, (_, _, read) in QUANTITIES.items():
            quantities[f"{name}_{case.name}"] = [read(run) for run in runs.of(at)]
    return quantities


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
        for name, values in _quantities(runs, queue).items():
            of = estimates.mean(values)
            section.cells.append(Cell("beyond", columns, name, units[name], of))
            if name in shown:
                row.append(_entry(of))
        odd = [run.exception for at in _starts(queue) for run in runs.of(at)]
        row.insert(LENGTH, f"{sum(odd)} of {len(odd)}")
        rows.append(row)
    titles = ["Queue", *(heads[name] for name in shown)]
    titles.insert(LENGTH, "Exceptions")
    caption = (
        "Current queues: means and 95 % intervals of two tests. Three flows: averages over start "
        "times of 0 to 5.5 s. TCP and CBR traffic in one class: start of CBR at 0 s"
    )
    return Table(caption, titles, rows)


def _differences(runs: Runs, variant: Variant) -> dict[str, Estimate]:
    """Return each quantity with RED minus the quantity with Tail Drop: mean and 95 % interval."""
    red, tail = (
        _per_replication(runs, [_three(d, s, **variant.more) for s in STARTS_S])
        for d in (RED, TAIL_DROP)
    )
    return {name: estimates.difference(red[name], tail[name]) for name in red}


def _variants(runs: Runs, section: Section) -> Table:
    rows: list[list[str | Entry]] = []
    for variant in VARIANTS:
        row: list[str | Entry] = [variant.name]
        for name, of in _differences(runs, variant).items():
            columns: dict[str, object] = {"test": "RED less Tail Drop", "variant": variant.name}
            section.cells.append(Cell("beyond", columns, name, "s", of))
            sign = _sign(of)
            kind = {-1: "good", 0: "", 1: "bad"}[sign] if name != FASTEST else ""
            row.append(Entry(f"{of.value:+.2f}", f"{of.low:+.2f} to {of.high:+.2f}", kind))
        rows.append(row)
    caption = (
        "Three flows: value with RED minus value with Tail Drop, averaged over start times of 0, "
        "2 and 5.5 s, paired by replication, with 95 % intervals. Green: significantly lower with "
        "RED; red: significantly higher with RED"
    )
    return Table(caption, ["", *HEADS.values()], rows)


def _sign(of: Estimate) -> int:
    """Return the sign of a difference, or 0 if its interval contains 0."""
    return (of.low > 0) - (of.high < 0)


def _listed(by_name: dict[str, Estimate], words: dict[int, str]) -> str:
    """Return the names as text, grouped by the sign of their differences."""
    parts = []
    for sign, word in words.items():
        names = [name for name, e in by_name.items() if _sign(e) == sign]
        if names:
            parts.append(f"{word}: {', '.join(names)}")
    return "; ".join(parts) + "."


def _queue_sentences(runs: Runs) -> list[str]:
    """Return the conclusions about current queues, each compared with RED."""
    quantities = {queue: _quantities(runs, queue) for queue in QUEUES}
    signs: dict[str, set[int]] = {queue: set() for queue in QUEUES if queue != "RED"}
    sentences = [
        "Each queue is compared with RED by the criteria of the thesis, with paired 95 % intervals."
    ]
    for name, about, unit in (
        (THIRD, "Elapsed time of the short flow", "s"),
        ("spread", "Range of the short flow's time over the start times", "s"),
        ("gap", "Time of the slower minus time of the faster long flow", "s"),
        ("cbr_lost_1", "Lost CBR packets in test case 1", "%"),
        ("cbr_mean_delay_1", "Mean delay of CBR packets in test case 1", "ms"),
    ):
        against = {
            queue: estimates.difference(quantities[queue][name], quantities["RED"][name])
            for queue in QUEUES
            if queue != "RED"
        }
        for queue, difference in against.items():
            signs[queue].add(_sign(difference))
        red = _rounded(estimates.mean(quantities["RED"][name]).value)
        words = {-1: "less", 1: "more", 0: "no significant difference"}
        sentences.append(f"{about} (RED: {red} {unit}) – {_listed(against, words)}")
    clear = [
        queue for queue, difference in signs.items() if -1 in difference and 1 not in difference
    ]
    worse = [
        queue for queue, difference in signs.items() if 1 in difference and -1 not in difference
    ]
    sentences.append(
        "Queues that are better than RED by at least one criterion, and worse by none: "
        f"{', '.join(clear) or 'no queue'}. Queues that are worse than RED by at least one "
        f"criterion, and better by none: {', '.join(worse) or 'no queue'}."
    )
    return sentences


def _variant_sentences(runs: Runs) -> list[str]:
    """Return the conclusions about the variants, each a comparison of RED with Tail Drop."""
    every = {variant.name: _differences(runs, variant) for variant in VARIANTS}
    sentences = []
    for name, about, words in (
        (THIRD, "Elapsed time of the short flow", {-1: "shorter with RED", 1: "longer with RED"}),
        (
            "spread",
            "Range of the short flow's time over the start times",
            {-1: "less with RED", 1: "more with RED"},
        ),
        (
            FASTEST,
            "Elapsed time of the faster long flow",
            {-1: "shorter with RED", 1: "longer with RED"},
        ),
        (
            SLOWEST,
            "Elapsed time of the slower long flow",
            {-1: "shorter with RED", 1: "longer with RED"},
        ),
    ):
        by_variant = {variant: differences[name] for variant, differences in every.items()}
        listed = _listed(by_variant, {**words, 0: "no significant difference"})
        sentences.append(f"{about} – {listed}")
    return sentences


def _make(runs: Runs) -> Section:
    if not runs.has(_starts("RED")[0]):
        return Section(["The quick form of the study leaves this item out."])
    section = Section(
        [
            f"This item goes beyond the thesis, with {REPLICATIONS} replications, which have the "
            "same seeds for all queues and variants. In the item `beyond`, hosts do not remember "
            "ssthresh, because we do not know the values of ssthresh that hosts store after "
            "connections through CoDel, FQ-CoDel, PIE and DualPI2. With Tail Drop and RED, the "
            "results of the item `beyond` therefore differ from the results of the items in "
            "which hosts remember ssthresh. All queues have a limit of 20 000 bytes and the "
            "parameters of their RFCs. The default target of CoDel is 5 ms, and that of PIE and "
            "DualPI2 15 ms, but a segment takes 84 ms on this link. The table therefore has two "
            "rows for each of CoDel, FQ-CoDel, PIE and DualPI2: one row with the default target, "
            "and one row with a target of 127 ms, the time of 1.5 segments. The hosts use ECN "
            "only in the row “RED with ECN”.",
            *_queue_sentences(runs),
            "The second table of this item has variants of the testbed. The testbed has a "
            "round-trip time (RTT) of 3 ms, a rate of 143 kbit/s, and Linux 2.4 hosts. Current "
            "hosts have the TCP of Linux 6. If the rate is higher, then file sizes, the buffer, "
            "RED's thresholds, RED's burst and the receive window are larger by the same factor, "
            "so transfers take equally long.",
            *_variant_sentences(runs),
        ]
    )
    section.tables += [_queues(runs, section), _variants(runs, section)]
    return section


ITEM = Item("beyond", "Beyond the study: current queues, and other round trips, rates and hosts",
            _needs, _make,
    scored=False,
)  # fmt: skip
