"""Calibration of the number of users for each load, which computes the table in `users.py`.

On the uncongested link, users do not influence each other, so the loads of single users can be
added. The calibration therefore needs only one run, with more users than any load needs. For a
smaller number of users, the loads of the single users are added.

    python -m aqmlab.studies.power_of_ecn.calibration [NAME ...]

The names are those of the table's keys; without a name, the command computes the whole table. The
name `browsers` stands for the numbers of browsers of the testbed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from aqmlab.results import Result
from aqmlab.studies.power_of_ecn.mixes import MIXES
from aqmlab.studies.power_of_ecn.readings import SEGMENTS, WAITING
from aqmlab.studies.power_of_ecn.scenarios import (
    AS_READ,
    BOTTLENECK,
    LASTS_S,
    RATE_BPS,
    WARM_UP_S,
    Reading,
    Setting,
    scenario,
    tables,
)
from aqmlab.studies.power_of_ecn.testbed import FREE, OFFERED_BPS
from aqmlab.studies.power_of_ecn.testbed import LASTS_S as TESTBED_S
from aqmlab.studies.power_of_ecn.users import BROWSERS, USERS
from aqmlab.studies.power_of_ecn.words import GENERAL, OFF, UNCONGESTED

MOST_BROWSERS = 700
WINDOW = 65_536
"""Advertised window of the testbed's hosts, in bytes."""
HEADER, SEGMENT, CONTROL = 40, 1460, 160
"""Bytes of a packet's headers, of a segment's data, and of a connection's SYN and FIN packets."""


def most(mix: str) -> int:
    """Return the number of users in the calibration run, which is more than any load needs."""
    return 3800 if mix == GENERAL else 5300


def sent(result: Result, ends_s: float) -> dict[str, np.ndarray]:
    """Return the bytes that each user of each flow table received until `ends_s`, by table."""
    parts = [name.rsplit("-", 1) for name in result.columns("requests")["flow"]]
    table, user = np.array([p[0] for p in parts]), np.array([int(p[1]) for p in parts])
    window = np.array([1024 * int(name.split("-")[0]) for name in table])
    got = _received(result, user, window, ends_s)
    counts = {flow["name"].removesuffix("-{i}"): flow["count"] for flow in result.scenario["flows"]}
    return {
        name: np.bincount(user[table == name], got[table == name], minlength=count)
        for name, count in counts.items()
    }


def _received(result: Result, user: np.ndarray, window: np.ndarray, ends_s: float) -> np.ndarray:
    """Return the bytes of the response to each request that arrived from the warm-up to `ends_s`.

    The bytes of a finished response are spread evenly over the time from its request to its end. An
    unfinished response is assumed to receive one advertised window per round trip.
    """
    asked, over = result.columns("requests"), float(result.manifest["simulated_s"])
    start, completed = (np.asarray(asked[c]) for c in ("start_s", "completed_s"))
    size = np.asarray(asked["response_bytes"]).astype(float)
    size += HEADER * np.ceil(size / SEGMENT) + CONTROL
    network = result.scenario["network"]
    near, far = (float(network["right_delay"][k].split()[0]) for k in ("first", "last"))
    clients = network["right_hosts"]
    rtt_s = 2e-3 * (1.5 + near + (far - near) * (user % clients) / (clients - 1))
    until = np.where(np.isfinite(completed), completed, over)
    unfinished = np.minimum(size, window / rtt_s * (over - start))
    size = np.where(np.isfinite(completed), size, unfinished)
    inside = np.clip(np.minimum(until, ends_s) - np.maximum(start, WARM_UP_S), 0, None)
    received: np.ndarray = size * inside / np.maximum(until - start, 1e-9)
    return received


