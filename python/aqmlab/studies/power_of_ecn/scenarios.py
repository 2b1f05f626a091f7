"""The network of section 4.2 and its web traffic as scenarios.

Source: Kuzmanovic 2005 (`kuzmanovic2005ecnplus`), sections 4 to 6. What it leaves open is decided
here, is listed in `deviations.py`, and is read otherwise in `readings.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from aqmlab.scenario import with_keys
from aqmlab.studies.power_of_ecn.users import USERS
from aqmlab.studies.power_of_ecn.words import (
    ENDS,
    FIFO,
    GENERAL,
    OFF,
    PI,
    RED,
    RED_STAR,
    REM,
    THRESHOLD,
    UNCONGESTED,
    WEB,
)

RATE_BPS = 100_000_000
UNCONGESTED_BPS = 1_000_000_000
BOTTLENECK = "left>right"
"""From servers, on the left, to clients."""
WARM_UP_S, LASTS_S = 30, 300
QUICK_S = {WEB: 10, GENERAL: 20}
"""Of the quick form; the tail of the general mix is heavier, and its runs are cheaper."""
TARGET_BYTES = 62_000
"""A delay of 5 ms (section 4.2)."""

BODY: dict[str, Any] = {
    "kind": "lognormal", "mean": "2123 B", "sigma": 1.0, "least": "100 B", "most": "7060 B",
}  # fmt: skip
TAIL: dict[str, Any] = {"kind": "bounded_pareto", "least": "7060 B", "most": "1 GB", "shape": 1.2}


def sizes(mix: str) -> dict[str, Any]:
    """Return how large objects are: a lognormal body, and 15 % of a Pareto tail up to 1 GB.

    The web mix has exactly what section 4.2 prints: a mean of 7.2 kB, and 80 % of the bytes in
    the largest 15 % of the objects. In the general mix these have 90 % (section 5.3.1).
    """
    tail = TAIL | {"shape": {WEB: 1.2, GENERAL: 1.0}[mix]}
    return {"kind": "mixture", "parts": [{"weight": 85, "of": BODY}, {"weight": 15, "of": tail}]}


WINDOWS = {"8 KiB": 4, "16 KiB": 7, "64 KiB": 9}
"""Advertised windows, and how many of 20 users have them (section 5.2.2, footnote 4)."""
GROUPS = (1, 9, 9, 1)
"""Of 20 clients so many get ECN after each other: none, 5 %, 50 %, 95 % and all have it."""
CLIENTS, SERVERS = 35, 20
"""Hosts; the access links of the clients have all the delays there are."""

TCP: dict[str, Any] = {
    "recovery": "newreno",
    "initial_window": "2 segments",
    "rto": {"initial": "3 s", "min": "1 s"},
    "window": {"scaling": "full"},
}


LIMIT = "1000 packets"
NAMED = (RED, RED_STAR, REM, PI, THRESHOLD, FIFO, UNCONGESTED)
"""Queues of the paper; any other is called as a scenario calls it, and has its defaults."""


def queue(scheme: str) -> dict[str, Any]:
    """Return the queue from servers to clients."""
    if scheme not in NAMED:
        return {"kind": scheme, "limit": LIMIT}
    red: dict[str, Any] = {"kind": "adaptive_red", "target_delay": "5 ms", "gentle": False}
    target = f"{TARGET_BYTES} B"
    laws: dict[str, dict[str, Any]] = {
        RED: red | {"above_maxth": "drop"},
        RED_STAR: red | {"above_maxth": "mark"},
        REM: {"kind": "rem", "target": target},
        PI: {"kind": "pi", "qref": target},
        THRESHOLD: {"kind": "threshold", "threshold": target},
        FIFO: {"kind": "drop_tail"},
        UNCONGESTED: {"kind": "drop_tail"},
    }
    return laws[scheme] | {"limit": LIMIT}


@dataclass(frozen=True)
class Reading:
    """What the paper leaves open, read otherwise: what it is, and the keys that say so."""

    about: str = "as read here"
    tcp: tuple[tuple[str, Any], ...] = ()
    queue: tuple[tuple[str, Any], ...] = ()
    traffic: tuple[tuple[str, Any], ...] = ()


AS_READ = Reading()


@dataclass(frozen=True)
class Setting:
    """Web traffic through the bottleneck.

    Parameters
    ----------
    scheme : str
        The queue; `UNCONGESTED`: the link has 1 Gbit/s.
    ends : str
        ECN of the clients that have it, and of all servers.
    load : int
        Offered load, in % of 100 Mbit/s.
    mix : str
        Of sizes: `WEB` or `GENERAL`.
    share : int
        Of 20 clients so many have ECN, if any do.
    seconds : int
        How long it is looked at after the warm-up.
    reading : Reading
        What is read otherwise.
    """

    scheme: str
    ends: str
    load: int
    mix: str = WEB
    share: int = 20
    seconds: int = LASTS_S
    reading: Reading = field(default=AS_READ)

    def columns(self) -> dict[str, Any]:
        """Return the scenario columns of cells.csv."""
        return {
            "scheme": self.scheme,
            "ends": ENDS.get(self.ends, self.ends),
            "load": self.load,
            "mix": self.mix,
            "ecn_clients": 0 if self.ends == OFF else 5 * self.share,
            "reading": self.reading.about,
        }

    @property
    def users(self) -> tuple[int, ...]:
        """How many users there are in each replication; of a shorter run those of the shortest."""
        return USERS[self.mix, max(self.seconds, QUICK_S[self.mix]), self.load]

    @property
    def reference(self) -> Setting:
        """The same requests on the uncongested link."""
        return replace(self, scheme=UNCONGESTED, ends=OFF, share=20)

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication."""
        return scenario(self, replication, self.users[replication])


