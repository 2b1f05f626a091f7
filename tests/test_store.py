"""The store: runs survive the end of the process, a full disk and a damaged file."""

import json
import os
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
from aqmlab.store import FolderStore, Store, address, packing, status
from aqmlab.store.differences import restore, shorten
from test_campaign import Counting, alike, seed, texts

NAMES = st.text(string.ascii_lowercase + "_", min_size=1, max_size=12)
ADDRESS = "0123456789abcdef"


def column(rows: int) -> st.SearchStrategy[Any]:
    """Return columns in the form of the simulator."""
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
    """The tables are in the row or in Parquet; the store is closed and opened again."""
    results = [Result({"title": title, "n": i}, t) for i, t in enumerate([others, tables])]
    runs = {f"{i:016x}": result for i, result in enumerate(results)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "LARGE_BYTES", 0 if large else 1 << 30)
        with FolderStore(tmp_path_factory.mktemp("store")) as store:
            for where, result in runs.items():
                store.put(where, "build", result)
            for _ in range(2):
                assert store.missing([*runs, ADDRESS]) == {ADDRESS}
                for where, result in runs.items():
                    kept = store.get(where)
                    assert kept is not None
                    assert alike(kept, result)
                store.close()


@given(st.binary(max_size=3000), st.binary(max_size=3000))
def test_a_text_is_restored_from_its_difference(text: bytes, base: bytes) -> None:
    assert restore(shorten(text, base), base) == text


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
def test_foreign_words_are_not_a_run(words: str, small: dict[str, Any], tmp_path: Path) -> None:
    store, engine = FolderStore(tmp_path), Counting()
    aqmlab.run_many([small], engine=engine, store=store)
    store.close()
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database, database:
        database.execute("UPDATE bases SET words = ?", [shorten(words.encode(), b"")])
        told = shorten(words.encode(), words.encode())
        database.execute(
            "UPDATE results SET words = ?, columns = ?", [told, shorten(b"8bytes..", b"")]
        )
    aqmlab.run_many([small], engine=engine, store=store)
    assert len(engine.asked) == 2, "it was run again"
    store.close()


@pytest.mark.parametrize("part", ["columns", "words", "base"])
def test_a_row_that_decompresses_without_bound_is_damaged(
    part: str, small: dict[str, Any], tmp_path: Path
) -> None:
    """A row of 1 MB holds 1 GiB of zeros; the run is repeated with little memory."""
    deflate = zlib.compressobj()
    zeros = bytes(1 << 20)
    bomb = b"".join(deflate.compress(zeros) for _ in range(1 << 10)) + deflate.flush()
    store, engine = FolderStore(tmp_path), Counting()
    aqmlab.run_many([small], engine=engine, store=store)
    store.close()
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database, database:
        where, what = ("bases", "words") if part == "base" else ("results", part)
        database.execute(f"UPDATE {where} SET {what} = ?", [bomb])
    tracemalloc.start()
    assert list(store) == []
    aqmlab.run_many([small], engine=engine, store=store)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(engine.asked) == 2
    assert most < 300 << 20
    store.close()


