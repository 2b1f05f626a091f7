"""Runner of the programs in crates/queues/examples, which record the simulator's decisions."""

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from conftest import ROOT


@cache
def program(example: str) -> Path:
    """Build a program with cargo's profile of the Rust tests, and return its path."""
    cargo = ["cargo", "build", "--locked", "-q", "-p", "aqmlab-queues"]
    subprocess.run([*cargo, "--example", example], check=True, cwd=ROOT)
    return ROOT / "target" / "debug" / "examples" / example


def records_of(example: str, spec: dict[str, Any], record: np.dtype) -> np.ndarray:
    """Run a program with a JSON text on its standard input; return the records that it writes."""
    done = subprocess.run(
        [program(example)], input=json.dumps(spec).encode(), capture_output=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr.decode()
    return np.frombuffer(done.stdout, record)
