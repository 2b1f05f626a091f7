"""Tests of the series and graphs of segments and of round-trip times, with a known loss."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import aqmlab
from aqmlab import figures
from aqmlab.command import execute
from aqmlab.figures import segments


@pytest.fixture
def one_download(small: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario with one download that overflows a small buffer."""
    small["network"]["queue"] = {"kind": "drop_tail", "limit": "10 packets"}
    small["flows"][0]["count"] = 1
    small["tcp"] = {"recovery": "newreno", "receive_window": "64 KiB"}
    small["record"] = {"interval": "10 ms", "series": ["segments", "rtt", "window", "drops"]}
    return small


def test_a_loss_is_retransmitted_at_the_third_duplicate_ack(one_download: dict[str, Any]) -> None:
    result = aqmlab.run(one_download)
    rows, drops = result.series("segments"), result.series("drops")
    retransmissions = rows[(rows["resent"] == 1) & (rows["bytes"] > 0)]
    flow = result.flows.iloc[0]
    assert flow["timeouts"] == 0 < flow["fast_retransmits"]
    assert len(retransmissions) == flow["retransmitted_segments"]
    # NewReno retransmits only the dropped segments.
    assert sorted(retransmissions["seq"]) == sorted(drops["seq"])
    duplicates = rows[segments.duplicate_acks(rows)]
    thirds = duplicates[duplicates.groupby("ack").cumcount() == 2]
    first = retransmissions.iloc[0]
    assert first["time_s"] == thirds["time_s"].iloc[0]
    assert first["seq"] == thirds["ack"].iloc[0] == drops["seq"].min()
    # The time between the sending and the drop of a segment is at most the access link's delay.
    for drop in drops.itertuples():
        sent = rows[(rows["direction"] == "sent") & (rows["seq"] == drop.seq)]["time_s"]
        late = drop.time_s - sent[sent <= drop.time_s].max()
        assert 0 < late < 0.05


def test_sequence_numbers_are_positions_in_the_data(one_download: dict[str, Any]) -> None:
    result = aqmlab.run(one_download)
    rows = result.series("segments")
    sent, acks = rows[rows["direction"] == "sent"], rows[rows["direction"] == "received"]
    assert list(rows["flags"].iloc[:3]) == ["SYN", "SYN ACK", "ACK"]
    data = sent[sent["bytes"] > 0]
    assert set(data["seq"].unique()) == set(range(0, 300_000, 1460))
    assert data["bytes"].sum() == result.flows["bytes_sent"].iloc[0]
    assert acks["ack"].is_monotonic_increasing
    assert acks["ack"].iloc[-1] == 300_001  # the FIN has the position after the data
    assert (rows["time_s"].diff()[1:] >= 0).all()


def test_a_round_trip_time_is_the_time_between_a_segment_and_its_ack(
    one_download: dict[str, Any],
) -> None:
    """RFC 6298: TCP measures the RTT of one segment at a time; in SRTT a sample has weight 1/8."""
    result = aqmlab.run(one_download)
    rows, samples = result.series("segments"), result.series("rtt")
    measured = samples[samples["rtt_s"].notna()]
    assert len(measured) > 5
    for sample in measured[1:].itertuples():
        ack = rows[(rows["direction"] == "received") & (rows["time_s"] == sample.time_s)].iloc[0]
        timed = sample.time_s - sample.rtt_s
        at = rows[(rows["direction"] == "sent") & np.isclose(rows["time_s"], timed, atol=1e-10)]
        assert ((at["seq"] < ack["ack"]) & (at["bytes"] > 0)).any()
    srtt = [measured["srtt_s"].iloc[0]]
    for rtt in measured["rtt_s"][1:]:
        srtt.append(0.875 * srtt[-1] + 0.125 * rtt)
    np.testing.assert_allclose(measured["srtt_s"], srtt, rtol=1e-9)


def test_sack_blocks_report_the_data_that_arrived_after_a_loss(
    one_download: dict[str, Any],
) -> None:
    one_download["tcp"] |= {"recovery": "sack", "sack": True, "ecn": "off"}
    result = aqmlab.run(one_download)
    rows, drops = result.series("segments"), result.series("drops")
    blocks = rows[rows["sack_1_left"].notna()]
    assert len(blocks) > 10
    retransmissions = rows[rows["resent"] == 1].set_index("seq")["time_s"]
    for row in blocks.itertuples():
        edges = [
            (getattr(row, f"sack_{i}_left"), getattr(row, f"sack_{i}_right")) for i in (1, 2, 3, 4)
        ]
        for left, right in edges:
            if not np.isnan(left) and right > row.ack:
                missing = drops[(drops["seq"] >= left) & (drops["seq"] < right)]["seq"]
                assert all(retransmissions[lost] < row.time_s for lost in missing)