def scenario(at: Setting, replication: int, users: int) -> dict[str, Any]:
    """Return a scenario with so many users."""
    return {
        "title": f"{at.scheme}, {ENDS.get(at.ends, at.ends)}, load {at.load} %",
        "seed": replication + 1,
        "duration": f"{WARM_UP_S + at.seconds} s",
        "warm_up": f"{WARM_UP_S} s",
        "phase_breaking": {"start": "10 s"},
        "network": _network(at),
        "flows": _flows(at, users),
        "tcp": _hosts(at),
        "record": _record(),
    }


def _hosts(at: Setting) -> dict[str, Any]:
    """Return the TCP of all hosts: that of the paper, unless a reading names a stack."""
    own = dict(at.reading.tcp)
    if at.ends == OFF:  # no marks to be read otherwise
        own.pop("ecn.min_window", None)
    return with_keys({} if "stack" in own else TCP, own)


def _network(at: Setting) -> dict[str, Any]:
    """Servers on the left, clients on the right: round trips of 10 to 150 ms."""
    free = at.scheme == UNCONGESTED
    scheme = RED if at.scheme == RED_STAR and at.ends == OFF else at.scheme  # nothing to mark
    return {
        "kind": "dumbbell",
        "rate": f"{UNCONGESTED_BPS if free else RATE_BPS} bit/s",
        "delay": "1 ms",
        "queue": queue(scheme) | ({} if free else dict(at.reading.queue)),
        "left_hosts": SERVERS,
        "left_rate": "1 Gbit/s",
        "left_delay": "0.5 ms",
        "right_hosts": CLIENTS,
        "right_rate": "1 Gbit/s",
        "right_delay": {"first": "3.5 ms", "last": "73.5 ms"},
    }


def traffic(at: Setting) -> dict[str, Any]:
    """Return pages of objects, each over a connection of its own.

    Pages come whatever becomes of those before, so that every scheme has the same requests: those
    of the uncongested link.
    """
    return {
        "kind": "web",
        "page_gap": {"kind": "pareto", "mean": "10 s", "shape": 1.5},
        "page_gap_from": "start",
        "objects": {"kind": "geometric", "mean": 4},
        "object_gap": {"kind": "exponential", "mean": "100 ms"},
        "request": "350 B",
        "response": sizes(at.mix),
    } | dict(at.reading.traffic)


def tables(count: int) -> Iterator[tuple[str, str, int, int]]:
    """Give the tables of so many users: name, advertised window, group and users."""
    for window, of_20 in WINDOWS.items():
        for group, part in enumerate(GROUPS):
            yield f"{window.split()[0]}-{group}", window, group, round(count * of_20 * part / 400)


def _flows(at: Setting, users: int) -> list[dict[str, Any]]:
    """Users: a table for each advertised window and group of clients."""
    capable = 0 if at.ends == OFF else at.share
    return [
        {
            "name": f"{name}-{{i}}",
            "count": n,
            "from": f"right-{{i%{CLIENTS}}}",
            "to": f"left-{{i%{SERVERS}}}",
            "traffic": traffic(at),
            "tcp": {
                "receive_window": window,
                "ecn": at.ends if sum(GROUPS[: group + 1]) <= capable else OFF,
            },
        }
        for name, window, group, n in tables(users)
    ]


def _record() -> dict[str, Any]:
    """Record every request and every drop."""
    return {
        "series": ["requests", "drops"],
        "links": [BOTTLENECK],
        "flows": "table",
    }
