"""Tests of the store of runs: durability after a killed process, a full disk or a damaged file."""

import json
import os
import pickle
import shutil
import signal
import sqlite3
import string
import subprocess
import sys
import textwrap
import tracemalloc
import zlib
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import aqmlab
from aqmlab import interrupts
from aqmlab.command import execute
from aqmlab.engine import Recorded
from aqmlab.experiment import campaign
from aqmlab.results import Result
from aqmlab.scenario import normalize
from aqmlab.store import FolderStore, Store, address, status
from aqmlab.store.differences import Base, restore, shorten
from test_campaign import Counting, assert_equal_results, seed, texts

NAMES = st.text(string.ascii_lowercase + "_", min_size=1, max_size=12)
ADDRESS = "0123456789abcdef"


def column(rows: int) -> st.SearchStrategy[Any]:
    """Return a Hypothesis strategy that generates columns in the formats of the simulator."""
    return st.one_of(
        arrays(np.dtype("<f8"), rows),
        arrays(np.dtype("<u8"), rows),
        st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=rows, max_size=rows),
    )


def table(rows: int) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(NAMES, column(rows), min_size=1, max_size=4)


TABLES = st.dictionaries(NAMES, st.integers(0, 5).flatmap(table), max_size=4)


@settings(max_examples=60)
@given(TABLES, TABLES, st.text(st.characters(exclude_categories=["Cs"])), st.booleans())
def test_stored_runs_are_returned_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory,
    tables: dict[str, Any],
    others: dict[str, Any],
    title: str,
    large: bool,
) -> None:
    """A reopened store has the same tables, whether in its database or in Parquet files."""
    results = [Result({"title": title, "n": i}, t) for i, t in enumerate([others, tables])]
    runs = {f"{i:016x}": result for i, result in enumerate(results)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aqmlab.results.LARGE_BYTES", 0 if large else 1 << 30)
        with FolderStore(tmp_path_factory.mktemp("store")) as store:
            for run, result in runs.items():
                store.put(run, "build", result)
            for _ in range(2):
                assert store.missing([*runs, ADDRESS]) == {ADDRESS}
                for run, result in runs.items():
                    stored = store.get(run)
                    assert stored is not None
                    assert assert_equal_results(stored, result)
                store.close()


@given(st.binary(max_size=3000), st.binary(max_size=3000))
def test_a_text_is_restored_from_its_difference(text: bytes, base: bytes) -> None:
    assert restore(shorten(text, base), base) == text


@settings(max_examples=30)
@given(st.binary(min_size=1, max_size=3000), st.integers(1, 30), st.binary(max_size=100))
def test_texts_are_restored_from_their_common_base(part: bytes, parts: int, other: bytes) -> None:
    """A base text of any size can be copied, pickled, and used for several texts."""
    text = part * parts
    base = pickle.loads(pickle.dumps(Base(text)))
    for changed in (text, other + text, text + other, other):
        assert restore(base.shorten(changed), text) == changed


def test_the_stored_duration_of_a_run_is_that_of_its_manifest(
    small: dict[str, Any], tmp_path: Path
) -> None:
    with FolderStore(tmp_path) as store:
        title = small | {"title": ',"setup":{"wall_s":1}'}
        (result,) = aqmlab.run_many([title], store=store)
        assert result.packed is not None
        assert result.wall_s == Result(result.manifest, {}).wall_s
    durations = [result.manifest[part]["wall_s"] for part in ("setup", "running")]
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database:
        assert database.execute("SELECT took_s FROM runs").fetchall() == [(sum(durations),)]


@settings(max_examples=25)
@given(st.text(st.characters(categories=["L", "N", "P", "S"])), st.integers(0, 2**63))
def test_an_address_depends_on_everything_except_the_title(title: str, number: int) -> None:
    base = {**json.loads(normalize("examples/one_flow.toml")), "seed": 1}
    one, other = (normalize(base | {"title": t, "seed": number}) for t in (title, ""))
    assert address(one, "x") == address(other, "x")
    assert (address(one, "x") == address(normalize(base), "x")) == (number == 1)


def test_a_folder_implements_the_store_protocol(tmp_path: Path) -> None:
    store: Store = FolderStore(tmp_path / "new" / "folder")
    assert store.get(ADDRESS) is None
    assert store.missing([ADDRESS]) == {ADDRESS}
    assert list(store) == []


@pytest.mark.parametrize(
    "words",
    [
        '[{"flows": [1, {"n": "|O8"}]}, {}]',
        '[{"flows": [1, {"n": "<f8", "m": ["a", "b"]}]}, {}]',
        '[{"flows": [1000000000000, {"n": "<f8"}]}, {}]',
        '[{"flows": [-1, {"n": "<f8"}]}, {}]',
        '[{"flows": 1}, {}]',
        '[{"flows": [1, [1]]}, {}]',
        '[{"flows": [1, {"n": 8}]}, {}]',
        '[{"flows": [1, {"n": "<f-8", "m": "<f8"}]}, {}]',
        "[[1], {}]",
        '[{"flows": [1, {"n": "<f8"}]}, 1]',
        '[{"flows": [1, {"n": "<f8"}]}, {]',
        "[",
    ],
)
def test_a_run_with_an_invalid_description_is_executed_again(
    words: str, small: dict[str, Any], tmp_path: Path
) -> None:
    store, engine = FolderStore(tmp_path), Counting()
    aqmlab.run_many([small], engine=engine, store=store)
    store.close()
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database, database:
        database.execute("UPDATE bases SET words = ?", [shorten(words.encode(), b"")])
        difference = shorten(words.encode(), words.encode())
        database.execute(
            "UPDATE results SET words = ?, columns = ?", [difference, shorten(b"8bytes..", b"")]
        )
    aqmlab.run_many([small], engine=engine, store=store)
    assert len(engine.texts) == 2, "the damaged run must be executed again"
    store.close()


@cache
def bomb() -> bytes:
    """Return 1 MB of compressed data that decompress to 1 GiB."""
    deflate = zlib.compressobj()
    zeros = bytes(1 << 20)
    return b"".join(deflate.compress(zeros) for _ in range(1 << 10)) + deflate.flush()


@pytest.mark.parametrize("part", ["columns", "words", "base"])
def test_a_row_that_decompresses_without_bound_is_damaged(
    part: str, small: dict[str, Any], tmp_path: Path
) -> None:
    """A row that would decompress from 1 MB to 1 GiB is not read, and its run is repeated."""
    store, engine = FolderStore(tmp_path), Counting()
    aqmlab.run_many([small], engine=engine, store=store)
    store.close()
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database, database:
        table_name, name = ("bases", "words") if part == "base" else ("results", part)
        database.execute(f"UPDATE {table_name} SET {name} = ?", [bomb()])
    tracemalloc.start()
    assert list(store) == []
    aqmlab.run_many([small], engine=engine, store=store)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(engine.texts) == 2
    assert peak_bytes < 300 << 20
    store.close()


def test_a_table_outside_the_folder_is_not_read(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a table name in a stored run contains a path to another folder, the run is repeated."""
    monkeypatch.setattr("aqmlab.results.LARGE_BYTES", 1 << 12)
    store, engine = FolderStore(tmp_path / "store"), Counting()
    aqmlab.run_many([small], engine=engine, store=store)
    store.close()
    (queue,) = tmp_path.glob("store/tables/*-queue.parquet")
    (tmp_path / "store" / "tables" / f"{queue.name[:16]}-").mkdir()
    queue.rename(tmp_path / "other.parquet")
    words = b'[{"/../../../other": null}, {}]'
    with closing(sqlite3.connect(tmp_path / "store" / "runs.sqlite")) as database, database:
        database.execute("UPDATE bases SET words = ?", [shorten(words, b"")])
        columns = shorten(b"", b"")
        database.execute(
            "UPDATE results SET words = ?, columns = ?", [shorten(words, words), columns]
        )
    assert list(store) == []
    aqmlab.run_many([small], engine=engine, store=store)
    assert len(engine.texts) == 2
    store.close()


@pytest.mark.parametrize("part", ["columns", "words", "base", "table"])
def test_an_incomplete_run_is_executed_again(
    part: str, small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aqmlab.results.LARGE_BYTES", 1 << 12)
    store, engine = FolderStore(tmp_path), Counting()
    (first,) = aqmlab.run_many([small], engine=engine, store=store)
    store.close()
    if part == "table":
        (queue,) = tmp_path.glob("tables/*-queue.parquet")
        content = bytearray(queue.read_bytes())
        # Damage 64 bytes, because a single byte may be in a page header, which has no checksum.
        middle = len(content) // 2
        content[middle : middle + 64] = bytes(64)
        queue.write_bytes(content)
    else:
        with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database, database:
            table_name, name = ("bases", "words") if part == "base" else ("results", part)
            database.execute(f"UPDATE {table_name} SET {name} = substr({name}, 1, 20)")
    for executed in (2, 2):
        (repeated,) = aqmlab.run_many([small], engine=engine, store=store)
        assert len(engine.texts) == executed, "the second campaign repeated the stored run"
        assert repeated.links.equals(first.links)
        store.close()


def test_a_failed_run_is_recorded_and_executed_again(small: dict[str, Any], tmp_path: Path) -> None:
    recorded = aqmlab.replicate(small, 2)

    class NamedBuild(Recorded):
        build = "of a kind"

    requests = [(text,) for text in texts(small, 5, 7, 6, 8)]
    with FolderStore(tmp_path) as store:
        with pytest.raises(LookupError, match="1 more run failed"):
            list(campaign(requests, seed, engine=NamedBuild(recorded), store=store))
        at = status(tmp_path)
        assert (at.total, at.finished, at.failed, at.left, at.running) == (2, 2, 2, 0, 0)
        assert {run for run, _ in at.errors} == {
            address(text, "of a kind") for text in texts(small, 5, 6)
        }
        assert all("is in none of the recorded runs" in error for _, error in at.errors)
        store.close()
        more = NamedBuild([*recorded, *aqmlab.run_many([small | {"seed": s} for s in (5, 6)])])
        assert len(list(campaign(requests, seed, engine=more, store=store))) == 4
    at = status(tmp_path)
    assert (at.total, at.stored, at.finished, at.failed, at.errors) == (4, 2, 2, 0, [])


def test_status_shows_the_progress(
    small: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The status of a store is read during runs, after runs, and in a comparison's folder."""
    inside = tmp_path / "runs"
    with FolderStore(inside) as store:
        aqmlab.run_many([small], store=store)
        requests = [(text,) for text in texts(small, 7, 8, 9)]
        running = campaign(requests, seed, engine=Counting(), store=store, jobs=2)
        assert next(running) in [(0, 7), (1, 8), (2, 9)]
        store.settle()
        assert execute(["status", str(tmp_path)]) == 0
        printed = capsys.readouterr().out
        assert f"running, process {os.getpid()}; 2 runs are stored" in printed
        assert "done 1 of 3 (0 from the store), failed 0, running 2, waiting 0" in printed
        assert "left" in printed
        running.close()
    assert execute(["status", str(tmp_path)]) == 0
    assert "not running; 2 runs are stored" in capsys.readouterr().out


def test_commands_share_a_store(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands with one store do not repeat each other's runs, and each folder has all its runs."""
    texts_run: list[str] = []
    real = aqmlab._core.Batch

    def batch(texts: list[str], *rest: Any) -> Any:
        texts_run.extend(texts)
        return real(texts, *rest)

    monkeypatch.setattr("aqmlab._core.Batch", batch)
    store, (one, other) = tmp_path / "store", (tmp_path / "one", tmp_path / "other")
    compare = ["compare", "codel", "--scenario", str(scenario), "--replications", "2", "--out"]
    study = ["reproduce", "ecn-finite-transfers", "--only", "table-2", "--replications", "1"]
    assert execute([*compare, str(one)]) == 0
    for count in (2, 0):
        texts_run.clear()
        assert execute([*compare, str(one), "--resume", "--store", str(store)]) == 0
        assert len(texts_run) == count
    assert execute([*study, "--out", str(other), "--store", str(store)]) == 0
    assert 0 < len(texts_run) == status(store).finished
    texts_run.clear()
    assert execute([*study, "--out", str(other), "--store", str(store), "--force"]) == 0
    assert execute([*compare, str(one), "--resume"]) == 0
    assert texts_run == []
    assert execute([*compare, str(one), "--force"]) == 0
    assert len(texts_run) == 2, "--force must repeat all runs"


def complaint(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    """Run a command that fails, and return its error, which must be one line."""
    assert execute([*args]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err


def test_a_reader_does_not_need_the_lock(small: dict[str, Any], tmp_path: Path) -> None:
    with FolderStore(tmp_path) as store, FolderStore(tmp_path, to_read=True) as reader:
        (run,) = aqmlab.run_many([small], store=store)
        (stored,) = reader
        assert assert_equal_results(stored, run)
        with pytest.raises(OSError, match="readonly database"):
            reader.put(ADDRESS, "build", run)
    with pytest.raises(FileNotFoundError, match=r"has no runs\.sqlite"):
        list(FolderStore(tmp_path / "none", to_read=True))


def test_a_second_writer_of_a_folder_gets_an_error(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with FolderStore(tmp_path / "out" / "runs") as first:
        first.missing([])
        args = ["compare", "codel", "--resume", "--scenario", str(scenario)]
        args += ["--out", str(tmp_path / "out")]
        error = complaint(capsys, *args)
        assert (
            f"is being written by process {os.getpid()}; wait until this process ends, or" in error
        )
    first.missing([])  # the writer can use its folder again
    first.close()


def test_foreign_files_are_unchanged(small: dict[str, Any], tmp_path: Path) -> None:
    """A store accepts foreign files in its folder, but refuses a foreign file named `runs.lock`."""
    foreign = [tmp_path / "foreign", tmp_path / "tables" / "foreign.part", tmp_path / "runs.lock"]
    foreign[1].parent.mkdir()
    for path in foreign:
        path.write_text("foreign")
    with pytest.raises(FileExistsError, match=r"runs\.lock is not a lock of aqmlab; move it"):
        aqmlab.run_many([small], store=FolderStore(tmp_path))
    assert all(path.read_text() == "foreign" for path in foreign)
    foreign.pop().unlink()
    with FolderStore(tmp_path) as store:
        aqmlab.run_many([small], store=store)
    assert all(path.read_text() == "foreign" for path in foreign)


def test_the_store_of_a_killed_process_is_unlocked_and_checked_once(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run,) = aqmlab.run_many([small])
    child = os.fork()
    if child == 0:
        store = FolderStore(tmp_path)
        store.put(ADDRESS, "build", run)
        store.settle()
        store.put(ADDRESS[::-1], "build", run)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    examined = []
    monkeypatch.setattr("aqmlab.store.folder_store.check", lambda *_, whole: examined.append(whole))
    for _ in range(2):
        with FolderStore(tmp_path) as store:
            assert store.missing([ADDRESS, ADDRESS[::-1]]) == {ADDRESS[::-1]}
    assert examined == [True, False]


def stored_in(folder: Path) -> list[str]:
    """Return the addresses of the runs in a store, in the order in which they were stored."""
    with closing(sqlite3.connect(folder / "runs.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [row[0] for row in database.execute("SELECT address FROM runs ORDER BY id")]


def test_a_truncated_log_preserves_the_first_runs(small: dict[str, Any], tmp_path: Path) -> None:
    """A log that a power failure truncated has all commits before the place of the truncation."""
    (run,) = aqmlab.run_many([small | {"record": {}}])
    addresses = [f"{i:016x}" for i in range(40)]
    sizes = []
    with FolderStore(tmp_path / "whole") as store:
        log = tmp_path / "whole" / "runs.sqlite-wal"
        for run_address in addresses:
            store.put(run_address, "build", run)
            store.settle()
            sizes.append(log.stat().st_size)
        contents = {path.name: path.read_bytes() for path in (tmp_path / "whole").glob("runs.*")}
    whole = contents[log.name]
    for i, end in enumerate(np.linspace(0, len(whole), 60, dtype=int)):
        folder = tmp_path / f"truncated-{i}"
        folder.mkdir()
        (folder / "runs.sqlite").write_bytes(contents["runs.sqlite"])
        (folder / log.name).write_bytes(whole[:end] + bytes(len(whole) - end) * (i % 2))
        if end >= sizes[0]:
            stored = stored_in(folder)
            assert stored == addresses[: sum(size <= end for size in sizes)]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (
            "middle",
            ["runs.sqlite is damaged; move the file away", ".recover", "aqmlab deleted nothing"],
        ),
        (
            "head",
            ["runs.sqlite is damaged; move the file away", ".recover", "aqmlab deleted nothing"],
        ),
        ("foreign", ["is not a store of aqmlab"]),
        ("newer", ["a store of format 2", "reads format 1", "another folder"]),
    ],
)
def test_an_unusable_store_is_reported_and_unchanged(
    damage: str, words: list[str], small: dict[str, Any], scenario: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    folder = tmp_path / "out" / "runs"
    path = folder / "runs.sqlite"
    if damage == "foreign":
        folder.mkdir(parents=True)
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("CREATE TABLE foreign_table (x)")
    else:
        with FolderStore(folder) as store:
            aqmlab.replicate(small, 30, store=store)
        content = path.read_bytes()
        damaged = {"middle": slice(4096, len(content) - 4096), "head": slice(0, 64)}
        if damage == "newer":
            with closing(sqlite3.connect(path)) as database:
                database.execute("PRAGMA user_version = 2")
        else:
            rubbish = bytearray(content)
            rubbish[damaged[damage]] = os.urandom(len(content[damaged[damage]]))
            path.write_bytes(rubbish)
        (folder / "runs.lock").write_text("123")  # a killed process leaves such a lock
    before = path.read_bytes()
    more = ["--scenario", str(scenario), "--out", str(tmp_path / "out")]
    for command in (["compare", "codel", "--resume", *more],) * 2:
        error = complaint(capsys, *command)
        assert all(word in error for word in words), error
    assert path.read_bytes() == before


def test_a_full_disk_is_reported_and_stored_runs_remain(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page limit of SQLite simulates a full disk."""
    monkeypatch.setattr("aqmlab.store.folder_store.BATCH_S", 0.0)
    requests = [(text,) for text in texts(small, *range(60))]
    engine = Counting()
    with FolderStore(tmp_path) as store:
        store.begin(0, 0, 1)
        assert store._opened is not None
        pages = store._opened.execute("PRAGMA page_count").fetchone()[0] + 60
        store._opened.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(
            OSError, match="the disk is full; free some space and repeat the command"
        ):
            list(campaign(requests, seed, engine=engine, store=store))
    stored = len(stored_in(tmp_path))
    executed = len(engine.texts)
    with FolderStore(tmp_path) as store:
        assert len(list(campaign(requests, seed, engine=engine, store=store))) == 60
        assert len(engine.texts) - executed == 60 - stored < 60
        assert len(list(store)) == 60


ON_A_SMALL_DISK = """
import json, subprocess, sys
from pathlib import Path
sys.path.insert(0, "tests")
from conftest import SMALL
from test_campaign import Counting, seed, texts
from aqmlab.experiment import campaign
from aqmlab import results
from aqmlab.store import FolderStore, folder_store, status
folder_store.BATCH_S = 0.0  # each run is a commit on every machine
disk, large = Path(sys.argv[1]), sys.argv[2] == "tables"
def mounted(*options):
    subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", str(disk)], check=True)
def outcome(work):
    try:
        with FolderStore(disk / "out") as store:
            return work(store)
    except OSError as e:
        return str(e)
results.LARGE_BYTES = 1 << 12 if large else 1 << 30
mounted("-o", "size=240k")
requests = [(text,) for text in texts(SMALL, *range(40))]
engine = Counting()
run = lambda store: len(list(campaign(requests, seed, engine=engine, store=store)))
full = outcome(run)
stored = status(disk / "out").total
executed = len(engine.texts)
mounted("-o", "remount,size=64m")
done = outcome(run)
whole = outcome(lambda store: len(list(store)))
remaining = sorted(path.suffix for path in disk.rglob("*.part"))
mounted("-o", "remount,ro")
print(json.dumps({
    "full": full, "stored": stored, "repeated": len(engine.texts) - executed, "done": done,
    "whole": whole,
    "remaining": remaining, "read-only": outcome(run), "status": status(disk / "out").total,
}))
"""


@pytest.mark.parametrize("place", ["rows", "tables"])
def test_the_errors_of_a_full_and_of_a_read_only_disk_name_the_remedy(
    place: str, tmp_path: Path
) -> None:
    """A store on a separate file system of 240 kB continues after its disk was full."""
    isolated = ["unshare", "--user", "--map-root-user", "--mount"]
    if not shutil.which("unshare") or subprocess.run([*isolated, "true"], check=False).returncode:
        pytest.skip("this machine cannot mount a file system")
    code = textwrap.dedent(ON_A_SMALL_DISK)
    process = subprocess.run(
        [*isolated, sys.executable, "-c", code, str(tmp_path), place],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    report = json.loads(process.stdout)
    assert "the disk is full; free some space and repeat the command" in report["full"]
    assert 0 < report["stored"] < 40
    assert report["repeated"] == 40 - report["stored"]
    assert (report["done"], report["whole"], report["status"], report["remaining"]) == (
        40,
        40,
        40,
        [],
    )
    assert (
        "read-only file system; check the permissions of the file, and the disk"
        in report["read-only"]
    )


def test_10_000_waiting_scenarios_need_less_than_100_bytes_each(small: dict[str, Any]) -> None:
    """The memory for waiting scenarios has each text as its difference from the first text."""
    from aqmlab.store.differences import Texts

    waiting, base = Texts(), normalize(small)
    scenarios = [base.replace('"seed":7', f'"seed":{i}') for i in range(10_000)]
    numbers = [waiting.add(text) for text in scenarios]
    assert sum(map(len, waiting._short)) < 100 * len(scenarios)
    assert all(waiting[i] == text for i, text in zip(numbers, scenarios, strict=True))


def test_signals_are_delayed_while_the_database_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An OS signal is delayed until the database is closed; no call uses a half-closed database."""
    store = FolderStore(tmp_path / "runs")
    store.begin(1, 0, 1)
    shut, delayed = store._shut, []

    def observed() -> None:
        delayed.append(interrupts._held)
        shut()

    monkeypatch.setattr(store, "_shut", observed)
    store.close()
    store.close()
    assert delayed == [1]


def test_a_signal_while_a_run_is_stored_leaves_the_number_of_finished_runs_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is stored completely before the signal ends the command."""
    store = FolderStore(tmp_path)
    insert = store._insert

    def signalled(*args: Any) -> int:
        interrupts.received = signal.SIGINT
        return insert(*args)

    for name, value in (("received", None), ("_raised", False), ("ignore", lambda: None)):
        monkeypatch.setattr(interrupts, name, value)
    monkeypatch.setattr(store, "_insert", signalled)
    with pytest.raises(KeyboardInterrupt):
        store.put(ADDRESS, "build", Result({"title": "interrupted"}, {}))
    monkeypatch.undo()
    store.close()
    assert store.finished == 1
    with FolderStore(tmp_path, to_read=True) as stored:
        assert len(list(stored)) == 1
