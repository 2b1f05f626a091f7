"""Cost of each TCP option and variant: instructions per packet of S2, counted by valgrind.

In contrast to times, counts of instructions hardly depend on the machine and its load.
"""

import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.bench import ROOT, SCENARIOS

if TYPE_CHECKING:
    from rich.table import Table

    from aqmlab.engine import Progress

VARIANTS = ROOT / "benches" / "variants.toml"
PROGRAM = ROOT / "target" / "release" / "examples" / "run_scenario"
SECONDS = (5, 10)
"""Durations of two runs, in s. Their difference excludes set-up and the first slow start."""


def costs(progress: "Progress | None" = None) -> Iterator[dict[str, Any]]:
    """Yield a row for each variant: its name and its instructions per packet.

    Raises
    ------
    FileNotFoundError
        If the function runs outside a checkout, or if valgrind or cargo is not installed.
    """
    if not VARIANTS.exists():
        raise FileNotFoundError(f"{VARIANTS} does not exist; count the variants in a checkout")
    for tool in ("valgrind", "cargo"):
        if not shutil.which(tool):
            raise FileNotFoundError(f"counting instructions needs {tool}; install it")
    build = ["cargo", "build", "--release", "-q", "-p", "lab", "--example", "run_scenario"]
    subprocess.run(build, cwd=ROOT, check=True)
    variants = tomllib.loads(VARIANTS.read_text())
    for i, (name, changes) in enumerate(variants.items()):
        if progress:
            progress(i, len(variants))
        yield {"variant": name, "instructions_per_packet": per_packet(changes)}


def per_packet(changes: dict[str, str]) -> float:
    """Return the instructions per bottleneck packet of S2 with these changes."""
    (before, fewer), (after, more) = (counted(changes, seconds) for seconds in SECONDS)
    return (after - before) / (more - fewer)


def counted(changes: dict[str, str], seconds: int) -> tuple[int, int]:
    """Return the instructions and the bottleneck packets of a run of S2 of this duration."""
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
    """Return rows of :func:`costs` as a table for the terminal, with ratios to the first row."""
    from aqmlab import summary

    shown = summary.table("variant", "instructions per packet", "ratio")
    first = rows[0]["instructions_per_packet"]
    for row in rows:
        cost = row["instructions_per_packet"]
        shown.add_row(row["variant"], f"{cost:.0f}", f"{cost / first:.2f}")
    return shown
