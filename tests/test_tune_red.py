"""Tests of the results, files and errors of `aqmlab tune-red`, and of RED in a scheduler."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aqmlab
from aqmlab import ScenarioError
from aqmlab.command import execute
from aqmlab.experiment import tuning
from aqmlab.experiment.tuning import Shares, ThresholdPair
from aqmlab.scenario import changed, normalize, toml_document

RED = {"kind": "red", "limit": "60 packets", "maxp": 0.1, "gentle": False}
LOADS = ["--loads", "5,10", "--minth", "3:9", "--replications", "2"]


@pytest.fixture
def downloads(small: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario with bulk downloads through RED."""
    small["network"] |= {"queue": dict(RED), "right_hosts": 1}
    small["flows"] = [
        {"name": "C{i}", "count": 2, "from": "left-0", "to": "right-0", "traffic": {"kind": "bulk"}}
    ]
    del small["record"]
    return small | {"duration": "40 s"}


@pytest.fixture
def file(downloads: dict[str, Any], tmp_path: Path) -> Path:
    """Return the path of a file with the downloads."""
    path = tmp_path / "downloads.toml"
    path.write_text(toml_document(downloads))
    return path


def test_the_command_writes_the_tuned_scenario_and_the_shares(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "tuned"
    assert execute(["tune-red", str(file), *LOADS, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    import pandas as pd

    table = pd.read_csv(out / "shares.csv")
    assert set(table["load"]) == {"5 flows", "10 flows"}
    assert np.allclose(table["below"] + table["inside"] + table["above"], 1)
    worst = table.groupby("minth")["inside"].min()
    (minth,) = table[table["best"] == 1]["minth"].unique()
    assert worst[minth] >= 0.9
    assert worst[minth] == pytest.approx(worst.max(), abs=0.01)
    assert f"minth = {minth:g} packets and maxth = {3 * minth:g} packets" in printed

    # The tuned scenario differs from the original only in the thresholds. In runs of the tuned
    # scenario, the average queue length is between the thresholds for the share of time that the
    # command prints.
    tuned, before = aqmlab.Scenario.load(out / file.name), aqmlab.Scenario.load(file)
    sizes = {"minth": f"{minth:g} packets", "maxth": f"{3 * minth:g} packets"}
    document, original = json.loads(normalize(tuned)), json.loads(normalize(before))
    assert document["network"]["queue"] == original["network"]["queue"] | sizes
    document["network"]["queue"] = original["network"]["queue"]
    assert document == original
    loaded = changed(out / file.name, [("flows.0.count", "10"), ("record.series", "['queue']")])
    loaded["warm_up"] = "8 s"  # the default is a fifth of the duration
    loaded["record"]["links"] = ["left>right"]
    averages = [tuning.average_of(run) for run in aqmlab.replicate(loaded, 2)]
    shares = Shares.mean(Shares.of(a, minth, 3 * minth) for a in averages)
    row = table[(table["best"] == 1) & (table["load"] == "10 flows")].iloc[0]
    assert shares.inside == pytest.approx(row["inside"])

    # The output files do not depend on the number of threads, and only --force replaces them.
    repeated = tmp_path / "repeated"
    assert execute(["tune-red", str(file), *LOADS, "--out", str(repeated), "--jobs", "1"]) == 0
    for one in ("shares.csv", "shares.png", file.name):
        assert (repeated / one).read_bytes() == (out / one).read_bytes()
    capsys.readouterr()
    assert execute(["tune-red", str(file), *LOADS, "--out", str(repeated)]) == 2
    assert "an earlier tuning" in capsys.readouterr().err
    assert execute(["tune-red", str(file), *LOADS, "--out", str(repeated), "--force"]) == 0


def test_without_suitable_thresholds_the_command_prints_the_best_and_writes_nothing(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "tuned"
    loads = ["--load", "flows.0.count=40", "--load", "flows.0.count=2; tcp.ecn=off"]
    few = ["--minth", "2:4", "--set", "network.queue.maxp=0.01"]
    assert execute(["tune-red", str(file), *loads, *few, "--out", str(out)]) == 2
    printed = capsys.readouterr()
    assert "no minth from 2 to 4 packets" in printed.err
    assert "under the load 'flows.0.count=40'" in printed.err
    assert "flows.0.count=2; tcp.ecn=off" in printed.out
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "network.queue=codel"], "no queue with tunable thresholds"),
        (["--set", "network.reverse.queue.kind=red"], "choose one of them with --link"),
        (["--link", "a>b"], "choose one of the links left>right"),
        (["--minth", "9"], "LOW:HIGH"),
        (["--minth", "50:60"], "must fit the buffer of 60 packets"),
        (["--ratio", "1"], "above 1"),
        (["--share", "2"], "at most 1"),
        (["--warm-up", "long"], 'warm_up: "long" is not a time'),
        (["--warm-up", "50 s"], 'warm_up: "50 s" must be shorter'),
        (
            ["--warm-up", "36 s", "--set", "record.interval='7 s'"],
            "warm_up: 36 s: the run has no sample of the queue",
        ),
        (["--loads", "0"], "--loads is '0'"),
        (["--flow", "C{i}"], "add --loads"),
        (["--loads", "3", "--flow", "D"], "--flow is 'D'; it must be one of C{i}"),
        (["--load", "flows"], "KEY=VALUE"),
        (["--load", "flows.0.cuont=3"], "cuont"),
    ],
)
def test_the_error_of_invalid_input_is_one_line(
    file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    assert execute(["tune-red", str(file), *arguments, "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_the_load_option_changes_the_count_of_the_chosen_flow(downloads: dict[str, Any]) -> None:
    from aqmlab.command.tune_red import read_loads

    other = downloads["flows"][0] | {"name": "D{i}"}
    two = json.loads(normalize(downloads | {"flows": [downloads["flows"][0], other]}))
    with pytest.raises(ValueError, match="select one with --flow"):
        read_loads(two, "2,5", None, [])
    assert read_loads(two, "2", "D{i}", []) == {"2 flows": [("flows.1.count", "2")]}
    other["traffic"] = {"kind": "bulk", "size": "10 kB"}
    one = json.loads(normalize(downloads | {"flows": [other, downloads["flows"][0]]}))
    assert read_loads(one, "1", None, []) == {"1 flow": [("flows.1.count", "1")]}


def _with_queue(
    queue: dict[str, Any], downloads: dict[str, Any], rate: str = "10 Mbit/s"
) -> dict[str, Any]:
    document = copy.deepcopy(downloads)
    document["network"] |= {"rate": rate, "queue": queue}
    document["record"] = {"series": ["queue"], "links": ["left>right"]}
    return document


def test_a_class_of_a_scheduler_has_the_average_that_red_has_alone(
    downloads: dict[str, Any],
) -> None:
    alone = downloads | {"record": {"series": ["queue"], "links": ["left>right"]}}
    cbq = {
        "kind": "cbq",
        "classes": [{"rate": "1.5 Mbit/s", "borrow": "bounded", "queue": dict(RED)}],
    }
    shaper = {"kind": "tbf", "rate": "1.5 Mbit/s", "queue": cbq["classes"][0]["queue"]}  # type: ignore[index]
    two = {"kind": "priority", "classes": [{"match": {"dscp": "EF"}, "queue": dict(RED)},
                                           {"queue": dict(RED)}]}  # fmt: skip
    one = {"kind": "priority", "classes": [{"match": {"dscp": "EF"}}, {"queue": dict(RED)}]}
    behind = [_with_queue(q, downloads) for q in (cbq, shaper)]
    behind += [_with_queue(q, downloads, "1.5 Mbit/s") for q in (one, two)]
    runs = aqmlab.run_many([alone, *behind])
    means = [float(np.mean(tuning.average_of(run))) for run in runs]
    assert means[1:4] == pytest.approx([means[0]] * 3, rel=0.1)
    assert np.isnan(means[4])  # a link with two averages has no average of its own

    queue = tuning.the_queue(_with_queue(cbq, downloads))
    assert (queue.link, queue.path) == ("left>right", "network.queue.classes.0.queue")
    with pytest.raises(ScenarioError, match="2 queues with tunable thresholds"):
        tuning.the_queue(_with_queue(two, downloads))


def test_thresholds_in_bytes_are_tuned_in_bytes(downloads: dict[str, Any]) -> None:
    downloads["network"]["queue"] = {
        "kind": "tc_red", "limit": "90 kB", "min": "5 kB", "max": "1 MiB", "burst": "20 packets",
    }  # fmt: skip
    tuned = tuning.tune(downloads, {"as it is": []}, minth=(4000, 9000), replications=1)
    assert (tuned.queue.unit, tuned.queue.keys) == ("B", ("min", "max"))
    assert tuned.queue.limit == 90_000
    assert tuned.queue.pair(4001, 2.5) == (4001, 10002)
    (_, maxth) = tuned.queue.overrides(1_234_567, 3_703_701)
    assert maxth[1] == "'3703701 B'"
    assert 4000 <= tuned.best.minth <= 9000
    assert tuned.best.score > 0.5


def test_the_lowest_of_equally_good_pairs_is_the_best() -> None:
    def pair(minth: float, *inside: float) -> ThresholdPair:
        runs = {str(i): [Shares(0, x, 1 - x)] for i, x in enumerate(inside)}
        return ThresholdPair(minth, 3 * minth, runs)

    tried = [pair(2, 0.99, 0.5), pair(4, 0.951, 0.97), pair(5, 0.953, 0.99), pair(9, 1, 0.9)]
    assert tuning.best(tried).minth == 4
    assert [one.minth for one in tuning.tied(tried)] == [4, 5]


def test_pairs_whose_difference_has_an_interval_around_0_are_tied() -> None:
    def pair(minth: float, *inside: float) -> ThresholdPair:
        return ThresholdPair(minth, 3 * minth, {"load": [Shares(0, x, 1 - x) for x in inside]})

    tried = [pair(4, 0.90, 0.96, 0.90), pair(6, 0.95, 0.94, 0.96), pair(8, 0.80, 0.79, 0.81)]
    assert tuning.best(tried).minth == 6
    assert [one.minth for one in tuning.tied(tried)] == [4, 6]


def test_a_written_toml_document_is_read_as_the_same_scenario(
    file: Path, downloads: dict[str, Any]
) -> None:
    assert normalize(file) == normalize(downloads)
    for example in Path("examples").glob("*.toml"):
        document = aqmlab.scenario.as_written(example)
        assert aqmlab.Scenario.from_toml(toml_document(document)) == aqmlab.Scenario.load(example)
