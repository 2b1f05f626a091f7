"""Tests of the runs of a study: equal requests share one run that records all their series."""

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from aqmlab._core import ScenarioError
from aqmlab.engine import EVERYTHING, Failed, Progress, Simulator
from aqmlab.measures import Measure
from aqmlab.results import Result
from aqmlab.scenario import normalize
from aqmlab.studies.framework import grid
from aqmlab.studies.framework.runs import Need, Record, Runs
from aqmlab.studies.framework.verdicts import UndecidableError

WINDOW = Record(frozenset({"window"}))
FINE = Record(frozenset({"drops"}), interval_s=0.05)


class Counting:
    """Engine that runs scenarios in the simulator and lists them."""

    build = "counting"
    capabilities = EVERYTHING

    def __init__(self) -> None:
        self.ran: list[dict[str, Any]] = []

    def run(
        self, texts: Sequence[str], jobs: int | None = None, progress: Progress | None = None
    ) -> Generator[tuple[int, Result | Failed]]:
        """Append scenarios to the list `ran`, and run them in the simulator."""
        self.ran += map(json.loads, texts)
        return Simulator().run(texts, jobs, progress)


@dataclass(frozen=True)
class Download:
    """Setting that simulates one download; settings with different names may be otherwise equal."""

    name: str
    limit: int = 16
    record: dict[str, Any] = field(default_factory=dict, hash=False)

    def columns(self) -> dict[str, Any]:
        """Return the columns that identify the setting in a table."""
        return {"limit": self.limit}

    def scenario(self, replication: int) -> dict[str, Any]:
        """Return the scenario of one replication, with the queue limit of the setting."""
        return {
            "title": self.name,
            "seed": replication + 1,
            "network": {
                "kind": "dumbbell", "rate": "10 Mbit/s", "delay": "5 ms",
                "queue": {"kind": "drop_tail", "limit": f"{self.limit} packets"},
                "left_rate": "1 Gbit/s", "left_delay": "1 ms",
                "right_rate": "1 Gbit/s", "right_delay": "1 ms",
            },
            "flows": [{"name": "D", "from": "left-0", "to": "right-0",
                       "traffic": {"kind": "bulk", "size": "30 kB"}}],
        } | ({"record": self.record} if self.record else {})  # fmt: skip


def requested_runs(runs: Runs, *needs: Need) -> Runs:
    """Request the runs that `needs` describes, execute them, and return all runs."""
    runs.request(needs)
    runs.run()
    return runs


def seeds(engine: Counting, replications: int = 1) -> Runs:
    """Return a new `Runs` object, in which the result of each run is the seed of the run."""
    return Runs(replications, lambda result: int(result.manifest["seed"]), engine)


def test_equal_scenarios_with_different_titles_share_one_run() -> None:
    engine = Counting()
    table, figure = Download("as Table I calls it"), Download("as figure 2 calls it")
    runs = requested_runs(seeds(engine, 2), Need(table), Need(figure))
    assert len(engine.ran) == 2
    assert runs.of(table) == runs.of(figure) == [1, 2]
    assert runs.distinct() == 2
    assert [run.manifest["seed"] for _, _, run in runs.items()] == [1, 2, 1, 2]


def test_the_recorded_series_of_all_requests_are_merged() -> None:
    engine, setting = Counting(), Download("d")
    requested_runs(seeds(engine), *(Need(setting, record=r) for r in (Record(), WINDOW, FINE)))
    (scenario,) = engine.ran
    assert scenario["record"]["series"] == ["drops", "window"]
    assert scenario["record"]["interval"] == "50 ms"


@pytest.mark.parametrize(
    ("own", "interval"), [("10 ms", "10 ms"), ("2 s", "50 ms"), (None, "50 ms")]
)
def test_the_series_that_a_scenario_records_itself_remain(own: str | None, interval: str) -> None:
    engine = Counting()
    record: dict[str, Any] = {"series": ["queue"], "links": ["left>right"], "flows": "table"}
    record |= {"interval": own} if own else {}
    table, figure = (Download(name, record=record) for name in ("table", "figure"))
    requested_runs(seeds(engine), Need(table, record=FINE), Need(figure))
    (scenario,) = engine.ran
    recorded = scenario["record"]
    assert recorded["series"] == ["drops", "queue"]
    assert recorded["interval"] == interval
    assert (recorded["links"], recorded["flows"]) == (["left>right"], "table")


