"""Cost of TCP options and series: instructions per packet in scenario S2, counted by valgrind.

In contrast to a measured time, the number of instructions hardly depends on the machine and its
load.
"""

import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.bench import ROOT, SCENARIOS, derived, source

if TYPE_CHECKING:
    from rich.table import Table

    from aqmlab.engine import Progress

VARIANTS = ROOT / "benches" / "variants.toml"
PROGRAM = ROOT / "target" / "release" / "examples" / "run_scenario"
SECONDS = (5, 10)
"""Durations in s of two simulated runs; their difference excludes set-up and slow start."""


def costs(progress: "Progress | None" = None) -> Iterator[dict[str, Any]]:
    """Yield one row per variant of S2: its name, and its number of instructions per packet.

    Raises
    ------
    FileNotFoundError
        If the function is called outside a checkout, or if valgrind or cargo is not installed.
    """
    if not VARIANTS.exists():
        raise FileNotFoundError(
            f"{VARIANTS} does not exist; use --variants in a checkout of the source code"
        )
    for tool in ("valgrind", "cargo"):
        if not shutil.which(tool):
            raise FileNotFoundError(f"counting instructions needs {tool}; install it")
    build = ["cargo", "build", "--release", "-q", "-p", "lab", "--example", "run_scenario"]
    subprocess.run(build, cwd=ROOT, check=True)
    known = variants()
    for i, (name, changes) in enumerate(known.items()):
        if progress:
            progress(i, len(known))
        yield {"variant": name, "instructions_per_packet": per_packet(changes)}


def variants() -> dict[str, dict[str, str]]:
    """Return the changed keys of each variant: plain S2, variants of TCP, and S2 with a series."""
    series = {name: source(name)[1] for name in derived() if name.startswith("S2+")}
    return tomllib.loads(VARIANTS.read_text()) | series


def per_packet(changes: dict[str, str]) -> float:
    """Return the number of instructions per bottleneck packet in scenario S2 after `changes`."""
    (before, fewer), (after, more) = (counted(changes, seconds) for seconds in SECONDS)
    return (after - before) / (more - fewer)


def counted(changes: dict[str, str], seconds: int) -> tuple[int, int]:
    """Return the numbers of instructions and of packets over the bottleneck in a run of S2."""
    with tempfile.TemporaryDirectory() as folder:
        out = f"--callgrind-out-file={Path(folder) / 'callgrind'}"
        command = ["valgrind", "--tool=callgrind", out, str(PROGRAM), str(SCENARIOS / "S2.toml")]
        command += [f"{key}={value}" for key, value in changes.items()]
        command.append(f"duration={seconds} s")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    instructions = re.search(r"Collected : (\d+)", done.stderr)
    packets = re.search(r"(\d+) packets over the first link", done.stdout)
    if not (instructions and packets):
        raise ChildProcessError(done.stderr.strip()[-300:])
    return int(instructions[1]), int(packets[1])


def table(rows: list[dict[str, Any]]) -> "Table":
    """Return rows of :func:`costs` as a table for the terminal, with the ratio to the first row."""
    from aqmlab import summary

    shown = summary.table("variant", "instructions per packet", "ratio")
    first = rows[0]["instructions_per_packet"]
    for row in rows:
        cost = row["instructions_per_packet"]
        shown.add_row(row["variant"], f"{cost:.0f}", f"{cost / first:.2f}")
    return shown
