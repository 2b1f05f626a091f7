"""Tests of runs on a Dask cluster: its workers are killed, start late or have another build."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from distributed import KilledWorker

import aqmlab
from aqmlab import _core
from aqmlab.command import execute
from aqmlab.engine import Engine, Failed, Simulator
from aqmlab.engine.cluster import Cluster, Finished, NoClusterError, connect
from aqmlab.experiment import campaign
from aqmlab.results import Result
from aqmlab.scenario import normalize
from aqmlab.store import FolderStore
from conftest import ROOT, SMALL

PACKAGE = str(ROOT / "python")


class Dask:
    """Dask scheduler and its workers, which run in separate processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._begin(
            "scheduler", "--host", "127.0.0.1", "--port", self.port, "--no-dashboard"
        )

    @property
    def name(self) -> str:
        """Value of the option --executor that selects this Dask scheduler."""
        return f"dask://127.0.0.1:{self.port}"

    def worker(self, package: str = PACKAGE) -> None:
        """Start another worker, which imports aqmlab from the folder `package`."""
        self.workers.append(self._begin(
            "worker", f"127.0.0.1:{self.port}", "--nthreads", 1, "--no-nanny", "--no-dashboard",
            "--local-directory", self.folder, package=package,
        ))  # fmt: skip

    def _begin(self, kind: str, *args: Any, package: str = PACKAGE) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *map(str, args)]
        return subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder,
            env=os.environ | {"PYTHONPATH": package},
        )  # fmt: skip

    def end(self) -> None:
        """Kill the workers and the scheduler."""
        for process in [*self.workers, self.scheduler]:
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Dask]:
    cluster = Dask(tmp_path)
    try:
        while True:
            assert cluster.scheduler.poll() is None
            with suppress(OSError), socket.create_connection(("127.0.0.1", cluster.port)):
                break
            time.sleep(0.1)
        yield cluster
    finally:
        cluster.end()


