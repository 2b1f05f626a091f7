"""Tests of experiment files: designs, rules for the number of replications, limits and errors."""

import itertools
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aqmlab
from aqmlab import PASS, Arrival, CustomQueue, Packet, ScenarioError, Verdict
from aqmlab.engine import Recorded
from aqmlab.experiment import Experiment, Replications, WarmUp, conduct, design
from aqmlab.experiment.design import Range
from aqmlab.measures import column
from aqmlab.statistics import cautions, mser
from aqmlab.store import FolderStore
from conftest import ROOT

ECN = "tcp.ecn"
LIMIT = "network.queue.limit"


def experiment(small: dict[str, Any], **keys: Any) -> Experiment:
    return Experiment.from_dict({"scenario": small} | keys)


def test_blocks_of_factors_are_crossed_in_their_order(small: dict[str, Any]) -> None:
    read = experiment(
        small,
        factors=[
            {"values": {LIMIT: ["8 packets", "16 packets"], ECN: ["off", "rfc3168"]}},
            {"kind": "zipped", "values": {"network.delay": ["1 ms", "2 ms"], "x": [1, 2]}},
            {"kind": "list", "rows": [{"y": 1}, {"y": 5}, {"y": 6}]},
        ],
    )
    assert len(read.points) == 2 * 2 * 2 * 3
    assert read.factors == [LIMIT, ECN, "network.delay", "x", "y"]
    assert {(p["network.delay"], p["x"]) for p in read.points} == {("1 ms", 1), ("2 ms", 2)}


def test_a_latin_hypercube_has_one_point_per_stratum_of_each_factor() -> None:
    ranges = {"a": Range(0, 8), "b": Range(1, 256, log=True)}
    points = design.latin_hypercube(ranges, 8, seed=3)
    assert sorted(int(p["a"]) for p in points) == list(range(8))
    assert sorted(int(p["b"]).bit_length() - 1 for p in points) == list(range(8))
    assert points == design.latin_hypercube(ranges, 8, seed=3)
    assert points != design.latin_hypercube(ranges, 8, seed=4)


def test_random_values_are_in_their_range() -> None:
    ranges = {
        "rate": Range(1, 100, "Mbit/s", log=True),
        "n": Range(1, 4, whole=True),
        "ecn": Range(choice=["off", "rfc3168"]),
    }
    points = design.random(ranges, 400, seed=1)
    rates = [float(p["rate"].split()[0]) for p in points]
    assert 1 <= min(rates) < 2
    assert 50 < max(rates) <= 100
    assert sum(rate < 10 for rate in rates) == pytest.approx(200, abs=40)
    assert {p["n"] for p in points} == {1, 2, 3, 4}
    assert {p["ecn"] for p in points} == {"off", "rfc3168"}


