"""Test that result tables in memory and in files are equal, and that files appear atomically."""

import html
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import PIL.Image
import pytest
from rich.console import Console

import aqmlab
from aqmlab import figures
from aqmlab.folder import appearing
from aqmlab.scenario import normalize
from aqmlab.summary import show
from conftest import repeatable

TABLES = ["flows", "links", "queue", "window", "drops", "marks"]


def test_csv_files_parquet_files_and_the_result_are_equal(
    small: dict[str, Any], tmp_path: Path
) -> None:
    result = aqmlab.run(small)
    folder = result.write(tmp_path / "run")
    stored = aqmlab.Result.read(folder)
    assert stored.manifest == result.manifest
    assert result.tables == stored.tables == TABLES
    for name in TABLES:
        table = result.table(name)
        csv = pd.read_csv(folder / f"{name}.csv")
        pd.testing.assert_frame_equal(stored.table(name), table)
        pd.testing.assert_frame_equal(csv, table, check_dtype=False)


def test_the_figure_of_a_queue_has_the_unit_of_its_average(small: dict[str, Any]) -> None:
    for thresholds, unit, scale, label in (
        ("packets", "packets", 1, "queue (packets)"),
        ("kB", "bytes", 1000, "queue (kB)"),
    ):
        small["network"]["queue"] |= {"minth": f"2 {thresholds}", "maxth": f"8 {thresholds}"}
        result = aqmlab.run(small)
        (axes,) = figures.queue(result, "left>right").axes
        rows = result.series("queue").query("link == 'left>right'")
        assert axes.get_ylabel() == label
        lines = {line.get_label(): np.asarray(line.get_ydata()) for line in axes.get_lines()}
        np.testing.assert_allclose(lines["queue"], rows[f"queue_{unit}"] / scale)
        np.testing.assert_allclose(lines["average queue"], rows[f"average_{unit}"] / scale)


def test_a_run_with_a_warm_up_has_the_counts_after_the_warm_up(small: dict[str, Any]) -> None:
    """The counts after a warm-up equal the counts of the whole run minus those of the warm-up."""
    runs = {
        name: aqmlab.run(small | {"record": {"series": []}} | changes)
        for name, changes in {
            "whole": {}, "early": {"duration": "500 ms"}, "late": {"warm_up": "500 ms"},
        }.items()
    }  # fmt: skip
    for table, columns in (
        ("links", ["arrived_packets", "dropped_packets", "marked_packets", "departed_bytes"]),
        ("flows", ["acked_bytes", "segments_sent", "timeouts", "dropped_packets"]),
    ):
        whole, early, late = (run.table(table)[columns] for run in runs.values())
        assert (late == whole - early).all(axis=None)
        assert 0 < late.sum().sum() < whole.sum().sum()
    assert runs["late"].scenario["warm_up"] == "500 ms"


def test_the_tables_of_a_run_are_consistent(small: dict[str, Any]) -> None:
    result = aqmlab.run(small)
    flows, links = result.flows, result.links.set_index("link")
    drops, marks = result.series("drops"), result.series("marks")
    assert (flows["acked_bytes"] == 300_000).all()
    assert len(drops) == links["dropped_packets"].sum() > 0
    assert len(marks) == links["marked_packets"].sum() > 0
    assert (flows["marked_packets"] == [(marks["flow"] == f).sum() for f in flows["flow"]]).all()
    assert (flows["segments_sent"] >= flows["received_segments"]).all()
    lost = flows["segments_sent"].sum() - flows["received_segments"].sum()
    assert lost == flows["dropped_packets"].sum()
    goodput = flows["acked_bytes"] * 8 / (flows["completed_s"] - flows["start_s"])
    np.testing.assert_allclose(flows["goodput_bps"], goodput)
    assert links["utilization"].between(0, 1).all()
    assert result.series("queue")["queue_packets"].max() <= 16


def test_a_missing_time_is_empty(small: dict[str, Any], tmp_path: Path) -> None:
    result = aqmlab.run(small | {"duration": "1 s"})
    assert result.flows["completed_s"].isna().all()
    folder = result.write(tmp_path / "run")
    assert pd.read_csv(folder / "flows.csv")["closed_s"].isna().all()
    assert pd.read_parquet(folder / "flows.parquet")["closed_s"].isna().all()


def test_a_series_that_was_not_recorded_is_an_error(small: dict[str, Any]) -> None:
    result = aqmlab.run(small | {"record": {"series": ["drops"]}})
    with pytest.raises(
        KeyError, match=r"queue.* is not a table of this run, which has flows, links, drops"
    ):
        result.series("queue")


