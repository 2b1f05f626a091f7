"""Users of the web as many as an offered load takes, and their requests frozen for replay.

How an offered load is set (Le, Aikat, Jeffay & Smith 2003; Kuzmanovic 2005 §4.2): the traffic runs
over the network with its bottleneck so wide that it never is one, and users are taken until they
make up the load there. Their requests are then written down and replayed, identical, over every
queue and capacity, so that differences belong to these alone.
"""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aqmlab._core import ScenarioError
from aqmlab.engine import Engine, Progress, Simulator
from aqmlab.experiment.campaign import campaign
from aqmlab.measures.measured_run import MeasuredRun
from aqmlab.results import Result
from aqmlab.scenario import ScenarioLike, as_said, normalize, seconds, warm_up_change
from aqmlab.store import Store

Overrides = Sequence[tuple[str, str]]
"""Dotted paths of a scenario and their values in TOML."""

ROUNDS = 12
"""Most numbers of users that are tried."""
MOST_USERS = 10**6
"""Most users that are tried."""
HEADERS = 40
"""Bytes of headers with which what a user adds to a load is estimated."""
COLUMNS = ["user", "connection", "at_s", "request_bytes", "response_bytes"]
ORDERS = {
    "each": "in-turn",
    "persistent": "in-turn",
    "session": "in-turn",
    "pipelined": "pipelined",
}


@dataclass(frozen=True)
class Wanted:
    """A load to find the users for.

    Parameters
    ----------
    scenario : path, dict or Scenario
        Has web traffic; the counts of its users are a first guess, and say how many of each table
        there are beside the others.
    load_bps : float
        The load, in bit/s on the link.
    folder : path
        Where the lists of requests are written: `requests-N.csv` for table N of the flows.
    """

    scenario: ScenarioLike
    load_bps: float
    folder: Path


@dataclass(frozen=True)
class Calibrated:
    """What was found for a load.

    Attributes
    ----------
    load_bps : float
        The load that was measured, in bit/s.
    users : dict of int to int
        How many users each table of flows has, by its place.
    lists : dict of int to Path
        Where their requests are.
    scenario : dict
        The uncongested run that they are of.
    """

    load_bps: float
    users: dict[int, int]
    lists: dict[int, Path]
    scenario: dict[str, Any]


def web_tables(scenario: dict[str, Any]) -> list[int]:
    """Return the places of the tables of flows that are users of the web."""
    return [i for i, flow in enumerate(scenario["flows"]) if flow["traffic"]["kind"] == "web"]


def calibrate(
    wanted: Iterable[Wanted],
    *,
    link: str,
    uncongested: Overrides,
    warm_up: str | None = None,
    tolerance: float = 0.003,
    jobs: int | None = None,
    engine: Engine | None = None,
    store: Store | None = None,
    progress: Progress | None = None,
) -> list[Calibrated]:
    """Find the users that offer a load, and write down what they ask for.

    Parameters
    ----------
    wanted : iterable of Wanted
        The loads; they are sought side by side.
    link : str
        The link whose load is meant, "from>to".
    uncongested : sequence of (str, str)
        What makes the network wide enough: dotted paths and their values in TOML.
    warm_up : str, optional
        A time with its unit, for the key `warm_up` of the scenarios: the load is that of the rest.
        The frozen requests are those of the whole run. Default: that of each scenario.
    tolerance : float
        How far the load may be off, as a share of it.
    jobs, engine, store, progress
        As :func:`aqmlab.experiment.run_many`; progress is that of a round.

    Returns
    -------
    list of Calibrated
        In the order asked for.

    Raises
    ------
    ScenarioError
        If a scenario is wrong, or has no users of the web.
    ValueError
        If no number of users gives a load: one user is too much, or the network is not wide enough.
    """
    searches = [_Search(one, uncongested, link, warm_up, tolerance) for one in wanted]
    for search in searches:  # those of one scenario choose from the same run
        alike = [other for other in searches if other.text == search.text]
        search.most_bps = max(other.aim_bps for other in alike)
    how: dict[str, Any] = {"jobs": jobs, "engine": engine or Simulator(), "store": store}
    for _ in range(ROUNDS):
        left = [search for search in searches if search.found is None]
        asks = [search.ask() for search in left]
        for i, trial in campaign(asks, _Trial.of, progress=progress, **how) if left else ():
            left[i].look(trial)
    for search in searches:
        if search.found is None:
            raise ValueError(search.complaint())
    return [search.found for search in searches if search.found is not None]