def test_a_fractional_design_has_orthogonal_main_effects() -> None:
    """The design 2^(5-2) with D = AB and E = AC has resolution III."""
    values = {name: [-1, 1] for name in "abcde"}
    points = design.fractional(values, {"d": ["a", "b"], "e": ["a", "c"]})
    assert len(points) == 8
    for one, other in itertools.combinations("abcde", 2):
        assert sum(p[one] * p[other] for p in points) == 0
    assert all(p["d"] == p["a"] * p["b"] and p["e"] == p["a"] * p["c"] for p in points)
    odd = design.fractional(values, {"e": ["a", "b", "c", "d"]})
    assert len(odd) == 16
    assert all(p["e"] == p["a"] * p["b"] * p["c"] * p["d"] for p in odd)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"arm": {}}, ["arm: is not a known key", "arms"]),
        ({"factors": {}}, ["factors is {}", "array of tables"]),
        ({"factors": [{"kind": "gird"}]}, ["factors.0.kind", '"gird"', "grid"]),
        ({"factors": [{"values": {LIMIT: []}}]}, [f"values.{LIMIT} is []", "at least one"]),
        ({"factors": [{"values": {LIMIT: ["a", "a"]}}]}, ["without repeated values"]),
        ({"factors": [{"kind": "zipped", "values": {"a": [1], "b": [1, 2]}}]}, ["b has 2"]),
        ({"factors": [{"kind": "random", "values": {"a": {"low": 0, "high": 1}}}]}, ["0.n"]),
        (
            {"factors": [{"kind": "random", "n": 2, "values": {"a": {"low": 2, "high": 1}}}]},
            ["factors.0.values.a.high is 1", "above 2"],
        ),
        (
            {"factors": [{"kind": "latin-hypercube", "n": 2, "values": {"a": {
                "low": 0, "high": 1, "spacing": "log"}}}]},
            ["factors.0.values.a.low is 0", "above 0"],
        ),
        (
            {"factors": [{"kind": "fractional", "values": {"a": [0, 1], "b": [0, 1]},
                          "generators": {"b": ["c"]}}]},
            ["factors.0: generators: b"],
        ),
        ({"factors": [{"values": {"a": [1]}}, {"values": {"a": [2]}}]}, ["a is a factor of two"]),
        ({"arms": {"x": 1}}, ["arms.x is 1"]),
        ({"replications": 0}, ["replications is 0", "from 1 to 999999"]),
        ({"replications": 10**18}, ["replications is 1000000000000000000", "from 1 to 999999"]),
        (
            {"replications": 700_000, "factors": [{"values": {LIMIT: ["8 packets", "9 packets"]}}]},
            ["replications: 700000 replications", "are 1400000 runs in total, and the maximum"],
        ),
        (
            {"replications": {"first": 2, "until": "jain", "half_width": 0.1, "at_most": 10**18}},
            ["replications.at_most is 1000000000000000000", "from 2 to 999999"],
        ),
        (
            {"factors": [{"values": {f"flows.{i}.count": [*range(100)] for i in range(9)}}]},
            ["factors.0: the design has 1000000000000000000 points, which exceeds the maximum"],
        ),
        (
            {"factors": [{"values": {f"flows.{i}.count": [*range(100)]}} for i in range(9)]},
            ["factors: the design has 1000000000000000000 points, which exceeds the maximum"],
        ),
        (
            {"factors": [{"kind": "random", "n": 10**18, "values": {"x": {"low": 0, "high": 1}}}]},
            ["factors.0.n is 1000000000000000000", "from 1 to 999999"],
        ),
        ({"replications": {"first": 3, "until": "jain"}}, ["replications.at_most: is missing"]),
        ({"plots": ["pie"]}, ["plots.0", '"pie"', "heat-map"]),
        ({"limits": {"wall": 3}}, ["limits.wall: 3", "a time"]),
        ({"limits": {"memory": "5 s"}}, ["limits.memory", "5 s"]),
        ({"limits": {"events": 0}}, ["limits.events", "1"]),
        ({"limits": {"event": 1}}, ["limits.event", "events"]),
    ],
)  # fmt: skip
def test_an_error_of_an_experiment_file_names_the_path(
    small: dict[str, Any], keys: dict[str, Any], expected: list[str]
) -> None:
    with pytest.raises(ScenarioError) as error:
        experiment(small, **keys)
    for text in expected:
        assert text in str(error.value)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"factors": [{"values": {LIMIT: ["8 pakets"]}}]}, ["network.queue.limit = 8 pakets: "]),
        ({"arms": {"x": {"tcp.ecm": "off"}}}, ["arm x", "tcp.ecm", "ecn"]),
        ({"arms": {"x": {ECN: "off"}}, "factors": [{"values": {ECN: ["off"]}}]}, ["remove"]),
        ({"factors": [{"values": {"seed": [1]}}]}, ["seed cannot be a factor"]),
        ({"measures": ["goodputt"]}, ["measures.0", "goodputt", "goodput_bps"]),
        ({"measures": ["links.utilisation"]}, ["links has no column utilisation"]),
        ({"measures": ["links.link"]}, ["count"]),
        ({"warm_up": "5"}, ["warm_up"]),
        ({"replications": {"first": 2, "until": "x", "at_most": 3}}, ["until", "jain"]),
        ({"links": ["a>b"]}, ["a>b"]),
    ],
)  # fmt: skip
def test_an_experiment_that_does_not_fit_its_scenario_is_refused_before_any_run(
    small: dict[str, Any], keys: dict[str, Any], expected: list[str]
) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("a run was started")

    with pytest.raises(ScenarioError) as error:
        conduct(experiment(small, **keys), progress=never)
    for text in expected:
        assert text in str(error.value)


