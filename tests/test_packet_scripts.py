"""Test that runs all packet scripts; each script tests one behaviour (tests/scripts/README.md)."""

import re
from pathlib import Path

import pytest

from aqmlab import script

SCRIPTS = sorted(Path("tests/scripts").rglob("*.pkt"))
NAMES = [str(path.relative_to("tests/scripts")) for path in SCRIPTS]


@pytest.mark.parametrize("path", SCRIPTS, ids=NAMES)
def test_the_endpoint_behaves_as_the_script_states(path: Path) -> None:
    outcome = script.run(path.read_text("utf-8"))
    assert outcome.verdict == "passed", script.describe(outcome)


def test_the_head_of_every_script_names_a_document() -> None:
    nameless = []
    for path, name in zip(SCRIPTS, NAMES, strict=True):
        lines = path.read_text("utf-8").splitlines()
        head = " ".join(line for line in lines if line.startswith("//"))
        if not re.search(r"RFC \d+|Linux|draft-|\b(19|20)\d\d\b", head):
            nameless.append(name)
    assert nameless == []
