"""Test that each meter gives random packets the same colours as a reference implementation."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from references.draws import Draws
from references.meters import Srtcm, TokenBucket, Trtcm, Tswtcm
from references.program import records_of

RECORD = np.dtype(
    {
        "names": ["time", "size", "dscp", "colour"],
        "formats": ["<u8", "<u2", "u1", "u1"],
        "itemsize": 16,
    }
)
AF = {10: 0, 12: 1, 14: 2, 34: 0, 36: 1, 38: 2}
"""Initial colour per AF codepoint, by drop precedence (RFC 2597 §6); other packets are green."""


@dataclass
class Case:
    """Meter of a scenario, and a function that creates a reference meter with equal parameters."""

    name: str
    meter: dict[str, Any]
    reference: Callable[[Draws], Any]
    rate: int = 1_000_000
    largest: int = 100
    colours: int = 3


SRTCM = {"kind": "srtcm", "cir": "1 Mbit/s"}
TRTCM = {"kind": "trtcm", "pir": "1500 kbit/s", "cir": "700 kbit/s"}
BUCKET = {"kind": "token_bucket", "rate": "999983 bit/s"}
CASES = [
    Case(
        "srtcm", SRTCM | {"cbs": "400 B", "ebs": "300 B"}, lambda _: Srtcm(1_000_000, 400, 300)
    ),
    Case(
        "srtcm, whole packets", SRTCM | {"cbs": "15 kB", "ebs": "6 kB"},
        lambda _: Srtcm(1_000_000, 15_000, 6_000), largest=1500,
    ),
    Case(
        "srtcm, aware", SRTCM | {"cbs": "1 kB", "ebs": "2 kB", "mode": "colour-aware"},
        lambda _: Srtcm(1_000_000, 1000, 2000, aware=True),
    ),
    Case(
        "srtcm, odd rate", {"kind": "srtcm", "cir": "999983 bit/s", "cbs": "0 B", "ebs": "300 B"},
        lambda _: Srtcm(999_983, 0, 300), colours=2,
    ),
    Case(
        "trtcm", TRTCM | {"pbs": "500 B", "cbs": "700 B"},
        lambda _: Trtcm(1_500_000, 500, 700_000, 700),
    ),
    Case(
        "trtcm, whole packets", TRTCM | {"pbs": "20 kB", "cbs": "9 kB"},
        lambda _: Trtcm(1_500_000, 20_000, 700_000, 9_000), largest=1500,
    ),
    Case(
        "trtcm, aware", TRTCM | {"pbs": "900 B", "cbs": "300 B", "mode": "colour-aware"},
        lambda _: Trtcm(1_500_000, 900, 700_000, 300, aware=True),
    ),
    Case(
        "token bucket", BUCKET | {"burst": "250 B"}, lambda _: TokenBucket(999_983, 250), colours=2
    ),
    Case(
        "token bucket, loose", BUCKET | {"burst": "250 B", "conformance": "loose"},
        lambda _: TokenBucket(999_983, 250, loose=True), colours=2,
    ),
    Case(
        "tswtcm",
        {"kind": "tswtcm", "ctr": "700 kbit/s", "ptr": "1100 kbit/s", "avg_interval": "50 ms"},
        lambda draws: Tswtcm(draws, 700_000, 1_100_000, 0.05),
    ),
    Case(
        "tswtcm, short",
        {"kind": "tswtcm", "ctr": "1 Mbit/s", "ptr": "1 Mbit/s", "avg_interval": "20 ms"},
        lambda draws: Tswtcm(draws, 1_000_000, 1_000_000, 0.02), largest=1500, colours=2,
    ),
]  # fmt: skip


def compare(case: Case, seed: int, arrivals: int) -> None:
    """Assert that the meter and its reference give random packets the same colours."""
    spec = {
        "meter": case.meter,
        "rate": f"{case.rate} bit/s",
        "largest": case.largest,
        "seed": seed,
        "arrivals": arrivals,
    }
    records = records_of("colours", spec, RECORD)
    assert len(records) == arrivals
    reference = case.reference(Draws(seed, "meter"))
    columns = [records[name].tolist() for name in ("time", "size", "dscp", "colour")]
    for i, (time, size, dscp, colour) in enumerate(zip(*columns, strict=True)):
        expected = reference.colour(time, size, AF.get(dscp, 0))
        if colour != expected:
            pytest.fail(f"packet {i}: colour {colour}; the reference has {expected}")
    colours = Counter(records["colour"].tolist())
    assert len(colours) == case.colours
    assert min(colours.values()) > arrivals / 200, f"a colour is rare: {colours}"


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_a_meter_colours_20_000_packets_like_its_reference(case: Case) -> None:
    compare(case, seed=1, arrivals=20_000)


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_a_meter_colours_a_million_packets_like_its_reference(case: Case) -> None:
    compare(case, seed=2, arrivals=1_000_000)
