"""Test the testbed: scenarios over the TCP of a kernel.

The bounds are wide in real time, because a busy machine delays packets, and no test measures times.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

import aqmlab
from aqmlab import CustomQueue
from aqmlab.engine import Engine, engine_named
from aqmlab.engine.testbed import CAPABILITIES, HostTestbed, KernelTestbed, kernel
from aqmlab.engine.testbed.hosts import hosted
from aqmlab.engine.testbed.qdiscs import WITH_QDISCS
from aqmlab.results import NotMeasuredError
from aqmlab.scenario import normalize
from conftest import back_end
from test_captures import packets
from test_wire import tshark

LINK = {
    "left_rate": "1 Gbit/s",
    "left_delay": "0 s",
    "right_rate": "1 Gbit/s",
    "right_delay": "0 s",
}
SCENARIO: dict[str, Any] = {
    "duration": "3 s",
    "warm_up": "1 s",
    "network": {
        "kind": "dumbbell", "rate": "10 Mbit/s", "delay": "10 ms", **LINK,
        "queue": {"kind": "fq_codel", "ecn": "mark"},
    },
    "flows": [
        {"name": "download", "from": "left-0", "to": "right-0", "traffic": {"kind": "bulk"}},
        {"name": "requests", "from": "right-0", "to": "left-0",
         "traffic": {"kind": "request_response", "request": "300 B", "response": "30 kB",
                     "requests": 2},
         "arrivals": {"interval": "200 ms"}},
        {"name": "call", "from": "left-0", "to": "right-0", "traffic": {"kind": "voip"}},
    ],
    "tcp": {"stack": "linux", "ecn": "rfc3168"},
    "record": {"series": ["queue", "delays", "requests", "transfers", "window", "rtt"]},
}  # fmt: skip
"""Scenario with every kind of traffic that the testbed treats differently."""


class Step(CustomQueue):
    """Queue that signals every packet behind 20 others."""

    def on_arrival(self, _packet: aqmlab.custom.Packet, at: aqmlab.custom.Arrival) -> Any:
        """Signal behind 20 packets."""
        if at.packets <= 20:
            return aqmlab.PASS
        return aqmlab.signal("threshold", rule="above-step", behind=at.packets)


@pytest.fixture(params=["host", "kernel"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Return a back end of the testbed, or skip the test where the back end cannot run."""
    return back_end(f"testbed:{request.param}")


def test_a_run_over_the_kernel_has_the_tables_of_a_simulation(engine: Engine) -> None:
    measured, simulated = aqmlab.run(SCENARIO, engine=engine), aqmlab.run(SCENARIO)
    assert measured.tables == simulated.tables
    download, requests = measured.flows["goodput_bps"][:2]
    assert 2e6 < download < 10e6
    assert requests > 0
    assert measured.flows["ecn"][0] == 1
    assert measured.columns("links")["marked_packets"].sum() > 0
    assert measured.columns("datagrams")["received_packets"][0] > 0
    assert len(measured.columns("requests")["flow"]) > 10
    window = measured.columns("window")
    assert window["cwnd_bytes"][-1] >= 2 * 1448
    assert 0.2 <= window["rto_s"][-1] < 1
    rtt = measured.series("rtt")
    assert rtt["rtt_s"].isna().all()
    assert rtt["srtt_s"].between(0.02, 0.5).all()
    assert len(rtt) > 10
    with pytest.raises(NotMeasuredError, match="fast_retransmits is not measured"):
        measured.columns("flows")["fast_retransmits"]
    late = measured.manifest["lateness"]
    assert late["packets"] > 1000
    assert 0 <= late["p50_s"] <= late["p99_s"] <= late["longest_s"]
    assert "fast_retransmits" not in measured.manifest["measured"]["flows"]
    hosts = measured.manifest["nstat"]
    assert [host["hosts"] for host in hosts] == ["clients", "servers"]
    assert hosts[0]["flows"] == ["download", "requests"]
    retransmitted = sum(host["counters"].get("TcpRetransSegs", 0) for host in hosts)
    counted = sum(measured.flows["retransmitted_segments"])
    counted += sum(measured.columns("replies")["retransmitted_segments"])
    assert retransmitted >= counted
    if isinstance(engine, KernelTestbed):
        assert retransmitted == counted
    assert measured.manifest["engine"].startswith("testbed:")


def test_a_queue_in_python_works(engine: Engine) -> None:
    changes = {"flows": SCENARIO["flows"][:1], "record": {}}
    result = aqmlab.run(SCENARIO | changes, queues={"bottleneck": Step()}, engine=engine)
    assert result.columns("links")["marked_packets"].sum() > 0
    assert 2e6 < result.flows["goodput_bps"][0] < 10e6


