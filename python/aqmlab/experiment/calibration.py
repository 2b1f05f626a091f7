"""Search for the number of web users that produce a given load, with their requests for a replay.

The method is that of Le, Aikat, Jeffay & Smith (2003) and Kuzmanovic (2005, §4.2). The search
simulates the users in a network without congestion, whose bottleneck has a much higher rate. The
number of users increases until their traffic on the bottleneck reaches the load. The requests of
these users are then written to files. Simulations of different queues and rates replay the same
requests, so that they differ only in the queue and the rate.
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
from aqmlab.scenario import ScenarioLike, as_written, normalize, seconds, warm_up_change
from aqmlab.store import Store

Overrides = Sequence[tuple[str, str]]
"""Dotted paths of scenario keys, each with a value in TOML syntax."""

ROUNDS = 12
"""Maximum number of rounds of the search; all searches run once per round."""
MOST_USERS = 10**6
"""Maximum number of users."""
HEADERS = 40
"""Size of a packet's headers in bytes, to estimate the traffic of each user."""
COLUMNS = ["user", "connection", "at_s", "request_bytes", "response_bytes"]
ORDERS = {
    "each": "in-turn",
    "persistent": "in-turn",
    "session": "in-turn",
    "pipelined": "pipelined",
}


@dataclass(frozen=True)
class LoadTarget:
    """Load that the web users of a scenario have to produce.

    Parameters
    ----------
    scenario : path, name, dict or Scenario
        Scenario with web traffic. The search begins with the numbers of web users in this scenario.
        If several ``[[flows]]`` tables have web traffic, the search does not change the ratio
        between their numbers of users.
    load_bps : float
        Load of the link in bit/s.
    folder : path
        Folder for the lists of requests. The list of the ``[[flows]]`` table with index N is
        `requests-N.csv`.
    """

    scenario: ScenarioLike
    load_bps: float
    folder: Path


@dataclass(frozen=True)
class CalibratedLoad:
    """Web users that produce a given load, with lists of their requests.

    Attributes
    ----------
    load_bps : float
        Measured load in bit/s.
    users : dict of int to int
        Number of users of each ``[[flows]]`` table, by the index of the table.
    lists : dict of int to Path
        File with the requests of each ``[[flows]]`` table, by the index of the table.
    scenario : dict
        Scenario of the run without congestion in which the load was measured.
    """

    load_bps: float
    users: dict[int, int]
    lists: dict[int, Path]
    scenario: dict[str, Any]


def web_tables(scenario: dict[str, Any]) -> list[int]:
    """Return the indices of the ``[[flows]]`` tables with web traffic."""
    return [i for i, flow in enumerate(scenario["flows"]) if flow["traffic"]["kind"] == "web"]


def calibrate(
    targets: Iterable[LoadTarget],
    *,
    link: str,
    uncongested: Overrides,
    warm_up: str | None = None,
    tolerance: float = 0.003,
    jobs: int | None = None,
    engine: Engine | None = None,
    store: Store | None = None,
    progress: Progress | None = None,
) -> list[CalibratedLoad]:
    """Find the web users that produce each load, and write their requests to files.

    Parameters
    ----------
    targets : iterable of LoadTarget
        Loads to produce. The searches for all loads run at the same time.
    link : str
        Name of the link whose load is measured, "from>to".
    uncongested : sequence of (str, str)
        Changes of the scenario that prevent congestion: dotted paths, each with a value in TOML
        syntax.
    warm_up : str, optional
        Warm-up as a time with its unit; default: the warm-up of each scenario. The load is measured
        after the warm-up. The lists contain the requests of the whole run.
    tolerance : float
        Maximum relative difference between the requested and the measured load.
    jobs, engine, store, progress
        As for :func:`aqmlab.experiment.run_many`; `progress` is called in every round of the
        search.

    Returns
    -------
    list of CalibratedLoad
        Results in the order of `targets`.

    Raises
    ------
    ScenarioError
        If a scenario is wrong, or has no web traffic.
    ValueError
        If no number of users produces a load, because a single user produces more than this load or
        because the network is too slow.
    """
    searches = [_Search(target, uncongested, link, warm_up, tolerance) for target in targets]
    for search in searches:  # searches with the same scenario select users from one run
        alike = [other for other in searches if other.text == search.text]
        search.highest_bps = max(other.aim_bps for other in alike)
    options: dict[str, Any] = {"jobs": jobs, "engine": engine or Simulator(), "store": store}
    for _ in range(ROUNDS):
        left = [search for search in searches if search.result is None]
        requests = [search.request() for search in left]
        for i, trial in campaign(requests, _Trial.of, progress=progress, **options) if left else ():
            left[i].update(trial)
    for search in searches:
        if search.result is None:
            raise ValueError(search.failure())
    return [search.result for search in searches if search.result is not None]


