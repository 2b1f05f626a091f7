"""Tests of campaigns: a campaign executes equal runs once, and uses stored and recorded runs."""

import json
import math
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import aqmlab
from aqmlab import estimates
from aqmlab.engine import EVERYTHING, Engine, Failed, Progress, Recorded, Simulator
from aqmlab.estimates import Estimate
from aqmlab.experiment import campaign, in_order
from aqmlab.measures import AtLeast, Measure, MeasuredRun, measures
from aqmlab.results import Result
from aqmlab.scenario import normalize
from aqmlab.store import FolderStore, address


class Counting:
    """Simulator that records the text of each scenario that it runs."""

    capabilities = EVERYTHING

    def __init__(self, build: str = "counting") -> None:
        self.build = build
        self.texts: list[str] = []

    def run(
        self, texts: Sequence[str], jobs: int | None = None, progress: Progress | None = None
    ) -> Generator[tuple[int, Result | Failed]]:
        """Record the texts of the scenarios, and run the scenarios."""
        self.texts += texts
        return Simulator().run(texts, jobs, progress)


def assert_equal_results(one: Result, other: Result) -> bool:
    """Return True; assert that two results have bitwise equal tables and equal manifests."""
    assert one.manifest == other.manifest
    assert one.tables == other.tables
    for table in one.tables:
        columns, others = one.columns(table), other.columns(table)
        assert columns.keys() == others.keys()
        for name, column in columns.items():
            if isinstance(column, list):
                assert column == others[name]
            else:
                assert column.dtype == others[name].dtype
                assert column.tobytes() == others[name].tobytes()
    return True


def texts(small: dict[str, Any], *seeds: int) -> list[str]:
    """Return the texts of the small scenario, one text per seed."""
    return [normalize(small | {"seed": seed}) for seed in seeds]


def seed(result: Result) -> int:
    """Return the seed of a run, which is the only value of the run that these tests use."""
    return int(result.manifest["seed"])


def test_a_campaign_executes_each_distinct_run_once(small: dict[str, Any]) -> None:
    engine = Counting()
    retitled = normalize(small | {"title": "the same run with another title"})
    requests = [(text,) for text in [*texts(small, 7, 8, 7), retitled]]
    assert in_order(campaign(requests, seed, engine=engine)) == [7, 8, 7, 7]
    assert len(engine.texts) == 2


def test_a_request_is_reduced_when_all_its_runs_have_ended(small: dict[str, Any]) -> None:
    one, two, three = texts(small, 1, 2, 3)

    def seeds(*results: Result) -> list[int]:
        return list(map(seed, results))

    engine = Counting()
    requests = [(two, one), (one,), (three, one, two), (two, two)]
    assert in_order(campaign(requests, seeds, engine=engine)) == [[2, 1], [1], [3, 1, 2], [2, 2]]
    assert engine.texts == [two, one, three]


def test_scenarios_that_differ_only_in_their_seed_are_separate_runs(small: dict[str, Any]) -> None:
    """Scenarios that differ only in their seed are parsed once, whatever text the title has."""
    titles = ["", ',"seed":9,', '","seed":9,"x":"', "{", "a"]
    several = [
        normalize(small | {"title": title, "seed": seed, "duration": duration})
        for title in titles
        for seed in (1, 2, 2**53)
        for duration in ("1 s", "2 s")
    ]
    together = dict(Simulator().run(several))
    for i, text in enumerate(several):
        ((_, alone),) = Simulator().run([text])
        result = together[i]
        assert isinstance(result, Result)
        assert isinstance(alone, Result)
        assert result.scenario == alone.scenario == json.loads(text)
        alone.manifest |= {
            key: result.manifest[key] for key in ("setup", "running")
        }  # these two keys have wall-clock times
        assert assert_equal_results(result, alone)


