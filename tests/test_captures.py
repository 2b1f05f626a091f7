"""Tests of the captures that the option --pcap writes, read with tshark."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import aqmlab
from aqmlab.command import execute
from aqmlab.figures.segments import duplicate_acks
from aqmlab.scenario import normalize
from test_wire import WRONG, tshark

EVERYTHING = {
    "recovery": "sack",
    "sack": True,
    "timestamps": True,
    "window": {"scaling": "on"},
    "receive_window": "300 kB",
}
"""TCP parameters that turn on every TCP option."""
FIELDS = [
    *("tcp.stream", "tcp.srcport", "tcp.len", "tcp.seq_raw"),
    *("tcp.analysis.retransmission", "tcp.analysis.out_of_order", "tcp.analysis.duplicate_ack"),
    *("frame.time_epoch", "ip.dsfield.ecn", "ipv6.tclass.ecn", "ip.src", "tcp.flags.syn"),
    *("_ws.malformed", "_ws.expert.severity", "tcp.checksum.status", "tcp.options.sack_le"),
    *("tcp.options.wscale.shift", "tcp.options.timestamp.tsval", "tcp.options.acc_ecn.eceb"),
]
SETTINGS: dict[str, dict[str, Any]] = {
    "sack": EVERYTHING,
    "newreno": {"recovery": "newreno", "window": {"scaling": "on"}},
    "reno": {"recovery": "reno", "window": {"scaling": "off"}, "receive_window": "65535 B"},
}
"""TCP parameters for three kinds of loss recovery."""


@pytest.fixture(autouse=True)
def _tshark() -> None:
    if not shutil.which("tshark"):
        pytest.skip("these tests need tshark; install it with: apt-get install tshark")


def lossy(small: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the small scenario with captures of a link and of both endpoints."""
    small["network"]["queue"] = {"kind": "drop_tail", "limit": "8 packets"}
    small["record"] = {
        "series": ["segments", "drops", "marks"],
        "pcap": {"on": ["left>right", "left-0", "right-0"], "keep": "whole"},
    }
    return small | changes


def packets(capture: Path) -> pd.DataFrame:
    """Return the fields of each packet of a capture; an absent field is an empty string."""
    field_options = [word for field in FIELDS for word in ("-e", field)]
    lines = tshark(capture, "-T", "fields", "-E", "separator=/t", *field_options)
    return pd.DataFrame([line.split("\t") for line in lines], columns=FIELDS)


@pytest.mark.parametrize(
    ("ecn", "ip"),
    [
        *((ecn, "ipv4") for ecn in ["off", "rfc3168", "ecn+", "ecn++", "dctcp", "nonce"]),
        *(("accurate", ip) for ip in ["ipv4", "ipv6"]),
    ],
)
def test_tshark_reports_no_error_in_captures(
    ecn: str, ip: str, small: dict[str, Any], tmp_path: Path
) -> None:
    scenario = lossy(small, tcp=EVERYTHING | {"ecn": ecn})
    scenario["network"]["queue"] = {
        "kind": "red", "limit": "10 packets", "minth": "2 packets", "maxth": "8 packets", "wq": 0.1
    }  # fmt: skip
    scenario["record"]["pcap"]["ip"] = ip
    result = aqmlab.run(scenario, pcap=tmp_path)
    assert result.flows["dropped_packets"].sum() > 0
    assert (result.flows["marked_packets"].sum() > 0) == (ecn != "off")
    files = sorted(f.name for f in tmp_path.iterdir())
    assert files == ["hosts", "left-0.pcapng", "left_to_right.pcapng", "right-0.pcapng"]
    links = result.links.set_index("link")
    for file in tmp_path.glob("*.pcapng"):
        capture = packets(file)
        assert not capture["_ws.malformed"].any()
        assert (capture["_ws.expert.severity"].replace("", "0") < "8").all()  # 8388608 is an error
        assert (capture["tcp.checksum.status"] == "1").all()  # 1 is a valid checksum
        syn = capture["tcp.flags.syn"].isin(["1", "True"])
        assert (capture["tcp.options.wscale.shift"][syn] == "3").all()
        assert capture["tcp.options.timestamp.tsval"].ne("").all()
        pure_acks = capture["tcp.len"].eq("0") & ~syn
        if file.stem == "left_to_right":
            assert len(capture) == links.loc["left>right", "departed_packets"]
        else:
            assert capture["tcp.options.sack_le"][pure_acks].ne("").any()
            assert capture["tcp.options.acc_ecn.eceb"].ne("").any() == (ecn == "accurate")
        field = capture["ip.dsfield.ecn" if ip == "ipv4" else "ipv6.tclass.ecn"]
        if file.stem == "left_to_right":
            assert field.eq("3").sum() == result.flows["marked_packets"].sum()


