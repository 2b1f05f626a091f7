"""What --pcap writes is what happened, as tshark reads it."""

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
"""Parameters of TCP with every option."""
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
"""Three ways to recover from losses."""


@pytest.fixture(autouse=True)
def _tshark() -> None:
    if not shutil.which("tshark"):
        pytest.skip("captures are not read without tshark; install it with: apt-get install tshark")


def lossy(small: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the small scenario with captures of a link and of both ends."""
    small["network"]["queue"] = {"kind": "drop_tail", "limit": "8 packets"}
    small["record"] = {
        "series": ["segments", "drops", "marks"],
        "pcap": {"on": ["left>right", "left-0", "right-0"], "keep": "whole"},
    }
    return small | changes


def packets(capture: Path) -> pd.DataFrame:
    """Return the fields of each packet; what is absent is empty."""
    wanted = [word for field in FIELDS for word in ("-e", field)]
    lines = tshark(capture, "-T", "fields", "-E", "separator=/t", *wanted)
    return pd.DataFrame([line.split("\t") for line in lines], columns=FIELDS)


@pytest.mark.parametrize(
    ("ecn", "ip"),
    [
        *((ecn, "ipv4") for ecn in ["off", "rfc3168", "ecn+", "ecn++", "dctcp", "nonce"]),
        *(("accurate", ip) for ip in ["ipv4", "ipv6"]),
    ],
)
def test_tshark_finds_nothing_wrong(
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
        found = packets(file)
        assert not found["_ws.malformed"].any()
        assert (found["_ws.expert.severity"].replace("", "0") < "8").all()  # 8388608: an error
        assert (found["tcp.checksum.status"] == "1").all()  # good
        syn = found["tcp.flags.syn"].isin(["1", "True"])
        assert (found["tcp.options.wscale.shift"][syn] == "3").all()
        assert found["tcp.options.timestamp.tsval"].ne("").all()
        back = found["tcp.len"].eq("0") & ~syn
        if file.stem == "left_to_right":
            assert len(found) == links.loc["left>right", "departed_packets"]
        else:
            assert found["tcp.options.sack_le"][back].ne("").any()
            assert found["tcp.options.acc_ecn.eceb"].ne("").any() == (ecn == "accurate")
        field = found["ip.dsfield.ecn" if ip == "ipv4" else "ipv6.tclass.ecn"]
        if file.stem == "left_to_right":
            assert field.eq("3").sum() == result.flows["marked_packets"].sum()


@pytest.mark.parametrize("recovery", SETTINGS)
def test_tshark_counts_what_we_count(recovery: str, small: dict[str, Any], tmp_path: Path) -> None:
    """Retransmissions and duplicate ACKs of each flow in the capture of the sender.

    A host sends nothing out of order: what tshark there takes for out of order, because it follows
    the highest segment by less than a round trip, is a retransmission too.
    """
    result = aqmlab.run(lossy(small, tcp=SETTINGS[recovery]), pcap=tmp_path)
    found = packets(tmp_path / "left-0.pcapng")
    segments = result.series("segments")
    for flow in result.flows.itertuples():
        sent = (found["ip.src"] == "10.0.0.1") & (found["tcp.srcport"] == str(49152 + flow.Index))
        stream = found[found["tcp.stream"] == found["tcp.stream"][sent].iloc[0]]
        ours = segments[segments["flow"] == flow.flow]
        assert len(stream) == len(ours)
        again = stream[["tcp.analysis.retransmission", "tcp.analysis.out_of_order"]].ne("")
        theirs = stream[again.any(axis=1)]
        resent = ours[(ours["resent"] == 1) & (ours["bytes"] > 0)]
        assert len(theirs) == len(resent) == flow.retransmitted_segments > 5
        assert list(theirs["tcp.seq_raw"].astype(int) - 1) == list(resent["seq"])
        duplicates = stream["tcp.analysis.duplicate_ack"].ne("").to_numpy()
        assert (duplicates == duplicate_acks(ours)).all()
        assert duplicates.sum() > 1


def test_times_are_those_of_the_simulation(small: dict[str, Any], tmp_path: Path) -> None:
    """A host's are those of its segments, a link's when a packet begins to be transmitted."""
    result = aqmlab.run(lossy(small), pcap=tmp_path)
    host = packets(tmp_path / "left-0.pcapng")["frame.time_epoch"].astype(float)
    assert host.to_numpy() == pytest.approx(result.series("segments")["time_s"], abs=1e-9)
    link = packets(tmp_path / "left_to_right.pcapng")
    times = link["frame.time_epoch"].astype(float)
    sending = (link["tcp.len"].astype(int) + 40) * 8 / 1.5e6
    idle = times.diff()[1:] - sending[:-1].to_numpy()
    assert (idle > -2e-9).all()
    assert (idle < 2e-9).mean() > 0.8  # it is the bottleneck


def test_captures_change_nothing(small: dict[str, Any], tmp_path: Path) -> None:
    scenario = lossy(small)
    with_captures = aqmlab.run(scenario, pcap=tmp_path)
    del scenario["record"]["pcap"]
    without = aqmlab.run(scenario)
    for table in without.tables:
        pd.testing.assert_frame_equal(with_captures.table(table), without.table(table))


def test_a_capture_ends_with_its_run(small: dict[str, Any], tmp_path: Path) -> None:
    """What waits then has not been transmitted."""
    result = aqmlab.run(lossy(small, duration="300 ms"), pcap=tmp_path)
    found = packets(tmp_path / "left_to_right.pcapng")
    link = result.links.set_index("link").loc["left>right"]
    assert (
        len(found) == link["departed_packets"] < link["arrived_packets"] - link["dropped_packets"]
    )
    assert found["frame.time_epoch"].astype(float).max() <= 0.3


def test_connections_that_come_and_go_have_ports_of_their_own(tmp_path: Path) -> None:
    scenario = json.loads(normalize("examples/web.toml"))
    scenario["record"]["pcap"]["on"] = [scenario["flows"][0]["from"].replace("{i}", "0")]
    result = aqmlab.run(scenario, pcap=tmp_path)
    (file,) = tmp_path.glob("*.pcapng")
    assert tshark(file, "-Y", f"tcp.analysis.reused_ports or {WRONG}") == []
    opened = result.table("connections")["opened"].sum()
    assert 1 < packets(file)["tcp.stream"].astype(int).max() + 1 <= opened + len(result.flows)


def test_the_command(
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
    wanted = [*run, "--pcap-on", "left>right", "--pcap-on", "right-1"]
    assert execute(wanted) == 0
    assert f"Captures written to {folder}" in capsys.readouterr().out
    assert (
        folder / "hosts"
    ).read_text() == "10.0.0.1\tleft-0\n10.0.0.2\tright-0\n10.0.0.3\tright-1\n"
    assert execute(wanted) == 2
    assert "has earlier captures" in capsys.readouterr().err
    assert execute([*wanted, "--force"]) == 0
    if shutil.which("tcpdump"):
        command = ["tcpdump", "-n", "-r", str(folder / "left_to_right.pcapng")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0
        assert "10.0.0.1.49152 > 10.0.0.2.49152: Flags [SEW]" in done.stdout


def test_data_goes_both_ways(small: dict[str, Any], tmp_path: Path) -> None:
    """What a host's capture has of requests and responses is what the tables count each way."""
    traffic = {"kind": "request_response", "request": "3 kB", "response": "40 kB", "requests": 10}
    flow = {"name": "F", "from": "left-0", "to": "right-0", "traffic": traffic}
    scenario = lossy(small, tcp=EVERYTHING | {"ecn": "rfc3168"}, flows=[flow])
    scenario["network"]["reverse"] = {"queue": {"kind": "drop_tail", "limit": "6 packets"}}
    result = aqmlab.run(scenario, pcap=tmp_path)
    assert result.table("exchanges")["completed"].item() == 10
    replies = result.table("replies").iloc[0]
    assert (replies["from"], replies["dropped_packets"] > 0) == ("right-0", True)
    for host, table, ip in [("left-0", "flows", "10.0.0.1"), ("right-0", "replies", "10.0.0.2")]:
        found = packets(tmp_path / f"{host}.pcapng")
        assert not found["_ws.malformed"].any()
        assert (found["_ws.expert.severity"].replace("", "0") < "8").all()
        sent = found[found["ip.src"].eq(ip)] if ip in set(found["ip.src"]) else found[:0]
        row = result.table(table).iloc[0]
        lengths = sent["tcp.len"].astype(int)
        assert len(sent) == row["packets_sent"]
        assert (lengths.sum(), (lengths > 0).sum()) == (row["bytes_sent"], row["segments_sent"])
        again = sent[["tcp.analysis.retransmission", "tcp.analysis.out_of_order"]].ne("")
        assert again.any(axis=1)[lengths > 0].sum() == row["retransmitted_segments"]