def users(
    result: Result, carried: float, load: float, seconds: int, rate_bps: int = RATE_BPS
) -> int:
    """Return the number of users whose load is closest to the given load.

    Parameters
    ----------
    result : Result
        Result of :func:`run`.
    carried : float
        Bytes that the link sent in the same time; :func:`carried` returns this number.
    load : float
        Load in % of `rate_bps`.
    seconds : int
        Duration after the warm-up, in s.
    rate_bps : int
        Rate of the bottleneck in bit/s.
    """
    by_user = sent(result, WARM_UP_S + seconds)
    sums = {name: np.concatenate([[0.0], got.cumsum()]) for name, got in by_user.items()}
    every = sum(len(got) for got in by_user.values())
    numbers = np.arange(every)
    total = np.zeros(every)
    for n in map(int, numbers):
        total[n] = sum(sums[name][min(count, len(sums[name]) - 1)] for name, *_, count in tables(n))
    total *= carried / sum(s[-1] for s in sums.values())
    wanted = load / 100 * rate_bps * seconds / 8
    if total[-1] < wanted:
        raise ValueError(
            f"most: {every}: users offer a load of less than {load} %; use a higher number"
        )
    return int(np.argmin(abs(total - wanted)))


def run(mix: str, replication: int, seconds: int = LASTS_S, reading: Reading = AS_READ) -> Result:
    """Run the users of :func:`most` on the uncongested link, and record all requests."""
    at = Setting(UNCONGESTED, OFF, 0, mix, seconds=seconds, reading=reading)
    return _run(at, replication, {"warm_up": "0 s"}, ["requests"])


@cache
def carried(mix: str, replication: int, seconds: int, reading: Reading = AS_READ) -> float:
    """Return the bytes that the bottleneck sends in the same run after the warm-up."""
    at = Setting(UNCONGESTED, OFF, 0, mix, seconds=seconds, reading=reading)
    links = _run(at, replication, {}, []).columns("links")
    return float(links["departed_bytes"][list(links["link"]).index(BOTTLENECK)])


def _run(at: Setting, replication: int, changes: dict[str, Any], series: list[str]) -> Result:
    from aqmlab.experiment.runs import run_quietly

    record = {"series": series, "links": [BOTTLENECK], "flows": "table"}
    of_most = scenario(at, replication, most(at.mix))
    return run_quietly(of_most | changes | {"record": record})


def rows(name: str) -> Iterator[tuple[tuple[str, int, int], list[int]]]:
    """Yield the rows of the table for traffic of a name: the key and the numbers of users.

    A row has as many numbers as the row of the present table.
    """
    mix, _, of_reading = name.partition(", ")
    if name in MIXES:
        mix, of_reading = name, ""
    (reading,) = (one for one in (AS_READ, SEGMENTS, WAITING) if one.users == of_reading)
    keys = [key for key in USERS if key[0] == name]
    longest = max(seconds for _, seconds, _ in keys)
    by_key: dict[tuple[str, int, int], list[int]] = {key: [] for key in keys}
    for replication in range(max(len(USERS[key]) for key in keys)):
        result = run(mix, replication, longest, reading)
        for key in (key for key in keys if replication < len(USERS[key])):
            _, seconds, load = key
            sent_bytes = carried(mix, replication, seconds, reading)
            rate_bps = Setting(UNCONGESTED, OFF, load, mix).rate_bps
            by_key[key].append(users(result, sent_bytes, load, seconds, rate_bps))
    yield from by_key.items()


def browsers(replication: int) -> int:
    """Return the number of browsers that receive `OFFERED_BPS` over the uncongested network.

    The link of 100 Mbit/s carries less than a quarter of its rate, so browsers hardly influence
    each other, and the throughputs of single browsers can be added.
    """
    from aqmlab.experiment.runs import run_quietly

    most = FREE.scenario(replication, MOST_BROWSERS)
    result = run_quietly(most | {"warm_up": "0 s"})
    user = np.array([int(name.rsplit("-", 1)[1]) for name in result.columns("requests")["flow"]])
    window = np.full(len(user), WINDOW)
    got = _received(result, user, window, WARM_UP_S + TESTBED_S)
    total = np.bincount(user, got, minlength=MOST_BROWSERS).cumsum()
    links = run_quietly(most).columns("links")
    total *= links["departed_bytes"][list(links["link"]).index(BOTTLENECK)] / total[-1]
    return 1 + int(np.argmin(abs(total - OFFERED_BPS * TESTBED_S / 8)))


def main(names: Sequence[str]) -> None:
    """Print the rows of `users.py` for the given names of traffic, or the numbers of browsers."""
    if names == ["browsers"]:
        print(tuple(map(browsers, range(len(BROWSERS)))))
        return
    for name in names or dict.fromkeys(name for name, _, _ in USERS):
        for key, numbers in rows(name):
            print(f"{key}: {tuple(numbers)},", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