@pytest.mark.parametrize("recovery", SETTINGS)
def test_tshark_counts_the_retransmissions_and_duplicate_acks_of_the_tables(
    recovery: str, small: dict[str, Any], tmp_path: Path
) -> None:
    """Compare the retransmissions and duplicate ACKs of each flow in the sender's capture.

    Hosts send no segment out of order. tshark classifies a retransmission within one round trip of
    the highest segment as "out of order", so both classes of tshark are retransmissions.
    """
    result = aqmlab.run(lossy(small, tcp=SETTINGS[recovery]), pcap=tmp_path)
    capture = packets(tmp_path / "left-0.pcapng")
    segments = result.series("segments")
    for flow in result.flows.itertuples():
        sent = (capture["ip.src"] == "10.0.0.1") & (
            capture["tcp.srcport"] == str(49152 + flow.Index)
        )
        stream = capture[capture["tcp.stream"] == capture["tcp.stream"][sent].iloc[0]]
        recorded = segments[segments["flow"] == flow.flow]
        assert len(stream) == len(recorded)
        retransmitted = stream[["tcp.analysis.retransmission", "tcp.analysis.out_of_order"]].ne("")
        of_tshark = stream[retransmitted.any(axis=1)]
        of_series = recorded[(recorded["resent"] == 1) & (recorded["bytes"] > 0)]
        assert len(of_tshark) == len(of_series) == flow.retransmitted_segments > 5
        assert list(of_tshark["tcp.seq_raw"].astype(int) - 1) == list(of_series["seq"])
        duplicates = stream["tcp.analysis.duplicate_ack"].ne("").to_numpy()
        assert (duplicates == duplicate_acks(recorded)).all()
        assert duplicates.sum() > 1


def test_times_in_captures_are_those_of_the_simulation(
    small: dict[str, Any], tmp_path: Path
) -> None:
    """A host's capture has the time of sending; a link's capture has the start of transmission."""
    result = aqmlab.run(lossy(small), pcap=tmp_path)
    host = packets(tmp_path / "left-0.pcapng")["frame.time_epoch"].astype(float)
    assert host.to_numpy() == pytest.approx(result.series("segments")["time_s"], abs=1e-9)
    link = packets(tmp_path / "left_to_right.pcapng")
    times = link["frame.time_epoch"].astype(float)
    sending = (link["tcp.len"].astype(int) + 40) * 8 / 1.5e6
    idle = times.diff()[1:] - sending[:-1].to_numpy()
    assert (idle > -2e-9).all()
    assert (idle < 2e-9).mean() > 0.8  # the bottleneck is rarely idle


def test_captures_do_not_change_results(small: dict[str, Any], tmp_path: Path) -> None:
    scenario = lossy(small)
    with_captures = aqmlab.run(scenario, pcap=tmp_path)
    del scenario["record"]["pcap"]
    without = aqmlab.run(scenario)
    for table in without.tables:
        pd.testing.assert_frame_equal(with_captures.table(table), without.table(table))


def test_a_capture_ends_with_its_run(small: dict[str, Any], tmp_path: Path) -> None:
    """A link's capture omits the packets that are in its queue at the end of the run."""
    result = aqmlab.run(lossy(small, duration="300 ms"), pcap=tmp_path)
    capture = packets(tmp_path / "left_to_right.pcapng")
    link = result.links.set_index("link").loc["left>right"]
    assert (
        len(capture) == link["departed_packets"] < link["arrived_packets"] - link["dropped_packets"]
    )
    assert capture["frame.time_epoch"].astype(float).max() <= 0.3


