"""Each example runs, and shows what it says it shows."""

import runpy
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

import aqmlab
from aqmlab.experiment import Experiment, Replications, conduct


def test_one_flow_loses_nothing() -> None:
    result = aqmlab.run("examples/one_flow.toml")
    assert result.flows["acked_bytes"].item() == 20 * 2**20
    assert result.links["dropped_packets"].sum() == 0
    assert result.flows["completed_s"].item() == pytest.approx(115, abs=0.2)


def test_without_its_window_one_flow_fills_the_queue(tmp_path: Path) -> None:
    text = Path("examples/one_flow.toml").read_text().replace('receive_window = "64240 B"', "")
    (tmp_path / "open.toml").write_text(text)
    assert aqmlab.run(tmp_path / "open.toml").links["dropped_packets"].sum() > 0


def test_mixed_marks_one_flow_and_drops_the_other() -> None:
    flows = aqmlab.run("examples/mixed.toml").flows.set_index("flow")
    assert flows.loc["with-ecn", "marked_packets"] > 5 * flows.loc["with-ecn", "dropped_packets"]
    assert flows.loc["without-ecn", "dropped_packets"] > 0
    assert flows.loc["without-ecn", "marked_packets"] == 0


def test_the_long_flow_of_a_parking_lot_gets_less() -> None:
    flows = aqmlab.run("examples/parking_lot.toml").flows.set_index("flow")["goodput_bps"]
    assert flows["long"] < flows.drop("long").min()


def test_customers_have_their_rates() -> None:
    flows = aqmlab.run("examples/customers.toml").flows.set_index("flow")["goodput_bps"]
    # B has 6 of 10 Mbit/s, less headers; of A's 4 its other traffic has all for 20 of 60 s, then 1.
    payload = 1460 / 1500
    assert flows["b"] == pytest.approx(6e6 * payload, rel=0.03)
    assert flows["a-web"] == pytest.approx(3e6 * payload, rel=0.05)
    # CoDel takes a little of it.
    assert flows["a-other"] == pytest.approx((20 * 4e6 + 40 * 1e6) / 60 * payload, rel=0.1)


def test_a_profile_protects_a_download() -> None:
    """What is in profile is hardly dropped: its download has its rate (Clark & Fang 1998)."""
    scenario = tomllib.loads(Path("examples/assured.toml").read_text("utf-8"))

    def goodputs() -> list[float]:
        runs = [aqmlab.run(scenario, seed=seed) for seed in range(1, 6)]
        return [run.flows.set_index("flow").loc["customer", "goodput_bps"] for run in runs]

    profile = 6e6 * 1460 / 1500
    assert min(goodputs()) > profile
    del scenario["network"]["condition"]
    assert min(goodputs()) < 0.8 * profile


def test_drop_tail_red_ecn(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path("examples/drop_tail_red_ecn.py", run_name="__main__")
    out = capsys.readouterr().out
    assert out.count("\n") == 5
    assert "RED with ECN" in out


def test_sweep(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.argv", ["sweep.py", str(tmp_path)])
    runpy.run_path("examples/sweep.py", run_name="__main__")
    assert "drop_tail" in capsys.readouterr().out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["sweep.csv", "sweep.svg"]


def test_short_connections_wait_less_behind_red(tmp_path: Path) -> None:
    text = Path("examples/web.toml").read_text()
    medians = {}
    for kind in ("drop_tail", "red"):
        (tmp_path / "web.toml").write_text(text.replace("drop_tail", kind))
        result = aqmlab.run(tmp_path / "web.toml")
        web = result.table("connections").set_index("flow").loc["web"]
        transfers = result.series("transfers")
        assert web["opened"] == len(transfers)
        assert web["completed"] == transfers["duration_s"].count()
        assert abs(web["opened"] - 60 / 0.05) < 6 * (60 / 0.05) ** 0.5
        medians[kind] = web["median_duration_s"]
    assert medians["red"] < medians["drop_tail"]


def test_fall_floyd(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.argv", ["fall_floyd.py", str(tmp_path / "losses.svg")])
    runpy.run_path("examples/fall_floyd.py", run_name="__main__")
    assert "newreno" in capsys.readouterr().out
    assert (tmp_path / "losses.svg").stat().st_size > 10_000


def test_a_mobile_link_is_as_slow_as_its_trace() -> None:
    result = aqmlab.run("examples/cellular.toml")
    flows = result.flows.set_index("flow")
    assert flows.loc["download", "acked_bytes"] == 2_000_000
    # 1500 B an opportunity, six in 40 ms.
    assert 0.5 * 1.8e6 < flows.loc["download", "goodput_bps"] < 1.8e6
    assert result.table("impairments")["lost_packets"].sum() > 0


def test_transactions_wait_less_where_flows_have_queues_of_their_own(tmp_path: Path) -> None:
    text = Path("examples/transactions.toml").read_text()
    medians = {}
    for queue in ('{ kind = "drop_tail", limit = "50 packets" }', '"fq_codel"'):
        path = tmp_path / "transactions.toml"
        path.write_text(text.replace('{ kind = "drop_tail", limit = "50 packets" }', queue))
        result = aqmlab.run(path)
        exchanges, connections = result.table("exchanges"), result.table("connections")
        assert (exchanges["requests"] == connections["opened"]).all()
        assert (exchanges["unfinished"] <= 1).all()
        replies = result.table("replies").set_index("flow")
        received = replies["received_bytes"] - replies["duplicate_bytes"]
        assert (received >= 5000 * exchanges.set_index("flow")["completed"]).all()
        medians[queue] = exchanges["median_duration_s"].median()
    drop_tail, fq_codel = medians.values()
    assert fq_codel < 0.6 * drop_tail


def test_responsiveness(tmp_path: Path) -> None:
    text = Path("examples/responsiveness.toml").read_text()
    rpm = {}
    for queue in ('{ kind = "drop_tail", limit = "200 packets" }', '"fq_codel"'):
        path = tmp_path / "responsiveness.toml"
        path.write_text(text.replace('{ kind = "drop_tail", limit = "200 packets" }', queue))
        result = aqmlab.run(path)
        rpm[queue] = result.table("exchanges").set_index("flow")["responsiveness_rpm"]
        requests, exchanges = result.series("requests"), result.table("exchanges")
        assert len(requests) == exchanges["requests"].sum()
        assert requests["completed_s"].notna().sum() == exchanges["completed"].sum()
    drop_tail, fq_codel = rpm.values()
    idle = 60 / 0.024
    assert (drop_tail < 0.25 * idle).all()
    assert 0.6 * idle < fq_codel["on-its-own"] < idle
    assert drop_tail["loaded"] < fq_codel["loaded"] < fq_codel["on-its-own"]


@pytest.mark.parametrize("file", sorted(Path("examples/experiments").glob("*.toml")), ids=str)
def test_experiments_run_and_find_something(file: Path) -> None:
    outcome = conduct(replace(Experiment.read(file), replications=Replications(2)))
    assert (outcome.runs["failed"] == "").all()
    assert all(outcome.runs[m.name].notna().any() for m in outcome.measures)
    assert any(cell.p_corrected < 0.05 for cell in outcome.estimates(by=[]))
