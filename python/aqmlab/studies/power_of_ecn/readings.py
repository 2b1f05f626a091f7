"""Results with other values of the settings that the paper does not state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aqmlab import estimates
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Alternative, Cell, Item, Need, Runs, Section
from aqmlab.studies.power_of_ecn.scenarios import AS_READ, REPLICATIONS, Reading, Setting
from aqmlab.studies.power_of_ecn.showing import (
    PROFILE,
    SYN_ACK_LOSS,
    THROUGHPUT,
    gain,
    mean,
    with_interval,
)
from aqmlab.studies.power_of_ecn.words import (
    ENDS,
    LIGHT,
    LOGNORMAL,
    OFF,
    PERSISTENT,
    PI,
    RED,
    RED_STAR,
    WEB,
)

SECONDS = 60

IGNORING = Reading("senders ignore marks", tcp=(("ecn.misbehaviour", "ignore-ece"),))
MARKED = Reading("marks leave cwnd at two segments or more", tcp=(("ecn.min_window", "2 packets"),))
GOING_ON = Reading(
    "senders go on after a mark at one segment (ns-2)", tcp=(("ecn.at_one_segment", "go-on"),)
)
BYTES = Reading("RED in byte mode (ns-2 since October 2004)", queue=(("chance_by", "bytes"),))
SEGMENTS = Reading(
    "segments of 1000 bytes", tcp=(("mss", "1000 B"),), users="segments of 1000 bytes"
)
WAITING = Reading(
    "users wait for their pages", traffic=(("page_gap_from", "end"),), users="waiting users"
)
"""Readings of section 4 that ns-2 or the paper suggest; `WAITING` is the default of ns-2."""

OF_SCHEME = {
    RED_STAR: (
        AS_READ,
        Reading("queue limit of 250 packets", queue=(("limit", "250 packets"),)),
        Reading("mean packet size of 1500 B", queue=(("mean_packet_size", "1500 B"),)),
        Reading("gentle RED", queue=(("gentle", True),)),
        Reading("constant maxp of 0.1", queue=(("increment", 1e-9), ("decrease", 1.0))),
        MARKED,
        GOING_ON,
        BYTES,
        SEGMENTS,
        WAITING,
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

WITH_LOGNORMAL = (AS_READ, MARKED, GOING_ON, BYTES, SEGMENTS, WAITING)
"""Interpretations of RED* that the table also has together with lognormal object sizes."""


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


def _lognormal(at: object) -> object:
    """Return the setting with lognormal object sizes, with runs of `SECONDS` after the warm-up."""
    if not isinstance(at, Setting) or at.reading != AS_READ or at.mix != WEB:
        return at
    calibrated = at.load in (LIGHT, PERSISTENT)
    return replace(at, mix=LOGNORMAL, seconds=SECONDS) if calibrated else at


ALTERNATIVES = (
    *(
        _alternative(scheme, reading)
        for scheme, every in (*OF_SCHEME.items(), (RED_STAR, (AS_READ, IGNORING)))
        for reading in every[1:]
        if not reading.users
    ),
    Alternative(f"lognormal object sizes, runs of {SECONDS} s", _lognormal),
)
"""Interpretations for falsification: those for which the numbers of users are those of the mix,
and the lognormal object sizes, which have numbers of users for 90 and 105 % load."""


def setting(scheme: str, ends: str, reading: Reading, mix: str = WEB) -> Setting:
    """Return a setting at persistent congestion, with runs of `SECONDS` after the warm-up."""
    return Setting(scheme, ends, PERSISTENT, mix, seconds=SECONDS, reading=reading)


def cases() -> Iterator[tuple[str, Reading, str]]:
    """Yield the AQM scheme, the interpretation and the mix of each table row."""
    for scheme, every in OF_SCHEME.items():
        yield from ((scheme, reading, WEB) for reading in every)
    yield from ((RED_STAR, reading, LOGNORMAL) for reading in WITH_LOGNORMAL)


def _needs() -> Iterator[Need]:
    for scheme, reading, mix in cases():
        for ends in ENDS:
            yield Need(setting(scheme, ends, reading, mix), at_most=REPLICATIONS, quick=False)


def _make(runs: Runs) -> Section:
    if not runs.has(setting(RED_STAR, OFF, OF_SCHEME[RED_STAR][1])):
        return Section(["The quick form leaves out other interpretations of the paper."])
    section = Section(
        [
            f"The runs have a load of {PERSISTENT} %, and last for {SECONDS} s after the warm-up. "
            "For each scheme, the first row has the settings of the runs that the score counts, "
            "and each other row changes one of these settings. The rows with lognormal sizes "
            "change the object sizes too. Differences of mean profiles are in percentage points, "
            "and differences of throughputs in % of the link rate. Differences are paired by "
            "replication, and are green if the interval is above 0, and red if it is below 0. An "
            "interval that contains 0 does not decide the sign.",
        ]
    )
    rows: list[list[str | Entry]] = []
    for scheme, reading, mix in cases():
        none, ecn, plus = (setting(scheme, ends, reading, mix) for ends in ENDS)
        sizes = ", lognormal sizes" if mix == LOGNORMAL else ""
        row: list[str | Entry] = [f"{scheme}: {reading.about}{sizes}"]
        for name, more, less, quantity in (
            ("ecn_over_none", ecn, none, PROFILE),
            ("ecn_plus_over_ecn", plus, ecn, PROFILE),
            ("ecn_plus_over_ecn", plus, ecn, THROUGHPUT),
        ):
            of = estimates.mean(gain(runs, more, less, quantity))
            columns: dict[str, object] = {
                "scheme": scheme,
                "mix": mix,
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
