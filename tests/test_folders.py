"""Tests of output folders: atomic writing, one writer at a time, and no loss of other files."""

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aqmlab import folder
from aqmlab.command import execute
from aqmlab.folder import Claim, appearing, appearing_file
from aqmlab.results import Result
from aqmlab.store import FolderStore

RUN = "aqmlab run"
ENDLESS = ["--set", "duration='3000000 s'", "--set", "flows.0.traffic='bulk'",
           "--set", "record.series=[]"]  # fmt: skip
QUICK = ["--replications", "1", "--set", "duration='1 s'"]


@pytest.fixture
def scenario(small: dict[str, Any], tmp_path: Path) -> Path:
    """Return the small scenario as a file in a separate folder."""
    path = tmp_path / "scenarios" / "small.json"
    path.parent.mkdir()
    path.write_text(json.dumps(small))
    return path


def begin(*args: str) -> subprocess.Popen[str]:
    """Start the command `aqmlab` in a new process."""
    command = [sys.executable, "-m", "aqmlab", *args]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )


def wait_for(ready: Callable[[], bool], running: subprocess.Popen[str]) -> None:
    while not ready():
        assert running.poll() is None, running.communicate()
        time.sleep(0.01)


def refusal(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    """Run a command that fails, and return its error, which must be one line."""
    assert execute([*args]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err


def names(path: Path) -> list[str]:
    return sorted(p.name for p in path.iterdir())


def write(final: Path, name: str = "data", writer: str = RUN) -> None:
    with appearing(final, writer) as new:
        (new / name).write_text(name)


def test_captures_may_be_inside_the_folder_of_the_run(scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ["run", str(scenario), "--out", str(out), "--pcap", str(out / "a" / "captures"),
               "--pcap-on", "left-0"]  # fmt: skip
    for more in ([], ["--force"]):
        assert execute([*command, *more]) == 0
        assert names(out / "a" / "captures") == ["hosts", "left-0.pcapng"]
        assert Result.read(out).manifest["seed"] == 7
    same = ["run", str(scenario), "--out", str(tmp_path / "b"), "--pcap", str(tmp_path / "b")]
    assert execute([*same, "--pcap-on", "left-0"]) == 0
    assert {"hosts", "left-0.pcapng", "manifest.json"} <= set(names(tmp_path / "b"))
    assert names(tmp_path) == ["b", "out", "scenarios"]


def test_a_run_inside_the_folder_of_its_captures_is_an_error(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = ["--out", str(tmp_path / "c" / "out"), "--pcap", str(tmp_path / "c")]
    error = refusal(capsys, "run", str(scenario), *folders, "--pcap-on", "left-0")
    assert "--pcap" in error
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("command", ["run", "captures", "compare", "reproduce"])
@pytest.mark.parametrize(
    "foreign", ["thesis.txt", "empty/", "figures/foreign.svg", "a link", "pipe"]
)
def test_foreign_files_are_never_replaced(
    command: str,
    foreign: str,
    scenario: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    args = {
        "run": ["run", str(scenario), "--force", "--out", str(out)],
        "captures": ["run", str(scenario), "--pcap-on", "left-0", "--force", "--pcap", str(out)],
        "compare": ["compare", "drop_tail", *QUICK, "--force", "--out", str(out)],
        "reproduce": ["reproduce", "ecn-finite-transfers", "--force", "--out", str(out)],
    }[command]
    writer = {"captures": "aqmlab run --pcap"}.get(command, f"aqmlab {command}")
    write(out, writer=writer)
    foreign_file = out / foreign
    foreign_file.parent.mkdir(exist_ok=True)
    if foreign.endswith("/"):
        foreign_file.mkdir()
    elif foreign == "a link":
        foreign_file.symlink_to(scenario)
    elif foreign == "pipe":
        os.mkfifo(foreign_file)
    else:
        foreign_file.write_text("years of work")
    before = sorted(out.rglob("*"))
    error = refusal(capsys, *args)
    assert foreign.partition("/")[0] in error
    assert "give another folder, or move this content away" in error
    assert sorted(out.rglob("*")) == before
    assert names(tmp_path) == ["out", "scenarios"]


def test_each_command_replaces_only_its_own_folders(
    tmp_path: Path, scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "out", writer="aqmlab compare")
    error = refusal(capsys, "run", str(scenario), "--force", "--out", str(tmp_path / "out"))
    assert (
        "content that does not belong to a run: the folder is a result of aqmlab compare" in error
    )


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_foreign_file_that_appears_during_the_write_survives(
    can_exchange: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not can_exchange:
        monkeypatch.setattr(folder, "exchange", lambda *_: False)
    final = tmp_path / "out"
    write(final, "old")

    def fail(when: str) -> None:
        with Claim(final, RUN) as claim:
            (claim.new / "new").write_text("new")
            if when == "before":
                (final / "foreign").write_text("foreign")
            else:  # the file appears after the last check
                refuse = claim._refuse
                monkeypatch.setattr(
                    claim, "_refuse", lambda: (refuse(), (final / "foreign").write_text("foreign"))
                )
            claim.appear()

    for when in ("before", "after"):
        with pytest.raises(
            FileExistsError, match=r"content that does not belong to a run: foreign;"
        ):
            fail(when)
        assert names(final) == [".aqmlab", "foreign", "old"]
        assert names(tmp_path) == ["out"]
        (final / "foreign").unlink()
    write(final, "new")
    assert names(final) == [".aqmlab", "new"]


def test_a_second_writer_gets_an_error_immediately(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "runs" / "out"
    running = begin("run", str(scenario), "--out", str(out), *ENDLESS)
    wait_for(lambda: out.parent.is_dir() and (out.parent / ".out.aqmlab" / "new").exists(), running)
    error = refusal(capsys, "run", str(scenario), "--out", str(out), "--force")
    assert "is being written by another process" in error
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=20)
    assert execute(["run", str(scenario), "--out", str(out)]) == 0
    with Claim(out, RUN), pytest.raises(FileExistsError, match="another process"):
        write(out)
    assert names(out.parent) == ["out"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_preserves_the_earlier_run(
    number: signal.Signals, scenario: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    write(out, "old")
    running = begin("run", str(scenario), "--force", "--out", str(out), *ENDLESS)
    wait_for(lambda: (tmp_path / ".out.aqmlab" / "new").exists(), running)
    time.sleep(0.2)
    running.send_signal(number)
    stdout, stderr = running.communicate(timeout=20)
    assert (running.returncode, stdout) == (128 + number, "")
    assert stderr == "aqmlab: error: interrupted; nothing was written\n"
    assert names(out) == [".aqmlab", "old"]
    assert names(tmp_path) == ["out", "scenarios"]


@pytest.mark.parametrize("can_exchange", [True, False])
def test_the_next_writer_cleans_up_after_a_kill_at_any_step(
    can_exchange: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child process that writes the folder is killed before it changes the disk the n-th time."""
    if not can_exchange:
        monkeypatch.setattr(folder, "exchange", lambda *_: False)
    final, survived, n = tmp_path / "out", False, 0
    write(final, "old")
    while not survived:
        n += 1
        if os.fork() == 0:
            _kill_before(n)
            write(final, "new")
            os._exit(0)
        survived = os.wait()[1] == 0
        if can_exchange:
            assert names(final) in ([".aqmlab", "new"], [".aqmlab", "old"])
        write(tmp_path / "other")
        assert names(tmp_path) == ["other", "out"]
        assert names(final) in ([".aqmlab", "new"], [".aqmlab", "old"])
        if names(final) == [".aqmlab", "new"]:
            write(final, "old")
    assert n > 10


def _kill_before(n: int) -> None:
    """Make this process kill itself before it changes the disk for the n-th time."""
    remaining = [n]

    def watch(event: str, args: tuple[Any, ...]) -> None:
        changes = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "fcntl.flock", "ctypes.dlsym"}
        if event in changes or (event == "open" and args[1] and "w" in str(args[1])):
            remaining[0] -= 1
            if remaining[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def test_a_foreign_file_in_an_interrupted_folder_is_moved_to_a_visible_folder(
    tmp_path: Path,
) -> None:
    temporary = tmp_path / ".out.aqmlab"
    write(tmp_path / "out", "new")
    write(temporary / "whole", "old")
    (temporary / "whole" / "foreign").write_text("foreign")
    (temporary / "lock").touch()
    write(tmp_path / "other")
    assert names(tmp_path) == ["other", "out", "out.kept-1"]
    assert (tmp_path / "out.kept-1" / "foreign").read_text() == "foreign"


def test_an_unknown_file_in_the_temporary_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".out.aqmlab").mkdir()
    (tmp_path / ".out.aqmlab" / "foreign").write_text("foreign")
    with pytest.raises(FileExistsError, match="has files that aqmlab did not write"):
        write(tmp_path / "out")
    write(tmp_path / "other")
    assert names(tmp_path) == [".out.aqmlab", "other"]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_figure_replaces_only_figures(
    suffix: str, small: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario, picture = tmp_path / "small.json", tmp_path / f"graph.{suffix}"
    scenario.write_text(json.dumps(small))
    command = ["plot", "rtt", str(scenario), "--out", str(picture)]
    assert execute(command) == 0
    assert execute(command) == 0
    capsys.readouterr()
    picture.write_text("foreign")
    assert "exists, and aqmlab did not write it" in refusal(capsys, *command)
    assert picture.read_text() == "foreign"
    assert names(tmp_path) == [picture.name, "small.json"]


def test_a_loop_of_symbolic_links_is_reported_in_one_line(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert "loop" in refusal(capsys, "run", str(scenario), "--out", str(tmp_path / "loop"))
    assert "loop" in refusal(capsys, "run", str(tmp_path / "loop"))
    assert "loop" in refusal(capsys, "run", str(scenario), "--out", str(tmp_path / "loop" / "x"))


def commands(scenario: Path, root: Path) -> dict[str, list[str]]:
    """Return a short command line for each command that writes a folder, by the folder's name."""
    pcap = ["--pcap-on", "left-0", "--pcap", str(root / "run" / "captures")]
    study = ["ecn-finite-transfers", "--only", "table-2", "--replications", "1"]
    return {
        "run": ["run", str(scenario), "--force", "--out", str(root / "run"), *pcap],
        "compare": [
            "compare",
            "drop_tail",
            *QUICK,
            "--no-warnings",
            "--resume",
            "--out",
            str(root / "compare"),
        ],
        "reproduce": ["reproduce", *study, "--force", "--out", str(root / "reproduce")],
    }


def content(path: Path) -> list[str]:
    """Return the paths of the files in a folder, without the stored runs of a comparison."""
    return sorted(str(p.relative_to(path)) for p in path.rglob("*") if "runs" not in p.parent.parts)


def seed_of(path: Path) -> int:
    """Return the seed of an output folder; assert that all files in the folder are of one run."""
    if path.name == "reproduce":
        json.loads((path / "manifest.json").read_text())
        return 0
    if path.name == "compare":
        numbers = json.loads((path / "comparison.json").read_text())
        with FolderStore(path / "runs") as store:
            runs = [run.manifest for run in store]
        seed = numbers["queues"][0]["runs"][0]["seed"]
        assert seed in [run["seed"] for run in runs]
        return int(seed)
    seed = Result.read(path).manifest["seed"]
    assert json.loads((path / "scenario.json").read_text())["seed"] == seed
    return int(seed)


def kill_at_random(times: int, of: list[str], scenario: Path, root: Path) -> None:
    """Kill commands at random times, and check the output folder after each kill."""
    chance = random.Random(1)
    every = commands(scenario, root)
    contents, durations, seeds = {}, {}, {}
    (root / "next").mkdir(parents=True)
    (root / "foreign").write_text("foreign")
    for name in of:
        for _ in range(2):  # the first run loads files into the page cache
            began = time.monotonic()
            running = begin(*every[name])
            assert running.communicate()[1] == ""
            durations[name] = time.monotonic() - began
        contents[name], seeds[name] = content(root / name), seed_of(root / name)
    for i in range(times):
        name = chance.choices(of, weights=[8, 1, 1][: len(of)])[0]  # the first is the fastest
        running = begin(*every[name], *(["--seed", str(i)] if name != "reproduce" else []))
        number = chance.choice([signal.SIGKILL, signal.SIGKILL, *ENDING])
        time.sleep(chance.uniform(0, durations[name]))
        running.send_signal(number)
        _, stderr = running.communicate(timeout=60)
        description = f"{name} {i} {number.name} {running.returncode}: {stderr}"
        startup_errors = ("runpy module", "Fatal Python error: init")
        started = not any(text in stderr for text in startup_errors)
        assert running.returncode in (0, -number, 128 + number) or not started, description
        assert content(root / name) == contents[name], description
        seed = seed_of(root / name)
        assert seed in (seeds[name], i), description
        if running.returncode == 0 and name != "reproduce":
            assert seed == i, description
        if "nothing was written" in stderr:
            assert seed == seeds[name], description
        seeds[name] = seed
        if running.returncode >= 0:
            assert names(root) == sorted([*of, "foreign", "next"]), description
        write(root / "next")
        assert names(root) == sorted([*of, "foreign", "next"]), description
        assert (root / "foreign").read_text() == "foreign"


ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def test_after_4_kills_the_folder_has_the_old_or_the_new_run(
    scenario: Path, tmp_path: Path
) -> None:
    kill_at_random(4, ["run"], scenario, tmp_path / "root")


@pytest.mark.nightly
def test_after_1000_kills_the_folder_has_the_old_or_the_new_run(
    scenario: Path, tmp_path: Path
) -> None:
    kill_at_random(1000, ["run", "compare", "reproduce"], scenario, tmp_path / "root")


def test_a_full_disk_does_not_change_the_existing_file(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("whole")

    def write() -> None:
        with appearing_file(path) as part:
            part.write_text("ha")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(
        OSError, match=r"cannot write .*table\.csv: the disk is full; free some space"
    ):
        write()
    assert [file.name for file in tmp_path.iterdir()] == ["table.csv"]
    assert path.read_text() == "whole"