def test_each_short_connection_has_its_own_ports(tmp_path: Path) -> None:
    scenario = json.loads(normalize("examples/web.toml"))
    scenario["record"]["pcap"]["on"] = [scenario["flows"][0]["from"].replace("{i}", "0")]
    result = aqmlab.run(scenario, pcap=tmp_path)
    (file,) = tmp_path.glob("*.pcapng")
    assert tshark(file, "-Y", f"tcp.analysis.reused_ports or {WRONG}") == []
    opened = result.table("connections")["opened"].sum()
    assert 1 < packets(file)["tcp.stream"].astype(int).max() + 1 <= opened + len(result.flows)


def test_the_command_writes_captures_and_refuses_unknown_links(
    small: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario, folder = tmp_path / "small.json", tmp_path / "captures"
    scenario.write_text(json.dumps(small))
    run = ["run", str(scenario), "--pcap", str(folder)]
    assert execute(run) == 2
    assert "--pcap-on 'left>right'" in capsys.readouterr().err
    assert execute([*run, "--pcap-on", "left>rihgt"]) == 2
    assert 'record.pcap.on.0: "left>rihgt" is neither a link nor a host' in capsys.readouterr().err
    assert not folder.exists()
    command = [*run, "--pcap-on", "left>right", "--pcap-on", "right-1"]
    assert execute(command) == 0
    assert f"Captures written to {folder}" in capsys.readouterr().out
    assert (
        folder / "hosts"
    ).read_text() == "10.0.0.1\tleft-0\n10.0.0.2\tright-0\n10.0.0.3\tright-1\n"
    assert execute(command) == 2
    assert "has earlier captures" in capsys.readouterr().err
    assert execute([*command, "--force"]) == 0
    if shutil.which("tcpdump"):
        tcpdump = ["tcpdump", "-n", "-r", str(folder / "left_to_right.pcapng")]
        process = subprocess.run(tcpdump, capture_output=True, text=True)
        assert process.returncode == 0
        assert "10.0.0.1.49152 > 10.0.0.2.49152: Flags [SEW]" in process.stdout


def test_a_host_capture_has_the_data_of_both_directions(
    small: dict[str, Any], tmp_path: Path
) -> None:
    """The numbers of requests and responses in a host's capture equal those of the tables."""
    traffic = {"kind": "request_response", "request": "3 kB", "response": "40 kB", "requests": 10}
    flow = {"name": "F", "from": "left-0", "to": "right-0", "traffic": traffic}
    scenario = lossy(small, tcp=EVERYTHING | {"ecn": "rfc3168"}, flows=[flow])
    scenario["network"]["reverse"] = {"queue": {"kind": "drop_tail", "limit": "6 packets"}}
    result = aqmlab.run(scenario, pcap=tmp_path)
    assert result.table("exchanges")["completed"].item() == 10
    replies = result.table("replies").iloc[0]
    assert (replies["from"], replies["dropped_packets"] > 0) == ("right-0", True)
    for host, table, ip in [("left-0", "flows", "10.0.0.1"), ("right-0", "replies", "10.0.0.2")]:
        capture = packets(tmp_path / f"{host}.pcapng")
        assert not capture["_ws.malformed"].any()
        assert (capture["_ws.expert.severity"].replace("", "0") < "8").all()
        sent = capture[capture["ip.src"].eq(ip)] if ip in set(capture["ip.src"]) else capture[:0]
        row = result.table(table).iloc[0]
        lengths = sent["tcp.len"].astype(int)
        assert len(sent) == row["packets_sent"]
        assert (lengths.sum(), (lengths > 0).sum()) == (row["bytes_sent"], row["segments_sent"])
        retransmitted = sent[["tcp.analysis.retransmission", "tcp.analysis.out_of_order"]].ne("")
        assert retransmitted.any(axis=1)[lengths > 0].sum() == row["retransmitted_segments"]
