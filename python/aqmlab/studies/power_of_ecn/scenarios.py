"""The network of section 4.2 and its web traffic as scenarios.

Source: Kuzmanovic 2005 (`kuzmanovic2005ecnplus`), sections 4 to 6. The settings that the paper
leaves open are chosen here and listed in `deviations.py`; `readings.py` has other choices.
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
"""Link from the servers on the left to the clients."""
WARM_UP_S, LASTS_S = 30, 300
QUICK_S = {WEB: 10, GENERAL: 20}
"""Seconds after the warm-up in the quick form; the general mix has a heavier tail."""
TARGET_BYTES = 62_000
"""Queue that causes a delay of 5 ms (section 4.2)."""

BODY: dict[str, Any] = {
    "kind": "lognormal", "mean": "2123 B", "sigma": 1.0, "min": "100 B", "max": "7060 B",
}  # fmt: skip
TAIL: dict[str, Any] = {"kind": "bounded_pareto", "min": "7060 B", "max": "1 GB", "shape": 1.2}


def sizes(mix: str) -> dict[str, Any]:
    """Return the sizes of objects: a lognormal body, and a Pareto tail of 15 % up to 1 GB.

    The web mix has exactly the numbers of section 4.2: a mean of 7.2 kB, and 80 % of the bytes in
    the largest 15 % of the objects. In the general mix the largest 15 % of the objects have 90 % of
    the bytes (section 5.3.1).
    """
    tail = TAIL | {"shape": {WEB: 1.2, GENERAL: 1.0}[mix]}
    return {"kind": "mixture", "parts": [{"weight": 85, "of": BODY}, {"weight": 15, "of": tail}]}


WINDOWS = {"8 KiB": 4, "16 KiB": 7, "64 KiB": 9}
"""Advertised windows, and their users among 20 (section 5.2.2, footnote 4)."""
GROUPS = (1, 9, 9, 1)
"""Clients of 20 that get ECN in each step of deployment: 0, 5, 50, 95 and 100 % have it."""
CLIENTS, SERVERS = 35, 20
"""Numbers of hosts; the delays belong to the clients' access links."""

TCP: dict[str, Any] = {
    "recovery": "newreno",
    "initial_window": "2 segments",
    "rto": {"initial": "3 s", "min": "1 s"},
    "window": {"scaling": "full"},
}


LIMIT = "1000 packets"
NAMED = (RED, RED_STAR, REM, PI, THRESHOLD, FIFO, UNCONGESTED)
"""Queues of the paper; any other name is the kind of a queue with its defaults."""


def queue(scheme: str) -> dict[str, Any]:
    """Return the queue from servers to clients."""
    if scheme not in NAMED:
        return {"kind": scheme, "limit": LIMIT}
    red: dict[str, Any] = {"kind": "adaptive_red", "target_delay": "5 ms", "gentle": False}
    target = f"{TARGET_BYTES} B"
    queues: dict[str, dict[str, Any]] = {
        RED: red | {"above_maxth": "drop"},
        RED_STAR: red | {"above_maxth": "mark"},
        REM: {"kind": "rem", "target": target},
        PI: {"kind": "pi", "qref": target},
        THRESHOLD: {"kind": "threshold", "threshold": target},
        FIFO: {"kind": "drop_tail"},
        UNCONGESTED: {"kind": "drop_tail"},
    }
    return queues[scheme] | {"limit": LIMIT}


@dataclass(frozen=True)
class Reading:
    """Another reading of the paper: its description and its scenario keys."""

    about: str = "as read here"
    tcp: tuple[tuple[str, Any], ...] = ()
    queue: tuple[tuple[str, Any], ...] = ()
    traffic: tuple[tuple[str, Any], ...] = ()


AS_READ = Reading()


@dataclass(frozen=True)
class Setting:
    """Setting: web traffic through the bottleneck.

    Parameters
    ----------
    scheme : str
        Queue; with `UNCONGESTED` the link has 1 Gbit/s.
    ends : str
        ECN mode of the clients with ECN, and of all servers.
    load : int
        Offered load, in % of 100 Mbit/s.
    mix : str
        Mix of sizes: `WEB` or `GENERAL`.
    share : int
        Number of clients with ECN, of 20.
    seconds : int
        Duration after the warm-up, in s.
    reading : Reading
        Reading of the paper.
    """

    scheme: str
    ends: str
    load: int
    mix: str = WEB
    share: int = 20
    seconds: int = LASTS_S
    reading: Reading = field(default=AS_READ)

    def columns(self) -> dict[str, Any]:
        """Return the columns of cells.csv that describe the scenario."""
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
        """Number of users per replication; a shorter run has the numbers of the quick form."""
        return USERS[self.mix, max(self.seconds, QUICK_S[self.mix]), self.load]

    @property
    def reference(self) -> Setting:
        """Setting with the same requests on the uncongested link."""
        return replace(self, scheme=UNCONGESTED, ends=OFF, share=20)

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication of this setting."""
        return scenario(self, replication, self.users[replication])


def scenario(at: Setting, replication: int, users: int) -> dict[str, Any]:
    """Return the scenario of this setting with `users` users."""
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
    if at.ends == OFF:  # without ECN this key has no effect
        own.pop("ecn.min_window", None)
    return with_keys({} if "stack" in own else TCP, own)


def _network(at: Setting) -> dict[str, Any]:
    """Return the network: servers left, clients right, round trips of 10 to 150 ms."""
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

    Pages start independently of earlier pages. Every scheme therefore has the same requests as the
    uncongested link.
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
    """Yield the flow tables of `count` users: name, advertised window, group and users."""
    for window, of_20 in WINDOWS.items():
        for group, part in enumerate(GROUPS):
            yield f"{window.split()[0]}-{group}", window, group, round(count * of_20 * part / 400)


def _flows(at: Setting, users: int) -> list[dict[str, Any]]:
    """Return one flow table per advertised window and group of clients."""
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
    """Return the `record` table of a scenario: requests and drops."""
    return {
        "series": ["requests", "drops"],
        "links": [BOTTLENECK],
        "flows": "table",
    }
