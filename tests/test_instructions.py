"""Test of the simulator's number of instructions against the counts in benches/instructions.json.

The counts do not depend on the speed of the machine. The counts depend on the compiler, whose
version is in benches/instructions.json, and on cargo's profile, which is the profile of ``make``.
``.venv/bin/python tests/test_instructions.py`` measures the counts and writes them into the file.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from aqmlab.scenario import normalize
from conftest import ROOT

FIGURES = ROOT / "benches" / "instructions.json"
MODULE = ROOT / "python" / "aqmlab" / "_core.abi3.so"
RUN = """
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader

loader = ExtensionFileLoader("_core", sys.argv[1])
core = module_from_spec(spec_from_loader("_core", loader))
loader.exec_module(core)
core.Batch([open(sys.argv[2]).read()], 1).next(3600)
"""
"""Program that runs one scenario and imports only the compiled module, not the package aqmlab."""
TOLERANCE = 0.05
RENEW = "run `.venv/bin/python tests/test_instructions.py` and commit the counts"
SHORT = {
    "S1": ("200 MiB", "1 MiB", "1 kB"),
    "S1-ecn": ("200 MiB", "1 MiB", "1 kB"),
    "S1-sack": ("200 MiB", "1 MiB", "1 kB"),
    "S2": ('duration = "60 s"', 'duration = "2 s"', 'duration = "1 ms"'),
    "S2-sack": ('duration = "60 s"', 'duration = "2 s"', 'duration = "1 ms"'),
    "S2-linux": ('duration = "60 s"', 'duration = "2 s"', 'duration = "1 ms"'),
    "S3-sack": ('duration = "20 s"', 'duration = "300 ms"', 'duration = "1 ms"'),
}
"""Duration per scenario: in the file, in a short run, and in a run of (nearly) only the set-up."""
IN_CI = ("S1-ecn", "S2-sack", "S2-linux")
"""Scenarios of every CI run: both senders, RED with marks, and the stack of Linux."""
CHANGED = {"S2-linux": ("S2", "[tcp]", '[tcp]\nstack = "linux"')}
"""Scenarios derived from another scenario: name of that scenario, text to replace, and new text."""


def compiler() -> str:
    """Return the version and the target of the Rust compiler."""
    about = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True, cwd=ROOT)
    version, *_, host = re.findall(r"^(rustc .*|host: .*)$", about.stdout, re.MULTILINE)
    return f"{version} for {host.removeprefix('host: ')}"


def instructions(text: str, folder: Path) -> int:
    """Return the number of instructions of a run of a scenario, including its set-up."""
    source, scenario = folder / "scenario.toml", folder / "scenario.json"
    source.write_text(text)
    scenario.write_text(normalize(source))
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder / 'callgrind'}"]
    python = [sys.executable, "-I", "-c", RUN, str(MODULE), str(scenario)]
    process = subprocess.run(
        [*valgrind, *python],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONHASHSEED": "0"},
    )
    collected = re.search(r"Collected : (\d+)", process.stderr)
    assert process.returncode == 0, process.stderr
    assert collected, process.stderr
    return int(collected[1])


def simulation(scenario: str, folder: Path) -> int:
    """Return the number of instructions of a short version of a scenario, without its set-up."""
    file, old, new = CHANGED.get(scenario, (scenario, "", ""))
    text = (ROOT / "benches" / "scenarios" / f"{file}.toml").read_text().replace(old, new, 1)
    full, short, setup = SHORT[scenario]
    assert text.count(full) == 1, f"{scenario} must have one text {full!r}"
    counts = [instructions(text.replace(full, part), folder) for part in (short, setup)]
    return counts[0] - counts[1]


@pytest.fixture(scope="module")
def expected() -> dict[str, int]:
    """Return the committed counts; skip the test if they were measured with another compiler."""
    for tool, remedy in {
        "valgrind": "install it with: apt-get install valgrind",
        "cargo": "see https://rustup.rs",
    }.items():
        if not shutil.which(tool):
            pytest.skip(f"instructions are not counted without {tool}; {remedy}")
    figures = json.loads(FIGURES.read_text())
    if figures["compiler"] != compiler():
        pytest.skip(f"figures are for {figures['compiler']}, here is {compiler()}; {RENEW}")
    counts: dict[str, int] = figures["instructions"]
    return counts


@pytest.mark.parametrize(
    "scenario",
    [name if name in IN_CI else pytest.param(name, marks=pytest.mark.nightly) for name in SHORT],
)
def test_the_instructions_of_a_run_are_within_5_percent_of_the_committed_count(
    scenario: str, expected: dict[str, int], tmp_path: Path
) -> None:
    before, now = expected[scenario], simulation(scenario, tmp_path)
    change = now / before - 1
    assert abs(change) <= TOLERANCE, (
        f"{scenario}: {now:,} instructions, {before:,} are committed ({change:+.1%}, "
        f"{TOLERANCE:.0%} are allowed). If the change is intended, {RENEW}"
    )


def renew() -> None:
    """Count the instructions of all scenarios and write benches/instructions.json."""
    with tempfile.TemporaryDirectory() as folder:
        counts = {scenario: simulation(scenario, Path(folder)) for scenario in SHORT}
    figures = {"compiler": compiler(), "instructions": counts}
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    renew()
