"""Run the scenarios for the profile-guided build of `tools/wheel`: benchmarks and web users.

Usage: python tools/train.py MODULE, where MODULE is the file of the simulator's Python module
"""

import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

LINUX = ("tcp.stack", '"linux"')
TRAINING = [
    ("benches/scenarios/S1.toml", "300 s", []),
    ("benches/scenarios/S1-ecn.toml", "300 s", []),
    ("benches/scenarios/S2.toml", "20 s", []),
    ("benches/scenarios/S2-sack.toml", "20 s", []),
    ("benches/scenarios/S2.toml", "20 s", [LINUX]),
    ("benches/scenarios/S6.toml", "3 s", []),
    ("examples/web_users.toml", "60 s", []),
]
"""Per scenario: its file, its duration and its changed keys."""

root = Path(__file__).parents[1]
loader = ExtensionFileLoader("_core", sys.argv[1])
core = module_from_spec(spec_from_loader("_core", loader))
loader.exec_module(core)
for name, seconds, changes in TRAINING:
    text = (root / name).read_text("utf-8")
    changed = [("duration", f'"{seconds}"'), *changes]
    core.Batch([core.check(text, "toml", changed)], 1).next(3600)
