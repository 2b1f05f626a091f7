"""Tests of the comparison with peers: verdicts, stored rows, the page, and missing programs."""

import re
from pathlib import Path

import pytest

from validation import closed_forms, data, ns2, ns3
from validation.page import PAGE, page, section
from validation.peer import KEYS, peers
from validation.row import HOLDS, MISSES, OPEN, UNDECIDED, Row, Tolerance


@pytest.mark.parametrize(
    ("tolerance", "ours", "theirs", "verdict"),
    [
        (Tolerance(0.02, interval=False), (101.9,), (100.0,), HOLDS),
        (Tolerance(0.02, interval=False), (102.1,), (90.0, 110.0), MISSES),
        (Tolerance(0.1, interval=False, in_range=True), (120.0,), (60.0, 130.0), HOLDS),
        (Tolerance(0.1, interval=False, in_range=True), (111.0,), (100.0,), MISSES),
        (Tolerance(interval=False, in_range=True), (3.1,), (2.0, 3.0), MISSES),
        (Tolerance(), (0.0,), (0.0,), HOLDS),
        (Tolerance(0.05, 2), (11.0,), (10.0,), HOLDS),
        # If the runs vary widely, the row is undecided, whether or not the means are equal.
        (Tolerance(0.1), (50.0, 150.0), (60.0, 140.0), UNDECIDED),
        (Tolerance(0.1), (70.0, 110.0), (100.0, 140.0), UNDECIDED),
        (Tolerance(0.1), (99.0, 100.0, 101.0), (100.0, 101.0, 99.0), HOLDS),
        (Tolerance(0.1), (119.0, 120.0, 121.0), (100.0, 101.0, 99.0), MISSES),
        # With paired runs, the variation between the pairs does not widen the difference's
        # interval.
        (Tolerance(0.1), (10.0, 100.0, 1000.0), (10.0, 100.0, 1001.0), UNDECIDED),
        (Tolerance(0.1, paired=True), (10.0, 100.0, 1000.0), (10.0, 100.0, 1001.0), HOLDS),
    ],
)
def test_a_verdict_follows_its_tolerance(
    tolerance: Tolerance, ours: tuple[float, ...], theirs: tuple[float, ...], verdict: str
) -> None:
    assert tolerance.verdict(ours, theirs) == verdict


def test_a_miss_has_a_cause_or_is_open() -> None:
    rows = [Row("s", "m", "", ours, (1.0,), Tolerance(), cause="why")
            for ours in ((1.0,), (2.0,))]  # fmt: skip
    assert [row.explained for row in rows] == ["", "why"]
    assert Row("s", "m", "", (2.0,), (1.0,), Tolerance()).explained == OPEN


def test_stored_rows_equal_the_rows_that_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "FOLDER", tmp_path / "rows")
    rows = [
        Row(
            "a, b", "drops", "", (1.0, 2.5), (0.1, 3.0), Tolerance(0.1, 2, paired=True), 'says "x"'
        ),
        Row("c", "goodput", "Mbit/s", (1e-9,), (3.0, 4.0), Tolerance(0.02, interval=False)),
    ]
    origin = data.Origin("ns-2 2.35", "2026-01-01", 1.5, "0.1.0")
    assert data.read("ns2") is None
    data.write("ns2", origin, rows)
    assert data.read("ns2") == (origin, rows)


def test_the_page_matches_the_stored_rows() -> None:
    sections = {key: value for key in KEYS if (value := data.read(key))}
    assert PAGE.read_text("utf-8") == page(sections), "run python -m validation --page in tests/"
    assert {"ns2", "ns3", "linux", "closed_forms"} <= set(sections)


def test_the_page_lists_each_cause_once_and_numbers_its_rows() -> None:
    rows = [
        Row(setting, "drops", "", (ours,), (100.0,), Tolerance(0.1), cause)
        for setting, ours, cause in (
            ("a", 300.0, "First."),
            ("b", 200.0, "Second."),
            ("c", 150.0, "First."),
            ("d", 130.0, ""),
            ("e", 101.0, "Unused."),
        )
    ]
    lines = section("ns2", data.Origin("ns-2 2.35", "2026-01-01", 1.5, "0.1.0"), rows)
    cells = {line.split(" | ")[1]: line.split(" | ")[-1] for line in lines if "misses |" in line}
    assert cells == {"a": "cause 1 |", "b": "cause 2 |", "c": "cause 1 |", "d": "open |"}
    assert [line for line in lines if line[:2] in ("1.", "2.")] == ["1. First.", "2. Second."]
    assert not any("Unused" in line for line in lines)


def test_the_readme_links_the_page_in_its_first_lines() -> None:
    readme = Path("README.md").read_text("utf-8").splitlines()
    assert any("docs/validation.md" in line for line in readme[:24])


def test_the_readme_has_the_score_of_the_page() -> None:
    readme = " ".join(Path("README.md").read_text("utf-8").split())
    page = Path("docs/validation.md").read_text("utf-8")
    row = r"\| \[{}\]\(#[\w-]+\) \| \d+ \| (\d+) \| (\d+) \|"
    for peer in ("Linux", "L4S hosts", "ns-2", "ns-3"):
        score = re.search(row.format(peer), page)
        assert score
        assert re.search(rf"\b{score[2]} of {score[1]} (comparisons )?with {peer}\b", readme), peer


def test_the_message_about_a_missing_peer_names_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert ns2.missing() == "ns is not installed: apt-get install ns2"
    monkeypatch.setattr(ns3, "interpreter", lambda: None)
    assert "pip install ns3" in str(ns3.missing())
    assert closed_forms.missing() is None
    assert {"ns2", "ns3", "closed_forms"} <= set(peers())


def test_ns2_has_at_least_40_settings_and_ns3_at_least_20() -> None:
    for settings, minimum in ((ns2.SETTINGS, 40), (ns3.SETTINGS, 20)):
        names = [setting.name for setting in settings]
        assert len(set(names)) == len(names) >= minimum
    for setting in ns2.SETTINGS:
        assert ns2.arguments(setting, 0)["starts"].count(" ") == max(setting.flows - 1, 0)
    for setting in ns3.SETTINGS:
        assert len(ns3.request(setting, 0)["starts"]) == setting.flows + len(setting.cbr)


def test_exact_closed_forms_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = [*closed_forms.times(), *closed_forms.shares()]
    monkeypatch.setattr(closed_forms, "forms", lambda: exact)
    rows = list(closed_forms.rows())
    assert len(rows) == len(exact) == 10
    assert [row.setting for row in rows if row.verdict != HOLDS] == []
