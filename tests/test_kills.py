"""Test that a sweep that is killed repeatedly has the results of an uninterrupted sweep.

If Python executes this file as a program, it runs the sweep.
"""

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aqmlab import results
from aqmlab.engine import EVERYTHING, Failed, Progress, Simulator
from aqmlab.experiment import campaign
from aqmlab.results import Result
from aqmlab.scenario import normalize
from aqmlab.store import FolderStore, address
from conftest import SMALL

COMMIT_S = 10.0
"""Time in s after which a finished run is in the store, even on a slow disk."""


class Logged:
    """Simulator that logs the store address and the end time of each finished run."""

    build = "logged"
    capabilities = EVERYTHING

    def __init__(self, log: Path) -> None:
        self._log = log

    def run(
        self, texts: Sequence[str], jobs: int | None = None, progress: Progress | None = None
    ) -> Generator[tuple[int, Result | Failed]]:
        with self._log.open("a", buffering=1) as log:
            for i, outcome in Simulator().run(texts, jobs, progress):
                log.write(f"{address(texts[i], self.build)} {time.time()}\n")
                yield i, outcome


def sweep(folder: Path, runs: int, log: Path) -> None:
    """Run a sweep of short simulations; every fifth run stores a table in a separate file."""
    results.LARGE_BYTES = 1 << 10
    flow = SMALL["flows"][0] | {"traffic": {"kind": "bulk", "size": "5 kB"}}
    base = SMALL | {"flows": [flow], "record": {"interval": "5 ms"}}
    scenarios = [base, base, base, base, base | {"record": base["record"] | {"series": ["queue"]}}]
    requests = ((normalize(scenarios[seed % 5], seed),) for seed in range(runs))
    with FolderStore(folder) as store:
        for _ in campaign(requests, lambda _: None, engine=Logged(log), store=store, jobs=2):
            pass


def begin(*args: object) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, *map(str, args)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def logged(log: Path) -> dict[str, float]:
    """Return the end time of each run in a log; assert that the log has every run once."""
    lines = log.read_text().split("\n")[:-1] if log.exists() else []
    ended = {run: float(at) for run, at in map(str.split, lines)}
    assert len(ended) == len(lines), "the sweep executed the same run twice"
    return ended


def stored(folder: Path) -> set[str]:
    """Return the addresses of all runs in the store's database on the disk."""
    path = folder / "runs.sqlite"
    if not path.exists() or not path.stat().st_size:
        return set()
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        assert database.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        return {run for (run,) in database.execute("SELECT address FROM runs")}


def content(folder: Path) -> dict[str, Any]:
    """Return the stored results without the wall-clock times in their manifests."""
    results: dict[str, Any] = {}
    with FolderStore(folder) as store:
        for run in store:
            manifest = {k: v for k, v in run.manifest.items() if k not in ("setup", "running")}
            columns = {
                f"{table}.{name}": column if isinstance(column, list) else column.tobytes()
                for table in run.tables
                for name, column in run.columns(table).items()
            }
            run_address = address(normalize(run.scenario), "logged")
            assert run_address is not None
            assert run_address not in results
            results[run_address] = (manifest, columns)
        assert store.missing(results) == set()
    return results


def kill_at_random(runs: int, kills: int, root: Path) -> None:
    """Kill and resume a sweep repeatedly, and compare the store with the finished runs."""
    chance = random.Random(1)
    began = time.monotonic()
    running = begin(root / "whole", runs, root / "log")
    assert running.communicate()[1] == ""
    duration_s = time.monotonic() - began
    whole = content(root / "whole")
    assert len(whole) == runs
    before: set[str] = set()
    for kill in range(kills + 1):
        log = root / f"log-{kill}"
        running = begin(root / "killed", runs, log)
        if kill < kills:  # every second kill comes after a finished run, the others at any time
            while kill % 2 and not log.exists() and running.poll() is None:
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 1.5 * duration_s / kills if kill % 2 else duration_s / 2))
            killed = time.time()
            running.send_signal(signal.SIGKILL)
        stderr = running.communicate()[1]
        assert running.returncode in (0, -signal.SIGKILL), stderr
        ended, now = logged(log), stored(root / "killed")
        assert before <= now <= before | ended.keys(), "a stored run is not in the store any more"
        assert not before & ended.keys(), "the sweep executed a stored run again"
        if kill < kills:
            lost = {run for run in ended.keys() - now if ended[run] < killed - COMMIT_S}
            assert not lost, "a run that ended long before the kill is not in the store"
        before = now
    assert running.returncode == 0
    assert before == whole.keys()
    assert content(root / "killed") == whole
    assert not list(root.rglob("*.part"))


