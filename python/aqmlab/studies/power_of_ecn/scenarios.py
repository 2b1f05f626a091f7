"""Scenarios of the network and the web traffic in section 4.2 of the paper.

Source: Kuzmanovic 2005 (`kuzmanovic2005ecnplus`), sections 4 to 6. This module chooses values for
the settings that the paper leaves open. `deviations.py` lists the chosen values, and `readings.py`
has other values of the open settings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from aqmlab.scenario import with_keys
from aqmlab.studies.power_of_ecn.mixes import sizes
from aqmlab.studies.power_of_ecn.users import USERS
from aqmlab.studies.power_of_ecn.words import (
    ECN,
    ECN_PLUS,
    ENDS,
    EXPONENTIAL,
    FIFO,
    GENERAL,
    LIGHT,
    OFF,
    PERSISTENT,
    PI,
    RED,
    RED_STAR,
    REM,
    SMALL,
    THRESHOLD,
    UNCONGESTED,
    WEB,
)

RATE_BPS = 100_000_000
SLOW_BPS = 10_000_000
"""Rate of the bottleneck in the tables of RFC 5562 (`rfc5562`), in bit/s."""
UNCONGESTED_BPS = 1_000_000_000
BOTTLENECK = "left>right"
"""Name of the bottleneck link, from the servers on the left to the clients on the right."""
WARM_UP_S, LASTS_S = 30, 300
REPLICATIONS, MANY = 5, 10
"""Number of replications of a setting, and of a setting in `NEAR`."""
QUICK_S = {WEB: 10, GENERAL: 20}
"""Duration of the quick form's runs after the warm-up, in s, for each mix of object sizes."""
TARGET_BYTES = 62_000
"""Queue length that causes a delay of 5 ms (section 4.2)."""

WINDOWS = {"8 KiB": 4, "16 KiB": 7, "64 KiB": 9}
"""Number of users per advertised window, out of 20 users (section 5.2.2, footnote 4)."""
GROUPS = (1, 9, 9, 1)
"""Numbers of clients, out of 20, that get ECN in each step of deployment (5, 50, 95, 100 %)."""
CLIENTS, SERVERS = 35, 20
"""Numbers of client hosts and of server hosts."""

PAGE_GAP: dict[str, Any] = {"kind": "pareto", "mean": "10 s", "shape": 1.5}
"""Distribution of the time between two pages of a user."""

TCP: dict[str, Any] = {
    "recovery": "newreno",
    "initial_window": "2 segments",
    "rto": {"initial": "3 s", "min": "1 s"},
    "window": {"scaling": "full"},
}


LIMIT = "1000 packets"
NAMED = (RED, RED_STAR, REM, PI, THRESHOLD, FIFO, UNCONGESTED)
"""Names of the paper's queues; any other name stands for a kind of queue with its defaults."""


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
    """Interpretation of the paper: its description, and the scenario keys that it changes.

    `users` names the interpretation in the table of `users.py`, if the interpretation needs other
    numbers of users for the same loads. It is empty if the numbers of users are those of the mix.
    """

    about: str = "interpretation that the score counts"
    tcp: tuple[tuple[str, Any], ...] = ()
    queue: tuple[tuple[str, Any], ...] = ()
    traffic: tuple[tuple[str, Any], ...] = ()
    users: str = ""


AS_READ = Reading()


@dataclass(frozen=True)
class Setting:
    """Setting with web traffic through the bottleneck.

    Parameters
    ----------
    scheme : str
        Name of the queue; with `UNCONGESTED` the link has 1 Gbit/s.
    ends : str
        ECN mode of the clients with ECN, and of all servers.
    load : int
        Offered load, in % of the rate of the bottleneck.
    mix : str
        Mix of object sizes, one of `MIXES` in `mixes.py`.
    share : int
        Number of clients with ECN, out of 20.
    seconds : int
        Duration after the warm-up, in s.
    reading : Reading
        Interpretation of the paper.
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
    def rate_bps(self) -> int:
        """Rate of the bottleneck in bit/s, which is lower with the object sizes of RFC 5562."""
        return SLOW_BPS if self.mix in (SMALL, EXPONENTIAL) else RATE_BPS

    @property
    def users(self) -> tuple[int, ...]:
        """Number of users in each replication; short runs have the numbers of the quick form."""
        name = ", ".join(filter(None, [self.mix, self.reading.users]))
        return USERS[name, max(self.seconds, QUICK_S.get(self.mix, 0)), self.load]

    @property
    def reference(self) -> Setting:
        """Setting of the uncongested link with the same requests."""
        return replace(self, scheme=UNCONGESTED, ends=OFF, share=20)

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication of this setting."""
        return scenario(self, replication, self.users[replication])


NEAR = (
    Setting(THRESHOLD, ECN_PLUS, LIGHT),
    Setting(PI, OFF, PERSISTENT),
    Setting(PI, ECN, PERSISTENT),
)
"""Settings whose open claims ten replications should decide, by the spread of the first five."""


def at_most(at: Setting) -> int:
    """Return the number of replications of a setting."""
    return MANY if at in NEAR else REPLICATIONS


def scenario(at: Setting, replication: int, users: int) -> dict[str, Any]:
    """Return the scenario of a setting with a given number of users."""
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
    """Return the TCP of all hosts: that of the paper, unless the interpretation names a stack."""
    own = dict(at.reading.tcp)
    if at.ends == OFF:  # without ECN these keys have no effect
        own = {key: value for key, value in own.items() if not key.startswith("ecn.")}
    return with_keys({} if "stack" in own else TCP, own)


def _network(at: Setting) -> dict[str, Any]:
    """Return the network: servers on the left, clients on the right, round trips up to 150 ms."""
    free = at.scheme == UNCONGESTED
    scheme = RED if at.scheme == RED_STAR and at.ends == OFF else at.scheme  # nothing to mark
    return {
        "kind": "dumbbell",
        "rate": f"{UNCONGESTED_BPS if free else at.rate_bps} bit/s",
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
    """Return the web traffic: pages of objects, with one connection per object.

    Pages start independently of earlier pages, so every scheme has the same requests as the
    uncongested link.
    """
    return {
        "kind": "web",
        "page_gap": PAGE_GAP,
        "page_gap_from": "start",
        "objects": {"kind": "geometric", "mean": 4},
        "object_gap": {"kind": "exponential", "mean": "100 ms"},
        "request": "350 B",
        "response": sizes(at.mix),
    } | dict(at.reading.traffic)


def tables(count: int) -> Iterator[tuple[str, str, int, int]]:
    """Yield the flow tables of `count` users: name, advertised window, group, number of users."""
    for window, of_20 in WINDOWS.items():
        for group, part in enumerate(GROUPS):
            yield f"{window.split()[0]}-{group}", window, group, round(count * of_20 * part / 400)


def _flows(at: Setting, users: int) -> list[dict[str, Any]]:
    """Return one flow table for each advertised window and each group of clients."""
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
    """Return the `record` table of a scenario, which requests the series of requests and drops."""
    return {
        "series": ["requests", "drops"],
        "links": [BOTTLENECK],
        "flows": "table",
    }