def test_the_queues_of_the_simulator_give_their_reasons(engine: Engine) -> None:
    without_ecn = SCENARIO["flows"][0] | {"name": "plain", "tcp": {"ecn": "off"}}
    changes = {
        "flows": [SCENARIO["flows"][0], without_ecn],
        "record": {"series": ["drops", "marks", "why"]},
    }
    result = aqmlab.run(SCENARIO | changes, engine=engine)
    why = result.series("why")
    for signal, table in (("drop", "drops"), ("mark", "marks")):
        rows, expected = why[why["signal"] == signal], result.series(table)
        packet = ["time_s", "link", "flow", "seq"]
        assert rows[packet].to_numpy().tolist() == expected[packet].to_numpy().tolist()
        assert len(rows)
    rules = set(why["rule"])  # in real time, a loaded machine may leave no second drop
    assert "enters-dropping" in rules
    assert rules <= {"enters-dropping", "drop-next"}
    assert (why["sojourn_s"] >= 0.005).all()
    assert why[["flow_queue", "drop_next_s", "queue_packets"]].notna().all(axis=None)


def test_a_queue_in_python_gives_its_reasons(engine: Engine) -> None:
    changes = {"flows": SCENARIO["flows"][:1], "record": {"series": ["why"]}}
    result = aqmlab.run(SCENARIO | changes, queues={"bottleneck": Step()}, engine=engine)
    why = result.series("why")
    marks = why[why["rule"] == "above-step"]
    assert len(marks)
    assert marks["behind"].equals(marks["queue_packets"])


@pytest.mark.nightly
def test_a_run_may_have_more_sockets_than_the_usual_limit_of_files() -> None:
    flow = SCENARIO["flows"][0] | {"name": "download-{i}", "count": 1100}
    changes = {"flows": [flow], "record": {}, "duration": "300 ms", "warm_up": "0 s"}
    flows = aqmlab.run(SCENARIO | changes, engine=back_end("testbed:kernel")).flows
    assert flows["established_s"].notna().sum() > 20


def test_captures_have_the_packets_of_the_hosts(engine: Engine, tmp_path: Path) -> None:
    pcap = {"on": ["left-0", "right-0"], "keep": "whole"}
    changes = {"flows": SCENARIO["flows"][:1], "record": {"pcap": pcap}, "warm_up": "0 s"}
    flow = aqmlab.run(SCENARIO | changes, engine=engine, pcap=tmp_path).flows.iloc[0]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["left-0.pcapng", "right-0.pcapng"]
    if not shutil.which("tshark"):
        pytest.skip("the rest needs tshark; install it with: apt-get install tshark")
    for name in pcap["on"]:
        capture = packets(tmp_path / f"{name}.pcapng")
        assert not capture["_ws.malformed"].any()
        # A kernel may write the checksum 0 as 0xffff (RFC 1624), which tshark calls wrong.
        wrong = "tcp.checksum.status != 1 and tcp.checksum != 0xffff"
        assert tshark(tmp_path / f"{name}.pcapng", "-Y", wrong) == []
        data = capture["ip.src"].eq("10.0.0.1") & capture["tcp.len"].ne("0")
        column = "segments_sent" if name == "left-0" else "received_segments"
        assert data.sum() == flow[column]
    pcap["on"] = ["left>right"]
    with pytest.raises(aqmlab.ScenarioError, match=r"record.pcap.on.0: .* captures packets at"):
        aqmlab.run(SCENARIO | changes, engine=engine, pcap=tmp_path)


@pytest.mark.parametrize("name", ["testbed:host-tc", "testbed:uml"])
def test_a_queue_discipline_of_the_kernel_replaces_the_queue(name: str) -> None:
    guest, engine = name == "testbed:uml", back_end(name)
    network = SCENARIO["network"] | {"queue": "drop_tail"}
    scenario = SCENARIO | {"network": network, "record": {"series": ["delays"]}}
    result = aqmlab.run(scenario, engine=engine)
    datagrams = result.columns("datagrams")
    assert datagrams["received_packets"][0] > 0.9 * datagrams["sent_packets"][0] > 50
    assert 2e6 < result.flows["goodput_bps"][0] < 10e6
    links = result.columns("links")
    assert links["delivered_packets"][0] > 500
    with pytest.raises(NotMeasuredError):
        links["dropped_early"]
    about = [w["text"] for w in result.manifest["warnings"] if w["about"] == "qdisc"]
    assert [of["link"] for of in result.manifest["qdiscs"]] == ["left>right", "right>left"]
    leaves = [of["tc"][1] for of in result.manifest["qdiscs"]]
    assert leaves[1]["options"]["limit"] == 1000  # the default, which tc takes from the device
    leaf = leaves[0]
    assert (leaf["kind"], leaf["options"]["limit"]) == ("pfifo", 100)
    assert leaf["packets"] >= links["delivered_packets"][0]
    assert about[0] == "left>right: tc qdisc add dev DEV root pfifo limit 100"
    if not guest:
        return
    changes = {"network": network | {"queue": "dualpi2"}}
    with pytest.raises(aqmlab.ScenarioError, match=r'network.queue.kind: "dualpi2" is not'):
        aqmlab.run(scenario | changes, engine=engine)


