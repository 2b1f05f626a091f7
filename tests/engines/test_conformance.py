"""Test that every engine can run, sweep, compare, reproduce, and supply all data of a report."""

import csv
import io
import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import aqmlab
from aqmlab import estimates, studies
from aqmlab.command import execute
from aqmlab.command.results import show as show_outcome
from aqmlab.comparison import Comparison, compare, output
from aqmlab.engine import Capabilities, Engine, Failed, Filling, Progress, Recorded, Simulator
from aqmlab.engine.testbed import HostTestbed, KernelTestbed
from aqmlab.experiment import Experiment, Outcome, Replications, conduct
from aqmlab.measures import Measure, MeasuredRun, measures
from aqmlab.results import NotMeasuredError, Result
from aqmlab.scenario import changed, normalize, toml_value
from aqmlab.store import FolderStore
from aqmlab.studies.framework import (
    Cell,
    Claims,
    Decision,
    Item,
    Need,
    Published,
    Runs,
    Section,
    Study,
    Tolerance,
)
from aqmlab.studies.framework.claims import value
from aqmlab.studies.framework.runs import Record
from aqmlab.summary import show
from conftest import SMALL, back_end
from test_guides import ENGINE, block

Scenario = dict[str, Any]
SCENARIO: Scenario = {
    "title": SMALL["title"],
    "seed": 3,
    "phase_breaking": {"start": "1 s"},
    "network": SMALL["network"] | {"queue": {"kind": "drop_tail", "limit": "16 packets"}},
    "flows": SMALL["flows"],
}
"""The small scenario, with only the keys that the example engine of docs/how-to supports."""
MEASURED: Scenario = SCENARIO | {
    "network": SCENARIO["network"] | {"rate": "15 Mbit/s"},
    "tcp": {"stack": "linux"},
}
"""The scenario for the testbed, which has only the TCP of Linux and may need real time."""
LIMITS = {"network.queue.limit": ["4 packets", "16 packets"]}
QUEUES = ["small=drop_tail:limit=4 packets", "large=drop_tail:limit=16 packets"]
CLAIMS = """id,statement,quantity,value,unit,scenario,source,qualifier
A,goodput,goodput,1,Mbit/s,all,here,lower_bound
B,busy time,busy,0,s,all,here,lower_bound
C,longest queue,queue,0,packets,all,here,lower_bound
"""


def guide_source() -> str:
    """Return the source of the guide's example engine, without the sweep that follows it."""
    source: str = block("python", "class Sawtooth", ENGINE)
    return source.partition("\nlimits =")[0]


def guide_engine() -> Any:
    names: dict[str, Any] = {"__name__": "guide"}
    exec(guide_source(), names)
    return names["Sawtooth"]()


@dataclass(frozen=True)
class Setting:
    """Setting of the test study, whose scenario is `base`."""

    base: Scenario = field(hash=False)

    def columns(self) -> dict[str, Any]:
        return {}

    def scenario(self, replication: int) -> dict[str, Any]:
        return self.base | {"seed": replication + 1}


def goodput(result: Result) -> float:
    return 1e-6 * float(sum(result.columns("flows")["goodput_bps"]))


def busy(result: Result) -> float:
    return float(result.columns("links")["busy_s"][0])


def longest_queue(result: Result) -> float:
    return float(max(result.columns("queue")["queue_packets"]))


def study(scenario: Scenario, folder: Path) -> Study:
    """Return a study of three items: the goodput, the busy time and the longest queue."""
    (folder / "published").mkdir(parents=True)
    path = folder / "published" / "claims.csv"
    path.write_text(CLAIMS, "utf-8")
    claims, items, setting = Claims(path), [], Setting(scenario)
    for id_, name, read in (
        ("A", "goodput", goodput), ("B", "busy", busy), ("C", "queue", longest_queue),
    ):  # fmt: skip
        record = Record(frozenset(["queue"])) if name == "queue" else Record()
        measure: Measure[Result] = Measure(name, "", read)

        def needs(record: Record = record) -> Iterator[Need]:
            yield Need(setting, record=record)

        def make(runs: Runs, measure: Measure[Result] = measure) -> Section:
            estimate = estimates.mean([measure.of(run) for run in runs.of(setting)])
            return Section(cells=[Cell(measure.name, {}, measure.name, "", estimate)])

        def decide(runs: Runs, claim: Published, measure: Measure[Result] = measure) -> Decision:
            values = [measure.of(run) for run in runs.of(setting)]
            return value(claim, values, Tolerance.of("none", 0.0))

        items.append(Item(name, name, needs, make))
        claims.decides(id_, items=[name])(decide)
    return Study("tiny", "A tiny study", ("About.",), (), (), tuple(items), claims,
                 lambda result: result, replications=2)  # fmt: skip