def test_a_column_as_a_measure_has_the_value_of_its_table(small: dict[str, Any]) -> None:
    names = [
        "goodput_bps", "utilization", "links.utilization[left>right]", "flows.acked_bytes.sum",
        "flows.goodput_bps[C0]", "flows.goodput_bps.p50", "queue.queue_packets[left>right].max",
        "drops.link[left>right].count", "links.dropped_packets[left>r*]",
    ]  # fmt: skip
    outcome = conduct(experiment(small, measures=names))
    row = outcome.runs.iloc[0]
    assert row["links.utilization[left>right]"] == pytest.approx(row["utilization"])
    assert row["flows.acked_bytes.sum"] == 600_000
    assert row["flows.goodput_bps[C0]"] > 0
    assert 1 < row["queue.queue_packets[left>right].max"] <= 16
    assert row["drops.link[left>right].count"] == row["links.dropped_packets[left>r*]"] > 0
    assert column("flows.goodput_bps.mean").unit == "bit/s"
    with pytest.raises(ValueError, match="has 2 values in a run, but a measure has"):
        conduct(experiment(small, measures=["flows.goodput_bps"]))


def test_arms_have_the_same_seeds_and_paired_differences(small: dict[str, Any]) -> None:
    arms = {"off": {ECN: "off"}, "on": {ECN: "rfc3168"}, "same": {ECN: "off"}}
    outcome = conduct(experiment(
        small, arms=arms, replications=4, measures=["goodput_bps", "mark_rate"],
        factors=[{"values": {LIMIT: ["12 packets", "16 packets"]}}],
    ))  # fmt: skip
    assert len(outcome.runs) == 2 * 3 * 4
    assert sorted(set(outcome.runs["seed"])) == [7, 8, 9, 10]
    cells = {(c.at[LIMIT], c.arm, c.measure.name): c for c in outcome.estimates()}
    assert len(cells) == 2 * 3 * 2
    marked = cells["16 packets", "on", "mark_rate"]
    assert marked.estimate.n == 4
    assert marked.difference
    assert marked.difference.low > 0
    assert marked.p_corrected >= marked.p
    same = cells["16 packets", "same", "goodput_bps"].difference
    assert same
    assert same.value == same.low == same.high == 0
    over_all = {c.arm: c for c in outcome.estimates(by=[], measures=["goodput_bps"])}
    one, two = (cells[f"{n} packets", "on", "goodput_bps"].estimate.value for n in (12, 16))
    assert over_all["on"].estimate.value == pytest.approx((one + two) / 2)
    assert over_all["on"].estimate.n == 4, "a mean over all points must have one value per seed"


def test_a_failed_run_is_a_row_with_the_reason(small: dict[str, Any]) -> None:
    sizes = ["100 kB", "3 MB", "200 kB", "300 kB"]
    outcome = conduct(experiment(
        small, limits={"simulated": "5 s"}, replications=2, measures=["goodput_bps"],
        factors=[{"values": {"flows.0.traffic.size": sizes}}],
    ))  # fmt: skip
    failed = outcome.runs[outcome.runs["failed"] != ""]
    assert list(failed["flows.0.traffic.size"]) == ["3 MB"] * 2
    assert "time_limit" in failed["failed"].iloc[0]
    assert outcome.runs["goodput_bps"].isna().sum() == 2
    cells = outcome.estimates()
    assert [c.estimate.missing for c in cells] == [0, 2, 0, 0]


