"""Tests of queues in Python: results as with the same queue in Rust, and reported errors."""

import math
import os
import signal
import subprocess
import sys
import time
import traceback
from typing import Any

import numpy as np
import pandas as pd
import pytest

import aqmlab
from aqmlab import (
    PASS,
    Arrival,
    CustomQueue,
    InvariantViolation,
    Packet,
    Result,
    ScenarioError,
    Verdict,
)

LINK = "left>right"


class Step(CustomQueue):
    """AQM that marks above a threshold, as in crates/queues/src/threshold.rs."""

    def __init__(self, threshold: int, **buffer: Any) -> None:
        super().__init__(**buffer)
        self.threshold = threshold

    def on_arrival(self, packet: Packet, at: Arrival) -> Verdict:
        assert packet.size > 0
        return aqmlab.signal("threshold") if at.packets > self.threshold else PASS


class Red(CustomQueue):
    """Gentle RED with uniform spacing, by figure 2 of Floyd & Jacobson 1993."""

    def __init__(self, minth: float, maxth: float, maxp: float, wq: float, **buffer: Any) -> None:
        super().__init__(**buffer)
        self.minth, self.maxth, self.maxp, self.wq = minth, maxth, maxp, wq
        self.avg, self.count = 0.0, -1
        self.counted_s = 0.0

    def on_arrival(self, packet: Packet, at: Arrival) -> Verdict:
        assert packet.ecn in ("not-ect", "ect0", "ect1", "ce")
        if at.idle_s is not None:
            idle_s = min(at.idle_s, at.now_s - self.counted_s)
            self.counted_s = at.now_s
            self.avg *= (1 - self.wq) ** (idle_s / (500 * 8 / self.place.rate_bps))
        self.avg += self.wq * (at.packets - self.avg)
        if self.avg < self.minth:
            self.count = -1
            return PASS
        if self.avg < self.maxth:
            pb = self.maxp * (self.avg - self.minth) / (self.maxth - self.minth)
        else:
            pb = self.maxp + (1 - self.maxp) * (self.avg - self.maxth) / self.maxth
        if pb >= 1:
            count, self.count = self.count, 0
            return aqmlab.drop(
                "threshold", rule="above-maxth", avg=self.avg, count=count, p_b=1, p_a=1
            )
        self.count += 1
        pa = pb / (1 - self.count * pb) if self.count * pb < 1 else 1.0
        if pb > 0 and (u := self.place.uniform()) < pa:
            count, self.count = self.count, 0
            return aqmlab.signal(
                rule="random", avg=self.avg, count=count, p_b=pb, p_a=min(pa, 1), random=u
            )
        return PASS

    def on_overflow(self, now_s: float) -> None:
        assert now_s > 0
        self.count = 0

    def average(self) -> float:
        return self.avg


def assert_same(a: Result, b: Result) -> None:
    """Assert that all tables of two results are equal, apart from rounding in the averages."""
    assert a.tables == b.tables
    for table in a.tables:
        for name, column in a.columns(table).items():
            other = b.columns(table)[name]
            if isinstance(column, list):
                assert column == other, (table, name)
            elif name in ("average_packets", "average_bytes"):
                np.testing.assert_allclose(column, other, rtol=1e-9, atol=1e-12)
            else:
                np.testing.assert_array_equal(column, other, f"{table}.{name}")


def with_aqm(small: dict[str, Any], aqm: dict[str, Any] | str) -> dict[str, Any]:
    """Return the small scenario with the AQM `aqm` and longer downloads."""
    queue = {"kind": aqm} if isinstance(aqm, str) else aqm
    small["network"]["queue"] = queue | {"limit": "16 packets"}
    small["flows"][0]["traffic"]["size"] = "2 MB"
    return small