def frozen(scenario: ScenarioLike, lists: dict[int, Path], users: dict[int, int]) -> dict[str, Any]:
    """Return a scenario that replays lists of requests in place of its web users.

    Parameters
    ----------
    scenario : path, name, dict or Scenario
        The scenario.
    lists, users : dict
        Lists of requests, and numbers of users, by the index of the ``[[flows]]`` table; see
        :class:`CalibratedLoad`.
    """
    written = as_written(scenario)
    flows = [dict(flow) for flow in written["flows"]]
    complete = json.loads(normalize(scenario))["flows"]  # with all defaults
    for i, file in lists.items():
        web = complete[i]["traffic"]
        traffic = {"kind": "requests", "list": str(file)}
        traffic["order"] = ORDERS[web["connections"]]
        if web["server_time"] != "0 s":
            traffic["server_time"] = web["server_time"]
        flows[i] |= {"count": users[i], "traffic": traffic}
    return written | {"flows": flows}


@dataclass(frozen=True)
class _Trial:
    """Measurements of a run: the load of the link, and the bits and the requests of each user.

    The users of all ``[[flows]]`` tables are numbered consecutively, one table after another.
    """

    load_bps: float
    bits: Any
    requests: dict[str, Any]

    @classmethod
    def of(cls, result: Result, whole: Result | None = None) -> "_Trial":
        """Measure a run.

        `whole` is a run of the same scenario without a warm-up, which recorded all requests.
        """
        seen = MeasuredRun(result, [])
        (link,) = result.scenario["record"]["links"]
        load_bps = 8 * seen.link(link, "departed_bytes") / seen.seconds
        number = {name: i for i, name in enumerate(result.columns("connections")["flow"])}

        replies = result.columns("replies")
        wire = np.asarray(replies["bytes_sent"]) + HEADERS * np.asarray(replies["packets_sent"])
        user_of_row = [number.get(name, -1) for name in replies["flow"]]
        bits = 8 * np.bincount(np.array(user_of_row) + 1, wire, len(number) + 1)[1:]
        if "requests" not in (whole or result).tables:
            return cls(load_bps, bits, {})
        table = (whole or result).columns("requests")
        users = np.fromiter((number[name] for name in table["flow"]), np.int64, len(table["flow"]))
        columns = {key: np.asarray(table[key]) for key in ["connection", "start_s", *COLUMNS[3:]]}
        return cls(load_bps, bits, {"user": users} | columns)


