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
    (axes,) = figures.sequence(result, "C0").axes
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
        assert execute(["plot", graph, str(scenario), "--flow", "C1", "--out", out]) == 0
        assert Path(out).read_bytes().startswith(b"\x89PNG")
    assert execute(["plot", "window", str(folder), "--flow", "7", "--out", out]) == 2
    assert "--flow '7' is not a flow of this run; the flows are C0, C1" in capsys.readouterr().err
    span = ["--from", "3 s", "--to", "2 s", "--out", out]
    for graph in segments.SERIES:
        assert execute(["plot", graph, str(scenario), *span]) == 2
        assert "C0 has no rows between the given times" in capsys.readouterr().err
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
        (axes,) = figures.sequence(result, "web", reply=reply).axes
        (line,) = (line for line in axes.lines if line.get_label() == "ACK")
        highest = np.max(np.asarray(line.get_ydata()))
        assert highest == pytest.approx(sent, abs=0.01)
    small["record"]["series"] += ["rtt"]
    with pytest.raises(ValueError, match="has data in the reverse direction"):
        figures.rtt(aqmlab.run(small), "C0", reply=True)