@pytest.mark.parametrize("place", [{}, {"drop_from": "front", "mark_at": "head"}])
def test_a_threshold_in_python_equals_the_one_in_rust(
    small: dict[str, Any], place: dict[str, Any]
) -> None:
    small = with_aqm(small, {"kind": "threshold", "threshold": "6 packets"} | place)
    rust = aqmlab.run(small)
    assert rust.links["marked_packets"].sum() > 20
    python = aqmlab.run(small, queues={"bottleneck": Step(6)})
    assert_same(rust, python)


@pytest.mark.parametrize("ecn", ["rfc3168", "off"])
def test_red_in_python_equals_the_one_in_rust(small: dict[str, Any], ecn: str) -> None:
    red = {"kind": "red", "minth": "2 packets", "maxth": "8 packets", "maxp": 0.1, "wq": 0.02}
    small = with_aqm(small, red)
    small["tcp"]["ecn"] = ecn
    rust = aqmlab.run(small)
    counts = rust.links[["dropped_full", "dropped_early", "dropped_threshold", "marked_packets"]]
    assert counts.to_numpy().sum(axis=0)[1 if ecn == "off" else 3] > 20
    python = aqmlab.run(small, queues={LINK: Red(2, 8, 0.1, 0.02)})
    assert_same(rust, python)


def test_red_in_python_gives_the_reasons_of_the_one_in_rust(small: dict[str, Any]) -> None:
    red = {"kind": "red", "minth": "2 packets", "maxth": "4 packets", "maxp": 0.3, "wq": 0.5}
    small = with_aqm(small, red) | {"record": {"series": ["why"]}}
    rust, python = (
        aqmlab.run(small, queues=queues).series("why")
        for queues in (None, {LINK: Red(2, 4, 0.3, 0.5)})
    )
    signals = rust["rule"] != "buffer-full"
    assert set(rust["rule"][signals]) == {"random", "above-maxth"}
    names = ["time_s", "seq", "signal", "rule", "queue_bytes", "avg", "count", "p_b", "p_a"]
    pd.testing.assert_frame_equal(
        rust[signals][[*names, "random"]], python[signals][[*names, "random"]], check_dtype=False
    )


def test_drop_tail_in_python_equals_the_one_in_rust(small: dict[str, Any]) -> None:
    class DropTail(CustomQueue):
        def on_arrival(self, packet: Packet, at: Arrival) -> Verdict:  # noqa: ARG002
            return PASS

    small = with_aqm(small, "drop_tail")
    assert_same(aqmlab.run(small), aqmlab.run(small, queues={LINK: DropTail()}))


def test_each_replication_has_its_own_copy_of_the_aqm(small: dict[str, Any]) -> None:
    aqm = Red(2, 8, 0.1, 0.02)
    small = with_aqm(small, "drop_tail")
    together = aqmlab.replicate(small, 3, queues={"bottleneck": aqm})
    alone = [aqmlab.run(small, 7 + i, queues={"bottleneck": aqm}) for i in range(3)]
    for a, b in zip(together, alone, strict=True):
        assert_same(a, b)
    assert aqm.avg == 0
    assert not hasattr(aqm, "place")


def test_a_scenario_and_a_sweep_accept_a_queue_in_python(small: dict[str, Any]) -> None:
    small = with_aqm(small, "drop_tail")
    small["network"]["queue"] = Step(6, limit="16 packets", ecn="drop")
    alone = aqmlab.run(small)
    assert alone.links["dropped_threshold"].sum() > 20
    assert alone.links["marked_packets"].sum() == 0
    queue = alone.scenario["network"]["queue"]
    assert (queue["kind"], queue["aqm"], queue["limit"]) == ("custom", "Step", "16 packets")
    over = {"network.queue": [Step(6, limit="16 packets", ecn="drop"), Step(2), "drop_tail"]}
    swept = aqmlab.sweep(small, over)
    assert_same(swept.results[0], alone)
    names = [r.scenario["network"]["queue"].get("aqm") for r in swept.results]
    assert len(set(names[:2])) == 2
    assert names[2] is None


