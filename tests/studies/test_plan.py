"""Each distinct run is run once, with all that anybody asked it to record."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aqmlab.studies.plan import Need, Plan, Record, Runs, Scenario

WINDOW = Record(frozenset({"window"}))
FINE = Record(frozenset({"drops"}), interval_s=0.05)


class Runner:
    """Stands in for the simulator: remembers what it ran, gives results in reverse order."""

    def __init__(self) -> None:
        self.ran: list[Scenario] = []

    def stream(self, scenarios: list[Scenario]) -> Iterator[tuple[int, Any]]:
        """Give a result for each."""
        self.ran += scenarios
        for index in reversed(range(len(scenarios))):
            yield index, scenarios[index]["seed"]


def test_the_same_content_is_one_run() -> None:
    plan, runner = Plan(lambda seed: 10 * seed), Runner()
    first = plan.add({"seed": 1, "title": "as Table I calls it"})
    assert plan.add({"title": "as figure 2 calls it", "seed": 1}) == first
    second = plan.add({"seed": 2})
    plan.run(runner.stream)
    assert len(runner.ran) == 2
    assert (plan.done[first], plan.done[second]) == (10, 20)


def test_what_is_recorded_is_merged() -> None:
    plan, runner = Plan(lambda seed: seed), Runner()
    for record in (None, WINDOW, FINE):
        plan.add({"seed": 1}, record)
    plan.run(runner.stream)
    (scenario,) = runner.ran
    assert scenario["record"] == {"series": ["drops", "window"], "interval": "50 ms"}


def test_a_later_stage_runs_only_what_is_missing() -> None:
    plan, runner = Plan(lambda seed: seed), Runner()
    plan.add({"seed": 1}, WINDOW)
    plan.run(runner.stream)
    plan.add({"seed": 1})
    plan.run(runner.stream)
    assert len(runner.ran) == 1
    plan.add({"seed": 1}, FINE)
    plan.run(runner.stream)
    assert len(runner.ran) == 2
    assert runner.ran[1]["record"]["series"] == ["drops", "window"]


@dataclass(frozen=True)
class Named:
    """A setting that two items may call differently."""

    name: str
    limit: int

    def scenario(self, replication: int) -> Scenario:
        """Return a scenario of its own for each limit and replication."""
        return {"title": self.name, "limit": self.limit, "seed": replication + 1}


def test_items_find_their_runs_whoever_asked_first() -> None:
    plan, runner, runs = Plan(lambda seed: seed), Runner(), Runs(3)
    table, figure = Named("table", 64), Named("figure", 64)
    runs.ask(plan, [Need(table), Need(figure, (0, 2, 7))])
    plan.run(runner.stream)
    assert len(runner.ran) == 3
    assert runs.of(table) == [1, 2, 3]
    assert runs.of(figure) == [1, 3]  # there is no replication 7
    assert runs.one(figure, 2) == 3