def test_every_column_is_documented(one_download: dict[str, Any]) -> None:
    parts = Path("docs/results.md").read_text().split("\n## ")
    result = aqmlab.run(one_download)
    for name in ("segments", "rtt"):
        (part,) = (p for p in parts if p.startswith(f"{name}, reply_{name} "))
        for column in result.columns(name):
            assert f"`{column}`" in part, (name, column)


def test_only_traced_flows_are_recorded(small: dict[str, Any]) -> None:
    small["record"] = {"series": ["segments", "rtt"], "traced": ["C1"]}
    result = aqmlab.run(small)
    assert set(result.series("segments")["flow"]) == set(result.series("rtt")["flow"]) == {"C1"}
    small["record"]["traced"] = ["C2"]
    with pytest.raises(aqmlab.ScenarioError, match=r"record.traced.0: \"C2\" is not the name of a"):
        aqmlab.run(small)


def test_a_repeated_graph_is_identical(small: dict[str, Any], tmp_path: Path) -> None:
    small["record"]["series"] += ["segments", "rtt"]
    result = aqmlab.run(small)
    for draw in (figures.sequence, figures.windows, figures.rtt):
        contents = set()
        for _ in range(2):
            file = figures.save(draw(result, "C1", (0.1, 2.0)), tmp_path / "graph.svg")
            contents.add(file.read_bytes())
        assert len(contents) == 1


def test_a_graph_shows_the_whole_flow_or_the_requested_span(small: dict[str, Any]) -> None:
    small["record"]["series"] += ["segments", "rtt"]
    result = aqmlab.run(small)
    graphs = {"segments": figures.sequence, "window": figures.windows, "rtt": figures.rtt}
    for series, draw in graphs.items():
        times = segments.rows_of(result, series, "C1")["time_s"]
        first, last = times.min(), times.max()
        spans = {
            (None, None): (first, last), (0.5, None): (0.5, last), (None, 2.0): (first, 2.0),
            (0.5, 2.0): (0.5, 2.0),
        }  # fmt: skip
        for span, limits in spans.items():
            (axes,) = draw(result, "C1", span).axes
            np.testing.assert_allclose(axes.get_xlim(), limits, atol=0.08 * last, err_msg=series)
            for bound, limit in zip(span, axes.get_xlim(), strict=True):
                assert bound in (None, limit)


def test_the_sequence_graph_shows_segments_drops_marks_and_acks(small: dict[str, Any]) -> None:
    small["record"]["series"] += ["segments"]
    result = aqmlab.run(small)
    flow = result.flows.set_index("flow").loc["C0"]
    (axes,) = figures.sequence(result, "C0", (None, None)).axes
    assert axes.get_xlabel() == "time (s)"
    assert axes.get_ylabel() == "sequence number (kB)"
    paths = {c.get_label(): len(c.get_paths()) for c in axes.collections}
    points = {line.get_label(): np.size(line.get_xdata()) for line in axes.lines}
    assert paths["retransmission"] == flow["retransmitted_segments"] > 0
    assert paths["segment"] == flow["segments_sent"] - flow["retransmitted_segments"]
    assert points["mark (CE)"] == flow["marked_packets"] > 0
    assert points["drop"] == flow["dropped_packets"] > 0
    assert points["ECE"] > 0
    assert points["CWR"] > 0
    assert points["duplicate ACK"] > 0
    low, high = axes.get_ylim()
    assert low <= 0
    assert high >= 300