def test_a_run_that_exceeds_a_limit_fails_with_the_name_of_the_limit(
    small: dict[str, Any], tmp_path: Path
) -> None:
    sizes = ["10 kB", "3 MB"]
    limited = experiment(
        small, limits={"events": 2000, "wall": "1000 s", "memory": "1 GB"}, replications=2,
        measures=["goodput_bps"], factors=[{"values": {"flows.0.traffic.size": sizes}}],
    )  # fmt: skip
    with FolderStore(tmp_path) as store:
        runs = conduct(limited, store=store).runs
        assert list(runs["failed"] != "") == [False, False, True, True]
        assert (
            runs["failed"].iloc[2].startswith("limits.events: the run took more than 2000 events")
        )
        assert len(list(store)) == 2, "the store must have only the two finished runs"
    without = conduct(replace(limited, limits={})).runs
    assert (without["failed"] == "").all()
    assert without["goodput_bps"][:2].equals(runs["goodput_bps"][:2])
    for limit in ({"wall": "1 ns"}, {"memory": "1 kB"}):
        (name,) = limit
        failed = conduct(replace(limited, limits=limit)).runs["failed"]
        assert failed.str.startswith(f"limits.{name}: ").all()
    with pytest.raises(
        ScenarioError, match="does not support limits, but events, wall, memory is set"
    ):
        conduct(limited, engine=Recorded([]))


def test_an_xarray_dataset_has_factors_arms_and_replications_as_dimensions(
    small: dict[str, Any],
) -> None:
    xr = pytest.importorskip("xarray")
    values: dict[str, list[Any]] = {LIMIT: ["16 packets", "8 packets"], "flows.0.count": [1, 2]}
    crossed = experiment(
        small, arms={"off": {ECN: "off"}, "on": {}}, replications=2, measures=["goodput_bps"],
        factors=[{"values": values}],
    )  # fmt: skip
    outcome = conduct(crossed)
    cube = outcome.to_xarray()
    assert dict(cube.sizes) == {LIMIT: 2, "flows.0.count": 2, "arm": 2, "replication": 2}
    assert list(cube[LIMIT].values) == [8, 16]
    assert cube[LIMIT].attrs == {"long_name": LIMIT, "units": "packets"}
    assert cube["goodput_bps"].attrs == {"units": "bit/s"}
    assert list(cube["seed"].values) == [7, 8]
    for _, row in outcome.runs.iterrows():
        at = {key: row[key] for key in (*values, "arm")} | {"replication": row["seed"] - 7}
        at[LIMIT] = float(at[LIMIT].removesuffix(" packets"))
        assert float(cube["goodput_bps"].sel(at)) == row["goodput_bps"]
    zipped = conduct(replace(crossed, points=design.zipped(values))).to_xarray()
    assert dict(zipped.sizes) == {"point": 2, "arm": 2, "replication": 2}
    assert list(zipped[LIMIT].values) == [16, 8]
    assert zipped["flows.0.count"].dims == ("point",)
    swept = aqmlab.sweep(small, values, 2)
    of_runs = swept.to_xarray([column("flows.goodput_bps.sum")])
    assert dict(of_runs.sizes) == {LIMIT: 2, "flows.0.count": 2, "replication": 2}
    assert isinstance(of_runs, xr.Dataset)
    last = float(of_runs["flows.goodput_bps.sum"].sel({LIMIT: 8})[1, 1])
    assert last == swept.results[-1].flows["goodput_bps"].sum()