def test_a_run_in_the_store_is_not_executed_again(small: dict[str, Any], tmp_path: Path) -> None:
    store, engine = FolderStore(tmp_path / "runs"), Counting()
    first = aqmlab.sweep(small, {"tcp.ecn": ["off", "rfc3168"]}, 2, engine=engine, store=store)
    assert len(engine.texts) == 4
    over = {"tcp.ecn": ["rfc3168", "off"]}
    store.close()
    repeated = aqmlab.sweep(small, over, 2, engine=engine, store=store)
    assert len(engine.texts) == 4
    assert all(map(assert_equal_results, repeated.results, first.results[2:] + first.results[:2]))
    aqmlab.replicate(small, 3, engine=engine, store=store)
    assert len(engine.texts) == 5, "the campaign repeated runs that are in the store"


def test_a_stored_run_of_another_build_is_not_used(small: dict[str, Any], tmp_path: Path) -> None:
    store, older, newer = FolderStore(tmp_path), Counting("1"), Counting("2")
    for engine in (older, older, newer):
        aqmlab.run_many([small], engine=engine, store=store)
    assert (len(older.texts), len(newer.texts)) == (1, 1)
    assert len(list(store)) == 2


def test_the_address_depends_only_on_the_settings_that_change_the_run(
    small: dict[str, Any],
) -> None:
    def of(**changes: Any) -> str | None:
        return address(normalize(small | changes), "build")

    assert of() == of(title="another") == of(duration=None)
    assert len({of(), of(seed=8), of(record={}), of(tcp={})}) == 4
    scrambled = dict(reversed(json.loads(normalize(small)).items()))
    assert address(normalize(scrambled), "build") == of()
    assert of(title='a "quoted\\" title, "seed":1') == of() != of(title='", "seed": 1', seed=8)


