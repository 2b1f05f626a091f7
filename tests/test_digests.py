"""Test that release builds and debug builds have bitwise equal results.

The Rust tests compare the results of a debug build with crates/lab/tests/digests.txt. The tests of
this module compare the results of the installed extension, which is a release build, with
crates/lab/tests/digests.txt.
"""

import re
from pathlib import Path

import pytest

from aqmlab import _core
from aqmlab.results import Packed, Result

LAB = Path(__file__).parents[1] / "crates" / "lab" / "tests"
LISTED = [line.split(" ", 1) for line in (LAB / "digests.txt").read_text().splitlines()]


def two_downloads() -> str:
    """Return the scenario of the Rust tests."""
    source = (LAB / "common/mod.rs").read_text()
    match = re.search(r'TWO_DOWNLOADS: &str = r#"(.*?)"#', source, re.S)
    assert match
    return match[1]


def digest(result: Result) -> str:
    """Return the FNV-1a hash of all tables, as crates/lab/tests/common/mod.rs computes it."""
    h = 0xCBF29CE484222325
    for table in result.tables:
        parts = [table.encode()]
        for name, column in result.plain(table).items():
            parts.append(name.encode())
            parts.append("".join(column).encode() if isinstance(column, list) else column[1])
        for byte in b"".join(parts):
            h = ((h ^ byte) * 0x100000001B3) % 2**64
    return f"{h:016x}"


@pytest.mark.parametrize(("expected", "changes"), LISTED)
def test_a_release_build_has_the_listed_digest(expected: str, changes: str) -> None:
    pairs = [(key, value) for key, _, value in (c.partition("=") for c in changes.split(";"))]
    batch = _core.Batch([_core.check(two_downloads(), "toml", pairs)], 1)
    finished = batch.next(60.0)
    assert finished is not None
    result = Result.of_packed(Packed(*finished[1]))
    assert result.manifest["build"] == "release"
    assert digest(result) == expected