def test_coordinates_with_units_are_numbers_and_categories_are_texts(
    small: dict[str, Any], tmp_path: Path
) -> None:
    """A netCDF file has the same coordinates and units as the dataset."""
    xr = pytest.importorskip("xarray")
    values: dict[str, list[Any]] = {"network.delay": ["20 ms", "5 ms"], ECN: ["off", "rfc3168"]}
    names = ["jain", "mean_delay_s", "drop_rate", "flows.goodput_bps.jain", "flows.timeouts.sum"]
    outcome = conduct(experiment(small, measures=names, factors=[{"values": values}]))
    outcome.to_xarray().to_netcdf(tmp_path / "a.nc", engine="scipy")
    cube = xr.open_dataset(tmp_path / "a.nc", engine="scipy")
    assert list(cube["network.delay"].values) == [0.005, 0.02]
    assert cube["network.delay"].attrs["units"] == "s"
    assert list(cube[ECN].values) == ["off", "rfc3168"]
    assert "units" not in cube[ECN].attrs
    assert [cube[name].attrs["units"] for name in names] == ["1", "s", "1", "1", "times"]
    at = {"network.delay": "20 ms", ECN: "off"}
    (row,) = [r for _, r in outcome.runs.iterrows() if all(r[k] == v for k, v in at.items())]
    delay = cube["mean_delay_s"].sel({"network.delay": 0.02, ECN: "off"})
    assert delay.item() == row["mean_delay_s"]


def test_measures_of_an_experiment_exclude_the_warm_up(small: dict[str, Any]) -> None:
    names = ["goodput_bps", "queue.time_s[left>right].min"]
    whole = conduct(experiment(small, measures=names)).runs.iloc[0]
    later = conduct(experiment(small, measures=names, warm_up="1 s")).runs.iloc[0]
    assert later["goodput_bps"] > whole["goodput_bps"], "the warm-up must exclude slow start"
    assert whole["queue.time_s[left>right].min"] < 1
    assert later["queue.time_s[left>right].min"] == pytest.approx(1, abs=0.05)


def test_a_file_is_read_as_an_experiment(tmp_path: Path, scenario: Path) -> None:
    path = tmp_path / "try.toml"
    path.write_text(f'scenario = "{scenario.name}"\nreplications = 3\n')
    read = Experiment.read(path)
    assert read.replications.first == 3
    assert read.scenario == scenario
    path.write_text("scenario = ")
    with pytest.raises(ScenarioError, match=r"try\.toml: not valid TOML"):
        Experiment.read(path)


def test_replications_are_added_until_the_interval_is_narrow(small: dict[str, Any]) -> None:
    rule = {"first": 3, "until": "goodput_bps", "half_width": 0.04, "at_most": 24}
    progress: list[tuple[float, int, int]] = []
    outcome = conduct(
        experiment(
            small, replications=rule, arms={"off": {ECN: "off"}, "on": {ECN: "rfc3168"}},
            factors=[{"values": {"flows.0.traffic.size": ["100 kB", "1 MB"]}}],
        ),
        progress=lambda *at: progress.append(at),
    )  # fmt: skip
    cells = outcome.estimates(measures=["goodput_bps"])
    sizes = {cell.at["flows.0.traffic.size"]: cell.estimate.n for cell in cells}
    for cell in cells:
        e = cell.estimate
        assert e.n == sizes[cell.at["flows.0.traffic.size"]], "both arms must have equal seeds"
        assert e.n == 24 or (e.high - e.value) <= 0.04 * e.value
    assert len(set(sizes.values())) == 2, "the points need equal numbers of runs"
    assert ("wider than ±4 %" in "".join(outcome.notes)) == any(
        e.high - e.value > 0.04 * e.value for e in (cell.estimate for cell in cells)
    )
    assert progress[-1][0] == progress[-1][1] == len(outcome.runs)