def test_a_table_outside_the_folder_is_not_read(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table's name in the words leads to another folder."""
    monkeypatch.setattr(packing, "LARGE_BYTES", 1 << 12)
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
    assert len(engine.asked) == 2
    store.close()


@pytest.mark.parametrize("part", ["columns", "words", "base", "table"])
def test_an_incomplete_run_is_run_again(
    part: str, small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "LARGE_BYTES", 1 << 12)
    store, engine = FolderStore(tmp_path), Counting()
    (first,) = aqmlab.run_many([small], engine=engine, store=store)
    store.close()
    if part == "table":
        (queue,) = tmp_path.glob("tables/*-queue.parquet")
        content = bytearray(queue.read_bytes())
        # One byte may lie in the header of a page, which no checksum covers and no value needs.
        middle = len(content) // 2
        content[middle : middle + 64] = bytes(64)
        queue.write_bytes(content)
    else:
        with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database, database:
            where, what = ("bases", "words") if part == "base" else ("results", part)
            database.execute(f"UPDATE {where} SET {what} = substr({what}, 1, 20)")
    for asked in (2, 2):
        (again,) = aqmlab.run_many([small], engine=engine, store=store)
        assert len(engine.asked) == asked, "it is whole again"
        assert again.links.equals(first.links)
        store.close()


def test_a_failed_run_is_recorded_and_tried_again(small: dict[str, Any], tmp_path: Path) -> None:
    recorded = aqmlab.replicate(small, 2)

    class Often(Recorded):
        build = "of a kind"

    asks = [(text,) for text in texts(small, 5, 7, 6, 8)]
    with FolderStore(tmp_path) as store:
        with pytest.raises(LookupError, match="1 more run failed"):
            list(campaign(asks, seed, engine=Often(recorded), store=store))
        at = status(tmp_path)
        assert (at.total, at.finished, at.failed, at.left, at.running) == (2, 2, 2, 0, 0)
        assert {where for where, _ in at.errors} == {
            address(text, "of a kind") for text in texts(small, 5, 6)
        }
        assert all("does not have a recorded run" in error for _, error in at.errors)
        store.close()
        more = Often([*recorded, *aqmlab.run_many([small | {"seed": s} for s in (5, 6)])])
        assert len(list(campaign(asks, seed, engine=more, store=store))) == 4
    at = status(tmp_path)
    assert (at.total, at.stored, at.finished, at.failed, at.errors) == (4, 2, 2, 0, [])


def test_status_shows_the_progress(
    small: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The status is read during the runs, after them, and in the folder of a comparison."""
    inside = tmp_path / "runs"
    with FolderStore(inside) as store:
        aqmlab.run_many([small], store=store)
        asks = [(text,) for text in texts(small, 7, 8, 9)]
        running = campaign(asks, seed, engine=Counting(), store=store, jobs=2)
        assert next(running) in [(0, 7), (1, 8), (2, 9)]
        store.settle()
        assert execute(["status", str(tmp_path)]) == 0
        told = capsys.readouterr().out
        assert f"running, process {os.getpid()}; 2 runs are stored" in told
        assert "done 1 of 3 (0 from the store), failed 0, running 2, waiting 0" in told
        assert "left" in told
        running.close()
    assert execute(["status", str(tmp_path)]) == 0
    assert "not running; 2 runs are stored" in capsys.readouterr().out


def test_commands_share_a_store(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of one command is not repeated by another, and no folder loses runs."""
    asked: list[str] = []
    real = aqmlab._core.Batch

    def batch(texts: list[str], *rest: Any) -> Any:
        asked.extend(texts)
        return real(texts, *rest)

    monkeypatch.setattr("aqmlab._core.Batch", batch)
    store, (one, other) = tmp_path / "store", (tmp_path / "one", tmp_path / "other")
    compare = ["compare", "codel", "--scenario", str(scenario), "--replications", "2", "--out"]
    study = ["reproduce", "ecn-finite-transfers", "--only", "table-2", "--replications", "1"]
    assert execute([*compare, str(one)]) == 0
    for ran in (2, 0):
        asked.clear()
        assert execute([*compare, str(one), "--resume", "--store", str(store)]) == 0
        assert len(asked) == ran
    assert execute([*study, "--out", str(other), "--store", str(store)]) == 0
    assert 0 < len(asked) == status(store).finished
    asked.clear()
    assert execute([*study, "--out", str(other), "--store", str(store), "--force"]) == 0
    assert execute([*compare, str(one), "--resume"]) == 0
    assert asked == []
    assert execute([*compare, str(one), "--force"]) == 0
    assert len(asked) == 2, "--force uses no earlier run"


def complaint(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    """Return the error of a failing command, which is one line."""
    assert execute([*args]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err


def test_reading_needs_no_lock(small: dict[str, Any], tmp_path: Path) -> None:
    with FolderStore(tmp_path) as store, FolderStore(tmp_path, to_read=True) as reader:
        (run,) = aqmlab.run_many([small], store=store)
        (kept,) = reader
        assert alike(kept, run)
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
        said = complaint(capsys, *args)
        assert f"is being written by process {os.getpid()}; wait for it, or give another" in said
    first.missing([])  # it has its folder again
    first.close()


def test_foreign_files_are_unchanged(small: dict[str, Any], tmp_path: Path) -> None:
    """A folder with other files can have a store, unless they have the names of its files."""
    mine = [tmp_path / "mine", tmp_path / "tables" / "mine.part", tmp_path / "runs.lock"]
    mine[1].parent.mkdir()
    for path in mine:
        path.write_text("mine")
    with pytest.raises(FileExistsError, match=r"runs\.lock is not a lock of aqmlab; move it"):
        aqmlab.run_many([small], store=FolderStore(tmp_path))
    assert all(path.read_text() == "mine" for path in mine)
    mine.pop().unlink()
    with FolderStore(tmp_path) as store:
        aqmlab.run_many([small], store=store)
    assert all(path.read_text() == "mine" for path in mine)


def test_the_folder_of_a_dead_process_is_free_and_is_checked(
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


def kept_in(folder: Path) -> list[str]:
    """Return the addresses in a store, in the order of storing."""
    with closing(sqlite3.connect(folder / "runs.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [row[0] for row in database.execute("SELECT address FROM runs ORDER BY id")]


def test_a_truncated_log_leaves_the_first_runs(small: dict[str, Any], tmp_path: Path) -> None:
    """A loss of power truncates the log; each commit is on the disk before the next one."""
    (run,) = aqmlab.run_many([small | {"record": {}}])
    addresses = [f"{i:016x}" for i in range(40)]
    sizes = []
    with FolderStore(tmp_path / "whole") as store:
        log = tmp_path / "whole" / "runs.sqlite-wal"
        for where in addresses:
            store.put(where, "build", run)
            store.settle()
            sizes.append(log.stat().st_size)
        contents = {path.name: path.read_bytes() for path in (tmp_path / "whole").glob("runs.*")}
    whole = contents[log.name]
    for i, end in enumerate(np.linspace(0, len(whole), 60, dtype=int)):
        folder = tmp_path / f"cut-{i}"
        folder.mkdir()
        (folder / "runs.sqlite").write_bytes(contents["runs.sqlite"])
        (folder / log.name).write_bytes(whole[:end] + bytes(len(whole) - end) * (i % 2))
        if end >= sizes[0]:
            kept = kept_in(folder)
            assert kept == addresses[: sum(size <= end for size in sizes)]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("middle", ["runs.sqlite is damaged; move it away", ".recover", "aqmlab deleted nothing"]),
        ("head", ["runs.sqlite is damaged; move it away", ".recover", "aqmlab deleted nothing"]),
        ("foreign", ["is not a store of aqmlab"]),
        ("newer", ["a store of version 2", "supports version 1", "another folder"]),
    ],
)
def test_an_unusable_store_is_reported_and_unchanged(
    damage: str, said: list[str], small: dict[str, Any], scenario: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    folder = tmp_path / "out" / "runs"
    path = folder / "runs.sqlite"
    if damage == "foreign":
        folder.mkdir(parents=True)
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("CREATE TABLE mine (x)")
    else:
        with FolderStore(folder) as store:
            aqmlab.replicate(small, 30, store=store)
        content = path.read_bytes()
        cut = {"middle": slice(4096, len(content) - 4096), "head": slice(0, 64)}
        if damage == "newer":
            with closing(sqlite3.connect(path)) as database:
                database.execute("PRAGMA user_version = 2")
        else:
            rubbish = bytearray(content)
            rubbish[cut[damage]] = os.urandom(len(content[cut[damage]]))
            path.write_bytes(rubbish)
        (folder / "runs.lock").write_text("123")  # as a process that was killed leaves it
    before = path.read_bytes()
    more = ["--scenario", str(scenario), "--out", str(tmp_path / "out")]
    for command in (["compare", "codel", "--resume", *more],) * 2:
        told = complaint(capsys, *command)
        assert all(word in told for word in said), told
    assert path.read_bytes() == before


def test_a_full_disk_is_reported_and_stored_runs_remain(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite's limit on pages has the effect of a full disk."""
    monkeypatch.setattr("aqmlab.store.folder_store.BATCH_S", 0.0)
    asks = [(text,) for text in texts(small, *range(60))]
    engine = Counting()
    with FolderStore(tmp_path) as store:
        store.begin(0, 0, 1)
        assert store._opened is not None
        pages = store._opened.execute("PRAGMA page_count").fetchone()[0] + 60
        store._opened.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(OSError, match="the disk is full; free space and repeat the command"):
            list(campaign(asks, seed, engine=engine, store=store))
    kept = len(kept_in(tmp_path))
    asked = len(engine.asked)
    with FolderStore(tmp_path) as store:
        assert len(list(campaign(asks, seed, engine=engine, store=store))) == 60
        assert len(engine.asked) - asked == 60 - kept < 60
        assert len(list(store)) == 60


ON_A_SMALL_DISK = """
import json, subprocess, sys
from pathlib import Path
sys.path.insert(0, "tests")
from conftest import SMALL
from test_campaign import Counting, seed, texts
from aqmlab.experiment import campaign
from aqmlab.store import FolderStore, folder_store, packing, status
folder_store.BATCH_S = 0.0  # each run is a commit, however fast the machine is
disk, large = Path(sys.argv[1]), sys.argv[2] == "tables"
def mounted(*options):
    subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", str(disk)], check=True)
def told(work):
    try:
        with FolderStore(disk / "out") as store:
            return work(store)
    except OSError as e:
        return str(e)
packing.LARGE_BYTES = 1 << 12 if large else 1 << 30
mounted("-o", "size=240k")
asks = [(text,) for text in texts(SMALL, *range(40))]
engine = Counting()
run = lambda store: len(list(campaign(asks, seed, engine=engine, store=store)))
full = told(run)
kept = status(disk / "out").total
asked = len(engine.asked)
mounted("-o", "remount,size=64m")
done = told(run)
whole = told(lambda store: len(list(store)))
left = sorted(path.suffix for path in disk.rglob("*.part"))
mounted("-o", "remount,ro")
print(json.dumps({
    "full": full, "kept": kept, "again": len(engine.asked) - asked, "done": done, "whole": whole,
    "left": left, "read-only": told(run), "status": status(disk / "out").total,
}))
"""


@pytest.mark.parametrize("where", ["rows", "tables"])
def test_a_disk_is_full_and_then_read_only(where: str, tmp_path: Path) -> None:
    """The store is on a separate disk of 240 kB."""
    alone = ["unshare", "--user", "--map-root-user", "--mount"]
    if not shutil.which("unshare") or subprocess.run([*alone, "true"], check=False).returncode:
        pytest.skip("no disk can be mounted here")
    code = textwrap.dedent(ON_A_SMALL_DISK)
    done = subprocess.run(
        [*alone, sys.executable, "-c", code, str(tmp_path), where],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert "the disk is full; free space and repeat the command" in told["full"]
    assert 0 < told["kept"] < 40
    assert told["again"] == 40 - told["kept"]
    assert (told["done"], told["whole"], told["status"], told["left"]) == (40, 40, 40, [])
    assert "read-only file system; check its permissions and its disk" in told["read-only"]


def test_ten_thousand_scenarios_need_little_memory(small: dict[str, Any]) -> None:
    """Each text is stored as its difference from the first one."""
    from aqmlab.store.differences import Texts

    waiting, base = Texts(), normalize(small)
    said = [base.replace('"seed":7', f'"seed":{i}') for i in range(10_000)]
    numbers = [waiting.add(text) for text in said]
    assert sum(map(len, waiting._short)) < 100 * len(said)
    assert all(waiting[i] == text for i, text in zip(numbers, said, strict=True))


def test_signals_wait_until_a_closed_database_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal in between left a closed database, which the next call used."""
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
