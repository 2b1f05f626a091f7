"""Tests with captures of every header: tshark must read all fields and accept all checksums.

crates/wire/examples/every_header.rs writes a capture with every combination of TCP options, all ECN
codepoints and all flags, over IPv4 and IPv6, and prints the fields of each packet.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT

SETTINGS = [f"-o{protocol}.check_checksum:TRUE" for protocol in ("ip", "tcp", "udp")]
SETTINGS.append("-otcp.relative_sequence_numbers:FALSE")
WRONG = " or ".join(
    [
        "_ws.malformed",
        "_ws.expert.severity >= 0x800000",
        *(f"{protocol}.checksum.status == 0" for protocol in ("ip", "tcp", "udp")),
    ]
)
"""Display filter for malformed or erroneous packets and for invalid checksums."""
SACK = {"sack_le": "tcp.options.sack_le", "sack_re": "tcp.options.sack_re"}
VERSIONS = {
    "ecn": ("ip.dsfield.ecn", "ipv6.tclass.ecn"),
    "dscp": ("ip.dsfield.dscp", "ipv6.tclass.dscp"),
}
PLAIN = [
    *("tcp.srcport", "tcp.dstport", "tcp.flags", "tcp.len", "tcp.seq_raw"),
    *("tcp.window_size_value", "tcp.options.mss_val", "tcp.options.wscale.shift"),
    *("tcp.options.timestamp.tsval", "tcp.options.timestamp.tsecr"),
    *(f"tcp.options.acc_ecn.{counter}" for counter in ("ee0b", "eceb", "ee1b")),
    "tcp.options.experimental.exid",
    *("udp.length", "udp.srcport"),
]
BYTES = ["tcp.options.tfo.cookie", "tcp.options.md5.digest", "tcp.options.unknown.payload"]
OTHERS = ["frame.interface_name", "frame.time_epoch", "frame.len", "frame.cap_len"]
OTHERS += ["tcp.options.sack_perm", "tcp.checksum.status", "udp.checksum.status"]
FIELDS = [*OTHERS, *PLAIN, *BYTES, *SACK.values(), *(f for pair in VERSIONS.values() for f in pair)]


def tshark(capture: Path, *arguments: str) -> list[str]:
    """Return the lines of output of tshark for a capture."""
    command = ["tshark", "-n", "-r", str(capture), *SETTINGS, *arguments]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()


def packets(capture: Path) -> list[dict[str, str]]:
    """Return the fields of each packet in a capture; an absent field is an empty text."""
    field_options = [word for field in FIELDS for word in ("-e", field)]
    lines = tshark(capture, "-T", "fields", "-E", "separator=/t", *field_options)
    return [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in lines]


@pytest.fixture(scope="module", params=["headers", "whole"])
def capture(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, list[dict[str, Any]]]:
    """Return three values: which part of each packet is captured, the capture, the fields."""
    for tool, remedy in {
        "tshark": "install it with: apt-get install tshark",
        "cargo": "see https://rustup.rs",
    }.items():
        if not shutil.which(tool):
            pytest.skip(f"these tests need {tool}; {remedy}")
    keep: str = request.param
    path = tmp_path_factory.mktemp("wire") / f"{keep}.pcapng"
    command = ["cargo", "run", "--locked", "-q", "-p", "wire", "--example", "every_header", "--"]
    process = subprocess.run(
        [*command, keep, str(path)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return keep, path, [json.loads(line) for line in process.stdout.splitlines()]


def number(text: str) -> int | None:
    """Parse a decimal or hexadecimal number; return None for an empty text."""
    return int(text, 0) if text else None


def test_tshark_reads_the_written_fields(
    capture: tuple[str, Path, list[dict[str, Any]]],
) -> None:
    _, path, written = capture
    read_packets = packets(path)
    assert len(read_packets) == len(written) > 800
    for packet, expected in zip(read_packets, written, strict=True):
        assert packet["frame.interface_name"] == expected["interface"]
        assert packet["frame.time_epoch"].replace(".", "").lstrip("0") == (
            str(expected["ns"]).lstrip("0")
        )
        for key, names in VERSIONS.items():
            read = {number(packet[name]) for name in names} - {None}
            assert key not in expected or read == {expected[key]}
        for name, field in SACK.items():
            edges = [int(edge) for edge in packet[field].split(",") if edge]
            assert edges == expected.get(name, [])
        if "sack_permitted" in expected:
            assert bool(packet["tcp.options.sack_perm"]) == expected["sack_permitted"]
            absent = [field for field in PLAIN if field not in expected]
            assert not any(packet[field] for field in absent), (packet, expected)
        for field in PLAIN:
            assert field not in expected or number(packet[field]) == expected[field], field
        for field in BYTES:
            assert packet[field].replace(":", "") == expected.get(field, "")


def test_tshark_reports_no_error(capture: tuple[str, Path, list[dict[str, Any]]]) -> None:
    _, path, _ = capture
    assert tshark(path, "-Y", WRONG) == []


def test_a_capture_has_whole_packets_or_only_headers(
    capture: tuple[str, Path, list[dict[str, Any]]],
) -> None:
    keep, path, _ = capture
    for packet in packets(path):
        captured, length = int(packet["frame.cap_len"]), int(packet["frame.len"])
        payload = int(packet["tcp.len"] or 0) or int(packet["udp.length"] or 8) - 8
        assert captured == (length if keep == "whole" else length - payload)
        status = packet["tcp.checksum.status"] or packet["udp.checksum.status"]
        # tshark's checksum status is 1 for a valid checksum and 2 for an unverified checksum.
        assert status == ("1" if captured == length else "2")


def test_tshark_reports_a_flipped_bit(
    capture: tuple[str, Path, list[dict[str, Any]]], tmp_path: Path
) -> None:
    _, path, _ = capture
    damaged = tmp_path / "damaged.pcapng"
    content = bytearray(path.read_bytes())
    first = content.index(bytes([10, 0, 0, 1]))
    content[first + 3] ^= 4
    damaged.write_bytes(content)
    assert len(tshark(damaged, "-Y", WRONG)) == 1
