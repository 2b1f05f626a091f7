"""Results with other values of the settings that the paper does not state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aqmlab import estimates
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Alternative, Cell, Item, Need, Runs, Section
from aqmlab.studies.power_of_ecn.scenarios import AS_READ, Reading, Setting
from aqmlab.studies.power_of_ecn.showing import (
    PROFILE,
    SYN_ACK_LOSS,
    THROUGHPUT,
    gain,
    mean,
    with_interval,
)
from aqmlab.studies.power_of_ecn.words import ENDS, OFF, PERSISTENT, PI, RED, RED_STAR

SECONDS, REPLICATIONS = 60, 3

OF_SCHEME = {
    RED_STAR: (
        AS_READ,
        Reading("queue limit of 250 packets", queue=(("limit", "250 packets"),)),
        Reading("queue limit of 4000 packets", queue=(("limit", "4000 packets"),)),
        Reading("mean packet size of 1500 B", queue=(("mean_packet_size", "1500 B"),)),
        Reading("gentle RED", queue=(("gentle", True),)),
        Reading("constant maxp of 0.1", queue=(("increment", 1e-9), ("decrease", 1.0))),
        Reading("marks leave cwnd at two segments or more", tcp=(("ecn.min_window", "2 packets"),)),
        Reading("SACK", tcp=(("recovery", "sack"), ("sack", True))),
        Reading("minimum timeout of 200 ms", tcp=(("rto.min", "200 ms"),)),
        Reading("first timeout of 1 s (RFC 6298)", tcp=(("rto.initial", "1 s"),)),
        Reading("initial window of 10 (RFC 6928)", tcp=(("initial_window", "10 segments"),)),
        Reading("requests for all objects of a page at once", traffic=(("object_gap", "0 s"),)),
    ),
    PI: (
        AS_READ,
        Reading(
            "parameters by PI's design rule for 200 ms and 100 flows",
            queue=(("max_rtt", "200 ms"), ("min_flows", 100)),
        ),
    ),
}


def _alternative(scheme: str, reading: Reading) -> Alternative:
    """Return the alternative in which the settings of a scheme have another interpretation.

    Changes of the queue limit, of TCP and of the traffic concern all schemes. Other changes of the
    queue of RED* also concern RED.
    """
    schemes = {RED, RED_STAR} if scheme == RED_STAR else {scheme}
    everywhere = {key for key, _ in reading.queue} <= {"limit"}

    def form(at: object) -> object:
        if not isinstance(at, Setting) or at.reading != AS_READ:
            return at
        return replace(at, reading=reading) if everywhere or at.scheme in schemes else at

    return Alternative(reading.about, form)


ALTERNATIVES = tuple(
    _alternative(scheme, reading) for scheme, every in OF_SCHEME.items() for reading in every[1:]
)


def setting(scheme: str, ends: str, reading: Reading) -> Setting:
    """Return a setting at persistent congestion, with runs of `SECONDS` after the warm-up."""
    return Setting(scheme, ends, PERSISTENT, seconds=SECONDS, reading=reading)


def cases() -> Iterator[tuple[str, Reading]]:
    """Yield the AQM scheme and the interpretation of each table row."""
    for scheme, every in OF_SCHEME.items():
        yield from ((scheme, reading) for reading in every)


def _needs() -> Iterator[Need]:
    for scheme, reading in cases():
        for ends in ENDS:
            yield Need(setting(scheme, ends, reading), at_most=REPLICATIONS, quick=False)


def _make(runs: Runs) -> Section:
    if not runs.has(setting(RED_STAR, OFF, OF_SCHEME[RED_STAR][1])):
        return Section(["The quick form leaves out other interpretations of the paper."])
    section = Section(
        [
            f"The runs have a load of {PERSISTENT} %, and last for {SECONDS} s after the "
            f"warm-up, with {REPLICATIONS} replications. For each scheme, the first row has the "
            "settings of the runs that the score counts, and each other row changes one of these "
            "settings. Differences of mean profiles are in percentage points, and differences of "
            "throughputs in % of the link rate. Differences are paired by replication, and are "
            "green if the interval is above 0, and red if it is below 0. All rows have the same "
            "requests, except the row that changes the traffic.",
        ]
    )
    rows: list[list[str | Entry]] = []
    for scheme, reading in cases():
        none, ecn, plus = (setting(scheme, ends, reading) for ends in ENDS)
        row: list[str | Entry] = [f"{scheme}: {reading.about}"]
        for name, more, less, quantity in (
            ("ecn_over_none", ecn, none, PROFILE),
            ("ecn_plus_over_ecn", plus, ecn, PROFILE),
            ("ecn_plus_over_ecn", plus, ecn, THROUGHPUT),
        ):
            of = estimates.mean(gain(runs, more, less, quantity))
            columns: dict[str, object] = {
                "scheme": scheme,
                "reading": reading.about,
                "of": quantity[0],
            }
            section.cells.append(Cell("readings", columns, name, "percentage points", of))
            row.append(
                with_interval(of, kind="good" if of.low > 0 else "bad" if of.high < 0 else "")
            )
        rows.append([*row, with_interval(mean(runs, ecn, SYN_ACK_LOSS))])
    head = ["Scheme: interpretation", "Profile mean: ECN minus no ECN",
            "Profile mean: ECN+ minus ECN", "Throughput: ECN+ minus ECN",
            "SYN-ACKs dropped with ECN (%)"]  # fmt: skip
    section.tables.append(
        Table("ECN and ECN+ under other interpretations of the paper", head, rows)
    )
    return section


ITEM = Item("readings", "Sensitivity to the assumptions", _needs, _make, scored=False)