def experiment(scenario: Scenario) -> Experiment:
    points = [{"network.queue.limit": limit} for limit in LIMITS["network.queue.limit"]]
    return Experiment(
        scenario=scenario, title="Limits", points=points, replications=Replications(2)
    )


@dataclass
class Outputs:
    """Outputs of an engine: a run, a sweep, an experiment, a comparison and a report."""

    run: Result
    sweep: aqmlab.Sweep
    outcome: Outcome
    comparison: Comparison
    page: str
    study: Path
    decision: Decision


def everything(engine: Engine, scenario: Scenario, folder: Path, store: FolderStore) -> Outputs:
    """Return every kind of output of an engine."""
    run = aqmlab.run(scenario, engine=engine)
    (repeated, _) = aqmlab.replicate(scenario, 2, engine=engine, store=store)
    if not isinstance(engine, HostTestbed):
        assert repeated.flows.equals(run.flows)
    swept = aqmlab.sweep(scenario, LIMITS, 2, engine=engine, store=store)
    outcome = conduct(experiment(scenario), engine=engine, store=store)
    compared = compare(QUEUES, scenario, 2, engine=engine, store=store)
    with output.place(folder / "compare") as claim, output.store(claim) as comparison_store:
        page = output.write(compared, comparison_store, claim)
    tiny = study(scenario, folder / "study")
    report = tiny.reproduce(out=folder / "out", engine=engine, store=store)
    _, decision, _ = tiny.decide("B", 2, engine=engine, store=store)
    return Outputs(run, swept, outcome, compared, page.read_text("utf-8"), report, decision)


