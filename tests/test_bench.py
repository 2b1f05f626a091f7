"""Tests of the speed benchmark: its output rows and its errors."""

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from aqmlab import _core, bench, variants
from aqmlab.command import execute

KEYS = [
    "scenario",
    "simulator",
    "bottleneck_packets",
    "bottleneck_packets_per_cpu_s",
    "hops_per_cpu_s",
    "cpu_s",
    "wall_s",
    "peak_rss_bytes",
    "memory_per_flow_bytes",
    "runs",
    "spread",
]
NS2 = (
    "ns2 S2 q=fifo ecn=0 sched=Calendar setup=0.012 run=0.831 cpu=0.82 sim=60 sent=508213 "
    "acked=492100 rtx=8210 bpk/s(cpu)=600121.95 goodputMbps=95.8 "
    "VmRSS:\t   12744 kB VmHWM:\t   27264 kB"
)
NS3 = (
    "S2 q=fifo ecn=0 setup=0.120 run=14.402 cpu=14.387 sim=60.00 ev=9 ev/s=6 bpk=499000 "
    "bpk/s=34648 hops=2.3e+06 hops/s=161 ev/hop=3.90 drop=9 VmRSS:\t   17392 kB VmHWM:\t   18604 kB"
)

HTSIM = (
    "htsim S2 setup=0.006 run=3.273968 cpu=1.232137 sim=60.00 bpk=499816 hops=3010907 drop=11879 "
    "at_bottleneck=11879 goodputMbps=92.574 VmRSS:\t    3500 kB VmHWM:\t    5860 kB"
)


def measurement(packets: float, cpu_s: float) -> bench.Measured:
    return {
        "bottleneck_packets": packets,
        "hops": 5 * packets,
        "cpu_s": cpu_s,
        "wall_s": 2 * cpu_s,
        "peak_rss_bytes": 1e6,
    }


@pytest.fixture
def short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replace the benchmark's scenarios by S1 with transfers of 100 kB."""
    text = (bench.SCENARIOS / "S1.toml").read_text()
    (tmp_path / "S1.toml").write_text(text.replace("200 MiB", "100 kB"))
    (tmp_path / "derived").touch()
    monkeypatch.setattr(bench, "SCENARIOS", tmp_path)
    monkeypatch.setattr(bench, "DERIVED", tmp_path / "derived")
    return tmp_path


def wheel_with(folder: Path, name: str, content: bytes) -> Path:
    """Return a wheel with one file."""
    with zipfile.ZipFile(folder / "some.whl", "w") as archive:
        archive.writestr(name, content)
    return folder / "some.whl"


