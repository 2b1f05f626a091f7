"""Tests of the command `aqmlab compare`: its measures, its errors and its files."""

import json
import math
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aqmlab
from aqmlab.command import execute
from aqmlab.comparison import Comparison, compare
from aqmlab.comparison.comparison import SCENARIO
from aqmlab.comparison.figures import ellipse
from aqmlab.comparison.queues import arm
from aqmlab.scenario import normalize
from aqmlab.statistics import jain, mean_interval, paired_difference
from aqmlab.store import FolderStore, status

QUEUES = ["drop_tail", "red:minth=4 packets,maxth=12 packets", "codel"]


@pytest.fixture
def compared(scenario: Path) -> Comparison:
    """Return a comparison of three queues with three replications."""
    return compare(QUEUES, scenario, 3)


def test_measures_of_a_comparison_equal_the_values_of_the_result_tables(
    compared: Comparison, scenario: Path
) -> None:
    base = json.loads(normalize(scenario))
    limit = base["network"]["queue"]["limit"]
    base["network"]["queue"] = {"kind": "codel", "limit": limit}
    base["record"] = {"series": ["delays"]}
    result = aqmlab.run(base, 9)
    run = compared.runs[2][2]
    links = result.links.set_index("link").loc["left>right"]
    delays = result.series("delays").set_index("link").loc["left>right"]
    assert run.seed == 9
    assert run.measures["drop_rate"] == links["dropped_packets"] / links["arrived_packets"]
    assert run.measures["mark_rate"] == links["marked_packets"] / links["arrived_packets"]
    assert run.measures["utilization"] == links["utilization"]
    assert run.measures["p99_delay_s"] == delays["p99_delay_s"]
    assert run.measures["jain"] == pytest.approx(jain(result.flows["goodput_bps"]))
    times = result.flows["completed_s"] - result.flows["start_s"]
    assert run.measures["median_completion_s@C"] == pytest.approx(min(times))
    assert run.measures["p99_completion_s@C"] == pytest.approx(max(times))
    assert run.measures["unfinished@C"] == 0
    bits = 8 * result.flows["acked_bytes"].sum()
    running_s = result.flows["completed_s"].max() - result.flows["start_s"].min()
    assert run.measures["goodput_bps"] == pytest.approx(bits / running_s)


def test_intervals_and_differences_come_from_the_module_statistics(compared: Comparison) -> None:
    for name in ("goodput_bps", "mean_delay_s"):
        first, other = compared.values(0, name), compared.values(1, name)
        assert len(other) == 3
        assert compared.interval(1, name) == mean_interval(other)
        assert compared.difference(1, name) == paired_difference(other, first)


def test_figures_contain_every_point(compared: Comparison) -> None:
    panels = [axes for axes in compared.plot.queue().axes if axes.get_visible()]
    assert len(panels) == 3
    highest = max(np.asarray(axes.get_lines()[0].get_ydata()).max() for axes in panels)
    for axes in panels:
        assert axes.get_ylim()[0] == 0
        assert axes.get_ylim()[1] >= highest
    figure = compared.plot.rates()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["dropped", "marked (CE)"]


def test_all_queues_get_the_same_random_arrivals() -> None:
    """In runs with the same seed, flows and transfers start at the same times with every queue."""
    starts = {}
    for queue in ("drop_tail", "codel"):
        base = json.loads(normalize(SCENARIO, overrides=[("duration", "4 s")]))
        base["network"]["queue"] |= {"kind": queue}
        base["record"] = {"series": ["transfers"]}
        result = aqmlab.run(base)
        transfers = result.series("transfers").sort_values("start_s")
        starts[queue] = (list(result.flows["start_s"]), list(transfers["start_s"]))
    assert len(starts["codel"][1]) > 5
    assert starts["drop_tail"] == starts["codel"]


def test_the_default_scenario_follows_the_recommendations_of_rfc_7928() -> None:
    """RFC 7928 §3.2, §8.2.2: 0.036 S flows share a path and a buffer with S packets in total."""
    base = json.loads(normalize(SCENARIO))
    product = round(20e6 * 0.1 / 8 / 1500)
    assert base["network"]["queue"]["limit"] == f"{product} packets"
    assert base["flows"][0]["count"] == round(0.036 * 2 * product)
    assert base["tcp"]["sack"]
    packets = 31250 / 1460
    assert 10 < packets < 100
    assert 31250 * 8 / 0.25 == 0.05 * 20e6
    rtt = aqmlab.run(
        base | {"duration": "1 s", "flows": [base["flows"][0] | {"count": 1}],
                "record": {"series": ["rtt"]}}
    ).series("rtt")["rtt_s"].min()  # fmt: skip
    assert rtt == pytest.approx(0.1, rel=0.01)