class Simulated:
    """Outputs of the simulator; the engine `Recorded` can replay its runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = FolderStore(folder / "runs")
        self.outputs = everything(Simulator(), SCENARIO, folder, self.store)
        self.runs = [self.outputs.run, *self.store]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Simulated:
    return Simulated(tmp_path_factory.mktemp("simulated"))


ENGINES = ["simulator", "recorded", "cluster", "guide", "testbed:host", "testbed:kernel"]


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest, simulated: Simulated) -> Iterator[Engine]:
    if request.param == "cluster":
        pytest.importorskip("distributed")
        from aqmlab.engine.cluster import connect

        with connect("dask", jobs=1) as cluster:
            yield cluster
    elif request.param == "guide":
        yield guide_engine()
    elif request.param.startswith("testbed"):
        yield back_end(request.param)
    else:
        yield Recorded(simulated.runs) if request.param == "recorded" else Simulator()


@pytest.fixture(scope="module")
def outputs(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    folder = tmp_path_factory.mktemp("engine")
    scenario = MEASURED if isinstance(engine, HostTestbed | KernelTestbed) else SCENARIO
    with FolderStore(folder / "runs") as store:
        return everything(engine, scenario, folder, store)


def fills_two_tables(engine: Engine) -> bool:
    """Return True if an engine fills only the tables `flows` and `links`."""
    columns = engine.capabilities.columns
    return columns is not None and set(columns) == {"flows", "links"}


def simulates(engine: Engine) -> bool:
    """Return True if an engine returns the tables of the simulator."""
    return engine.capabilities.columns is None


def printed(value: Any, function: Any) -> str:
    text = io.StringIO()
    function(value, Console(file=text, width=120))
    return text.getvalue()


def test_a_run_has_the_columns_that_the_engine_declares(
    engine: Engine, outputs: Outputs, simulated: Simulated, tmp_path: Path
) -> None:
    run, text = outputs.run, printed(outputs.run, show)
    declared = engine.capabilities.columns
    absent = "segments_sent" if fills_two_tables(engine) else "fast_retransmits"
    assert ("Not measured by the engine: flows.segments_sent" in text) is fills_two_tables(engine)
    if declared is not None:
        filled = {table: list(run.columns(table)) for table in run.tables}
        assert filled == {table: declared[table] for table in run.tables}
        with pytest.raises(NotMeasuredError, match=rf"flows\.{absent} is not measured"):
            run.columns("flows")[absent]
    else:
        assert run.flows.equals(simulated.outputs.run.flows)
    run.write(tmp_path / "run")
    stored = Result.read(tmp_path / "run")
    assert stored.tables == run.tables
    assert all(stored.table(name).equals(run.table(name)) for name in run.tables)
    assert {k: stored.manifest.get(k) for k in run.manifest} == run.manifest


def test_a_sweep_has_the_tables_and_estimates_of_its_runs(
    engine: Engine, outputs: Outputs, simulated: Simulated
) -> None:
    swept = outputs.sweep
    assert len(swept.flows) == 8
    assert len(swept.links) == 4 * len(outputs.run.links)
    every = measures(["left>right"], MeasuredRun.of_result(outputs.run).crossing)
    table = swept.estimates(every).set_index("measure")
    assert (table.loc["goodput_bps", "n"] == 2).all()
    absent = {"mean_delay_s", "p95_delay_s", "p99_delay_s"}  # a plain run records no delays
    absent |= {"utilization", "drop_rate", "mark_rate"} if fills_two_tables(engine) else set()
    assert set(table.index[table["statistic"] == "not measured"]) == absent
    assert swept.to_xarray(every).attrs["not_measured"] == [
        m.name for m in every if m.name in absent
    ]
    if simulates(engine):
        assert swept.links.equals(simulated.outputs.sweep.links)


def test_an_experiment_names_the_measures_that_its_engine_lacks(
    engine: Engine, outputs: Outputs, tmp_path: Path
) -> None:
    outcome = outputs.outcome
    outcome.write(tmp_path / "runs.parquet")
    outcome = Outcome.read(tmp_path)
    assert ("mean_delay_s" in outcome.not_measured) is fills_two_tables(engine)
    text = printed(outcome, show_outcome)
    assert "goodput_bps" in text
    assert ("Not measured by the engine: utilization" in text) is fills_two_tables(engine)
    rows = outcome.summary().set_index("measure")
    assert (rows.loc["mean_delay_s", "statistic"] == "not measured") is fills_two_tables(
        engine
    ) or len(rows.loc["mean_delay_s"]) == 2
    assert outcome.estimates(measures=["drop_rate"])[0].estimate.n == (
        0 if fills_two_tables(engine) else 2
    )


def test_a_comparison_and_its_page_name_the_measures_that_its_engine_lacks(
    engine: Engine, outputs: Outputs
) -> None:
    compared = outputs.comparison
    assert compared.estimate(1, "goodput_bps").n == 2
    absent = [m.name for m in compared.not_measured]
    assert absent[:2] == (["utilization", "mean_delay_s"] if fills_two_tables(engine) else [])
    assert ("Not measured by the engine: busy (%)" in outputs.page) is fills_two_tables(engine)
    assert ("Queueing delay" in outputs.page) is not fills_two_tables(engine)
    assert "Fairness" in outputs.page
    assert compared.as_dict()["not_measured"] == absent


def test_a_study_marks_the_claims_that_its_engine_cannot_measure(
    engine: Engine, outputs: Outputs
) -> None:
    with (outputs.study.parent / "claims.csv").open(encoding="utf-8", newline="") as file:
        verdicts = [row["verdict"] for row in csv.DictReader(file)]
    page = outputs.study.read_text("utf-8")
    rest = "not measured" if fills_two_tables(engine) else "open"
    assert verdicts[1:] == [rest, rest]
    assert verdicts[0] in ("open", "reproduced")
    assert ("Not measured: links.busy_s is not measured" in page) is fills_two_tables(engine)
    assert ("the engine does not record the series queue" in page) is fills_two_tables(engine)


def test_a_claim_without_its_column_is_not_measured(engine: Engine, outputs: Outputs) -> None:
    assert (outputs.decision.verdict == "not measured") is fills_two_tables(engine)


class FlowsAndLinks:
    """Engine with a few columns of the simulator's tables `flows` and `links`."""

    build = "flows and links"
    capabilities = Capabilities(
        series=[],
        columns={
            "flows": ["flow", "from", "to", "start_s", "completed_s", "acked_bytes", "goodput_bps"],
            "links": ["link", "arrived_packets", "dropped_packets", "utilization"],
        },
    )

    def run(
        self, texts: Sequence[str], jobs: int | None = None, progress: Progress | None = None
    ) -> Generator[tuple[int, Result | Failed]]:
        for i, result in Simulator().run(texts, jobs, progress):
            assert isinstance(result, Result)
            filling = Filling(texts[i])
            for table, names in (self.capabilities.columns or {}).items():
                columns = result.columns(table)
                filling.fill(table, {name: columns[name] for name in names})
            yield i, filling.result(result.manifest["simulated_s"])


