"""A sweep that is killed again and again leaves what one leaves that nobody killed.

Run as a program, this file is the sweep.
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

from aqmlab.engine import EVERYTHING, Failed, Progress, Simulator
from aqmlab.experiment import campaign
from aqmlab.results import Result
from aqmlab.scenario import normalize
from aqmlab.store import FolderStore, address, packing
from conftest import SMALL

SURE_S = 10.0
"""What ended so long before a kill is kept: far more than a commit waits for on a slow disk."""


class Logged:
    """The simulator, and a file in which each run that it ran is entered when it has ended."""

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
    """Run tiny runs, every fifth with a table in a file of its own."""
    packing.LARGE_BYTES = 1 << 10
    flow = SMALL["flows"][0] | {"traffic": {"kind": "bulk", "size": "5 kB"}}
    base = SMALL | {"flows": [flow], "record": {"interval": "5 ms"}}
    often = [base, base, base, base, base | {"record": base["record"] | {"series": ["queue"]}}]
    asks = ((normalize(often[seed % 5], seed),) for seed in range(runs))
    with FolderStore(folder) as store:
        for _ in campaign(asks, lambda _: None, engine=Logged(log), store=store, jobs=2):
            pass


def begin(*args: object) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, *map(str, args)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def logged(log: Path) -> dict[str, float]:
    """When the runs in a log ended; each is there once."""
    lines = log.read_text().split("\n")[:-1] if log.exists() else []
    ended = {where: float(at) for where, at in map(str.split, lines)}
    assert len(ended) == len(lines), "a run was run twice in one sweep"
    return ended


def kept(folder: Path) -> set[str]:
    """The runs that are kept, as they stand on the disk."""
    path = folder / "runs.sqlite"
    if not path.exists() or not path.stat().st_size:
        return set()
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        assert database.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        return {where for (where,) in database.execute("SELECT address FROM runs")}


def content(folder: Path) -> dict[str, Any]:
    """Return the stored results without the measured times of their manifests."""
    found: dict[str, Any] = {}
    with FolderStore(folder) as store:
        for run in store:
            said = {k: v for k, v in run.manifest.items() if k not in ("setup", "running")}
            columns = {
                f"{table}.{name}": column if isinstance(column, list) else column.tobytes()
                for table in run.tables
                for name, column in run.columns(table).items()
            }
            where = address(normalize(run.scenario), "logged")
            assert where is not None
            assert where not in found
            found[where] = (said, columns)
        assert store.missing(found) == set()
    return found


def kill_at_random(runs: int, kills: int, root: Path) -> None:
    """Kill a sweep so many times, resume it, and hold every step against what was kept."""
    chance = random.Random(1)
    began = time.monotonic()
    running = begin(root / "whole", runs, root / "log")
    assert running.communicate()[1] == ""
    lasts = time.monotonic() - began
    whole = content(root / "whole")
    assert len(whole) == runs
    before: set[str] = set()
    for kill in range(kills + 1):
        log = root / f"log-{kill}"
        running = begin(root / "killed", runs, log)
        if kill < kills:  # in every other a run has ended before; else it may be any instant
            while kill % 2 and not log.exists() and running.poll() is None:
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 1.5 * lasts / kills if kill % 2 else lasts / 2))
            killed = time.time()
            running.send_signal(signal.SIGKILL)
        stderr = running.communicate()[1]
        assert running.returncode in (0, -signal.SIGKILL), stderr
        ended, now = logged(log), kept(root / "killed")
        assert before <= now <= before | ended.keys(), "what is kept stays"
        assert not before & ended.keys(), "what is kept is not run again"
        if kill < kills:
            lost = {where for where in ended.keys() - now if ended[where] < killed - SURE_S}
            assert not lost, "only what had just ended is run again"
        before = now
    assert running.returncode == 0
    assert before == whole.keys()
    assert content(root / "killed") == whole
    assert not list(root.rglob("*.part"))


def test_a_few_kills_lose_nothing(tmp_path: Path) -> None:
    kill_at_random(300, 3, tmp_path)


@pytest.mark.nightly
def test_a_hundred_kills_lose_nothing(tmp_path: Path) -> None:
    kill_at_random(2000, 100, tmp_path)


@pytest.mark.nightly
def test_100_000_runs_cost_little(tmp_path: Path) -> None:
    """Runs that are nothing: what is left is what keeping them costs, and telling how far it is."""
    command = [sys.executable, __file__, str(tmp_path / "many")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert told["runs"] == 100_000
    assert told["overhead_ms"] < 0.5
    assert told["memory_mb"] < 500
    assert told["status_s"] < 1


def overhead(folder: Path, runs: int) -> dict[str, float]:
    """Keep runs that are nothing: CPU time of each but for the engine's, memory, and status."""
    from aqmlab import run
    from aqmlab.bench import memory_bytes
    from aqmlab.store import status

    (result, text) = run(SMALL | {"record": {}}), normalize(SMALL | {"record": {}})
    engines, slowest = 0.0, 0.0

    class Idle:
        build = "idle"
        capabilities = EVERYTHING

        def run(
            self, texts: Sequence[str], jobs: int | None = None, progress: Progress | None = None
        ) -> Generator[tuple[int, Result | Failed]]:
            nonlocal engines
            assert jobs == 2
            for i, text in enumerate(texts):
                began = time.process_time()
                manifest = result.manifest | {"scenario": json.loads(text)}
                outcome = Result(manifest, {t: result.columns(t) for t in result.tables})
                if progress and i % 100 == 0:
                    progress(i, len(texts))
                engines += time.process_time() - began
                yield i, outcome

    asks = ((text.replace('"seed":7', f'"seed":{seed}', 1),) for seed in range(runs))
    began, number = time.process_time(), 0
    with FolderStore(folder) as store:
        for _ in campaign(asks, lambda _: None, engine=Idle(), store=store, jobs=2):
            number += 1
            if number % 10_000 == 0:
                asked = time.monotonic()
                assert status(folder).process
                slowest = max(slowest, time.monotonic() - asked)
    spent = time.process_time() - began - engines
    memory = memory_bytes("VmHWM") / 2**20  # getrusage's begins with that of who started it
    return {
        "runs": number, "overhead_ms": 1e3 * spent / runs, "memory_mb": memory, "status_s": slowest,
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
        kept = weakref.ref(thing, end)
    else:
        Thing.__del__ = end
    try:
        del thing
        time.sleep(20)
    except KeyboardInterrupt:
        print(kind, interrupts.received, flush=True)
"""


def test_a_signal_in_a_callback_still_ends_the_process() -> None:
    """Python discards what a callback of a weak reference raises; the importer has such."""
    done = subprocess.run(
        [sys.executable, "-c", IN_A_CALLBACK], capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.stdout == f"callback {int(signal.SIGTERM)}\n__del__ {int(signal.SIGTERM)}\n"
    assert done.stderr == ""