def test_a_queue_that_tc_lacks_is_refused() -> None:
    network = SCENARIO["network"] | {"queue": "blue"}
    with pytest.raises(aqmlab.ScenarioError, match=r'network.queue.kind: "blue" is not supported'):
        WITH_QDISCS.check(normalize(SCENARIO | {"network": network, "record": {}}))


@pytest.mark.parametrize("series", ["drops", "why", "why_cwnd"])
def test_a_series_that_needs_reasons_of_the_kernel_is_refused(series: str) -> None:
    record = {"series": [series]}
    with pytest.raises(aqmlab.ScenarioError, match=f'record.series.0: "{series}" is not supported'):
        WITH_QDISCS.check(normalize(SCENARIO | {"record": record}))


def marked_processes(mark: str) -> list[int]:
    """Return the processes whose environment contains a text."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
        except (OSError, ValueError):
            continue
    return found


def visible() -> list[str]:
    """Return the network devices, network namespaces with a name, and mounts of this machine."""
    devices = sorted(path.name for path in Path("/sys/class/net").iterdir())
    names = Path("/run/netns")
    namespaces = sorted(path.name for path in names.iterdir()) if names.is_dir() else []
    return [*devices, *namespaces, Path("/proc/mounts").read_text()]


@pytest.mark.nightly
def test_a_kill_leaves_nothing(engine: Engine, tmp_path: Path) -> None:
    name = "testbed:" + ("host" if isinstance(engine, HostTestbed) else "kernel")
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(SCENARIO | {"duration": "30 s"}))
    before = visible()
    rng = random.Random(1)
    for i in range(20):
        mark = f"AQMLAB_TEST={name}-{os.getpid()}-{i}"
        key, _, value = mark.partition("=")
        command = [sys.executable, "-m", "aqmlab", "run", str(file), "--engine", name]
        process = subprocess.Popen(
            command, env=os.environ | {key: value, "TMPDIR": str(tmp_path)},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(rng.uniform(0, 6))
        process.kill()
        process.wait()
        until = time.monotonic() + 60
        while marked_processes(mark) and time.monotonic() < until:
            time.sleep(0.05)
        assert marked_processes(mark) == []
        assert visible() == before
    left = list(tmp_path.glob("aqmlab-testbed-*"))
    if left:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tempfile, "tempdir", str(tmp_path))
            aqmlab.run(SCENARIO, engine=engine)
    assert list(tmp_path.glob("aqmlab-testbed-*")) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tcp": {"stack": "rfc"}}, r'tcp.stack: "rfc" is not supported .* "linux"'),
        ({"tcp": {"stack": "linux", "recovery": "reno"}}, "tcp.recovery.method: .* not supported"),
        ({"record": {"series": ["segments"]}}, r'record.series.0: "segments" is not supported'),
        ({"record": {"series": ["why_cwnd"]}}, r'record.series.0: "why_cwnd" is not supported'),
        ({"tcp": {"stack": "linux", "congestion": "prague"}}, r"tcp.congestion.kind: .prague. is"),
    ],
)  # fmt: skip
def test_what_only_a_simulation_can_do_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(aqmlab.ScenarioError, match=message):
        CAPABILITIES.check(normalize(SCENARIO | changes))


def test_a_study_with_hosts_that_the_kernel_lacks_is_refused() -> None:
    scenario = SCENARIO | {"tcp": {"congestion": "prague", "rto": {"min": "1 s"}}}
    hosts = hosted(scenario)
    assert "rto" not in hosts["tcp"]
    with pytest.raises(aqmlab.ScenarioError, match=r"tcp.congestion.kind: .prague. is"):
        CAPABILITIES.check(normalize(hosts))


def test_a_kernel_that_is_not_built_is_named(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="aqmlab doctor --build-kernel"):
        engine_named("testbed:kernel")


def test_a_guest_that_panics_ends_with_its_last_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = back_end("testbed:kernel")
    monkeypatch.setattr(kernel, "INIT", "#!/bin/sh\nexit 1\n# {folder} {environment} {python}")
    with pytest.raises(OSError, match=r"wrote no result; its last lines: .*[Pp]anic"):
        aqmlab.run(SCENARIO, engine=engine)


def test_a_full_disk_is_named_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = back_end("testbed:kernel")
    usage = shutil.disk_usage(".")._replace(free=3 * 2**20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(OSError, match=r"has only 3 MiB of free space, .* set TMPDIR"):
        aqmlab.run(SCENARIO, engine=engine)


def test_an_unknown_back_end_is_refused() -> None:
    with pytest.raises(ValueError, match=r"testbed:cloud.* must be one of .*testbed:kernel"):
        engine_named("testbed:cloud")
