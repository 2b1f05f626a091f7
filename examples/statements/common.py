"""Functions that all statements share: scenarios, flows, runs of cases, and values of a run."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

import aqmlab

Settings = Mapping[str, Any]
Key = tuple[str | float, ...]
LINK = "left>right"


def scenario(
    queue: Settings,
    flows: Iterable[Settings],
    *,
    rate: str = "15 Mbit/s",
    rtt_ms: float = 100,
    duration_s: float = 60,
    mss: int = 1460,
    ecn: str = "off",
    series: Iterable[str] = (),
) -> dict[str, Any]:
    """Return a scenario with the given queue at a bottleneck, and with faster access links."""
    return {
        "title": "Statement of an AQM paper",
        "duration": f"{round(duration_s, 9)} s",
        "phase_breaking": {"start": "1 s"},
        "network": {
            "kind": "dumbbell",
            "rate": rate,
            "delay": f"{rtt_ms / 2 - 10} ms",
            "queue": {"limit": "1000 packets", **queue},
            "left_hosts": 1,
            "left_rate": "1 Gbit/s",
            "left_delay": "5 ms",
            "right_hosts": 1,
            "right_rate": "1 Gbit/s",
            "right_delay": "5 ms",
        },
        "flows": [{"from": "left-0", "to": "right-0", **flow} for flow in flows],
        "tcp": {"mss": f"{mss} B", "ecn": ecn},
        "record": {"interval": "10 ms", "series": list(series), "links": [LINK]},
    }


def downloads(count: int, **settings: Any) -> dict[str, Any]:
    """Return `count` downloads that last for the whole run."""
    return {"name": "D{i}", "count": count, "traffic": {"kind": "bulk"}, **settings}


def cbr(rate_bps: float) -> dict[str, Any]:
    """Return a CBR flow of 1000 B packets, which does not respond to signals."""
    return {"name": "U", "traffic": {"kind": "cbr", "rate": f"{rate_bps:.0f} bit/s"}}


def run_cases(
    names: tuple[str, ...],
    cases: Mapping[Key, dict[str, Any]],
    read: Callable[[aqmlab.Result], dict[str, float]],
    replications: int,
) -> pd.DataFrame:
    """Run each case `replications` times; return a row per run that begins with the case's key."""
    keys = [key for key in cases for _ in range(replications)]
    runs = [{**cases[key], "seed": 1 + i % replications} for i, key in enumerate(keys)]
    rows: list[dict[str, Any]] = [{}] * len(keys)
    for i, result in aqmlab.experiment.run_each(runs):
        rows[i] = dict(zip(names, keys[i], strict=True)) | read(result)
    return pd.DataFrame(rows)


def waiting(result: aqmlab.Result, after_s: float, size: int) -> pd.Series:
    """Return the bottleneck's queue samples after `after_s`, in packets of `size` bytes."""
    queue = result.series("queue")
    return queue.loc[queue["time_s"] > after_s, "queue_bytes"] / size


def utilization(result: aqmlab.Result) -> float:
    """Return the share of the time in which the bottleneck transmitted."""
    return float(result.links.set_index("link").loc[LINK, "utilization"])
