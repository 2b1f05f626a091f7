"""What each paper of a queue shows as its point, measured here and drawn.

    .venv/bin/python examples/points.py FOLDER [POINT…]

Runs every point (or those named), prints what was measured with 95 % confidence intervals over
replications, and leaves a figure of each in FOLDER. docs/aqm-points.md says what the papers state;
tests/test_points.py holds the same measurements against it.
"""

import io
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import aqmlab
from aqmlab import plots
from aqmlab.statistics import mean_interval

Settings = Mapping[str, Any]
Key = tuple[str | float, ...]
LINK = "left>right"
LOADS = (10, 30, 60, 100)


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
    """Return a bottleneck of this rate behind a queue, with hosts that are faster."""
    return {
        "title": "The point of a queue",
        "duration": f"{duration_s} s",
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
    """Return endless downloads."""
    return {"name": "D{i}", "count": count, "traffic": {"kind": "bulk"}, **settings}


def cbr(rate_bps: float) -> dict[str, Any]:
    """Return a flow of 1000 B packets that does not answer to anything."""
    return {"name": "U", "traffic": {"kind": "cbr", "rate": f"{rate_bps:.0f} bit/s"}}


def measure(
    names: tuple[str, ...],
    cases: Mapping[Key, dict[str, Any]],
    read: Callable[[aqmlab.Result], dict[str, float]],
    replications: int,
) -> pd.DataFrame:
    """Run each case so many times: a row a run, with the key of its case in the first columns."""
    keys = [key for key in cases for _ in range(replications)]
    runs = [{**cases[key], "seed": 1 + i % replications} for i, key in enumerate(keys)]
    rows: list[dict[str, Any]] = [{}] * len(keys)
    for i, result in aqmlab.experiment.run_each(runs):
        rows[i] = dict(zip(names, keys[i], strict=True)) | read(result)
    return pd.DataFrame(rows)


def summary(table: pd.DataFrame, by: list[str], value: str) -> pd.DataFrame:
    """Return mean, low and high of a value, a row a case."""
    rows = []
    for key, group in table.groupby(by, sort=False):
        low, mean, high = mean_interval(group[value])
        rows.append([*(key if isinstance(key, tuple) else (key,)), mean, low, high])
    return pd.DataFrame(rows, columns=[*by, "mean", "low", "high"])


def waiting(result: aqmlab.Result, after_s: float, size: int) -> pd.Series:
    """Return what waited at the bottleneck, in packets of this size."""
    queue = result.series("queue")
    return queue.loc[queue["time_s"] > after_s, "queue_bytes"] / size


def utilization(result: aqmlab.Result) -> float:
    """Return the busy share of the bottleneck."""
    return float(result.links.set_index("link").loc[LINK, "utilization"])


def blank(x: str, y: str, title: str) -> tuple[Figure, Axes]:
    """Return an empty figure."""
    figure = Figure(figsize=(7, 4), layout="constrained", dpi=130)
    axes = figure.subplots()
    axes.set(xlabel=x, ylabel=y)
    axes.set_title(title, fontsize=10)
    axes.grid(visible=True, linewidth=0.3)
    return figure, axes


def curves(axes: Axes, table: pd.DataFrame, series: str, x: str, value: str) -> None:
    """Draw a curve for each series: means, with their confidence intervals."""
    points = summary(table, [series, x], value)
    marks = "os^vD<>PX*"
    for i, (name, rows) in enumerate(points.groupby(series, sort=False)):
        errors = [rows["mean"] - rows["low"], rows["high"] - rows["mean"]]
        axes.errorbar(rows[x], rows["mean"], errors, label=str(name), marker=marks[i % 10],
                      markersize=4, capsize=2, linewidth=1)  # fmt: skip
    axes.legend(fontsize=8)


# RED: uniform against geometric spacing (Floyd & Jacobson 1993, §7).


def spacing(replications: int) -> pd.DataFrame:
    """Which of 5000 packets are marked."""
    command = ["cargo", "run", "--quiet", "--release", "--locked", "-p", "queues"]
    tables = []
    for seed in range(1, replications + 1):
        run = subprocess.run([*command, "--example", "spacing", str(seed)], check=True,
                             capture_output=True, text=True)  # fmt: skip
        tables.append(pd.read_csv(io.StringIO(run.stdout)).assign(seed=seed))
    return pd.concat(tables)


def draw_spacing(table: pd.DataFrame) -> Figure:
    """Draw the marked packets of the first replication, as figure 8 of the paper does."""
    figure, axes = blank(
        "packet number", "", "RED: 5000 packets at a standing average, marked ones"
    )
    first = table[table["seed"] == 1]
    for y, (name, rows) in enumerate(first.groupby("spacing")):
        label = f"{name}: {len(rows)} marked, longest gap {rows['packet'].diff().max():.0f}"
        axes.scatter(rows["packet"], np.full(len(rows), y), marker="|", s=400, label=label)
    axes.set(ylim=(-0.7, 1.7), yticks=[0, 1], yticklabels=["geometric", "uniform"])
    axes.legend(fontsize=8)
    return figure


# The queue against the load: Adaptive RED, PIE and its kin, PI, REM.


def queue_by_load(
    queues: Mapping[str, Settings],
    replications: int,
    loads: Iterable[int] = LOADS,
    size: int = 1500,
    after_s: float = 30,
    **network: Any,
) -> pd.DataFrame:
    """Mean of what waits, and how far it strays, under so many downloads."""
    cases: dict[Key, dict[str, Any]] = {
        (name, n): scenario(queue, [downloads(n)], series=["queue"], mss=size - 40, **network)
        for name, queue in queues.items()
        for n in loads
    }

    def read(result: aqmlab.Result) -> dict[str, float]:
        queue = waiting(result, after_s, size)
        return {
            "queue": float(queue.mean()),
            "deviation": float(queue.std()),
            "utilization": utilization(result),
        }

    return measure(("queue of", "flows"), cases, read, replications)


RED = {
    "kind": "red", "minth": "12.5 packets", "maxth": "37.5 packets", "maxp": 0.1, "wq": 0.0008,
    "idle_packet_size": "1500 B",
}  # fmt: skip


def adaptive_red(replications: int) -> pd.DataFrame:
    """RED and Adaptive RED with the same thresholds, around a target of 20 ms."""
    adaptive = {"kind": "adaptive_red", "target_delay": "20 ms", "mean_packet_size": "1500 B"}
    queues: dict[str, Settings] = {"RED, maxp 0.1": RED, "Adaptive RED": adaptive}
    return queue_by_load(queues, replications, duration_s=90)


def draw_adaptive_red(table: pd.DataFrame) -> Figure:
    """Draw the mean queue against the number of flows."""
    figure, axes = blank(
        "downloads", "mean queue (packets)", "15 Mbit/s, 100 ms: the queue by load"
    )
    axes.axhline(25, color="0.5", linestyle=":", label="target: 20 ms, 25 packets")
    curves(axes, table, "queue of", "flows", "queue")
    axes.set_ylim(0, 30)
    return figure


def target_delay(replications: int) -> pd.DataFrame:
    """PIE, PI2, DualPI2 and FQ-PIE at their defaults."""
    kinds = {"PIE": "pie", "PI2": "pi2", "DualPI2": "dualpi2", "CoDel": "codel", "COBALT": "cobalt"}
    queues = {name: {"kind": kind} for name, kind in kinds.items()}
    table = queue_by_load(queues, replications)
    return table.assign(delay_ms=table["queue"] * 1500 * 8 / 15e6 * 1000)


def draw_target_delay(table: pd.DataFrame) -> Figure:
    """Draw the mean delay against the number of flows."""
    figure, axes = blank(
        "downloads", "mean queueing delay (ms)", "15 Mbit/s, 100 ms: delay by load"
    )
    axes.axhline(15, color="0.5", linestyle=":", label="target of PIE, PI2 and DualPI2")
    curves(axes, table, "queue of", "flows", "delay_ms")
    return figure


def pi(replications: int) -> pd.DataFrame:
    """PI in the setting that its published coefficients are for, and by the rule for 10 flows."""
    rule = {"kind": "pi", "max_rtt": "246 ms", "min_flows": 10, "limit": "800 packets"}
    queues: dict[str, Settings] = {
        "published coefficients (60 flows or more)": {"kind": "pi", "limit": "800 packets"},
        "design rule, 10 flows or more": rule,
    }
    return queue_by_load(
        queues, replications, size=500, rtt_ms=160, duration_s=1500, after_s=1000, ecn="rfc3168"
    )


def draw_pi(table: pd.DataFrame) -> Figure:
    """Draw the mean queue against the number of flows."""
    title = "PI, 15 Mbit/s, 500 B packets, 160 ms, ECN: the last 500 of 1500 s"
    figure, axes = blank("downloads", "mean queue (packets)", title)
    axes.axhline(200, color="0.5", linestyle=":", label="reference: 200 packets")
    curves(axes, table, "queue of", "flows", "queue")
    axes.set_ylim(0, 400)
    return figure


REM_LOADS = (20, 60, 100, 160)


def rem(replications: int) -> pd.DataFrame:
    """REM in the setting of its paper, with two periods, and RED there."""
    limit = {"limit": "120 packets"}
    red = {"kind": "red", "minth": "20 packets", "maxth": "80 packets", "maxp": 0.1}
    queues: dict[str, Settings] = {
        "REM, period 10 ms": {"kind": "rem", **limit},
        "REM, period 2 ms": {"kind": "rem", "period": "2 ms", **limit},
        "RED 20/80/0.1": red | limit,
    }
    return queue_by_load(
        queues, replications, REM_LOADS, 1000, rate="64 Mbit/s", rtt_ms=80, duration_s=150,
        after_s=75, ecn="rfc3168",
    )  # fmt: skip


def draw_rem(table: pd.DataFrame) -> Figure:
    """Draw the mean queue against the number of flows."""
    title = "REM, 64 Mbit/s, 1000 B packets, 80 ms, buffer of 120 packets, ECN"
    figure, axes = blank("downloads", "mean queue (packets)", title)
    axes.axhline(20, color="0.5", linestyle=":", label="reference: 20 packets")
    curves(axes, table, "queue of", "flows", "queue")
    axes.set_ylim(0, 90)
    return figure


# A flow that does not answer.


def got_bps(result: aqmlab.Result, after_s: float) -> float:
    """Return the rate of what was not dropped of the CBR flow, from a time on."""
    drops, end = result.series("drops"), result.manifest["simulated_s"]
    flow = result.table("datagrams").set_index("flow").loc["U"]
    sent = 8 * float(flow["sent_bytes"]) / (end - float(flow["start_s"]))
    count = ((drops["flow"] == "U") & (drops["time_s"] >= after_s)).sum()
    return float(sent - 8000 * count / (end - after_s))


def beside(
    queues: Mapping[str, Settings],
    offered_mbps: Iterable[float],
    flows: int,
    rate: str,
    replications: int,
) -> pd.DataFrame:
    """What a CBR flow gets of what it sends beside downloads, in the second of two minutes."""
    cases: dict[Key, dict[str, Any]] = {
        (name, sent): scenario(
            {"limit": "200 packets", **queue}, [downloads(flows), cbr(1e6 * sent)],
            rate=rate, mss=960, duration_s=120, series=["drops"],
        )
        for name, queue in queues.items()
        for sent in offered_mbps
    }  # fmt: skip

    def read(result: aqmlab.Result) -> dict[str, float]:
        return {"got": got_bps(result, 60) / 1e6, "utilization": utilization(result)}

    return measure(("queue of", "sent"), cases, read, replications)


def unresponsive(replications: int) -> pd.DataFrame:
    """Beside ten downloads on 10 Mbit/s."""
    kinds = {
        "Drop Tail": "drop_tail", "RED": "red", "CHOKe": "choke", "FRED": "fred",
        "FQ-CoDel": "fq_codel", "FQ-PIE": "fq_pie",
    }  # fmt: skip
    queues: dict[str, Settings] = {name: {"kind": kind} for name, kind in kinds.items()}
    queues["RED-PD, R 100 ms"] = {"kind": "red_pd", "target_rtt": "100 ms"}
    return beside(queues, (1, 2, 4, 6, 8, 12), 10, "10 Mbit/s", replications)


def draw_unresponsive(table: pd.DataFrame) -> Figure:
    """Draw what the flow gets against what it sends."""
    title = "A CBR flow beside ten downloads, 10 Mbit/s, 100 ms, room for 200 packets"
    figure, axes = blank("it sends (Mbit/s)", "it gets (Mbit/s)", title)
    axes.axhline(10 / 11, color="0.5", linestyle=":", label="fair share")
    curves(axes, table, "queue of", "sent", "got")
    return figure


def sfb(replications: int) -> pd.DataFrame:
    """Beside 400 downloads on 45 Mbit/s, as in the paper."""
    queues = {name: {"kind": name.lower()} for name in ("RED", "SFB", "FRED")}
    return beside(queues, (2, 5, 10, 20, 45), 400, "45 Mbit/s", replications)


def draw_sfb(table: pd.DataFrame) -> Figure:
    """Draw what the flow gets against what it sends."""
    title = "A CBR flow beside 400 downloads, 45 Mbit/s, 100 ms, room for 200 packets"
    figure, axes = blank("it sends (Mbit/s)", "it gets (Mbit/s)", title)
    axes.axhline(45 / 401, color="0.5", linestyle=":", label="fair share")
    axes.set(xscale="log", yscale="log")
    curves(axes, table, "queue of", "sent", "got")
    return figure


CHOKE_RATES = (0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 10)


def choke(replications: int) -> pd.DataFrame:
    """The share of a CBR flow beside 32 downloads on 1 Mbit/s, the setting of the paper."""
    thresholds = {"minth": "20 packets", "maxth": "520 packets", "limit": "1000 packets"}
    cases: dict[Key, dict[str, Any]] = {
        (name, sent): scenario(
            {"kind": kind, **thresholds}, [downloads(32), cbr(sent * 1e6)],
            rate="1 Mbit/s", mss=960, duration_s=600,
        )
        for name, kind in {"CHOKe": "choke", "RED": "red"}.items()
        for sent in CHOKE_RATES
    }  # fmt: skip

    def read(result: aqmlab.Result) -> dict[str, float]:
        datagrams = result.table("datagrams").set_index("flow")
        return {"share": float(datagrams.loc["U", "goodput_bps"]) / 1e6}

    return measure(("queue of", "sent"), cases, read, replications)


def draw_choke(table: pd.DataFrame) -> Figure:
    """Draw its share against its rate."""
    title = "A CBR flow beside 32 downloads, 1 Mbit/s, thresholds 20 and 520 packets"
    figure, axes = blank("it sends (of the link's rate)", "its share of the link", title)
    axes.axhline(1 / (1 + np.e), color="0.5", linestyle=":", label="bound 1/(1 + e)")
    axes.set_xscale("log")
    curves(axes, table, "queue of", "sent", "share")
    return figure


# BLUE with a small buffer.

BUFFERS = (25, 50, 100, 200, 400)


def blue(replications: int) -> pd.DataFrame:
    """Losses and utilization of BLUE and RED with ECN, by the size of the buffer."""

    def red(limit: int) -> dict[str, Any]:
        return {
            "kind": "red", "minth": f"{0.2 * limit} packets", "maxth": f"{0.8 * limit} packets",
            "maxp": 1.0, "wq": 0.002, "gentle": False,
        }  # fmt: skip

    cases: dict[Key, dict[str, Any]] = {
        (name, limit): scenario(
            {"limit": f"{limit} packets", **(red(limit) if name == "RED" else {"kind": "blue"})},
            [downloads(200)], rate="45 Mbit/s", mss=960, ecn="rfc3168",
        )
        for name in ("BLUE", "RED")
        for limit in BUFFERS
    }  # fmt: skip

    def read(result: aqmlab.Result) -> dict[str, float]:
        link = result.links.set_index("link").loc[LINK]
        lost = float(link["dropped_packets"] / link["arrived_packets"])
        return {"lost": 100 * lost, "utilization": 100 * float(link["utilization"])}

    return measure(("queue of", "buffer"), cases, read, replications)


def draw_blue(table: pd.DataFrame) -> Figure:
    """Draw losses and utilization against the buffer."""
    figure = Figure(figsize=(9, 4), layout="constrained", dpi=130)
    left, right = figure.subplots(1, 2)
    for axes, value, label in ((left, "lost", "lost (%)"), (right, "utilization", "busy (%)")):
        axes.set(xlabel="buffer (packets)", ylabel=label)
        axes.grid(visible=True, linewidth=0.3)
        curves(axes, table, "queue of", "buffer", value)
    figure.suptitle("200 downloads with ECN, 45 Mbit/s, 100 ms", fontsize=10)
    return figure


# CoDel's law.


def codel(replications: int) -> pd.DataFrame:
    """When CoDel drops while a CBR flow sends one and a half times what the link can."""
    case = scenario({"kind": "codel", "limit": "100000 packets"}, [cbr(15e6)], rate="10 Mbit/s",
                    duration_s=20, series=["drops"])  # fmt: skip
    tables = []
    for seed in range(1, replications + 1):
        drops = aqmlab.run(case, seed=seed).series("drops")
        times = drops["time_s"].to_numpy()
        law = times[0] + np.concatenate([[0], np.cumsum(0.1 / np.sqrt(np.arange(1, len(times))))])
        tables.append(pd.DataFrame({"seed": seed, "dropped_s": times, "law_s": law}))
    return pd.concat(tables)


def draw_codel(table: pd.DataFrame) -> Figure:
    """Draw the count of drops over time, and the law."""
    title = "CoDel under 15 Mbit/s of CBR on 10 Mbit/s: the n-th drop"
    figure, axes = blank("time (s)", "drops", title)
    first = table[table["seed"] == 1]
    count = np.arange(1, len(first) + 1)
    axes.plot(first["dropped_s"], count, label="measured", linewidth=3, alpha=0.5)
    law = "law: 100 ms (1 + 1/√2 + … + 1/√n) after the first"
    axes.plot(first["law_s"], count, "--", color="black", label=law, linewidth=1)
    axes.legend(fontsize=8)
    return figure


# FQ-CoDel: flows that send little.


def sparse(replications: int) -> pd.DataFrame:
    """Short transfers beside ten downloads: how long each took beyond its two round trips."""
    short = {
        "name": "S", "arrivals": {"interval": "200 ms"},
        "traffic": {"kind": "bulk", "size": "1000 B"},
    }  # fmt: skip
    kinds = {"Drop Tail": "drop_tail", "CoDel": "codel", "PIE": "pie", "COBALT": "cobalt",
             "FQ-CoDel": "fq_codel", "FQ-PIE": "fq_pie"}  # fmt: skip
    tables = []
    for name, kind in kinds.items():
        case = scenario({"kind": kind}, [downloads(10), short], series=["transfers"])
        for seed in range(1, replications + 1):
            rows = aqmlab.run(case, seed=seed).series("transfers")
            chosen = rows[(rows["flow"] == "S") & rows["start_s"].between(20, 50)]
            waits = 1000 * (chosen["duration_s"] - 0.2)
            tables.append(pd.DataFrame({"queue of": name, "seed": seed, "waited_ms": waits}))
    return pd.concat(tables)


def draw_sparse(table: pd.DataFrame) -> Figure:
    """Draw the distribution of the waits."""
    title = "Transfers of 1000 B beside ten downloads, 15 Mbit/s, 100 ms"
    figure, axes = blank("longer than two round trips by (ms)", "share of transfers", title)
    for name, rows in table.groupby("queue of", sort=False):
        values = np.sort(rows["waited_ms"].fillna(np.inf).clip(lower=0.1))
        axes.step(values, np.arange(1, len(values) + 1) / len(values), label=str(name))
    axes.set(xscale="log", ylim=(0, 1.02))
    axes.legend(fontsize=8)
    return figure


# DualPI2: two delays on one link.

MIXES = ((1, 1), (5, 5), (10, 10), (2, 8), (8, 2))


def dualpi2(replications: int) -> pd.DataFrame:
    """Prague and CUBIC through DualPI2: round trips beyond propagation, and rates.

    Every segment is acknowledged, so that a round trip is delay and nothing else.
    """
    every = {"timestamps": True, "delayed_ack": "1 packet"}
    cases: dict[Key, dict[str, Any]] = {}
    for scalable, classic in MIXES:
        prague = {"congestion": "prague", "ecn": "accurate"} | every
        cubic = {"congestion": "cubic"} | every
        flows = [
            {"name": "L{i}", "count": scalable, "traffic": {"kind": "bulk"}, "tcp": prague},
            {"name": "C{i}", "count": classic, "traffic": {"kind": "bulk"}, "tcp": cubic},
        ]
        case = scenario({"kind": "dualpi2"}, flows, rate="40 Mbit/s", rtt_ms=30, series=["rtt"])
        case["record"]["traced"] = ["L0", "C0"]
        cases[f"{scalable} + {classic}",] = case

    def read(result: aqmlab.Result) -> dict[str, float]:
        rtt = result.series("rtt")
        rtt = rtt[rtt["time_s"] > 20]
        goodput = result.flows.set_index("flow")["goodput_bps"]
        delay = {f: 1000 * rtt.loc[rtt["flow"] == f, "rtt_s"] - 30 for f in ("L0", "C0")}
        of_kind = {kind: goodput[goodput.index.str.startswith(kind)] for kind in "LC"}
        return {
            "L_ms": float(delay["L0"].mean()), "L99_ms": float(delay["L0"].quantile(0.99)),
            "C_ms": float(delay["C0"].mean()), "utilization": 100 * utilization(result),
            "ratio": float(of_kind["L"].mean() / of_kind["C"].mean()),
        }  # fmt: skip

    return measure(("mix",), cases, read, replications)


def draw_dualpi2(table: pd.DataFrame) -> Figure:
    """Draw the delays of both queues for each mix."""
    title = "DualPI2, 40 Mbit/s, 30 ms: Prague (L) beside CUBIC (C)"
    figure, axes = blank("Prague + CUBIC flows", "queueing delay (ms)", title)
    for value, label in (
        ("C_ms", "C, mean"),
        ("L99_ms", "L, 99th percentile"),
        ("L_ms", "L, mean"),
    ):
        rows = summary(table, ["mix"], value)
        errors = [rows["mean"] - rows["low"], rows["high"] - rows["mean"]]
        axes.errorbar(rows["mix"], rows["mean"], errors, fmt="o", capsize=3, label=label)
    busy = summary(table, ["mix"], "utilization")
    labels = [f"{r.mix}\n{r.mean:.1f} % busy" for r in busy.itertuples()]
    axes.set_xticks(range(len(labels)), labels)
    axes.set_yscale("log")
    axes.legend(fontsize=8)
    return figure


# RIO: packets in profile.


def rio(replications: int) -> pd.DataFrame:
    """Share lost of 4 Mbit/s in profile beside traffic out of profile, on 10 Mbit/s."""

    def poisson(name: str, dscp: str, rate_mbps: float) -> dict[str, Any]:
        traffic = {"kind": "poisson", "rate": f"{rate_mbps} Mbit/s"}
        return {"name": name, "dscp": dscp, "traffic": traffic}

    cases: dict[Key, dict[str, Any]] = {
        (name, out): scenario(
            {"kind": kind, "limit": "200 packets"},
            [poisson("In", "AF11", 4), poisson("Out", "AF12", out), downloads(5)],
            rate="10 Mbit/s",
        )
        for name, kind in {"RIO": "rio", "RED": "red"}.items()
        for out in (1, 2, 4, 8, 16, 32)
    }

    def read(result: aqmlab.Result) -> dict[str, float]:
        rows = result.table("datagrams").set_index("flow")
        share = 100 * rows["dropped_packets"] / rows["sent_packets"]
        return {"in_lost": float(share["In"]), "out_lost": float(share["Out"])}

    return measure(("queue of", "out"), cases, read, replications)


def draw_rio(table: pd.DataFrame) -> Figure:
    """Draw what either kind loses against the rate out of profile."""
    title = "Poisson traffic, 4 Mbit/s in profile, and 5 downloads out of it, 10 Mbit/s"
    figure, axes = blank("out of profile, beside the downloads (Mbit/s)", "lost (%)", title)
    both = [
        table.assign(kind=table["queue of"] + ", " + kind, lost=table[f"{kind}_lost"])
        for kind in ("in", "out")
    ]
    curves(axes, pd.concat(both), "kind", "out", "lost")
    axes.set_xscale("log")
    return figure


@dataclass(frozen=True)
class Point:
    """How a point is measured, drawn and put into words."""

    measure: Callable[[int], pd.DataFrame]
    draw: Callable[[pd.DataFrame], Figure]
    by: tuple[str, ...] = ()
    """The columns that tell the cases apart."""
    values: tuple[str, ...] = ()
    """The columns that are measured."""
    replications: int = 5


POINTS = {
    "spacing": Point(spacing, draw_spacing),
    "adaptive-red": Point(adaptive_red, draw_adaptive_red, ("queue of", "flows"), ("queue",)),
    "target-delay": Point(target_delay, draw_target_delay, ("queue of", "flows"), ("delay_ms",)),
    "pi": Point(pi, draw_pi, ("queue of", "flows"), ("queue",)),
    "rem": Point(rem, draw_rem, ("queue of", "flows"), ("queue", "utilization")),
    "unresponsive": Point(unresponsive, draw_unresponsive, ("queue of", "sent"), ("got",)),
    "sfb": Point(sfb, draw_sfb, ("queue of", "sent"), ("got",)),
    "choke": Point(choke, draw_choke, ("queue of", "sent"), ("share",)),
    "blue": Point(blue, draw_blue, ("queue of", "buffer"), ("lost", "utilization")),
    "codel": Point(codel, draw_codel),
    "rio": Point(rio, draw_rio, ("queue of", "out"), ("in_lost", "out_lost")),
    "sparse": Point(sparse, draw_sparse, ("queue of",), ("waited_ms",)),
    "dualpi2": Point(
        dualpi2, draw_dualpi2, ("mix",), ("L_ms", "L99_ms", "C_ms", "utilization", "ratio")
    ),
}


def words(point: Point, table: pd.DataFrame) -> str:
    """Return what was measured."""
    lines = []
    for value in point.values:
        rows = summary(table, list(point.by), value).round(3)
        lines.append(f"{value}:\n{rows.to_string(index=False)}")
    return "\n".join(lines) or table.groupby("seed").tail(1).to_string(index=False)


def main() -> None:
    """Measure and draw the points that were asked for."""
    folder, *names = sys.argv[1:] or ["points"]
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name in names or POINTS:
        point = POINTS[name]
        table = point.measure(point.replications)
        print(f"{name}\n{words(point, table)}\n", flush=True)
        plots.save(point.draw(table), Path(folder) / f"{name}.svg")
        plots.save(point.draw(table), Path(folder) / f"{name}.png")


if __name__ == "__main__":
    main()