def test_a_sweep_after_3_kills_has_all_results(tmp_path: Path) -> None:
    kill_at_random(300, 3, tmp_path)


@pytest.mark.nightly
def test_a_sweep_after_100_kills_has_all_results(tmp_path: Path) -> None:
    kill_at_random(2000, 100, tmp_path)


@pytest.mark.nightly
def test_storing_a_run_takes_less_than_half_a_millisecond(tmp_path: Path) -> None:
    """The engine returns a fixed result, so only the store and the progress line need CPU time."""
    command = [sys.executable, __file__, str(tmp_path / "many")]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    costs = json.loads(process.stdout)
    assert costs["runs"] == 100_000
    assert costs["overhead_ms"] < 0.5
    assert costs["memory_mb"] < 500
    assert costs["status_s"] < 1


def overhead(folder: Path, runs: int) -> dict[str, float]:
    """Return the CPU time per stored run, the memory and the time of a status request."""
    from aqmlab import run
    from aqmlab.bench import memory_bytes
    from aqmlab.store import status

    (result, text) = run(SMALL | {"record": {}}), normalize(SMALL | {"record": {}})
    engine_s, slowest_s = 0.0, 0.0

    class Idle:
        build = "idle"
        capabilities = EVERYTHING

        def run(
            self, texts: Sequence[str], jobs: int | None = None, progress: Progress | None = None
        ) -> Generator[tuple[int, Result | Failed]]:
            nonlocal engine_s
            assert jobs == 2
            for i, text in enumerate(texts):
                began = time.process_time()
                manifest = result.manifest | {"scenario": json.loads(text)}
                outcome = Result(manifest, {t: result.columns(t) for t in result.tables})
                if progress and i % 100 == 0:
                    progress(i, len(texts))
                engine_s += time.process_time() - began
                yield i, outcome

    requests = ((text.replace('"seed":7', f'"seed":{seed}', 1),) for seed in range(runs))
    began, number = time.process_time(), 0
    with FolderStore(folder) as store:
        for _ in campaign(requests, lambda _: None, engine=Idle(), store=store, jobs=2):
            number += 1
            if number % 10_000 == 0:
                requested = time.monotonic()
                assert status(folder).process
                slowest_s = max(slowest_s, time.monotonic() - requested)
    spent = time.process_time() - began - engine_s
    memory = memory_bytes("VmHWM") / 2**20  # the value of getrusage includes the parent process
    return {
        "runs": number, "overhead_ms": 1e3 * spent / runs, "memory_mb": memory,
        "status_s": slowest_s,
    }  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sweep(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
    else:
        print(json.dumps(overhead(Path(sys.argv[1]), 100_000)))


IN_A_CALLBACK = """
import signal, time, weakref
from aqmlab import interrupts
interrupts.listen()
class Thing: pass
for kind in ("callback", "__del__"):
    interrupts.received, interrupts._raised = None, False
    interrupts.listen()
    signal.signal(signal.SIGTERM, interrupts._on_signal)
    thing = Thing()
    end = lambda *_: signal.raise_signal(signal.SIGTERM)
    if kind == "callback":
        reference = weakref.ref(thing, end)
    else:
        Thing.__del__ = end
    try:
        del thing
        time.sleep(20)
    except KeyboardInterrupt:
        print(kind, interrupts.received, flush=True)
"""


def test_a_signal_in_a_callback_still_ends_the_process() -> None:
    """Python ignores exceptions in weak-reference callbacks, which Python's importer uses."""
    process = subprocess.run(
        [sys.executable, "-c", IN_A_CALLBACK], capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert process.stdout == f"callback {int(signal.SIGTERM)}\n__del__ {int(signal.SIGTERM)}\n"
    assert process.stderr == ""