def another_build(folder: Path) -> str:
    """Return the folder of a copy of the package; its simulator has an additional unused byte."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "python" / "aqmlab", folder / "aqmlab", ignore=ignored)
    with (folder / "aqmlab" / Path(str(_core.__file__)).name).open("ab") as file:
        file.write(b"\0")
    return str(folder)


def endless() -> str:
    flow = SMALL["flows"][0] | {"traffic": "bulk"}
    return normalize(SMALL | {"flows": [flow], "duration": "3000000 s", "record": {}})


def content(folder: Path, engine: Engine, requests: list[tuple[str, ...]]) -> dict[str, Any]:
    """Return the content of a store after a campaign, without the times in its manifests."""
    with FolderStore(folder) as store:
        for _ in campaign(requests, lambda _: None, engine=engine, store=store):
            pass
        runs = {}
        for run in store:
            manifest = {k: v for k, v in run.manifest.items() if k not in ("setup", "running")}
            tables = {name: run.table(name).to_csv() for name in run.tables}
            runs[json.dumps(manifest)] = tables
    return runs


def test_the_loss_of_a_worker_does_not_change_results(dask: Dask, tmp_path: Path) -> None:
    requests: list[tuple[str, ...]] = [(normalize(SMALL, seed),) for seed in range(60)]
    for _ in range(3):
        dask.worker()
    with connect(dask.name) as cluster:
        finished: list[int] = []

        class Killing:
            build = cluster.build
            capabilities = cluster.capabilities

            def run(self, *args: Any) -> Iterator[tuple[int, Result | Failed]]:
                for index, outcome in cluster.run(*args):
                    finished.append(index)
                    if len(finished) == 15:
                        dask.workers[1].send_signal(signal.SIGKILL)
                    yield index, outcome

        swept = content(tmp_path / "cluster", Killing(), requests)  # type: ignore[arg-type]
        assert sorted(finished) == list(range(60))
        assert swept == content(tmp_path / "here", Simulator(), requests)
        assert len(swept) == 60
        refused = json.loads(requests[0][0]) | {"seed": "x"}
        with pytest.raises(aqmlab.ScenarioError, match="seed"):
            list(cluster.run([requests[0][0], json.dumps(refused)]))
        short = normalize(json.loads(endless()) | {"duration": None, "time_limit": "1 s",
                                                   "flows": SMALL["flows"]})  # fmt: skip
        outcomes = dict(cluster.run([short, requests[0][0]]))
        assert isinstance(outcomes[0], Failed)
        assert isinstance(outcomes[0].error, aqmlab.ScenarioError)
        assert isinstance(outcomes[1], Result)
        dask.worker(another_build(tmp_path / "other"))
        everything = [text for (text,) in requests] * 100
        with pytest.raises(NoClusterError) as error:
            list(cluster.run(everything))
        assert "must be the same on all workers as on this machine" in str(error.value)
        assert str(error.value).count("tcp://") == 1, "only the worker of another build is named"
        assert error.value.args[0].endswith("install this build on the other workers, or stop them")


class Worker:
    """Client of a cluster that runs each task at once, with one core.

    Attributes
    ----------
    tasks : list of list of str
        Scenarios of each task.
    """

    scheduler = SimpleNamespace(address="here")
    status = "running"

    def __init__(self, run: Callable[[list[str]], Finished]) -> None:
        self._run, self.tasks = run, list[list[str]]()

    def scheduler_info(self) -> dict[str, Any]:
        return {"workers": {"one": {"nthreads": 1}}}

    def submit(self, _: Any, __: str, texts: list[str], *___: Any, pure: bool) -> "Worker.Task":
        assert not pure
        self.tasks.append(texts)
        return Worker.Task(lambda: self._run(texts))

    def cancel(self, futures: list[Any]) -> None:
        assert not futures

    @dataclass(eq=False)
    class Task:
        """Future of a task."""

        result: Callable[[], Finished]

        def add_done_callback(self, call: Callable[["Worker.Task"], None]) -> None:
            call(self)


def run_in_time(texts: list[str]) -> Finished:
    return Finished([outcome for _, outcome in Simulator().run(texts, 1)], in_time=True)


def run_first(texts: list[str]) -> Finished:
    return Finished(run_in_time(texts[:1]).outcomes, in_time=False)


def lose_workers(texts: list[str]) -> Finished:
    if len(texts) > 1 or '"seed":3,' in texts[0]:
        raise KilledWorker("task", SimpleNamespace(address="here"), 3)
    return run_in_time(texts)


@pytest.mark.parametrize(
    ("run", "failed"), [(run_in_time, []), (run_first, []), (lose_workers, [3])]
)
def test_short_runs_share_tasks(run: Callable[[list[str]], Finished], failed: list[int]) -> None:
    """A run that its task left out, or whose task failed together with other runs, is repeated."""
    client = Worker(run)
    texts = [normalize(SMALL, seed) for seed in range(40)]
    finished = list(Cluster(client).run(texts))
    assert sorted(i for i, _ in finished) == list(range(40))
    for i, outcome in finished:
        if i in failed:
            assert isinstance(outcome, Failed)
            assert f"seed {i}: each worker that executed the run ended" in str(outcome.error)
        else:
            assert isinstance(outcome, Result)
            assert outcome.manifest["seed"] == i
    if run is run_in_time:
        assert len(client.tasks) < 20
        assert max(map(len, client.tasks)) > 4


def test_a_closed_iterator_stops_the_runs_on_the_cluster(dask: Dask) -> None:
    with connect(dask.name) as cluster:
        late = threading.Timer(0.5, dask.worker)
        late.start()
        running = cluster.run([normalize(SMALL), endless()])
        assert next(running)[0] == 0
        running.close()
        began = time.monotonic()
        ((_, outcome),) = cluster.run([normalize(SMALL, 8)])
        assert time.monotonic() - began < 30
        assert isinstance(outcome, Result)


def test_the_loss_of_the_scheduler_is_an_error_and_finished_runs_are_stored(
    dask: Dask, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dask.worker()
    file = tmp_path / "try.toml"
    file.write_text(
        f"scenario = '{ROOT}/examples/two_flows.toml'\nmeasures = ['goodput_bps']\n"
        "replications = 3000\n"
    )
    out = tmp_path / "out"

    def kill() -> None:
        while not stored_runs(out / "runs"):
            time.sleep(0.05)
        dask.scheduler.kill()

    threading.Thread(target=kill).start()
    assert execute(["sweep", str(file), "--executor", dask.name, "--out", str(out)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert f"scheduler tcp://127.0.0.1:{dask.port} is lost; the finished runs are" in err
    with FolderStore(out / "runs", to_read=True) as store:
        assert 0 < len(list(store)) < 3000


def test_a_cluster_without_workers_is_an_error_after_a_short_wait(dask: Dask) -> None:
    with connect(dask.name) as cluster:
        impatient = Cluster(cluster._client, patience_s=0.2)
        with pytest.raises(NoClusterError, match="no workers; start at least one worker: dask"):
            list(impatient.run([normalize(SMALL)]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["dask://127.0.0.1:9"], "cannot connect to a Dask scheduler at 127.0.0.1:9"),
        (
            ["dask://nowhere"],
            "'dask://nowhere'; it must be one of local, dask, dask://HOST:PORT, slurm",
        ),
        (["slurm"], "--executor slurm needs --jobs"),
        (["slurm", "--jobs", "8"], "--executor slurm: this machine does not"),
        (["dask", "--cluster", "queue=long"], "--cluster: --executor dask has no options of"),
        (["slurm", "--cluster", "queue"], "--cluster is 'queue'; it must be KEY=VALUE"),
    ],
)
def test_the_error_of_an_unavailable_cluster_is_one_line(
    options: list[str],
    message: str,
    tmp_path: Path,
    scenario: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("aqmlab.engine.cluster.CONNECT_S", 1.0)
    file, out = tmp_path / "try.toml", tmp_path / "out"
    file.write_text(f"scenario = '{scenario}'\n")
    assert execute(["sweep", str(file), "--out", str(out), "--executor", *options]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert not out.exists()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_slurm_job_has_the_given_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script replaces sbatch, and runs the job at once on this machine."""
    job = tmp_path / "job"
    sbatch = f'cp "$1" {job}\nsh {job} >/dev/null 2>&1 & echo "Submitted batch job 7"'
    for name, commands in (("sbatch", sbatch), ("scancel", "exit 0")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{commands}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", PACKAGE)
    options = {"queue": "long", "cores": 1, "processes": 1, "memory": "1 GB", "interface": "lo"}
    with connect("slurm", 1, options) as cluster:
        ((_, outcome),) = Cluster(cluster._client).run([normalize(SMALL)])
    assert isinstance(outcome, Result)
    assert "#SBATCH -p long" in job.read_text()
    with pytest.raises(ValueError, match=r"SLURM: .*qeue"), connect("slurm", 1, {"qeue": "x"}):
        pass


def test_ctrl_c_preserves_finished_runs(tmp_path: Path) -> None:
    """The workers of this machine receive the SIGINT too, as after Ctrl-C in a terminal."""
    file, out = tmp_path / "try.toml", tmp_path / "out"
    file.write_text(
        f"scenario = '{ROOT}/examples/two_flows.toml'\nmeasures = ['goodput_bps']\n"
        "replications = 30000\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-m", "aqmlab", "sweep", str(file), "--executor", "dask", "--jobs", "1",
         "--out", str(out)],
        stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | {"PYTHONPATH": PACKAGE},
    )  # fmt: skip
    database = out / "runs" / "runs.sqlite"
    while running.poll() is None and not (database.exists() and stored_runs(out / "runs")):
        time.sleep(0.2)
    os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert err.count("\n") == 1
    assert "finished runs are in" in err
    assert stored_runs(out / "runs") > 0


def stored_runs(folder: Path) -> int:
    """Return the number of runs in a store."""
    from aqmlab.store import status

    with suppress(OSError):
        return status(folder).total
    return 0


def test_two_clusters_on_one_machine_use_separate_ports() -> None:
    """In this test, Dask's warning about a port that two clusters share is an error."""
    with connect("dask", jobs=1) as one, connect("dask", jobs=1) as other:
        assert one.build == other.build
