"""A small scenario and the hypothesis profiles that the tests share."""

import copy
import json
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from aqmlab.engine import Engine, engine_named
from aqmlab.engine.testbed import image
from aqmlab.engine.testbed.host import missing

ROOT = Path(__file__).parents[1]

for ignored in (signal.SIGINT, signal.SIGHUP):
    # nohup and a shell's background jobs ignore these signals, and the processes that the tests
    # start would inherit the ignored signals. A handled signal is reset to its default in a new
    # process.
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(ignored, lambda *_: None)

# A busy machine generates examples slowly, which must not fail a test.
at_any_speed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("default", at_any_speed, max_examples=150, derandomize=True)
settings.register_profile("nightly", at_any_speed, max_examples=2_000)
settings.load_profile("default")

SMALL: dict[str, Any] = {
    "title": "Two short downloads",
    "seed": 7,
    "phase_breaking": {"start": "1 ms"},
    "network": {
        "kind": "dumbbell",
        "rate": "1.5 Mbit/s",
        "delay": "20 ms",
        "queue": {
            "kind": "red",
            "limit": "16 packets",
            "minth": "4 packets",
            "maxth": "12 packets",
            "wq": 0.02,
        },
        "left_rate": "10 Mbit/s",
        "left_delay": "0.5 ms",
        "right_hosts": 2,
        "right_rate": "10 Mbit/s",
        "right_delay": "0.5 ms",
    },
    "flows": [
        {
            "name": "C{i}",
            "count": 2,
            "from": "left-0",
            "to": "right-{i}",
            "traffic": {"kind": "bulk", "size": "300 kB"},
        }
    ],
    "tcp": {"ecn": "rfc3168", "receive_window": "64 KiB"},
    "record": {"interval": "50 ms", "series": ["queue", "window", "drops", "marks"]},
}


@pytest.fixture
def small() -> dict[str, Any]:
    """Return a scenario that runs in milliseconds, with drops, marks and every recorded series."""
    return copy.deepcopy(SMALL)


@pytest.fixture
def scenario(small: dict[str, Any], tmp_path: Path) -> Path:
    """Return the path of a file with the small scenario."""
    path = tmp_path / "small.json"
    path.write_text(json.dumps(small))
    return path


def back_end(name: str) -> Engine:
    """Return a back end of the testbed, or skip the test where the back end cannot run."""
    if name in ("testbed:kernel", "testbed:uml"):
        if not image.path().is_file():
            pytest.skip(f"the kernel is not built; run `{image.BUILD_COMMAND}`")
    elif why := missing():
        pytest.skip(why)
    return engine_named(name)


def repeatable(file: Path) -> bytes:
    """Return the content of a file of a run, without the times in the manifest."""
    if file.name != "manifest.json":
        return file.read_bytes()
    manifest = json.loads(file.read_text("utf-8"))
    del manifest["setup"], manifest["running"]
    return json.dumps(manifest).encode()
