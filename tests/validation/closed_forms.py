"""Comparison with closed forms of queues, TCP, RED, token buckets and schedulers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

import aqmlab
from aqmlab.models import dctcp, short_flows, single_server, tcp_rates
from aqmlab.results import Result
from validation.row import Row, Tolerance

NAME = "Closed forms"
ABOUT = """\
The results of aqmlab are compared with the values of formulas, in scenarios that meet the
assumptions of the formulas. In each comparison, the runs of aqmlab differ in their seeds, whereas
the formula gives a single value. [`aqmlab.models`](../python/aqmlab/models) contains most of the
formulas, and [`closed_forms.py`](../tests/validation/closed_forms.py) contains the other formulas
with their sources."""

Scenario = dict[str, Any]
Expected = dict[str, tuple[float, str, Tolerance]]
"""Per measure: the value of the formula, the unit and the tolerance."""
AMPLE = {"kind": "drop_tail", "limit": "1000000 packets"}
"""Queue with a limit of 1,000,000 packets, which drops no packet in the scenarios below."""
EXACT = Tolerance(0.001)
"""Tolerance of a formula that is exact for the scenario."""


@dataclass(frozen=True)
class Form:
    """Formula, and a scenario whose runs are compared with the formula.

    Parameters
    ----------
    name : str
        Name of the setting.
    scenario : dict
        Scenario without a seed; the runs have the seeds 1, 2, ….
    measured : callable
        Function that returns the measures of a run by their names.
    expected : dict
        Values of the formula, by the names of the measures.
    seeds : int
        Number of runs.
    causes : dict
        Causes of differences beyond the tolerance, by the name of the measure.
    """

    name: str
    scenario: Scenario
    measured: Callable[[Result], dict[str, float]]
    expected: Expected
    seeds: int = 10
    causes: dict[str, str] | None = None


def link(rate: str, delay: str, queue: Any, flows: list[Any], **keys: Any) -> Scenario:
    """Return a scenario with one link from host a to host b."""
    one = {"from": "a", "to": "b", "rate": rate, "delay": delay, "queue": queue}
    one |= keys.pop("link", {})
    return {
        "phase_breaking": {"start": "0 s", "delay": "0 s"},
        "network": {"kind": "graph", "links": [one]},
        "flows": [{"from": "a", "to": "b", **flow} for flow in flows],
        **keys,
    }


def poisson(rate: str, payload: int = 972) -> dict[str, Any]:
    """Return a flow of datagrams with Poisson arrivals and 28 B of headers."""
    return {"traffic": {"kind": "poisson", "rate": rate, "payload": f"{payload} B"}}


# Queues


def wait_ms(result: Result) -> dict[str, float]:
    """Return the mean waiting time of a packet in ms."""
    table = result.table("delays").set_index("link")
    return {"mean waiting time": 1e3 * float(table.loc["a>b", "mean_delay_s"])}


def queues() -> list[Form]:
    """Return the formulas of M/D/1, of M/G/1 with two packet sizes, and of M/D/1/K."""
    forms = []
    record = {"record": {"series": ["delays"]}}
    for load in (0.5, 0.8, 0.9):
        served = link("10 Mbit/s", "0 s", AMPLE, [poisson(f"{10 * load} Mbit/s")],
                      duration="600 s", **record)  # fmt: skip
        value = 1e3 * single_server.md1(load, 8e-4).mean_wait
        expected: Expected = {"mean waiting time": (value, "ms", Tolerance(0.03))}
        forms.append(Form(f"M/D/1, load {load}", served, wait_ms, expected))
    two = link("10 Mbit/s", "0 s", AMPLE, [poisson("4 Mbit/s"), poisson("2 Mbit/s", 100)],
               duration="600 s", **record)  # fmt: skip
    # The arrival rates are 500 packets/s of 1000 B and 1953.125 packets/s of 128 B.
    weights = np.array([500.0, 1953.125]) / 2453.125
    sizes = np.array([1000.0, 128.0])
    service = float(weights @ sizes) * 8 / 10e6
    second = float(weights @ sizes**2) * (8 / 10e6) ** 2
    # The formula of Pollaczek and Khinchine gives the mean waiting time.
    value = 1e3 * 2453.125 * second / (2 * (1 - 2453.125 * service))
    forms.append(Form("M/G/1, 1000 B and 128 B, load 0.6", two, wait_ms,
                      {"mean waiting time": (value, "ms", Tolerance(0.03))}))  # fmt: skip
    for places in (5, 20):
        small = {"kind": "drop_tail", "limit": f"{places} packets",
                 "limit_counts": "waiting-and-in-service"}  # fmt: skip
        finite = link("10 Mbit/s", "0 s", small, [poisson("9 Mbit/s")], duration="600 s")
        model = single_server.MG1K(single_server.md1(0.9, 8e-4), places)

        def lost(result: Result) -> dict[str, float]:
            row = result.links.set_index("link").loc["a>b"]
            return {"lost packets": 100 * float(row["dropped_packets"] / row["arrived_packets"])}

        loss: Expected = {"lost packets": (100 * model.loss, "%", Tolerance(0.05))}
        forms.append(Form(f"M/D/1/{places}, load 0.9", finite, lost, loss))
    return forms


# RED


def gaps(result: Result) -> dict[str, float]:
    """Return the mean, standard deviation and maximum of the gaps between marks, in packets."""
    times = result.series("marks")["time_s"].to_numpy()
    times = times[times > 60]
    counts = np.rint(np.diff(times) / 8e-4)  # One packet of 1000 B takes 0.8 ms at 10 Mbit/s.
    return {
        "mean gap between marks": float(counts.mean()),
        "standard deviation of the gaps between marks": float(counts.std()),
        "maximum gap between marks": float(counts.max()),
    }


def red() -> list[Form]:
    """Return formulas for RED's gaps between marks at a constant average queue.

    The formulas follow from floyd1993red §7 and from `wait_` of ns-2. In the scenarios, a burst
    fills the queue with 55 packets, and a flow at the rate of the link holds the queue at this
    length.
    """
    filled = [
        {"traffic": {"kind": "cbr", "rate": "500 Mbit/s", "packets": 56, "ecn": "ect0"}},
        {"traffic": {"kind": "cbr", "rate": "10 Mbit/s", "ecn": "ect0"}, "start": "900 us"},
    ]
    forms = []
    for spacing in ("geometric", "uniform", "wait"):
        queue = {
            "kind": "red", "limit": "1000 packets", "minth": "5 packets", "maxth": "95 packets",
            "maxp": 0.1, "wq": 0.002, "gentle": False, "spacing": spacing,
        }  # fmt: skip
        scenario = link(
            "10 Mbit/s", "1 ms", queue, filled, duration="300 s",
            record={"series": ["marks", "queue"], "links": ["a>b"], "interval": "1 s"},
        )  # fmt: skip
        forms.append(Form(f"RED, gaps, {spacing}", scenario, gaps, {}))
    return forms


def expected_gaps(spacing: str, p: float) -> Expected:
    """Return mean, standard deviation and maximum of the gaps at the marking probability p.

    With geometric spacing, RED marks packet k after a signal with the probability p. With uniform
    spacing, the probability is p/(1 - k p) (floyd1993red, figure 2). With `wait_` of ns-2, the
    probability is 0 if k p is below 1, and p/(2 - k p) otherwise. The first packet after a signal
    has k = 1.
    """
    gaps, left = [], 1.0
    for k in range(1, round(100 / p)):
        match spacing:
            case "geometric":
                chosen = p
            case "uniform":
                chosen = p / (1 - k * p) if k * p < 1 else 1.0
            case _:
                chosen = 0.0 if k * p < 1 else p / (2 - k * p) if k * p < 2 else 1.0
        chosen = min(chosen, 1.0)
        gaps.append((k, left * chosen))
        left *= 1 - chosen
        if left == 0:
            break
    middle = sum(k * share for k, share in gaps)
    square = sum(k * k * share for k, share in gaps)
    near = Tolerance(0.02)
    expected: Expected = {
        "mean gap between marks": (middle, "packets", near),
        "standard deviation of the gaps between marks": (sqrt(square - middle**2), "packets", near),
    }
    if left == 0:
        expected["maximum gap between marks"] = (float(gaps[-1][0]), "packets", Tolerance(0, 0.5))
    return expected


# TCP

CLEAN: dict[str, Any] = {
    "mss": "1460 B",
    "recovery": "sack",
    "sack": True,
    "delayed_ack": "1 packets",
    "receive_window": "500 MB",
}
"""TCP keys of a sender and a receiver that meet the assumptions of the formulas."""


def goodput(duration: float) -> Callable[[Result], dict[str, float]]:
    """Return a function that computes the goodput of a run of `duration` s in Mbit/s."""

    def measured(result: Result) -> dict[str, float]:
        return {"goodput": float(result.flows["acked_bytes"].sum()) * 8e-6 / duration}

    return measured


def lossy(impairment: dict[str, Any], duration: int, delay_ms: int, tcp: Any) -> Scenario:
    """Return a scenario with one endless flow over a fast link that loses packets."""
    return link(
        "1 Gbit/s", f"{delay_ms} ms", AMPLE, [{"traffic": {"kind": "bulk"}}],
        duration=f"{duration} s", tcp=CLEAN | tcp, link={"impairments": [impairment]},
    )  # fmt: skip


def rates() -> list[Form]:
    """Return formulas for TCP rates: AIMD and CUBIC with periodic loss, PFTK with random loss."""
    forms = []
    megabit = 1460 * 8e-6
    # Between two losses, cwnd grows from W/2 to W in W/2 round trips, and recovery takes one more.
    longer = {n: tcp_rates.square_root(1 / n) / 0.1 * megabit / (1 + 2 / sqrt(8 * n / 3))
              for n in (200, 1000, 5000)}  # fmt: skip
    rates_with_recovery = ", ".join(f"{rate:.3f} Mbit/s (p = 1/{n})" for n, rate in longer.items())
    cause = (
        "The square-root law ignores that cwnd does not grow in the round trip of each recovery. "
        "A square-root law with one additional round trip per loss gives a goodput of "
        f"{rates_with_recovery}."
    )
    for every in longer:
        scenario = lossy({"kind": "periodic_loss", "every": every}, 2000, 50, {})
        rate = tcp_rates.square_root(1 / every) / 0.1 * megabit
        expected: Expected = {"goodput": (rate, "Mbit/s", Tolerance(0.03))}
        forms.append(Form(f"square-root law, p = 1/{every}", scenario, goodput(2000), expected, 1,
                          {"goodput": cause}))  # fmt: skip
    for p in (0.001, 0.01):
        scenario = lossy({"kind": "loss", "probability": p}, 2000, 50,
                         {"rto": {"min": "1 s"}, "recovery": "reno", "sack": False})  # fmt: skip
        rate = tcp_rates.pftk(p, 0.1, 1.0, per_ack=1) * megabit
        forms.append(Form(f"PFTK, Reno, p = {p}", scenario, goodput(2000),
                          {"goodput": (rate, "Mbit/s", Tolerance(0.15))}))  # fmt: skip
    for every in (10_000, 100_000):
        window = tcp_rates.cubic(1 / every, 0.1)
        # The first loss occurs when cwnd has the maximum of its steady state. With a first loss at
        # a larger cwnd, W_max would need hundreds of losses to decrease to the steady state,
        # because the cubic curve is flat near W_max.
        largest = window / (1 - 0.3 / 4)
        control: dict[str, Any] = {
            "kind": "cubic", "slow_start": "standard", "fast_convergence": "off",
        }  # fmt: skip
        keys = {"congestion": control, "cwnd": {"initial_ssthresh": f"{largest:.0f} packets"}}
        loss = {"kind": "periodic_loss", "every": every, "first": round(2.2 * largest)}
        scenario = lossy(loss, 1000, 50, keys)
        expected = {"goodput": (window / 0.1 * megabit, "Mbit/s", Tolerance(0.03))}
        forms.append(Form(f"CUBIC, p = 1/{every}", scenario, goodput(1000), expected, 1))
    return forms


def oscillation() -> list[Form]:
    """Return formulas for DCTCP's queue at a step threshold (alizadeh2010dctcp §3.3)."""
    forms = []
    for flows, threshold in ((2, 40), (10, 40), (2, 65)):
        queue = {"kind": "threshold", "limit": "1000 packets", "threshold": f"{threshold} packets"}
        scenario: Scenario = {
            "duration": "2 s",
            "network": {
                "kind": "dumbbell", "rate": "1 Gbit/s", "delay": "100 us", "queue": queue,
                "left_hosts": flows, "left_rate": "10 Gbit/s", "left_delay": "10 us",
                "right_rate": "10 Gbit/s", "right_delay": "10 us",
            },
            "flows": [{"name": "f{i}", "count": flows, "from": "left-{i}", "to": "right-0",
                       "traffic": {"kind": "bulk"}}],
            "tcp": CLEAN | {"congestion": "dctcp", "ecn": "dctcp", "rto": {"min": "10 ms"}},
            "record": {"series": ["queue"], "interval": "50 us", "links": ["left>right"]},
        }  # fmt: skip
        model = dctcp.StepMarking(flows, 1e9 / 12000, 240e-6, threshold)

        def queue_of(result: Result) -> dict[str, float]:
            series = result.series("queue")
            late = series[series["time_s"] > 0.5]["queue_packets"]
            return {"maximum queue": float(late.quantile(0.999)), "mean queue": float(late.mean())}

        expected: Expected = {
            "maximum queue": (model.most, "packets", Tolerance(0.1)),
            "mean queue": (model.most - model.swing / 2, "packets", Tolerance(0.1)),
        }
        name = f"DCTCP, {flows} flows, K = {threshold}"
        forms.append(Form(name, scenario, queue_of, expected, 5))
    return forms