def frozen(scenario: ScenarioLike, lists: dict[int, Path], users: dict[int, int]) -> dict[str, Any]:
    """Return a scenario whose users of the web ask for what their lists say.

    Parameters
    ----------
    scenario : path, dict or Scenario
        The scenario.
    lists, users : dict
        Of each table of flows with users of the web, as :class:`Calibrated` has them.
    """
    said = as_said(scenario)
    flows = [dict(flow) for flow in said["flows"]]
    whole = json.loads(normalize(scenario))["flows"]  # with what a preset says
    for i, file in lists.items():
        was = whole[i]["traffic"]
        traffic = {"kind": "requests", "list": str(file)}
        traffic["order"] = ORDERS[was["connections"]]
        if was["server_time"] != "0 s":
            traffic["server_time"] = was["server_time"]
        flows[i] |= {"count": users[i], "traffic": traffic}
    return said | {"flows": flows}


@dataclass(frozen=True)
class _Trial:
    """What a run tells: the load, what each user added to it, and his requests.

    The users of all tables are counted together, in their order.
    """

    load_bps: float
    bits: Any
    requests: dict[str, Any]

    @classmethod
    def of(cls, result: Result, whole: Result | None = None) -> "_Trial":
        """Look at a run; `whole` is the same without a warm-up, which has every request."""
        seen = MeasuredRun(result, [])
        (link,) = result.scenario["record"]["links"]
        load_bps = 8 * seen.link(link, "departed_bytes") / seen.seconds
        number = {name: i for i, name in enumerate(result.columns("connections")["flow"])}

        replies = result.columns("replies")
        wire = np.asarray(replies["bytes_sent"]) + HEADERS * np.asarray(replies["packets_sent"])
        here = [number.get(name, -1) for name in replies["flow"]]
        bits = 8 * np.bincount(np.array(here) + 1, wire, len(number) + 1)[1:]
        if "requests" not in (whole or result).tables:
            return cls(load_bps, bits, {})
        table = (whole or result).columns("requests")
        users = np.fromiter((number[name] for name in table["flow"]), np.int64, len(table["flow"]))
        kept = {key: np.asarray(table[key]) for key in ["connection", "start_s", *COLUMNS[3:]]}
        return cls(load_bps, bits, {"user": users} | kept)


