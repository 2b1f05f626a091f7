"""Engine of examples/two_namespaces.py, which sends packets with the Linux kernel."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import aqmlab
import two_namespaces
from aqmlab.command import execute
from aqmlab.engine import Engine, Network
from aqmlab.scenario import normalize
from two_namespaces import SCENARIO, Namespaces, Port

MISSING = two_namespaces.missing()
needs_namespaces = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))

SHORT: dict[str, Any] = SCENARIO | {
    "flows": [SCENARIO["flows"][0] | {"traffic": {"kind": "bulk", "size": "200 kB"}}]
}
QUEUES = ["short=drop_tail:limit=5 packets", "long=drop_tail:limit=50 packets"]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"network.queue": "red"}, 'network.queue.kind: "red" is not supported by this engine'),
        ({"tcp.stack": "rfc"}, 'tcp.stack: "rfc" is not supported by this engine, which supports '
         '"linux"; choose one of these'),
        ({"flows.0.count": 2, "flows.0.name": "f{i}"}, "flows.0.count: 2 is not supported"),
        ({"network.queue.limit_counts": "waiting-and-in-service"}, "network.queue.limit_counts: "),
        ({"record.series": ["queue"]}, 'record.series.0: "queue" is not supported'),
        ({"tcp.rto.min": "1 s"}, 'tcp.rto.min: "1 s" is not supported by this engine, which'),
    ],
)  # fmt: skip
def test_a_scenario_that_the_engine_does_not_support_is_refused(
    changes: dict[str, Any], error: str
) -> None:
    over = {key: [value] for key, value in changes.items()}
    with pytest.raises(aqmlab.ScenarioError) as refused:
        aqmlab.sweep(SCENARIO, over, engine=Namespaces())
    assert str(refused.value).startswith(error)


@pytest.mark.parametrize(("limit", "dropped"), [("2 packets", 2), ("3000 B", 2), ("2999 B", 3)])
def test_the_router_drops_packets_that_exceed_the_limit(limit: str, dropped: int) -> None:
    """Five packets arrive at once, and each transmission takes 1.5 ms (12000 bits at 8 Mbit/s)."""
    text = normalize(SCENARIO, overrides=[("network.queue.limit", limit)])
    port = Port(Network.of(text).link("left>right"))
    departures = [port.arrival_s(1.0, 1500) for _ in range(5)]
    assert departures[:2] == [pytest.approx(1.0 + n * 1.5e-3 + 10e-3, abs=1e-5) for n in (1, 2)]
    assert (departures.count(None), port.dropped, port.arrived) == (dropped, dropped, 5)
    assert port.arrival_s(1.0016, 1500) is not None, "after a departure the queue has space"


@needs_namespaces
def test_a_download_through_the_kernel_arrives_and_retransmits_its_drops() -> None:
    engine: Engine = Namespaces()
    result = aqmlab.run(SHORT | {"record": {"series": ["delays"]}}, engine=engine)
    flow, links = result.flows.iloc[0], result.links.set_index("link")
    assert flow["acked_bytes"] == 200_000
    assert flow["completed_s"] > flow["start_s"]
    assert 0 < flow["goodput_bps"] < 8e6 * 1448 / 1500  # timestamps take 12 bytes
    link = links.loc["left>right"]
    assert link["arrived_packets"] == result.series("delays")["packets"][0] + link["dropped_full"]
    assert flow["retransmitted_segments"] >= link["dropped_full"]
    assert {name: list(result.columns(name)) for name in result.tables} == {
        name: list(columns) for name, columns in (engine.capabilities.columns or {}).items()
    }


@needs_namespaces
def test_run_sweep_and_compare_accept_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = Path(two_namespaces.__file__)
    monkeypatch.chdir(tmp_path)
    shutil.copy(example, tmp_path)
    Path("short.json").write_text(json.dumps(SHORT), "utf-8")
    Path("limits.toml").write_text(
        'scenario = "short.json"\nreplications = 2\n[[factors]]\n'
        'values = { "network.queue.limit" = ["5 packets", "50 packets"] }\n', "utf-8",
    )  # fmt: skip
    engine = ["--engine", "two_namespaces:Namespaces"]
    assert execute(["run", "short.json", *engine]) == 0
    out = capsys.readouterr().out
    assert "Not measured by the engine: flows.segments_sent, flows.timeouts" in out
    assert execute(["sweep", "limits.toml", "--out", "sweep", *engine]) == 0
    out = capsys.readouterr().out
    assert "mean_delay_s" in out
    assert "failed" not in out
    compared = ["compare", *QUEUES, "--scenario", "short.json", "--replications", "2"]
    assert execute([*compared, "--out", "compare", *engine]) == 0
    page = Path("compare/report.html").read_text("utf-8")
    assert "Queueing delay" in page
    assert "Queue over time" not in page, "an engine without queue samples has no such figure"
    numbers = json.loads(Path("compare/comparison.json").read_text("utf-8"))
    short, long = (queue["measures"] for queue in numbers["queues"])
    assert short["goodput_bps"]["middle"] > 0
    assert short["p99_delay_s"]["middle"] < long["p99_delay_s"]["middle"] + 0.05
