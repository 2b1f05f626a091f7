"""What tshark reads in our captures is what was put there, each checksum right.

crates/wire/examples/every_header.rs writes a capture of every combination of options, with all ECN
fields and flags, over IPv4 and IPv6, and says what each packet is.
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
"""A display filter: a packet that tshark finds malformed, erroneous, or with a bad checksum."""
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
    """Return the lines that tshark prints of a capture."""
    command = ["tshark", "-n", "-r", str(capture), *SETTINGS, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def packets(capture: Path) -> list[dict[str, str]]:
    """Return the fields of each packet in a capture, those that it lacks empty."""
    wanted = [word for field in FIELDS for word in ("-e", field)]
    lines = tshark(capture, "-T", "fields", "-E", "separator=/t", *wanted)
    return [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in lines]


@pytest.fixture(scope="module", params=["headers", "whole"])
def capture(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, list[dict[str, Any]]]:
    """What is kept of a packet, the capture, and what its packets are."""
    for tool, remedy in {
        "tshark": "install it with: apt-get install tshark",
        "cargo": "see https://rustup.rs",
    }.items():
        if not shutil.which(tool):
            pytest.skip(f"captures are not read without {tool}; {remedy}")
    keep: str = request.param
    path = tmp_path_factory.mktemp("wire") / f"{keep}.pcapng"
    command = ["cargo", "run", "--locked", "-q", "-p", "wire", "--example", "every_header", "--"]
    done = subprocess.run(
        [*command, keep, str(path)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return keep, path, [json.loads(line) for line in done.stdout.splitlines()]


def number(text: str) -> int | None:
    """Read a number, decimal or hexadecimal; none if there is no text."""
    return int(text, 0) if text else None


def test_tshark_reads_what_was_written(
    capture: tuple[str, Path, list[dict[str, Any]]],
) -> None:
    _, path, written = capture
    found = packets(path)
    assert len(found) == len(written) > 800
    for packet, expected in zip(found, written, strict=True):
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


def test_tshark_finds_nothing_wrong(capture: tuple[str, Path, list[dict[str, Any]]]) -> None:
    _, path, _ = capture
    assert tshark(path, "-Y", WRONG) == []


def test_what_is_kept(capture: tuple[str, Path, list[dict[str, Any]]]) -> None:
    keep, path, _ = capture
    for packet in packets(path):
        kept, length = int(packet["frame.cap_len"]), int(packet["frame.len"])
        payload = int(packet["tcp.len"] or 0) or int(packet["udp.length"] or 8) - 8
        assert kept == (length if keep == "whole" else length - payload)
        status = packet["tcp.checksum.status"] or packet["udp.checksum.status"]
        # 1: good, 2: not verified.
        assert status == ("1" if kept == length else "2")


def test_tshark_would_find_a_flipped_bit(
    capture: tuple[str, Path, list[dict[str, Any]]], tmp_path: Path
) -> None:
    _, path, _ = capture
    damaged = tmp_path / "damaged.pcapng"
    content = bytearray(path.read_bytes())
    first = content.index(bytes([10, 0, 0, 1]))
    content[first + 3] ^= 4
    damaged.write_bytes(content)
    assert len(tshark(damaged, "-Y", WRONG)) == 1