def test_mser_selects_one_warm_up_for_all_runs(small: dict[str, Any]) -> None:
    endless = small | {"duration": "40 s", "record": {"interval": "100 ms", "series": []}}
    endless["flows"] = [small["flows"][0] | {"traffic": "bulk"}]
    column_of = "queue.queue_packets[left>right]"
    read = experiment(
        endless, warm_up={"mser": column_of}, replications=2,
        measures=["goodput_bps", "queue.time_s[left>right].min"],
        factors=[{"values": {"network.delay": ["20 ms", "100 ms"]}}],
    )  # fmt: skip
    outcome = conduct(read)
    assert outcome.warm_up
    seconds = float(outcome.warm_up.split()[0])
    assert 0.5 <= seconds < 20
    assert (outcome.runs["queue.time_s[left>right].min"] >= seconds).all()
    fixed = conduct(replace(read, warm_up=WarmUp(outcome.warm_up)))
    assert fixed.runs.equals(outcome.runs)
    assert any("not stationary" in text and "100 ms" in text for text in outcome.cautions)
    short = experiment(endless | {"duration": "2 s"}, warm_up={"mser": column_of})
    with pytest.raises(ScenarioError, match=r"warm_up\.mser: .* needs at least 50 values"):
        conduct(short)


def test_mser_truncates_a_transient() -> None:
    random = np.random.default_rng(1)
    steady = random.normal(5, 1, 1000)
    cut, settled = mser(steady + 30 * 0.95 ** np.arange(1000))
    assert settled
    assert 40 <= cut <= 150
    assert mser(steady)[0] < 200
    assert mser(np.arange(1000.0) ** 2)[1] is False


def test_cautions_name_the_violated_assumptions_of_an_interval() -> None:
    random = np.random.default_rng(1)
    assert cautions(random.normal(5, 1, 40)) == []
    assert cautions([3.0, 4.0]) == ["fewer than 5 replications"]
    assert "every replication has the same value" in cautions([3.0] * 6)[0]
    assert "skewed" in cautions(random.lognormal(0, 1, 40))[0]
    false_alarms = sum(bool(cautions(random.normal(0, 1, 20))) for _ in range(2000))
    assert false_alarms < 2 * 0.01 * 2000


def test_the_guide_to_sweeps_has_every_key_and_its_code_runs(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "how-to" / "sweeps.md").read_text("utf-8")
    (toml,) = re.findall(r"```toml\n(.*?)```", guide, flags=re.DOTALL)
    read = Experiment.from_dict(tomllib.loads(toml), ROOT)
    assert len(conduct(replace(read, replications=Replications(1))).runs) == 8
    keys = set(re.findall(r"^\| `([\w-]+)`", guide, flags=re.MULTILINE))
    assert keys >= {"grid", "zipped", "list", "random", "latin-hypercube", "fractional"}
    assert keys >= {"title", "scenario", "factors", "arms", "replications", "warm_up", "links"}
    assert keys >= {"measures", "plots", "limits"}
    (python,) = re.findall(r"```python\n(.*?)```", guide, flags=re.DOTALL)
    small = tmp_path / "examples" / "experiments"
    small.mkdir(parents=True)
    text = toml.replace("examples/two_flows.toml", str(ROOT / "examples" / "two_flows.toml"))
    (small / "queue_size.toml").write_text(text.replace("replications = 5", "replications = 2"))
    process = subprocess.run(
        [sys.executable, "-c", python], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    assert "('network.queue.limit', 'arm')" in process.stdout


def test_an_arm_may_have_a_queue_in_python(small: dict[str, Any]) -> None:
    class Never(CustomQueue):
        def on_arrival(self, packet: Packet, at: Arrival) -> Verdict:  # noqa: ARG002
            return PASS

    queue = Never(limit="16 packets")
    outcome = conduct(experiment(
        small, arms={"red": {}, "python": {"network.queue": queue}}, measures=["mark_rate"],
    ))  # fmt: skip
    rates = outcome.runs.set_index("arm")["mark_rate"]
    assert rates["red"] > 0
    assert rates["python"] == 0
