"""Test that each example runs and that its results show the behaviour it demonstrates."""

import runpy
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

import aqmlab
from aqmlab.command import execute
from aqmlab.experiment import Experiment, Replications, conduct


def test_one_flow_has_no_drops() -> None:
    result = aqmlab.run("examples/one_flow.toml")
    assert result.flows["acked_bytes"].item() == 20 * 2**20
    assert result.links["dropped_packets"].sum() == 0
    assert result.flows["completed_s"].item() == pytest.approx(115, abs=0.2)


def test_one_flow_with_a_large_receive_window_overflows_the_queue(tmp_path: Path) -> None:
    text = Path("examples/one_flow.toml").read_text().replace('receive_window = "64240 B"', "")
    (tmp_path / "open.toml").write_text(text)
    assert aqmlab.run(tmp_path / "open.toml").links["dropped_packets"].sum() > 0


def test_the_mixed_queue_marks_the_ecn_flow_and_drops_the_other() -> None:
    flows = aqmlab.run("examples/mixed.toml").flows.set_index("flow")
    assert flows.loc["with-ecn", "marked_packets"] > 5 * flows.loc["with-ecn", "dropped_packets"]
    assert flows.loc["without-ecn", "dropped_packets"] > 0
    assert flows.loc["without-ecn", "marked_packets"] == 0


def test_the_long_flow_of_a_parking_lot_has_the_lowest_goodput() -> None:
    flows = aqmlab.run("examples/parking_lot.toml").flows.set_index("flow")["goodput_bps"]
    assert flows["long"] < flows.drop("long").min()


def test_each_customer_gets_its_configured_rate() -> None:
    flows = aqmlab.run("examples/customers.toml").flows.set_index("flow")["goodput_bps"]
    # Customer B has 6 of 10 Mbit/s. Customer A's traffic that is not web traffic has 4 Mbit/s for
    # 20 s, then 1 Mbit/s.
    payload = 1460 / 1500
    assert flows["b"] == pytest.approx(6e6 * payload, rel=0.03)
    assert flows["a-web"] == pytest.approx(3e6 * payload, rel=0.05)
    # The drops of CoDel reduce the goodput of the flow `a-other`.
    assert flows["a-other"] == pytest.approx((20 * 4e6 + 40 * 1e6) / 60 * payload, rel=0.1)


def test_a_download_within_its_profile_gets_the_rate_of_the_profile() -> None:
    """RIO rarely drops packets within the profile (Clark & Fang 1998)."""
    scenario = tomllib.loads(Path("examples/assured.toml").read_text("utf-8"))

    def goodputs() -> list[float]:
        runs = [aqmlab.run(scenario, seed=seed) for seed in range(1, 6)]
        return [run.flows.set_index("flow").loc["customer", "goodput_bps"] for run in runs]

    profile = 6e6 * 1460 / 1500
    assert min(goodputs()) > profile
    del scenario["network"]["condition"]
    assert min(goodputs()) < 0.8 * profile


def test_the_example_drop_tail_red_ecn_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path("examples/drop_tail_red_ecn.py", run_name="__main__")
    out = capsys.readouterr().out
    assert out.count("\n") == 5
    assert "RED with ECN" in out


def test_the_example_sweep_writes_a_table_and_a_figure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.argv", ["sweep.py", str(tmp_path)])
    runpy.run_path("examples/sweep.py", run_name="__main__")
    assert "drop_tail" in capsys.readouterr().out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["sweep.csv", "sweep.svg"]


def test_short_connections_finish_sooner_with_red_than_with_drop_tail(tmp_path: Path) -> None:
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


def test_the_example_fall_floyd_writes_a_figure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.argv", ["fall_floyd.py", str(tmp_path / "losses.svg")])
    runpy.run_path("examples/fall_floyd.py", run_name="__main__")
    assert "newreno" in capsys.readouterr().out
    assert (tmp_path / "losses.svg").stat().st_size > 10_000


def test_the_goodput_of_a_mobile_link_is_bounded_by_its_trace() -> None:
    result = aqmlab.run("examples/cellular.toml")
    flows = result.flows.set_index("flow")
    assert flows.loc["download", "acked_bytes"] == 2_000_000
    # The trace lets the link send six packets of 1500 B per 40 ms, that is 1.8 Mbit/s.
    assert 0.5 * 1.8e6 < flows.loc["download", "goodput_bps"] < 1.8e6
    assert result.table("impairments")["lost_packets"].sum() > 0


def test_transactions_finish_sooner_with_fq_codel_than_with_drop_tail(tmp_path: Path) -> None:
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


def test_responsiveness_under_load_is_higher_with_fq_codel_than_with_drop_tail(
    tmp_path: Path,
) -> None:
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
def test_example_experiments_run_and_have_a_significant_difference(file: Path) -> None:
    outcome = conduct(replace(Experiment.read(file), replications=Replications(2)))
    assert (outcome.runs["failed"] == "").all()
    assert all(outcome.runs[m.name].notna().any() for m in outcome.measures)
    assert any(cell.p_corrected < 0.05 for cell in outcome.estimates(by=[]))


def test_the_package_has_every_example_and_copies_them(tmp_path: Path) -> None:
    files = [*Path("examples").rglob("*.toml"), *Path("examples").glob("*.py")]
    assert execute(["examples", str(tmp_path / "copy")]) == 0
    for path in files:
        assert (tmp_path / "copy" / path.relative_to("examples")).read_bytes() == path.read_bytes()


def test_the_package_has_the_references_and_the_schema() -> None:
    data = Path("python/aqmlab/data")
    assert (data / "references.bib").read_bytes() == Path("references.bib").read_bytes()
    schema = Path("docs/reference/scenario.schema.json")
    assert (data / "scenario.schema.json").read_bytes() == schema.read_bytes()
