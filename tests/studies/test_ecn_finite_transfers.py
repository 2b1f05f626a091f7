"""Tests of the study ecn-finite-transfers: published tables, settings, partial reproduction."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from aqmlab import studies
from aqmlab.command import execute
from aqmlab.experiment import run_many
from aqmlab.scenario import normalize
from aqmlab.studies.ecn_finite_transfers import table_2, table_4
from aqmlab.studies.ecn_finite_transfers.claims import CLAIMS
from aqmlab.studies.ecn_finite_transfers.epochs import coincident_share, epochs
from aqmlab.studies.ecn_finite_transfers.printed_tables import published
from aqmlab.studies.ecn_finite_transfers.scenarios import LIMITS, MINTH, SCHEMES, Setting
from aqmlab.studies.ecn_finite_transfers.transfers import Incidents, Transfers, reduce
from aqmlab.studies.framework import summary
from aqmlab.studies.framework.claims import FITTED, INPUT, Decision
from aqmlab.studies.framework.runs import Record
from aqmlab.studies.framework.verdicts import (
    CONTRADICTED,
    NOT_TESTABLE,
    OPEN,
    REPRODUCED,
)

STUDY = studies.load("ecn-finite-transfers")
TABLES = {
    "table1_droptail.csv": 7,
    "table2_red.csv": 14,
    "table3_red_ecn.csv": 14,
    "table4_mixed_ecn.csv": 14,
}
"""Number of columns of each table of the paper, by the name of its file."""


def test_the_printed_tables_are_complete_and_consistent() -> None:
    kbit = 20 * 2**20 * 8 / 1000
    steps = []
    for file, columns in TABLES.items():
        rows = published(file)
        assert len(rows) == columns
        for row in rows:
            goodputs = [float(row["goodput0_kbps"]), float(row["goodput1_kbps"])]
            assert int(row["sent_packets"]) - int(row["dropped_packets"]) >= 2 * 14365
            assert int(row["queue_limit_packets"]) in LIMITS
            assert float(row["jain_index"]) == pytest.approx(
                sum(goodputs) ** 2 / (2 * sum(g * g for g in goodputs)), abs=0.0011
            )
            steps += [abs(2 * kbit / g - round(2 * kbit / g)) / 2 for g in goodputs]
    assert len(steps) == 98
    assert max(steps) <= 0.05  # Every completion time is a multiple of 0.5 s.
    drops = sum(len(published(file)) for file in list(TABLES)[:3])
    assert drops == 35


def test_the_items_are_those_of_the_study() -> None:
    names = [item.name for item in STUDY.items]
    figures = [f"figure-{i}" for i in range(2, 17)]
    tables = [f"table-{i}" for i in range(1, 5)]
    questions = ["lock-out", "migration", "synchronization", "buffer-equivalence"]
    assert names == ["baseline", *tables, *figures, *questions, "long-delay", "countings"]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("limit", [*LIMITS, 512])
def test_every_setting_is_a_scenario(scheme: str, limit: int) -> None:
    scenario = json.loads(normalize(Setting(10, scheme, limit).scenario(3)))
    assert len(scenario["flows"]) == 10
    assert scenario["phase_breaking"] == {"start": "1 ms", "delay": "0 s"}
    queue = scenario["network"]["queue"]
    counts = "waiting-and-in-service" if scheme == "DT" else "waiting"
    assert queue["limit_counts"] == counts
    if scheme != "DT":
        assert (queue["minth"], queue["maxth"]) == (
            f"{MINTH[limit]} packet{'s' * (MINTH[limit] > 1)}",
            f"{3 * MINTH[limit]} packets",
        )


def test_replication_0_has_no_random_starts_or_delays() -> None:
    scenario = Setting(2, "RED-A", 64).scenario(0)
    assert scenario["phase_breaking"] == {"start": "0 s", "delay": "0 s"}


def test_only_the_flows_of_the_scheme_or_table_use_ecn() -> None:
    def with_ecn(setting: Setting) -> list[bool]:
        return [flow["tcp"]["ecn"] == "rfc3168" for flow in setting.scenario(0)["flows"]]

    assert with_ecn(Setting(2, "DT", 64)) == [False, False]
    assert with_ecn(Setting(2, "ECN-A", 64)) == [True, True]
    weaker = [table_4.setting(row).ecn for row in published("table4_mixed_ecn.csv")]
    # The rows of table 4 have maxp 2 % first, then maxp 10 %. In a row without a weaker flow, flow
    # C0 counts as the weaker flow (published/notes.md).
    assert weaker == [
        (1,),
        (0,),
        (1,),
        (0,),
        (1,),
        (0,),
        (0,),
        (0,),
        (0,),
        (1,),
        (1,),
        (0,),
        (1,),
        (0,),
    ]
    assert table_2.setting(published("table2_red.csv")[4]).queue()["minth"] == "5 packets"


def transfers(time_s: list[float], drops: list[tuple[float, int]]) -> Transfers:
    """Return the transfers of an invented run with the given completion times and drops."""
    n = len(time_s)
    none = np.zeros(n, dtype=np.int64)
    time, flow = zip(*drops, strict=True) if drops else ((), ())
    lost = Incidents(np.array(time, dtype=float), np.array(flow, dtype=np.int64))
    times = np.array(time_s)
    counts = [
        "acked_bytes",
        "sent",
        "delivered",
        "timeouts",
        "fast_retransmits",
        "dropped",
        "marked",
    ]
    return Transfers(
        manifest={},
        time_s=times,
        handshake_s=times,
        **dict.fromkeys(counts, none),
        dropped_full=0,
        busy_s=1.0,
        progress=None,
        drops=lost,
        timed_out=None,
    )


def test_epochs_last_one_round_trip_from_their_first_drop() -> None:
    result = epochs(transfers([99, 99], [(1.0, 0), (1.2, 1), (1.4, 1), (1.6, 0), (9.0, 1)]), 0.5)
    assert list(result.start_s) == [1.0, 1.6, 9.0]
    assert result.lost.tolist() == [[1, 2], [1, 0], [0, 1]]
    assert list(result.losers) == [2, 1, 1]
    assert epochs(transfers([99, 99], []), 0.5).start_s.size == 0


def test_timeouts_coincide_if_more_than_half_of_the_flows_have_one() -> None:
    timeouts = Incidents(np.array([1.0, 1.1, 5.0, 9.0]), np.array([0, 1, 2, 0]))
    assert coincident_share(timeouts, 3, 0.5) == 0.5
    assert coincident_share(timeouts, 4, 0.5) == 0.0


def test_a_run_is_reduced_to_the_printed_quantities() -> None:
    record = Record(frozenset({"window", "drops"}), 0.05).keys()
    (result,) = run_many([{**Setting(1, "DT", 38).scenario(0), "record": record}])
    reduced = reduce(result)
    assert reduced.time_s[0] == pytest.approx(112.5, abs=0.5)
    assert reduced.sampled_time_s[0] % 0.5 == 0
    assert reduced.dropped.sum() == reduced.drops.time_s.size > 0  # type: ignore[union-attr]
    assert reduced.acked_at(200.0)[0] == 20 * 2**20
    assert reduced.timed_out.time_s.size == reduced.timeouts.sum()  # type: ignore[union-attr]
    assert reduced.sent.sum() - reduced.dropped.sum() == reduced.delivered.sum()


def test_the_option_only_reproduces_some_items(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "study"
    args = ["reproduce", "ecn-finite-transfers", "--only", "table-1", "--only", "baseline"]
    for _ in range(2):  # The second reproduction replaces the first.
        assert execute([*args, "--replications", "2", "--force", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "12 fitted" not in printed, "the output has claims of items that were not chosen"
    assert "measured claims reproduced" in printed
    assert str(out / "report.html") in printed
    assert [path.name for path in tmp_path.iterdir()] == ["study"]

    with (out / "cells.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    drops = [c for c in cells if c["item"] == "table-1" and c["quantity"] == "dropped_packets"]
    assert [c["published"] for c in drops] == [
        "0.0",
        "0.0",
        "38.0",
        "103.0",
        "242.0",
        "408.0",
        "656.0",
    ]
    assert {c["replications"] for c in drops} == {"2"}
    assert {c["verdict"] for c in drops} <= {REPRODUCED, CONTRADICTED, OPEN}
    assert {c["score"] for c in drops} == {"fitted"}

    with (out / "claims.csv").open(encoding="utf-8", newline="") as file:
        claims = {c["id"]: c for c in csv.DictReader(file)}
    assert claims["EF-005"]["ours"] == "39"
    assert (claims["EF-002"]["basis"], claims["EF-006"]["basis"]) == (FITTED, INPUT)
    assert claims["EF-006"]["verdict"] == REPRODUCED
    report = (out / "report.html").read_text("utf-8")
    assert not re.search(r"""(src|href)=["'](?!#)""", report)  # The page loads no other file.
    assert json.loads((out / "manifest.json").read_text("utf-8"))["items"] == [
        "baseline",
        "table-1",
    ]