def test_the_command_draws_runs_and_scenarios(
    small: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario, folder = tmp_path / "small.json", tmp_path / "run"
    scenario.write_text(json.dumps(small))
    assert execute(["run", str(scenario), "--out", str(folder)]) == 0
    out = str(tmp_path / "graph.png")
    plot = ["plot", "sequence", str(folder), "--flow", "1", "--out", out]
    assert execute(plot) == 2
    assert (
        "did not record the series 'segments', which the graph draws; add it to record.series"
        in (capsys.readouterr().err)
    )
    for graph in segments.SERIES:
        Path(out).unlink(missing_ok=True)
        what = ["--link", "left>right"] if graph == "queue" else ["--flow", "C1"]
        assert execute(["plot", graph, str(scenario), *what, "--out", out]) == 0
        assert Path(out).read_bytes().startswith(b"\x89PNG")
    assert execute(["plot", "window", str(folder), "--flow", "7", "--out", out]) == 2
    assert "--flow '7' is not a flow of this run; the flows are C0, C1" in capsys.readouterr().err
    span = ["--from", "3 s", "--to", "2 s", "--out", out]
    for graph in segments.SERIES:
        assert execute(["plot", graph, str(scenario), *span]) == 2
        why = "was not sampled" if graph == "queue" else "C0 has no rows"
        assert f"{why} between the given times" in capsys.readouterr().err
    assert execute(["plot", "window", str(folder), "--out", "graph.bmp"]) == 2
    assert "must end in one of .png, .svg, .pdf" in capsys.readouterr().err


def test_duplicate_acks_follow_the_definition_of_rfc_5681() -> None:
    rows = pd.DataFrame(
        [
            ("sent", 0, 100, 0, "ACK", False),
            ("sent", 100, 100, 0, "ACK", False),
            ("received", 0, 0, 100, "ACK", False),
            ("received", 0, 0, 100, "ACK", True),
            ("received", 0, 5, 100, "ACK", False),  # this segment has data
            ("received", 0, 0, 100, "ACK FIN", False),
            ("received", 0, 0, 200, "ACK", False),
            ("received", 0, 0, 200, "ACK", False),  # no data is outstanding
        ],
        columns=["direction", "seq", "bytes", "ack", "flags", "duplicate"],
    ).assign(window_bytes=1000)
    assert list(segments.duplicate_acks(rows)) == list(rows["duplicate"])
    rows.loc[3, "window_bytes"] = 2000  # this segment is a window update
    assert not segments.duplicate_acks(rows).any()


def test_reverse_data_has_its_own_graphs(small: dict[str, Any]) -> None:
    """A graph of one direction of a flow shows only the drops of this direction."""
    result = aqmlab.run(
        {
            "network": {"kind": "dumbbell", "rate": "1 Mbit/s", "delay": "20 ms",
                        "left_rate": "10 Mbit/s", "left_delay": "1 ms",
                        "right_rate": "10 Mbit/s", "right_delay": "1 ms",
                        "queue": {"kind": "drop_tail", "limit": "5 packets"},
                        "reverse": {"queue": {"kind": "drop_tail", "limit": "5 packets"}}},
            "flows": [{"name": "web", "from": "left-0", "to": "right-0",
                       "traffic": {"kind": "request_response", "request": "60 kB",
                                   "response": "90 kB", "requests": 2}}],
            "record": {"series": ["segments", "drops", "window", "rtt"]},
        }
    )  # fmt: skip
    drops = result.series("drops")
    assert set(drops["reply"]) == {0, 1}
    assert set(drops["link"][drops["reply"] == 1]) == {"right>left"}
    for reply, sent in ((False, 120), (True, 180)):
        drops_shown = segments.rows_of(result, "drops", "web", reply=reply)
        assert 0 < len(drops_shown) == (drops["reply"] == reply).sum()
        for draw in (figures.sequence, figures.windows, figures.rtt):
            (axes,) = draw(result, "web", reply=reply).axes
        (axes,) = figures.sequence(result, "web", (None, None), reply=reply).axes
        (line,) = (line for line in axes.lines if line.get_label() == "ACK")
        highest = np.max(np.asarray(line.get_ydata()))
        assert highest == pytest.approx(sent, abs=0.01)
    small["record"]["series"] += ["rtt"]
    with pytest.raises(ValueError, match="has data in the reverse direction"):
        figures.rtt(aqmlab.run(small), "C0", reply=True)


@pytest.fixture
def long_download(small: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario whose flow C0 has a drop, and more rows than a graph shows by default."""
    small["flows"][0]["traffic"]["size"] = "2 MB"
    small["record"]["series"] = ["segments", "drops", "marks"]
    return small


def test_a_sequence_graph_shows_the_first_event_by_default(long_download: dict[str, Any]) -> None:
    result = aqmlab.run(long_download)
    (axes,) = figures.sequence(result).axes
    events = [segments.rows_of(result, name, "C0")["time_s"].min() for name in ("drops", "marks")]
    first, (low, high) = min(events), axes.get_xlim()
    assert low < first < high
    assert 0.05 < high - low < 3
    assert axes.get_title("left").endswith(("around the first drop", "around the first mark"))
    data = segments.rows_of(result, "segments", "C0")
    seen = data[(data["time_s"] >= low) & (data["time_s"] <= high) & (data["bytes"] > 0)]
    bottom, top = axes.get_ylim()
    assert bottom <= seen["seq"].min() / 1000 < seen["seq"].max() / 1000 <= top
    assert top - bottom < 3 * (seen["seq"].max() - seen["seq"].min()) / 1000
    legend = axes.figure.legends[0]
    assert axes.get_legend() is None, "the legend is outside the axes"
    assert "segment" in [text.get_text() for text in legend.get_texts()]


def test_a_sequence_graph_without_events_shows_the_opening(long_download: dict[str, Any]) -> None:
    long_download["network"]["queue"] = {"kind": "drop_tail", "limit": "1000 packets"}
    (axes,) = figures.sequence(aqmlab.run(long_download)).axes
    assert "its first 12 round trips, without drops and marks" in axes.get_title("left")
    low, high = axes.get_xlim()
    assert high - low < 2


def test_several_runs_are_overlaid(long_download: dict[str, Any]) -> None:
    long_download["record"]["series"] += ["window", "rtt", "queue"]
    queues = {"red": {}, "long": {"network.queue": "drop_tail"}}
    runs = {name: aqmlab.run(long_download, overrides=change) for name, change in queues.items()}
    for draw in (figures.windows, figures.rtt, figures.queue, figures.sequence):
        (axes,) = draw(runs).axes
        labels = axes.get_legend_handles_labels()[1]
        assert all(any(name in label for label in labels) for name in runs), labels


def test_the_figure_of_a_queue_shows_the_thresholds(small: dict[str, Any]) -> None:
    small["record"] = {"series": ["queue"], "interval": "10 ms"}
    (axes,) = aqmlab.run(small).plot.queue().axes
    assert axes.get_legend_handles_labels()[1] == [
        "queue", "average queue", "minth 4 packets", "maxth 12 packets", "limit 16 packets"
    ]  # fmt: skip
    small["network"]["queue"] = {"kind": "codel", "limit": "100 packets", "target": "20 ms"}
    (axes,) = aqmlab.run(small).plot.queue().axes
    assert axes.get_ylabel() == "queue (kB)"
    (target,) = (line for line in axes.get_lines() if line.get_label() == "target 20 ms")
    assert np.asarray(target.get_ydata())[0] == pytest.approx(1.5e6 * 0.02 / 8 / 1000)


def test_a_window_far_above_the_data_in_flight_is_cut_off(small: dict[str, Any]) -> None:
    small["flows"][0] |= {"count": 1, "traffic": {"kind": "bulk", "size": "3 MB"}}
    small["tcp"]["receive_window"] = "8 kB"
    (axes,) = aqmlab.run(small).plot.window("C0").axes
    assert axes.get_ylim()[1] < 20
    assert any("cwnd (off scale, up to " in x for x in axes.get_legend_handles_labels()[1])
    limited = aqmlab.run(small)
    small["tcp"]["receive_window"] = "64 kB"
    (axes,) = figures.windows({"limited": limited, "free": aqmlab.run(small)}, "C0").axes
    for line in axes.get_lines():
        is_above = np.nanmax(np.asarray(line.get_ydata())) > axes.get_ylim()[1]
        assert ("off scale" in str(line.get_label())) == is_above


def test_sampled_graphs_have_many_samples_of_the_shown_times(scenario: Path) -> None:
    whole = segments.load(scenario, "window")
    assert whole.shape("window")[0] / 2 > segments.SAMPLES
    part = segments.load(scenario, "window", times=(1.0, 1.5))
    times = segments.rows_of(part, "window", "C0")["time_s"]
    assert times.between(1.0, 1.5).sum() >= segments.SAMPLES
    queue = segments.load(scenario, "queue")
    assert set(queue.columns("queue")["link"]) == {"left>right"}
    for column in ("completed_s", "retransmitted_segments"):
        assert part.flows[column].equals(aqmlab.run(scenario).flows[column]), "another run"


def test_the_command_overlays_runs_and_prints_warnings(
    small: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small["flows"][0] |= {"count": 1, "traffic": {"kind": "bulk", "size": "1 MB"}}
    small["tcp"]["receive_window"] = "8 kB"
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path in paths:
        path.write_text(json.dumps(small))
    out = ["--out", str(tmp_path / "graph.pdf")]
    for graph in segments.SERIES:
        assert execute(["plot", graph, *map(str, paths), *out]) == 0
        printed = capsys.readouterr()
        assert printed.err.count("warning: connections of C{i} (1 of 1): at the end") == 1
        assert ("--from '0 s' shows the whole run" in printed.out) == (graph == "sequence")
    assert execute(["plot", "queue", str(paths[0]), "--no-warnings", *out]) == 0
    assert capsys.readouterr().err == ""
    assert execute(["run", str(paths[0]), "--out", str(tmp_path / "run")]) == 0
    wrong = {
        "the run did not record the queue of 'x>y'; it recorded left>right": [
            "queue", str(tmp_path / "run"), "--link", "x>y"
        ],
        "a run is given twice": ["window", *[str(paths[0])] * 2],
        "8 runs do not fit into one figure": ["window", *[f"{i}.toml" for i in range(8)]],
        "--link does not apply to the graph rtt": ["rtt", str(paths[0]), "--link", "left>right"],
        "--flow and --reverse do not apply": ["queue", str(paths[0]), "--flow", "0"],
        "--link 'x>y' is not a link; choose from left>right, right>left": [
            "queue", str(paths[0]), "--link", "x>y"
        ],
    }  # fmt: skip
    for message, arguments in wrong.items():
        assert execute(["plot", *arguments, *out]) == 2
        assert message in capsys.readouterr().err