@pytest.fixture
def no_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the installed simulators ns-2, ns-3 and htsim from the benchmark."""
    monkeypatch.delenv("HTSIM", raising=False)
    monkeypatch.setattr("shutil.which", lambda _: None)


@pytest.mark.usefixtures("short")
def test_the_json_output_has_a_row_with_every_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["bench", "--json", "--runs", "2"]) == 0
    out, err = capsys.readouterr()
    (row,) = json.loads(out)
    assert list(row) == KEYS
    assert (row["scenario"], row["simulator"], row["runs"]) == ("S1", "aqmlab", 2)
    assert row["bottleneck_packets"] > 10 * 100e3 / 1460
    assert 0 < row["spread"][0] <= row["bottleneck_packets_per_cpu_s"] <= row["spread"][1]
    assert row["hops_per_cpu_s"] > 2 * row["bottleneck_packets_per_cpu_s"]
    assert row["peak_rss_bytes"] >= 0
    assert 10 * row["memory_per_flow_bytes"] < row["peak_rss_bytes"]
    assert err == ""


@pytest.mark.usefixtures("short")
def test_the_simulator_of_a_wheel_is_measured_beside_that_of_the_checkout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel = wheel_with(tmp_path, "aqmlab/_core.abi3.so", Path(_core.__file__).read_bytes())
    assert execute(["bench", "S1", "--json", "--runs", "1", "--wheel", str(wheel)]) == 0
    ours, theirs = json.loads(capsys.readouterr().out)
    assert (ours["simulator"], theirs["simulator"]) == ("aqmlab", "wheel")
    assert theirs["bottleneck_packets"] == ours["bottleneck_packets"]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("aqmlab/_core.abi3.so", "does not run on this machine; give a wheel of this version for"),
        ("aqmlab/other.py", "does not contain a simulator core (aqmlab/_core.*)"),
    ],
)
def test_a_wheel_without_a_core_for_this_machine_is_an_error(
    name: str, error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel = wheel_with(tmp_path, name, b"core of another platform")
    assert execute(["bench", "S1", "--wheel", str(wheel)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert error in err
    assert str(wheel) in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("file", "error"), [("README.md", "is not a wheel: "), ("no.whl", "the file does not exist")]
)
def test_a_file_that_is_not_a_wheel_is_an_error(
    file: str, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["bench", "S1", "--wheel", str(bench.ROOT / file)]) == 2
    err = capsys.readouterr().err
    assert file in err
    assert error in err
    assert err.count("\n") == 1


@pytest.mark.usefixtures("short")
def test_all_tables_are_printed_by_one_call(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def costs(_: object) -> Iterator[dict[str, Any]]:
        yield {"variant": "plain", "instructions_per_packet": 1871.2}

    monkeypatch.setattr(variants, "costs", costs)
    assert execute(["bench", "--all", "--runs", "1"]) == 0
    out = capsys.readouterr().out
    assert out.index("S1") < out.index("plain")
    assert execute(["bench", "--all", "--runs", "1", "--json"]) == 0
    speed, cost = json.loads(capsys.readouterr().out)
    assert list(speed) == KEYS
    assert cost == {"variant": "plain", "instructions_per_packet": 1871.2}


def test_all_with_names_of_scenarios_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["bench", "S1", "--all"]) == 2
    assert "--all measures all scenarios; omit" in capsys.readouterr().err


@pytest.mark.usefixtures("short", "no_peers")
def test_a_missing_peer_is_reported_once_with_its_remedy(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert execute(["bench", "S1", "S1", "--peers", "--runs", "1"]) == 0
    out, err = capsys.readouterr()
    assert "aqmlab" in out
    assert err.splitlines() == [
        "aqmlab: ns-2 does not run: install it with: apt-get install ns2",
        "aqmlab: ns-3 does not run: install it with: apt-get install g++ libns3-dev",
        "aqmlab: htsim does not run: the environment variable HTSIM does not name a build of "
        "htsim; build libhtsim.a in the folder sim of https://github.com/Broadcom/csg-htsim, and "
        "set HTSIM to this folder",
    ]


@pytest.mark.parametrize("folder", ["", "nowhere", "."])
def test_htsim_does_not_run_without_its_library(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HTSIM", folder)
    with pytest.raises(bench.MissingPeerError, match=r"build libhtsim\.a in the folder"):
        bench.htsim("S1")


@pytest.mark.usefixtures("no_peers")
def test_htsim_does_not_run_scenarios_that_it_lacks_features_for() -> None:
    messages: list[str] = []
    assert bench.available("S1-red", messages.append) == []
    assert "htsim does not run S1-red: htsim has neither RED nor a TCP with SACK" in messages


def test_the_output_of_htsim_is_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "libhtsim.a").touch()
    monkeypatch.setenv("HTSIM", str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda name: name)
    commands: list[list[str]] = []

    def run(command: list[str]) -> str:
        commands.append(command)
        return HTSIM

    monkeypatch.setattr(bench, "pinned", run)
    assert bench.htsim("S2")("S2") == {
        "bottleneck_packets": 499816,
        "hops": 3010907,
        "cpu_s": 1.232137,
        "wall_s": 3.273968,
        "peak_rss_bytes": 2360 * 1024,
    }
    build, measure = commands
    assert build[0] == "g++"
    assert f"-I{tmp_path}" in build
    assert measure == [str(bench.BUILT / "htsim_dumbbell"), "sc=S2"]


def test_peers_do_not_run_scenarios_without_a_script() -> None:
    messages: list[str] = []
    assert bench.available("S5", messages.append) == []
    assert messages == ["ns-2, ns-3 and htsim run only S1, S2 and S3, which have scripts"]


def test_an_unknown_scenario_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["bench", "S99"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(
        "aqmlab: error: 'S99' is not a scenario of the benchmark; give one of S1, "
    )
    assert err.count("\n") == 1


@pytest.mark.parametrize("runs", ["0", "-1", "many"])
def test_an_invalid_number_of_runs_is_an_error(
    runs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["bench", "--runs", runs]) == 2
    assert f"--runs is '{runs}'; it must be a whole number of at least 1" in capsys.readouterr().err


def test_the_benchmark_outside_a_checkout_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "SCENARIOS", tmp_path)
    assert execute(["bench"]) == 2
    assert "run the benchmark in a checkout" in capsys.readouterr().err


def test_a_failing_simulator_is_reported_in_one_line(
    short: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (short / "S1.toml").write_text("title = 4")
    assert execute(["bench"]) == 2
    err = capsys.readouterr().err
    assert "failed: " in err
    assert err.count("\n") == 1


def test_ctrl_c_ends_the_benchmark_with_one_line() -> None:
    command = [sys.executable, "-m", "aqmlab", "bench", "S3", "--runs", "1000"]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
    )
    time.sleep(1.5)
    os.killpg(running.pid, signal.SIGINT)  # a terminal also sends the signal to the simulator
    assert running.communicate(timeout=5) == (
        "",
        "aqmlab: error: interrupted; nothing was written\n",
    )
    assert running.returncode == 130


def test_a_row_has_the_median_and_the_spread() -> None:
    runs = [measurement(100, 1.0), measurement(100, 4.0), measurement(100, 2.0)]
    row = bench.row("S1", "aqmlab", runs)
    assert list(row) == KEYS
    assert row == {
        "scenario": "S1",
        "simulator": "aqmlab",
        "bottleneck_packets": 100,
        "bottleneck_packets_per_cpu_s": 50.0,
        "hops_per_cpu_s": 250.0,
        "cpu_s": 2.0,
        "wall_s": 4.0,
        "peak_rss_bytes": 1000000,
        "memory_per_flow_bytes": None,
        "runs": 3,
        "spread": [25.0, 100.0],
    }


def test_simulators_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[str] = []

    def simulator(name: str) -> bench.Simulator:
        def measure(_: str) -> bench.Measured:
            turns.append(name)
            return measurement(100, 1.0)

        return bench.Simulator(name, measure)

    plan = {"S1": [simulator("a"), simulator("b")]}
    monkeypatch.setattr(bench, "planned", lambda *_: plan)
    progress: list[tuple[float, int]] = []
    rows = list(bench.benchmark([], 2, True, print, lambda *done: progress.append(done)))
    assert turns == ["a", "b", "a", "b"]
    assert [row["simulator"] for row in rows] == ["a", "b"]
    assert progress == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_scenarios_of_one_family_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[str] = []

    def measure(scenario: str) -> bench.Measured:
        turns.append(scenario)
        return measurement(100, 1.0)

    ours = [bench.Simulator("a", measure)]
    monkeypatch.setattr(bench, "planned", lambda *_: dict.fromkeys(["S2", "S10", "S2+drops"], ours))
    rows = list(bench.benchmark([], 2, False, print))
    assert turns == ["S10", "S10", "S2", "S2+drops", "S2", "S2+drops"]
    assert [row["scenario"] for row in rows] == ["S10", "S2", "S2+drops"]


def printed(rows: list[dict[str, Any]]) -> list[list[str]]:
    """Return the words of each line of the tables that begins with a name of a scenario."""
    console = Console(width=120)
    with console.capture() as output:
        console.print(*bench.tables(rows))
    lines = [line.split() for line in output.get().splitlines() if line.strip()]
    return [line for line in lines if line[0] in {row["scenario"] for row in rows}]


def test_the_table_shows_ratios_of_one_scenario() -> None:
    rows = [
        bench.row("S1", "aqmlab", [measurement(8e6, 2.0)]),
        bench.row("S1", "ns-2", [measurement(8e6, 16.0)]),
        bench.row("S2", "aqmlab", [measurement(8e6, 1.0)]),
    ]
    assert printed(rows) == [
        ["S1", "aqmlab", "4.000", "4.000–4.000", "20.000", "2.000", "4.000", "1.0"],
        ["S1", "ns-2", "0.500", "0.500–0.500", "2.500", "16.000", "32.000", "1.0", "8.00", "8.00"],
        ["S2", "aqmlab", "8.000", "8.000–8.000", "40.000", "1.000", "2.000", "1.0"],
    ]


def test_the_ratios_compare_with_the_wheel_if_there_is_one() -> None:
    rows = [
        bench.row("S1-sack", "aqmlab", [measurement(8e6, 2.0)]),
        bench.row("S1-sack", "wheel", [measurement(8e6, 1.0)]),
        bench.row("S1-sack", "ns-2", [measurement(8e6, 16.0)]),
    ]
    ours, wheel, peer = printed(rows)
    assert ours[-2:] == ["2.00", "2.00"]
    assert wheel[-1] == "1.0"
    assert peer[-2:] == ["16.00", "16.00"]


def test_the_table_of_costs_has_the_time_per_packet_and_the_memory_per_flow() -> None:
    per_flow = {"memory_per_flow_bytes": 4321.0}
    runs = [measurement(1e6, cpu_s) | per_flow for cpu_s in (0.25, 0.2, 0.5)]
    rows = [
        bench.row("S2", "aqmlab", runs),
        bench.row("S2+drops", "aqmlab", [measurement(1e6, 0.5) | per_flow]),
        bench.row("S3+drops", "aqmlab", [measurement(1e6, 0.5) | per_flow]),
        bench.row("web-100", "aqmlab", runs),
    ]
    assert printed(rows)[1:] == [
        ["S2+drops", "aqmlab", "500", "500–500", "1.0", "4.3", "2.00"],
        ["S3+drops", "aqmlab", "500", "500–500", "1.0", "4.3"],
        ["web-100", "aqmlab", "250", "200–500", "1.0", "4.3"],
    ]


def scenario_of(name: str) -> dict[str, Any]:
    path, changes = bench.source(name)
    scenario: dict[str, Any] = json.loads(
        _core.check(path.read_text(), "toml", list(changes.items()))
    )
    return scenario


@pytest.mark.parametrize("name", bench.names())
def test_every_scenario_of_the_benchmark_is_valid(name: str) -> None:
    assert scenario_of(name)["flows"]


@pytest.mark.parametrize("sack", ["", "-sack"])
@pytest.mark.parametrize("flows", [10, 100, 1000, 10000])
def test_bulk_flows_have_1_megabit_per_second_and_10_packets_each(flows: int, sack: str) -> None:
    scenario = scenario_of(f"flows-{flows}{sack}")
    network = scenario["network"]
    assert scenario["flows"][0]["count"] == flows
    assert network["left_hosts"] == network["right_hosts"] == flows
    assert network["queue"]["limit"] == f"{10 * flows} packets"
    assert bits_per_s(network["rate"]) == flows * 1e6
    assert scenario["tcp"]["sack"] == bool(sack)


@pytest.mark.parametrize("users", [100, 1000, 10000, 100000])
def test_360_web_users_have_10_megabit_per_second(users: int) -> None:
    scenario = scenario_of(f"web-{users}")
    assert scenario["flows"][0]["count"] == users
    rate = bits_per_s(scenario["network"]["rate"])
    assert rate == pytest.approx(users / 360 * 10e6, rel=1e-3)
    limit = int(scenario["network"]["queue"]["limit"].split()[0])
    assert limit == max(100, int(0.1 * rate / 12000))


def bits_per_s(rate: str) -> float:
    number, unit = rate.split()
    return float(number) * {"Mbit/s": 1e6, "Gbit/s": 1e9}[unit]


def test_the_instructions_are_counted_for_each_variant_and_series() -> None:
    counted = variants.variants()
    assert next(iter(counted.items())) == ("plain", {})
    assert list(counted)[-4:] == ["S2+drops", "S2+marks", "S2+delays", "S2+queue"]
    assert counted["S2+marks"] == {
        "record.series": "['marks']",
        "record.links": "['left>right']",
    }


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("left>right", True),
        ("right>left", False),
        ("left-0>left", False),
        ("r0>r1", True),
        ("r9>r10", True),
        ("r10>r9", False),
        ("r1>right-1", False),
    ],
)
def test_bottleneck_links_are_identified_by_their_names(link: str, expected: bool) -> None:
    assert bench.is_bottleneck(link) == expected


@pytest.mark.parametrize(
    ("text", "name", "between", "value"),
    [
        (NS2, "acked", "=", 492100),
        (NS2, "cpu", "=", 0.82),
        (NS2, "run", "=", 0.831),
        (NS2, "VmHWM:", r"\s+", 27264),
        (NS3, "bpk", "=", 499000),
        (NS3, "hops", "=", 2.3e6),
        (NS3, "cpu", "=", 14.387),
        (NS3, "VmHWM:", r"\s+", 18604),
        ("cpu=5e-05 run=1", "cpu", "=", 5e-05),
    ],
)
def test_numbers_are_parsed_from_the_output_of_peers(
    text: str, name: str, between: str, value: float
) -> None:
    assert bench.number(text, name, between) == value


def test_a_missing_number_is_an_error() -> None:
    with pytest.raises(ChildProcessError, match="no cpu in: no such command"):
        bench.number("no such command", "cpu")