# Times


def times() -> list[Form]:
    """Return formulas for completion times: without loss, with lost SYNs, with a lost segment."""
    forms = []
    exact: dict[str, Any] = {"initial_window": "2 packets", "mss": "1460 B"}

    def completion(result: Result) -> dict[str, float]:
        return {"completion time": float(result.flows["completed_s"].iloc[0])}

    def transfer(segments: int, lost: list[int], **tcp: Any) -> Scenario:
        wire = {"link": {"impairments": [{"kind": "listed_loss", "packets": lost}]}} if lost else {}
        size = {"traffic": {"kind": "bulk", "size": f"{1460 * segments} B"}}
        return link("100 Mbit/s", "50 ms", AMPLE, [size],
                    tcp=exact | {"delayed_ack": "1 packets"} | tcp, **wire)  # fmt: skip

    for segments in (1, 7, 60, 200):
        value = short_flows.latency(segments, 0.1, initial=2, growth=2, segment_s=1.2e-4)
        forms.append(Form(f"slow start, {segments} segments", transfer(segments, []), completion,
                          {"completion time": (value, "s", EXACT)}, 1))  # fmt: skip
    one = short_flows.latency(1, 0.1, initial=2, segment_s=1.2e-4)
    # The initial RTO is 1 s (RFC 6298 §2.1), and each timeout doubles the RTO: 2 s, 4 s (§5.5).
    for syns, late in ((1, 1.0), (2, 3.0), (3, 7.0)):
        scenario = transfer(1, list(range(1, syns + 1)))
        forms.append(Form(f"{syns} lost SYNs" if syns > 1 else "1 lost SYN", scenario, completion,
                          {"completion time": (one + late, "s", EXACT)}, 1))  # fmt: skip
    # The handshake measures the round-trip time R, so that RTO = max(RTO.min, R + 4 R/2). The lost
    # packet 2 is the data segment, because packet 1 is the SYN.
    for rto_min, late in (("1 s", 1.0), ("50 ms", 0.3)):
        scenario = transfer(1, [2], rto={"min": rto_min})
        forms.append(Form(f"1 lost segment, minimum RTO {rto_min}", scenario, completion,
                          {"completion time": (one + late, "s", EXACT)}, 1))  # fmt: skip
    return forms