class _Search:
    """Search for the web users that produce a load.

    The search first adds users from run to run, until a run reaches the load. Each further run
    replays the requests of selected users. The load that a run measures determines the selection of
    users for the next run.
    """

    def __init__(
        self,
        target: LoadTarget,
        uncongested: Overrides,
        link: str,
        warm_up: str | None,
        tolerance: float,
    ) -> None:
        self.target = target
        changes = [*uncongested, *warm_up_change(warm_up)]
        self.text = normalize(target.scenario, overrides=changes)
        self.scenario: dict[str, Any] = json.loads(self.text)
        self.link, self.tolerance = link, tolerance
        self.tables = web_tables(self.scenario)
        self._check()
        self.users = {i: int(self.scenario["flows"][i]["count"]) for i in self.tables}
        self.aim_bps = self.highest_bps = target.load_bps
        self.load_bps = 0.0
        self.trial: _Trial | None = None
        self.lists: dict[int, Path] = {}
        self.chosen: dict[int, int] = {}
        self.result: CalibratedLoad | None = None

    def _check(self) -> None:
        """Raise an error if the scenario is not suitable for the search."""
        if not self.tables:
            raise ScenarioError(
                'flows: no table has traffic of kind "web"; add such a table, because only the '
                "number of web users is adjusted to the load"
            )
        for i in self.tables:
            order = self.scenario["flows"][i]["traffic"]["connections"]
            if order not in ORDERS:
                raise ScenarioError(
                    f'flows.{i}.traffic.connections: "{order}" cannot be replayed, because a list '
                    f"has the requests one after another; choose one of {', '.join(ORDERS)}"
                )
        if self.scenario["duration"] is None:
            raise ScenarioError(
                "duration: is missing; set the duration of the run, over which the load is measured"
            )
        if not self.target.load_bps > 0:
            raise ValueError(f"the load is {self.target.load_bps:g} bit/s; it must be above 0")

    def _next_scenario(self) -> dict[str, Any]:
        """Return the scenario of the next run in the search."""
        record = {"series": [] if self.lists else ["requests"], "links": [self.link]}
        whole = self.scenario | {"record": record}
        if self.lists:
            return frozen(whole, self.lists, self.chosen)
        flows = [dict(flow) for flow in whole["flows"]]
        for i, count in self.users.items():
            flows[i]["count"] = count
        return whole | {"flows": flows}

    def request(self) -> tuple[str, ...]:
        """Return the scenarios of the next trial.

        Without a warm-up, a trial is one run. With a warm-up, one run measures the load after the
        warm-up, and a second run records all requests, including the requests during the warm-up.
        """
        scenario = self._next_scenario()
        if self.lists or not seconds(scenario["warm_up"]):
            return (normalize(scenario),)
        counted = scenario | {"record": scenario["record"] | {"series": []}}
        return normalize(counted), normalize(scenario | {"warm_up": "0 s"})

    def update(self, trial: _Trial) -> None:
        """Continue the search: increase the number of users, select users, or finish."""
        target_bps = self.target.load_bps
        self.load_bps = trial.load_bps
        if self.lists:
            if abs(self.load_bps / target_bps - 1) <= self.tolerance:
                lists, chosen = dict(self.lists), dict(self.chosen)
                self.result = CalibratedLoad(self.load_bps, chosen, lists, self._next_scenario())
                return
            self.aim_bps *= target_bps / max(self.load_bps, target_bps / 50)
        elif self.load_bps < 1.02 * self.highest_bps:
            more = 1.1 * self.highest_bps / max(self.load_bps, self.highest_bps / 50)
            self.users = {i: math.ceil(more * count) for i, count in self.users.items()}
            if sum(self.users.values()) > MOST_USERS:
                raise ValueError(self.failure())
            return
        else:
            self.trial = trial
        assert self.trial
        self._choose(self.trial)

    def _choose(self, trial: _Trial) -> None:
        """Select an equal share of each table's users, so that the selected users produce the load.

        A user whose traffic would exceed the load is not selected.
        """
        counts = [self.users[i] for i in self.tables]
        rank = np.concatenate([np.arange(count) / count for count in counts])
        counted_s = seconds(self.scenario["duration"]) - seconds(self.scenario["warm_up"])
        rest = trial.load_bps * counted_s - trial.bits.sum()
        # The rest of the load is produced by flows without web traffic, which stay in the scenario.
        goal = self.aim_bps * counted_s - max(0.0, rest)
        slack = self.tolerance / 2 * goal
        selected, sum_bits = np.zeros(len(rank), dtype=bool), 0.0
        for user in np.argsort(rank, kind="stable"):
            if sum_bits + trial.bits[user] <= goal + slack:
                selected[user] = True
                sum_bits += trial.bits[user]
            if sum_bits >= goal - slack:
                break
        self.target.folder.mkdir(parents=True, exist_ok=True)
        first = 0
        for i, count in zip(self.tables, counts, strict=True):
            of_table = np.flatnonzero(selected[first : first + count])
            self.chosen[i] = int(of_table.max()) + 1 if len(of_table) else 1
            user = trial.requests["user"]
            listed = (user >= first) & (user < first + count) & selected[user]
            self.lists[i] = self.target.folder / f"requests-{i}.csv"
            rows = {key: column[listed] for key, column in trial.requests.items()}
            write_list(rows, first, self.lists[i])
            first += count

    def failure(self) -> str:
        """Return the error message for a load that the search did not reach."""
        users = sum((self.chosen or self.users).values())
        return (
            f"the load {self.target.load_bps / 1e6:g} Mbit/s on {self.link} was not reached within "
            f"{100 * self.tolerance:g} %; in the last round {users} users offered "
            f"{self.load_bps / 1e6:.3f} Mbit/s; increase the duration, the rate of the network "
            "without congestion, or the tolerance"
        )


def write_list(rows: dict[str, Any], first: int, file: Path) -> None:
    """Write a list of requests to a file, sorted by user, connection and time.

    Parameters
    ----------
    rows : dict of str to array
        Columns `user`, `connection`, `start_s`, `request_bytes`, `response_bytes`.
    first : int
        Number of the first user, who gets the number 0 in the list.
    file : path
        File to write. An existing file is replaced only when the new file is complete.
    """
    import pyarrow as pa
    from pyarrow import csv

    user, connection, start = rows["user"] - first, rows["connection"], rows["start_s"]
    by = np.lexsort((start, connection, user))
    user, connection, start = user[by], connection[by], start[by]
    new = np.ones(len(user), dtype=bool)
    new[1:] = (np.diff(user) != 0) | (np.diff(connection) != 0)
    which = np.cumsum(new) - 1  # index of the connection of each row, over all users
    opened = start[new]
    # The connections of each user are numbered in the order in which the user opened them.
    rank = np.lexsort((connection[new], opened, user[new]))
    place = np.empty(len(rank), dtype=np.int64)
    place[rank] = np.arange(len(rank))
    before = np.searchsorted(user[new], user[new])  # index of the first connection of each user
    number = (place - before)[which]
    order = np.lexsort((start, place[which]))
    columns = [user, number, start, rows["request_bytes"][by], rows["response_bytes"][by]]
    table = pa.table({name: column[order] for name, column in zip(COLUMNS, columns, strict=True)})
    part = file.with_name(f".{file.name}.part")
    with part.open("wb") as sink:
        sink.write((",".join(COLUMNS) + "\n").encode())
        csv.write_csv(table, sink, csv.WriteOptions(include_header=False))
    part.replace(file)
