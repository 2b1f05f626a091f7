"""Tests of the first screens of studies, of causes of misses, and of measured claims."""

import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import typer

from aqmlab import studies
from aqmlab.command.app import app
from aqmlab.engine import Simulator
from aqmlab.estimates import Estimate
from aqmlab.studies.framework import Decision, Miss, Opening, Published, measured
from aqmlab.studies.framework.opening import PLACE, drawn, filled, misses_table
from aqmlab.studies.framework.stored_verdicts import read_claims
from aqmlab.studies.framework.verdicts import CONTRADICTED, OPEN, REPRODUCED

STUDIES = [name for name in studies.names() if studies.load(name).opening]


def named(name: str) -> set[str]:
    """Return the ids of a study's claims."""
    return {claim.id for claim in studies.load(name).claims.published()}


@pytest.mark.parametrize("name", STUDIES)
def test_every_contradicted_claim_has_one_cause(name: str) -> None:
    study = studies.load(name)
    stored = read_claims(study.verdicts_path)
    counted = {claim.id for claim in study.claims.published() if claim.counted}
    missed = [i for i, of in stored.items() if of.verdict == CONTRADICTED and i in counted]
    explained = [claim for miss in study.misses for claim in miss.claims]
    assert [claim for claim in missed if explained.count(claim) != 1] == []
    assert {i for miss in study.misses for i in miss.claims} <= named(name)


@pytest.mark.parametrize("name", STUDIES)
def test_texts_name_existing_claims(name: str) -> None:
    study = studies.load(name)
    opening = cast("Opening", study.opening)
    texts = [opening.ours, *(miss.cause for miss in study.misses)]
    used = {i for text in texts for i in PLACE.findall(text)}
    assert used | {i for _, i in opening.shown} <= named(name)
    assert not any(PLACE.search(text) for text in (opening.found, opening.why, opening.today))


@pytest.mark.parametrize("name", STUDIES)
def test_commands_that_show_a_cause_can_be_parsed(name: str) -> None:
    study = studies.load(name)
    group: Any = typer.main.get_command(app)
    for miss in study.misses:
        if not miss.command:
            continue
        program, command, *arguments = shlex.split(miss.command)
        assert program == "aqmlab", miss.command
        context = group.get_command(None, command).make_context(command, arguments)
        if command == "reproduce":
            given = context.params
            known = studies.load(given["study"])
            known.choose([*(given["only"] or []), *(given["items"] or [])])
            if given["claim"]:
                known.claims.one(given["claim"])


def claim(claim_id: str, value: float, unit: str = "%") -> Published:
    """Return a claim about a number."""
    return Published(claim_id, "a number", "q", value, unit, "a case", "p. 1", "exact")


def decided(low: float, value: float, high: float, verdict: str = CONTRADICTED) -> Decision:
    """Return a decision with an estimate."""
    ours = Estimate("mean", value, low, high, 5)
    return Decision(str(ours), verdict, "", ours)


def test_a_text_without_its_number_is_left_out() -> None:
    claims = [(claim("A-001", 3), decided(1, 2, 3))]
    assert filled("It is {A-001} %.", claims) == "It is 2 [1 to 3] %."
    assert filled("It is {A-002} %.", claims) == ""
    assert Opening("f", "{A-002}", "w").answers(claims) == []
    answers = Opening("f", "{A-001}", "w").answers(claims)
    assert answers == [("Published", "f"), ("Here", "2 [1 to 3]"), ("Why", "w")]


def test_the_table_of_causes_has_only_claims_that_are_missed() -> None:
    claims = [
        (claim("A-001", 3), decided(1, 2, 3)),
        (claim("A-002", 2), decided(1, 2, 3, REPRODUCED)),
        (claim("A-003", 9), decided(1, 2, 30, OPEN)),
    ]
    misses = [Miss("first", ("A-001", "A-002"), "because of {A-002}"), Miss("none", ("A-002",), "")]
    table = misses_table(misses, claims)
    assert table is not None
    (row,) = table.entries()
    assert [entry.text for entry in row] == [
        "first", "1 contradicted", "because of 2 [1 to 3]", "–",
    ]  # fmt: skip
    assert row[1].sub == "A-001: 3 %, here 2 [1 to 3]"
    assert misses_table(misses[1:], claims) is None


def test_the_first_figure_has_a_panel_per_unit_and_all_kinds_of_numbers() -> None:
    claims = [
        (claim("A-001", 30), decided(80, 90, 95)),
        (claim("A-002", 26, "s"), decided(0.4, 0.5, 0.6)),
        (claim("A-003", 1), Decision("+1", REPRODUCED, "")),
    ]
    shown = (("a", "A-001"), ("b", "A-002"), ("c", "A-003"))
    opening = Opening("", "", "", shown=shown, axes=(("s", "time (s)"),))
    figure = drawn(opening, claims, {"A-002": Estimate("mean", 0.7, 0.6, 0.8, 2)})
    assert figure is not None
    first, second = figure.axes
    assert [label.get_text() for label in first.get_yticklabels()] == ["a"]
    assert (first.get_xlabel(), second.get_xlabel()) == ("%", "time (s)")
    assert (first.get_xscale(), second.get_xscale()) == ("linear", "log")
    assert drawn(opening, claims[2:], {}) is None


class WithHosts(Simulator):
    """Simulator that claims to have hosts of its own, as a testbed has."""

    hosts = "Linux 6."

    def hosted(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """Return the scenario unchanged."""
        return scenario


def test_claims_of_a_testbed_are_stored_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "REPLICATIONS", 1)
    study = studies.load("ecn-finite-transfers")
    path = tmp_path / "published" / "claims.csv"
    path.parent.mkdir()
    shutil.copy(study.claims.path, path)
    study = replace(study, claims=replace(study.claims, path=path))
    assert measured.read(study) == measured.Measured()
    done = list(measured.measure(study, ["EF-003", "EF-005"], WithHosts(), 2))
    assert [claim.id for claim, _ in done] == ["EF-003", "EF-005"]
    of = measured.read(study)
    assert (of.hosts, of.replications, sorted(of.claims)) == ("Linux 6.", 2, ["EF-003", "EF-005"])
    decided = done[1][1]
    assert of.claims["EF-005"].verdict == decided.verdict == REPRODUCED
    assert decided.estimate is not None
    assert of.estimates["EF-005"].interval == decided.estimate.interval
    other = (study.claims.one("EF-006"), Decision("0", OPEN, ""))
    table = measured.table(of, [*done, other])
    assert table is not None
    assert [entry.sub for entry in table.entries()[1][3:]][::2] == [REPRODUCED, REPRODUCED]
    assert of.simulated["EF-005"].ours
    assert len(table.rows) == 2
    assert measured.sentence(of, [*done, other]).startswith("1 counted claims")
    measured.simulate(study)
    assert measured.read(study) == of
    with pytest.raises(ValueError, match="use testbed:kernel"):
        list(measured.measure(study, ["EF-003"], Simulator(), 1))


def test_changed_assumptions_have_no_answers_and_no_causes() -> None:
    study = studies.load("ecn-finite-transfers")
    usual = study.execute(["baseline"], replications=1).conclude()
    changed = study.execute(["baseline"], 1, changes=[("tcp.rto.min", "'1 s'")]).conclude()
    assert (usual.usual, usual.misses) == (True, study.misses)
    assert (changed.usual, changed.misses, changed.answers) == (False, (), [])
    assert changed.opening_figure() is None