def test_the_same_scenario_and_seed_give_identical_files(
    small: dict[str, Any], tmp_path: Path
) -> None:
    scenarios = [small | {"seed": seed} for seed in range(4)]
    folders = []
    for jobs in (1, 2):
        for i, result in enumerate(aqmlab.run_many(scenarios, jobs=jobs)):
            folders.append(result.write(tmp_path / f"{jobs}-{i}"))
    for one, two in zip(folders[:4], folders[4:], strict=True):
        for file in one.iterdir():
            assert repeatable(file) == repeatable(two / file.name), file
    assert len({(f / "flows.csv").read_bytes() for f in folders[:4]}) == 4


def test_every_column_is_documented(small: dict[str, Any]) -> None:
    parts = Path("docs/results.md").read_text().split("\n## ")
    result = aqmlab.run(small)
    for name in TABLES:
        part = next(p for p in parts if name in p.splitlines()[0].replace(",", "").split())
        for column in result.columns(name):
            assert f"`{column}`" in part, (name, column)


@pytest.mark.parametrize("error", [OSError("no space left on device"), KeyboardInterrupt()])
def test_a_folder_is_written_completely_or_not_at_all(error: BaseException, tmp_path: Path) -> None:
    final = tmp_path / "final"

    def write(name: str, error: BaseException | None) -> None:
        with appearing(final, "aqmlab run") as place:
            (place / name).write_text("half")
            if error:
                raise error

    write("old", None)
    with pytest.raises(type(error)):
        write("new", error)
    assert sorted(p.name for p in tmp_path.rglob("*")) == [".aqmlab", "final", "old"]
    write("new", None)
    assert sorted(p.name for p in tmp_path.rglob("*")) == [".aqmlab", "final", "new"]


def test_figures_are_reproducible(small: dict[str, Any], tmp_path: Path) -> None:
    result = aqmlab.run(small)
    for i in range(2):
        figures.save(figures.queue(result, "left>right"), tmp_path / f"queue-{i}.svg")
        figures.save(figures.window(result, ["C1"]), tmp_path / f"window-{i}.png")
    for name in ("queue-{}.svg", "window-{}.png"):
        first, second = ((tmp_path / name.format(i)).read_bytes() for i in range(2))
        assert first == second
    with pytest.raises(KeyError, match="right>nowhere"):
        figures.queue(result, "right>nowhere")


def test_a_figure_states_its_scenario_seed_and_version(
    small: dict[str, Any], tmp_path: Path
) -> None:
    small["title"] = "Two ½ downloads <&>"
    result = aqmlab.run(small)
    for suffix in figures.FORMATS:
        path = figures.save(result.plot.queue(), tmp_path / f"queue{suffix}")
        assert f"Drawn by aqmlab {aqmlab.__version__}".encode() in path.read_bytes()
    origin = f"Two ½ downloads <&>; seed 7; aqmlab {aqmlab.__version__}"
    assert html.escape(origin) in (tmp_path / "queue.svg").read_text("utf-8")
    assert origin.encode("utf-16-be") in (tmp_path / "queue.pdf").read_bytes()
    with PIL.Image.open(tmp_path / "queue.png") as image:
        assert image.size == (1400, 740)  # The second row of the legend has 40 pixels.
        assert image.info["Description"] == origin
        assert image.info["Title"] == "queue (packets) over time (s): left>right"


def test_connections_and_transfers_are_read_from_files(tmp_path: Path) -> None:
    result = aqmlab.run("examples/web.toml")
    result.write(tmp_path / "out")
    stored = aqmlab.Result.read(tmp_path / "out")
    assert stored.tables == result.tables == ["flows", "links", "connections", "transfers"]
    for name in ("connections", "transfers"):
        pd.testing.assert_frame_equal(stored.table(name), result.table(name))


def test_the_delivery_rates_of_two_flows_add_up_to_the_link_rate() -> None:
    """Recording the delivery rate does not change the run. Delivery rates exclude the headers."""
    flow = {"from": "left-0", "to": "right-0", "start": "0 s", "traffic": "bulk"}
    base = {
        "duration": "10 s",
        "network": {
            "kind": "dumbbell",
            "rate": "10 Mbit/s",
            "delay": "5 ms",
            "queue": {"kind": "fq_codel"},
            "left_rate": "1 Gbit/s",
            "left_delay": "0 s",
            "right_rate": "1 Gbit/s",
            "right_delay": "0 s",
        },
        "flows": [flow | {"name": "a"}, flow | {"name": "b"}],
        "tcp": {"stack": "linux"},
    }
    run = aqmlab.run(base | {"record": {"series": ["delivery_rate"], "interval": "10 ms"}})
    pd.testing.assert_frame_equal(run.flows, aqmlab.run(base).flows)
    series = run.series("delivery_rate")
    assert series["delivery_rate_bps"][series["time_s"] == 0].isna().all()
    means = series[series["time_s"] > 5].groupby("flow", observed=True)["delivery_rate_bps"].mean()
    assert means["a"] == pytest.approx(means["b"], rel=0.05)
    assert 0.95 < means.sum() / (10e6 * 1448 / 1500) < 1.0
    plain = base | {"tcp": {"sack": False}, "record": {"series": ["delivery_rate"]}}
    assert aqmlab.run(plain).series("delivery_rate")["delivery_rate_bps"].isna().all()