class _Search:
    """A load that is sought: first a run with users enough, then those who make it up, replayed."""

    def __init__(
        self,
        wanted: Wanted,
        uncongested: Overrides,
        link: str,
        warm_up: str | None,
        tolerance: float,
    ) -> None:
        self.wanted = wanted
        changes = [*uncongested, *warm_up_change(warm_up)]
        self.text = normalize(wanted.scenario, overrides=changes)
        self.scenario: dict[str, Any] = json.loads(self.text)
        self.link, self.tolerance = link, tolerance
        self.tables = web_tables(self.scenario)
        self._check()
        self.users = {i: int(self.scenario["flows"][i]["count"]) for i in self.tables}
        self.aim_bps = self.most_bps = wanted.load_bps
        self.load_bps = 0.0
        self.trial: _Trial | None = None
        self.lists: dict[int, Path] = {}
        self.chosen: dict[int, int] = {}
        self.found: Calibrated | None = None

    def _check(self) -> None:
        if not self.tables:
            raise ScenarioError(
                "flows: none has traffic of the kind web, so there are no users to find"
            )
        for i in self.tables:
            how = self.scenario["flows"][i]["traffic"]["connections"]
            if how not in ORDERS:
                raise ScenarioError(
                    f'flows.{i}.traffic.connections: "{how}" cannot be frozen: a list has requests '
                    f"one after the other; choose one of {', '.join(ORDERS)}"
                )
        if self.scenario["duration"] is None:
            raise ScenarioError(
                "duration: is absent, and a load is that of a time; give the scenario one"
            )
        if not self.wanted.load_bps > 0:
            raise ValueError(f"load {self.wanted.load_bps:g} bit/s must be above 0")

    def _tried(self) -> dict[str, Any]:
        """Return what is run next."""
        record = {"series": [] if self.lists else ["requests"], "links": [self.link]}
        whole = self.scenario | {"record": record}
        if self.lists:
            return frozen(whole, self.lists, self.chosen)
        flows = [dict(flow) for flow in whole["flows"]]
        for i, count in self.users.items():
            flows[i]["count"] = count
        return whole | {"flows": flows}

    def ask(self) -> tuple[str, ...]:
        """Return the runs of a trial: one alone, or one that is counted and one with all requests.

        Lists of requests have those of the warm-up too, which a run with a warm-up leaves out.
        """
        tried = self._tried()
        if self.lists or not seconds(tried["warm_up"]):
            return (normalize(tried),)
        counted = tried | {"record": tried["record"] | {"series": []}}
        return normalize(counted), normalize(tried | {"warm_up": "0 s"})

    def look(self, trial: _Trial) -> None:
        """Choose users, or more of them; or see whether those who were chosen offer the load."""
        self.load_bps = trial.load_bps
        if self.lists:
            if abs(self.load_bps / self.wanted.load_bps - 1) <= self.tolerance:
                lists, chosen = dict(self.lists), dict(self.chosen)
                self.found = Calibrated(self.load_bps, chosen, lists, self._tried())
                return
            self.aim_bps *= self.wanted.load_bps / max(self.load_bps, self.wanted.load_bps / 50)
        elif self.load_bps < 1.02 * self.most_bps:
            more = 1.1 * self.most_bps / max(self.load_bps, self.most_bps / 50)
            self.users = {i: math.ceil(more * count) for i, count in self.users.items()}
            if sum(self.users.values()) > MOST_USERS:
                raise ValueError(self.complaint())
            return
        else:
            self.trial = trial
        assert self.trial
        self._choose(self.trial)

    def _choose(self, trial: _Trial) -> None:
        """Take users in their order, all tables side by side; leave out who would be too much."""
        counts = [self.users[i] for i in self.tables]
        rank = np.concatenate([np.arange(count) / count for count in counts])
        counted_s = seconds(self.scenario["duration"]) - seconds(self.scenario["warm_up"])
        rest = trial.load_bps * counted_s - trial.bits.sum()
        # What no user sent is of other flows, which remain.
        goal = self.aim_bps * counted_s - max(0.0, rest)
        slack = self.tolerance / 2 * goal
        taken, sum_bits = np.zeros(len(rank), dtype=bool), 0.0
        for user in np.argsort(rank, kind="stable"):
            if sum_bits + trial.bits[user] <= goal + slack:
                taken[user] = True
                sum_bits += trial.bits[user]
            if sum_bits >= goal - slack:
                break
        self.wanted.folder.mkdir(parents=True, exist_ok=True)
        first = 0
        for i, count in zip(self.tables, counts, strict=True):
            here = np.flatnonzero(taken[first : first + count])
            self.chosen[i] = int(here.max()) + 1 if len(here) else 1
            mine = (trial.requests["user"] >= first) & (trial.requests["user"] < first + count)
            mine &= taken[trial.requests["user"]]
            self.lists[i] = self.wanted.folder / f"requests-{i}.csv"
            rows = {key: column[mine] for key, column in trial.requests.items()}
            write_list(rows, first, self.lists[i])
            first += count

    def complaint(self) -> str:
        """Say that the load was not found."""
        users = sum((self.chosen or self.users).values())
        return (
            f"no users offer {self.wanted.load_bps / 1e6:g} Mbit/s on {self.link} within "
            f"{100 * self.tolerance:g} %: {users} offered {self.load_bps / 1e6:.3f} Mbit/s at "
            "last; make the run longer or the network wider, or allow more"
        )


def write_list(rows: dict[str, Any], first: int, file: Path) -> None:
    """Write a list of requests: by user, his connections as they were opened, and their requests.

    Parameters
    ----------
    rows : dict of str to array
        `user`, `connection`, `start_s`, `request_bytes`, `response_bytes`.
    first : int
        The user who is number 0 of the list.
    file : path
        Where it is written; it appears whole.
    """
    import pyarrow as pa
    from pyarrow import csv

    user, connection, start = rows["user"] - first, rows["connection"], rows["start_s"]
    by = np.lexsort((start, connection, user))
    user, connection, start = user[by], connection[by], start[by]
    new = np.ones(len(user), dtype=bool)
    new[1:] = (np.diff(user) != 0) | (np.diff(connection) != 0)
    which = np.cumsum(new) - 1  # the connection of each row, over all users
    opened = start[new]
    # Connections come in the order in which they were opened.
    rank = np.lexsort((connection[new], opened, user[new]))
    place = np.empty(len(rank), dtype=np.int64)
    place[rank] = np.arange(len(rank))
    before = np.searchsorted(user[new], user[new])  # where the connections of the user begin
    number = (place - before)[which]
    order = np.lexsort((start, place[which]))
    columns = [user, number, start, rows["request_bytes"][by], rows["response_bytes"][by]]
    table = pa.table({name: column[order] for name, column in zip(COLUMNS, columns, strict=True)})
    part = file.with_name(f".{file.name}.part")
    with part.open("wb") as sink:
        sink.write((",".join(COLUMNS) + "\n").encode())
        csv.write_csv(table, sink, csv.WriteOptions(include_header=False))
    part.replace(file)