def test_the_tiles_of_a_report_have_the_sums_of_its_tables(tmp_path: Path) -> None:
    """The totals of a report exclude fitted cells, and count a number in two tables only once."""
    reproduction = STUDY.execute(["baseline", "table-1", "table-4"], replications=2).conclude()
    page = summary.report(reproduction, tmp_path)
    tiles = {score.label: score for score in page.scores}
    (table,) = next(chapter.tables for chapter in page.chapters if chapter.name == "summary")
    rows = [[entry.text for entry in row] for row in table.entries()]
    *parts, total = [[int(text or 0) for text in row[1:]] for row in rows]
    assert rows[-1][0] == "All"
    assert total == [sum(column) for column in zip(*parts, strict=True)]
    cells, reproduced, single, contradicted, undecided = total
    assert cells == reproduced + single + contradicted + undecided
    tile = tiles["published numbers reproduced"]
    assert int(tile.count) == reproduced + single
    assert tile.of.startswith(f"of {cells}")
    counted = [cell for cell in reproduction.cells if cell.standing == "counted"]
    assert len(counted) == cells
    assert {cell.item for cell in counted} == {"baseline", "table-4"}
    assert not any(cell.quantity == "goodput_efficiency" for cell in counted)
    short = repr(reproduction)
    assert f"{reproduced + single} of {cells} published numbers reproduced>" in short
    html = reproduction._repr_html_()
    assert STUDY.title in html
    assert [f">{n}<" in html for n in total[1:]] == [True] * 4
    assert html.count("<svg") == 2
    assert len(html) < 10_000


