"""Calibration of the number of users for each load, which computes the table in `users.py`.

On the uncongested link, users do not influence each other, so the loads of single users can be
added. The calibration therefore needs only one run, with more users than any load needs. For a
smaller number of users, the loads of the single users are added.

    python -m aqmlab.studies.power_of_ecn.calibration
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from aqmlab.results import Result
from aqmlab.studies.power_of_ecn.scenarios import (
    BOTTLENECK,
    LASTS_S,
    RATE_BPS,
    WARM_UP_S,
    Setting,
    scenario,
    tables,
)
from aqmlab.studies.power_of_ecn.words import GENERAL, OFF, UNCONGESTED, WEB

REPLICATIONS = 5
MOST = {WEB: 5300, GENERAL: 3800}
"""Number of users in the calibration run, which is more than any load needs."""
HEADER, SEGMENT, CONTROL = 40, 1460, 160
"""Bytes of a packet's headers, of a segment's data, and of a connection's SYN and FIN packets."""


def sent(result: Result, ends_s: float) -> dict[str, np.ndarray]:
    """Return the bytes that each user of each flow table received after the warm-up.

    The bytes of a finished response are spread evenly over the time from its request to its end. An
    unfinished response is assumed to receive one advertised window per round trip.
    """
    asked, over = result.columns("requests"), float(result.manifest["simulated_s"])
    start, completed = (np.asarray(asked[c]) for c in ("start_s", "completed_s"))
    size = np.asarray(asked["response_bytes"]).astype(float)
    size += HEADER * np.ceil(size / SEGMENT) + CONTROL
    parts = [name.rsplit("-", 1) for name in asked["flow"]]
    table, user = np.array([p[0] for p in parts]), np.array([int(p[1]) for p in parts])
    rate = _rates(result, table, user)
    until = np.where(np.isfinite(completed), completed, over)
    size = np.where(np.isfinite(completed), size, np.minimum(size, rate * (over - start)))
    inside = np.clip(np.minimum(until, ends_s) - np.maximum(start, WARM_UP_S), 0, None)
    got = size * inside / np.maximum(until - start, 1e-9)
    counts = {flow["name"].removesuffix("-{i}"): flow["count"] for flow in result.scenario["flows"]}
    return {
        name: np.bincount(user[table == name], got[table == name], minlength=count)
        for name, count in counts.items()
    }


def _rates(result: Result, table: np.ndarray, user: np.ndarray) -> np.ndarray:
    """Return the maximum rate of the response to each request, in B/s."""
    network = result.scenario["network"]
    clients = network["right_hosts"]
    near, far = (float(network["right_delay"][k].split()[0]) for k in ("first", "last"))
    rtt_s = 2e-3 * (1.5 + near + (far - near) * (user % clients) / (clients - 1))
    window = np.array([1024 * int(name.split("-")[0]) for name in table])
    rates: np.ndarray = window / rtt_s
    return rates


def users(result: Result, carried: float, load: float, seconds: int) -> int:
    """Return the number of users whose load is closest to the given load.

    Parameters
    ----------
    result : Result
        Result of :func:`run`.
    carried : float
        Bytes that the link sent in the same time; :func:`carried` returns this number.
    load : float
        Load in %.
    seconds : int
        Duration after the warm-up, in s.
    """
    by_user = sent(result, WARM_UP_S + seconds)
    sums = {name: np.concatenate([[0.0], got.cumsum()]) for name, got in by_user.items()}
    every = sum(len(got) for got in by_user.values())
    numbers = np.arange(every)
    total = np.zeros(every)
    for n in map(int, numbers):
        total[n] = sum(sums[name][min(count, len(sums[name]) - 1)] for name, *_, count in tables(n))
    total *= carried / sum(s[-1] for s in sums.values())
    wanted = load / 100 * RATE_BPS * seconds / 8
    if total[-1] < wanted:
        raise ValueError(
            f"MOST: {every}: users offer a load of less than {load} %; use a higher number"
        )
    return int(np.argmin(abs(total - wanted)))


def run(mix: str, replication: int, seconds: int = LASTS_S) -> Result:
    """Run the users of `MOST` on the uncongested link, and record all requests."""
    return _run(mix, replication, seconds, {"warm_up": "0 s"}, ["requests"])


@cache
def carried(mix: str, replication: int, seconds: int) -> float:
    """Return the bytes that the bottleneck sends in the same run after the warm-up."""
    links = _run(mix, replication, seconds, {}, []).columns("links")
    return float(links["departed_bytes"][list(links["link"]).index(BOTTLENECK)])


def _run(
    mix: str, replication: int, seconds: int, changes: dict[str, Any], series: list[str]
) -> Result:
    from aqmlab.experiment.runs import run_quietly

    at = Setting(UNCONGESTED, OFF, 0, mix, seconds=seconds)
    record = {"series": series, "links": [BOTTLENECK], "flows": "table"}
    return run_quietly(scenario(at, replication, MOST[mix]) | changes | {"record": record})


def main() -> None:
    """Print the number of users for each load and each replication."""
    from aqmlab.studies.power_of_ecn.users import USERS

    for mix in (WEB, GENERAL):
        for replication in range(REPLICATIONS):
            result = run(mix, replication)
            for of, seconds, load in USERS:
                if of == mix:
                    sent_bytes = carried(mix, replication, seconds)
                    number = users(result, sent_bytes, load, seconds)
                    print(mix, seconds, load, replication, number)


if __name__ == "__main__":
    main()