def test_the_report_of_a_published_study_names_the_missing_columns(tmp_path: Path) -> None:
    published = studies.load("red-wired-testbed")
    report = published.reproduce(jobs=1, out=tmp_path / "out", engine=FlowsAndLinks(), quick=True)
    page = report.read_text("utf-8")
    assert page.count("Not measured: ") > 10
    assert "the engine does not record the series" in page


# Scenarios and columns that an engine does not support


class Counting:
    """Engine that counts its runs; each test chooses the capabilities of its own instance."""

    build = "counting"

    def __init__(self, capabilities: Capabilities) -> None:
        self.capabilities = capabilities
        self.runs = 0

    def run(
        self,
        texts: Sequence[str],
        jobs: int | None = None,  # noqa: ARG002
        progress: Progress | None = None,  # noqa: ARG002
    ) -> Generator[tuple[int, Result | Failed]]:
        for i, text in enumerate(texts):
            self.runs += 1
            yield i, self.one(Filling(text))

    def one(self, filling: Filling) -> Result:
        tcp = [flow for flow in filling.network.flows if flow.protocol == "tcp"]
        filling.fill("flows", {"goodput_bps": [1e6] * len(tcp)})
        return filling.result(1.0)


REFUSED = [
    (
        Capabilities(queues=["drop_tail"]), {"network.queue": "red"},
        'network.queue.kind: "red" is not supported by this engine, which supports "drop_tail"; '
        "choose one of these, or another engine",
    ),
    (
        Capabilities(series=["queue"]), {"record.series": ["queue", "drops"]},
        'record.series.1: "drops" is not supported by this engine, which supports "queue"; choose '
        "one of these, or another engine",
    ),
    (
        Capabilities(series=[]), {"record.series": ["drops"]},
        'record.series.0: "drops" is not supported by this engine, which supports none; remove it, '
        "or choose another engine",
    ),
    (
        Capabilities(keys={"network.*": None, "phase_breaking.*": None, "flows.*": None}),
        {"tcp.ecn": "rfc3168"},
        'tcp.ecn.mode: "rfc3168" is not supported by this engine, which supports the keys '
        "network.*, phase_breaking.*, flows.*; remove the key, or choose another engine",
    ),
    (
        Capabilities(keys={
            "network.*": None, "phase_breaking.*": None, "duration": None, "flows.*.count": None,
            "flows.*.traffic.kind": ["bulk"], "flows.*.traffic.size": None,
        }),
        {"duration": "5 s", "flows.0.traffic": {"kind": "cbr", "rate": "1 Mbit/s"}},
        'flows.0.traffic.kind: "cbr" is not supported by this engine, which supports "bulk"; '
        "choose one of these, or another engine",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("capabilities", "changes", "error"), REFUSED)
def test_an_unsupported_scenario_is_refused_before_the_first_run(
    capabilities: Capabilities, changes: dict[str, Any], error: str
) -> None:
    engine = Counting(capabilities)
    unsupported = changed(SCENARIO, [(key, toml_value(value)) for key, value in changes.items()])
    with pytest.raises(aqmlab.ScenarioError) as refused:
        aqmlab.run_many([SCENARIO, unsupported], engine=engine)
    assert str(refused.value) == error
    assert engine.runs == 0


def test_a_column_that_the_engine_does_not_fill_is_refused() -> None:
    engine = Counting(Capabilities(series=[], columns={"flows": ["goodput_bps"]}))
    for name, reason in (
        ("links.busy_s.sum", "does not fill the column links.busy_s"),
        ("queue.queue_packets.mean", "does not record the series queue"),
    ):
        with pytest.raises(aqmlab.ScenarioError, match=rf'measures.0: "{name}" .* which {reason};'):
            conduct(Experiment(scenario=SCENARIO, measures=[name]), engine=engine)
    with pytest.raises(aqmlab.ScenarioError, match=r"limits: this engine does not support limits"):
        aqmlab.run(SCENARIO, engine=engine, limits={"events": 5})
    with pytest.raises(ValueError, match="this engine writes no packet captures"):
        aqmlab.run(SCENARIO, engine=engine, pcap=Path.cwd())
    assert engine.runs == 0


def test_an_empty_result_refuses_invalid_tables_columns_and_rows() -> None:
    filling = Filling(normalize(SCENARIO))
    for table, columns, error in (
        ("flow", {}, "'flow' is not a table; did you mean flows"),
        ("flows", {"acked": [1, 2]}, "'acked' is not a column of flows; did you mean acked_bytes"),
        ("flows", {"timeouts": [1]}, "flows.timeouts has 1 values, and the number of"),
        ("flows", {"timeouts": [1, None]}, "flows.timeouts: a value is neither a number nor"),
        ("flows", {"timeouts": [[1], [2]]}, "flows.timeouts: the values are not a list"),
    ):
        with pytest.raises(ValueError, match=error):
            filling.fill(table, columns)


def test_the_goodput_without_measured_datagrams_is_not_measured() -> None:
    flow = {"name": "U", "from": "left-0", "to": "right-0",
            "traffic": {"kind": "cbr", "rate": "1 Mbit/s"}}  # fmt: skip
    scenario = SCENARIO | {"flows": [flow], "duration": "1 s"}
    result = aqmlab.run(scenario, engine=Counting(Capabilities()))
    (goodput,) = (m for m in measures(["left>right"], []) if m.name == "goodput_bps")
    assert goodput.read(MeasuredRun.of_result(result)) is None
    assert goodput.of(MeasuredRun.of_result(aqmlab.run(scenario))) > 0.8e6


# The option --engine of commands


REQUESTS = '{ kind = "request_response", request = "100 B", response = "1 kB", requests = 2 }'
"""Request-response traffic, which the example engine of docs/how-to does not support."""


def test_every_command_accepts_an_engine_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sawtooth.py").write_text(guide_source(), "utf-8")
    Path("two.json").write_text(json.dumps(SCENARIO), "utf-8")
    Path("limits.toml").write_text(
        'scenario = "two.json"\nreplications = 2\n[[factors]]\n'
        'values = { "network.queue.limit" = ["4 packets", "16 packets"] }\n', "utf-8",
    )  # fmt: skip
    guide = ["--engine", "sawtooth:Sawtooth"]
    assert execute(["run", "two.json", "--out", "run", *guide]) == 0
    assert "Not measured by the engine: flows.segments_sent" in capsys.readouterr().out
    assert execute(["run", "two.json", "--engine", "recorded:run"]) == 0
    assert "Not measured by the engine: flows.segments_sent" in capsys.readouterr().out
    assert execute(["run", "two.json", "--replications", "2", *guide]) == 0
    assert "Not measured by the engine: utilization" in capsys.readouterr().out
    assert execute(["sweep", "limits.toml", "--out", "sweep", *guide]) == 0
    assert "Not measured by the engine: utilization" in capsys.readouterr().out
    compared = ["compare", *QUEUES, "--scenario", "two.json", "--replications", "2", *guide]
    assert execute([*compared, "--out", "compare"]) == 0
    assert "Not measured by the engine: busy (%)" in capsys.readouterr().out
    for command, error in (
        (["run", "two.json", "--set", "network.queue=red"], 'network.queue.kind: "red" is not'),
        (["compare", "drop_tail", "red", "--scenario", "two.json"], 'network.queue.kind: "red"'),
        (["reproduce", "rfc2884", "--only", "fairness", "--replications", "1"], ": "),
        (["responses", "two.json", "--set", f"flows.0.traffic={REQUESTS}"], "is not supported"),
        (["sweep", "limits.toml", "--executor", "dask"], "--executor dask always runs"),
    ):
        assert execute([*command, *guide]) == 2
        message = capsys.readouterr().err
        assert error in message
        assert message.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("emulator", "--engine is 'emulator'; it must be one of simulator"),
        ("recorded:nowhere", "--engine recorded:nowhere: the folder nowhere does not exist"),
        ("recorded:.", "--engine recorded:.: . contains no runs; give a folder that"),
        ("no_such_module:Engine", "the import fails (ModuleNotFoundError: No module named"),
        ("math:Engine", "the import fails (AttributeError"),
        ("math:pi", "not an engine, because it has no attribute `build`"),
    ],
)
def test_the_error_of_an_invalid_engine_is_one_line(
    name: str,
    error: str,
    scenario: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(scenario.parent)
    assert execute(["run", str(scenario), "--engine", name]) == 2
    message = capsys.readouterr().err
    assert error in message
    assert message.count("\n") == 1


# Columns that an engine fills only in some runs


class Uneven(Counting):
    """Engine that fills two additional columns in runs with an even seed."""

    def one(self, filling: Filling) -> Result:
        if filling.network.scenario["seed"] % 2 == 0:
            filling.fill("flows", {"timeouts": [1, 2]})
            filling.fill("links", {"utilization": [0.5] * len(filling.network.links)})
        return super().one(filling)


def test_a_sweep_has_empty_cells_for_missing_columns() -> None:
    swept = aqmlab.sweep(SCENARIO, LIMITS, 2, engine=Uneven(Capabilities()))
    flows = swept.flows
    assert flows["timeouts"].isna().tolist() == [True, True, False, False] * 2
    assert flows["timeouts"].sum() == 6
    assert set(swept.links["seed"]) == {4}
    with pytest.raises(NotMeasuredError, match="'queue' is not a table of this run"):
        swept.table("queue")
    every = measures(["left>right"], MeasuredRun.of_result(swept.results[0]).crossing)
    (jain,) = swept.estimates([m for m in every if m.name == "jain"])["statistic"].unique()
    assert jain == "not measured"


def test_an_arm_without_a_measure_is_printed_as_not_measured() -> None:
    class ByQueue(Counting):
        """Engine that fills the column `busy_s` only if the limit of the queue is 4 packets."""

        def one(self, filling: Filling) -> Result:
            if filling.network.link("left>right").limit_packets == 4:
                filling.fill("links", {"busy_s": [0.5] * len(filling.network.links)})
            return super().one(filling)

    arms = {"short": {"network.queue.limit": "4 packets"}, "long": {}}
    two_arms = Experiment(
        scenario=SCENARIO, measures=["utilization", "flows.goodput_bps.sum"], arms=arms,
        replications=Replications(2),
    )  # fmt: skip
    outcome = conduct(two_arms, engine=ByQueue(Capabilities()))
    assert outcome.not_measured == []
    text = printed(outcome, show_outcome)
    assert text.count("not measured") == 1
    short, long = outcome.estimates(measures=["utilization"])
    assert (short.estimate.value, str(long.estimate)) == (50.0, "not measured")


# Result folders that earlier versions of aqmlab wrote


def test_runs_without_a_column_of_absent_measures_have_all_measures(outputs: Outputs) -> None:
    outcome = outputs.outcome
    older = replace(outcome, runs=outcome.runs.drop(columns="not_measured"))
    assert older.not_measured == []
    assert len(older.estimates(measures=["goodput_bps"])) == 2


def test_the_engine_of_the_guide_refuses_flows_without_a_formula() -> None:
    reverse = SCENARIO["flows"][0] | {"name": "R", "count": 1, "from": "right-0", "to": "left-0"}
    with pytest.raises(ValueError, match="flows: all must go from left to right"):
        aqmlab.run(SCENARIO | {"flows": [*SCENARIO["flows"], reverse]}, engine=guide_engine())


def test_a_manifest_that_names_a_file_elsewhere_is_refused(tmp_path: Path) -> None:
    aqmlab.run(SCENARIO | {"record": {"series": ["queue"]}}).write(tmp_path / "run")
    manifest = tmp_path / "run" / "manifest.json"
    content = json.loads(manifest.read_text("utf-8"))
    manifest.write_text(json.dumps(content | {"tables": ["../run/flows"]}), "utf-8")
    with pytest.raises(ValueError, match=r"'\.\./run/flows' is not the name of a table"):
        Result.read(tmp_path / "run")


def test_the_error_of_a_figure_without_its_series_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    aqmlab.run(SCENARIO, engine=guide_engine()).write(tmp_path / "run")
    assert execute(["plot", "window", str(tmp_path / "run"), "--out", str(tmp_path / "a.png")]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "the run did not record the series 'window'" in message