def test_every_verdict_names_the_changed_assumptions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    args = ["reproduce", "ecn-finite-transfers", "--only", "baseline", "--replications", "1",
            "--set", "tcp.receive_window=20 kB", "--out", str(out)]  # fmt: skip
    assert execute(args) == 0
    printed = capsys.readouterr().out
    assert "Under changed assumptions: tcp.receive_window = 20 kB" in printed
    assert "Claims under changed assumptions: " in printed
    page = (out / "report.html").read_text("utf-8")
    body = page[page.index("<body") :]
    assert body.index("Under changed assumptions: tcp.receive_window = 20 kB") < 2000
    for file in ("cells.csv", "claims.csv"):
        with (out / file).open(encoding="utf-8") as rows:
            verdicts = {row["verdict"] for row in csv.DictReader(rows)} - {""}
        assert verdicts
        assert all(verdict.endswith(" under changed assumptions") for verdict in verdicts)
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    assert manifest["changes"] == {"tcp.receive_window": "20 kB"}


def test_a_claim_whose_values_a_change_removes_cannot_be_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reason = "a download did not end before the end of its run"
    out = tmp_path / "out"
    args = ["reproduce", "ecn-finite-transfers", "--only", "baseline", "--replications", "1",
            "--set", "duration=20 s", "--seed", "50", "--out", str(out)]  # fmt: skip
    assert execute(args) == 0
    printed = capsys.readouterr().out
    assert "that cannot be decided" in printed
    assert "the first replication of each setting has the seed 50" in " ".join(printed.split())
    with (out / "claims.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert rows["EF-005"]["verdict"] == "cannot be decided under changed assumptions"
    assert rows["EF-005"]["evidence"] == f"{reason}."
    page = (out / "report.html").read_text("utf-8")
    assert f"The runs lack a value of this item: {reason}." in page
    assert "has the seed 50" in page
    assert json.loads((out / "manifest.json").read_text("utf-8"))["seed"] == 50

    claim = ["--claim", "EF-066", "--replications", "1", "--set", "tcp.receive_window=1460 B"]
    assert execute(["reproduce", "ecn-finite-transfers", *claim, "--seed", "7"]) == 0
    printed = capsys.readouterr().out
    reason = "Drop Tail dropped no packet at limit 16 and a delay of 20 ms"
    assert f"cannot be decided under changed assumptions: {reason}.\n" in printed
    assert printed.endswith("; tcp.receive_window = 1460 B; first seed 7.\n")
    assert execute(["reproduce", "ecn-finite-transfers", "--seed", "x"]) == 2
    assert "--seed is 'x'; it must be a whole number from 0" in capsys.readouterr().err


def test_the_option_claim_runs_only_the_runs_of_the_claim(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["reproduce", "ecn-finite-transfers", "--claim", "EF-002", "--replications", "1"]
    assert execute(command) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("EF-002: baseline completion time (n=1 DT QL=39")
    assert out[1].startswith("printed 112.5 s, measured 11")
    assert out[2].startswith("open: "), "the estimate of one replication has no interval"
    assert out[3].startswith("not counted, fitted: ")
    assert out[4] == "1 runs, 1 replications."
    assert execute([*command, "--set", "tcp.receive_window=20 kB"]) == 0
    assert " under changed assumptions: " in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
    for wrong, message in (
        (["--claim", "EF-999"], "--claim: 'EF-999' is unknown; use one of: EF-001, "),
        (["--claim", "EF-002", "--out", "x"], "--claim excludes --only, --out and --quick"),
        (["--claim", "EF-002", "--set", "tcp.recieve_window=1 kB"], "no scenario of these items"),
    ):
        assert execute(["reproduce", "ecn-finite-transfers", *wrong]) == 2
        assert message in capsys.readouterr().err


def test_a_figure_is_written_as_svg_and_png_and_shown_in_the_report(tmp_path: Path) -> None:
    STUDY.reproduce(["figure-6"], replications=1, out=tmp_path / "f")
    svg = (tmp_path / "f" / "figures" / "figure_06.svg").read_text("utf-8")
    assert "cwnd" not in svg or "<svg" in svg
    assert (tmp_path / "f" / "figures" / "figure_06.png").stat().st_size > 10_000
    assert 'id="figure_06"' in (tmp_path / "f" / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--only", "table-9"], "table-9"),
        (["--replications", "0"], "replications"),
        (["--jobs", "0"], "jobs"),
        (["--out", "{file}"], "is a file"),
        (["--out", "{foreign}"], "content"),
    ],
)
def test_wrong_input_is_refused_before_any_run(
    args: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.txt").write_text("mine")
    places = {"file": tmp_path / "file", "foreign": tmp_path / "foreign"}
    arguments = [arg.format(**places) for arg in args]
    if "--out" not in args:
        arguments += ["--out", str(tmp_path / "out")]
    assert execute(["reproduce", "ecn-finite-transfers", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "foreign"]


def test_a_claim_is_decided_only_if_all_its_items_are_chosen() -> None:
    class Nothing:
        """Empty replacement for the runs, so that each access to a run raises an error."""

    assert CLAIMS.decide(Nothing(), []) == []
    decided = CLAIMS.decide(Nothing(), ["figure-6"])
    assert [claim.id for claim, _ in decided] == ["EF-028", "EF-029"]
    assert all(isinstance(d, Decision) and d.verdict == NOT_TESTABLE for _, d in decided)