def test_scenarios_that_record_different_things_are_different_runs() -> None:
    engine = Counting()
    settings = [Download("d", record={"links": [link]}) for link in ("left>right", "right>left")]
    requested_runs(seeds(engine), *map(Need, settings))
    assert [run["record"]["links"] for run in engine.ran] == [["left>right"], ["right>left"]]


def test_a_change_applies_to_the_scenarios_with_the_key() -> None:
    engine = Counting()
    changes = [("tcp.rto.min", "1 s"), ("network.queue.limit", "9 packets"), ("flows.1.count", "3")]
    runs = Runs(1, lambda result: result.scenario, engine, changes=changes[:2])
    runs.request([Need(Download("d", record={"series": ["queue"]}), record=FINE)])
    runs.check_changes()
    runs.run()
    (scenario,) = engine.ran
    assert scenario["tcp"]["rto"]["min"] == "1 s"
    assert scenario["network"]["queue"]["limit"] == "9 packets"
    assert scenario["record"]["series"] == ["drops", "queue"]
    assert scenario["record"]["interval"] == "50 ms"
    other = Runs(1, id, engine, changes=changes)
    other.request([Need(Download("d"))])
    with pytest.raises(ScenarioError, match=r"--set flows\.1\.count: no scenario of these items"):
        other.check_changes()
    with pytest.raises(ScenarioError, match=r"tcp\.rto\.min.*is not a time"):
        Runs(1, id, engine, changes=[("tcp.rto.min", "soon")]).request([Need(Download("d"))])
    with pytest.raises(ScenarioError, match="seed: is not an assumption"):
        Runs(1, id, engine, changes=[("seed", "3")])


def test_on_demand_only_the_runs_that_an_item_reads_are_executed() -> None:
    engine = Counting()
    one, other = Download("one", 8), Download("other", 9)
    runs = Runs(2, lambda result: int(result.manifest["seed"]), engine, on_demand=1)
    runs.request([Need(one), Need(other, replications=(1,))])
    assert not engine.ran
    assert runs.of(other) == [2]
    assert (len(engine.ran), runs.distinct()) == (1, 1)
    assert runs.of(one) == [1, 2]
    assert runs.of(other) == [2]
    assert len(engine.ran) == 3


def test_a_later_stage_executes_only_missing_runs() -> None:
    engine, setting = Counting(), Download("d")
    runs = requested_runs(seeds(engine), Need(setting, record=WINDOW))
    requested_runs(runs, Need(setting))
    assert len(engine.ran) == 1
    requested_runs(runs, Need(setting, record=FINE))
    assert len(engine.ran) == 2
    assert engine.ran[1]["record"]["series"] == ["drops", "window"]


def test_items_get_their_runs_in_any_order_of_requests() -> None:
    engine, table, figure = Counting(), Download("table"), Download("figure")
    runs = requested_runs(seeds(engine, 3), Need(table), Need(figure, (0, 2)))
    assert len(engine.ran) == 3
    assert runs.of(table) == [1, 2, 3]
    assert runs.of(figure) == [1, 3]
    assert runs.one(figure, 2) == 3


def test_a_request_for_a_replication_that_does_not_run_is_refused() -> None:
    runs = seeds(Counting(), 3)
    with pytest.raises(ValueError, match=r"3: an item needs replication 7; use --replications 8"):
        runs.request([Need(Download("d"), (0, 2, 7))])
    few = Need(Download("d"), at_most=2)
    assert requested_runs(seeds(Counting(), 3), few).of(few.setting) == [1, 2]
    assert requested_runs(seeds(Counting(), 1), few).of(few.setting) == [1]


def test_a_first_seed_shifts_the_seeds_of_all_replications() -> None:
    runs = Runs(3, lambda result: int(result.manifest["seed"]), Counting(), seed=100)
    assert requested_runs(runs, Need(Download("d"))).of(Download("d")) == [100, 101, 102]


def test_an_alternative_repeats_only_the_runs_that_it_changes() -> None:
    engine, one, two = Counting(), Download("one", limit=8), Download("two", limit=16)
    base = Runs(2, lambda result: int(result.manifest["seed"]), engine, seed=5)
    base.request([Need(one), Need(two)])
    base.run()
    runs = base.under(lambda _: two, (), 1)
    runs.request([Need(one), Need(two)])
    assert (runs.of(two), runs.changed_reads()) == ([5, 6], set())
    assert (runs.of(one), len(runs.changed_reads())) == ([5, 6], 2)
    assert len(engine.ran) == 4, "the changed runs are those of the other setting"
    runs = base.under(lambda at: at, [("network.queue.limit", "12 packets")], 1)
    runs.request([Need(one), Need(two)])
    assert (runs.of(one), len(runs.changed_reads())) == ([5, 6], 2)
    assert len(engine.ran) == 6