# Conditioners


def buckets() -> list[Form]:
    """Return closed forms of token buckets, which pass burst + rate · time of data."""
    forms = []
    for rate, burst in ((1e6, 10_000), (5e6, 50_000)):
        rule = {
            "meter": {"kind": "token_bucket", "rate": f"{rate} bit/s", "burst": f"{burst} B"},
            "red": "drop",
        }
        flow = {"traffic": {"kind": "cbr", "rate": f"{2 * rate} bit/s", "lasts": "100 s"}}
        scenario = link("100 Mbit/s", "1 ms", AMPLE, [flow], duration="101 s",
                        link={"condition": [rule]})  # fmt: skip

        def passed(result: Result) -> dict[str, float]:
            row = result.links.set_index("link").loc["a>b"]
            return {"data passed": float(row["delivered_bytes"] if "delivered_bytes" in row
                                    else row["departed_bytes"]) / 1e6}  # fmt: skip

        value = (burst + rate * 100 / 8) / 1e6
        forms.append(Form(f"token bucket, {rate / 1e6:g} Mbit/s, {burst} B", scenario, passed,
                          {"data passed": (value, "MB", EXACT)}, 1))  # fmt: skip
    return forms


def shares() -> list[Form]:
    """Return a formula for DRR: under overload, two classes have the ratio of their quanta."""
    queue = {"kind": "drop_tail", "limit": "100 packets"}
    classes = [
        {"quantum": "1000 B", "queue": queue, "match": {"flows": "x"}},
        {"quantum": "3000 B", "queue": queue},
    ]
    flows = [{"name": n, "traffic": {"kind": "cbr", "rate": "10 Mbit/s"}} for n in ("x", "y")]
    scenario = link("10 Mbit/s", "1 ms", {"kind": "drr", "classes": classes}, flows,
                    duration="100 s")  # fmt: skip

    def ratio(result: Result) -> dict[str, float]:
        received = result.table("datagrams").set_index("flow")["received_bytes"]
        return {"ratio of the classes": float(received["y"] / received["x"])}

    expected: Expected = {"ratio of the classes": (3.0, "", Tolerance(0.01))}
    return [Form("DRR, quanta 1 to 3", scenario, ratio, expected, 1)]