def test_the_default_scenario_drops_between_0_1_and_0_5_percent() -> None:
    """RFC 7928 §8.2 projects drops of 0.1 % in mild and 0.5 % in medium congestion."""
    base = json.loads(normalize(SCENARIO))
    base["flows"] = base["flows"][:1]
    (dropped,) = compare(["drop_tail"], base, 1).values(0, "drop_rate")
    assert 0.001 < dropped < 0.005


def test_an_ellipse_is_the_contour_of_the_gaussian() -> None:
    random = np.random.default_rng(1)
    x, y = random.multivariate_normal([3, 5], [[2, 1.2], [1.2, 1]], 500).T
    a, b = ellipse(x, y, 1.5)
    inverse = np.linalg.inv(np.cov([x, y], bias=True))
    offsets = np.array([a - x.mean(), b - y.mean()])
    distance = np.sqrt(np.einsum("ip,ij,jp->p", offsets, inverse, offsets))
    np.testing.assert_allclose(distance, 1.5, rtol=1e-9)
    flat = ellipse([1, 2, 3], [5, 5, 5])
    np.testing.assert_allclose(flat[1], 5)


def test_queues_are_read_from_text_tables_and_python(scenario: Path) -> None:
    class Mine(aqmlab.CustomQueue):
        def on_arrival(self, packet: aqmlab.Packet, at: aqmlab.Arrival) -> aqmlab.Verdict:  # noqa: ARG002
            return aqmlab.PASS

    table = aqmlab.Red(minth="4 packets", maxth="12 packets")
    compared = compare([Mine(), table, QUEUES[1]], scenario, 1)
    assert compared.arms[0].label == "Mine"
    assert compared.runs[1][0].measures == pytest.approx(
        compared.runs[2][0].measures, nan_ok=True, rel=0
    )
    drop_tail = compare(["drop_tail"], scenario, 1)
    assert compared.runs[0][0].measures == pytest.approx(
        drop_tail.runs[0][0].measures, nan_ok=True, rel=0
    )
    assert math.isnan(compared.interval(0, "jain").low)


def test_a_queue_without_a_limit_uses_the_limit_of_the_scenario(scenario: Path) -> None:
    compared = compare(["codel", "codel:limit=5 packets"], scenario, 1)
    assert compared.scenario["network"]["queue"]["limit"] == "16 packets"
    assert compared.runs[0][0].measures != compared.runs[1][0].measures


def command(scenario: Path, out: Path, *more: str) -> list[str]:
    return ["compare", *QUEUES, "--scenario", str(scenario), "--out", str(out), *more]


