"""Tests of `aqmlab reproduce --falsify`: the verdicts under alternatives to the assumptions."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from aqmlab import studies
from aqmlab.command import execute
from aqmlab.engine import Simulator
from aqmlab.scenario import normalize
from aqmlab.studies.framework.claims import Decision, Published
from aqmlab.studies.framework.falsification import (
    CHANGE,
    FLIP,
    SAME,
    SAME_RUNS,
    Alternative,
    Falsification,
    Trial,
)
from aqmlab.studies.framework.runs import Runs
from aqmlab.studies.framework.verdicts import CONTRADICTED, OPEN, REPRODUCED, SINGLE_RUN

NEWRENO = "NewReno instead of Reno"


def claim(number: str) -> Published:
    return Published(number, "a statement", "a", 1, "1", "", "", "exact")


def trial(**verdicts: str) -> Trial:
    decisions = {number: Decision("", verdict, "") for number, verdict in verdicts.items()}
    return Trial(Alternative("another assumption"), decisions, len(decisions))


def test_a_claim_is_sensitive_if_an_alternative_changes_its_verdict() -> None:
    was = {"A": REPRODUCED, "B": REPRODUCED, "C": REPRODUCED, "D": CONTRADICTED, "E": OPEN}
    decided = [(claim(number), Decision("", verdict, "")) for number, verdict in was.items()]
    trials = [trial(A=CONTRADICTED, B=SINGLE_RUN), trial(A=OPEN, B=REPRODUCED, D=OPEN, E=OPEN)]
    of = Falsification(decided, trials)
    effects = [[one.effect(*item) for item in decided] for one in trials]
    assert effects == [
        [FLIP, SAME, SAME_RUNS, SAME_RUNS, SAME_RUNS], [CHANGE, SAME, SAME_RUNS, CHANGE, SAME]
    ]  # fmt: skip
    assert [of.sensitivity(*item) for item in decided] == [
        "contradicted under A1; open under A2", "not sensitive", "not tested", "open under A2",
        "undecided under every alternative",
    ]  # fmt: skip
    assert of.sentence == (
        "2 of 5 measured claims get another verdict under at least one of 2 alternatives. 1 are "
        "not sensitive: the same verdict under every alternative that changes their runs. 1 are "
        "undecided under every alternative: more replications may decide them. 1 are not tested: "
        "no alternative changes their runs."
    )


@pytest.mark.parametrize("name", studies.names())
def test_every_alternative_changes_valid_scenarios(name: str) -> None:
    study = studies.load(name)
    assert study.alternatives
    needed = {item for items, _ in study.claims.functions.values() for item in items}
    items = [item for item in study.items if item.name in needed]
    settings = list(dict.fromkeys(need.setting for item in items for need in item.needs()))
    base = Runs(1, study.reduce, Simulator())
    for alternative in study.alternatives:
        runs = base.under(alternative.form, alternative.changes, 1)
        scenarios = ((runs._scenario(at, 0), at.scenario(0)) for at in settings)
        changed = next((now for now, before in scenarios if now != before), None)
        assert changed is not None, f"{alternative.about}: changes no scenario"
        normalize(changed)


def test_a_falsification_shows_the_claims_that_flip(tmp_path: Path) -> None:
    """A receive window of 20 kB needs no queue, which flips the claim about its minimum limit."""
    study = studies.load("ecn-finite-transfers")
    chosen = [one for one in study.alternatives if one.about in ("gentle RED", NEWRENO)]
    study = replace(study, alternatives=tuple(chosen))
    changes = [("tcp.receive_window", "20 kB")]
    page = study.reproduce(
        ["baseline"], 2, out=tmp_path / "out", changes=changes, falsify=True
    ).read_text("utf-8")
    assert 'id="falsification"' in page
    assert "contradicted under A3" in page
    assert "under changed assumptions" not in page
    with (tmp_path / "out" / "falsification.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["id"] == "EF-005"]
    effects = {row["alternative"]: row["effect"] for row in rows}
    assert effects == {
        NEWRENO: SAME, "gentle RED": SAME_RUNS, "--set tcp.receive_window = 20 kB": FLIP
    }  # fmt: skip
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert (manifest["changes"], manifest["falsified"]) == ({}, True)


def test_all_studies_are_falsified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page lists the claim that a receive window of 20 kB flips, with the alternative."""
    study = studies.load("ecn-finite-transfers")
    window = Alternative("a receive window of 20 kB", changes=(("tcp.receive_window", "20 kB"),))
    small = replace(
        study, items=tuple(study.choose(["baseline"])), replications=2, alternatives=(window,)
    )
    monkeypatch.setattr(studies, "names", lambda: [study.name])
    monkeypatch.setattr(studies, "load", lambda _: small)
    command = ["reproduce", "--all", "--falsify", "--out", str(tmp_path / "all")]
    assert execute(command) == 0
    page = (tmp_path / "all" / "index.html").read_text("utf-8")
    table = page[page.index(f'id="{study.name}-falsification"') :]
    assert "A1 a receive window of 20 kB" in table
    assert "EF-005" in table
    with (tmp_path / "all" / "falsification.csv").open(encoding="utf-8", newline="") as file:
        effects = {row["id"]: row["effect"] for row in csv.DictReader(file)}
    assert effects["EF-005"] == FLIP
    assert (tmp_path / "all" / study.name / "falsification.csv").exists()


def test_the_option_claim_shows_the_verdict_under_each_alternative(
    capsys: pytest.CaptureFixture[str],
) -> None:
    change = ["--set", "tcp.receive_window=20 kB"]
    command = ["reproduce", "ecn-finite-transfers", "--claim", "EF-002", "--replications", "1"]
    assert execute([*command, "--falsify", *change]) == 0
    *_, last, result = capsys.readouterr().out.splitlines()
    assert last.startswith("A15 --set tcp.receive_window = 20 kB: open, measured 11")
    assert result == "EF-002 is undecided under every alternative."


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["rfc2884", "--quick"], "the quick form of rfc2884 decides no claims"),
        (["rfc2884", "--only", "today"], "no claim of rfc2884 is about only these items"),
        (
            ["ecn-finite-transfers", "--only", "baseline", "--set", "tcp.nope=1"],
            "no scenario of these items has this",
        ),
        (["--all", "--quick"], "leave out --quick, or falsify one study"),
        (["--all", "--set", "tcp.rto.min=1 s"], "leave out --set"),
    ],
)
def test_falsification_without_claims_or_with_a_wrong_change_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], args: list[str], message: str
) -> None:
    assert execute(["reproduce", *args, "--falsify", "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