def test_queues_of_a_graph_are_named_by_their_links() -> None:
    link = {"rate": "1 Mbit/s", "delay": "5 ms"}
    network = {
        "kind": "graph",
        "links": [{"from": "a", "to": "b", **link}, {"from": "b", "to": "c", **link}],
    }
    flows = [{"from": "a", "to": "c", "traffic": {"kind": "bulk", "size": "500 kB"}}]
    scenario = {"network": network, "flows": flows}
    for name in ("a>b", "c>b"):
        result = aqmlab.run(scenario, queues={name: Step(3)})
        rows = result.links.set_index("link")
        assert (rows["dropped_threshold"] > 0).sum() <= 1
        assert rows.loc["a>b", "dropped_threshold"] > 0 or name == "c>b"
    with pytest.raises(ScenarioError, match=r"'b>d' is not a link; give one of a>b, b>a, b>c, c>b"):
        aqmlab.run(scenario, queues={"b>d": Step(3)})
    with pytest.raises(ScenarioError, match=r"give an object of a class derived"):
        aqmlab.run(scenario, queues={"a>b": Step})  # type: ignore[dict-item]


def test_a_file_cannot_define_an_aqm_in_python(small: dict[str, Any]) -> None:
    small["network"]["queue"] = {"kind": "custom", "aqm": "Mine"}
    with pytest.raises(ScenarioError, match=r'left>right: "Mine" is an AQM written in Python'):
        aqmlab.run(small)
    small["network"]["queue"] = {"kind": "custom"}
    with pytest.raises(ScenarioError, match=r"network.queue.aqm: is missing"):
        aqmlab.run(small)


class Fails(Step):
    """AQM that raises an error late in the run, in the method that the test names."""

    def __init__(self, method: str, value: Any = None) -> None:
        super().__init__(6)
        self.method, self.value, self.calls = method, value, 0

    def fail(self, method: str) -> Any:
        self.calls += self.method == method
        late = 100 if method in ("on_arrival", "on_admitted") else 0
        if self.method != method or self.calls <= late:
            return PASS
        return 1 / 0 if self.value is None else self.value

    def begin(self, place: aqmlab.Place) -> None:
        super().begin(place)
        self.fail("begin")

    def on_arrival(self, packet: Packet, at: Arrival) -> Verdict:  # noqa: ARG002
        verdict: Verdict = self.fail("on_arrival")
        return verdict

    def on_admitted(self, packet: Packet, at: Arrival) -> None:  # noqa: ARG002
        self.fail("on_admitted")

    def on_overflow(self, now_s: float) -> None:  # noqa: ARG002
        self.fail("on_overflow")

    def average(self) -> Any:
        value = self.fail("average")
        return None if value is PASS else value


@pytest.mark.parametrize("method", ["begin", "on_arrival", "on_admitted", "on_overflow", "average"])
def test_an_error_is_raised_with_its_traceback_time_link_and_packet(
    small: dict[str, Any], method: str
) -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        aqmlab.run(with_aqm(small, "drop_tail"), queues={"bottleneck": Fails(method)})
    text = "".join(traceback.format_exception(raised.value))
    for part in ["return 1 / 0", "in fail", "Fails ", " s, link left>right"]:
        assert part in text
    if method in ("on_arrival", "on_admitted"):
        assert f"Fails {method}: " in text
        assert ", packet of 1500 B" in text
        assert "of connection" in text
        assert not math.isclose(
            float(text.split(f"{method}: simulated time ")[1].split(" s,")[0]), 0
        )