def forms() -> list[Form]:
    """Return all formulas and their scenarios."""
    return [
        *queues(), *red(), *rates(), *oscillation(), *times(), *buckets(), *shares()
    ]  # fmt: skip


def missing() -> str | None:
    """Return None, because the formulas need no other program."""
    return None


def version() -> str:
    """Return "the formulas" instead of a version, because formulas have no version."""
    return "the formulas"


def rows() -> Iterable[Row]:
    """Run the scenario of every formula, and yield one row per measure."""
    every = forms()
    jobs = [(form, seed) for form in every for seed in range(1, form.seeds + 1)]
    scenarios = [form.scenario | {"seed": seed} for form, seed in jobs]
    measured: dict[str, dict[int, dict[str, float]]] = {}
    averages: dict[str, float] = {}
    for index, result in aqmlab.run_each(scenarios):
        form, seed = jobs[index]
        measured.setdefault(form.name, {})[seed] = form.measured(result)
        if form.name.startswith("RED"):
            series = result.series("queue")
            averages[form.name] = float(series[series["time_s"] > 60]["average_packets"].mean())
    for form in every:
        expected = form.expected
        if form.name in averages:
            p = 0.1 * (averages[form.name] - 5) / 90
            expected = expected_gaps(form.scenario["network"]["links"][0]["queue"]["spacing"], p)
        runs = [measured[form.name][seed] for seed in sorted(measured[form.name])]
        for measure, (value, unit, tolerance) in expected.items():
            ours = tuple(run[measure] for run in runs)
            cause = (form.causes or {}).get(measure, "")
            yield Row(form.name, measure, unit, ours, (value,), tolerance, cause)