def test_a_run_with_a_queue_in_python_is_never_stored(
    small: dict[str, Any], tmp_path: Path
) -> None:
    class Passing(aqmlab.CustomQueue):
        def on_arrival(self, packet: aqmlab.Packet, at: aqmlab.Arrival) -> aqmlab.Verdict:  # noqa: ARG002
            return aqmlab.PASS

    aqmlab.replicate(small, 2, queues={"bottleneck": Passing()}, store=FolderStore(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_recorded_runs_replace_the_simulator(small: dict[str, Any], tmp_path: Path) -> None:
    """Replications and sweeps can use recorded runs from a store or from folders."""
    store = FolderStore(tmp_path / "store")
    recorded = aqmlab.replicate(small, 3, store=store)
    for i, result in enumerate(recorded):
        result.write(tmp_path / "runs" / str(i))
    engines: list[Engine] = [Recorded(store), Recorded.read(tmp_path / "runs")]
    assert engines[0].build == engines[1].build
    for engine in engines:
        assert all(map(assert_equal_results, aqmlab.replicate(small, 3, engine=engine), recorded))
        swept = aqmlab.sweep(small, {"seed": [9, 8]}, engine=engine)
        assert all(map(assert_equal_results, swept.results, reversed(recorded[1:])))
    assert Recorded(recorded[:2]).build != engines[0].build


def test_a_failed_run_raises_its_error_after_the_others_have_ended(small: dict[str, Any]) -> None:
    engine = Recorded(aqmlab.replicate(small, 2))
    reduced: list[int] = []
    outcomes = campaign([(text,) for text in texts(small, 5, 7, 6, 8)], seed, engine=engine)
    with pytest.raises(LookupError, match=r"seed 5 is in none of the recorded.*1 more run"):
        reduced.extend(index for index, _ in outcomes)
    assert reduced == [1, 3]


def test_a_closed_campaign_stops_its_runs(small: dict[str, Any], tmp_path: Path) -> None:
    """After a campaign is closed, the store has the runs that ended before."""
    store, engine = FolderStore(tmp_path), Counting()
    endless = small | {"duration": "3000000 s", "record": {}}
    endless["flows"] = [small["flows"][0] | {"traffic": "bulk"}]
    requests = [(normalize(small),), (normalize(endless),)]
    for index, _ in campaign(requests, seed, engine=engine, store=store, jobs=1):
        assert index == 0
        break
    assert len(list(store)) == 1


def test_progress_includes_the_runs_of_the_store(small: dict[str, Any], tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    aqmlab.run_many([small], store=store)
    progress: list[tuple[float, int]] = []
    several = [small, small | {"seed": 8}]
    aqmlab.run_many(several, store=store, progress=lambda *at: progress.append(at))
    assert progress[-1] == (2.0, 2)
    assert all(done >= 1 for done, _ in progress)


def test_the_tables_of_a_sweep_are_those_of_its_runs_in_order(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aqmlab.experiment.sweeps.PART_RUNS", 3)
    over: dict[str, list[Any]] = {
        "tcp.ecn": ["off", "rfc3168"],
        "network.queue": [aqmlab.DropTail(limit="9 packets")],
    }
    swept = aqmlab.sweep(small, over, replications=4)
    plain = [
        aqmlab.run(small | {"tcp": small["tcp"] | {"ecn": point["tcp.ecn"]}, "seed": point["seed"]}
                   | {"network": small["network"] | {"queue": json.loads(point["network.queue"])}})
        for point in swept.points
    ]  # fmt: skip
    for table in plain[0].tables:
        parts = []
        for point, result in zip(swept.points, plain, strict=True):
            part = result.table(table)
            for i, (key, value) in enumerate(point.items()):
                part.insert(i, key, value)
            parts += [part] * bool(len(part))
        if not parts:
            assert len(swept.table(table)) == 0
            continue
        whole = pd.concat(parts, ignore_index=True)
        pd.testing.assert_frame_equal(swept.table(table), whole)
        swept.write_table(table, tmp_path / f"{table}.parquet")
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / f"{table}.parquet"), whole)
        swept.write_table(table, tmp_path / f"{table}.csv")
        assert len(pd.read_csv(tmp_path / f"{table}.csv")) == len(whole)
    with pytest.raises(FileExistsError):
        swept.write_table("flows", tmp_path / "flows.csv")
    with pytest.raises(ValueError, match=r"must end in \.csv or \.parquet"):
        swept.write_table("flows", tmp_path / "flows.xls")
    results = swept.results
    assert (results[-1].manifest["seed"], len(results[1:3]), len(results)) == (10, 2, 8)


def test_a_sweep_has_estimates_of_measures(small: dict[str, Any]) -> None:
    swept = aqmlab.sweep(small, {"tcp.ecn": ["off", "rfc3168"]}, replications=3)
    crossing = MeasuredRun.of_result(swept.results[0]).crossing
    every = {m.name: m for m in measures(["left>right"], crossing)}
    table = swept.estimates([every["utilization"], every["mark_rate"]])
    assert list(table["tcp.ecn"]) == ["off", "rfc3168"] * 2
    assert list(table["n"]) == [3] * 4
    assert list(table["missing"]) == [0] * 4
    busy = [100 * result.links["utilization"].iloc[0] for result in swept.results[:3]]
    assert table["value"][0] == pytest.approx(np.mean(busy))
    assert table["low"][0] < table["value"][0] < table["high"][0] <= 100
    assert table["value"][2] == 0 < table["value"][3]


def test_the_value_of_an_unfinished_transfer_counts_as_missing() -> None:
    """The time of an unfinished download is missing, and so is a mean that includes this time."""
    time = Measure[dict[str, float]]("time", "s", lambda run: run.get("time", math.nan), -1)
    runs: list[dict[str, float]] = [{"time": 1.0}, {}, {"time": 3.0}, {"time": 2.0}]
    values = [time.of(run) for run in runs]
    assert estimates.median(values) == Estimate(estimates.MEDIAN, 2.0, 1.05, 2.95, 3, 1)
    mean = estimates.mean(values)
    assert (mean.n, mean.missing) == (3, 1)
    assert math.isnan(mean.value)
    cut_off = estimates.transfer_time([1, 2, 9, 9], [True, True, False, False], 0.95)
    assert (cut_off.n, cut_off.missing, cut_off.exceeded) == (2, 2, True)
    assert time.text(AtLeast(2)) == "2.000"
    assert estimates.difference([1.0], [0.5]).value == 0.5
    with pytest.raises(ValueError, match="cannot be paired"):
        estimates.difference([1.0], [])
    nothing = estimates.median([math.nan, math.inf])
    assert (nothing.n, nothing.missing, str(nothing)) == (0, 2, "none")