def test_the_command_writes_a_page_figures_and_numbers(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert execute(command(scenario, out, "--replications", "3", "--ecn")) == 0
    printed = capsys.readouterr().out
    for word in [*QUEUES, "goodput", "Jain", "±", "seeds 7 to 9", "report.html"]:
        assert word.partition(",")[0] in printed
    page = (out / "report.html").read_text("utf-8")
    assert page.count("<svg") == 5
    assert not re.search(r'(?:src|href)="(?!#)', page), "the page refers to another file"
    for name in ("trade-off", "delay", "rates", "queue", "fairness"):
        for suffix in ("svg", "png"):
            assert (out / "figures" / f"{name}.{suffix}").stat().st_size > 1000
    numbers = json.loads((out / "comparison.json").read_text())
    assert [q["queue"] for q in numbers["queues"]] == QUEUES
    assert [q["name"] for q in numbers["queues"]] == QUEUES
    assert numbers["queues"][0]["differences"] == {}
    compared = compare(QUEUES, scenario, 3, overrides=[("tcp.ecn", "rfc3168")])
    interval = compared.interval(1, "goodput_bps")
    assert numbers["queues"][1]["measures"]["goodput_bps"] == interval._asdict()
    assert not list(out.rglob("*.part"))


def test_resume_does_not_repeat_finished_runs(
    scenario: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    assert execute(command(scenario, out, "--replications", "2")) == 0
    before = json.loads((out / "comparison.json").read_text())
    texts_run: list[str] = []
    real = aqmlab._core.Batch

    def batch(texts: list[str], *rest: Any) -> Any:
        texts_run.extend(texts)
        return real(texts, *rest)

    monkeypatch.setattr("aqmlab._core.Batch", batch)
    assert execute(command(scenario, out, "--replications", "2")) == 2
    error = capsys.readouterr().err
    assert f"{out} has an earlier comparison; give another folder, --resume" in error
    assert execute(command(scenario, out, "--replications", "2", "--resume")) == 0
    assert texts_run == []
    assert json.loads((out / "comparison.json").read_text()) == before
    with closing(sqlite3.connect(out / "runs" / "runs.sqlite")) as database, database:
        database.execute("UPDATE results SET columns = substr(columns, 1, 100) WHERE id = 1")
    assert execute(command(scenario, out, "--replications", "3", "--resume")) == 0
    assert len(texts_run) == 1 + len(QUEUES)
    texts_run.clear()
    assert execute(command(scenario, out, "--replications", "1", "--force")) == 0
    assert len(texts_run) == len(QUEUES), "--force must repeat all runs"
    assert stored_runs(out) == len(QUEUES)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (
            ["drop_tail", "rde"],
            ["'rde' is not a kind of queue", "did you mean", " red ", "list queues"],
        ),
        (["custom"], ["'custom' is not a kind of queue"]),
        (["red:minht=5 packets"], ["red:minht=5 packets", "network.queue.minht", "minth"]),
        (["red:minth"], ["'minth' is not a key with a value"]),
        (["=red"], ["'=red' is incomplete"]),
        (["a=rde"], ["'rde' is not a kind of queue"]),
        (["a=red", "a=pie"], ["'a' belongs to several queues"]),
        (["red", "--warm-up", "5"], ['warm_up: "5" lacks its unit']),
        (["red", "--warm-up", "60 s"], ['warm_up: "60 s" must be shorter', "60 s; shorten"]),
        (
            ["red", "--link", "left>right", "--link", "bottleneck"],
            ["--link 'bottleneck' is given twice"],
        ),
        (["red:minth=5"], ["minth", "unit", "packets"]),
        (["red", "red"], ["'red' belongs to several queues"]),
        (["red", "--link", "a>b"], ["--link 'a>b' is not a link", "left>right"]),
        (["red", "--scenario", "no.toml"], ["no.toml", "the file does not exist"]),
        (["red", "--replications", "0"], ["--replications is '0'"]),
        (["red", "--set", "network.rate=3"], ["network.rate", "unit"]),
        (["red", "--out", "tests"], ["tests", "does not belong to a comparison"]),
        (["red", "--out", "README.md"], ["README.md is a file"]),
        (["red", "--scenario", "examples/parking_lot.toml"], ["--link is needed", "choose from"]),
        ([], ["QUEUES"]),
    ],
)
def test_an_error_of_the_command_is_one_line_with_the_remedy(
    args: list[str], words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = [] if "--out" in args else ["--out", str(tmp_path / "out")]
    assert execute(["compare", *args, *more]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    for word in words:
        assert word in err
    assert not (tmp_path / "out").exists()


def stored_runs(out: Path) -> int:
    """Return the number of stored runs in the folder of a comparison."""
    try:
        return status(out / "runs").total
    except OSError:  # the store does not exist yet
        return 0


def test_ctrl_c_preserves_finished_runs_and_removes_partial_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    args = ["compare", "drop_tail", "codel", "--replications", "500", "--jobs", "1"]
    args += ["--out", str(out)]
    running = subprocess.Popen(
        [sys.executable, "-m", "aqmlab", *args],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ,
    )  # fmt: skip
    until = time.monotonic() + 60
    while stored_runs(out) < 4:
        assert running.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    stdout, stderr = running.communicate(timeout=10)
    assert running.returncode == 130
    assert stdout.startswith("Primary measures: the goodput, ")
    assert stdout.count("\n") == 1
    with FolderStore(out / "runs") as store:
        finished = len(list(store))
    assert stderr.startswith(f"aqmlab: error: interrupted; {finished} finished runs are in")
    assert [file.name for file in out.iterdir()] == ["runs"]
    assert [file.name for file in tmp_path.iterdir()] == ["out"]
    assert stderr.endswith("; --resume uses these runs\n")
    resume = ["compare", "drop_tail", "codel", "--replications", "1", "--out", str(out)]
    assert execute([*resume, "--resume"]) == 0
    assert stored_runs(out) == finished


def test_an_arm_is_labelled_with_its_kind() -> None:
    assert arm("codel").label == "codel"
    assert arm({"kind": "red", "maxp": 0.2}).changes == (("kind", "red"), ("maxp", "0.2"))


def test_the_goodput_includes_datagrams(scenario: Path) -> None:
    base = json.loads(scenario.read_text())
    voice = {"name": "voice", "from": "left-0", "to": "right-0",
             "traffic": {"kind": "cbr", "rate": "200 kbit/s", "payload": "172 B"}}  # fmt: skip
    base["duration"] = "5 s"
    base["flows"].append(voice)
    run = compare(["drop_tail"], base, 1).runs[0][0]
    base["network"]["queue"] = {"kind": "drop_tail", "limit": "16 packets"}
    result = aqmlab.run(base)
    data = result.flows["acked_bytes"].sum() + result.table("datagrams")["received_bytes"].sum()
    first = min(result.flows["start_s"].min(), result.table("datagrams")["start_s"].min())
    assert run.measures["goodput_bps"] == pytest.approx(8 * data / (5 - first))
