"""Beyond the paper: responses to a marked SYN-ACK (RFC 5562), ECN++, persistent connections."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab import estimates
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Cell, Item, Need, Runs, Section
from aqmlab.studies.power_of_ecn.profiles import HEADS, SHOWN
from aqmlab.studies.power_of_ecn.scenarios import AS_READ, Reading, Setting
from aqmlab.studies.power_of_ecn.showing import PROFILE, THROUGHPUT, gain, mean, with_interval
from aqmlab.studies.power_of_ecn.words import ECN, ECN_PLUS, OFF, PERSISTENT, PI, RED_STAR

SECONDS, REPLICATIONS = 60, 3
ENDS = {
    OFF: "no ECN",
    ECN: "ECN",
    ECN_PLUS: "ECN+: a marked SYN-ACK has no effect",
    "ecn+": "ECN+: initial window of one segment (RFC 5562)",
    "ecn+wait": "ECN+/Wait: the server waits for a round trip",
    "ecn+try-once": "ECN+/TryOnce: the server sends the SYN-ACK again",
    "ecn++": "ECN++: other control packets are ECN-capable too",
}
PERSISTS = Reading("one persistent connection per page", traffic=(("connections", "persistent"),))
READINGS = {AS_READ: "one connection per object", PERSISTS: "one persistent connection per page"}
SCHEMES = (RED_STAR, PI)


def setting(scheme: str, ends: str, reading: Reading = AS_READ) -> Setting:
    """Return a setting at persistent congestion, with the short duration of this item's runs."""
    return Setting(scheme, ends, PERSISTENT, seconds=SECONDS, reading=reading)


def cases() -> Iterator[Setting]:
    """Yield the settings in the order of the rows of the table."""
    for scheme in SCHEMES:
        yield from (setting(scheme, ends) for ends in ENDS)
        yield from (setting(scheme, ends, PERSISTS) for ends in (OFF, ECN, ECN_PLUS))


def _needs() -> Iterator[Need]:
    yield from (Need(at, at_most=REPLICATIONS, quick=False) for at in cases())


def _make(runs: Runs) -> Section:
    if not runs.has(setting(SCHEMES[0], OFF)):
        return Section(["The quick form leaves out the variants."])
    section = Section(
        [
            f"The runs have a load of {PERSISTENT} %, and last for {SECONDS} s after the warm-up, "
            f"with {REPLICATIONS} replications. The last column is the difference from the mean "
            "profile with ECN+, in percentage points, paired by replication. An entry of the last "
            "column is green if its interval is above 0, and red if its interval is below 0.",
        ]
    )
    rows: list[list[str | Entry]] = []
    for at in cases():
        means = [mean(runs, at, q) for q in (*SHOWN, THROUGHPUT)]
        columns = at.columns()
        for quantity, of in zip((*SHOWN, THROUGHPUT), means, strict=True):
            section.cells.append(Cell("variants", columns, quantity[0], quantity[1], of))
        last: str | Entry = ""
        if at.ends != ECN_PLUS:
            plus = setting(at.scheme, ECN_PLUS, at.reading)
            of = estimates.mean(gain(runs, at, plus, PROFILE))
            last = with_interval(of, kind="good" if of.low > 0 else "bad" if of.high < 0 else "")
        name = f"{at.scheme}, {READINGS[at.reading]}: {ENDS[at.ends]}"
        rows.append([name, *map(with_interval, means), last])
    head = [
        "Scheme, connections: ECN mode",
        *HEADS,
        "Throughput (%)",
        "Profile mean minus that with ECN+",
    ]
    section.tables.append(Table("ECN modes and connections", head, rows))
    return section


ITEM = Item(
    "variants",
    "Beyond the paper: Wait, TryOnce, ECN++, and persistent connections",
    _needs,
    _make,
    scored=False,
)