def test_a_value_that_a_run_lacks_is_an_error_only_for_its_readers() -> None:
    def reduce(result: Result) -> int:
        if result.columns("links")["dropped_full"].sum() == 0:
            raise UndecidableError("no packet was dropped")
        return 1

    small, large = Download("small", limit=2), Download("large", limit=1000)
    runs = requested_runs(Runs(1, reduce, Counting()), Need(small), Need(large))
    assert runs.of(small) == [1]
    with pytest.raises(UndecidableError, match="no packet was dropped"):
        runs.of(large)


def test_a_warning_ends_with_the_number_of_its_runs() -> None:
    """If two replications drop no packet, the study prints one warning for both."""
    runs = requested_runs(seeds(Counting(), 2), Need(Download("a", limit=1000)))
    (warning,) = [text for text in runs.warnings() if "no packet was dropped or marked" in text]
    assert warning.endswith(" (2 of 2 runs)")


def test_the_quick_form_leaves_out_needs_that_are_not_quick() -> None:
    engine, quick, slow = Counting(), Download("quick"), Download("slow", limit=8)
    runs = Runs(2, lambda result: int(result.manifest["seed"]), engine, quick=True)
    requested_runs(runs, Need(quick), Need(slow, quick=False))
    assert len(engine.ran) == 2
    assert (runs.has(quick), runs.has(slow)) == (True, False)
    assert (runs.of(quick), runs.of(slow)) == ([1, 2], [])
    assert dict(runs.by_replication(quick)) == {0: 1, 1: 2}


def test_a_form_may_replace_a_setting_by_a_shorter_one() -> None:
    engine, requested = Counting(), Download("requested", limit=40)
    runs = Runs(
        1,
        lambda result: result.scenario["network"]["queue"]["limit"],
        engine,
        form=lambda setting: Download(setting.name, limit=setting.limit // 2),
    )
    requested_runs(runs, Need(requested))
    assert runs.of(requested) == ["20 packets"]
    assert runs.has(requested)


def test_all_seeds_of_a_setting_run_the_scenarios_that_it_returns() -> None:
    """The engine runs the normalized scenario of each replication."""
    engine, setting = Counting(), Download('has "seed":7 in its title')
    requested_runs(seeds(engine, 3), Need(setting), Need(Download("other", limit=8)))
    expected = [
        json.loads(normalize(s.scenario(r)))
        for s in (setting, Download("other", 8))
        for r in range(3)
    ]
    assert engine.ran == expected


def test_each_run_has_its_own_manifest() -> None:
    runs = requested_runs(seeds(Counting(), 2), Need(Download("a")), Need(Download("b", limit=8)))
    scenarios = {run.address: run.manifest["scenario"] for _, _, run in runs.items()}
    assert len(scenarios) == 4
    limits = sorted(scenario["network"]["queue"]["limit"] for scenario in scenarios.values())
    assert limits == ["16 packets"] * 2 + ["8 packets"] * 2


def test_the_outcome_of_a_grid_has_arms_factors_and_differences() -> None:
    """The outcome of a grid omits each point with missing runs."""
    seed: Measure[int] = Measure("seed_of_run", "s", lambda run: float(run), -1, scale=1000)
    arms = {"small": Download("a", limit=8), "large": Download("b", limit=16)}
    points = [
        ({"limit": 8, "speed": "slow"}, arms),
        ({"limit": 9, "speed": "slow"}, {**arms, "large": Download("c", limit=99)}),
    ]
    runs = requested_runs(seeds(Counting(), 3), *map(Need, arms.values()))
    outcome = grid.outcome(runs, points, [seed], "two arms")
    assert (outcome.arms, outcome.factors) == (["small", "large"], ["limit", "speed"])
    assert list(outcome.runs["point"].unique()) == [0]
    small, large = outcome.estimates(["limit"])
    assert list(small.values.values()) == [1000, 2000, 3000]
    assert large.difference is not None
    assert large.difference.value == 0
    with pytest.raises(ValueError, match="no point of the grid was run"):
        grid.outcome(runs, points[1:], [seed], "nothing")