class Raises(CustomQueue):
    """AQM that raises the error `error`, whose type the simulator also uses for its own errors."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def on_arrival(self, packet: Packet, at: Arrival) -> Verdict:  # noqa: ARG002
        raise self.error


@pytest.mark.parametrize("kind", [MemoryError, ScenarioError, InvariantViolation])
def test_an_aqm_may_raise_error_types_of_the_simulator(
    small: dict[str, Any], kind: type[Exception]
) -> None:
    with pytest.raises(kind, match="raised by the AQM") as raised:
        aqmlab.run(with_aqm(small, "drop_tail"), queues={LINK: Raises(kind("raised by the AQM"))})
    assert "Raises on_arrival: " in "".join(traceback.format_exception(raised.value))


class RunsItself(CustomQueue):
    """AQM that runs another scenario; the other run exceeds the maximum number of events."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        super().__init__()
        self.scenario = scenario

    def on_arrival(self, packet: Packet, at: Arrival) -> Verdict:  # noqa: ARG002
        aqmlab.run(self.scenario, limits={"events": 10})
        return PASS


def test_an_error_of_a_run_inside_an_aqm_names_the_aqm(small: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError) as raised:
        aqmlab.run(with_aqm(small, "drop_tail"), queues={LINK: RunsItself(small)})
    assert "RunsItself on_arrival: " in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize("wrong", [3, "pass", True, (PASS,)])
def test_an_invalid_verdict_is_an_error(small: dict[str, Any], wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"on_arrival returned .*; return PASS, signal\(why\)"):
        aqmlab.run(small, queues={"bottleneck": Fails("on_arrival", wrong)})


def test_an_invalid_average_or_reason_is_an_error(small: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        aqmlab.run(small, queues={"bottleneck": Fails("average", "much")})
    for verdict in (aqmlab.signal, aqmlab.drop):
        with pytest.raises(ValueError, match=r'why = "full" must be "early" or "threshold"'):
            verdict("full")
    assert [repr(v) for v in (PASS, aqmlab.signal(), aqmlab.drop("threshold"))] == [
        "PASS",
        'signal("early")',
        'drop("threshold")',
    ]


def test_an_aqm_without_on_arrival_is_an_error(small: dict[str, Any]) -> None:
    with pytest.raises(NotImplementedError, match="CustomQueue must implement on_arrival"):
        aqmlab.run(small, queues={"bottleneck": CustomQueue()})


def test_a_failing_run_stops_the_others(small: dict[str, Any]) -> None:
    with pytest.raises(ZeroDivisionError):
        aqmlab.replicate(with_aqm(small, "drop_tail"), 4, queues={LINK: Fails("on_arrival")})


ENDLESS = """
import json, sys, time
import aqmlab
from aqmlab.scenario import normalize
from test_custom import Step

class Loop(Step):
    def on_arrival(self, packet, at):
        while sys.argv[1] == "loop":
            pass
        if sys.argv[1] == "sleep":
            time.sleep(1000)
        return super().on_arrival(packet, at)

scenario = json.loads(normalize("examples/one_flow.toml"))
scenario["duration"] = "1000000 s"
scenario["flows"][0]["traffic"] = "bulk"
print("begun", flush=True)
aqmlab.run(scenario, queues={"bottleneck": Loop(6)})
"""


@pytest.mark.parametrize("action", ["step", "loop", "sleep"])
def test_ctrl_c_ends_a_run_with_an_aqm_in_python(action: str) -> None:
    paths = os.pathsep.join(["tests", os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS, action], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=os.environ | {"PYTHONPATH": paths},
    ) as running:  # fmt: skip
        assert running.stdout
        assert running.stdout.readline() == "begun\n"
        time.sleep(1)
        assert running.poll() is None
        running.send_signal(signal.SIGINT)
        began = time.monotonic()
        _, stderr = running.communicate(timeout=20)
    assert time.monotonic() - began < 10
    assert running.returncode == -signal.SIGINT
    assert stderr.rstrip().endswith("KeyboardInterrupt")


def test_a_sweep_may_vary_queues_in_python(small: dict[str, Any]) -> None:
    swept = aqmlab.sweep(small, {"network.queue": [Step(4, limit="16 packets"), {"kind": "red"}]})
    assert len(swept.results) == 2