def test_series_of_both_endpoints_are_read_from_files(tmp_path: Path) -> None:
    changes = [("record.series", '["window", "rtt"]'), ("duration", "2 s")]
    text = normalize(Path("examples/responsiveness.toml"), overrides=changes)
    result = aqmlab.run(json.loads(text))
    result.write(tmp_path / "out")
    stored = aqmlab.Result.read(tmp_path / "out")
    assert stored.tables == result.tables
    assert result.tables[-4:] == ["window", "reply_window", "rtt", "reply_rtt"]
    assert stored.series("reply_rtt").equals(result.series("reply_rtt"))
    assert len(stored.series("reply_rtt"))


def test_the_table_of_classes_is_read_from_files_documented_and_printed(
    small: dict[str, Any], tmp_path: Path
) -> None:
    small["network"]["queue"] = {"kind": "phb", "limit": "12 packets"}
    result = aqmlab.run(small)
    result.write(tmp_path / "out")
    stored = aqmlab.Result.read(tmp_path / "out")
    classes = result.table("classes")
    pd.testing.assert_frame_equal(stored.table("classes"), classes)
    one = classes[classes["link"] == classes["link"][0]]
    assert one["class"].tolist() == ["0", "1", "2", "2.0", "2.1", "2.2", "2.3", "2.4", "3"]
    assert one["arrived_packets"].sum() == 2 * result.links["arrived_packets"][0] > 0
    documented = Path("docs/results.md").read_text().split("\n## classes\n")[1].split("\n## ")[0]
    assert all(f"`{column}`" in documented for column in classes.columns)
    console = Console(width=120, record=True, file=io.StringIO())
    show(result, console)
    assert any(
        line.split()[1:3] == ["2.4", str(one["arrived_packets"].iloc[7])]
        for line in console.export_text().splitlines()
        if line.startswith(" " + one["link"].iloc[7])
    )


@pytest.mark.parametrize("kind", ["drop_tail", "red", "codel", "fq_codel"])
def test_delays_obey_littles_law(small: dict[str, Any], kind: str) -> None:
    """The mean number of queued packets is their rate times their mean delay (Little 1961)."""
    small["network"]["queue"] = {"kind": kind, "limit": "16 packets"}
    small["flows"][0]["traffic"]["size"] = "2 MB"
    series = ["queue", "delays", "waits"]
    small["record"] = {"interval": "1 ms", "series": series, "links": ["left>right"]}
    result = aqmlab.run(small)
    delays = result.series("delays").iloc[0]
    assert delays["link"] == "left>right"
    links = result.links.set_index("link")
    assert delays["packets"] == links.loc["left>right", "departed_packets"]
    waiting = result.series("queue")["queue_packets"].mean()
    rate = delays["packets"] / result.manifest["simulated_s"]
    assert rate * delays["mean_delay_s"] == pytest.approx(waiting, rel=0.01)
    order = ["median", "p95", "p99", "longest"]
    percentiles = [delays[f"{name}_delay_s"] for name in order]
    assert percentiles == sorted(percentiles)
    waits = result.series("waits")
    assert waits["packets"].sum() == delays["packets"]
    mean = np.average(waits["wait_s"], weights=waits["packets"])
    assert mean == pytest.approx(delays["mean_delay_s"], rel=0.008)
    quantile = waits["wait_s"][waits["packets"].cumsum() >= 0.95 * delays["packets"]].iloc[0]
    assert quantile == pytest.approx(delays["p95_delay_s"])


def test_delays_of_skipped_hops_equal_those_of_simulated_hops(small: dict[str, Any]) -> None:
    """The simulator can skip a hop, unless a series samples the hop; the delays are the same."""
    small["record"] = {"series": ["delays"]}
    skipped = aqmlab.run(small)
    small["record"] = {"series": ["delays", "queue"], "interval": "1 s"}
    simulated = aqmlab.run(small)
    assert skipped.manifest["events"] < simulated.manifest["events"]
    delays = skipped.series("delays")
    assert len(delays) == len(skipped.links)
    pd.testing.assert_frame_equal(delays, simulated.series("delays"))
